/* SPDX-License-Identifier: Apache-2.0
 * Readings of the kernel's accounts around a sample. Knows no benchmark; runs in the measuring
 * thread, outside timed regions. */
#include "runner/sample/noise.h"
#include "runner/machine/cgroup.h"
#include "runner/machine/fact_file.h"
#include "runner/sample/clock.h"
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STAT_LINE_BYTES 512 /* the first line alone is of interest */
#define STAT_LINE_START "cpu "
#define NS_PER_S        1e9
#define US_PER_S        1e6
#define MS_PER_S        1e3

bool noise_parse_pressure(const char *text, double *out_ms)
{
    const char *line_end = strchr(text, '\n'), *total = strstr(text, " total=");
    if (strncmp(text, "some ", strlen("some ")) != 0 || !total || (line_end && total > line_end)) {
        return false;
    }
    char *end;
    const char *digits = total + strlen(" total=");
    uint64_t total_us = strtoull(digits, &end, 10);
    *out_ms = (double)total_us / (US_PER_S / MS_PER_S);
    return end != digits;
}

bool noise_read_pressure(double *out_ms)
{
    char text[STAT_LINE_BYTES];
    return fact_file_read("/proc/pressure/cpu", text, sizeof text) &&
           noise_parse_pressure(text, out_ms);
}

bool noise_parse_stat(const char *text, uint64_t *out_busy_ticks, uint64_t *out_steal_ticks)
{
    enum { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, FIELDS };
    uint64_t ticks[FIELDS];
    if (strncmp(text, STAT_LINE_START, strlen(STAT_LINE_START)) != 0) {
        return false;
    }
    const char *rest = text + strlen(STAT_LINE_START);
    for (int field = 0; field < FIELDS; field++) {
        char *end;
        while (*rest == ' ') {
            rest++;
        }
        ticks[field] = strtoull(rest, &end, 10);
        if (*rest < '0' || *rest > '9') {
            return false;
        }
        rest = end;
    }
    *out_busy_ticks = ticks[USER] + ticks[NICE] + ticks[SYSTEM] + ticks[IRQ] + ticks[SOFTIRQ];
    *out_steal_ticks = ticks[STEAL];
    return true;
}

static double timeval_s(const struct timeval *time)
{
    return (double)time->tv_sec + (double)time->tv_usec / US_PER_S;
}

void noise_read(struct noise_reading *out)
{
    *out = (struct noise_reading){.wall_ns = clock_wall_ns()};
    char text[STAT_LINE_BYTES];
    uint64_t busy_ticks, steal_ticks;
    long ticks_per_s = sysconf(_SC_CLK_TCK);
    if (ticks_per_s > 0 && fact_file_read("/proc/stat", text, sizeof text) &&
        noise_parse_stat(text, &busy_ticks, &steal_ticks)) {
        out->has_stat = true;
        out->busy_s = (double)busy_ticks / (double)ticks_per_s;
        out->steal_s = (double)steal_ticks / (double)ticks_per_s;
    }
    struct rusage usage = {0}, children = {0};
    getrusage(RUSAGE_SELF, &usage);
    getrusage(RUSAGE_CHILDREN, &children);
    out->own_user_s = timeval_s(&usage.ru_utime) + timeval_s(&children.ru_utime);
    out->own_system_s = timeval_s(&usage.ru_stime) + timeval_s(&children.ru_stime);
    out->voluntary = usage.ru_nvcsw + children.ru_nvcsw;
    out->involuntary = usage.ru_nivcsw + children.ru_nivcsw;
    out->has_throttled = cgroup_throttled_ms("", &out->throttled_ms);
}

void noise_between(const struct noise_reading *before, const struct noise_reading *after,
                   struct noise *out)
{
    *out = (struct noise){
        .voluntary_switches = (double)(after->voluntary - before->voluntary),
        .involuntary_switches = (double)(after->involuntary - before->involuntary),
        .user_cpu_ms = (after->own_user_s - before->own_user_s) * MS_PER_S,
        .system_cpu_ms = (after->own_system_s - before->own_system_s) * MS_PER_S,
    };
    double wall_s = (double)(after->wall_ns - before->wall_ns) / NS_PER_S;
    if (before->has_stat && after->has_stat && wall_s > 0) {
        double foreign_s =
            after->busy_s - before->busy_s - (out->user_cpu_ms + out->system_cpu_ms) / MS_PER_S;
        double steal_s = after->steal_s - before->steal_s;
        out->has_foreign = true;
        out->foreign_cpus = foreign_s > 0 ? foreign_s / wall_s : 0;
        out->has_steal = true;
        out->steal_cpus = steal_s > 0 ? steal_s / wall_s : 0;
    }
    if (before->has_throttled && after->has_throttled) {
        out->has_throttled = true;
        out->throttled_ms = after->throttled_ms - before->throttled_ms;
    }
}
