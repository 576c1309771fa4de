/* SPDX-License-Identifier: Apache-2.0
 * What several resources write the same way: times, addresses, parameters. Knows no request; one
 * thread at a time. */
#pragma once

#include "server/http/csv_writer.h"
#include "server/http/json_writer.h"
#include "server/store/store.h"

/* Literal, encoded, literal, encoded, … NULL: api_write_address("/p/", project, "/c/", sha, NULL).
 * Relative to the server's origin. */
char *api_write_address(const char *literal, ...) G_GNUC_NULL_TERMINATED;

void api_write_time_ms(struct json_writer *writer, const char *key,
                       int64_t time_ms); /* RFC 3339; null where 0 */
void api_write_time_s(struct json_writer *writer, const char *key, bool known, int64_t time_s);
void api_write_taken(struct json_writer *writer, const char *key,
                     char *text); /* a string, then frees it */
void api_write_id(struct json_writer *writer, const char *key,
                  int64_t id); /* ids are opaque strings */
void api_write_strings(struct json_writer *writer, const char *key,
                       const GPtrArray *texts); /* char *; NULL: [] */

/* A parameter's value as in canonical parameter text: numbers, true and false bare, all else
 * quoted. */
void api_write_param_value(struct json_writer *writer, const char *key, const char *value);

void api_write_csv_time_ms(struct csv_writer *writer, int64_t time_ms);
void api_write_csv_time_s(struct csv_writer *writer, bool known, int64_t time_s);
