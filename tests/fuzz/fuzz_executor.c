/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of what the runner reads: the framed answer of a cell's process and the document in it, a
 * server's receipts, problems and comparisons, plans, and git's raw commits. What is taken keeps
 * the rules of the run document, what is refused is said, and reports stay well-formed whatever a
 * comparison holds. An input that begins with { is JSON, else it is text; each is a frame, too.
 * libFuzzer's entry point; replay.c feeds it what was kept. */
#include "runner/cell_document.h"
#include "runner/cell_frame.h"
#include "runner/deliver/answer.h"
#include "runner/measure/histogram.h"
#include "runner/plan.h"
#include "runner/raw_commit.h"
#include "runner/result_merge.h"
#include "runner/show/annotations.h"
#include "runner/show/verdict_junit.h"
#include "runner/show/verdict_markdown.h"
#include "runner/show/verdict_table.h"
#include "tests/fuzz/fuzz.h"
#include <math.h>
#include <string.h>

static void check_text(const char *text)
{
    check(g_utf8_validate(text, -1, NULL));
}

/* ---- A cell's answer ---- */

#define FRAME_HEAD  24u /* magic, iterations, length */
#define FRAME_CHECK 32u

/* `bytes` is a frame that is taken, or one that is refused and says why. */
static bool frame_read(const GByteArray *bytes, const char **out_document, size_t *out_length)
{
    g_autoptr(GError) error = NULL;
    uint64_t iterations;
    bool taken = cell_frame_unpack(bytes, &iterations, out_document, out_length, &error);
    check_error(!taken, error);
    if (taken)
        check((const guint8 *)*out_document == bytes->data + FRAME_HEAD &&
              *out_length + FRAME_HEAD + FRAME_CHECK == bytes->len);
    return taken;
}

static void check_frames(const uint8_t *data, size_t size)
{
    g_autoptr(GByteArray) raw = g_byte_array_new();
    g_autoptr(GByteArray) packed = cell_frame_pack(7, (const char *)data, size);
    const char *document;
    size_t length;
    g_byte_array_append(raw, data, (guint)size);
    frame_read(raw, &document, &length);
    check(frame_read(packed, &document, &length) && length == size);
    check(size == 0 || memcmp(document, data, size) == 0);
    g_byte_array_append(packed, (const guint8 *)"x", 1);
    check(!frame_read(packed, &document, &length));
    g_byte_array_set_size(packed, packed->len - 2);
    check(!frame_read(packed, &document, &length));
}

/* Whether a run of this one result keeps every rule; the result stays the caller's. */
static bool is_sound(struct run_result *result)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(Run) run = run_new();
    run->id = g_strdup("1");
    run->project = g_strdup("p");
    run->machine = g_strdup("m");
    run->commit.sha = g_strdup("0123456789abcdef0123456789abcdef01234567");
    run->started_ms = 1;
    g_ptr_array_add(run->results, result);
    bool sound = run_validate(run, faults, NULL);
    g_ptr_array_steal_index(run->results, 0);
    return sound;
}

static void check_histograms(const struct run_result *result)
{
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        struct histogram_bounds low, high;
        if (!histogram_metric_quantile(metric, 0.01, &low))
            continue;
        check(histogram_metric_quantile(metric, 0.99, &high));
        check(low.low <= low.middle && low.middle <= low.high && low.low <= high.low);
    }
}

static struct run_result *cell_read(const uint8_t *data, size_t size)
{
    const struct cell cell = {.bench = bench_find("ThreadPoolSpawn"),
                              .values = {.executor = "fifo", .threads = 2, .task_cost = 1000}};
    g_autoptr(GError) error = NULL;
    struct run_result *result = cell_document_parse((const char *)data, size, &cell, &error);
    check_error(!result, error);
    return result;
}

/* Two rounds that gave the same. */
static void check_cell(const uint8_t *data, size_t size)
{
    struct run_result *whole = cell_read(data, size), *part = cell_read(data, size);
    check((whole == NULL) == (part == NULL));
    if (!whole)
        return;
    check(is_sound(whole));
    check_histograms(whole);
    result_merge(whole, part);
    check(is_sound(whole));
    run_result_free(whole);
    run_result_free(part);
}

/* ---- A server's answers ---- */

static void check_answer(const char *body, size_t size)
{
    g_autofree char *page = answer_page("http://127.0.0.1:8080", body, size);
    g_autofree char *problem = answer_problem(422, body, size);
    g_autoptr(GPtrArray) warnings = answer_warnings(body, size);
    check(!page || g_str_has_prefix(page, "http://") || g_str_has_prefix(page, "https://"));
    check(g_str_has_prefix(problem, "422"));
    check_text(problem);
    for (guint i = 0; i < warnings->len; i++)
        check_text((const char *)warnings->pdata[i]);
    check(!page || answer_is_receipt(body, size));
}

static void check_junit(const json_t *comparison)
{
    static const GMarkupParser nothing = {0};
    GString *xml = verdict_junit_draw(comparison);
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&nothing, G_MARKUP_DEFAULT_FLAGS, NULL, NULL);
    check(g_markup_parse_context_parse(context, xml->str, (gssize)xml->len, NULL) &&
          g_markup_parse_context_end_parse(context, NULL));
    g_string_free(xml, TRUE);
}

/* Each line is one command, and nothing in it begins another one. */
static void check_annotations(const json_t *comparison)
{
    GString *text = annotations_draw(comparison);
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    guint n = g_strv_length(lines);
    check(n <= ANNOTATIONS_MAX + 1 && !strchr(text->str, '\r'));
    for (guint i = 0; i + 1 < n; i++) {
        check(g_str_has_prefix(lines[i], "::error title="));
        const char *message = strstr(lines[i] + 2, "::");
        check(message && message > lines[i] + strlen("::error title") && !strchr(lines[i], '\x1b'));
    }
    check(n == 0 || *lines[n - 1] == '\0');
    g_string_free(text, TRUE);
}

/* No line holds HTML, and none but the product's own begins a table, a list or a heading. */
static void check_markdown(const json_t *comparison)
{
    GString *text = verdict_markdown_draw(comparison, "http://127.0.0.1:8080");
    g_auto(GStrv) lines = g_strsplit(text->str, "\n", -1);
    for (char **line = lines; *line; line++) {
        guint bars = 0;
        for (const char *at = *line; *at; at++) {
            bars += *at == '|' && (at == *line || at[-1] != '\\');
            at += *at == '\\' && at[1];
            check(!(*at == '<' && (at == *line || at[-1] != '(')));
        }
        check(**line != '|' || bars == 6);
    }
    check_text(text->str);
    g_string_free(text, TRUE);
}

static void check_comparison(const char *body, size_t size)
{
    json_t *comparison = json_loadb(body, size, 0, NULL);
    if (!comparison)
        return;
    check_junit(comparison);
    check_annotations(comparison);
    check_markdown(comparison);
    GString *table = verdict_table_draw(comparison, TRUE);
    check_text(table->str);
    g_string_free(table, TRUE);
    json_decref(comparison);
}

/* ---- Text ---- */

/* What is installed is found out by making each executor, with its threads: a hundred times slower
 * than all the rest. */
static void check_plan(const char *text, size_t size)
{
    static const struct plan_filter any = {0};
    if (g_strstr_len(text, (gssize)size, "installed"))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(Plan) plan = plan_parse(text, size, "plan", &any, &error);
    check_error(!plan, error);
    if (!plan)
        return;
    guint n = plan->cells->len;
    check(n > 0 && n <= PLAN_CELLS_MAX && plan->rounds > 0 && plan->samples > 0);
    for (guint i = 0; i < n; i++) {
        const struct cell *cell = &g_array_index(plan->cells, struct cell, i);
        check(bench_case_check(cell->bench, &cell->values, NULL));
    }
    check(isfinite(plan_length_s(plan)) && plan_length_s(plan) >= 0);
    check(plan_double(plan, NULL) == (n <= PLAN_CELLS_MAX / 2));
}

/* Git wrote the parents; the rest people write. */
static void check_raw_commit(const char *text, size_t size)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(Run) run = run_new();
    struct run_commit *commit =
        raw_commit_parse("0123456789abcdef0123456789abcdef01234567", text, size);
    if (!commit)
        return;
    g_clear_pointer(&commit->parents, g_strfreev);
    run->id = g_strdup("1");
    run->project = g_strdup("p");
    run->machine = g_strdup("m");
    run->started_ms = 1;
    run_commit_clear(&run->commit);
    run->commit = *commit;
    g_free(commit);
    g_ptr_array_add(run->results, run_result_new("b"));
    run_result_take_metric((struct run_result *)run->results->pdata[0],
                           run_metric_new("m", "", BETTER_LOWER));
    run_metric_add_sample(
        (struct run_metric *)((struct run_result *)run->results->pdata[0])->metrics->pdata[0], 1);
    check(run_validate(run, faults, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    check_frames(data, size);
    check_answer(text, size);
    if (size > 0 && *data == '{') {
        check_cell(data, size);
        check_comparison(text, size);
    } else {
        check_plan(text, size);
        check_raw_commit(text, size);
    }
    return 0;
}
