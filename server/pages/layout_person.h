/* SPDX-License-Identifier: Apache-2.0
 * Of layout.h: the corner of a page's head that says who is signed in. The request's thread. */
#pragma once

#include "server/pages/html.h"

/* Filled by layout_finish. */
void layout_person(Html *html);
