/* SPDX-License-Identifier: Apache-2.0
 * CPU of the change detector: a history of 10,000 commits of each kind of noise, and 5,000 series
 * that each take one more commit from a saved state. Prints a table; judges nothing. */
#include "server/analysis/detector.h"
#include "server/demo/synthetic_history.h"

#include <stdio.h>
#include <time.h>

#define HISTORY_COMMITS 10000u
#define SERIES          5000u
#define SERIES_COMMITS  400u

static const char *const noise_names[SYNTHETIC_N_NOISES] = {"normal",  "spiky", "heavy",
                                                            "bimodal", "drift", "correlated"};
static const struct detector_settings settings = {.least_effect_ratio = 0.02};

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void feed_all(Detector *detector, const double *values, guint n, GArray *events)
{
    for (guint i = 0; i < n; i++) {
        struct detector_point point = {values[i], 0};
        detector_feed(detector, &point, events);
    }
}

static void bench_history(enum synthetic_noise noise)
{
    g_autofree double *values = g_new(double, HISTORY_COMMITS);
    struct synthetic_plan plan = {.seed = 3, .noise = noise, .deviation = 0.02, .n_samples = 5};
    for (guint i = 0; i < SYNTHETIC_MOVES_MAX; i++)
        plan.moves[plan.n_moves++] =
            (struct synthetic_move){1000 + 1100 * i, 1, i % 2 ? -0.1 : 0.11};
    synthetic_history(&plan, values, HISTORY_COMMITS);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    g_autoptr(Detector) detector = detector_new(&settings);
    double start = cpu_ms();
    feed_all(detector, values, HISTORY_COMMITS, events);
    double spent = cpu_ms() - start;
    guint told = 0;
    for (guint i = 0; i < events->len; i++)
        told += g_array_index(events, struct detector_event, i).news == DETECTOR_NEWS_CONFIRMED;
    printf("history of %u, %-10s %7.1f ms  %5.2f us a commit  %5.1f %% segmented  told %u\n",
           HISTORY_COMMITS, noise_names[noise], spent, 1e3 * spent / HISTORY_COMMITS,
           100.0 * (double)detector_work(detector).analyses / HISTORY_COMMITS, told);
}

static void bench_push(double move)
{
    g_autoptr(GPtrArray) states = g_ptr_array_new_with_free_func((GDestroyNotify)g_bytes_unref);
    g_autoptr(GArray) events = g_array_new(FALSE, FALSE, sizeof(struct detector_event));
    double next[SERIES], values[SERIES_COMMITS + 1];
    gsize bytes = 0;
    for (guint i = 0; i < SERIES; i++) {
        struct synthetic_plan plan = {.seed = i,
                                      .noise = (enum synthetic_noise)(i % SYNTHETIC_N_NOISES),
                                      .deviation = 0.01 * (1 + i % 5),
                                      .n_samples = 5,
                                      .moves = {{SERIES_COMMITS - 3, 1, move}},
                                      .n_moves = 1};
        g_autoptr(Detector) detector = detector_new(&settings);
        synthetic_history(&plan, values, SERIES_COMMITS + 1);
        feed_all(detector, values, SERIES_COMMITS, events);
        g_ptr_array_add(states, detector_save(detector));
        bytes += g_bytes_get_size((GBytes *)g_ptr_array_index(states, i));
        next[i] = values[SERIES_COMMITS];
    }
    double start = cpu_ms();
    for (guint i = 0; i < SERIES; i++) {
        g_autoptr(Detector) detector =
            detector_restore((GBytes *)g_ptr_array_index(states, i), &settings, NULL);
        struct detector_point point = {next[i], 0};
        detector_feed(detector, &point, events);
        g_bytes_unref(detector_save(detector));
    }
    double spent = cpu_ms() - start;
    printf("one push to %u series %+4.0f %%: %7.1f ms  %5.1f us a series  state %" G_GSIZE_FORMAT
           " bytes\n",
           SERIES, 100 * move, spent, 1e3 * spent / SERIES, bytes / SERIES);
}

int main(void)
{
    for (guint noise = 0; noise < SYNTHETIC_N_NOISES; noise++)
        bench_history((enum synthetic_noise)noise);
    bench_push(0);
    bench_push(0.1); /* all series of the push have just moved */
    return 0;
}
