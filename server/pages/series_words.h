/* SPDX-License-Identifier: Apache-2.0
 * Finding series by words: those whose name, parameters, machine and metric hold all of them,
 * whatever the case (of ASCII). The request's thread. */
#pragma once

#include "server/store/store.h"

#define SERIES_WORDS_MAX 8u /* that are looked at */

/* The words of what was typed; NULL where it has none. Free with g_strfreev. */
char **series_words_of(const char *text);
/* `words` NULL: every series does. */
bool series_words_hold(const struct store_series *series, char *const *words);
