/* SPDX-License-Identifier: Apache-2.0
 * See foreign_bench.h. */
#include "runner/foreign_bench.h"

#include "runner/child_process.h"
#include "runner/disturbance.h"
#include "runner/envelope.h"
#include "runner/nearest.h"
#include "runner/raw_commit.h"
#include "runner/report.h"
#include "runner/show/console.h"
#include "runner/timing.h"
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

bool foreign_bench_format(const char *name, const struct format **out, GError **error)
{
    *out = format_find(name);
    if (*out || strcmp(name, FORMAT_AUTO) == 0)
        return true;
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    for (const struct format *const *format = formats; *format; format++)
        g_ptr_array_add(names, (gpointer)(guintptr)(*format)->name);
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata, names->len, "");
    g_autofree char *all = format_names();
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "--format %s: there is no such format%s (there are: auto, %s)", name, hint, all);
    return false;
}

/* ---- Its output ---- */

static bool check_size(const char *what, guint64 n_bytes, GError **error)
{
    if (n_bytes <= RUN_BODY_BYTES_MAX)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                "%s is over 16 MiB, the most that a server takes", what);
    return false;
}

/* What the command wrote, of which there must not be a file from another day. */
static GBytes *read_results(const char *path, const struct stat *before, GError **error)
{
    struct stat now;
    char *text = NULL;
    gsize length = 0;
    g_autoptr(GError) problem = NULL;
    if (stat(path, &now) == 0 && now.st_ino == before->st_ino &&
        now.st_mtim.tv_sec == before->st_mtim.tv_sec &&
        now.st_mtim.tv_nsec == before->st_mtim.tv_nsec) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--results %s: the command did not write it; it is as it was before", path);
        return NULL;
    }
    if (stat(path, &now) == 0 && !check_size(path, (guint64)now.st_size, error))
        return NULL;
    if (!g_file_get_contents(path, &text, &length, &problem)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "--results: %s", problem->message);
        return NULL;
    }
    return g_bytes_new_take(text, length);
}

static GBytes *output_of(const ChildOutcome *outcome, GError **error)
{
    if (!check_size("the command's output", outcome->bytes->len, error))
        return NULL;
    return g_bytes_new(outcome->bytes->data, outcome->bytes->len);
}

/* ---- The run ---- */

static bool parse(const struct foreign_request *request, Run *run, GBytes *bytes, GError **error)
{
    gsize length = 0;
    const char *text = (const char *)g_bytes_get_data(bytes, &length);
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(Faults) faults = faults_new();
    struct format_reading reading = {
        .format = request->format, .run = run, .warnings = warnings, .faults = faults};
    bool is_good = format_read(&reading, text ? text : "", length, error);
    for (guint i = 0; i < warnings->len; i++)
        console_message("%s: %s", request->arguments[0], (const char *)warnings->pdata[i]);
    if (!is_good)
        report_faults(request->arguments[0], faults);
    return is_good;
}

static uint32_t samples_of(const struct run_result *result)
{
    uint32_t n = 0;
    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric = (const struct run_metric *)result->metrics->pdata[i];
        if (metric->kind != METRIC_SAMPLES)
            continue;
        if (n > 0 && n != metric->n_samples)
            return 0; /* nothing can stand beside all of them */
        n = metric->n_samples;
    }
    return n;
}

/* One command, one reading: the same beside each of its samples. */
static void add_noise(struct run_result *result, const struct timing_noise *noise)
{
    uint32_t n = samples_of(result);
    g_autofree double *values = g_new(double, n + 1);
    for (int c = 0; c < TIMING_COLUMNS && n > 0; c++) {
        for (uint32_t i = 0; i < n; i++)
            values[i] = noise->values[c];
        if (noise->has[c] && result->beside->len < RUN_BESIDE_MAX)
            run_result_add_beside(result, timing_columns[c].name, timing_columns[c].unit, values,
                                  n);
    }
}

/* Keeps of the envelope what the format may not say otherwise. */
static Run *make_run(const struct foreign_request *request, GBytes *bytes,
                     const struct timing_noise *noise, GError **error)
{
    g_autoptr(Run) run = request->provenance ? envelope_new(request->provenance, error) : run_new();
    if (!run || !parse(request, run, bytes, error))
        return NULL;
    for (guint i = 0; i < run->results->len; i++)
        add_noise((struct run_result *)run->results->pdata[i], noise);
    disturbance_mark(run->results);
    return g_steal_pointer(&run);
}

/* A command that failed is said to have, before its output is blamed. */
static void blame_command(const struct foreign_request *request, const char *end, GError **problem,
                          GError **error)
{
    if (!end) {
        g_propagate_error(error, g_steal_pointer(problem));
        return;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "%s %s, and there are no results: %s",
                request->arguments[0], end, (*problem)->message);
}

Run *foreign_bench_take(const struct foreign_request *request, bool *out_failed, GError **error)
{
    struct stat before = {0};
    struct timing_noise noise = {0};
    const struct child_request child = {
        .arguments = request->arguments,
        .out = request->results_path ? CHILD_PASS : CHILD_KEEP,
        .err = CHILD_PASS,
        .kept_bytes_max = RUN_BODY_BYTES_MAX + 1,
        .timeout_seconds = request->timeout_seconds,
    };
    if (request->results_path && stat(request->results_path, &before) != 0)
        before = (struct stat){0};
    g_autoptr(ChildOutcome) outcome = timing_execute(&child, &noise, error);
    if (!outcome)
        return NULL;
    g_autofree char *end = child_describe_end(outcome, request->timeout_seconds);
    g_autoptr(GError) problem = NULL;
    g_autoptr(GBytes) bytes = request->results_path
                                  ? read_results(request->results_path, &before, &problem)
                                  : output_of(outcome, &problem);
    Run *run = bytes ? make_run(request, bytes, &noise, &problem) : NULL;
    if (run && end)
        console_message("%s %s; what it measured is taken all the same", request->arguments[0],
                        end);
    if (!run)
        blame_command(request, end, &problem, error);
    *out_failed = end != NULL;
    return run;
}

/* ---- Facts ---- */

/* Merges `more` (taken) over the map in *inout_text. */
static void merge_map(char **inout_text, json_t *more)
{
    json_t *map = *inout_text ? json_loads(*inout_text, 0, NULL) : json_object();
    json_object_update(map, more);
    char *text = json_dumps(map, JSON_COMPACT | JSON_SORT_KEYS);
    if (json_object_size(map) <= RUN_MAP_MAX) {
        g_free(*inout_text);
        *inout_text = run_map_text(text);
    }
    free(text);
    json_decref(map);
    json_decref(more);
}

void foreign_bench_add_context(Run *run, const char *line)
{
    g_autofree char *command = raw_commit_clean_text(line, strlen(line), RUN_NAME_BYTES_MAX);
    merge_map(&run->context_json, json_pack("{s:s, s:s}", "command", command ? command : "",
                                            "runner", BREAKEVEN_VERSION));
}

void foreign_bench_add_environment(Run *run, const char *facts_json)
{
    json_t *facts = facts_json ? json_loads(facts_json, 0, NULL) : NULL;
    if (facts)
        merge_map(&run->environment_json, facts);
}
