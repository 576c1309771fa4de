/* SPDX-License-Identifier: Apache-2.0
 * /status: how the server itself stands: what waits, how much is kept, what failed and what was
 * refused lately. /api/status tells the same. A worker thread. */
#include "server/pages/layout.h"
#include "server/pages/machine_view.h"
#include "server/pages/sheet.h"
#include "server/routes.h"

#include "schema/timestamp.h"
#include "server/work/server_state.h"

#include <math.h>

static void fact(Html *html, const char *name)
{
    html_print(html, "<div><dt>%s</dt><dd>", name);
}

#define FACT_END "</dd></div>"

static void write_bytes(Html *html, gint64 bytes)
{
    g_autofree char *text = quantity_text((double)bytes, "B");
    html_text(html, text);
}

static void write_server(Html *html, const struct context *context, int64_t now_ms)
{
    html_literal(html, "<section class=\"card\"><h2>Server</h2><dl class=\"facts\">");
    fact(html, "Version");
    html_text(html, context->version);
    html_literal(html, FACT_END);
    fact(html, "Build");
    html_print(html, "<code>%.12s</code>" FACT_END, context->build_id);
    fact(html, "Running since");
    layout_time_ms(html, context->started_ms);
    html_literal(html, FACT_END);
    fact(html, "For");
    machine_duration_write(html, now_ms - context->started_ms);
    html_literal(html, FACT_END "</dl></section>");
}

static void write_count(Html *html, const struct server_queue *queue, const char *one,
                        const char *many)
{
    char count[QUANTITY_TEXT_BYTES];
    if (queue->n == 0) {
        html_literal(html, "none");
        return;
    }
    quantity_count(queue->n, count);
    html_print(html, "%s%s %s", queue->is_bounded ? "at least " : "", count,
               queue->n == 1 ? one : many);
}

static void write_analysis(Html *html, const struct server_state *state, int64_t now_ms)
{
    char judged[QUANTITY_TEXT_BYTES], failures[QUANTITY_TEXT_BYTES];
    html_literal(html, "<section class=\"card\"><h2>Analysis</h2><dl class=\"facts\">");
    fact(html, "Runs that wait");
    write_count(html, &state->runs, "run", "runs");
    if (state->runs.oldest_ms > 0) {
        html_literal(html, ", the oldest for ");
        machine_duration_write(html, MAX(now_ms - state->runs.oldest_ms, 0));
    }
    html_literal(html, FACT_END);
    fact(html, "Series to judge anew");
    write_count(html, &state->series, "series", "series");
    html_literal(html, FACT_END);
    quantity_count((guint64)state->work.runs_judged, judged);
    fact(html, "Judged since the start");
    html_print(html, "%s %s" FACT_END, judged, state->work.runs_judged == 1 ? "run" : "runs");
    quantity_count((guint64)state->work.failures, failures);
    fact(html, "Failed and tried again");
    html_print(html, "%s" FACT_END "</dl></section>", failures);
}

static void write_writer(Html *html, const struct store_status *store)
{
    char waiting[QUANTITY_TEXT_BYTES], stored[QUANTITY_TEXT_BYTES], refused[QUANTITY_TEXT_BYTES];
    quantity_count((guint64)store->queued_writes, waiting);
    quantity_count((guint64)store->runs_stored, stored);
    quantity_count((guint64)store->runs_refused, refused);
    html_literal(html, "<section class=\"card\"><h2>Writing</h2><dl class=\"facts\">");
    fact(html, "The disk");
    if (store->can_write)
        html_literal(html, "takes writes" FACT_END);
    else
        html_literal(html, "<span class=\"tag warn\">the last write failed</span>" FACT_END);
    fact(html, "Writes that wait");
    html_print(html, "%s", store->queued_writes > 0 ? waiting : "none");
    if (store->queued_writes > 0) {
        html_literal(html, ", ");
        write_bytes(html, store->queued_bytes);
    }
    html_literal(html, FACT_END);
    fact(html, "Runs stored since the start");
    html_print(html, "%s" FACT_END, stored);
    fact(html, "Runs refused");
    html_print(html, "%s" FACT_END "</dl></section>", refused);
}

static void write_store(Html *html, const struct server_state *state)
{
    html_literal(html, "<section class=\"card\"><h2>Store</h2><dl class=\"facts\">");
    fact(html, "Engine");
    html_text(html, state->engine);
    html_literal(html, FACT_END);
    fact(html, "Schema");
    html_print(html, "%u" FACT_END, state->schema);
    fact(html, "File");
    write_bytes(html, state->store.database_bytes);
    html_literal(html, FACT_END);
    fact(html, "Write-ahead log");
    write_bytes(html, state->store.wal_bytes);
    html_literal(html, FACT_END);
    fact(html, "Last backup");
    if (state->store.backup_s > 0)
        layout_time_s(html, state->store.backup_s);
    else
        html_literal(html, "<span class=\"warn\">none is known</span>");
    html_literal(html, FACT_END);
    fact(html, "Free on the disk");
    write_bytes(html, state->store.disk_free_bytes);
    html_literal(html,
                 FACT_END "</dl><div class=\"scroll\" tabindex=\"0\" role=\"region\" "
                          "aria-label=\"What is kept\"><table class=\"short\"><thead><tr><th "
                          "scope=\"col\">Kept</th><th scope=\"col\" class=\"num\">Number</th></tr>"
                          "</thead><tbody>");
    for (guint i = 0; i < state->n_rows; i++) {
        char count[QUANTITY_TEXT_BYTES];
        quantity_count(state->rows[i].n, count);
        html_print(html, "<tr><th scope=\"row\">%s</th><td class=\"num\">%s</td></tr>",
                   state->rows[i].what, count);
    }
    html_literal(html, "</tbody></table></div></section>");
}

static void write_note(Html *html, const struct recent_note *note, bool with_request)
{
    html_literal(html, "<tr><th scope=\"row\" class=\"when\">");
    layout_time_ms(html, note->at_ms);
    if (note->n > 1)
        html_print(html, "<span class=\"sub\">%u times in a row</span>", note->n);
    html_literal(html, "</th>");
    if (with_request) {
        html_print(html, "<td class=\"num\">%u</td><td class=\"message\"><code>", note->status);
        html_text(html, note->where);
        html_literal(html, "</code></td>");
    }
    html_literal(html, "<td class=\"message\">");
    html_text(html, note->text);
    html_literal(html, "</td></tr>");
}

static void write_notes(Html *html, RecentNotes *notes, bool with_request)
{
    guint64 total;
    char count[QUANTITY_TEXT_BYTES];
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    quantity_count(total, count);
    if (list->len == 0) {
        html_literal(html, "<p class=\"muted\">Nothing since the start.</p></section>");
        return;
    }
    html_print(html, "<p class=\"muted\">%s since the start; the latest first.</p>", count);
    html_print(html,
               "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"%s\">"
               "<table><thead><tr><th scope=\"col\">When</th>",
               with_request ? "Refused" : "Errors");
    if (with_request)
        html_literal(html, "<th scope=\"col\" class=\"num\">Status</th><th scope=\"col\">Request"
                           "</th>");
    html_literal(html, "<th scope=\"col\">Why</th></tr></thead><tbody>");
    for (guint i = 0; i < list->len; i++)
        write_note(html, (const struct recent_note *)list->pdata[i], with_request);
    html_literal(html, "</tbody></table></div></section>");
}

static Html *render(const HttpRequest *request, const struct server_state *state)
{
    const struct context *context = context_of(request);
    int64_t now_ms = g_get_real_time() / 1000;
    const struct layout_crumb crumbs[] = {{"Status", NULL}};
    const struct layout layout = {.title = "Status",
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .request = request,
                                  .version = context->version};
    Html *html = html_new();
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Status</h1><p class=\"muted\">The same as "
                       "<a href=\"/api/status\">JSON</a>, and for <a "
                       "href=\"/metrics\">Prometheus</a></p></div>");
    write_server(html, context, now_ms);
    write_analysis(html, state, now_ms);
    write_writer(html, &state->store);
    write_store(html, state);
    html_literal(html, "<section class=\"card\" id=\"errors\"><h2>Last errors</h2>");
    write_notes(html, context->errors, false);
    html_literal(html, "<section class=\"card\" id=\"refused\"><h2>Refused lately</h2>");
    write_notes(html, context->refusals, true);
    layout_end(html, &layout);
    return html;
}

/* ---- In its other forms ---------------------------------------------------------------------- */

static void tell_facts(Sheet *sheet, const struct context *context,
                       const struct server_state *state)
{
    const struct store_status *store = &state->store;
    g_autofree char *started = timestamp_format_ms(context->started_ms);
    g_autofree char *backup =
        store->backup_s > 0 ? timestamp_format_ms(store->backup_s * 1000) : NULL;
    sheet_fact(sheet, "version", "Version", context->version);
    sheet_fact(sheet, "build", "Build", context->build_id);
    sheet_fact(sheet, "started", "Running since", started);
    sheet_fact_integer(sheet, "runs_judged", "Runs judged since the start",
                       state->work.runs_judged);
    sheet_fact_integer(sheet, "failures", "Judged in vain and tried again", state->work.failures);
    sheet_fact(sheet, "disk", "The disk",
               store->can_write ? "takes writes" : "the last write failed");
    sheet_fact_integer(sheet, "writes_waiting", "Writes that wait", store->queued_writes);
    sheet_fact_integer(sheet, "runs_stored", "Runs stored since the start", store->runs_stored);
    sheet_fact_integer(sheet, "runs_refused", "Runs refused", store->runs_refused);
    sheet_fact(sheet, "engine", "Engine", state->engine);
    sheet_fact_integer(sheet, "schema", "Schema", state->schema);
    sheet_fact_integer(sheet, "database_bytes", "Bytes of the file", store->database_bytes);
    sheet_fact_integer(sheet, "wal_bytes", "Bytes of its log", store->wal_bytes);
    sheet_fact_integer(sheet, "disk_free_bytes", "Bytes free on the disk", store->disk_free_bytes);
    sheet_fact(sheet, "last_backup", "Last backup", backup);
}

static void tell_queue(Sheet *sheet, const char *what, const struct server_queue *queue)
{
    sheet_text(sheet, what);
    sheet_integer(sheet, queue->n);
    sheet_bool(sheet, queue->is_bounded);
    sheet_time_ms(sheet, queue->oldest_ms);
}

static void tell_notes(Sheet *sheet, const char *key, const char *title, RecentNotes *notes)
{
    static const struct sheet_column columns[] = {
        {"time", "When", false},    {"times", "Times in a row", true},
        {"status", "Status", true}, {"request", "Request", false},
        {"reason", "Why", false},   {0}};
    guint64 total;
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    sheet_table(sheet, key, title, columns, SHEET_ROWS);
    for (guint i = 0; i < list->len; i++) {
        const struct recent_note *note = (const struct recent_note *)list->pdata[i];
        sheet_time_ms(sheet, note->at_ms);
        sheet_integer(sheet, note->n);
        sheet_number(sheet, note->status > 0 ? note->status : (double)NAN, NULL);
        sheet_text(sheet, note->where);
        sheet_text(sheet, note->text);
    }
    sheet_table_end(sheet);
}

static Sheet *render_sheet(const HttpRequest *request, const struct server_state *state)
{
    static const struct sheet_column kept[] = {
        {"kept", "Kept", false}, {"number", "Number", true}, {0}};
    static const struct sheet_column queues[] = {{"queue", "To judge", false},
                                                 {"waiting", "Waiting", true},
                                                 {"more", "And more", false},
                                                 {"oldest", "The oldest since", false},
                                                 {0}};
    const struct context *context = context_of(request);
    Sheet *sheet = sheet_new(request, sheet_form_of(request, false), "Status");
    tell_facts(sheet, context, state);
    sheet_table(sheet, "rows", "Store", kept, 0);
    for (guint i = 0; i < state->n_rows; i++) {
        sheet_text(sheet, state->rows[i].what);
        sheet_integer(sheet, (int64_t)state->rows[i].n);
    }
    sheet_table_end(sheet);
    sheet_table(sheet, "queues", "Analysis", queues, 0);
    tell_queue(sheet, "runs", &state->runs);
    tell_queue(sheet, "series", &state->series);
    sheet_table_end(sheet);
    tell_notes(sheet, "errors", "Last errors", context->errors);
    tell_notes(sheet, "refused", "Refused lately", context->refusals);
    return sheet;
}

void page_status(HttpRequest *request)
{
    const struct context *context = context_of(request);
    struct server_state state;
    g_autoptr(GError) error = NULL;
    StoreReader *reader = (StoreReader *)http_request_thread(request);
    bool fine = server_state_read(&state, context->store, context->work, reader, &error);
    bool is_page = sheet_form_of(request, false) == SHEET_HTML;
    Html *html = fine && is_page ? render(request, &state) : NULL;
    Sheet *sheet = fine && !is_page ? render_sheet(request, &state) : NULL;
    sheet_respond(request, html, sheet, error);
}
