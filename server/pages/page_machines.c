/* SPDX-License-Identifier: Apache-2.0
 * /m: the machines, the one that was seen last first. A worker thread. */
#include "server/pages/environment_facts.h"
#include "server/pages/link.h"
#include "server/pages/machine_view.h"
#include "server/pages/sheet.h"
#include "server/routes.h"

#include <math.h>

#define MACHINES_ALL_MAX 200u
#define HOUR_MS          INT64_C(3600000)
#define HOUR_SHIFT       40 /* of an ETag's number: versions are smaller */

struct view {
    const HttpRequest *request;
    enum sheet_form form;
    StoreSnapshot *snapshot;
    int64_t now_ms;   /* to the hour */
    GHashTable *runs; /* by machine; see machine_history.h */
};

static void write_empty(Html *html)
{
    html_literal(html, "<section class=\"card notice\"><h1>No machine has sent anything yet</h1>"
                       "<p>Each run names the machine that measured it. <a href=\"/\">The home "
                       "page</a> says how to send the first one.</p></section>");
}

static int compare_seen(gconstpointer a, gconstpointer b)
{
    const struct store_machine *left = *(const struct store_machine *const *)a;
    const struct store_machine *right = *(const struct store_machine *const *)b;
    if (left->last_seen_ms != right->last_seen_ms)
        return left->last_seen_ms > right->last_seen_ms ? -1 : 1;
    return g_strcmp0(left->name, right->name);
}

/* Of all machines, in the page's order. */
static GPtrArray *sorted_machines(StoreSnapshot *snapshot)
{
    GPtrArray *machines = g_ptr_array_new();
    const GPtrArray *all = store_machines(snapshot);
    for (guint i = 0; i < all->len; i++)
        g_ptr_array_add(machines, all->pdata[i]);
    g_ptr_array_sort(machines, compare_seen);
    return machines;
}

/* NULL: it is not told. */
static const char *value_of(const GPtrArray *facts, const char *name)
{
    for (guint i = 0; facts && i < facts->len; i++) {
        const struct run_param *fact = (const struct run_param *)facts->pdata[i];
        if (g_strcmp0(fact->name, name) == 0)
            return fact->value;
    }
    return NULL;
}

/* The silence that lasts, or NULL. */
static const struct machine_gap *silence_of(const MachineHistory *history)
{
    const GArray *gaps = history->gaps;
    const struct machine_gap *last =
        gaps->len > 0 ? &g_array_index(gaps, struct machine_gap, gaps->len - 1) : NULL;
    return last && !last->after ? last : NULL;
}

static void write_seen(Html *html, const MachineHistory *history)
{
    const GPtrArray *runs = history->runs;
    html_literal(html, "</td><td class=\"when\" data-label=\"Last result\">");
    if (runs->len > 0)
        layout_time_ms(html, machine_run_ms((const struct store_run *)runs->pdata[runs->len - 1]));
    const struct machine_gap *last = silence_of(history);
    if (last) {
        html_literal(html, "<span class=\"sub warn\">silent for ");
        machine_duration_write(html, last->ms);
        html_literal(html, "</span>");
    }
    html_literal(html, "</td></tr>");
}

static bool write_machine(Html *html, const struct view *view, const struct store_machine *machine,
                          GError **error)
{
    char runs[QUANTITY_TEXT_BYTES];
    g_autoptr(MachineHistory) history =
        machine_history_new(g_hash_table_lookup(view->runs, machine), view->now_ms);
    g_autoptr(GPtrArray) environments = store_machine_environments(view->snapshot, machine, error);
    if (!environments)
        return false;
    g_autoptr(GPtrArray) facts = environment_facts_of(environments, history->environment_digest);
    quantity_count(machine->n_runs, runs);
    html_literal(html, "<tr><th scope=\"row\">");
    layout_machine(html, machine);
    html_literal(html, "</th><td class=\"subject\">");
    html_text(html, value_of(facts, "cpu"));
    html_literal(html, "</td><td data-label=\"Kernel\">");
    html_text(html, value_of(facts, "kernel"));
    html_print(html,
               "</td><td class=\"num\" data-label=\"Environments\">%u</td><td class=\"num\" "
               "data-label=\"Runs\">%s",
               environments->len, runs);
    write_seen(html, history);
    return true;
}

static bool write_machines(Html *html, const struct view *view, GError **error)
{
    g_autoptr(GPtrArray) machines = sorted_machines(view->snapshot);
    struct layout_paging paging =
        layout_paging_of(view->request, "page", machines->len, MACHINES_ALL_MAX);
    html_literal(html,
                 "<div class=\"heading\"><h1>Machines</h1></div><section class=\"card\">"
                 "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Machines\">"
                 "<table class=\"stack\"><thead><tr><th scope=\"col\">Machine</th><th "
                 "scope=\"col\">CPU</th><th scope=\"col\">Kernel</th><th scope=\"col\" "
                 "class=\"num\">Environments</th><th scope=\"col\" class=\"num\">Runs</th><th "
                 "scope=\"col\">Last result</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++) {
        if (!write_machine(html, view, (const struct store_machine *)machines->pdata[i], error))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, view->request, &paging, "Machines");
    html_literal(html, "</section>");
    return true;
}

static Html *render(const struct view *view, GError **error)
{
    g_autoptr(Html) html = html_new();
    const struct layout_crumb crumbs[] = {{"Machines", NULL}};
    const struct layout layout = {.title = "Machines",
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .request = view->request,
                                  .version = context_of(view->request)->version};
    layout_begin(html, &layout);
    if (store_machines(view->snapshot)->len == 0)
        write_empty(html);
    else if (!write_machines(html, view, error))
        return NULL;
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

static const struct sheet_column columns[] = {
    {"machine", "Machine", false},    {"cpu", "CPU", false},
    {"kernel", "Kernel", false},      {"environments", "Environments", true},
    {"runs", "Runs", true},           {"last_result", "Last result", false},
    {"silent_s", "Silent for", true}, {0}};

static bool write_cells(Sheet *sheet, const struct view *view, const struct store_machine *machine,
                        GError **error)
{
    g_autofree char *url = link_machine(machine->name);
    g_autoptr(MachineHistory) history =
        machine_history_new(g_hash_table_lookup(view->runs, machine), view->now_ms);
    g_autoptr(GPtrArray) environments = store_machine_environments(view->snapshot, machine, error);
    if (!environments)
        return false;
    g_autoptr(GPtrArray) facts = environment_facts_of(environments, history->environment_digest);
    const GPtrArray *runs = history->runs;
    const struct machine_gap *silence = silence_of(history);
    sheet_link(sheet, machine->name, url);
    sheet_text(sheet, value_of(facts, "cpu"));
    sheet_text(sheet, value_of(facts, "kernel"));
    sheet_integer(sheet, environments->len);
    sheet_integer(sheet, machine->n_runs);
    sheet_time_ms(sheet, runs->len > 0 ? machine_run_ms(runs->pdata[runs->len - 1]) : 0);
    sheet_number(sheet, silence ? (double)silence->ms / 1e3 : (double)NAN, "s");
    return true;
}

static Sheet *render_sheet(const struct view *view, GError **error)
{
    g_autoptr(GPtrArray) machines = sorted_machines(view->snapshot);
    g_autoptr(Sheet) sheet = sheet_new(view->request, view->form, "Machines");
    sheet_table(sheet, "machines", NULL, columns, SHEET_ROWS);
    for (guint i = 0; i < machines->len; i++) {
        if (!write_cells(sheet, view, (const struct store_machine *)machines->pdata[i], error))
            return NULL;
    }
    sheet_table_end(sheet);
    return g_steal_pointer(&sheet);
}

void page_machines(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    /* Silences are told in whole hours: within one the page stays the same. */
    int64_t hour = g_get_real_time() / 1000 / HOUR_MS;
    struct view view = {request, sheet_form_of(request, false), snapshot, hour * HOUR_MS, NULL};
    if (!snapshot || http_not_modified(request, store_version(snapshot, NULL) ^ hour << HOUR_SHIFT,
                                       sheet_type(view.form)))
        return;
    g_autoptr(GError) error = NULL;
    g_autoptr(GHashTable) runs = machine_runs_by_machine(snapshot);
    view.runs = runs;
    Html *html = view.form == SHEET_HTML ? render(&view, &error) : NULL;
    Sheet *sheet = view.form == SHEET_HTML ? NULL : render_sheet(&view, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
