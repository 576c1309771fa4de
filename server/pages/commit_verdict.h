/* SPDX-License-Identifier: Apache-2.0
 * What a commit's measurements say against what held before them, a sentence a machine. "Not judged
 * yet" differs from "nothing found". Reads the store inside the request's snapshot. */
#pragma once

#include "server/work/comparison.h"

#define COMMIT_VERDICTS_MAX 8u /* machines; further ones are counted and said */

struct commit_verdict {
    const struct store_run *run; /* the latest of its machine */
    bool is_waiting;             /* to be judged: then there is no comparison */
    guint n_before;              /* of is_waiting: runs that are judged before it … */
    bool is_bounded;             /* … or more */
    Comparison *comparison;
};

/* Of the runs of one commit (struct store_run *, oldest received first): struct commit_verdict *.
 */
GPtrArray *commit_verdicts_read(StoreSnapshot *snapshot, const GPtrArray *runs, GError **error);
