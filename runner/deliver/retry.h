/* SPDX-License-Identifier: Apache-2.0
 * When to try again, and what an answer means for a document. Pure: numbers in, numbers out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum retry_verdict {
    RETRY_STORED,  /* 2xx: the server has it */
    RETRY_AGAIN,   /* no answer, 408, 425, 429, 5xx: the same again may work later */
    RETRY_REFUSED, /* the document's own fault (400, 409, 410, 413, 422): sending it again is no use
                    */
    RETRY_DENIED   /* any other answer: token, URL or proxy are wrong; the document may be good */
};

/* `status` 0: no answer came. */
enum retry_verdict retry_judge(long status);

/* True where the next document may fare better although this one failed: the server answers, and
 * not that it is busy. */
bool retry_may_skip(long status);

#define RETRY_BASE_MS      500u
#define RETRY_MAX_MS       30000u
#define RETRY_AFTER_MS_MAX 120000u

/* How long to wait after attempt number `attempt` (0: the first): twice as long each time from
 * RETRY_BASE_MS to RETRY_MAX_MS, of which the share `jitter` in [0, 1) of one half is random; at
 * least what Retry-After asks for (seconds; below 0: absent), which is bounded. */
uint32_t retry_delay_ms(unsigned attempt, int64_t retry_after_s, double jitter);
