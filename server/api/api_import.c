/* SPDX-License-Identifier: Apache-2.0
 * POST /api/import: a whole history that another server kept in one file. github-action-benchmark's
 * data.js: each entry of each suite is a run at its commit. An entry that cannot be one is left out
 * and said, so that one odd commit does not keep a history away. Runs on the request's thread; the
 * answer is given when the last run is stored. */
#include "schema/document.h"
#include "schema/formats/format.h"
#include "schema/text.h"
#include "schema/timestamp.h"
#include "server/api/api_access.h"
#include "server/api/foreign_run.h"
#include "server/api/upload_runs.h"
#include "server/context.h"
#include "server/http/json_writer.h"
#include "server/routes.h"
#include <string.h>

#define FROM         "github-action-benchmark"
#define WARNINGS_MAX 50u

struct importing {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    const char *project, *machine, *branch, *suite; /* of the query, or NULL; project never NULL */
    bool has_suites;                                /* several: they tell results apart */
    GPtrArray *runs, *warnings;
    guint n_left_out, n_unsaid;
};

/* ---- The file ---------------------------------------------------------------------- */

/* `window.BENCHMARK_DATA = {…};` or the object alone. */
static json_t *load_data(const HttpRequest *request, GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length);
    const char *start = memchr(bytes, '{', length);
    if (!start) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "the file holds no object: data.js says window.BENCHMARK_DATA = {…}");
        return NULL;
    }
    length -= (size_t)(start - bytes);
    while (length > 0 && strchr("; \t\r\n", start[length - 1]))
        length--;
    json_t *data = document_load(start, length, error);
    if (!data || json_is_object(json_object_get(data, "entries")))
        return data;
    json_decref(data);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "the file has no object `entries`: this is not github-action-benchmark's data.js");
    return NULL;
}

/* https://github.com/org/name/ → org/name */
static char *project_of(const char *url)
{
    const char *scheme = url ? strstr(url, "://") : NULL;
    const char *path = scheme ? strchr(scheme + 3, '/') : NULL;
    char *name = path ? g_strdup(path + 1) : NULL;
    if (name && g_str_has_suffix(name, "/"))
        name[strlen(name) - 1] = '\0';
    return name;
}

/* ---- An entry to a run ------------------------------------------------------------- */

static const char *format_of(const char *tool)
{
    if (g_strcmp0(tool, "customBiggerIsBetter") == 0)
        return "github-action-benchmark-bigger";
    if (g_strcmp0(tool, "customSmallerIsBetter") == 0)
        return "github-action-benchmark-smaller";
    return "github-action-benchmark";
}

static void take_commit(Run *run, json_t *commit)
{
    const char *message = json_string_value(json_object_get(commit, "message"));
    const char *time = json_string_value(json_object_get(commit, "timestamp"));
    json_t *author = json_object_get(commit, "author");
    int64_t time_ms = 0;
    run->commit.sha = g_strdup(json_string_value(json_object_get(commit, "id")));
    run->commit.has_time = time && timestamp_parse_ms(time, &time_ms, NULL);
    run->commit.time_s = time_ms / 1000;
    const char *name = json_string_value(json_object_get(author, "name"));
    if (name && *name)
        run->commit.author = g_strndup(name, text_prefix_bytes(name, RUN_NAME_BYTES_MAX));
    g_autofree char *subject = message ? g_strndup(message, strcspn(message, "\r\n")) : NULL;
    if (subject && *subject)
        run->commit.subject = g_strndup(subject, text_prefix_bytes(subject, RUN_TEXT_BYTES_MAX));
}

static void take_envelope(const struct importing *importing, Run *run, json_t *entry,
                          const char *suite)
{
    double date = json_number_value(json_object_get(entry, "date"));
    run->project = g_strdup(importing->project);
    run->machine = g_strdup(importing->machine);
    run->branch = g_strdup(importing->branch);
    run->reason = g_strdup("backfill");
    if (date > 0 && date < 253402300800e3)
        run->started_ms = (int64_t)date;
    take_commit(run, json_object_get(entry, "commit"));
    for (guint i = 0; importing->has_suites && i < run->results->len; i++)
        run_result_add_param((struct run_result *)g_ptr_array_index(run->results, i), "suite",
                             suite);
}

static Run *build_run(const struct importing *importing, json_t *entry, const char *suite,
                      GError **error)
{
    const char *tool = json_string_value(json_object_get(entry, "tool"));
    char *benches = json_dumps(json_object_get(entry, "benches"), JSON_COMPACT);
    char *whole = json_dumps(entry, JSON_COMPACT | JSON_SORT_KEYS);
    g_autoptr(Run) run = run_new();
    g_autoptr(Faults) faults = faults_new();
    struct format_reading reading = {.format = format_find(format_of(tool)),
                                     .run = run,
                                     .warnings = importing->warnings,
                                     .faults = faults};
    Run *made = NULL;
    if (benches && whole && format_read(&reading, benches, strlen(benches), error) &&
        foreign_run_take_better(importing->request, run, NULL, error)) {
        take_envelope(importing, run, entry, suite);
        made = foreign_run_complete(importing->snapshot, run, whole, strlen(whole), faults, error);
        if (made && !api_access_take_run(importing->request, importing->snapshot, made,
                                         importing->warnings, error))
            g_clear_pointer(&made, run_free);
    } else if (!benches || !whole) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "it has no benches");
    }
    free(benches);
    free(whole);
    return made;
}

static void leave_out(struct importing *importing, const char *suite, size_t index,
                      const char *message)
{
    g_autofree char *name = text_excerpt(suite);
    if (importing->n_left_out++ < WARNINGS_MAX)
        g_ptr_array_add(importing->warnings,
                        g_strdup_printf("entry %zu of %s is left out: %s", index, name, message));
}

/* What each entry's format dropped: some are shown, all are counted. */
static void bound_warnings(struct importing *importing)
{
    if (importing->warnings->len <= WARNINGS_MAX)
        return;
    importing->n_unsaid += importing->warnings->len - WARNINGS_MAX;
    g_ptr_array_set_size(importing->warnings, (gint)WARNINGS_MAX);
}

static void take_suite(struct importing *importing, const char *suite, json_t *entries)
{
    for (size_t i = 0; i < json_array_size(entries); i++) {
        g_autoptr(GError) error = NULL;
        Run *run = NULL;
        if (importing->runs->len < UPLOAD_RUNS_MAX)
            run = build_run(importing, json_array_get(entries, i), suite, &error);
        else
            g_set_error(&error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "an import takes at most %u runs; send the others by suite",
                        UPLOAD_RUNS_MAX);
        if (run)
            g_ptr_array_add(importing->runs, run);
        else
            leave_out(importing, suite, i, error->message);
        bound_warnings(importing);
    }
}

static void take_suites(struct importing *importing, json_t *suites)
{
    const char *suite;
    json_t *entries;
    importing->has_suites = json_object_size(suites) > 1 && !importing->suite;
    json_object_foreach(suites, suite, entries)
    {
        if (!importing->suite || strcmp(importing->suite, suite) == 0)
            take_suite(importing, suite, entries);
    }
}

/* ---- The answer -------------------------------------------------------------------- */

static void answer(HttpRequest *request, const struct upload_outcome *outcome)
{
    if (outcome->error && outcome->n_created + outcome->n_known == 0) {
        http_respond_error(request, outcome->error, NULL);
        return;
    }
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_integer(&writer, "runs", outcome->n_runs);
    json_writer_integer(&writer, "created", outcome->n_created);
    json_writer_integer(&writer, "known", outcome->n_known);
    json_writer_integer(&writer, "refused", outcome->n_refused);
    json_writer_integer(&writer, "results", outcome->n_results);
    json_writer_array(&writer, "warnings");
    for (guint i = 0; i < outcome->warnings->len; i++)
        json_writer_string(&writer, NULL, (const char *)g_ptr_array_index(outcome->warnings, i));
    if (outcome->error)
        json_writer_string(&writer, NULL, outcome->error->message);
    json_writer_end(&writer);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, outcome->n_created ? 201 : 200, HTTP_JSON, body);
}

static bool check_query(const HttpRequest *request, const char *project, GError **error)
{
    const char *from = http_request_query(request, "from");
    if (g_strcmp0(from, FROM) != 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "from: is %s%s%s, must be " FROM " (its data.js)", from ? "\"" : "",
                    from ? from : "missing", from ? "\"" : "");
    else if (!http_request_query(request, "machine"))
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "machine: is missing; data.js does not say where it was measured");
    else if (!project || !*project)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "project: is missing, and the file has no repoUrl");
    else
        return api_access_check_names(request, project, http_request_query(request, "machine"),
                                      http_request_query(request, "branch"), error);
    return false;
}

static bool import_data(struct importing *importing, json_t *data, GError **error)
{
    const char *given = http_request_query(importing->request, "project");
    g_autofree char *said = project_of(json_string_value(json_object_get(data, "repoUrl")));
    importing->project = given ? given : said;
    importing->machine = http_request_query(importing->request, "machine");
    importing->branch = http_request_query(importing->request, "branch");
    importing->suite = http_request_query(importing->request, "suite");
    if (!check_query(importing->request, importing->project, error))
        return false;
    importing->snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(importing->request), error);
    if (!importing->snapshot)
        return false;
    take_suites(importing, json_object_get(data, "entries"));
    store_snapshot_end(importing->snapshot);
    importing->project = NULL;
    if (importing->n_unsaid)
        g_ptr_array_add(importing->warnings,
                        g_strdup_printf("and %u further warnings; %u entries are left out in all",
                                        importing->n_unsaid, importing->n_left_out));
    if (importing->runs->len > 0)
        return true;
    g_set_error(
        error, BREAKEVEN_ERROR, ERROR_INVALID, "the file holds no entry that can be a run%s%s",
        importing->warnings->len ? ": " : "",
        importing->warnings->len ? (const char *)g_ptr_array_index(importing->warnings, 0) : "");
    return false;
}

void api_import_post(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    struct importing importing = {.request = request};
    importing.runs = g_ptr_array_new_with_free_func((GDestroyNotify)run_free);
    importing.warnings = g_ptr_array_new_with_free_func(g_free);
    json_t *data = load_data(request, &error);
    bool is_good = data && import_data(&importing, data, &error);
    json_decref(data);
    if (is_good) {
        upload_runs_store(request, importing.runs, importing.warnings, answer);
        return;
    }
    http_respond_error(request, error, NULL);
    g_ptr_array_unref(importing.runs);
    g_ptr_array_unref(importing.warnings);
}
