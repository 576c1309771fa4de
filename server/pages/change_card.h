/* SPDX-License-Identifier: Apache-2.0
 * A group of changes as the inbox shows it: what moved and where, then a row a change. Inside the
 * request's snapshot, on its thread. */
#pragma once

#include "server/pages/layout.h"
#include "server/work/change_groups.h"

#define CHANGE_CARD_ROWS_OPEN 8u    /* further rows are folded */
#define CHANGE_CARD_ROWS_MAX  1000u /* further ones are counted and said */

/* `back`: the query of the page, where the group's form leads back to. */
void change_card_write(Html *html, StoreSnapshot *snapshot, const struct store_project *project,
                       const struct change_group *group, const char *back);

/* "confirmed", "muted", "acknowledged by … : note" as tags. */
void change_card_status(Html *html, const struct store_series *series,
                        const struct store_change *change);
void change_card_triage(Html *html, const struct store_change *change);

/* -1 "▼ worse", +1 "▲ better", 0 "moved". */
const char *change_card_word(int direction);
