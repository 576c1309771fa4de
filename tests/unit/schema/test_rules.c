/* SPDX-License-Identifier: Apache-2.0
 * Rules and what commits expect: which series a pattern fits, which rule holds, their text, and
 * every fault. */
#include "schema/expectation.h"
#include "schema/rules.h"

#include <string.h>

static bool fits(const char *pattern_text, const char *bench, const char *params_text)
{
    struct series_pattern pattern;
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) params = run_params_parse(params_text);
    struct series_names names = {bench, params, "ci-7", "real_time"};
    g_assert_true(series_pattern_parse(pattern_text, &pattern, &error));
    bool answer = series_pattern_fits(&pattern, &names);
    series_pattern_clear(&pattern);
    return answer;
}

static void test_patterns(void)
{
    static const char params[] = "{\"executor\":\"fifo\",\"threads\":4}";
    g_assert_true(fits("*", "", params));
    g_assert_true(fits("ThreadPool*", "ThreadPool", params));
    g_assert_true(fits("*Pool*Spawn", "ThreadPoolPoolSpawn", params));
    g_assert_true(fits("a*b*c", "a/b//bc", params));
    g_assert_true(fits("**", "x", params));
    g_assert_true(fits("X?[1]", "X?[1]", params));
    g_assert_true(fits("X{threads=4}", "X", params));
    g_assert_true(fits("X { threads = 4e0 , executor=fifo }", "X", params));
    g_assert_false(fits("X{threads=8}", "X", params));
    g_assert_false(fits("X{cost=1}", "X", params));
    g_assert_false(fits("Pool*", "ThreadPool", params));
    g_assert_false(fits("*Pool", "ThreadPoolSpawn", params));
    g_assert_false(fits("X?", "Xy", params));
    g_assert_false(fits("a*b*c", "acb", params));
}

static GPtrArray *parse(const char *text)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    GPtrArray *rules = rules_parse(text, strlen(text), faults, &error);
    g_assert_no_error(error);
    return rules;
}

static struct rule_settings resolve(const char *rules_text, const char *bench, const char *metric)
{
    g_autoptr(GPtrArray) rules = parse(rules_text);
    g_autoptr(GPtrArray) params = run_params_parse("{\"threads\":4}");
    struct series_names names = {bench, params, "ci-7", metric};
    return rules_resolve(rules, &names);
}

static void assert_least(const char *rules, double least)
{
    g_assert_cmpfloat(resolve(rules, "Spawn", "real_time").least_effect, ==, least);
}

/* The first difference decides: benchmark, parameters, machine, metric, place in the list. */
static void test_specificity(void)
{
    assert_least("[]", RULES_LEAST_EFFECT_DEFAULT);
    assert_least("[{\"least_effect\":0.1}]", 0.1);
    assert_least("[{\"bench\":\"Other\",\"least_effect\":0.1}]", RULES_LEAST_EFFECT_DEFAULT);
    assert_least("[{\"bench\":\"Spawn\",\"least_effect\":0.1},{\"bench\":\"Sp*\",\"params\":{"
                 "\"threads\":4},\"machine\":\"ci-7\",\"least_effect\":0.2}]",
                 0.1);
    assert_least("[{\"bench\":\"Spa*\",\"least_effect\":0.1},{\"bench\":\"Sp*\",\"least_effect\":"
                 "0.2}]",
                 0.1);
    assert_least("[{\"bench\":\"*\",\"least_effect\":0.1},{\"metric\":\"real_time\","
                 "\"least_effect\":0.2}]",
                 0.2);
    assert_least("[{\"params\":{\"threads\":\"4\"},\"least_effect\":0.1},{\"machine\":\"ci-7\","
                 "\"metric\":\"real_time\",\"least_effect\":0.2}]",
                 0.1);
    assert_least("[{\"machine\":\"ci-7\",\"least_effect\":0.1},{\"metric\":\"real_time\","
                 "\"least_effect\":0.2}]",
                 0.1);
    assert_least("[{\"bench\":\"*wn\",\"least_effect\":0.1},{\"bench\":\"Sp*\",\"least_effect\":"
                 "0.2}]",
                 0.2);
}

/* Each setting for itself. */
static void test_settings(void)
{
    static const char rules[] =
        "[{\"least_effect\":0.05,\"muted\":true},{\"bench\":\"Spawn\",\"least_effect_absolute\":3,"
        "\"muted\":false},{\"metric\":\"cost\",\"better\":\"none\"}]";
    struct rule_settings spawn = resolve(rules, "Spawn", "cost");
    g_assert_cmpfloat(spawn.least_effect, ==, 0.05);
    g_assert_cmpfloat(spawn.least_effect_absolute, ==, 3);
    g_assert_false(spawn.muted);
    g_assert_true(spawn.has_better && spawn.better == BETTER_UNKNOWN);
    struct rule_settings other = resolve(rules, "Other", "real_time");
    g_assert_true(other.muted && !other.has_better);
    g_assert_cmpfloat(other.least_effect_absolute, ==, 0);
    g_assert_true(rule_settings_equal(&other, &other));
    g_assert_false(rule_settings_equal(&other, &spawn));
}

static void test_text(void)
{
    static const char text[] =
        "[{\"bench\":\"a\\\"*\",\"params\":{\"n\":4,\"s\":\"x\"},\"machine\":\"m\",\"metric\":"
        "\"t\",\"least_effect\":0.05,\"least_effect_absolute\":2,\"muted\":false,\"better\":"
        "\"lower\",\"note\":\"why\"},{\"better\":\"none\"}]";
    g_autoptr(GPtrArray) rules = parse(text);
    g_autofree char *again = rules_text(rules);
    g_assert_cmpstr(again, ==, text);
}

static void test_faults(void)
{
    static const char *const cases[][2] = {
        {"{}", ""},
        {"[1]", "/0"},
        {"[{}]", "/0"},
        {"[{\"bench\":\"x\"}]", "/0"},
        {"[{\"least_effect\":\"5%\"}]", "/0/least_effect"},
        {"[{\"muted\":true,\"least_effect\":-0.1}]", "/0/least_effect"},
        {"[{\"muted\":true,\"least_effect\":11}]", "/0/least_effect"},
        {"[{\"muted\":true,\"least_effect_absolute\":-1}]", "/0/least_effect_absolute"},
        {"[{\"muted\":1}]", "/0/muted"},
        {"[{\"better\":\"up\"}]", "/0/better"},
        {"[{\"muted\":true,\"bench\":\"\"}]", "/0/bench"},
        {"[{\"muted\":true,\"params\":{\"a\":[]}}]", "/0/params/a"},
        {"[{\"muted\":true,\"colour\":1}]", "/0/colour"},
        {"[{\"muted\":true,\"bench\":\"x\"},{\"muted\":false,\"bench\":\"x\"}]", "/1"}};
    for (guint i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(Faults) faults = faults_new();
        g_autoptr(GError) error = NULL;
        g_test_message("%s", cases[i][0]);
        g_assert_null(rules_parse(cases[i][0], strlen(cases[i][0]), faults, &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
        g_assert_cmpstr(((const struct fault *)faults->items->pdata[0])->pointer, ==, cases[i][1]);
    }
}

static void test_shares(void)
{
    double share = 0;
    g_assert_true(rules_parse_share("5%", &share) && share == 0.05);
    g_assert_true(rules_parse_share(" 2.5 % ", &share) && share == 0.025);
    g_assert_true(rules_parse_share("0.1", &share) && share == 0.1);
    static const char *const wrong[] = {"", "%", "five", "-1%", "1001%", "5%%", "0x5", "5 percent"};
    for (guint i = 0; i < G_N_ELEMENTS(wrong); i++)
        g_assert_false(rules_parse_share(wrong[i], &share));
}

static void test_expectations(void)
{
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    g_autoptr(GPtrArray) list = expectations_parse(
        "{\"Breakeven-Expect\":[\"Spawn*{threads=4} worse 5%\",\"A b  better 12.5%\",\"worse 5%\","
        "\"X worse\",\"X slower 5%\",\"X worse 0%\",\"X worse 5\",\"X{a} worse 5%\",\"X{a=1 worse "
        "5%\",\"\"],\"Other\":[\"X worse 5%\"]}",
        problems);
    g_assert_cmpuint(list->len, ==, 2);
    g_assert_cmpuint(problems->len, ==, 8);
    const struct expectation *first = list->pdata[0], *second = list->pdata[1];
    g_assert_cmpstr(first->pattern.bench, ==, "Spawn*");
    g_assert_cmpuint(first->pattern.params->len, ==, 1);
    g_assert_cmpint(first->direction, ==, -1);
    g_assert_cmpfloat(first->effect, ==, 0.05);
    g_assert_cmpstr(first->text, ==, "Spawn*{threads=4} worse 5%");
    g_assert_cmpstr(second->pattern.bench, ==, "A b");
    g_assert_cmpint(second->direction, ==, 1);
    g_assert_cmpfloat(second->effect, ==, 0.125);
    g_assert_nonnull(strstr(problems->pdata[2], "X slower 5%"));
    g_autoptr(GPtrArray) none = expectations_parse(NULL, NULL);
    g_assert_cmpuint(none->len, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/rules/patterns", test_patterns);
    g_test_add_func("/rules/specificity", test_specificity);
    g_test_add_func("/rules/settings", test_settings);
    g_test_add_func("/rules/text", test_text);
    g_test_add_func("/rules/faults", test_faults);
    g_test_add_func("/rules/shares", test_shares);
    g_test_add_func("/rules/expectations", test_expectations);
    return g_test_run();
}
