/* SPDX-License-Identifier: Apache-2.0
 * See chart_theme.h. The colours are those of web/style.css. */
#include "server/pages/chart_theme.h"

#include <glib.h>

#define DARK                                                                                       \
    ".ground,.hollow,.number{fill:#161b22}.grid{stroke:#252d38}.axis,.gaps{stroke:#6d7889}"        \
    "text{fill:#e4e8ee}.tick{fill:#9ba6b6}.change{stroke:#f0b566}"                                 \
    ".worse,.worse text{fill:#ff9c85}.worse{stroke:#ff9c85}"                                       \
    ".better,.better text{fill:#5fd6a6}.better{stroke:#5fd6a6}"                                    \
    ".moved,.moved text{fill:#9ba6b6}.moved{stroke:#9ba6b6}"                                       \
    ".annotation{fill:#b9a3f0;stroke:#b9a3f0}text.number{fill:#161b22}"                            \
    ".s0{fill:#5cb3ee;stroke:#5cb3ee}.s1{fill:#ff8f4d;stroke:#ff8f4d}"                             \
    ".s2{fill:#36c495;stroke:#36c495}.s3{fill:#e58bc3;stroke:#e58bc3}"                             \
    ".s4{fill:#e0b040;stroke:#e0b040}.s5{fill:#a69bff;stroke:#a69bff}"                             \
    ".s6{fill:#7fd0e8;stroke:#7fd0e8}.s7{fill:#b6bfcc;stroke:#b6bfcc}"

#define PAGE                                                                                       \
    "body{margin:0;background:#fff;color:#18202b;font:14px/1.5 system-ui,sans-serif}"              \
    "h1{margin:6px 8px "                                                                           \
    "0;font-size:15px;overflow-wrap:anywhere}small{font-weight:400}p{margin:8px}"                  \
    "a{color:#0b5a9e}svg{display:block;width:100%;height:auto}"
#define PAGE_DARK "body{background:#161b22;color:#e4e8ee}a{color:#74b5f5}"

#define WHERE_DARK(rules) "@media (prefers-color-scheme:dark){" rules "}"

bool chart_theme_parse(const char *word, enum chart_theme *out)
{
    static const char *const words[] = {"light", "dark", "auto"};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        if (g_strcmp0(words[i], word) == 0) {
            *out = (enum chart_theme)i;
            return true;
        }
    }
    return false;
}

const char *chart_theme_style(enum chart_theme theme)
{
    static const char *const styles[] = {NULL, DARK, WHERE_DARK(DARK)};
    return styles[theme];
}

const char *chart_theme_page_style(enum chart_theme theme)
{
    static const char *const styles[] = {PAGE, PAGE PAGE_DARK DARK,
                                         PAGE WHERE_DARK(PAGE_DARK DARK)};
    return styles[theme];
}
