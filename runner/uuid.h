/* SPDX-License-Identifier: Apache-2.0
 * UUID version 7 (RFC 9562, section 5.7): 48 bits of milliseconds since 1970, then random bits:
 * sorts by the time it was made. */
#pragma once

#include "schema/error.h"
#include <stdint.h>

/* Lower-case with hyphens; random bits from getrandom(2). NULL with ERROR_INTERNAL where the kernel
 * has none. */
char *uuid_new_v7(int64_t time_ms, GError **error);
