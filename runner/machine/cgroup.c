/* SPDX-License-Identifier: Apache-2.0
 * Reads cgroup files from the process's own group up to the root that is mounted. Knows nothing of
 * benchmarks; any thread. */
#include "runner/machine/cgroup.h"
#include "runner/machine/fact_file.h"
#include <glib.h>
#include <stdlib.h>
#include <string.h>

#define LEVELS_MAX 64 /* of nested groups that are looked at */
#define US_PER_MS  1000.0
#define NS_PER_MS  1000000.0

struct hierarchy {
    bool is_v2;
    char mount[512]; /* its folder */
    char path[1024]; /* of the process's group in it: "" or "/a/b" */
};

/* One line of /proc/self/cgroup: "id:controllers:path"; "0::path" is version 2. */
static bool hierarchy_of_line(const char *root, char *line, struct hierarchy *out)
{
    char *controllers = strchr(line, ':');
    char *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path) {
        return false;
    }
    *path++ = '\0';
    controllers++;
    bool is_v2 = *controllers == '\0';
    g_auto(GStrv) names = g_strsplit(controllers, ",", -1);
    if (!is_v2 && !g_strv_contains((const char *const *)names, "cpu")) {
        return false;
    }
    out->is_v2 = is_v2;
    g_snprintf(out->path, sizeof out->path, "%s", g_str_equal(path, "/") ? "" : path);
    if (is_v2) {
        /* Where version 1 has the main place, version 2 is mounted beside it. */
        g_snprintf(out->mount, sizeof out->mount, "%s/sys/fs/cgroup/unified", root);
        if (!g_file_test(out->mount, G_FILE_TEST_IS_DIR)) {
            g_snprintf(out->mount, sizeof out->mount, "%s/sys/fs/cgroup", root);
        }
        return true;
    }
    g_snprintf(out->mount, sizeof out->mount, "%s/sys/fs/cgroup/%s", root, controllers);
    if (!g_file_test(out->mount, G_FILE_TEST_IS_DIR)) {
        g_snprintf(out->mount, sizeof out->mount, "%s/sys/fs/cgroup/cpu", root);
    }
    return true;
}

/* The hierarchy that governs CPU time: version 1's cpu controller where it is in use, else
 * version 2. */
static bool hierarchy_find(const char *root, struct hierarchy *out)
{
    char text[FACT_FILE_BYTES_MAX];
    g_autofree char *file = g_strconcat(root, "/proc/self/cgroup", NULL);
    if (!fact_file_read(file, text, sizeof text)) {
        return false;
    }
    bool found = false;
    char *rest = text;
    for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
        struct hierarchy candidate;
        if (hierarchy_of_line(root, line, &candidate) && (!found || !candidate.is_v2)) {
            *out = candidate;
            found = true;
        }
    }
    if (found) {
        /* In a container the path may be the host's, while only the container's own group is
         * mounted. */
        g_autofree char *folder = g_strconcat(out->mount, out->path, NULL);
        if (!g_file_test(folder, G_FILE_TEST_IS_DIR)) {
            out->path[0] = '\0';
        }
    }
    return found;
}

/* Cuts the last name off the path; false at the hierarchy's root. */
static bool hierarchy_up(struct hierarchy *hierarchy)
{
    char *slash = strrchr(hierarchy->path, '/');
    if (!slash) {
        return false;
    }
    *slash = '\0';
    return true;
}

static bool group_read(const struct hierarchy *hierarchy, const char *name, char *buffer,
                       size_t size)
{
    g_autofree char *file = g_strconcat(hierarchy->mount, hierarchy->path, "/", name, NULL);
    return fact_file_read(file, buffer, size);
}

/* "150000 100000" is 1.5; "max 100000", "-1 100000" and what is no two numbers are no limit: 0. */
static double quota_of(const char *quota_text, const char *period_text)
{
    char *quota_end, *period_end;
    double quota = g_ascii_strtod(quota_text, &quota_end);
    double period = g_ascii_strtod(period_text ? period_text : quota_end, &period_end);
    bool is_limit = quota_end != quota_text && period_end != quota_end && quota > 0 && period > 0;
    return is_limit ? quota / period : 0;
}

static double group_quota_cpus(const struct hierarchy *hierarchy)
{
    char text[128], period_text[128];
    if (hierarchy->is_v2) {
        return group_read(hierarchy, "cpu.max", text, sizeof text) ? quota_of(text, NULL) : 0;
    }
    bool known = group_read(hierarchy, "cpu.cfs_quota_us", text, sizeof text) &&
                 group_read(hierarchy, "cpu.cfs_period_us", period_text, sizeof period_text);
    return known ? quota_of(text, period_text) : 0;
}

double cgroup_quota_cpus(const char *root)
{
    struct hierarchy hierarchy;
    if (!hierarchy_find(root, &hierarchy)) {
        return 0;
    }
    double tightest = 0;
    for (int level = 0; level < LEVELS_MAX; level++) {
        double quota = group_quota_cpus(&hierarchy);
        if (quota > 0 && (tightest <= 0 || quota < tightest)) {
            tightest = quota;
        }
        if (!hierarchy_up(&hierarchy)) {
            break;
        }
    }
    return tightest;
}

bool cgroup_throttled_ms(const char *root, double *out_ms)
{
    struct hierarchy hierarchy;
    if (!hierarchy_find(root, &hierarchy)) {
        return false;
    }
    bool known = false;
    double sum_ms = 0;
    for (int level = 0; level < LEVELS_MAX; level++) {
        char text[4096];
        uint64_t value;
        if (group_read(&hierarchy, "cpu.stat", text, sizeof text)) {
            if (fact_file_field(text, "throttled_usec", &value)) {
                sum_ms += (double)value / US_PER_MS;
                known = true;
            } else if (fact_file_field(text, "throttled_time", &value)) {
                sum_ms += (double)value / NS_PER_MS;
                known = true;
            }
        }
        if (!hierarchy_up(&hierarchy)) {
            break;
        }
    }
    *out_ms = sum_ms;
    return known;
}
