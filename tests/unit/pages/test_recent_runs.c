/* SPDX-License-Identifier: Apache-2.0
 * What tables say of a series and of a project without reading histories: of a real store, with
 * runs that came out of order, of other branches and machines, and more than are looked at. */
#include "server/pages/project_pulse.h"
#include "server/pages/recent_runs.h"
#include "server/pages/series_now.h"
#include "tests/unit/store/store_fixture.h"

#include <math.h>

static Run *run_of(guint commit, const char *machine, const char *branch)
{
    g_autofree char *id = g_strdup_printf("%s-%s-%u", machine, branch, commit);
    Run *run = make_run(id, "A", commit);
    g_free(run->machine);
    g_free(run->branch);
    run->machine = g_strdup(machine);
    run->branch = g_strdup(branch);
    return run;
}

static const struct store_project *project_of(StoreSnapshot *snapshot)
{
    return (const struct store_project *)store_projects(snapshot)->pdata[0];
}

static GArray *points_of(StoreSnapshot *snapshot, int64_t series_id, guint position)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(RecentRuns) recent =
        recent_runs_new(project_of(snapshot), "main", position, RECENT_COMMITS);
    GArray *points =
        recent_runs_points(recent, snapshot, store_series_by_id(snapshot, series_id), &error);
    g_assert_no_error(error);
    return points;
}

static double center_at(const GArray *points, guint i)
{
    return g_array_index(points, struct commit_point, i).center;
}

/* A run's center is 103 + its commit's number (see make_run). */
static void test_last_commits_in_their_order(void)
{
    struct fixture fixture;
    fixture_begin(&fixture);
    for (guint i = 0; i < 80; i++) /* the newest come first */
        must_put_run(fixture.store, run_of(79 - i, "box", "main"));
    Run *again = run_of(79, "box", "main"); /* two runs of a commit are one commit */
    g_free(again->id);
    again->id = g_strdup("again");
    must_put_run(fixture.store, again);
    must_put_run(fixture.store, run_of(90, "box", "aside"));
    must_put_run(fixture.store, run_of(85, "other", "main"));
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    StoreSnapshot *snapshot = must_begin(reader);
    g_autoptr(GArray) all = points_of(snapshot, 1, G_MAXUINT);
    g_assert_cmpuint(all->len, ==, RECENT_COMMITS);
    for (guint i = 0; i < all->len; i++)
        g_assert_cmpfloat(center_at(all, i), ==, 103.0 + 20 + i);
    g_autoptr(GArray) early = points_of(snapshot, 1, 9);
    g_assert_cmpuint(early->len, ==, 10);
    g_assert_cmpfloat(center_at(early, 9), ==, 103.0 + 9);
    g_autoptr(GArray) other = points_of(snapshot, 2, G_MAXUINT);
    g_assert_cmpuint(other->len, ==, 1);
    g_autoptr(RecentRuns) recent =
        recent_runs_new(project_of(snapshot), "main", G_MAXUINT, RECENT_COMMITS);
    g_autoptr(RecentRuns) more =
        recent_runs_new(project_of(snapshot), "main", G_MAXUINT, RECENT_COMMITS + 15);
    g_autoptr(GArray) longer =
        recent_runs_points(more, snapshot, store_series_by_id(snapshot, 1), NULL);
    g_assert_cmpuint(longer->len, ==, RECENT_COMMITS + 15);
    const struct store_machine *box = store_machine_find(snapshot, "box");
    g_assert_cmpuint(recent_runs_before(recent, box, 30)->commit->position, ==, 29);
    g_assert_null(recent_runs_before(recent, box, 3));
    store_snapshot_end(snapshot);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

/* ---- The reference --------------------------------------------------------------------------- */

static void add_point(GArray *points, double center, bool flagged, int censored)
{
    const struct commit_point point = {
        .position = points->len, .center = center, .flagged = flagged, .censored = censored};
    g_array_append_val(points, point);
}

static void test_reference(void)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct commit_point));
    g_assert_true(isnan(recent_reference_of(points).ratio));
    for (guint i = 0; i < 4; i++)
        add_point(points, 100, false, 0);
    add_point(points, 110, false, 0);
    g_assert_true(isnan(recent_reference_of(points).ratio)); /* four are too few */
    g_array_set_size(points, 0);
    for (guint i = 0; i < 40; i++)
        add_point(points, i < 10 ? 1000 : 100, false, 0); /* older ones do not count */
    for (guint i = 0; i < 16; i++) {
        add_point(points, 900, true, 0); /* flagged ones and bounds neither */
        add_point(points, 900, false, 1);
    }
    add_point(points, 110, false, 0);
    struct recent_reference reference = recent_reference_of(points);
    g_assert_cmpuint(reference.n, ==, RECENT_REFERENCE_COMMITS);
    g_assert_cmpfloat(reference.value, ==, 100);
    g_assert_cmpfloat_with_epsilon(reference.ratio, 0.1, 1e-12);
    add_point(points, 0, false, -1); /* a bound tells no distance */
    g_assert_true(isnan(recent_reference_of(points).ratio));
}

static void test_first_base(void)
{
    g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct commit_point));
    g_assert_true(isnan(recent_first_base(points)));
    add_point(points, 900, true, 0);
    add_point(points, 900, false, 1);
    add_point(points, 0, false, 0);
    g_assert_true(isnan(recent_first_base(points)));
    add_point(points, 70, false, 0);
    add_point(points, 80, false, 0);
    g_assert_cmpfloat(recent_first_base(points), ==, 70);
}

static void test_noise_class(void)
{
    const struct {
        double noise;
        char letter;
    } cases[] = {{0.002, 'A'}, {0.01, 'A'}, {0.02, 'B'}, {0.09, 'C'}, {0.4, 'D'}, {0, '\0'}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        const struct store_level level = {.n = 9, .level = 100, .noise = cases[i].noise};
        g_assert_cmpint(series_now_noise_class(&level), ==, cases[i].letter);
    }
    const struct store_level few = {.n = 0, .level = 100, .noise = 0.01},
                             zero = {.n = 9, .level = 0, .noise = 0.01};
    g_assert_cmpint(series_now_noise_class(&few), ==, '\0');
    g_assert_cmpint(series_now_noise_class(&zero), ==, '\0');
}

/* ---- The pulse ------------------------------------------------------------------------------- */

static void add_change(GArray *changes, const struct store_commit *at, double effect,
                       enum store_change_kind kind)
{
    const struct store_change_write write = {.action = STORE_CHANGE_ADD,
                                             .machine_id = 1,
                                             .change = {.project_id = at->project->id,
                                                        .series_id = 1,
                                                        .bad_commit_id = at->id,
                                                        .kind = kind,
                                                        .status = STORE_STATUS_CONFIRMED,
                                                        .effect = effect,
                                                        .low = effect,
                                                        .high = effect,
                                                        .before = 100,
                                                        .after = 100 * (1 + effect)}};
    g_array_append_val(changes, write);
}

static void put_changes(struct fixture *fixture)
{
    g_autoptr(StoreReader) reader = must_read(fixture->store);
    StoreSnapshot *snapshot = must_begin(reader);
    const GPtrArray *commits = project_of(snapshot)->commits;
    struct store_judgement *judgement = store_judgement_new();
    judgement->project_id = project_of(snapshot)->id;
    add_change(judgement->changes, commits->pdata[10], 0.21, STORE_KIND_CHANGE);
    add_change(judgement->changes, commits->pdata[30], 0.5, STORE_KIND_BOUNDARY);
    add_change(judgement->changes, commits->pdata[35], -0.1, STORE_KIND_CHANGE);
    store_snapshot_end(snapshot);
    struct outcome outcome;
    outcome_init(&outcome);
    store_put_judgement(fixture->store, judgement, outcome_done, &outcome);
    outcome_wait(&outcome);
    g_assert_cmpstr(outcome.message, ==, "");
    outcome_clear(&outcome);
}

/* Two series, one of which gets slower by 21 %: their mean by the root of 1.21. */
static void test_pulse(void)
{
    struct fixture fixture;
    g_autoptr(GError) error = NULL;
    fixture_begin(&fixture);
    for (guint i = 0; i < 40; i++) {
        must_put_run(fixture.store, run_of(i, "box", "main"));
        must_put_run(fixture.store, run_of(i, "other", "main"));
    }
    put_changes(&fixture);
    g_autoptr(StoreReader) reader = must_read(fixture.store);
    StoreSnapshot *snapshot = must_begin(reader);
    ProjectPulse *pulse = project_pulse_read(snapshot, project_of(snapshot), &error);
    g_assert_no_error(error);
    g_assert_cmpuint(pulse->n_values, ==, 40);
    g_assert_cmpfloat(pulse->values[9], ==, 1);
    g_assert_cmpfloat_with_epsilon(pulse->values[10], 1 / 1.1, 1e-9);
    g_assert_cmpfloat_with_epsilon(pulse->values[34], 1 / 1.1, 1e-9); /* not the machine's move */
    g_assert_cmpfloat_with_epsilon(pulse->values[39], 1 / 1.1 / sqrt(0.9), 1e-9);
    g_assert_cmpuint(pulse->n_worse, ==, 2);
    g_assert_cmpuint(pulse->n_better, ==, 1);
    g_assert_cmpfloat(pulse->worst_effect, ==, 0.5);
    project_pulse_free(pulse);
    store_snapshot_end(snapshot);
    g_clear_pointer(&reader, store_reader_free);
    fixture_end(&fixture);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/recent-runs/last-commits-in-their-order", test_last_commits_in_their_order);
    g_test_add_func("/recent-runs/reference", test_reference);
    g_test_add_func("/recent-runs/first-base", test_first_base);
    g_test_add_func("/series-now/noise-class", test_noise_class);
    g_test_add_func("/project-pulse/geometric-mean", test_pulse);
    return g_test_run();
}
