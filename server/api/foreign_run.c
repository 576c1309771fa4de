/* SPDX-License-Identifier: Apache-2.0
 * A run from a foreign benchmark format and the request's query. Runs on the request's thread.
 *
 * The id, where none is given, is a hash of what makes the upload this one: project, commit,
 * machine, body. So a client that repeats a request whose answer was lost stores nothing twice. */
#include "server/api/foreign_run.h"

#include "schema/formats/format.h"
#include "schema/timestamp.h"
#include "server/api/api_filter.h"
#include "server/context.h"
#include <string.h>

/* What the query says, else what the file says. */
static const char *required(const HttpRequest *request, const char *name, const char *in_file,
                            GError **error)
{
    const char *value = http_request_query(request, name);
    if (value && *value)
        return value;
    if (in_file)
        return in_file;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "%s: is missing, and the file does not say it, so add it to the address: "
                "/api/runs?format=…&project=NAME&commit=SHA&machine=NAME",
                name);
    return NULL;
}

static void replace(char **slot, const char *text)
{
    char *copy = g_strdup(text); /* it may be the slot's own */
    g_free(*slot);
    *slot = copy;
}

/* ---- The commit
 * -----------------------------------------------------------------------------------------------------
 */

/* The sha that 7 digits or more name in a project that is known. */
static char *resolve_short_sha(StoreSnapshot *snapshot, const char *project_name,
                               const char *prefix, GError **error)
{
    g_autoptr(GError) failure = NULL;
    const struct store_project *project = store_project_find(snapshot, project_name);
    const struct store_commit *commit =
        project ? store_commit_find(project, prefix, &failure) : NULL;
    if (commit)
        return g_strdup(commit->sha);
    g_set_error(
        error, BREAKEVEN_ERROR, ERROR_INVALID,
        "commit: %s is no full sha, and names no one known commit of project \"%s\"%s%s; send "
        "all 40 digits (git rev-parse HEAD), or tell the server of the commits first: POST "
        "/api/projects/{project}/commits",
        prefix, project_name, failure ? ": " : "", failure ? failure->message : "");
    return NULL;
}

static char *resolve_sha(StoreSnapshot *snapshot, const char *project, const char *text,
                         GError **error)
{
    g_autofree char *sha = g_ascii_strdown(text, -1);
    if (!api_filter_is_sha(sha, 7)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "commit: \"%s\" is no sha; send all 40 (or 64) hex digits: git rev-parse HEAD",
                    text);
        return NULL;
    }
    size_t length = strlen(sha);
    if (length == 40 || length == 64)
        return g_steal_pointer(&sha);
    return resolve_short_sha(snapshot, project, sha, error);
}

/* parents=a,b or parents=a&parents=b; parents= alone is a root commit. */
static char **take_parents(const HttpRequest *request)
{
    g_autoptr(GPtrArray) values = http_query_values(request, "parents");
    if (!values)
        return NULL;
    g_autoptr(GPtrArray) parents = g_ptr_array_new();
    for (guint i = 0; i < values->len; i++) {
        g_auto(GStrv) parts = g_strsplit_set((const char *)g_ptr_array_index(values, i), ", ", -1);
        for (guint k = 0; parts[k]; k++) {
            if (*parts[k])
                g_ptr_array_add(parents, g_ascii_strdown(parts[k], -1));
        }
    }
    g_ptr_array_add(parents, NULL);
    return (char **)g_ptr_array_free(g_steal_pointer(&parents), FALSE);
}

/* The file's own facts of a commit are of no use for another one. */
static void take_sha(Run *run, const char *said, char *sha)
{
    if (g_strcmp0(run->commit.sha, said) != 0)
        run_commit_clear(&run->commit);
    g_free(run->commit.sha);
    run->commit.sha = sha;
}

static bool take_commit(const HttpRequest *request, Run *run, GError **error)
{
    int64_t time_ms;
    if (!http_query_time_ms(request, "time", &time_ms, error))
        return false;
    if (http_request_query(request, "time")) {
        run->commit.has_time = true;
        run->commit.time_s = time_ms / 1000;
    }
    g_strfreev(run->commit.parents);
    run->commit.parents = take_parents(request);
    return true;
}

/* ---- The envelope
 * ---------------------------------------------------------------------------------------------------
 */

static char *hash_id(const Run *run, const char *bytes, size_t length)
{
    g_autoptr(GChecksum) hash = g_checksum_new(G_CHECKSUM_SHA256);
    const char *const parts[] = {run->project, run->commit.sha, run->machine};
    for (guint i = 0; i < G_N_ELEMENTS(parts);
         i++) /* each with its NUL, so that none runs into the next */
        g_checksum_update(hash, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
    g_checksum_update(hash, (const guchar *)bytes, (gssize)length);
    return g_strconcat("h-", g_checksum_get_string(hash), NULL);
}

static bool take_id(const HttpRequest *request, Run *run, GError **error)
{
    g_autofree char *key = http_request_idempotency_key(request);
    const char *id = http_request_query(request, "id");
    if (id && key && strcmp(id, key) != 0) {
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_INVALID,
            "id: is \"%s\", but the header Idempotency-Key says \"%s\"; send one of them, or the "
            "same in both",
            id, key);
        return false;
    }
    size_t length;
    const char *bytes = http_request_body(request, &length);
    g_free(run->id);
    run->id = id ? g_strdup(id) : key ? g_steal_pointer(&key) : hash_id(run, bytes, length);
    return true;
}

/* Where the file has no date: the commit's, where it is told; else that of the same upload when it
 * came first, so that a repeated one is the same document; else now. */
static void take_started(StoreSnapshot *snapshot, Run *run)
{
    if (run->started_ms != 0)
        return;
    const struct store_run *known = store_run_find(snapshot, run->id);
    if (run->commit.has_time)
        run->started_ms = run->commit.time_s * 1000;
    else if (known)
        run->started_ms = known->started_ms;
    else
        run->started_ms = g_get_real_time() / 1000;
}

static bool take_envelope(const HttpRequest *request, StoreSnapshot *snapshot, Run *run,
                          GError **error)
{
    const char *project = required(request, "project", run->project, error);
    const char *commit = project ? required(request, "commit", run->commit.sha, error) : NULL;
    const char *machine = commit ? required(request, "machine", run->machine, error) : NULL;
    if (!machine)
        return false;
    char *sha = resolve_sha(snapshot, project, commit, error);
    if (!sha)
        return false;
    take_sha(run, commit, sha);
    replace(&run->project, project);
    replace(&run->machine, machine);
    if (http_request_query(request, "branch"))
        replace(&run->branch, http_request_query(request, "branch"));
    if (!take_commit(request, run, error) || !take_id(request, run, error))
        return false;
    take_started(snapshot, run);
    return true;
}

/* What the query gave has met no rule yet: the document is read back as if it had been posted. */
static Run *validated(const Run *run, Faults *faults, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    run_print(run, text);
    return run_parse(text->str, text->len, faults, error);
}

/* Where a file says all by itself. */
static bool check_said(const Run *run, GError **error)
{
    const char *missing = !run->project      ? "project"
                          : !run->commit.sha ? "commit"
                          : !run->machine    ? "machine"
                                             : NULL;
    if (missing)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the %s is not said", missing);
    return missing == NULL;
}

Run *foreign_run_complete(StoreSnapshot *snapshot, Run *run, const char *bytes, size_t length,
                          Faults *faults, GError **error)
{
    if (!check_said(run, error))
        return NULL;
    g_autofree char *said = g_strdup(run->commit.sha);
    char *sha = resolve_sha(snapshot, run->project, said, error);
    if (!sha)
        return NULL;
    take_sha(run, said, sha);
    g_free(run->id);
    run->id = hash_id(run, bytes, length);
    take_started(snapshot, run);
    return validated(run, faults, error);
}

/* ---- Directions
 * -----------------------------------------------------------------------------------------------------
 */

static bool parse_better(const struct http_pair *pair, enum better *out, GError **error)
{
    static const char *const names[] = {
        [BETTER_UNKNOWN] = "none", [BETTER_HIGHER] = "higher", [BETTER_LOWER] = "lower"};
    for (int i = 0; i < (int)G_N_ELEMENTS(names); i++) {
        *out = (enum better)i;
        if (strcmp(pair->value, names[i]) == 0)
            return true;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "%s: is \"%s\", must be higher, lower or none", pair->name, pair->value);
    return false;
}

/* better=higher for all metrics, then better.METRIC=lower for one. */
bool foreign_run_take_better(const HttpRequest *request, Run *run, GPtrArray *warnings,
                             GError **error)
{
    static const char prefix[] = "better.";
    const GPtrArray *pairs = http_request_query_pairs(request);
    for (int round = 0; round < 2; round++) {
        for (guint i = 0; i < pairs->len; i++) {
            const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, i);
            bool is_for_one = g_str_has_prefix(pair->name, prefix);
            const char *metric = is_for_one ? pair->name + strlen(prefix) : NULL;
            enum better better;
            if ((!is_for_one && strcmp(pair->name, "better") != 0) || is_for_one != (round == 1))
                continue;
            if (!parse_better(pair, &better, error))
                return false;
            if (format_set_better(run, metric, better) == 0 && metric && warnings)
                g_ptr_array_add(warnings, g_strdup_printf("%s: no result has a metric of this name",
                                                          pair->name));
        }
    }
    return true;
}

/* ---- The whole
 * ------------------------------------------------------------------------------------------------------
 */

static bool take_all(HttpRequest *request, struct format_reading *reading, GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length);
    if (!format_read(reading, bytes, length, error) ||
        !foreign_run_take_better(request, reading->run, reading->warnings, error))
        return false;
    g_autoptr(StoreSnapshot) snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(request), error);
    return snapshot && take_envelope(request, snapshot, reading->run, error);
}

Run *foreign_run_parse(HttpRequest *request, const struct format *format, GPtrArray *warnings,
                       Faults *faults, GError **error)
{
    g_autoptr(Run) run = run_new();
    struct format_reading reading = {
        .format = format, .run = run, .warnings = warnings, .faults = faults};
    if (!take_all(request, &reading, error))
        return NULL;
    return validated(run, faults, error);
}

bool foreign_run_format(const HttpRequest *request, const struct format **out, GError **error)
{
    const char *name = http_request_query(request, "format");
    *out = format_find(name);
    if (*out || strcmp(name, FORMAT_AUTO) == 0)
        return true;
    g_autofree char *names = format_names();
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "format: \"%s\" is not known; there is %s, " FORMAT_AUTO
                " to find it by the content, and no format= for a document of %s",
                name, names, RUN_SCHEMA);
    return false;
}

/* A text or unknown bytes say nothing against any format. */
bool foreign_run_check_type(HttpRequest *request, const struct format *format)
{
    g_autofree char *type = http_request_media_type(request);
    bool is_taken =
        strcmp(type, "text/plain") == 0 || strcmp(type, "application/octet-stream") == 0;
    for (guint i = 0; formats[i] && !is_taken; i++)
        is_taken = (!format || format == formats[i]) && strcmp(type, formats[i]->media_type) == 0;
    if (!is_taken)
        http_respond_status(
            request, 415,
            "The body's type is %s%s%s, which is not taken for this format: send the header "
            "Content-Type: %s (with curl: -H 'Content-Type: %s' --data-binary @FILE)",
            *type ? "\"" : "", *type ? type : "not stated", *type ? "\"" : "",
            format ? format->media_type : "text/plain", format ? format->media_type : "text/plain");
    return is_taken;
}
