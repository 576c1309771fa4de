/* SPDX-License-Identifier: Apache-2.0
 * See arrow_2019.h. Pure; any thread. */
#include "server/pages/arrow_2019.h"

#include <string.h>

#define MEBI  1048576.0
#define KIBI  1024.0
#define COSTS 3u

static const double costs[COSTS] = {1000, 10000, 100000};
/* BM_WorkloadCost: one plain call. */
static const double plain[COSTS] = {1.317 * MEBI, 133 * KIBI, 13.3 * KIBI};

static const struct {
    const char *bench, *threads;
    double rates[COSTS];
} table[] = {
    {"ThreadPoolSpawn", "1", {1.164 * MEBI, 130 * KIBI, 13.1 * KIBI}},
    {"ThreadPoolSpawn", "2", {1.202 * MEBI, 231 * KIBI, 24.1 * KIBI}},
    {"ThreadPoolSpawn", "4", {436 * KIBI, 423 * KIBI, 42.9 * KIBI}},
    {"ThreadPoolSpawn", "8", {290 * KIBI, 860 * KIBI, 93.6 * KIBI}},
    {"ThreadedTaskGroup", "1", {755 * KIBI, 99.4 * KIBI, 10.4 * KIBI}},
    {"ThreadedTaskGroup", "2", {919 * KIBI, 179 * KIBI, 18.7 * KIBI}},
    {"ThreadedTaskGroup", "4", {382 * KIBI, 342 * KIBI, 36.4 * KIBI}},
    {"ThreadedTaskGroup", "8", {270 * KIBI, 633 * KIBI, 61.6 * KIBI}},
};

bool arrow_2019_has(const char *bench)
{
    for (guint i = 0; i < G_N_ELEMENTS(table); i++)
        if (strcmp(table[i].bench, bench) == 0)
            return true;
    return false;
}

GArray *arrow_2019_efficiency(const char *bench, const char *threads)
{
    GArray *points = g_array_new(FALSE, FALSE, sizeof(struct efficiency_point));
    for (guint i = 0; i < G_N_ELEMENTS(table); i++) {
        if (strcmp(table[i].bench, bench) != 0 || strcmp(table[i].threads, threads) != 0)
            continue;
        double cores = MIN(g_ascii_strtod(threads, NULL), ARROW_2019_CORES);
        for (guint c = 0; c < COSTS; c++) {
            struct efficiency_point point;
            if (efficiency_point_make(costs[c], table[i].rates[c], plain[c], cores, &point))
                g_array_append_val(points, point);
        }
    }
    return points;
}
