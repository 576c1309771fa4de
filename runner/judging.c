/* SPDX-License-Identifier: Apache-2.0
 * See judging.h. Main thread. */
#include "runner/judging.h"

#include "runner/command.h"
#include "runner/confirming.h"
#include "runner/deliver/http_client.h"
#include "runner/interrupt.h"
#include "runner/out_file.h"
#include "runner/report.h"
#include "runner/show/annotations.h"
#include "runner/show/console.h"
#include "runner/show/verdict_junit.h"
#include "runner/show/verdict_markdown.h"
#include "runner/show/verdict_table.h"
#include <string.h>

#define ANSWER_BYTES_MAX ((gsize)64 << 20)

static bool parse_words(const GPtrArray *words, struct judging *out, GError **error)
{
    out->on_regressed = words == NULL;
    for (guint i = 0; words && i < words->len; i++) {
        const char *word = (const char *)words->pdata[i];
        if (strcmp(word, "regressed") == 0)
            out->on_regressed = true;
        else if (strcmp(word, "unsure") == 0)
            out->on_unsure = true;
        else if (strcmp(word, "none") != 0 || words->len > 1) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "--fail-on %s: give regressed, unsure, both with a comma, or none alone",
                        word);
            return false;
        }
    }
    return true;
}

bool judging_parse(const Options *options, struct judging *out, GError **error)
{
    *out = (struct judging){.junit = options_value(options, "junit"),
                            .markdown = options_value(options, "markdown")};
    return parse_words(options_list(options, "fail-on"), out, error) &&
           (!out->junit || out_file_check("junit", out->junit, error)) &&
           (!out->markdown || out_file_check("markdown", out->markdown, error));
}

/* ---- The server's answer ---- */

json_t *judging_fetch(const Settings *settings, const char *path, unsigned seconds, GError **error)
{
    struct http_client_options options = {.token = settings->token,
                                          .stopped = interrupt_requested,
                                          .seconds = seconds,
                                          .answer_bytes_max = ANSWER_BYTES_MAX};
    report_exposed_token(settings);
    g_autoptr(HttpClient) client = http_client_new(&options, error);
    if (!client)
        return NULL;
    struct http_answer answer;
    json_t *json = NULL;
    g_autofree char *url = g_strconcat(settings->server, path, NULL);
    http_client_get(client, url, &answer);
    if (answer.failure)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "%s gives no answer: %s", settings->server,
                    answer.failure);
    else if (answer.status != 200)
        report_refusal(settings, &answer, error);
    else if (!(json = json_loadb(answer.body->str, answer.body->len, 0, NULL)))
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s answers with what is no JSON; is it a breakeven-server?", settings->server);
    http_answer_clear(&answer);
    return json;
}

/* ---- What fails ---- */

struct tally {
    guint n_failing;   /* regressed, and that fails */
    guint n_unsure;    /* could not be told … */
    guint n_disturbed; /* … because something disturbed all samples */
    guint n_suspected; /* regressed by what one run alone shows */
};

static bool is_verdict(const json_t *row, const char *verdict)
{
    return g_strcmp0(json_string_value(json_object_get(row, "verdict")), verdict) == 0;
}

/* Whether more than this one run says that the series regressed. */
static bool is_proven(const json_t *row, struct judging_view view)
{
    return !view.is_gate || json_is_string(json_object_get(row, "change")) ||
           g_strcmp0(confirming_decision(row), "confirmed") == 0;
}

static void mark_row(const struct judging *judging, json_t *row, struct judging_view view,
                     struct tally *tally)
{
    bool is_regressed = is_verdict(row, "regressed");
    bool is_unsure =
        is_verdict(row, "unsure") || g_strcmp0(confirming_decision(row), "unsure") == 0;
    bool fails = is_regressed && is_proven(row, view) && judging->on_regressed;
    tally->n_failing += fails;
    tally->n_unsure += is_unsure;
    tally->n_disturbed += is_unsure && json_is_true(json_object_get(row, "disturbed"));
    tally->n_suspected += is_regressed && !is_proven(row, view) && !confirming_decision(row);
    if (fails || (is_unsure && judging->on_unsure))
        json_object_set_new(row, "fails", json_true());
}

static struct tally mark(const struct judging *judging, json_t *comparison,
                         struct judging_view view)
{
    struct tally tally = {0};
    json_t *series = json_object_get(comparison, "series");
    for (size_t i = 0; i < json_array_size(series); i++)
        mark_row(judging, json_array_get(series, i), view, &tally);
    return tally;
}

static int code_of(const struct judging *judging, const struct tally *tally)
{
    if (tally->n_failing > 0)
        return EXIT_REGRESSED;
    if (tally->n_suspected > 0)
        console_message("this one run looks slower, which alone fails nothing; --confirm measures "
                        "such cells again and lets that decide");
    if (tally->n_disturbed > 0)
        console_message("%u series were disturbed while they were measured, and so decide nothing; "
                        "breakeven-runner machine says what stands in the way",
                        tally->n_disturbed);
    if (tally->n_unsure == 0)
        return EXIT_FINE;
    if (judging->on_unsure)
        return EXIT_UNSURE;
    console_message("%u series could not be told apart from noise; --fail-on regressed,unsure "
                    "fails on that",
                    tally->n_unsure);
    return EXIT_FINE;
}

/* ---- What is said ---- */

static void show(const json_t *comparison, struct judging_view view)
{
    const json_t *warnings = json_object_get(comparison, "warnings");
    const char *sentence = json_string_value(json_object_get(comparison, "sentence"));
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *text = json_string_value(json_array_get(warnings, i));
        if (text)
            console_message("warning: %s", text);
    }
    if (!sentence)
        sentence = "the server says nothing";
    if (view.is_message) {
        console_message("%s", sentence);
        return;
    }
    GString *table = verdict_table_draw(comparison, view.all);
    console_write(table->str, table->len);
    g_string_free(table, TRUE);
    console_print("%s\n", sentence);
}

/* Writes and frees the text; false, with a message, where it cannot be written. */
static bool write_report(const char *option, const char *path, GString *text)
{
    g_autoptr(GError) problem = NULL;
    bool is_written = out_file_write(option, path, text, &problem);
    if (!is_written)
        console_message("%s", problem->message);
    g_string_free(text, TRUE);
    return is_written;
}

/* Where GitHub Actions, or what speaks its language, runs this. */
static void tell_github(const json_t *comparison, const Settings *settings)
{
    const char *summary = g_getenv("GITHUB_STEP_SUMMARY");
    if (g_strcmp0(g_getenv("GITHUB_ACTIONS"), "true") != 0)
        return;
    GString *lines = annotations_draw(comparison);
    console_command(lines->str);
    g_string_free(lines, TRUE);
    if (!summary || !*summary)
        return;
    g_autoptr(GError) problem = NULL;
    GString *text = verdict_markdown_draw(comparison, settings->server);
    if (!out_file_append(summary, text, &problem))
        console_message("the step's summary: %s", problem->message);
    g_string_free(text, TRUE);
}

static bool write_reports(const struct judging *judging, const Settings *settings,
                          const json_t *comparison)
{
    bool is_written = true;
    if (judging->junit)
        is_written = write_report("junit", judging->junit, verdict_junit_draw(comparison));
    if (judging->markdown)
        is_written = write_report("markdown", judging->markdown,
                                  verdict_markdown_draw(comparison, settings->server)) &&
                     is_written;
    return is_written;
}

int judging_conclude(const struct judging *judging, const Settings *settings, json_t *comparison,
                     struct judging_view view)
{
    struct tally tally = mark(judging, comparison, view);
    show(comparison, view);
    tell_github(comparison, settings);
    bool is_written = write_reports(judging, settings, comparison);
    int code = code_of(judging, &tally);
    return code == EXIT_FINE && !is_written ? EXIT_UNDELIVERED : code;
}
