/* SPDX-License-Identifier: Apache-2.0
 * See judging.h. Main thread. */
#include "runner/judging.h"

#include "runner/command.h"
#include "runner/deliver/http_client.h"
#include "runner/interrupt.h"
#include "runner/show/console.h"
#include "runner/show/verdict_table.h"
#include <string.h>

#define ANSWER_BYTES_MAX ((gsize)64 << 20)
#define WAIT_SECONDS     60u
#define GRACE_SECONDS    10u

bool judging_parse(const Options *options, struct judging *out, GError **error)
{
    const GPtrArray *words = options_list(options, "fail-on");
    *out = (struct judging){.on_regressed = words == NULL};
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

/* What a problem+json says, or the status. */
static void set_refusal(const Settings *settings, const struct http_answer *answer, GError **error)
{
    json_t *problem = json_loadb(answer->body->str, answer->body->len, 0, NULL);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s answers %ld: %s", settings->server,
                answer->status, detail ? detail : "and says no more");
    json_decref(problem);
}

json_t *judging_fetch(const Settings *settings, const char *path, unsigned seconds, GError **error)
{
    struct http_client_options options = {.token = settings->token,
                                          .stopped = interrupt_requested,
                                          .seconds = seconds,
                                          .answer_bytes_max = ANSWER_BYTES_MAX};
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
        set_refusal(settings, &answer, error);
    else if (!(json = json_loadb(answer.body->str, answer.body->len, 0, NULL)))
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s answers with what is no JSON; is it a breakeven-server?", settings->server);
    http_answer_clear(&answer);
    return json;
}

static json_int_t count_of(const json_t *comparison, const char *verdict)
{
    const json_t *counts = json_object_get(comparison, "counts");
    return json_integer_value(json_object_get(counts, verdict));
}

static void show(const json_t *comparison, bool all)
{
    const json_t *warnings = json_object_get(comparison, "warnings");
    for (size_t i = 0; i < json_array_size(warnings); i++) {
        const char *text = json_string_value(json_array_get(warnings, i));
        if (text)
            console_message("warning: %s", text);
    }
    GString *table = verdict_table_draw(comparison, all);
    console_write(table->str, table->len);
    g_string_free(table, TRUE);
    const char *sentence = json_string_value(json_object_get(comparison, "sentence"));
    console_print("%s\n", sentence ? sentence : "the server says nothing");
}

static int code_of_unsure(const struct judging *judging, const json_t *comparison)
{
    json_int_t n_unsure = count_of(comparison, "unsure");
    if (n_unsure == 0)
        return EXIT_FINE;
    if (judging->on_unsure)
        return EXIT_UNSURE;
    console_message("%" JSON_INTEGER_FORMAT " series could not be told apart from noise; "
                    "--fail-on regressed,unsure fails on that",
                    n_unsure);
    return EXIT_FINE;
}

int judging_show(const struct judging *judging, const json_t *comparison, bool all)
{
    show(comparison, all);
    if (judging->on_regressed && count_of(comparison, "regressed") > 0)
        return EXIT_REGRESSED;
    return code_of_unsure(judging, comparison);
}

/* Regressions that a change of the series' own history stands behind. */
static guint count_confirmed(const json_t *comparison)
{
    guint n = 0;
    const json_t *series = json_object_get(comparison, "series");
    for (size_t i = 0; i < json_array_size(series); i++) {
        const json_t *row = json_array_get(series, i);
        const char *verdict = json_string_value(json_object_get(row, "verdict"));
        n += verdict && strcmp(verdict, "regressed") == 0 &&
             json_is_string(json_object_get(row, "change"));
    }
    return n;
}

static int gate(const struct judging *judging, const json_t *verdict)
{
    const json_t *comparison = json_object_get(verdict, "comparison");
    if (!json_is_object(comparison)) {
        console_message("the run is stored, but was not judged within %u s: nothing can be said of "
                        "it yet",
                        WAIT_SECONDS);
        return judging->on_unsure ? EXIT_UNSURE : EXIT_FINE;
    }
    show(comparison, false);
    if (judging->on_regressed && count_confirmed(comparison) > 0)
        return EXIT_REGRESSED;
    if (count_of(comparison, "regressed") > 0)
        console_message("this one run looks slower; whether the level moved is told when more runs "
                        "of it are there");
    return code_of_unsure(judging, comparison);
}

int judging_gate(const struct judging *judging, const Settings *settings, const char *run_id,
                 GError **error)
{
    g_autofree char *escaped = g_uri_escape_string(run_id, NULL, FALSE);
    g_autofree char *path = g_strdup_printf("/api/runs/%s/verdict?wait=%u", escaped, WAIT_SECONDS);
    json_t *verdict = judging_fetch(settings, path, WAIT_SECONDS + GRACE_SECONDS, error);
    if (!verdict)
        return interrupt_requested() ? EXIT_INTERRUPTED : COMMAND_FAILED;
    int code = gate(judging, verdict);
    json_decref(verdict);
    return code;
}
