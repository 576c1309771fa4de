/* SPDX-License-Identifier: Apache-2.0
 * A list of named facts on its way to canonical JSON: sorted keys, no spaces. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define FACT_TEXT_BYTES_MAX 250u /* longer ones are cut, at a character */

typedef struct facts {
    GPtrArray *items;
} Facts;

Facts *facts_new(void);
void facts_free(Facts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Facts, facts_free)

/* What is not known (NULL or "") is left out. A name is given once. */
void facts_add_text(Facts *facts, const char *name, const char *text);
void facts_add_number(Facts *facts, const char *name, double number);
void facts_add_bool(Facts *facts, const char *name, bool value);

char *facts_print(const Facts *facts);
