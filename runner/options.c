/* SPDX-License-Identifier: Apache-2.0
 * Every option is a callback of GOptionContext, so that repeats can be seen; unknown options are
 * left in place by it and named here, with the nearest that exists. Main thread. */
#include "runner/options.h"

#include "runner/nearest.h"
#include <string.h>

#define OPTION_ITEMS_MAX 1000u

struct options {
    const struct option_usage *usage;
    GHashTable *given; /* name → GPtrArray of char *: the values, in order */
    GPtrArray *arguments;
};

static const struct option_spec help_spec = {"help", 'h', OPTION_FLAG, NULL, "Show this help"};

static const struct option_spec *spec_find(const struct option_usage *usage, const char *option)
{
    for (const struct option_spec *spec = usage->specs; spec->name; spec++)
        if (g_str_has_prefix(option, "--") ? strcmp(option + 2, spec->name) == 0
                                           : option[1] == spec->letter)
            return spec;
    return &help_spec;
}

static bool take_items(GPtrArray *values, const char *name, const char *text, GError **error)
{
    g_auto(GStrv) items = g_strsplit(text, ",", -1);
    for (char **item = items; *item; item++) {
        g_strstrip(*item);
        if (**item == '\0') {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "--%s %s: an item of the list is empty; write --%s A,B", name, text, name);
            return false;
        }
        if (values->len >= OPTION_ITEMS_MAX) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--%s takes at most %u items", name,
                        OPTION_ITEMS_MAX);
            return false;
        }
        if (!g_ptr_array_find_with_equal_func(values, *item, g_str_equal, NULL))
            g_ptr_array_add(values, g_strdup(*item));
    }
    return true;
}

static gboolean take_option(const char *option, const char *value, gpointer user, GError **error)
{
    Options *options = (Options *)user;
    const struct option_spec *spec = spec_find(options->usage, option);
    GPtrArray *values = (GPtrArray *)g_hash_table_lookup(options->given, spec->name);
    if (values && spec->kind != OPTION_LIST) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--%s is given twice; give it once",
                    spec->name);
        return FALSE;
    }
    if (!values) {
        values = g_ptr_array_new_with_free_func(g_free);
        g_hash_table_insert(options->given, g_strdup(spec->name), values);
    }
    if (spec->kind == OPTION_LIST)
        return take_items(values, spec->name, value, error);
    if (spec->kind == OPTION_VALUE && (*value == '\0' || !g_utf8_validate(value, -1, NULL))) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--%s: the value is %s; write --%s %s",
                    spec->name, *value ? "not UTF-8" : "empty", spec->name, spec->argument);
        return FALSE;
    }
    g_ptr_array_add(values, g_strdup(value ? value : ""));
    return TRUE;
}

static void entry_fill(GOptionEntry *entry, const struct option_spec *spec)
{
    *entry = (GOptionEntry){
        .long_name = spec->name,
        .short_name = spec->letter,
        .flags = spec->kind == OPTION_FLAG ? G_OPTION_FLAG_NO_ARG : G_OPTION_FLAG_FILENAME,
        .arg = G_OPTION_ARG_CALLBACK,
        .arg_data = __extension__(gpointer) take_option,
        .description = spec->help,
        .arg_description = spec->argument,
    };
}

static GOptionContext *context_new(const struct option_usage *usage, Options *options)
{
    GOptionContext *context = g_option_context_new(usage->arguments);
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_ignore_unknown_options(context, TRUE);
    g_option_context_set_summary(context, usage->summary);
    g_option_context_set_description(context, usage->examples);
    g_autoptr(GArray) entries = g_array_new(TRUE, TRUE, sizeof(GOptionEntry));
    GOptionEntry entry;
    for (const struct option_spec *spec = usage->specs; spec->name; spec++) {
        entry_fill(&entry, spec);
        g_array_append_val(entries, entry);
    }
    entry_fill(&entry, &help_spec);
    g_array_append_val(entries, entry);
    GOptionGroup *group = g_option_group_new("main", "", "", options, NULL);
    g_option_group_add_entries(group, (const GOptionEntry *)(void *)entries->data);
    g_option_context_set_main_group(context, group);
    return context;
}

static void set_unknown_option(const struct option_usage *usage, const char *argument,
                               GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct option_spec *spec = usage->specs; spec->name; spec++)
        g_ptr_array_add(names, (gpointer)(guintptr)spec->name);
    g_autofree char *word = g_strndup(argument, strcspn(argument, "="));
    const char *bare = word + strspn(word, "-");
    g_autofree char *hint = nearest_hint(bare, (const char *const *)names->pdata, names->len, "--");
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s has no option %s%s%s", usage->command,
                word, hint, *hint ? "" : "; --help lists them");
}

static void set_left_over(const struct option_usage *usage, const char *argument, GError **error)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s takes no argument \"%s\"; options begin with --", usage->command, argument);
}

static bool take_argument(Options *options, const char *argument, GError **error)
{
    if (!options->usage->arguments) {
        set_left_over(options->usage, argument, error);
        return false;
    }
    g_ptr_array_add(options->arguments, g_strdup(argument));
    return true;
}

/* What GOptionContext left: unknown options and arguments. */
static bool take_rest(Options *options, char **rest, GError **error)
{
    for (char **item = rest; *item; item++) {
        if ((*item)[0] == '-' && (*item)[1] != '\0') {
            set_unknown_option(options->usage, *item, error);
            return false;
        }
        if (!take_argument(options, *item, error))
            return false;
    }
    return true;
}

/* Behind "--" all are arguments, which GOptionContext does not get to see: it would drop the mark,
 * and then take an argument of a command for an option of ours. */
static int find_mark(int argc, char **argv)
{
    int mark = 0;
    while (mark < argc && strcmp(argv[mark], "--") != 0)
        mark++;
    return mark;
}

/* GOptionContext takes --flag=value and forgets the value. */
static bool check_flags(const struct option_usage *usage, int argc, char **argv, GError **error)
{
    for (int i = 1; i < argc; i++) {
        gsize length = strcspn(argv[i], "=");
        if (!g_str_has_prefix(argv[i], "--") || argv[i][length] == '\0')
            continue;
        g_autofree char *word = g_strndup(argv[i], length);
        const struct option_spec *spec = spec_find(usage, word);
        if (spec->kind == OPTION_FLAG && strcmp(word + 2, spec->name) == 0) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s takes no value; write %s", word,
                        word);
            return false;
        }
    }
    return true;
}

Options *options_parse(const struct option_usage *usage, int argc, char **argv, GError **error)
{
    int mark = find_mark(argc, argv);
    if (!check_flags(usage, mark, argv, error))
        return NULL;
    g_autoptr(Options) options = g_new0(Options, 1);
    options->usage = usage;
    options->given =
        g_hash_table_new_full(g_str_hash, g_str_equal, g_free, (GDestroyNotify)g_ptr_array_unref);
    options->arguments = g_ptr_array_new_with_free_func(g_free);

    g_auto(GStrv) rest = g_new0(char *, (gsize)mark + 1);
    for (int i = 0; i < mark; i++)
        rest[i] = g_strdup(argv[i]);
    g_autoptr(GOptionContext) context = context_new(usage, options);
    g_autoptr(GError) problem = NULL;
    if (!g_option_context_parse_strv(context, &rest, &problem)) {
        bool ours = problem->domain == BREAKEVEN_ERROR;
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s%s", problem->message,
                    ours ? "" : "; --help shows how");
        return NULL;
    }
    if (options_flag(options, "help"))
        return g_steal_pointer(&options);
    bool is_good = take_rest(options, rest[0] ? rest + 1 : rest, error);
    for (int i = mark + 1; is_good && i < argc; i++)
        is_good = take_argument(options, argv[i], error);
    return is_good ? g_steal_pointer(&options) : NULL;
}

void options_free(Options *options)
{
    if (!options)
        return;
    g_hash_table_unref(options->given);
    g_ptr_array_unref(options->arguments);
    g_free(options);
}

char *options_help(const struct option_usage *usage)
{
    g_autoptr(GOptionContext) context = context_new(usage, NULL);
    g_autofree char *help = g_option_context_get_help(context, TRUE, NULL);
    /* GOptionContext heads its help with the name of the process; a command has two words. */
    const char *body = strchr(help, '\n');
    const char *rest = body ? strchr(body + 1, '\n') : NULL;
    return g_strdup_printf("Usage:\n  breakeven-runner %s [OPTION…]%s%s%s", usage->command,
                           usage->arguments ? " " : "", usage->arguments ? usage->arguments : "",
                           rest ? rest : "\n");
}

bool options_flag(const Options *options, const char *name)
{
    return g_hash_table_contains(options->given, name);
}

const GPtrArray *options_list(const Options *options, const char *name)
{
    return (const GPtrArray *)g_hash_table_lookup(options->given, name);
}

const char *options_value(const Options *options, const char *name)
{
    const GPtrArray *values = options_list(options, name);
    return values ? (const char *)g_ptr_array_index(values, 0) : NULL;
}

const GPtrArray *options_arguments(const Options *options)
{
    return options->arguments;
}

bool options_number(const Options *options, const char *name, guint64 min, guint64 max,
                    guint64 *inout_value, GError **error)
{
    const char *text = options_value(options, name);
    if (!text || g_ascii_string_to_unsigned(text, 10, min, max, inout_value, NULL))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "--%s %s: not a whole number from %" G_GUINT64_FORMAT " to %" G_GUINT64_FORMAT,
                name, text, min, max);
    return false;
}
