/* SPDX-License-Identifier: Apache-2.0
 * See series_words.h. */
#include "server/pages/series_words.h"

#include <string.h>

char **series_words_of(const char *text)
{
    if (!text || !text[strspn(text, " ")])
        return NULL;
    g_autofree char *lower = g_ascii_strdown(text, -1);
    return g_strsplit(lower, " ", 0);
}

/* All that names a series, in lower case. */
static void describe(const struct store_series *series, GString *text)
{
    g_string_assign(text, series->benchmark->name);
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param = (const struct run_param *)series->params->pdata[i];
        g_string_append_printf(text, " %s=%s", param->name, param->value);
    }
    g_string_append_printf(text, " %s %s", series->machine->name, series->metric);
    for (gsize i = 0; i < text->len; i++)
        text->str[i] = g_ascii_tolower(text->str[i]);
}

bool series_words_hold(const struct store_series *series, char *const *words)
{
    if (!words)
        return true;
    g_autoptr(GString) text = g_string_new(NULL);
    describe(series, text);
    for (guint i = 0; words[i] && i < SERIES_WORDS_MAX; i++) {
        if (!strstr(text->str, words[i]))
            return false;
    }
    return true;
}
