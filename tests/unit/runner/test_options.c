/* SPDX-License-Identifier: Apache-2.0
 * The command line read strictly, nearest names, and the settings' order: key file, environment,
 * option. */
#include "runner/nearest.h"
#include "runner/options.h"
#include "runner/settings.h"
#include "tests/unit/runner/scratch.h"
#include <string.h>

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTIONS_IDENTITY,
    {"quick", 'q', OPTION_FLAG, NULL, "flag"},
    {"executor", 'e', OPTION_LIST, "NAME,…", "list"},
    {"repetitions", 'r', OPTION_VALUE, "N", "number"},
    {0},
};
static const struct option_usage bare = {.command = "run", .summary = "Runs.", .specs = specs};
static const struct option_usage with_files = {
    .command = "post", .arguments = "FILE…", .summary = "Posts.", .specs = specs};

/* Parses the words of `line`; the options, or NULL with the message in *out_message. */
static Options *parse(const struct option_usage *usage, const char *line, char **out_message)
{
    g_auto(GStrv) words = g_strsplit(line, " ", -1);
    g_autoptr(GError) error = NULL;
    Options *options = options_parse(usage, (int)g_strv_length(words), words, &error);
    g_assert_true((options == NULL) == (error != NULL));
    if (error) {
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
        g_assert_null(strchr(error->message, '\n'));
        *out_message = g_strdup(error->message);
    }
    return options;
}

/* A command behind "--" keeps all that looks like options of ours, and its own "--". */
static void test_a_command_behind_the_mark(void)
{
    g_autoptr(Options) options = parse(&with_files, "post -q -- sh -c x --quick -- -r", NULL);
    static const char *const expected[] = {"sh", "-c", "x", "--quick", "--", "-r"};
    const GPtrArray *arguments = options_arguments(options);
    g_assert_cmpuint(arguments->len, ==, G_N_ELEMENTS(expected));
    for (guint i = 0; i < arguments->len; i++)
        g_assert_cmpstr((const char *)arguments->pdata[i], ==, expected[i]);
    g_assert_null(options_value(options, "repetitions"));
}

static void test_values_flags_and_lists(void)
{
    g_autoptr(Options) options =
        parse(&with_files,
              "post -q --executor fifo,direct a.json --executor=fifo,tbb -r 3 -- --odd", NULL);
    g_assert_nonnull(options);
    g_assert_true(options_flag(options, "quick"));
    g_assert_null(options_value(options, "machine"));
    const GPtrArray *executors = options_list(options, "executor");
    g_assert_cmpuint(executors->len, ==, 3); /* a repeated item counts once */
    g_assert_cmpstr(executors->pdata[0], ==, "fifo");
    g_assert_cmpstr(executors->pdata[1], ==, "direct");
    g_assert_cmpstr(executors->pdata[2], ==, "tbb");
    const GPtrArray *files = options_arguments(options);
    g_assert_cmpuint(files->len, ==, 2);
    g_assert_cmpstr(files->pdata[0], ==, "a.json");
    g_assert_cmpstr(files->pdata[1], ==, "--odd");
    guint64 rounds = 9;
    g_assert_true(options_number(options, "repetitions", 1, 10, &rounds, NULL));
    g_assert_cmpuint(rounds, ==, 3);
}

static void test_usage_errors_name_the_thing(void)
{
    static const struct {
        const char *line;
        const char *parts[3]; /* the message holds all */
    } cases[] = {
        {"run --exector fifo", {"--exector", "did you mean --executor?", NULL}},
        {"run --exector=fifo", {"--exector", "did you mean --executor?", NULL}},
        {"run --zzz", {"--zzz", "--help", NULL}},
        {"run -x", {"-x", NULL}},
        {"run --machine a --machine b", {"--machine is given twice", NULL}},
        {"run -m a --machine=b", {"--machine is given twice", NULL}},
        {"run -q --quick", {"--quick is given twice", NULL}},
        {"run --machine", {"--machine", "--help", NULL}},
        {"run --machine=", {"--machine", "empty", NULL}},
        {"run --machine=\xff", {"--machine", "UTF-8", NULL}},
        {"run --executor fifo,,tbb", {"--executor", "empty", NULL}},
        {"run --executor ,", {"--executor", "empty", NULL}},
        {"run stray", {"\"stray\"", NULL}},
        {"run -- stray", {"\"stray\"", NULL}},
        {"run --quick=yes", {"--quick", NULL}},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autofree char *message = NULL;
        g_autoptr(Options) options = parse(&bare, cases[i].line, &message);
        if (options)
            g_error("accepted: %s", cases[i].line);
        for (const char *const *part = cases[i].parts; *part; part++)
            if (!strstr(message, *part))
                g_error("%s: \"%s\" lacks \"%s\"", cases[i].line, message, *part);
    }
}

static void test_numbers_have_a_range(void)
{
    static const char *const bad[] = {"run -r 0", "run -r 11", "run -r x", "run -r 1.5",
                                      "run -r 0x2"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_autoptr(Options) options = parse(&bare, bad[i], NULL);
        g_autoptr(GError) error = NULL;
        guint64 value = 7;
        g_assert_false(options_number(options, "repetitions", 1, 10, &value, &error));
        g_assert_nonnull(strstr(error->message, "from 1 to 10"));
        g_assert_cmpuint(value, ==, 7);
    }
}

static void test_help_names_every_option(void)
{
    g_autofree char *help = options_help(&with_files);
    g_assert_nonnull(strstr(help, "breakeven-runner post [OPTION…] FILE…"));
    g_assert_nonnull(strstr(help, "--help"));
    for (const struct option_spec *spec = specs; spec->name; spec++)
        g_assert_nonnull(strstr(help, spec->name));
}

static void test_nearest(void)
{
    static const char *const names[] = {"executor", "threads", "task-cost", "bench"};
    g_assert_cmpstr(nearest_name("excutor", names, 4), ==, "executor");
    g_assert_cmpstr(nearest_name("THREADS", names, 4), ==, "threads");
    g_assert_cmpstr(nearest_name("bnech", names, 4), ==, "bench"); /* a swap is one error */
    g_assert_cmpstr(nearest_name("task_cost", names, 4), ==, "task-cost");
    g_assert_cmpstr(nearest_name("exec", names, 4), ==, "executor"); /* its beginning */
    g_assert_null(nearest_name("ex", names, 4));
    g_assert_null(nearest_name("quick", names, 4));
    g_assert_null(nearest_name("", names, 4));
    g_autofree char *long_word = g_strnfill(1000, 'x');
    g_assert_null(nearest_name(long_word, names, 4));
}

/* ---- Settings ---- */

static char *folder;

static void set_config(const char *text)
{
    g_autofree char *path = g_build_filename(folder, "breakeven", "runner.conf", NULL);
    g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static Settings *read_settings(const char *line, char **out_message)
{
    g_autoptr(Options) options = parse(&bare, line, out_message);
    g_autoptr(GError) error = NULL;
    Settings *settings = settings_read(options, &error);
    if (error)
        *out_message = g_strdup(error->message);
    return settings;
}

static void test_settings_order(void)
{
    set_config("[runner]\nserver = http://file:1/\nmachine = from-file\nproject = from-file\n");
    g_setenv("BREAKEVEN_SERVER", "http://env:2", TRUE);
    g_setenv("BREAKEVEN_MACHINE", "from-env", TRUE);
    g_setenv("BREAKEVEN_PROJECT", "", TRUE); /* as if not set */
    g_autoptr(Settings) settings = read_settings("run --server http://option:3//", NULL);
    g_assert_cmpstr(settings->server, ==, "http://option:3");
    g_assert_cmpstr(settings->machine, ==, "from-env");
    g_assert_cmpstr(settings->project, ==, "from-file");
    g_assert_cmpuint(settings->deliver_seconds, ==, 60);
    g_unsetenv("BREAKEVEN_SERVER");
    g_unsetenv("BREAKEVEN_MACHINE");
    g_autoptr(Settings) file_only = read_settings("run", NULL);
    g_assert_cmpstr(file_only->server, ==, "http://file:1");
    set_config("");
}

static void test_token(void)
{
    g_autofree char *path = g_build_filename(folder, "token", NULL);
    g_assert_true(g_file_set_contents(path, "from-file\n", -1, NULL));
    g_autofree char *line = g_strconcat("run --token-file ", path, NULL);
    g_setenv("BREAKEVEN_TOKEN", "from-env", TRUE);
    g_autoptr(Settings) by_env = read_settings("run", NULL);
    g_assert_cmpstr(by_env->token, ==, "from-env");
    g_autoptr(Settings) by_option = read_settings(line, NULL);
    g_assert_cmpstr(by_option->token, ==, "from-file");

    g_setenv("BREAKEVEN_TOKEN", "two\nlines", TRUE);
    g_autofree char *message = NULL;
    g_assert_null(read_settings("run", &message));
    g_assert_nonnull(strstr(message, "BREAKEVEN_TOKEN"));
    g_assert_null(strstr(message, "lines")); /* never printed */
    g_unsetenv("BREAKEVEN_TOKEN");
}

static void test_settings_errors(void)
{
    static const struct {
        const char *config, *line, *part;
    } cases[] = {
        {"", "run --server ftp://x", "--server"},
        {"", "run --server localhost:8080", "--server"},
        {"", "run --server http://u:secret@x", "--token-file"},
        {"", "run --server http://x/?a=b", "?"},
        {"", "run --config /nonexistent/x.conf", "/nonexistent/x.conf"},
        {"", "run --token-file /nonexistent/t", "--token-file"},
        {"", "run --deliver-timeout soon", "--deliver-timeout"},
        {"[runner]\nservr = http://x\n", "run", "did you mean server?"},
        {"[runer]\nserver = http://x\n", "run", "[runer]"},
        {"server = http://x\n", "run", "runner.conf"},
        {"[runner]\nserver = nowhere\n", "run", "server in "},
        {"[runner]\ntoken = abc\n", "run", "\"token\""},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        set_config(cases[i].config);
        g_autofree char *message = NULL;
        g_autoptr(Settings) settings = read_settings(cases[i].line, &message);
        if (settings || !strstr(message, cases[i].part))
            g_error("%s / %s: %s", cases[i].config, cases[i].line, message);
        g_assert_null(strstr(message, "secret"));
    }
    set_config("");
}

static void test_in_ci(void)
{
    static const struct {
        const char *value;
        gboolean is_ci;
    } cases[] = {{"true", TRUE}, {"1", TRUE},      {"woodpecker", TRUE},
                 {"", FALSE},    {"false", FALSE}, {"0", FALSE}};
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_setenv("CI", cases[i].value, TRUE);
        g_assert_cmpint(settings_in_ci(), ==, cases[i].is_ci);
    }
    g_unsetenv("CI");
    g_assert_false(settings_in_ci());
}

int main(int argc, char **argv)
{
    folder = scratch_new();
    g_setenv("XDG_CONFIG_HOME", folder, TRUE);
    g_autofree char *config_folder = g_build_filename(folder, "breakeven", NULL);
    g_assert_cmpint(g_mkdir(config_folder, 0700), ==, 0);
    static const char *const variables[] = {"BREAKEVEN_SERVER", "BREAKEVEN_MACHINE",
                                            "BREAKEVEN_PROJECT", "BREAKEVEN_TOKEN"};
    for (gsize i = 0; i < G_N_ELEMENTS(variables); i++)
        g_unsetenv(variables[i]);
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/options/a-command-behind-the-mark", test_a_command_behind_the_mark);
    g_test_add_func("/options/values-flags-lists", test_values_flags_and_lists);
    g_test_add_func("/options/usage-errors", test_usage_errors_name_the_thing);
    g_test_add_func("/options/numbers", test_numbers_have_a_range);
    g_test_add_func("/options/help", test_help_names_every_option);
    g_test_add_func("/options/nearest", test_nearest);
    g_test_add_func("/settings/order", test_settings_order);
    g_test_add_func("/settings/token", test_token);
    g_test_add_func("/settings/errors", test_settings_errors);
    g_test_add_func("/settings/in-ci", test_in_ci);
    int status = g_test_run();
    scratch_remove(folder);
    return status;
}
