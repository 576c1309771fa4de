/* SPDX-License-Identifier: Apache-2.0
 * What to paste elsewhere to show something of this server: a badge in Markdown, a chart as a frame
 * or a picture. One folded element. The request's thread. */
#pragma once

#include "server/pages/layout.h"

struct share {
    const char *name; /* of what is shown */
    const char *page; /* paths below this server; NULL: there is none */
    const char *badge;
    const char *embed;
    const char *picture;
};

void share_write(Html *html, const HttpRequest *request, const struct share *share);

/* "/badge/{project}.svg", with a benchmark "/badge/{project}/{bench}.svg". The caller frees it. */
char *share_badge_path(const char *project, const char *bench);
