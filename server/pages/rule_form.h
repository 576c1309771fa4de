/* SPDX-License-Identifier: Apache-2.0
 * One rule as the fields of a form: read from what was sent, filled from a rule, written. The same
 * form tries a rule (GET, nothing is saved) and saves it (POST); it works without script. Pure but
 * for what it writes; the request's thread. */
#pragma once

#include "schema/rules.h"
#include "server/pages/layout.h"

enum rule_field {
    RULE_FIELD_BENCH,
    RULE_FIELD_PARAMS,
    RULE_FIELD_MACHINE,
    RULE_FIELD_METRIC,
    RULE_FIELD_LEAST,
    RULE_FIELD_ABSOLUTE,
    RULE_FIELD_MUTED,
    RULE_FIELD_BETTER,
    RULE_FIELD_NOTE,
    RULE_FIELDS
};

struct rule_form {
    char *text[RULE_FIELDS]; /* as it was sent; never NULL once read or filled */
    int place;               /* in the list; -1: a new rule */
};
void rule_form_clear(struct rule_form *form);

/* From the fields of a query or of a form (struct http_pair *). */
void rule_form_read(struct rule_form *form, const GPtrArray *pairs);
void rule_form_fill(struct rule_form *form, const struct rule *rule, int place);

/* NULL with ERROR_INVALID that names the field and what would be right. */
struct rule *rule_form_rule(const struct rule_form *form, GError **error);

/* The present rules with this one in its place, or after the last: what would be saved. Takes
 * `rule`; NULL: the one in its place is left out. */
GPtrArray *rule_form_list(const struct rule_form *form, const GPtrArray *present,
                          struct rule *rule);

/* `base`: what names the present rules (page_rules.c). */
void rule_form_write(Html *html, const struct rule_form *form, const struct store_project *project,
                     const char *base, guint commits);
