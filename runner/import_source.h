/* SPDX-License-Identifier: Apache-2.0
 * Histories that another system kept, taken apart into runs: what stands in folders and files, one
 * run after the other. It posts nothing. Main thread. */
#pragma once

#include "schema/error.h"
#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* The results of one run. */
struct import_item {
    const char *name;     /* for messages: the file, or the commit in it */
    const GString *bytes; /* in the source's format */
    const char *hint;     /* a file's name that may hold the commit's id; NULL: the bytes say it */
    int64_t time_ms;      /* of the file */
};

/* False with an error: ends the whole import. */
typedef bool (*import_item_fn)(const struct import_item *item, void *user, GError **error);

struct import_source {
    const char *name;        /* as in --from */
    const char *format;      /* of schema/formats; NULL: the server takes the file as it is */
    const char *description; /* what PATH is */
    /* Gives each item of a path, in a steady order. */
    bool (*each)(const char *path, import_item_fn take, void *user, GError **error);
};

extern const struct import_source import_sources[]; /* ends with a row whose name is NULL */

/* The source of that name; NULL with an error that names the nearest. */
const struct import_source *import_source_find(const char *name, GError **error);

/* Codespeed's tables, as its manage.py dumpdata writes them: a run for each revision, branch and
 * environment, oldest first. */
bool import_codespeed_each(const char *path, import_item_fn take, void *user, GError **error);

/* A whole file of at most IMPORT_FILE_BYTES_MAX; ERROR_INVALID, ERROR_TOO_LARGE. */
#define IMPORT_FILE_BYTES_MAX ((gsize)1 << 30)
GString *import_read_file(const char *path, gsize bytes_max, int64_t *out_time_ms, GError **error);
