/* SPDX-License-Identifier: Apache-2.0
 * The domain of both programs' errors. Any thread. */
#include "schema/error.h"

G_DEFINE_QUARK(breakeven - error - quark, breakeven_error)
