/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/changes.atom: what was told, in the order of telling, the newest first, as an Atom
 * feed (RFC 4287; older pages by `next`, RFC 5005). An entry's id is made of what was told and
 * never changes. A worker thread. */
#include "schema/timestamp.h"
#include "server/pages/change_card.h"
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/routes.h"

#define ENTRIES 50u

struct feed {
    const struct store_project *project;
    StoreSnapshot *snapshot;
    const char *origin, *path; /* of the project's changes */
};

/* ---- Ids ------------------------------------------------------------------------------------- */

/* Of version 5 (RFC 9562): SHA-1 of a name space, here the product's own, and a name. The same
 * wherever and whenever it is asked. */
static void write_id(Html *html, const char *name)
{
    static const guint8 space[] = {0x6f, 0x0b, 0x29, 0x1d, 0x33, 0x54, 0x4c, 0x8a,
                                   0x9e, 0x52, 0x1c, 0x7d, 0x40, 0xb8, 0x95, 0xe3};
    guint8 b[20];
    gsize length = sizeof b;
    g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA1);
    g_checksum_update(sum, space, sizeof space);
    g_checksum_update(sum, (const guchar *)name, -1);
    g_checksum_get_digest(sum, b, &length);
    b[6] = (guint8)((b[6] & 0x0f) | 0x50);
    b[8] = (guint8)((b[8] & 0x3f) | 0x80);
    html_literal(html, "<id>urn:uuid:");
    for (guint i = 0; i < 16; i++)
        html_print(html, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", b[i]);
    html_literal(html, "</id>\n");
}

static void write_updated(Html *html, int64_t time_ms)
{
    g_autofree char *text = timestamp_format_ms(time_ms);
    html_print(html, "<updated>%s</updated>\n", text);
}

/* ---- Entries --------------------------------------------------------------------------------- */

static void write_link(Html *html, const struct feed *feed, const char *path)
{
    g_autofree char *url = g_strconcat(feed->origin, path, NULL);
    html_literal(html, "<link rel=\"alternate\" type=\"text/html\"");
    html_url(html, "href", url);
    html_literal(html, "/>\n");
}

static void write_commit(Html *html, const struct store_commit *commit)
{
    if (!commit)
        return;
    html_print(html, "First commit: %s", commit->sha);
    if (commit->subject) {
        html_literal(html, " ");
        html_text(html, commit->subject);
    }
    if (commit->author) {
        html_literal(html, ", ");
        html_text(html, commit->author);
    }
    html_literal(html, ". ");
}

static void write_change(Html *html, const struct feed *feed, const char *news,
                         const struct store_change *change)
{
    const struct store_series *series = store_series_by_id(feed->snapshot, change->series_id);
    g_autofree char *path = link_change(feed->project->name, change->id);
    char effect[QUANTITY_TEXT_BYTES], low[QUANTITY_TEXT_BYTES], high[QUANTITY_TEXT_BYTES];
    quantity_ratio(change->effect, effect);
    quantity_ratio(change->low, low);
    quantity_ratio(change->high, high);
    html_print(html, "<title>%s %s",
               change_card_word(series ? change_direction(series, change) : 0), effect);
    if (series)
        html_print(html, ": %s %s on %s", series->benchmark->name, series->metric,
                   series->machine->name);
    html_print(html, " (%s)</title>\n", news);
    write_link(html, feed, path);
    html_literal(html, "<summary>");
    if (series)
        html_print(html, "Parameters %s. ", series->params_text);
    write_commit(html, store_commit_by_id(feed->snapshot, change->bad_commit_id));
    html_print(html, "95 %% interval %s … %s.", low, high);
    if (change->expectation) {
        html_literal(html, " Its commit expects: ");
        html_text(html, change->expectation);
        html_literal(html, ".");
    }
    if (change->by_rule)
        html_literal(html, " Withdrawn by a rule, not by data.");
    html_literal(html, "</summary>\n");
}

static void write_environment(Html *html, const struct feed *feed, const struct store_news *news)
{
    const struct store_commit *commit = store_commit_by_id(feed->snapshot, news->commit_id);
    g_autofree char *path = commit ? link_commit(feed->project->name, commit->sha) : NULL;
    html_literal(html, "<title>The environment moved levels (environment)</title>\n");
    write_link(html, feed, path ? path : feed->path);
    html_literal(html, "<summary>");
    write_commit(html, commit);
    html_literal(html, "The machine, the library or the benchmark changed there, too.</summary>\n");
}

static void write_entry(Html *html, const struct feed *feed, const struct store_news *news)
{
    struct store_change *change =
        news->change_id > 0 ? store_change_by_id(feed->snapshot, news->change_id, NULL) : NULL;
    g_autofree char *name =
        g_strdup_printf("%s\n%s\n%" G_GINT64_FORMAT "\n%" G_GINT64_FORMAT "\n%" G_GINT64_FORMAT,
                        feed->project->name, news->news, (gint64)news->change_id, (gint64)news->id,
                        (gint64)news->at_ms);
    html_literal(html, "<entry>\n");
    write_id(html, name);
    write_updated(html, news->at_ms);
    html_literal(html, "<category");
    html_attr(html, "term", news->news);
    html_literal(html, "/>\n");
    if (change)
        write_change(html, feed, news->news, change);
    else
        write_environment(html, feed, news);
    html_literal(html, "</entry>\n");
    store_change_free(change);
}

/* ---- The feed -------------------------------------------------------------------------------- */

static void write_place(Html *html, const struct feed *feed, const char *opening,
                        const char *before)
{
    g_autofree char *url =
        g_strconcat(feed->origin, feed->path, ".atom", before ? "?before=" : "", before, NULL);
    html_print(html, "<link rel=\"%s\" type=\"application/atom+xml\"", opening);
    html_url(html, "href", url);
    html_literal(html, "/>\n");
}

static void write_head(Html *html, const struct feed *feed, const GPtrArray *news)
{
    const struct store_news *first =
        news->len > 0 ? (const struct store_news *)news->pdata[0] : NULL;
    g_autofree char *name = g_strdup_printf("feed\n%s", feed->project->name);
    html_literal(html, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
                       "<feed xmlns=\"http://www.w3.org/2005/Atom\">\n");
    html_print(html, "<title>Changes of %s</title>\n", feed->project->name);
    write_id(html, name);
    write_updated(html, first ? first->at_ms : feed->project->version / 1000);
    html_literal(html, "<author><name>Breakeven</name></author>\n");
    write_link(html, feed, feed->path);
}

static Html *render(HttpRequest *request, const struct feed *feed, GError **error)
{
    const char *text = http_request_query(request, "before");
    guint64 before = 0;
    if (text && !g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &before, NULL)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                            "before: take it from the feed's link to its next page");
        return NULL;
    }
    const struct store_page page = {feed->project->id, (int64_t)before, ENTRIES + 1};
    g_autoptr(GPtrArray) news = store_project_news(feed->snapshot, &page, error);
    if (!news)
        return NULL;
    Html *html = html_new();
    write_head(html, feed, news);
    write_place(html, feed, "self", text);
    if (news->len > ENTRIES) {
        const struct store_news *last = (const struct store_news *)news->pdata[ENTRIES - 1];
        g_autofree char *next = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)last->id);
        write_place(html, feed, "next", next);
    }
    for (guint i = 0; i < news->len && i < ENTRIES; i++)
        write_entry(html, feed, (const struct store_news *)news->pdata[i]);
    html_literal(html, "</feed>\n");
    return html;
}

void page_changes_atom(HttpRequest *request)
{
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    if (!project || http_not_modified(request, store_version(snapshot, project), HTTP_ATOM))
        return;
    g_autoptr(GError) error = NULL;
    g_autofree char *origin = http_request_origin(request);
    g_autofree char *path = link_changes(project->name);
    const struct feed feed = {
        .project = project, .snapshot = snapshot, .origin = origin, .path = path};
    Html *html = render(request, &feed, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    if (html)
        http_respond(request, 200, HTTP_ATOM, html_finish(html));
    else
        http_respond_error(request, error, NULL);
}
