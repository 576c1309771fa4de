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

static const char *required(const HttpRequest *request, const char *name, GError **error)
{
    const char *value = http_request_query(request, name);
    if (value && *value)
        return value;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "%s: is missing; a foreign format does not say it, so add it to the address: "
                "/api/runs?format=…&project=NAME&commit=SHA&machine=NAME",
                name);
    return NULL;
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

static bool take_commit(const HttpRequest *request, Run *run, GError **error)
{
    int64_t time_ms;
    if (!http_query_time_ms(request, "time", &time_ms, error))
        return false;
    run->commit.has_time = http_request_query(request, "time") != NULL;
    run->commit.time_s = time_ms / 1000;
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
    const char *project = required(request, "project", error);
    const char *commit = project ? required(request, "commit", error) : NULL;
    const char *machine = commit ? required(request, "machine", error) : NULL;
    if (!machine)
        return false;
    char *sha = resolve_sha(snapshot, project, commit, error);
    if (!sha)
        return false;
    g_free(run->commit.sha);
    run->commit.sha = sha;
    g_free(run->project);
    run->project = g_strdup(project);
    g_free(run->machine);
    run->machine = g_strdup(machine);
    g_free(run->branch);
    run->branch = g_strdup(http_request_query(request, "branch"));
    if (!take_commit(request, run, error) || !take_id(request, run, error))
        return false;
    take_started(snapshot, run);
    return true;
}

/* ---- The whole
 * ------------------------------------------------------------------------------------------------------
 */

/* What the query gave has met no rule yet: the document is read back as if it had been posted. */
static Run *validated(const Run *run, Faults *faults, GError **error)
{
    g_autoptr(GString) text = g_string_new(NULL);
    run_print(run, text);
    return run_parse(text->str, text->len, faults, error);
}

static bool take_all(HttpRequest *request, const struct format *format, Run *run,
                     GPtrArray *warnings, Faults *faults, GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length);
    if (!format->parse(bytes, length, run, warnings, faults, error))
        return false;
    g_autoptr(StoreSnapshot) snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(request), error);
    return snapshot && take_envelope(request, snapshot, run, error);
}

Run *foreign_run_parse(HttpRequest *request, GPtrArray *warnings, Faults *faults, GError **error)
{
    const char *name = http_request_query(request, "format");
    const struct format *format = format_find(name);
    if (!format) {
        g_autofree char *names = format_names();
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "format: \"%s\" is not known; there is %s, and no format= for a document of %s",
                    name, names, RUN_SCHEMA);
        return NULL;
    }
    g_autoptr(Run) run = run_new();
    if (!take_all(request, format, run, warnings, faults, error))
        return NULL;
    return validated(run, faults, error);
}
