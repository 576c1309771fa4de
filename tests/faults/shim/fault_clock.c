/* SPDX-License-Identifier: Apache-2.0
 * A wall clock that jumps: preloaded into a program, it adds seconds to what the program is told
 * of the time of day (fault_control.h), and leaves the monotonic clock alone, as a machine's does
 * whose clock is set. Only for tests. Any thread. */
#include "fault_control.h"
#include <dlfcn.h>
#include <sys/time.h>
#include <time.h>

static struct fault_control *control;

__attribute__((constructor)) static void prepare(void)
{
    control = fault_control_map();
}

static int64_t offset_s(void)
{
    return control ? atomic_load(&control->offset_s) : 0;
}

int clock_gettime(clockid_t clock, struct timespec *out)
{
    static int (*real)(clockid_t, struct timespec *);
    if (!real)
        real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int code = real(clock, out);
    if (code == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE))
        out->tv_sec += offset_s();
    return code;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone)
{
    static int (*real)(struct timeval *, void *);
    if (!real)
        real = (int (*)(struct timeval *, void *))dlsym(RTLD_NEXT, "gettimeofday");
    int code = real(out, zone);
    if (code == 0)
        out->tv_sec += offset_s();
    return code;
}

time_t time(time_t *out)
{
    static time_t (*real)(time_t *);
    if (!real)
        real = (time_t(*)(time_t *))dlsym(RTLD_NEXT, "time");
    time_t now = real(NULL) + offset_s();
    if (out)
        *out = now;
    return now;
}
