/* SPDX-License-Identifier: Apache-2.0
 * The documents of tests/unit/schema/documents: good ones print canonically and read back the same,
 * bad ones are refused with their faults. test_schema_agrees.ts holds run.schema.json to the same
 * folders. */
#include "schema/run.h"

#include <string.h>

#define DOCUMENTS SOURCE_DIR "/tests/unit/schema/documents/"

typedef void (*document_fn)(const char *name, const char *bytes, size_t length);

static guint each_document(const char *folder, document_fn check)
{
    g_autofree char *path = g_build_filename(DOCUMENTS, folder, NULL);
    GDir *dir = g_dir_open(path, 0, NULL);
    guint n = 0;

    g_assert_nonnull(dir);
    for (const char *name = g_dir_read_name(dir); name; name = g_dir_read_name(dir)) {
        g_autofree char *file = g_build_filename(path, name, NULL);
        g_autofree char *bytes = NULL;
        gsize length = 0;

        if (!g_str_has_suffix(name, ".json"))
            continue;
        g_assert_true(g_file_get_contents(file, &bytes, &length, NULL));
        check(name, bytes, length);
        n++;
    }
    g_dir_close(dir);
    return n;
}

static GString *canonical(const char *name, const char *bytes, size_t length)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_parse(bytes, length, faults, &error);
    GString *out = g_string_new(NULL);

    if (!run)
        g_error("%s is refused: %s", name, error->message);
    g_assert_cmpuint(faults->found, ==, 0);
    run_print(run, out);
    return out;
}

static void check_good(const char *name, const char *bytes, size_t length)
{
    g_autoptr(GString) once = canonical(name, bytes, length);
    g_autoptr(GString) twice = canonical(name, once->str, once->len);

    g_assert_cmpstr(once->str, ==, twice->str);
}

static void check_bad(const char *name, const char *bytes, size_t length)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) error = NULL;
    g_autoptr(Run) run = run_parse(bytes, length, faults, &error);

    if (run)
        g_error("%s is taken", name);
    g_assert_nonnull(error);
    g_assert_true(g_utf8_validate(error->message, -1, NULL));
    if (g_error_matches(error, BREAKEVEN_ERROR, ERROR_INVALID))
        g_assert_cmpuint(faults->found, >=, 1);
    else
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX);
    /* One thing is wrong in each: a fault that drags others along would hide what to mend. */
    if (faults->found > 1)
        g_error("%s has %u faults, the first: %s", name, faults->found, error->message);
}

static void test_good(void)
{
    g_assert_cmpuint(each_document("good", check_good), >=, 20);
}

static void test_bad(void)
{
    g_assert_cmpuint(each_document("bad", check_bad), >=, 100);
}

static void test_bad_beyond_schema(void)
{
    g_assert_cmpuint(each_document("bad-beyond-schema", check_bad), >=, 20);
}

/* The whole canonical text once, so that a change of it is seen: digests of stored runs depend on
 * every byte. */
static void test_canonical_text(void)
{
    g_autofree char *bytes = NULL;
    g_autofree char *expected = NULL;
    gsize length = 0;
    g_autoptr(GString) printed = NULL;

    g_assert_true(g_file_get_contents(DOCUMENTS "good/full.json", &bytes, &length, NULL));
    g_assert_true(g_file_get_contents(DOCUMENTS "full.canonical", &expected, NULL, NULL));
    printed = canonical("full.json", bytes, length);
    g_assert_cmpstr(printed->str, ==, g_strchomp(expected));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/run/documents/good", test_good);
    g_test_add_func("/run/documents/bad", test_bad);
    g_test_add_func("/run/documents/bad-beyond-schema", test_bad_beyond_schema);
    g_test_add_func("/run/documents/canonical-text", test_canonical_text);
    return g_test_run();
}
