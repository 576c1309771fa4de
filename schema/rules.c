/* SPDX-License-Identifier: Apache-2.0
 * Rules: ownership, which one holds, and their text. Reading them is in rules_parse.c. Pure; any
 * thread. */
#include "schema/rules.h"

#include "schema/number.h"

#include <math.h>
#include <string.h>

const struct rule_settings rule_settings_default = {.least_effect = RULES_LEAST_EFFECT_DEFAULT};

struct rule *rule_new(void)
{
    struct rule *rule = g_new0(struct rule, 1);

    series_pattern_init(&rule->pattern);
    return rule;
}

void rule_free(struct rule *rule)
{
    if (!rule)
        return;
    series_pattern_clear(&rule->pattern);
    g_free(rule->note);
    g_free(rule);
}

static void free_rule(gpointer rule)
{
    rule_free((struct rule *)rule);
}

GPtrArray *rules_new(void)
{
    return g_ptr_array_new_with_free_func(free_rule);
}

bool rule_settings_equal(const struct rule_settings *a, const struct rule_settings *b)
{
    return a->least_effect == b->least_effect &&
           a->least_effect_absolute == b->least_effect_absolute && a->muted == b->muted &&
           a->has_better == b->has_better && (!a->has_better || a->better == b->better);
}

/* ---- Which holds ------------------------------------------------------------------- */

static const guint settings[] = {RULE_LEAST_EFFECT, RULE_LEAST_EFFECT_ABSOLUTE, RULE_MUTED,
                                 RULE_BETTER};

static void take_setting(const struct rule *rule, guint setting, struct rule_settings *out)
{
    if (setting == RULE_LEAST_EFFECT) {
        out->least_effect = rule->least_effect;
    } else if (setting == RULE_LEAST_EFFECT_ABSOLUTE) {
        out->least_effect_absolute = rule->least_effect_absolute;
    } else if (setting == RULE_MUTED) {
        out->muted = rule->muted;
    } else {
        out->has_better = true;
        out->better = rule->better;
    }
}

struct rule_settings rules_resolve(const GPtrArray *rules, const struct series_names *names)
{
    struct rule_settings resolved = rule_settings_default;
    const struct rule *from[G_N_ELEMENTS(settings)] = {NULL};

    for (guint i = 0; rules && i < rules->len; i++) {
        const struct rule *rule = (const struct rule *)g_ptr_array_index(rules, i);

        if (!series_pattern_fits(&rule->pattern, names))
            continue;
        for (gsize s = 0; s < G_N_ELEMENTS(settings); s++) {
            if (!(rule->gives & settings[s]) ||
                (from[s] && series_pattern_compare(&rule->pattern, &from[s]->pattern) < 0))
                continue;
            from[s] = rule;
            take_setting(rule, settings[s], &resolved);
        }
    }
    return resolved;
}

/* ---- Text -------------------------------------------------------------------------- */

static void print_key(GString *out, const char *key)
{
    if (out->str[out->len - 1] != '{')
        g_string_append_c(out, ',');
    g_string_append_printf(out, "\"%s\":", key);
}

static void print_text(GString *out, const char *key, const char *text)
{
    if (!text)
        return;
    print_key(out, key);
    json_append_string(out, text);
}

static void print_number(GString *out, const char *key, bool given, double value)
{
    if (!given)
        return;
    print_key(out, key);
    number_append(out, value);
}

void rule_print(const struct rule *rule, GString *out)
{
    g_string_append_c(out, '{');
    print_text(out, "bench", rule->pattern.bench);
    if (rule->pattern.params->len > 0) {
        print_key(out, "params");
        run_params_append(out, rule->pattern.params);
    }
    print_text(out, "machine", rule->pattern.machine);
    print_text(out, "metric", rule->pattern.metric);
    print_number(out, "least_effect", rule->gives & RULE_LEAST_EFFECT, rule->least_effect);
    print_number(out, "least_effect_absolute", rule->gives & RULE_LEAST_EFFECT_ABSOLUTE,
                 rule->least_effect_absolute);
    if (rule->gives & RULE_MUTED) {
        print_key(out, "muted");
        g_string_append(out, rule->muted ? "true" : "false");
    }
    if (rule->gives & RULE_BETTER) {
        const char *name = better_name(rule->better);

        print_text(out, "better", name ? name : "none");
    }
    print_text(out, "note", rule->note);
    g_string_append_c(out, '}');
}

void rules_print(const GPtrArray *rules, GString *out)
{
    g_string_append_c(out, '[');
    for (guint i = 0; i < rules->len; i++) {
        if (i > 0)
            g_string_append_c(out, ',');
        rule_print((const struct rule *)g_ptr_array_index(rules, i), out);
    }
    g_string_append_c(out, ']');
}

char *rules_text(const GPtrArray *rules)
{
    GString *text = g_string_new(NULL);

    rules_print(rules, text);
    return g_string_free(text, FALSE);
}

bool rules_parse_share(const char *text, double *out_share)
{
    g_autofree char *copy = g_strstrip(g_strdup(text));
    size_t length = strlen(copy);
    bool is_percent = length > 0 && copy[length - 1] == '%';

    if (is_percent)
        copy[length - 1] = '\0';
    g_strchomp(copy);
    if (!number_parse(copy, out_share))
        return false;
    if (is_percent)
        *out_share /= 100;
    return *out_share >= 0 && *out_share <= RULES_LEAST_EFFECT_MAX;
}
