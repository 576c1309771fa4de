/* SPDX-License-Identifier: Apache-2.0
 * The handler does two async-signal-safe things: it kills the child's group and notes that it was
 * asked to stop. */
#include "runner/interrupt.h"

#include "runner/cell.h"
#include <signal.h>

static volatile sig_atomic_t requested;

static void on_signal(int number)
{
    (void)number;
    requested = 1;
    cell_interrupt();
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigemptyset(&ignore.sa_mask);
    sigaction(SIGPIPE, &ignore, NULL);
}

bool interrupt_requested(void)
{
    return requested != 0;
}
