/* SPDX-License-Identifier: Apache-2.0
 * Exponential back-off with "equal jitter": half of the wait is fixed, half random, so that clients
 * that failed together do not come back together. Pure; any thread. */
#include "runner/deliver/retry.h"

#include <glib.h>

enum retry_verdict retry_judge(long status)
{
    if (status >= 200 && status < 300)
        return RETRY_STORED;
    if (status == 0 || status == 408 || status == 425 || status == 429 ||
        (status >= 500 && status < 600))
        return RETRY_AGAIN;
    if (status == 400 || status == 409 || status == 410 || status == 413 || status == 422)
        return RETRY_REFUSED;
    return RETRY_DENIED;
}

bool retry_may_skip(long status)
{
    return status == 500;
}

uint32_t retry_delay_ms(unsigned attempt, int64_t retry_after_s, double jitter)
{
    uint32_t whole = attempt >= 16 ? RETRY_MAX_MS : MIN(RETRY_BASE_MS << attempt, RETRY_MAX_MS);
    uint32_t half = whole / 2;
    uint32_t delay = half + (uint32_t)(jitter * (whole - half));
    if (retry_after_s <= 0)
        return delay;
    uint32_t asked = retry_after_s >= RETRY_AFTER_MS_MAX / 1000 ? RETRY_AFTER_MS_MAX
                                                                : (uint32_t)retry_after_s * 1000;
    return MAX(delay, asked);
}
