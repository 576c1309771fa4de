/* SPDX-License-Identifier: Apache-2.0
 * The domain of both programs' errors. Any thread. */
#include "schema/error.h"

/* As G_DEFINE_QUARK, whose first calls on two threads are a data race. */
GQuark breakeven_error_quark(void)
{
    static _Atomic GQuark quark;

    if (!quark)
        quark = g_quark_from_static_string("breakeven-error-quark");
    return quark;
}

const char *breakeven_error_name(enum breakeven_error kind)
{
    static const char *const names[ERROR_KINDS] = {
        [ERROR_SYNTAX] = "syntax",
        [ERROR_INVALID] = "invalid",
        [ERROR_UNAUTHORIZED] = "unauthorized",
        [ERROR_FORBIDDEN] = "forbidden",
        [ERROR_NOT_FOUND] = "not_found",
        [ERROR_CONFLICT] = "conflict",
        [ERROR_TOO_LARGE] = "too_large",
        [ERROR_UNSUPPORTED] = "unsupported",
        [ERROR_BUSY] = "busy",
        [ERROR_LIMITED] = "limited",
        [ERROR_COSTLY] = "costly",
        [ERROR_OVERTAKEN] = "overtaken",
        [ERROR_FULL] = "full",
        [ERROR_UNAVAILABLE] = "unavailable",
        [ERROR_INTERNAL] = "internal",
    };
    return names[kind];
}
