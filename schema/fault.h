/* SPDX-License-Identifier: Apache-2.0
 * A list of what is wrong with a document: where (JSON Pointer, RFC 6901) and what. Bounded: after
 * FAULTS_MAX entries further ones are counted, not kept. */
#pragma once

#include <glib.h>

#define FAULTS_MAX 50

struct fault {
    char *pointer; /* "/results/3/metrics/real_time/samples/0"; "" is the whole document */
    char *message; /* what is wrong, and what would be right */
};

typedef struct faults {
    GPtrArray *items; /* struct fault * */
    guint found;      /* how many were found, kept or not */
} Faults;

Faults *faults_new(void);
void faults_free(Faults *faults);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Faults, faults_free)

void faults_add(Faults *faults, const char *pointer, const char *format, ...) G_GNUC_PRINTF(3, 4);
