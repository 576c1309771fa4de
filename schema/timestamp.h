/* SPDX-License-Identifier: Apache-2.0
 * RFC 3339 both ways. Input takes any offset, and seconds with or without a fraction; output is
 * always UTC with Z. Years 1970 to 9999. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>
#include <stdint.h>

bool timestamp_parse_ms(const char *text, int64_t *out_ms, GError **error);
char *timestamp_format_ms(
    int64_t time_ms); /* 2026-11-30T23:17:45.123Z; the fraction only where it is not zero */
char *timestamp_format_s(int64_t time_s); /* 2026-11-30T23:17:45Z */
