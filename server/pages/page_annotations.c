/* SPDX-License-Identifier: Apache-2.0
 * POST /p/{project}/annotations: what people say of commits in the trend page's forms, or take back
 * (trend_annotations.c). A worker thread; the browser is led back on the writer's. */
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/routes.h"
#include "server/store/store_branches.h"

#include "schema/run.h"
#include "schema/text.h"

#include <string.h>

struct field {
    const char *name, *title;
    size_t bytes_max;
    bool is_needed;
};

/* The trimmed text, or NULL where the field is empty. False: it cannot be. */
static bool take(const GPtrArray *form, const struct field *field, char **out, GError **error)
{
    const char *text = http_form_value(form, field->name);
    g_autofree char *copy = g_strstrip(g_strdup(text ? text : ""));
    g_autofree char *problem =
        *copy ? text_name_problem(copy, strlen(copy), field->bytes_max) : NULL;
    if (problem || (!*copy && field->is_needed)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s %s.", field->title,
                    problem ? problem : "is empty");
        return false;
    }
    *out = *copy ? g_steal_pointer(&copy) : NULL;
    return true;
}

/* A commit by 7 digits or more of its sha. */
static bool take_commit(const GPtrArray *form, const struct field *field,
                        const struct store_project *project, char **out, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) failure = NULL;
    if (!take(form, field, &text, error))
        return false;
    if (!text)
        return true;
    g_autofree char *sha = g_ascii_strdown(text, -1);
    const struct store_commit *commit =
        strlen(sha) >= 7 ? store_commit_find(project, sha, &failure) : NULL;
    if (!commit) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s.", field->title,
                    failure ? failure->message : "give 7 digits or more of its sha");
        return false;
    }
    *out = g_strdup(commit->sha);
    return true;
}

static bool take_new(const GPtrArray *form, const struct store_project *project,
                     struct store_annotation_write *write, GError **error)
{
    static const struct field text = {"text", "The text", STORE_ANNOTATION_BYTES_MAX, true},
                              commit = {"commit", "The commit", RUN_NAME_BYTES_MAX, true},
                              last = {"to", "The last commit", RUN_NAME_BYTES_MAX, false},
                              machine = {"machine", "The machine", RUN_NAME_BYTES_MAX, false},
                              bench = {"bench", "The benchmark", RUN_BENCH_BYTES_MAX, false};
    if (!take(form, &text, &write->text, error) ||
        !take_commit(form, &commit, project, &write->first, error) ||
        !take_commit(form, &last, project, &write->last, error) ||
        !take(form, &machine, &write->machine, error) || !take(form, &bench, &write->bench, error))
        return false;
    if (!write->last)
        write->last = g_strdup(write->first);
    return true;
}

static bool take_id(const GPtrArray *form, struct store_annotation_write *write, GError **error)
{
    const char *text = http_form_value(form, "remove");
    guint64 id;
    if (!g_ascii_string_to_unsigned(text ? text : "", 10, 1, G_MAXINT64, &id, NULL)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID,
                            "The form names the annotation by what is no number.");
        return false;
    }
    write->id = (int64_t)id;
    return true;
}

static struct store_annotation_write *parse(const GPtrArray *form,
                                            const struct store_project *project, GError **error)
{
    static const struct field who = {"who", "The name", RUN_NAME_BYTES_MAX, false};
    struct store_annotation_write *write = g_new0(struct store_annotation_write, 1);
    write->project = g_strdup(project->name);
    if (take(form, &who, &write->who, error) &&
        (http_form_value(form, "remove") ? take_id(form, write, error)
                                         : take_new(form, project, write, error)))
        return write;
    store_annotation_write_free(write);
    return NULL;
}

/* Back to the chart that the form was beside. */
static void annotation_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (receipt->outcome == STORE_REFUSED) {
        http_respond_error(request, receipt->error, NULL);
    } else {
        g_autoptr(GPtrArray) form = http_request_form(request, NULL);
        const char *page = form ? http_form_value(form, "page") : NULL;
        const char *project = http_request_segment(request, "project");
        g_autofree char *path = page && *page ? link_bench(project, page) : link_project(project);
        g_autofree char *target = link_back(path, form ? http_form_value(form, "back") : NULL);
        http_respond_see_other(request, target);
    }
    http_request_finish(request);
}

void page_annotations_post(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) form = http_request_form(request, &error);
    StoreSnapshot *snapshot = form ? context_snapshot(request) : NULL;
    if (form && !snapshot)
        return;
    const struct store_project *project = form ? page_find_project(request, snapshot) : NULL;
    struct store_annotation_write *write = project ? parse(form, project, &error) : NULL;
    store_snapshot_end(snapshot);
    if (write) {
        g_free(write->who);
        write->who = page_form_who(request, form);
        http_request_defer(request);
        store_put_annotation(context_of(request)->store, write, annotation_done, request);
    } else if (error) {
        http_respond_error(request, error, NULL);
    }
}
