/* SPDX-License-Identifier: Apache-2.0
 * See commit_verdict.h. The request's thread. */
#include "server/pages/commit_verdict.h"

#include "server/pages/commit_view.h"
#include "server/pages/compare_table.h"
#include "server/pages/link.h"
#include "server/work/comparison_base.h"

static void free_verdict(gpointer data)
{
    struct commit_verdict *verdict = (struct commit_verdict *)data;
    comparison_free(verdict->comparison);
    g_free(verdict);
}

static bool has_machine(const GPtrArray *verdicts, const struct store_machine *machine)
{
    for (guint i = 0; i < verdicts->len; i++)
        if (((const struct commit_verdict *)verdicts->pdata[i])->run->machine == machine)
            return true;
    return false;
}

#define QUEUE_MAX 1000u /* entries that are looked at */

static bool find_in_queue(StoreSnapshot *snapshot, struct commit_verdict *verdict, GError **error)
{
    g_autoptr(GArray) queue = store_analysis_queue(snapshot, QUEUE_MAX, error);
    for (guint i = 0; queue && i < queue->len; i++)
        verdict->n_before += g_array_index(queue, int64_t, i) < verdict->run->seq ? 1 : 0;
    verdict->is_bounded = verdict->n_before == QUEUE_MAX;
    return queue != NULL;
}

static bool add(StoreSnapshot *snapshot, const struct store_run *run, GPtrArray *verdicts,
                GError **error)
{
    struct commit_verdict *verdict = g_new0(struct commit_verdict, 1);
    verdict->run = run;
    g_ptr_array_add(verdicts, verdict);
    if (verdicts->len > COMMIT_VERDICTS_MAX)
        return true;
    if (!store_is_waiting(snapshot, run->seq, &verdict->is_waiting, error))
        return false;
    if (verdict->is_waiting)
        return find_in_queue(snapshot, verdict, error);
    verdict->comparison = comparison_of_run(snapshot, run, error);
    return verdict->comparison != NULL;
}

GPtrArray *commit_verdicts_read(StoreSnapshot *snapshot, const GPtrArray *runs, GError **error)
{
    g_autoptr(GPtrArray) verdicts = g_ptr_array_new_with_free_func(free_verdict);
    for (guint i = runs->len; i > 0; i--) {
        const struct store_run *run = (const struct store_run *)runs->pdata[i - 1];
        if (!has_machine(verdicts, run->machine) && !add(snapshot, run, verdicts, error))
            return NULL;
    }
    return g_steal_pointer(&verdicts);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_words(Html *html, const Comparison *comparison)
{
    g_autofree char *words = compare_words(comparison);
    const guint *counts = comparison->counts;
    if (!comparison->base.commit) {
        html_literal(html, "nothing was measured before it to compare with");
        return;
    }
    if (counts[COMPARISON_REGRESSED] > 0)
        html_print(html, "<span class=\"tag worse\">▼ regressed</span> ");
    else if (counts[COMPARISON_IMPROVED] > 0)
        html_print(html, "<span class=\"tag better\">▲ improved</span> ");
    if (counts[COMPARISON_REGRESSED] + counts[COMPARISON_IMPROVED] + counts[COMPARISON_UNSURE] == 0)
        html_literal(html, "nothing found: ");
    html_text(html, words);
}

static void write_compare(Html *html, const struct commit_verdict *verdict)
{
    const Comparison *comparison = verdict->comparison;
    if (!comparison->base.commit)
        return;
    g_autofree char *url = link_compare(comparison->project->name, comparison->base.commit->sha,
                                        comparison->head.commit->sha);
    html_literal(html, " · <a");
    html_url(html, "href", url);
    html_print(html, ">compare with %.8s</a>", comparison->base.commit->sha);
    g_autofree char *against = comparison_base_words(comparison);
    if (against)
        html_print(html, "<span class=\"sub\">Compared %s.</span>", against);
    for (guint i = 0; i < comparison->warnings->len; i++)
        html_print(html, "<span class=\"sub warn\">%s</span>",
                   (const char *)comparison->warnings->pdata[i]);
}

static void write_waiting(Html *html, const struct commit_verdict *verdict)
{
    html_literal(html, "<span class=\"warn\">not judged yet: its run waits for the analysis");
    if (verdict->n_before > 0)
        html_print(html, ", %s%u %s before it", verdict->is_bounded ? "at least " : "",
                   verdict->n_before, verdict->n_before == 1 ? "run" : "runs");
    html_literal(html, "</span>");
}

/* All machines together, where there are several. */
static void write_overall(Html *html, const GPtrArray *verdicts, guint n_shown)
{
    Comparison sum = {0};
    guint n_judged = 0;
    for (guint i = 0; i < n_shown; i++) {
        const struct commit_verdict *verdict = (const struct commit_verdict *)verdicts->pdata[i];
        if (!verdict->comparison || !verdict->comparison->base.commit)
            continue;
        n_judged++;
        for (guint k = 0; k < COMPARISON_VERDICTS; k++)
            sum.counts[k] += verdict->comparison->counts[k];
    }
    if (n_judged < 2)
        return;
    g_autofree char *words = compare_words(&sum);
    html_print(html, "<p class=\"overall\">%s <span class=\"muted\">on %u machines</span></p>",
               words, n_judged);
}

void commit_verdict_write(Html *html, const struct commit_view *view)
{
    const GPtrArray *verdicts = view->verdicts;
    guint n_shown = MIN(verdicts->len, COMMIT_VERDICTS_MAX);
    if (n_shown == 0)
        return;
    html_literal(html, "<section class=\"card\" id=\"verdict\"><h2>Verdict</h2>");
    write_overall(html, verdicts, n_shown);
    for (guint i = 0; i < n_shown; i++) {
        const struct commit_verdict *verdict = (const struct commit_verdict *)verdicts->pdata[i];
        html_literal(html, "<p class=\"sentence\">");
        layout_machine(html, verdict->run->machine);
        html_literal(html, ": ");
        if (verdict->is_waiting) {
            write_waiting(html, verdict);
        } else {
            write_words(html, verdict->comparison);
            write_compare(html, verdict);
        }
        html_literal(html, "</p>");
    }
    if (verdicts->len > n_shown)
        html_print(html, "<p class=\"muted\">and %u further machines</p>", verdicts->len - n_shown);
    html_literal(html, "</section>");
}
