/* SPDX-License-Identifier: Apache-2.0
 * The name somebody probably meant: the nearest of a list by edit distance or by its beginning, for
 * messages. Pure. */
#pragma once

#include <glib.h>

/* The entry of `names` (n of them) that is nearest to `word`, or NULL where none is near: at most a
 * third of its letters wrong; else one that begins with it. */
const char *nearest_name(const char *word, const char *const *names, gsize n);

/* "; did you mean --executor?" or "": what to append to a message. */
char *nearest_hint(const char *word, const char *const *names, gsize n, const char *prefix);
