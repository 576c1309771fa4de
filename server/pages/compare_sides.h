/* SPDX-License-Identifier: Apache-2.0
 * The form that says what is compared: two sides or three, typed or chosen. The request's thread,
 * inside its snapshot. */
#pragma once

#include "server/pages/layout.h"

/* `sides`: what stands in the three fields, each may be NULL. */
void compare_sides_write(Html *html, StoreSnapshot *snapshot, const struct store_project *project,
                         const char *const sides[3]);
