/* SPDX-License-Identifier: Apache-2.0
 * The body of PUT /api/projects/{project}: what is kept, and every fault that is found. */
#include "server/api/project_settings.h"

#include <string.h>

static struct store_project_settings *parse(const char *body, Faults *faults, GError **error)
{
    return project_settings_parse("demo", body, strlen(body), faults, error);
}

static void test_all_fields(void)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    struct store_project_settings *settings =
        parse("{\"rules\":[{\"muted\":true,\"bench\":\"B*\"}],\"who\":\"Ops\",\"default_branch\":"
              "\"trunk\","
              "\"commit_url_template\":\"https://example.org/c/{sha}\","
              "\"param_defaults\":{\"Z\":{\"t\":1.0e3,\"s\":\"1000\",\"b\":true},\"A\":{}}}",
              faults, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(settings->name, ==, "demo");
    g_assert_cmpstr(settings->default_branch, ==, "trunk");
    g_assert_cmpstr(settings->commit_url_template, ==, "https://example.org/c/{sha}");
    g_autofree char *rules = rules_text(settings->rules);
    g_assert_cmpstr(rules, ==, "[{\"bench\":\"B*\",\"muted\":true}]");
    g_assert_cmpstr(settings->who, ==, "Ops");
    g_assert_cmpstr(settings->param_defaults_json, ==,
                    "{\"A\":{},\"Z\":{\"b\":true,\"s\":\"1000\",\"t\":1000}}");
    store_project_settings_free(settings);
}

static void test_absent_and_null(void)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    struct store_project_settings *settings =
        parse("{\"default_branch\":null,\"rules\":null}", faults, &error);
    g_assert_no_error(error);
    g_assert_cmpstr(settings->default_branch, ==, "main");
    g_assert_cmpuint(settings->rules->len, ==, 0);
    g_assert_null(settings->commit_url_template);
    store_project_settings_free(settings);
}

static void assert_faults(const char *body, const char *const *pointers)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_assert_null(parse(body, faults, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    guint n = 0;
    for (; pointers[n]; n++) {
        g_assert_cmpuint(n, <, faults->items->len);
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, n);
        g_assert_cmpstr(fault->pointer, ==, pointers[n]);
    }
    g_assert_cmpuint(faults->found, ==, n);
}

static void test_faults(void)
{
    static const char *const whole[] = {"", NULL}, *const unknown[] = {"/colour", NULL};
    static const char *const branch[] = {"/default_branch", NULL};
    static const char *const url[] = {"/commit_url_template", NULL};
    static const char *const defaults[] = {"/param_defaults/a~1b/x", "/param_defaults/c", NULL};
    static const char *const rules[] = {"/rules", NULL}, *const rule[] = {"/rules/0", NULL};
    assert_faults("[]", whole);
    assert_faults("{\"colour\":1}", unknown);
    assert_faults("{\"default_branch\":1}", branch);
    assert_faults("{\"default_branch\":\" main\"}", branch);
    assert_faults("{\"commit_url_template\":\"javascript:alert({sha})\"}", url);
    assert_faults("{\"commit_url_template\":\"https:///{sha}\"}", url);
    assert_faults("{\"commit_url_template\":\"https://example.org/\"}", url);
    assert_faults("{\"commit_url_template\":\"https://example.org/<{sha}\"}", url);
    assert_faults("{\"param_defaults\":{\"a/b\":{\"x\":[]},\"c\":1}}", defaults);
    assert_faults("{\"rules\":{}}", rules);
    assert_faults("{\"rules\":[{\"bench\":\"B\"}]}", rule);
}

static void test_syntax(void)
{
    static const char *const bodies[] = {"", "{", "{\"a\":1,\"a\":2}", "{\"rules\":NaN}", "{} x"};
    for (guint i = 0; i < G_N_ELEMENTS(bodies); i++) {
        g_autoptr(Faults) faults = faults_new();
        g_autoptr(GError) error = NULL;
        g_assert_null(parse(bodies[i], faults, &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/project_settings/all_fields", test_all_fields);
    g_test_add_func("/project_settings/absent_and_null", test_absent_and_null);
    g_test_add_func("/project_settings/faults", test_faults);
    g_test_add_func("/project_settings/syntax", test_syntax);
    return g_test_run();
}
