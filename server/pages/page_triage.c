/* SPDX-License-Identifier: Apache-2.0
 * POST /p/{project}/changes: what people said of changes in a form (triage_form.h). A worker
 * thread; the browser is led back on the writer's. */
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/routes.h"

#include <string.h>

#define TEXT_BYTES_MAX 4096u
#define CHANGES_MAX    100000u /* of one form */

struct said {
    const HttpRequest *request;
    struct store_triage_write *write;
    const GPtrArray *form;
};

static bool take_id(const char *text, GArray *ids)
{
    guint64 id;
    if (ids->len >= CHANGES_MAX || !g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &id, NULL))
        return false;
    int64_t number = (int64_t)id;
    g_array_append_val(ids, number);
    return true;
}

/* The changes that are meant: those ticked, or all of the form. */
static bool take_changes(const struct said *said, GError **error)
{
    GArray *ids = said->write->change_ids;
    bool fine = true;
    if (g_strcmp0(http_form_value(said->form, "do"), "ticked") == 0) {
        for (guint i = 0; i < said->form->len; i++) {
            const struct http_pair *pair = (const struct http_pair *)said->form->pdata[i];
            if (strcmp(pair->name, "change") == 0)
                fine = take_id(pair->value, ids) && fine;
        }
    } else {
        const char *all = http_form_value(said->form, "all");
        g_auto(GStrv) parts = g_strsplit(all ? all : "", ",", (gint)CHANGES_MAX + 1);
        for (guint i = 0; parts[i] && *parts[i]; i++)
            fine = take_id(parts[i], ids) && fine;
    }
    if (fine && ids->len > 0)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                fine ? "No change is ticked: go back, tick those that are meant, or say it of all."
                     : "The form names a change by what is no number.");
    return false;
}

static char *take_text(const GPtrArray *form, const char *name)
{
    const char *text = http_form_value(form, name);
    g_autofree char *copy = g_strstrip(g_strdup(text ? text : ""));
    return *copy ? g_steal_pointer(&copy) : NULL;
}

static bool take_words(const struct said *said, GError **error)
{
    struct store_triage_write *write = said->write;
    const char *word = http_form_value(said->form, "triage");
    write->note = take_text(said->form, "note");
    write->who = page_form_who(said->request, said->form);
    write->has_triage = word && *word;
    bool is_long = (write->note && strlen(write->note) > TEXT_BYTES_MAX) ||
                   (write->who && strlen(write->who) > TEXT_BYTES_MAX);
    if (is_long)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "The note and the name have at most %u bytes.", TEXT_BYTES_MAX);
    else if (write->has_triage && !store_triage_parse(word, &write->triage))
        g_set_error_literal(
            error, BREAKEVEN_ERROR, ERROR_INVALID,
            "The triage is none of open, acknowledged, expected, noise, infra, fixed.");
    else if (!write->has_triage && !write->note)
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID,
                            "The form says nothing: choose a triage, or write a note.");
    else
        return true;
    return false;
}

/* They are the project's own. */
static bool check_project(StoreSnapshot *snapshot, const struct store_project *project,
                          const GArray *ids, GError **error)
{
    for (guint i = 0; i < ids->len; i++) {
        struct store_change *change =
            store_change_by_id(snapshot, g_array_index(ids, int64_t, i), error);
        bool is_own = change && change->project_id == project->id;
        if (change && !is_own)
            g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                        "Change %" G_GINT64_FORMAT " is of another project.", (gint64)change->id);
        store_change_free(change);
        if (!is_own)
            return false;
    }
    return true;
}

static void triage_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (receipt->outcome == STORE_REFUSED) {
        http_respond_error(request, receipt->error, NULL);
    } else {
        g_autoptr(GPtrArray) form = http_request_form(request, NULL);
        const char *back = form ? http_form_value(form, "back") : NULL;
        g_autofree char *path = link_changes(http_request_segment(request, "project"));
        g_autofree char *target = link_back(path, back);
        http_respond_see_other(request, target);
    }
    http_request_finish(request);
}

static struct store_triage_write *parse(const HttpRequest *request, const GPtrArray *form,
                                        StoreSnapshot *snapshot,
                                        const struct store_project *project, GError **error)
{
    struct said said = {
        .request = request, .write = g_new0(struct store_triage_write, 1), .form = form};
    said.write->change_ids = g_array_new(FALSE, FALSE, sizeof(int64_t));
    if (take_changes(&said, error) && take_words(&said, error) &&
        check_project(snapshot, project, said.write->change_ids, error))
        return said.write;
    store_triage_write_free(said.write);
    return NULL;
}

void page_triage(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) form = http_request_form(request, &error);
    StoreSnapshot *snapshot = form ? context_snapshot(request) : NULL;
    if (form && !snapshot)
        return;
    const struct store_project *project = form ? page_find_project(request, snapshot) : NULL;
    struct store_triage_write *write =
        project ? parse(request, form, snapshot, project, &error) : NULL;
    store_snapshot_end(snapshot);
    if (write) {
        http_request_defer(request);
        store_put_triage(context_of(request)->store, write, triage_done, request);
    } else if (error) {
        http_respond_error(request, error, NULL);
    }
}
