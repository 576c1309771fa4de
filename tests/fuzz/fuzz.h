/* SPDX-License-Identifier: Apache-2.0
 * libFuzzer's contract, and how a target says that a promise was broken: it aborts. */
#pragma once

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* 0 for any input. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define check(holds) ((holds) ? (void)0 : check_failed(__FILE__, __LINE__, #holds))
_Noreturn static inline void check_failed(const char *file, int line, const char *promise)
{
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, promise);
    abort();
}

/* An error is there where it failed, and only there, and can be shown. */
static inline void check_error(bool failed, const GError *error)
{
    check(failed == (error != NULL));
    check(!error || (*error->message && g_utf8_validate(error->message, -1, NULL)));
}
