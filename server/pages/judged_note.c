/* SPDX-License-Identifier: Apache-2.0
 * See judged_note.h. The request's thread. */
#include "server/pages/judged_note.h"

#define WAITING_MAX 1000u /* entries of the queue that are looked at */

static int64_t id_at(const GPtrArray *series, guint i)
{
    return ((const struct store_series *)series->pdata[i])->id;
}

/* Series whose ids follow each other are summed up at once: of a whole project most do. */
static bool sum_levels(StoreSnapshot *snapshot, const GPtrArray *series,
                       struct store_levels_sum *sum, GError **error)
{
    for (guint first = 0, end; first < series->len; first = end) {
        end = first + 1;
        while (end < series->len && id_at(series, end) == id_at(series, end - 1) + 1)
            end++;
        if (!store_levels_sum(snapshot, id_at(series, first), id_at(series, end - 1), sum, error))
            return false;
    }
    return true;
}

static bool count_waiting(StoreSnapshot *snapshot, const struct store_project *project,
                          JudgedNote *note, GError **error)
{
    g_autoptr(GArray) queue = store_analysis_queue(snapshot, WAITING_MAX, error);
    for (guint i = 0; queue && i < queue->len; i++) {
        const struct store_run *run = store_run_by_seq(snapshot, g_array_index(queue, int64_t, i));
        note->n_waiting += run && run->project == project ? 1 : 0;
    }
    note->is_waiting_bounded = queue && queue->len == WAITING_MAX;
    return queue != NULL;
}

bool judged_note_read(StoreSnapshot *snapshot, const GPtrArray *series, JudgedNote *out,
                      GError **error)
{
    struct store_levels_sum sum = {0};
    *out = (JudgedNote){.n_series = series->len};
    if (!sum_levels(snapshot, series, &sum, error))
        return false;
    out->n_judged = sum.n;
    out->commits_min = sum.commits_min;
    out->commits_max = sum.commits_max;
    out->last_ms = sum.last_ms;
    return series->len == 0 ||
           count_waiting(snapshot, ((const struct store_series *)series->pdata[0])->project, out,
                         error);
}

void judged_note_write(Html *html, const JudgedNote *note)
{
    html_print(html, "<p class=\"muted\" id=\"judged\">%u of %u series judged", note->n_judged,
               note->n_series);
    if (note->n_judged > 0) {
        if (note->commits_min == note->commits_max)
            html_print(html, " on %u %s", note->commits_max,
                       note->commits_max == 1 ? "commit" : "commits");
        else
            html_print(html, " on %u to %u commits", note->commits_min, note->commits_max);
        html_literal(html, ", the last ");
        layout_time_ms(html, note->last_ms);
    }
    html_literal(html, ".");
    if (note->n_waiting > 0)
        html_print(html, " <span class=\"warn\">%s%u %s to be judged.</span>",
                   note->is_waiting_bounded ? "At least " : "", note->n_waiting,
                   note->n_waiting == 1 ? "run waits" : "runs wait");
    html_literal(html, "</p>");
}
