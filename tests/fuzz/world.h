/* SPDX-License-Identifier: Apache-2.0
 * A store for fuzz targets, with all that reads it: a project of two machines, ten commits, a
 * change and an annotation, whose names are full of markup, formulas and what else its readers take
 * for their own. It is filled by requests (exchange.h), and lasts until the program ends. One
 * thread, beside the store's and the analysis' own. */
#pragma once

#include "tests/fuzz/exchange.h"

/* The first call makes it. */
HttpServer *world_server(void);
/* Its folder, and the path of the store in it. */
const char *world_folder(void);
const char *world_store(void);
/* Asks, and is answered so. */
void world_must(const char *request, unsigned status);
