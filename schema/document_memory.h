/* SPDX-License-Identifier: Apache-2.0
 * Memory for jansson. Where memory runs out, jansson may leave out a byte or a member and go on:
 * what it gives is then not what was sent. Between enter and leave, where the sizes come from
 * input, it is noted that memory ran out; anywhere else that ends the program, as GLib's own
 * allocations do. Any thread; each for itself. Pairs may be nested. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>

void document_memory_enter(void);

/* ERROR_BUSY where memory ran out since the outermost enter: whatever jansson gave is to be thrown
 * away. */
bool document_memory_leave(GError **error);
