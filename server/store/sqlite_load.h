/* SPDX-License-Identifier: Apache-2.0
 * Fills the catalogue from the file, once, before the writer starts. Reads whole tables on purpose;
 * but no points: series are counted from tallies and the directories of the runs since. */
#pragma once

#include "server/store/catalogue.h"

bool sqlite_load(const char *path, Catalogue *catalogue, GError **error);
