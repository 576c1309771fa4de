/* SPDX-License-Identifier: Apache-2.0
 * A badge: a name and what is said of it, as an SVG of at most BADGE_BYTES_MAX whatever the texts
 * are, without a font of its own. Pure; any thread. */
#pragma once

#include "server/pages/html.h"

#define BADGE_BYTES_MAX  1024u
#define BADGE_NAME_CHARS 24 /* of the name that are shown */
#define BADGE_SAYS_CHARS 40

enum badge_tone { BADGE_UNKNOWN, BADGE_STEADY, BADGE_WORSE, BADGE_BETTER };

void badge_write(Html *html, const char *name, const char *says, enum badge_tone tone);
