/* SPDX-License-Identifier: Apache-2.0
 * `breakeven-server token create|list|revoke`: who may do what, by the store's file, also while a
 * server has it open. Prints nothing. The main thread. */
#pragma once

#include "schema/error.h"

/* What is to be printed on stdout; NULL with the error. A new token is in it once and nowhere else.
 */
char *token_command_text(int argc, char **argv, GError **error);
