/* SPDX-License-Identifier: Apache-2.0
 * "Not judged yet", "nothing found" and "nothing to compare with" are three different things to a
 * reader: said of a real store, before and after its queue was worked off. */
#include "server/pages/commit_verdict.h"
#include "server/pages/commit_view.h"
#include "server/pages/compare_table.h"
#include "server/pages/judged_note.h"
#include "server/work/work.h"
#include "tests/unit/store/store_fixture.h"

#define WAIT_STEP_US   2000
#define WAIT_STEPS_MAX 15000

static char *text_of(Html *html)
{
    return g_string_free(html_finish(html), FALSE);
}

/* The verdict of a commit's page, as HTML. */
static char *verdict_of(StoreSnapshot *snapshot, const char *run_id)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) runs = g_ptr_array_new();
    g_ptr_array_add(runs, store_run_find(snapshot, run_id));
    g_autoptr(GPtrArray) verdicts = commit_verdicts_read(snapshot, runs, &error);
    g_assert_no_error(error);
    const struct commit_view view = {.verdicts = verdicts};
    Html *html = html_new();
    commit_verdict_write(html, &view);
    return text_of(html);
}

static char *note_of(StoreSnapshot *snapshot)
{
    g_autoptr(GError) error = NULL;
    JudgedNote note;
    const struct store_project *project =
        (const struct store_project *)store_projects(snapshot)->pdata[0];
    g_assert_true(judged_note_read(snapshot, project->series, &note, &error));
    g_assert_no_error(error);
    Html *html = html_new();
    judged_note_write(html, &note);
    return text_of(html);
}

static void assert_holds(const char *text, const char *part)
{
    if (!strstr(text, part))
        g_test_fail_printf("\"%s\" is not in: %s", part, text);
}

static void wait_until_judged(StoreReader *reader, int64_t run_seq)
{
    bool is_waiting = true;
    for (guint i = 0; is_waiting && i < WAIT_STEPS_MAX; i++) {
        g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
        g_assert_true(store_is_waiting(snapshot, run_seq, &is_waiting, NULL));
        if (is_waiting)
            g_usleep(WAIT_STEP_US);
    }
    g_assert_false(is_waiting);
}

static void check_waiting(StoreReader *reader)
{
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autofree char *verdict = verdict_of(snapshot, "run-1");
    g_autofree char *note = note_of(snapshot);
    assert_holds(verdict, "not judged yet: its run waits for the analysis, 1 run before it<");
    g_assert_null(strstr(verdict, "nothing found"));
    assert_holds(note, "0 of ");
    assert_holds(note, "2 runs wait to be judged");
}

static void check_judged(StoreReader *reader)
{
    g_autoptr(StoreSnapshot) snapshot = must_begin(reader);
    g_autofree char *first = verdict_of(snapshot, "run-0");
    g_autofree char *second = verdict_of(snapshot, "run-1");
    g_autofree char *note = note_of(snapshot);
    assert_holds(first, "nothing was measured before it to compare with");
    g_assert_null(strstr(second, "not judged yet"));
    assert_holds(second, " unsure");
    assert_holds(second, "/compare/");
    assert_holds(note, " series judged on 2 commits, the last ");
    g_assert_null(strstr(note, "wait"));
}

static void test_judged_or_not(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    must_put_run(fixture.store, make_run("run-0", "A", 0));
    int64_t last = must_put_run(fixture.store, make_run("run-1", "A", 1));
    StoreReader *reader = must_read(fixture.store);
    check_waiting(reader);
    struct work_options options = {.store = fixture.store};
    Work *work = work_start(&options, NULL);
    wait_until_judged(reader, last);
    check_judged(reader);
    work_stop(work);
    store_reader_free(reader);
    fixture_end(&fixture);
}

static void test_words_are_in_order(void)
{
    Comparison comparison = {.counts = {[COMPARISON_REGRESSED] = 3,
                                        [COMPARISON_IMPROVED] = 1,
                                        [COMPARISON_UNCHANGED] = 210,
                                        [COMPARISON_MISSING] = 4}};
    g_autofree char *words = compare_words(&comparison);
    g_assert_cmpstr(words, ==, "3 slower, 1 faster, 210 unchanged, 4 not measured");
    Comparison nothing = {0};
    g_autofree char *none = compare_words(&nothing);
    g_assert_cmpstr(none, ==, "nothing to compare");
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/judged-words/judged-or-not", test_judged_or_not);
    g_test_add_func("/judged-words/in-order", test_words_are_in_order);
    return g_test_run();
}
