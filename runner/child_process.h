/* SPDX-License-Identifier: Apache-2.0
 * A child process in a group of its own: started, read, timed out, killed with its group, and what
 * it used. It knows nothing of what it runs. In the thread that measures; one at a time in a
 * program. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

#define CHILD_TAIL_BYTES 1024u

enum child_stream {
    CHILD_DROP, /* to /dev/null */
    CHILD_PASS, /* this program's own */
    CHILD_KEEP, /* into `bytes` */
    CHILD_TAIL  /* its end into `tail` */
};

struct child_request {
    const char *const *arguments; /* NULL-terminated; the first is the program, looked up in PATH
                                     where it holds no slash */
    enum child_stream out, err;   /* its standard input is empty */
    int kept_fd;          /* a further descriptor of the child that goes into `bytes`; 0: none */
    gsize kept_bytes_max; /* what is beyond is read and dropped */
    uint32_t timeout_seconds; /* 0: none */
};

enum child_end { CHILD_EXITED, CHILD_KILLED, CHILD_TIMED_OUT };

typedef struct child_outcome {
    enum child_end end;
    int code;          /* exit status, or the signal's number */
    GByteArray *bytes; /* never NULL */
    GString *tail;     /* the last CHILD_TAIL_BYTES; never NULL */
    uint64_t wall_ns;  /* from before it was started until its end was seen */
    uint64_t user_ns, system_ns, peak_rss_bytes; /* of it and the children that it waited for */
} ChildOutcome;

void child_outcome_free(ChildOutcome *outcome);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ChildOutcome, child_outcome_free)

/* Returns when the process and its group are gone. NULL with ERROR_UNAVAILABLE where it could not
 * be started. */
ChildOutcome *child_run(const struct child_request *request, GError **error);

/* "killed by SIGSEGV (Segmentation fault)", "ended with exit status 3", "no answer within 5 s: it
 * hangs, or needs more time"; NULL where it exited with 0. */
char *child_describe_end(const ChildOutcome *outcome, uint32_t timeout_seconds);

/* The tail as one line of printable UTF-8, whatever a crashing process wrote. */
char *child_tail_line(const ChildOutcome *outcome);

/* Kills the child that is running, if any: for signal handlers. */
void child_interrupt(void);
