/* SPDX-License-Identifier: Apache-2.0
 * The look of a drawing that stands outside this server's pages: light as its attributes say, dark,
 * or as the one who looks prefers. Pure; any thread. */
#pragma once

#include <stdbool.h>

enum chart_theme { CHART_THEME_LIGHT, CHART_THEME_DARK, CHART_THEME_AUTO };

/* "light", "dark", "auto". */
bool chart_theme_parse(const char *word, enum chart_theme *out);

/* The style sheet of the drawing, of the program itself; NULL: it needs none. */
const char *chart_theme_style(enum chart_theme theme);
/* The same for a page that holds nothing but a drawing and a line of text. */
const char *chart_theme_page_style(enum chart_theme theme);
