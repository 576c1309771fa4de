/* SPDX-License-Identifier: Apache-2.0
 * See rule_form.h. The request's thread. */
#include "server/pages/rule_form.h"
#include "server/pages/layout.h"

#include "schema/number.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"

#include <string.h>

#define OPTIONS_MAX 500u /* names offered */

static const char *const names[RULE_FIELDS] = {"bench",  "params",       "machine",
                                               "metric", "least_effect", "least_effect_absolute",
                                               "muted",  "better",       "note"};

void rule_form_clear(struct rule_form *form)
{
    for (guint i = 0; i < RULE_FIELDS; i++)
        g_clear_pointer(&form->text[i], g_free);
}

void rule_form_read(struct rule_form *form, const GPtrArray *pairs)
{
    const char *place = http_form_value(pairs, "place");
    gint64 number = -1;
    if (place && !g_ascii_string_to_signed(place, 10, -1, RULES_MAX, &number, NULL))
        number = -1;
    form->place = (int)number;
    for (guint i = 0; i < RULE_FIELDS; i++) {
        const char *value = http_form_value(pairs, names[i]);
        form->text[i] = g_strstrip(g_strdup(value ? value : ""));
    }
}

/* ---- From a rule ----------------------------------------------------------------------------- */

static char *number_of(bool given, double value)
{
    char text[NUMBER_TEXT_BYTES] = "";
    if (given)
        number_format(value, text);
    return g_strdup(text);
}

static char *share_of(const struct rule *rule)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    if (!(rule->gives & RULE_LEAST_EFFECT))
        return g_strdup("");
    g_ascii_formatd(text, sizeof text, "%.6g", 100 * rule->least_effect);
    return g_strconcat(text, "%", NULL);
}

static char *params_of(const struct rule *rule)
{
    g_autoptr(GString) text = g_string_new(NULL);
    for (guint i = 0; i < rule->pattern.params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(rule->pattern.params, i);
        g_string_append_printf(text, "%s%s=%s", i > 0 ? ", " : "", param->name, param->value);
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static const char *text_or(const char *text)
{
    return text ? text : "";
}

void rule_form_fill(struct rule_form *form, const struct rule *rule, int place)
{
    const char *better = rule->better == BETTER_UNKNOWN ? "none" : better_name(rule->better);
    form->place = place;
    form->text[RULE_FIELD_BENCH] = g_strdup(text_or(rule->pattern.bench));
    form->text[RULE_FIELD_PARAMS] = params_of(rule);
    form->text[RULE_FIELD_MACHINE] = g_strdup(text_or(rule->pattern.machine));
    form->text[RULE_FIELD_METRIC] = g_strdup(text_or(rule->pattern.metric));
    form->text[RULE_FIELD_LEAST] = share_of(rule);
    form->text[RULE_FIELD_ABSOLUTE] =
        number_of(rule->gives & RULE_LEAST_EFFECT_ABSOLUTE, rule->least_effect_absolute);
    form->text[RULE_FIELD_MUTED] = g_strdup(!(rule->gives & RULE_MUTED) ? ""
                                            : rule->muted               ? "yes"
                                                                        : "no");
    form->text[RULE_FIELD_BETTER] = g_strdup(rule->gives & RULE_BETTER ? better : "");
    form->text[RULE_FIELD_NOTE] = g_strdup(text_or(rule->note));
}

/* ---- To a rule ------------------------------------------------------------------------------- */

static bool invalid(GError **error, const char *message)
{
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID, message);
    return false;
}

static bool take_pattern(const struct rule_form *form, struct rule *rule, GError **error)
{
    const char *bench = form->text[RULE_FIELD_BENCH];
    const char *params = form->text[RULE_FIELD_PARAMS];
    g_autofree char *text =
        *params ? g_strdup_printf("%s{%s}", *bench ? bench : "*", params) : g_strdup(bench);
    g_autoptr(GError) cause = NULL;
    if (!*params) {
        rule->pattern.bench = *bench ? g_strdup(bench) : NULL;
    } else {
        series_pattern_clear(&rule->pattern);
        if (strchr(bench, '{') || !series_pattern_parse(text, &rule->pattern, &cause))
            return invalid(error, "Parameters: name=value, name=value would be right.");
    }
    if (!*bench)
        g_clear_pointer(&rule->pattern.bench, g_free);
    if (*form->text[RULE_FIELD_MACHINE])
        rule->pattern.machine = g_strdup(form->text[RULE_FIELD_MACHINE]);
    if (*form->text[RULE_FIELD_METRIC])
        rule->pattern.metric = g_strdup(form->text[RULE_FIELD_METRIC]);
    return true;
}

static bool take_leasts(const struct rule_form *form, struct rule *rule, GError **error)
{
    const char *least = form->text[RULE_FIELD_LEAST];
    const char *absolute = form->text[RULE_FIELD_ABSOLUTE];
    if (*least && !rules_parse_share(least, &rule->least_effect))
        return invalid(error, "Least effect: a share from 0 % to 1000 % would be right, such as "
                              "5 %.");
    if (*absolute &&
        (!number_parse(absolute, &rule->least_effect_absolute) || rule->least_effect_absolute < 0))
        return invalid(error, "Least effect, absolute: a number from 0 on in the metric's unit "
                              "would be right.");
    rule->gives |=
        (*least ? RULE_LEAST_EFFECT : 0u) | (*absolute ? RULE_LEAST_EFFECT_ABSOLUTE : 0u);
    return true;
}

static void take_words(const struct rule_form *form, struct rule *rule)
{
    const char *muted = form->text[RULE_FIELD_MUTED], *better = form->text[RULE_FIELD_BETTER];
    if (*muted)
        rule->gives |= RULE_MUTED;
    rule->muted = strcmp(muted, "yes") == 0;
    if (*better)
        rule->gives |= RULE_BETTER;
    rule->better = strcmp(better, "higher") == 0  ? BETTER_HIGHER
                   : strcmp(better, "lower") == 0 ? BETTER_LOWER
                                                  : BETTER_UNKNOWN;
    if (*form->text[RULE_FIELD_NOTE])
        rule->note = g_strdup(form->text[RULE_FIELD_NOTE]);
}

struct rule *rule_form_rule(const struct rule_form *form, GError **error)
{
    g_autoptr(Rule) rule = rule_new();
    if (!take_pattern(form, rule, error) || !take_leasts(form, rule, error))
        return NULL;
    take_words(form, rule);
    if (rule->gives != 0)
        return g_steal_pointer(&rule);
    invalid(error, "The rule gives nothing: say a least effect, whether it is muted, or which "
                   "direction is better.");
    return NULL;
}

static struct rule *copy_rule(const struct rule *rule)
{
    struct rule *copy = rule_new();
    series_pattern_clear(&copy->pattern);
    *copy = *rule;
    copy->pattern = (struct series_pattern){.bench = g_strdup(rule->pattern.bench),
                                            .params = g_ptr_array_ref(rule->pattern.params),
                                            .machine = g_strdup(rule->pattern.machine),
                                            .metric = g_strdup(rule->pattern.metric)};
    copy->note = g_strdup(rule->note);
    return copy;
}

GPtrArray *rule_form_list(const struct rule_form *form, const GPtrArray *present, struct rule *rule)
{
    GPtrArray *list = rules_new();
    for (guint i = 0; present && i < present->len; i++) {
        bool is_here = (int)i == form->place;
        if (is_here && rule)
            g_ptr_array_add(list, g_steal_pointer(&rule));
        else if (!is_here)
            g_ptr_array_add(list, copy_rule((const struct rule *)present->pdata[i]));
    }
    if (rule)
        g_ptr_array_add(list, rule);
    return list;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_input(Html *html, const struct rule_form *form, enum rule_field field,
                        const char *label, const char *hint)
{
    html_print(html,
               "<label class=\"field\"><span class=\"legend\">%s</span><input type=\"text\" "
               "name=\"%s\"",
               label, names[field]);
    html_attr(html, "value", form->text[field]);
    html_attr(html, "placeholder", hint);
    if (field == RULE_FIELD_BENCH)
        html_literal(html, " list=\"benches\"");
    if (field == RULE_FIELD_METRIC)
        html_literal(html, " list=\"metrics\"");
    if (field == RULE_FIELD_MACHINE)
        html_literal(html, " list=\"machines\"");
    html_literal(html, "></label>");
}

struct choice {
    const char *value, *says;
};

static void write_select(Html *html, const struct rule_form *form, enum rule_field field,
                         const char *label, const struct choice choices[])
{
    html_print(html, "<label class=\"field\"><span class=\"legend\">%s</span><select name=\"%s\">",
               label, names[field]);
    for (; choices->value; choices++)
        layout_option(html, choices->value, choices->says,
                      strcmp(form->text[field], choices->value) == 0);
    html_literal(html, "</select></label>");
}

/* The names that its series have, offered while one types. */
static void write_lists(Html *html, const struct store_project *project)
{
    g_autoptr(GHashTable) metrics = g_hash_table_new(g_str_hash, g_str_equal);
    g_autoptr(GHashTable) machines = g_hash_table_new(g_str_hash, g_str_equal);
    html_literal(html, "<datalist id=\"benches\">");
    for (guint i = 0; i < project->benchmarks->len && i < OPTIONS_MAX; i++)
        layout_option(html, ((struct store_benchmark *)project->benchmarks->pdata[i])->name, "",
                      false);
    html_literal(html, "</datalist><datalist id=\"metrics\">");
    for (guint i = 0; i < project->series->len; i++) {
        const struct store_series *series = (const struct store_series *)project->series->pdata[i];
        g_hash_table_add(machines, series->machine->name);
        if (g_hash_table_size(metrics) < OPTIONS_MAX && g_hash_table_add(metrics, series->metric))
            layout_option(html, series->metric, "", false);
    }
    html_literal(html, "</datalist><datalist id=\"machines\">");
    g_autoptr(GList) all = g_list_sort(g_hash_table_get_keys(machines), (GCompareFunc)strcmp);
    guint n = 0;
    for (GList *at = all; at && n < OPTIONS_MAX; at = at->next, n++)
        layout_option(html, (const char *)at->data, "", false);
    html_literal(html, "</datalist>");
}

static void write_buttons(Html *html, const struct rule_form *form, const char *action)
{
    html_literal(html, "<span class=\"field buttons\"><button type=\"submit\" name=\"try\" "
                       "value=\"1\">Try it</button> <button");
    layout_form_button(html);
    html_url(html, "formaction", action);
    html_print(html, ">%s</button></span>", form->place < 0 ? "Save as a new rule" : "Save");
}

void rule_form_write(Html *html, const struct rule_form *form, const struct store_project *project,
                     const char *base, guint commits)
{
    static const struct choice muted[] = {{"", "as other rules say"},
                                          {"yes", "muted: judged, never told"},
                                          {"no", "told"},
                                          {NULL, NULL}};
    static const struct choice better[] = {{"", "as the metric says"},
                                           {"higher", "higher is better"},
                                           {"lower", "lower is better"},
                                           {"none", "no direction"},
                                           {NULL, NULL}};
    g_autofree char *action = link_rules(project->name);
    g_autofree char *answer = g_strconcat(action, "#form", NULL); /* the trial stands below it */
    html_literal(html, "<form class=\"rule\" method=\"get\"");
    html_url(html, "action", answer);
    html_print(html, "><input type=\"hidden\" name=\"place\" value=\"%d\">", form->place);
    html_literal(html, "<input type=\"hidden\" name=\"base\"");
    html_attr(html, "value", base);
    html_literal(html, "><fieldset class=\"fields\"><legend>Which series</legend>");
    write_input(html, form, RULE_FIELD_BENCH, "Benchmark", "any; * stands for any text");
    write_input(html, form, RULE_FIELD_PARAMS, "Parameters", "executor=fifo, threads=4");
    write_input(html, form, RULE_FIELD_MACHINE, "Machine", "any");
    write_input(html, form, RULE_FIELD_METRIC, "Metric", "any");
    html_literal(html, "</fieldset><fieldset class=\"fields\"><legend>What holds</legend>");
    write_input(html, form, RULE_FIELD_LEAST, "Least effect", "2%");
    write_input(html, form, RULE_FIELD_ABSOLUTE, "Least effect, in the metric’s unit", "none");
    write_select(html, form, RULE_FIELD_MUTED, "Telling", muted);
    write_select(html, form, RULE_FIELD_BETTER, "Direction", better);
    write_input(html, form, RULE_FIELD_NOTE, "Why", "a note for the others");
    html_literal(html, "</fieldset><fieldset class=\"fields\"><legend>Try, then save</legend>");
    html_print(html,
               "<label class=\"field\"><span class=\"legend\">In the last … commits</span><input "
               "type=\"text\" inputmode=\"numeric\" name=\"commits\" value=\"%u\"></label>",
               commits);
    layout_form_who(html, "Who saves it");
    write_buttons(html, form, action);
    html_literal(html, "</fieldset>");
    write_lists(html, project);
    html_literal(html, "</form>");
}
