/* SPDX-License-Identifier: Apache-2.0
 * What other resources need of a series. */
#pragma once

#include "server/api/api_write.h"

/* The series as an object: who it is, where its points are. `key` as in json_writer.h. */
void api_series_write(struct json_writer *writer, const char *key,
                      const struct store_series *series);

/* The page that draws it, with its parameters, machine and metric chosen. */
char *api_series_page(const struct store_series *series);
