/* SPDX-License-Identifier: Apache-2.0
 * SIGINT and SIGTERM: the child that measures is killed, the command winds up by itself and exits
 * 130. */
#pragma once

#include <stdbool.h>

void interrupt_install(
    void); /* once, by main(); also ignores SIGPIPE: a reader that is gone is an error of a write */
bool interrupt_requested(void); /* async-signal-safe; any thread */
