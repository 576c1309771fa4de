/* SPDX-License-Identifier: Apache-2.0
 * Fills a store with the demonstration's history as uploads would: each run is printed as a
 * document, parsed, validated, stored, and judged by the work thread; then older changes are
 * triaged. The main thread. */
#pragma once

#include "server/demo/demo_history.h"
#include "server/work/work.h"

enum demo_step { DEMO_STORED, DEMO_JUDGED };

/* What has been done so far, of how many; called on the caller's thread. False: enough, stop. */
typedef bool (*demo_progress_fn)(enum demo_step step, guint n_done, guint n_all, void *user);

struct demo_fill {
    Store *store;
    Work *work;
    struct demo_options options;
    demo_progress_fn progress;
    void *user;
};

/* Returns when all of it is judged. False with the store's or a document's error, or ERROR_BUSY
 * where it was stopped. */
bool demo_fill(const struct demo_fill *fill, GError **error);
