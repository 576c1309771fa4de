/* SPDX-License-Identifier: Apache-2.0
 * The kinds of failure that both programs speak of. A GError of this domain carries a message that
 * its reader can act on: it names the thing, what is wrong with it, and what would be right.
 * server/http/problem.c maps a kind to an HTTP status; the runner's main.c maps it to an exit code.
 * No kind knows of either. */
#pragma once

#include <glib.h>

#define BREAKEVEN_ERROR breakeven_error_quark()
GQuark breakeven_error_quark(void);

enum breakeven_error {
    ERROR_SYNTAX,  /* bytes that are not what they claim to be: malformed JSON, bad gzip, bad query
                    */
    ERROR_INVALID, /* well-formed, but breaks a rule of its schema */
    ERROR_UNAUTHORIZED, /* no credentials, or wrong ones */
    ERROR_FORBIDDEN,    /* known, and not allowed */
    ERROR_NOT_FOUND,
    ERROR_CONFLICT,    /* contradicts what is stored */
    ERROR_TOO_LARGE,   /* over a stated maximum */
    ERROR_UNSUPPORTED, /* a media type or coding that is not taken */
    ERROR_BUSY,        /* try again later */
    ERROR_LIMITED,     /* this client has its share already: try again later */
    ERROR_COSTLY,      /* a question that took longer than one may: ask for less */
    ERROR_OVERTAKEN,   /* what was being read went meanwhile: read it again, from the present */
    ERROR_FULL,        /* no room on the disk */
    ERROR_UNAVAILABLE, /* a library, program or service that is needed is not there */
    ERROR_INTERNAL     /* our fault */
};
#define ERROR_KINDS (ERROR_INTERNAL + 1)

/* Whoever is overtaken reads again, at most so often, and before the i-th time (from 0) waits so
 * long: a quarter of a second in all. What is still missing then was not removed: it is damage. */
#define ERROR_OVERTAKEN_REPEATS    8u
#define ERROR_OVERTAKEN_WAIT_US(i) (1000ul << (i))

/* "syntax", "too_large" …: for figures by kind. */
const char *breakeven_error_name(enum breakeven_error kind);
