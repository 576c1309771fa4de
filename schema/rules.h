/* SPDX-License-Identifier: Apache-2.0
 * What people want to be told of: a project's list of rules. A rule says which series it speaks of
 * (series_pattern.h) and gives some settings. Of each setting that several rules give for one
 * series, the most specific rule's holds; of equally specific ones, the later in the list. As JSON:
 *
 *     [{"bench": "ThreadPool*", "params": {"threads": 4}, "machine": "ci-7", "metric": "real_time",
 *       "least_effect": 0.05, "least_effect_absolute": 2, "muted": true, "better": "lower",
 *       "note": "why"}]
 *
 * Pure data; any thread. */
#pragma once

#include "schema/series_pattern.h"

#define RULES_MAX                  500u
#define RULES_LEAST_EFFECT_DEFAULT 0.02
#define RULES_LEAST_EFFECT_MAX     10.0 /* a share: eleven times as much */
#define RULES_NOTE_BYTES_MAX       1024u

enum rule_setting {
    RULE_LEAST_EFFECT = 1,
    RULE_LEAST_EFFECT_ABSOLUTE = 2,
    RULE_MUTED = 4,
    RULE_BETTER = 8
};

struct rule {
    struct series_pattern pattern;
    guint gives;                  /* of enum rule_setting; never 0 */
    double least_effect;          /* a share: 0.05 is 5 % */
    double least_effect_absolute; /* in the metric's unit */
    bool muted;                   /* judged, but never told */
    enum better better;           /* BETTER_UNKNOWN: no direction, so no verdict */
    char *note;                   /* or NULL */
};
struct rule *rule_new(void); /* its pattern is initialised */
void rule_free(struct rule *rule);
typedef struct rule Rule;
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rule, rule_free)

/* What holds of one series. A move matters from both leasts on. */
struct rule_settings {
    double least_effect, least_effect_absolute;
    bool muted;
    bool has_better; /* `better` replaces what the metric says of itself */
    enum better better;
};
extern const struct rule_settings rule_settings_default; /* without any rule */
bool rule_settings_equal(const struct rule_settings *a, const struct rule_settings *b);

/* `rules` (struct rule *) may be NULL. */
struct rule_settings rules_resolve(const GPtrArray *rules, const struct series_names *names);

GPtrArray *rules_new(void); /* of struct rule *, which it owns */

/* NULL: ERROR_SYNTAX, or ERROR_INVALID with the faults. */
GPtrArray *rules_parse(const char *text, size_t length, Faults *faults, GError **error);

/* Appends the canonical JSON; rules_parse of it gives the same rules. */
void rules_print(const GPtrArray *rules, GString *out);
void rule_print(const struct rule *rule, GString *out);
char *rules_text(const GPtrArray *rules); /* the same as a new string */

/* "5%", "5 %" or "0.05" as a share from 0 to RULES_LEAST_EFFECT_MAX. */
bool rules_parse_share(const char *text, double *out_share);
