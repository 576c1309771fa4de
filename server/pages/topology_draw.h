/* SPDX-License-Identifier: Apache-2.0
 * A topology as nested boxes, and the same in words: objects that differ in their numbers only are
 * told once, with how many there are; boxes do the same from TOPOLOGY_DRAW_ALL on. Pure; any
 * thread. */
#pragma once

#include "server/pages/html.h"
#include "server/pages/topology_tree.h"

#define TOPOLOGY_DRAW_ALL 600u  /* objects that are all drawn */
#define TOPOLOGY_DRAW_MAX 1500u /* boxes, whatever they are */

/* The boxes as one picture whose name is the sentence. */
void topology_draw_boxes(Html *html, const TopologyTree *tree);

/* Indented lines: "2 × Package: …", "  4 × L3 32 MiB". */
void topology_draw_lines(Html *html, const TopologyTree *tree);
