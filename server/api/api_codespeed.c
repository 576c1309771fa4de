/* SPDX-License-Identifier: Apache-2.0
 * POST /result/add/json/ and /result/add/: Codespeed's own addresses, so that nobody changes their
 * uploader. Results of several commits, projects or environments become a run each. Answers are
 * short texts, as its clients print them. Runs on the request's thread; the answer is given later.
 */
#include "schema/document.h"
#include "schema/formats/format.h"
#include "server/api/api_access.h"
#include "server/api/foreign_run.h"
#include "server/api/upload_runs.h"
#include "server/context.h"
#include "server/http/problem.h"
#include "server/routes.h"
#include <string.h>

#define GROUPS_MAX 1000u

static void refuse(HttpRequest *request, const GError *error, const Faults *faults)
{
    GString *text = g_string_new(error->message);
    for (guint i = 0; faults && i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, i);
        g_string_append_printf(text, "\n%s: %s", fault->pointer, fault->message);
    }
    g_string_append_c(text, '\n');
    http_respond(request, problem_status(error), HTTP_TEXT, text);
}

/* ---- The body to rows -------------------------------------------------------------- */

static bool is_json(const HttpRequest *request)
{
    g_autofree char *type = http_request_media_type(request);
    return strcmp(type, "application/json") == 0;
}

static json_t *load_body(const HttpRequest *request, GError **error)
{
    size_t length;
    const char *body = http_request_body(request, &length);
    return document_load(body, length, error);
}

/* The form's field `json`, or the body itself where it is JSON. */
static json_t *load_rows(const HttpRequest *request, GError **error)
{
    if (is_json(request))
        return load_body(request, error);
    g_autoptr(GPtrArray) form = http_request_form(request, error);
    const char *text = form ? http_form_value(form, "json") : NULL;
    if (text)
        return document_load(text, strlen(text), error);
    if (form)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "the form has no field json: send json=[{\"commitid\": …}], or the array "
                    "itself as application/json");
    return NULL;
}

/* The form's fields are one result. */
static json_t *load_row(const HttpRequest *request, GError **error)
{
    if (is_json(request))
        return load_body(request, error);
    g_autoptr(GPtrArray) form = http_request_form(request, error);
    if (!form)
        return NULL;
    json_t *row = json_object();
    for (guint i = 0; i < form->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(form, i);
        json_object_set_new(row, pair->name, json_string(pair->value));
    }
    return row;
}

/* ---- Rows to runs ------------------------------------------------------------------ */

/* What a run has one of; a row that lacks it is refused by the format. */
static char *group_key(json_t *row)
{
    static const char *const members[] = {"project", "branch", "commitid", "environment"};
    GString *key = g_string_new(NULL);
    for (size_t i = 0; i < G_N_ELEMENTS(members); i++) {
        const char *text = json_string_value(json_object_get(row, members[i]));
        g_string_append_printf(key, "%s\n", text ? text : "");
    }
    return g_string_free(key, FALSE);
}

/* Rows that belong to one run together, each group an array. */
static json_t *group_rows(json_t *rows)
{
    json_t *groups = json_object();
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_array_get(rows, i);
        g_autofree char *key = group_key(row);
        json_t *group = json_object_get(groups, key);
        if (!group) {
            group = json_array();
            json_object_set_new(groups, key, group);
        }
        json_array_append(group, row);
    }
    return groups;
}

struct building {
    HttpRequest *request;
    StoreSnapshot *snapshot;
    GPtrArray *runs, *warnings;
    Faults *faults;
};

static bool build_run(const struct building *building, json_t *group, GError **error)
{
    char *text = json_dumps(group, JSON_COMPACT | JSON_SORT_KEYS);
    g_autoptr(Run) run = run_new();
    struct format_reading reading = {.format = format_find("codespeed"),
                                     .run = run,
                                     .warnings = building->warnings,
                                     .faults = building->faults};
    size_t length = text ? strlen(text) : 0;
    Run *made = NULL;
    if (text && format_read(&reading, text, length, error))
        made = foreign_run_complete(building->snapshot, run, text, length, building->faults, error);
    free(text);
    if (made && !api_access_take_run(building->request, building->snapshot, made,
                                     building->warnings, error))
        g_clear_pointer(&made, run_free);
    if (made)
        g_ptr_array_add(building->runs, made);
    return made != NULL;
}

static bool build_runs(const struct building *building, json_t *rows, GError **error)
{
    json_t *groups = group_rows(rows);
    const char *key;
    json_t *group;
    bool is_good = json_object_size(groups) > 0 && json_object_size(groups) <= GROUPS_MAX;
    if (!is_good)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the upload must be an array of results, of 1 to %u commits or environments",
                    GROUPS_MAX);
    json_object_foreach(groups, key, group)
    {
        is_good = is_good && build_run(building, group, error);
    }
    json_decref(groups);
    return is_good;
}

/* ---- The answer -------------------------------------------------------------------- */

static void answer(HttpRequest *request, const struct upload_outcome *outcome)
{
    if (outcome->error) {
        refuse(request, outcome->error, NULL);
        return;
    }
    GString *text = g_string_new("All result data saved successfully\n");
    for (guint i = 0; i < outcome->warnings->len; i++)
        g_string_append_printf(text, "warning: %s\n",
                               (const char *)g_ptr_array_index(outcome->warnings, i));
    http_respond(request, 202, HTTP_TEXT, text);
}

/* Takes `rows`, NULL with `error`. */
static void store_rows(HttpRequest *request, json_t *rows, GError *error)
{
    g_autoptr(GError) failure = error;
    g_autoptr(Faults) faults = faults_new();
    struct building building = {.request = request, .faults = faults};
    building.runs = g_ptr_array_new_with_free_func((GDestroyNotify)run_free);
    building.warnings = g_ptr_array_new_with_free_func(g_free);
    if (rows)
        building.snapshot =
            store_snapshot_begin((StoreReader *)http_request_thread(request), &failure);
    bool is_good = building.snapshot && build_runs(&building, rows, &failure);
    if (building.snapshot)
        store_snapshot_end(building.snapshot);
    json_decref(rows);
    if (is_good) {
        upload_runs_store(request, building.runs, building.warnings, answer);
        return;
    }
    refuse(request, failure, faults);
    g_ptr_array_unref(building.runs);
    g_ptr_array_unref(building.warnings);
}

/* One result is a list of one. */
static json_t *as_list(json_t *rows)
{
    return json_is_object(rows) ? json_pack("[o]", rows) : rows;
}

void api_codespeed_add_json(HttpRequest *request)
{
    GError *error = NULL;
    json_t *rows = load_rows(request, &error);
    store_rows(request, as_list(rows), error);
}

void api_codespeed_add(HttpRequest *request)
{
    GError *error = NULL;
    json_t *row = load_row(request, &error);
    store_rows(request, as_list(row), error);
}
