/* SPDX-License-Identifier: Apache-2.0
 * See rules_parts.h. The request's thread. */
#include "server/pages/rules_parts.h"

#include "server/pages/link.h"
#include "server/pages/series_parts.h"

#include <math.h>

#define SERIES_SHOWN 50u
#define ROWS_OPEN    8u
#define ROWS_SHOWN   100u

/* ---- A rule ---------------------------------------------------------------------------------- */

static void write_which(Html *html, const struct series_pattern *pattern)
{
    html_literal(html, "<th scope=\"row\">");
    html_text(html, pattern->bench ? pattern->bench : "every benchmark");
    html_literal(html, "<span class=\"sub params\">");
    for (guint i = 0; i < pattern->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(pattern->params, i);
        html_literal(html, "<span><i>");
        html_text(html, param->name);
        html_literal(html, "</i> ");
        html_text(html, param->value);
        html_literal(html, "</span> ");
    }
    if (pattern->machine)
        html_print(html, "<span><i>machine</i> %s</span> ", pattern->machine);
    if (pattern->metric)
        html_print(html, "<span><i>metric</i> %s</span>", pattern->metric);
    html_literal(html, "</span></th>");
}

static void write_what(Html *html, const struct rule *rule)
{
    char text[G_ASCII_DTOSTR_BUF_SIZE];
    html_literal(html, "<td>");
    if (rule->gives & RULE_LEAST_EFFECT)
        html_print(html, "<span class=\"tag\">from %s %%</span> ",
                   g_ascii_formatd(text, sizeof text, "%.6g", 100 * rule->least_effect));
    if (rule->gives & RULE_LEAST_EFFECT_ABSOLUTE)
        html_print(html, "<span class=\"tag\">from %s in its unit</span> ",
                   g_ascii_formatd(text, sizeof text, "%.6g", rule->least_effect_absolute));
    if (rule->gives & RULE_MUTED)
        html_print(html, "<span class=\"tag\">%s</span> ", rule->muted ? "muted" : "told");
    if (rule->gives & RULE_BETTER)
        html_print(html, "<span class=\"tag\">%s</span>",
                   rule->better == BETTER_HIGHER  ? "higher is better"
                   : rule->better == BETTER_LOWER ? "lower is better"
                                                  : "no direction");
    html_literal(html, "</td><td class=\"message\">");
    html_text(html, rule->note);
    html_literal(html, "</td>");
}

static guint count_fits(const struct store_project *project, const struct rule *rule)
{
    guint n = 0;
    for (guint i = 0; i < project->series->len; i++) {
        const struct series_names names =
            store_series_names((const struct store_series *)project->series->pdata[i]);
        n += series_pattern_fits(&rule->pattern, &names);
    }
    return n;
}

static void write_actions(Html *html, const struct store_project *project, guint place,
                          const char *base)
{
    g_autofree char *path = link_rules(project->name);
    g_autofree char *edit = g_strdup_printf("%s?edit=%u#form", path, place);
    html_literal(html, "<td><form class=\"inline\" method=\"post\"");
    html_url(html, "action", path);
    html_print(html, "><input type=\"hidden\" name=\"place\" value=\"%u\">", place);
    layout_form_token(html);
    html_literal(html, "<input type=\"hidden\" name=\"base\"");
    html_attr(html, "value", base);
    html_literal(html, "><a class=\"button quiet\"");
    html_url(html, "href", edit);
    html_print(html,
               " aria-label=\"Edit rule %u\">Edit</a> <button class=\"quiet\" name=\"do\" "
               "value=\"remove\" aria-label=\"Remove rule %u\">Remove</button></form></td></tr>",
               place + 1, place + 1);
}

void rules_parts_list(Html *html, const struct store_project *project, const char *base)
{
    guint n = project->rules ? project->rules->len : 0;
    html_print(html,
               "<section class=\"card\" id=\"rules\"><h2>What holds <span class=\"n\">%u</span>"
               "</h2>",
               n);
    if (n == 0) {
        html_literal(html, "<p class=\"muted\">No rule: every series is told from 2 % on, in the "
                           "direction that its metric says.</p></section>");
        return;
    }
    html_literal(html,
                 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Rules\"><table>"
                 "<thead><tr><th scope=\"col\" class=\"num\">Rule</th><th scope=\"col\">Which "
                 "series</th><th scope=\"col\" class=\"num\">Fit</th><th scope=\"col\">What "
                 "holds</th><th scope=\"col\">Why</th><th scope=\"col\">Change</th></tr></thead>"
                 "<tbody>");
    for (guint i = 0; i < n; i++) {
        const struct rule *rule = (const struct rule *)project->rules->pdata[i];
        guint fits = count_fits(project, rule);
        html_print(html, "<tr><td class=\"num\">%u</td>", i + 1);
        write_which(html, &rule->pattern);
        html_print(html, "<td class=\"num%s\">%u</td>", fits == 0 ? " warn" : "", fits);
        write_what(html, rule);
        write_actions(html, project, i, base);
    }
    html_literal(html, "</tbody></table></div></section>");
}

/* ---- A trial --------------------------------------------------------------------------------- */

static void write_sentence(Html *html, const RulesTrial *trial)
{
    const guint *counts = trial->counts;
    html_print(html, "<p class=\"sentence\">In the last %u commits: ", trial->commits);
    html_print(html, "<strong>%u more</strong> would have been told, <strong>%u no longer</strong>",
               counts[RULES_TRIAL_ADDED], counts[RULES_TRIAL_GONE]);
    if (counts[RULES_TRIAL_TURNED] > 0)
        html_print(html, ", %u with another direction", counts[RULES_TRIAL_TURNED]);
    html_print(html, "; %u as now.</p><p class=\"muted\">", counts[RULES_TRIAL_SAME]);
    if (trial->n_touched == 0)
        html_literal(html, "The rules judge no series otherwise than now.");
    else if (trial->is_cut)
        html_print(html,
                   "<span class=\"warn\">Only %u of the %u series that are judged otherwise were "
                   "tried; the rest would have taken too long.</span>",
                   trial->n_tried, trial->n_touched);
    else
        html_print(html, "%u series %s judged otherwise, and all were tried. Nothing is saved.",
                   trial->n_touched, trial->n_touched == 1 ? "is" : "are");
    html_literal(html, "</p>");
}

static void write_trial_row(Html *html, StoreSnapshot *snapshot, const struct rules_trial_row *row)
{
    static const char *const words[] = {"told, too", "no longer told", "other direction", ""};
    static const char *const verdicts[] = {"▼ worse", "moved", "▲ better"};
    static const char *const tags[] = {"tag worse", "tag", "tag better"};
    const struct store_series *series = store_series_by_id(snapshot, row->series_id);
    const struct store_commit *bad = store_commit_by_id(snapshot, row->bad_commit_id);
    const struct store_commit *told = store_commit_by_id(snapshot, row->told_commit_id);
    int verdict = row->what == RULES_TRIAL_GONE ? row->verdict_now : row->verdict_then;
    if (!series || !bad || !told)
        return;
    html_print(html, "<tr><td>%s", words[row->what]);
    if (row->is_boundary)
        html_literal(html, "<span class=\"sub\">with the environment</span>");
    html_literal(html, "</td>");
    series_parts_head(html, series);
    html_literal(html, "<td class=\"num\">");
    series_parts_effect(html, row->effect, row->low, row->high);
    html_print(html, "</td><td><span class=\"%s\">%s</span></td><td>", tags[verdict + 1],
               verdicts[verdict + 1]);
    layout_commit(html, bad);
    html_literal(html, "</td><td>");
    layout_commit(html, told);
    html_literal(html, "</td></tr>");
}

static void write_trial_table(Html *html, StoreSnapshot *snapshot, const RulesTrial *trial,
                              guint first, guint end)
{
    g_autofree char *label = g_strdup_printf("What would be told otherwise, from %u on", first + 1);
    html_literal(html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\"");
    html_attr(html, "aria-label", label);
    html_literal(html,
                 "><table class=\"compared\"><thead><tr><th scope=\"col\">What</th><th "
                 "scope=\"col\">Series</th><th scope=\"col\" class=\"num\">Effect, 95 %</th><th "
                 "scope=\"col\">Direction</th><th scope=\"col\">First bad</th><th "
                 "scope=\"col\">Told at</th></tr></thead><tbody>");
    for (guint i = first; i < end; i++)
        write_trial_row(html, snapshot, &g_array_index(trial->rows, struct rules_trial_row, i));
    html_literal(html, "</tbody></table></div>");
}

static void write_trial_rows(Html *html, StoreSnapshot *snapshot, const RulesTrial *trial)
{
    guint n_all = trial->counts[RULES_TRIAL_ADDED] + trial->counts[RULES_TRIAL_GONE] +
                  trial->counts[RULES_TRIAL_TURNED];
    guint n_shown = MIN(trial->rows->len, ROWS_SHOWN), n_open = MIN(n_shown, ROWS_OPEN);
    if (n_shown == 0)
        return;
    write_trial_table(html, snapshot, trial, 0, n_open);
    if (n_shown > n_open) {
        html_print(html, "<details class=\"fold\"><summary>%u further changes</summary>",
                   n_all - n_open);
        write_trial_table(html, snapshot, trial, n_open, n_shown);
        html_literal(html, "</details>");
    }
    if (n_all > n_shown)
        html_print(html,
                   "<p class=\"muted\">The %u largest of %u are shown; POST …/rules/try gives "
                   "more.</p>",
                   n_shown, n_all);
}

static void write_trial_series(Html *html, StoreSnapshot *snapshot, const RulesTrial *trial)
{
    guint n_shown = MIN(trial->series->len, SERIES_SHOWN);
    if (n_shown == 0)
        return;
    html_print(html, "<details class=\"fold\"><summary>By series: %u tried</summary>",
               trial->series->len);
    html_literal(html,
                 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"By series\">"
                 "<table><thead><tr><th scope=\"col\">Series</th><th scope=\"col\" "
                 "class=\"num\">More</th><th scope=\"col\" class=\"num\">No longer</th><th "
                 "scope=\"col\" class=\"num\">Turned</th><th scope=\"col\" class=\"num\">As "
                 "now</th></tr></thead><tbody>");
    for (guint i = 0; i < n_shown; i++) {
        const struct rules_trial_series *one =
            &g_array_index(trial->series, struct rules_trial_series, i);
        const struct store_series *series = store_series_by_id(snapshot, one->series_id);
        if (!series)
            continue;
        html_literal(html, "<tr>");
        series_parts_head(html, series);
        for (guint k = 0; k < RULES_TRIAL_WHATS; k++)
            html_print(html, "<td class=\"num\">%u</td>", one->counts[k]);
        html_literal(html, "</tr>");
    }
    html_literal(html, "</tbody></table></div>");
    if (trial->series->len > n_shown)
        html_print(html, "<p class=\"muted\">The first %u are shown.</p>", n_shown);
    html_literal(html, "</details>");
}

void rules_parts_trial(Html *html, StoreSnapshot *snapshot, const RulesTrial *trial)
{
    html_literal(html, "<section class=\"card\" id=\"trial\"><h2>What the rule would have told"
                       "</h2>");
    write_sentence(html, trial);
    write_trial_rows(html, snapshot, trial);
    write_trial_series(html, snapshot, trial);
    html_literal(html, "</section>");
}

/* ---- The log --------------------------------------------------------------------------------- */

static void write_entry(Html *html, const struct store_rule_entry *entry)
{
    html_literal(html, "<tr><th scope=\"row\">");
    layout_time_ms(html, entry->at_ms);
    html_literal(html, "</th><td>");
    html_text(html, entry->who ? entry->who : "nobody said who");
    html_literal(html, "</td><td class=\"message\">");
    html_text(html, entry->note);
    html_print(html, "</td><td class=\"num\">%u</td><td class=\"message\"><details><summary>rules",
               entry->n_series);
    html_literal(html, "</summary><code>");
    html_text(html, entry->rules_json);
    html_literal(html, "</code></details></td></tr>");
}

void rules_parts_log(Html *html, const GPtrArray *log, guint n_max)
{
    html_literal(html, "<section class=\"card\" id=\"log\"><h2>Who saved what</h2>");
    if (log->len == 0) {
        html_literal(html, "<p class=\"muted\">Nobody has saved rules yet.</p></section>");
        return;
    }
    html_literal(
        html, "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Who saved "
              "what\"><table><thead><tr><th scope=\"col\">When</th><th scope=\"col\">Who</th><th "
              "scope=\"col\">Why</th><th scope=\"col\" class=\"num\">Series judged anew</th><th "
              "scope=\"col\">From then on</th></tr></thead><tbody>");
    for (guint i = 0; i < log->len && i < n_max; i++)
        write_entry(html, (const struct store_rule_entry *)log->pdata[i]);
    html_literal(html, "</tbody></table></div>");
    if (log->len > n_max) {
        const struct store_rule_entry *last =
            (const struct store_rule_entry *)log->pdata[n_max - 1];
        g_autofree char *older =
            g_strdup_printf("?before=%" G_GINT64_FORMAT "#log", (gint64)last->id);
        html_literal(html, "<p><a");
        html_url(html, "href", older);
        html_literal(html, ">Older ones</a></p>");
    }
    html_literal(html, "</section>");
}

/* ---- In other forms -------------------------------------------------------------------------- */

static void write_rule_cells(Sheet *sheet, const struct store_project *project, guint place)
{
    const struct rule *rule = (const struct rule *)project->rules->pdata[place];
    const struct series_pattern *pattern = &rule->pattern;
    g_autoptr(GString) params = g_string_new(NULL);
    for (guint i = 0; i < pattern->params->len; i++) {
        const struct run_param *param = (const struct run_param *)pattern->params->pdata[i];
        g_string_append_printf(params, "%s%s=%s", i > 0 ? ", " : "", param->name, param->value);
    }
    sheet_integer(sheet, place + 1);
    sheet_text(sheet, pattern->bench);
    sheet_text(sheet, params->len > 0 ? params->str : NULL);
    sheet_text(sheet, pattern->machine);
    sheet_text(sheet, pattern->metric);
    sheet_integer(sheet, count_fits(project, rule));
    sheet_share(sheet, rule->gives & RULE_LEAST_EFFECT ? rule->least_effect : (double)NAN);
    sheet_number(
        sheet, rule->gives & RULE_LEAST_EFFECT_ABSOLUTE ? rule->least_effect_absolute : (double)NAN,
        NULL);
    if (rule->gives & RULE_MUTED)
        sheet_bool(sheet, rule->muted);
    else
        sheet_text(sheet, NULL);
    const char *better = better_name(rule->better);
    sheet_text(sheet, !(rule->gives & RULE_BETTER) ? NULL : better ? better : "none");
    sheet_text(sheet, rule->note);
}

void rules_parts_list_sheet(Sheet *sheet, const struct store_project *project)
{
    static const struct sheet_column columns[] = {
        {"rule", "Rule", true},          {"bench", "Benchmark", false},
        {"params", "Parameters", false}, {"machine", "Machine", false},
        {"metric", "Metric", false},     {"fit", "Fit", true},
        {"least_effect", "From", true},  {"least_effect_absolute", "From, in its unit", true},
        {"muted", "Muted", false},       {"better", "Better", false},
        {"note", "Why", false},          {0}};
    sheet_table(sheet, "rules", "What holds", columns, SHEET_ROWS);
    for (guint i = 0; project->rules && i < project->rules->len; i++)
        write_rule_cells(sheet, project, i);
    sheet_table_end(sheet);
}

void rules_parts_trial_sheet(Sheet *sheet, StoreSnapshot *snapshot, const RulesTrial *trial)
{
    static const char *const verdicts[] = {"worse", NULL, "better"};
    static const struct sheet_column columns[] = {{"what", "What", false},
                                                  SERIES_PARTS_COLUMNS,
                                                  {"effect", "Effect", true},
                                                  {"low", NULL, true},
                                                  {"high", NULL, true},
                                                  {"direction", "Moved", false},
                                                  {"first_bad", "First bad", false},
                                                  {"told_at", "Told at", false},
                                                  {0}};
    sheet_table(sheet, "trial", "What the rule would have told", columns, SHEET_ROWS);
    for (guint i = 0; i < trial->rows->len; i++) {
        const struct rules_trial_row *row = &g_array_index(trial->rows, struct rules_trial_row, i);
        const struct store_series *series = store_series_by_id(snapshot, row->series_id);
        int verdict = row->what == RULES_TRIAL_GONE ? row->verdict_now : row->verdict_then;
        if (!series)
            continue;
        sheet_text(sheet, rules_trial_what_name(row->what));
        series_parts_cells(sheet, series);
        sheet_ratio(sheet, row->effect);
        sheet_ratio(sheet, row->low);
        sheet_ratio(sheet, row->high);
        sheet_text(sheet, verdicts[verdict + 1]);
        sheet_commit(sheet, store_commit_by_id(snapshot, row->bad_commit_id));
        sheet_commit(sheet, store_commit_by_id(snapshot, row->told_commit_id));
    }
    sheet_table_end(sheet);
}

void rules_parts_log_sheet(Sheet *sheet, const GPtrArray *log, guint n_max)
{
    static const struct sheet_column columns[] = {{"id", NULL, false},
                                                  {"time", "When", false},
                                                  {"who", "Who", false},
                                                  {"note", "Why", false},
                                                  {"series", "Series judged anew", true},
                                                  {"rules", NULL, false},
                                                  {0}};
    sheet_table(sheet, "log", "Who saved what", columns, SHEET_ROWS);
    for (guint i = 0; i < log->len && i < n_max; i++) {
        const struct store_rule_entry *entry = (const struct store_rule_entry *)log->pdata[i];
        sheet_id(sheet, entry->id);
        sheet_time_ms(sheet, entry->at_ms);
        sheet_text(sheet, entry->who);
        sheet_text(sheet, entry->note);
        sheet_integer(sheet, entry->n_series);
        sheet_raw(sheet, entry->rules_json ? entry->rules_json : "null", NULL);
    }
    sheet_table_end(sheet);
}
