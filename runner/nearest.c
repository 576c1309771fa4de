/* SPDX-License-Identifier: Apache-2.0
 * Edit distance over short names (restricted Damerau–Levenshtein: a swap of neighbours is one
 * error). Pure; any thread. */
#include "runner/nearest.h"

#include <string.h>

#define NEAREST_BYTES_MAX        64u
#define NEAREST_PREFIX_BYTES_MIN 3u

static guint edit_distance(const char *a, gsize a_length, const char *b, gsize b_length)
{
    guint rows[3][NEAREST_BYTES_MAX + 1];
    guint *before = rows[0], *above = rows[1], *row = rows[2];
    for (guint j = 0; j <= b_length; j++)
        above[j] = j;
    memcpy(before, above, sizeof(rows[0]));
    for (guint i = 1; i <= a_length; i++) {
        row[0] = i;
        for (guint j = 1; j <= b_length; j++) {
            guint change = a[i - 1] == b[j - 1] ? 0 : 1;
            row[j] = MIN(MIN(above[j] + 1, row[j - 1] + 1), above[j - 1] + change);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = MIN(row[j], before[j - 2] + 1);
        }
        guint *oldest = before;
        before = above;
        above = row;
        row = oldest;
    }
    return above[b_length];
}

/* The first name that begins with the word: --token for --token-file. */
static const char *name_begun(const char *folded, const char *const *names, gsize n)
{
    gsize length = strlen(folded);
    for (gsize i = 0; i < n && length >= NEAREST_PREFIX_BYTES_MIN; i++)
        if (g_ascii_strncasecmp(names[i], folded, length) == 0)
            return names[i];
    return NULL;
}

const char *nearest_name(const char *word, const char *const *names, gsize n)
{
    g_autofree char *folded = g_ascii_strdown(word, -1);
    gsize length = strlen(folded);
    if (length == 0 || length > NEAREST_BYTES_MAX)
        return NULL;
    const char *nearest = NULL;
    guint least = (guint)length / 3 + 1;
    for (gsize i = 0; i < n; i++) {
        g_autofree char *name = g_ascii_strdown(names[i], -1);
        gsize name_length = strlen(name);
        if (name_length > NEAREST_BYTES_MAX)
            continue;
        guint distance = edit_distance(folded, length, name, name_length);
        if (distance <= least && (!nearest || distance < least)) {
            nearest = names[i];
            least = distance;
        }
    }
    return nearest ? nearest : name_begun(folded, names, n);
}

char *nearest_hint(const char *word, const char *const *names, gsize n, const char *prefix)
{
    const char *nearest = nearest_name(word, names, n);
    return nearest ? g_strdup_printf("; did you mean %s%s?", prefix, nearest) : g_strdup("");
}
