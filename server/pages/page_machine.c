/* SPDX-License-Identifier: Apache-2.0
 * /m/{machine}: what a machine is, was, and did. A worker thread. */
#include "server/pages/machine_view.h"
#include "server/pages/page_names.h"
#include "server/routes.h"

#define HOUR_MS    INT64_C(3600000)
#define HOUR_SHIFT 40 /* of an ETag's number: versions are smaller */

static void write_aliases(Html *html, const struct machine_view *view)
{
    g_autoptr(GPtrArray) aliases = store_machine_aliases(view->snapshot, view->machine);
    if (aliases->len == 0)
        return;
    html_literal(html, "<p class=\"muted\">Also known as ");
    for (guint i = 0; i < aliases->len; i++) {
        html_print(html, "%s<code>", i > 0 ? ", " : "");
        html_text(html, (const char *)aliases->pdata[i]);
        html_literal(html, "</code>");
    }
    html_literal(html, "</p>");
}

static void write_heading(Html *html, const struct machine_view *view)
{
    const GPtrArray *runs = view->history->runs;
    const GArray *gaps = view->history->gaps;
    char count[QUANTITY_TEXT_BYTES];
    quantity_count(runs->len, count);
    html_literal(html, "<div class=\"heading\"><h1>");
    html_text(html, view->machine->name);
    html_print(html, "</h1><p class=\"muted\">%s %s of %u %s", count,
               runs->len == 1 ? "run" : "runs", view->history->projects->len,
               view->history->projects->len == 1 ? "project" : "projects");
    if (runs->len > 0) {
        html_literal(html, ", the last ");
        layout_time_ms(html, machine_run_ms((const struct store_run *)runs->pdata[runs->len - 1]));
    }
    html_literal(html, "</p>");
    const struct machine_gap *last =
        gaps->len > 0 ? &g_array_index(gaps, struct machine_gap, gaps->len - 1) : NULL;
    if (last && !last->after) {
        html_literal(html, "<span class=\"tag warn\">silent for ");
        machine_duration_write(html, last->ms);
        html_literal(html, "</span>");
    }
    html_literal(html, "</div>");
    write_aliases(html, view);
}

static bool write_parts(Html *html, const struct machine_view *view, GError **error)
{
    write_heading(html, view);
    if (!machine_facts_write(html, view, error))
        return false;
    machine_environments_write(html, view);
    machine_gaps_write(html, view);
    if (!machine_probes_write(html, view, error) || !machine_noise_write(html, view, error))
        return false;
    machine_runs_write(html, view);
    return true;
}

static Html *render(HttpRequest *request, const struct machine_view *view, GError **error)
{
    const struct layout_crumb crumbs[] = {{"Machines", "/m"}, {view->machine->name, NULL}};
    const struct layout layout = {.title = view->machine->name,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .request = request,
                                  .version = context_of(request)->version};
    g_autoptr(Html) html = html_new();
    layout_begin(html, &layout);
    if (!write_parts(html, view, error))
        return NULL;
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

void page_machine(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    /* Silences are told in whole hours: within one the page stays the same. */
    int64_t hour = g_get_real_time() / 1000 / HOUR_MS;
    struct machine_view view = {.request = request, .snapshot = snapshot, .now_ms = hour * HOUR_MS};
    view.machine = snapshot ? page_find_machine(request, snapshot) : NULL;
    enum sheet_form form =
        sheet_form_of(request, view.machine && page_machine_is_whole(request, snapshot));
    if (!view.machine ||
        http_not_modified(request, store_version(snapshot, NULL) ^ hour << HOUR_SHIFT,
                          sheet_type(form)))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) runs = machine_runs_by_machine(snapshot);
    g_autoptr(MachineHistory) history =
        machine_history_new(g_hash_table_lookup(runs, view.machine), view.now_ms);
    g_autoptr(GPtrArray) environments = store_machine_environments(snapshot, view.machine, &error);
    view.history = history;
    view.environments = environments;
    bool is_page = form == SHEET_HTML;
    Html *html = environments && is_page ? render(request, &view, &error) : NULL;
    Sheet *sheet = environments && !is_page ? machine_sheet_new(&view, form, &error) : NULL;
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
