/* SPDX-License-Identifier: Apache-2.0
 * Rules from JSON, each fault with its place. Any thread. */
#include "schema/rules_parse.h"

#include "schema/number.h"

#include <string.h>

static const char *const betters[] = {"higher", "lower", "none", NULL};

static void take_bench(struct reading at, json_t *value, const struct field *field, void *member)
{
    document_take_name(at, value, field, &((struct rule *)member)->pattern.bench);
}

static void take_machine(struct reading at, json_t *value, const struct field *field, void *member)
{
    document_take_name(at, value, field, &((struct rule *)member)->pattern.machine);
}

static void take_metric(struct reading at, json_t *value, const struct field *field, void *member)
{
    document_take_name(at, value, field, &((struct rule *)member)->pattern.metric);
}

static void take_param(struct reading at, const char *key, json_t *value, void *user)
{
    GPtrArray *params = (GPtrArray *)user;
    char buffer[NUMBER_TEXT_BYTES];
    const char *text = json_is_boolean(value) ? (json_is_true(value) ? "true" : "false")
                                              : json_string_value(value);
    double number = 0;

    if (json_is_number(value) ? document_number(at, value, &number)
                              : text && number_parse(text, &number)) {
        number_format(number, buffer);
        text = buffer;
    }
    if (text)
        run_params_add(params, key, text);
    else if (!json_is_number(value))
        document_fault(at, "is %s, must be a string, number or boolean", document_type_name(value));
}

static void take_params(struct reading at, json_t *value, const struct field *field, void *member)
{
    (void)field;
    document_each_member(at, value, RUN_PARAMS_MAX, take_param,
                         ((struct rule *)member)->pattern.params);
}

static bool number_within(struct reading at, json_t *value, double max, double *out)
{
    if (!document_number(at, value, out))
        return false;
    if (*out >= 0 && *out <= max)
        return true;
    if (max < G_MAXDOUBLE)
        document_fault(at, "must be a share from 0 to %g: 0.05 is 5 %%", max);
    else
        document_fault(at, "must not be below 0; it is in the metric's unit");
    return false;
}

static void take_least(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct rule *rule = (struct rule *)member;

    (void)field;
    if (number_within(at, value, RULES_LEAST_EFFECT_MAX, &rule->least_effect))
        rule->gives |= RULE_LEAST_EFFECT;
}

static void take_absolute(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct rule *rule = (struct rule *)member;

    (void)field;
    if (number_within(at, value, G_MAXDOUBLE, &rule->least_effect_absolute))
        rule->gives |= RULE_LEAST_EFFECT_ABSOLUTE;
}

static void take_muted(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct rule *rule = (struct rule *)member;

    document_take_bool(at, value, field, &rule->muted);
    rule->gives |= RULE_MUTED;
}

static void take_better(struct reading at, json_t *value, const struct field *field, void *member)
{
    struct rule *rule = (struct rule *)member;
    g_autofree char *word = NULL;

    document_take_choice(at, value, field, &word);
    rule->gives |= RULE_BETTER;
    rule->better = g_strcmp0(word, "higher") == 0  ? BETTER_HIGHER
                   : g_strcmp0(word, "lower") == 0 ? BETTER_LOWER
                                                   : BETTER_UNKNOWN;
}

static const struct field rule_fields[] = {
    {"bench", false, take_bench, 0, RUN_BENCH_BYTES_MAX, NULL},
    {"params", false, take_params, 0, 0, NULL},
    {"machine", false, take_machine, 0, RUN_NAME_BYTES_MAX, NULL},
    {"metric", false, take_metric, 0, RUN_NAME_BYTES_MAX, NULL},
    {"least_effect", false, take_least, 0, 0, NULL},
    {"least_effect_absolute", false, take_absolute, 0, 0, NULL},
    {"muted", false, take_muted, 0, 0, NULL},
    {"better", false, take_better, 0, 0, betters},
    {"note", false, document_take_line, offsetof(struct rule, note), RULES_NOTE_BYTES_MAX, NULL},
};
static const struct field_table rule_table = {"a rule", rule_fields, G_N_ELEMENTS(rule_fields)};

static void take_rule(struct reading at, const char *key, json_t *value, void *user)
{
    GPtrArray *rules = (GPtrArray *)user;
    struct rule *rule = rule_new();

    (void)key;
    if (document_read(at, value, &rule_table, rule) && rule->gives == 0)
        document_fault(at, "gives nothing: least_effect, least_effect_absolute, muted or better");
    for (guint i = 0; i < rules->len; i++)
        if (series_pattern_equal(&((const struct rule *)rules->pdata[i])->pattern, &rule->pattern))
            document_fault(at, "speaks of the same series as rule %u; make them one", i);
    g_ptr_array_add(rules, rule);
}

GPtrArray *rules_read(struct reading at, json_t *value)
{
    GPtrArray *rules = rules_new();

    document_each_element(at, value, RULES_MAX, take_rule, rules);
    return rules;
}

GPtrArray *rules_parse(const char *text, size_t length, Faults *faults, GError **error)
{
    static const struct place top = {0};
    json_t *tree = document_load(text, length, error);

    if (!tree)
        return NULL;
    g_autoptr(GPtrArray) rules = rules_read((struct reading){faults, &top}, tree);
    json_decref(tree);
    return document_conclude(faults, error) ? g_steal_pointer(&rules) : NULL;
}
