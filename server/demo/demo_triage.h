/* SPDX-License-Identifier: Apache-2.0
 * What people would have said of the demonstration's older changes by now, so that its inbox holds
 * both what waits and what was dealt with. The main thread. */
#pragma once

#include "server/store/store_changes.h"

/* Array of struct store_triage_write *, which the caller takes one by one; NULL with an error. */
GPtrArray *demo_triage_writes(StoreSnapshot *snapshot, GError **error);
