/* SPDX-License-Identifier: Apache-2.0
 * A function run in a forked child, for code that is not to be trusted: a crash, a hang or an exit
 * is a result. The child leads a process group of its own, which is killed whole at the end; it
 * dies with its parent, writes no core file, and what it prints is kept. Knows no executor. The
 * caller's process must have one thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define FORKED_ANSWER_BYTES_MAX 65536u
#define FORKED_TAIL_BYTES       1024u

enum forked_end { FORKED_RETURNED, FORKED_EXITED, FORKED_KILLED, FORKED_TIMED_OUT };

typedef struct forked {
    enum forked_end end;
    int code;        /* exit status, or the signal's number */
    GString *answer; /* what the function added; empty unless it returned */
    char *tail;      /* one line: the last of what the child printed */
} Forked;

/* Runs `body(context, answer)` in a child; NULL with an error where there could be none. */
Forked *forked_run(void (*body)(void *context, GString *answer), void *context, guint timeout_ms,
                   GError **error);
void forked_free(Forked *forked);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Forked, forked_free)

/* "crashed: SIGSEGV (Segmentation fault); it said: …"; NULL where it returned. */
char *forked_describe_end(const Forked *forked, guint timeout_ms);
