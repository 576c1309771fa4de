/* SPDX-License-Identifier: Apache-2.0
 * What fails of a comparison as commands of GitHub Actions, "::error title=…::…", one a line. The
 * message is escaped as its toolkit does: a name can start no command of its own. Pure text; any
 * thread. */
#pragma once

#include <glib.h>
#include <jansson.h>

#define ANNOTATIONS_MAX 10u /* GitHub shows no more errors of a step */

/* Worst first; beyond ANNOTATIONS_MAX the last one counts the others. */
GString *annotations_draw(const json_t *comparison);
