/* SPDX-License-Identifier: Apache-2.0
 * What an answer means for a document, how long to wait, and what an answer's body says. */
#include "runner/deliver/answer.h"
#include "runner/deliver/retry.h"
#include <glib.h>
#include <string.h>

static void test_judgement(void)
{
    static const struct {
        long status;
        enum retry_verdict verdict;
    } cases[] = {
        {200, RETRY_STORED},  {201, RETRY_STORED},  {0, RETRY_AGAIN},     {408, RETRY_AGAIN},
        {429, RETRY_AGAIN},   {500, RETRY_AGAIN},   {503, RETRY_AGAIN},   {507, RETRY_AGAIN},
        {400, RETRY_REFUSED}, {409, RETRY_REFUSED}, {413, RETRY_REFUSED}, {422, RETRY_REFUSED},
        {401, RETRY_DENIED},  {403, RETRY_DENIED},  {404, RETRY_DENIED},  {302, RETRY_DENIED},
        {405, RETRY_DENIED},  {415, RETRY_DENIED},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++)
        if (retry_judge(cases[i].status) != cases[i].verdict)
            g_error("%ld", cases[i].status);
    g_assert_true(retry_may_skip(500));
    g_assert_false(retry_may_skip(0));
    g_assert_false(retry_may_skip(503));
}

static void test_delay(void)
{
    uint32_t before = 0;
    for (unsigned attempt = 0; attempt < 40; attempt++) {
        uint32_t least = retry_delay_ms(attempt, -1, 0),
                 most = retry_delay_ms(attempt, -1, 0.999999);
        g_assert_cmpuint(least, >=, before);
        g_assert_cmpuint(least, >=, RETRY_BASE_MS / 2);
        g_assert_cmpuint(most, <=, RETRY_MAX_MS);
        g_assert_cmpuint(most, >, least);
        before = least;
    }
    g_assert_cmpuint(retry_delay_ms(1, -1, 0), ==, RETRY_BASE_MS);
    g_assert_cmpuint(retry_delay_ms(39, -1, 0), ==, RETRY_MAX_MS / 2);
}

static void test_retry_after(void)
{
    g_assert_cmpuint(retry_delay_ms(0, 7, 0.5), ==, 7000);
    g_assert_cmpuint(retry_delay_ms(10, 1, 0), ==,
                     RETRY_MAX_MS / 2); /* asks for less than we wait anyway */
    g_assert_cmpuint(retry_delay_ms(0, 86400, 0), ==, RETRY_AFTER_MS_MAX);
    g_assert_cmpuint(retry_delay_ms(0, INT64_MAX, 0), ==, RETRY_AFTER_MS_MAX);
    g_assert_cmpuint(retry_delay_ms(0, 0, 0), ==, RETRY_BASE_MS / 2);
}

static char *problem(const char *body)
{
    return answer_problem(422, body, strlen(body));
}

static void test_problem(void)
{
    g_autofree char *full =
        problem("{\"title\":\"Unprocessable Content\",\"detail\":\"2 faults\",\"errors\":["
                "{\"pointer\":\"/id\",\"message\":\"is "
                "missing\"},{\"pointer\":\"\",\"message\":\"odd\"},7]}");
    g_assert_cmpstr(full, ==, "422 Unprocessable Content: 2 faults\n  /id: is missing\n  odd");
    static const char *const rubbish[] = {
        "", "<html>no</html>", "[1,2]", "{\"title\":7,\"errors\":{}}", "{", "\xff\xfe"};
    for (gsize i = 0; i < G_N_ELEMENTS(rubbish); i++) {
        g_autofree char *message = problem(rubbish[i]);
        g_assert_true(g_str_has_prefix(message, "422"));
        g_assert_true(g_utf8_validate(message, -1, NULL));
    }
    g_autofree char *long_body = g_strnfill(100000, 'x');
    g_autofree char *cut = problem(long_body);
    g_assert_cmpuint(strlen(cut), <, 400);
}

static char *page(const char *body)
{
    return answer_page("http://h:1", body, strlen(body));
}

static void test_page(void)
{
    g_autofree char *path = page("{\"page\":\"/p/x/c/abc\"}"),
                    *whole = page("{\"page\":\"https://o/p\"}");
    g_assert_cmpstr(path, ==, "http://h:1/p/x/c/abc");
    g_assert_cmpstr(whole, ==, "https://o/p");
    static const char *const none[] = {
        "", "{}", "{\"page\":7}", "{\"page\":\"javascript:x\"}", "[]", "nonsense"};
    for (gsize i = 0; i < G_N_ELEMENTS(none); i++)
        g_assert_null(page(none[i]));
}

static void test_warnings(void)
{
    const char *body = "{\"warnings\":[\"one\",2,\"three\"]}";
    g_autoptr(GPtrArray) warnings = answer_warnings(body, strlen(body));
    g_assert_cmpuint(warnings->len, ==, 2);
    g_assert_cmpstr(warnings->pdata[1], ==, "three");
    g_autoptr(GPtrArray) none = answer_warnings("x", 1);
    g_assert_cmpuint(none->len, ==, 0);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/retry/judgement", test_judgement);
    g_test_add_func("/retry/delay", test_delay);
    g_test_add_func("/retry/retry-after", test_retry_after);
    g_test_add_func("/answer/problem", test_problem);
    g_test_add_func("/answer/page", test_page);
    g_test_add_func("/answer/warnings", test_warnings);
    return g_test_run();
}
