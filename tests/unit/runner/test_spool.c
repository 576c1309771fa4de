/* SPDX-License-Identifier: Apache-2.0
 * The spool: order, whole entries, two servers, the lock, rejected documents, what is not ours. */
#include "runner/deliver/spool.h"
#include "tests/unit/runner/scratch.h"
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#define SERVER "http://127.0.0.1:1"

static char *root;
static guint n_folders;

static char *new_folder(void)
{
    return g_strdup_printf("%s/%u/deep/spool", root, ++n_folders);
}

static Spool *open_spool(const char *folder, const char *server)
{
    g_autoptr(GError) error = NULL;
    Spool *spool = spool_open(folder, server, &error);
    g_assert_no_error(error);
    return spool;
}

static char *add(Spool *spool, const char *id)
{
    g_autofree char *text = g_strdup_printf("{\"id\":\"%s\"}", id);
    g_autoptr(GError) error = NULL;
    char *name = spool_add(spool, id, text, strlen(text), &error);
    g_assert_no_error(error);
    return name;
}

static mode_t mode_of(const char *folder, const char *name)
{
    g_autofree char *path = g_build_filename(folder, name, NULL);
    struct stat facts;
    g_assert_cmpint(stat(path, &facts), ==, 0);
    return facts.st_mode & 07777;
}

static void test_in_order_and_private(void)
{
    g_autofree char *folder = new_folder();
    g_autoptr(Spool) spool = open_spool(folder, SERVER);
    static const char *const ids[] = {"z", "a", "0194:x_y.z-1", "m"};
    g_autoptr(GPtrArray) added = g_ptr_array_new_with_free_func(g_free);
    for (gsize i = 0; i < G_N_ELEMENTS(ids); i++)
        g_ptr_array_add(added, add(spool, ids[i]));
    guint others = 9;
    g_autoptr(GPtrArray) entries = spool_entries(spool, &others, NULL);
    g_assert_cmpuint(others, ==, 0);
    g_assert_cmpuint(entries->len, ==, 4);
    for (guint i = 0; i < 4; i++)
        g_assert_cmpstr(entries->pdata[i], ==, added->pdata[i]);
    gsize length = 0;
    g_autofree char *text = spool_read(spool, (const char *)entries->pdata[1], &length, NULL);
    g_assert_cmpstr(text, ==, "{\"id\":\"a\"}");
    g_assert_cmpuint(length, ==, 10);
    g_assert_cmpuint(mode_of(folder, ""), ==, 0700);
    g_assert_cmpuint(mode_of(folder, (const char *)entries->pdata[0]), ==, 0600);
}

static void test_open_folder_is_closed(void)
{
    g_autofree char *folder = new_folder();
    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    g_autoptr(Spool) spool = open_spool(folder, SERVER);
    g_assert_true(spool_was_open(spool));
    g_assert_cmpuint(mode_of(folder, ""), ==, 0700);
    g_free(add(spool, "a"));
    g_assert_cmpint(chmod(folder, 0750), ==, 0);
    g_autoptr(Spool) again = open_spool(folder, SERVER);
    g_assert_true(spool_was_open(again));
    g_assert_cmpuint(mode_of(folder, ""), ==, 0700);
    g_autoptr(Spool) closed = open_spool(folder, SERVER);
    g_assert_false(spool_was_open(closed));
}

static void assert_not_closed(const char *folder, mode_t mode, const char *says)
{
    g_autoptr(GError) error = NULL;
    g_assert_null(spool_open(folder, SERVER, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    g_assert_nonnull(strstr(error->message, says));
    g_assert_cmpuint(mode_of(folder, ""), ==, mode);
}

/* --spool-dir /tmp must not close everybody's folder. */
static void test_what_is_not_a_spool_stays_open(void)
{
    g_autofree char *folder = new_folder();
    g_autofree char *file = g_build_filename(folder, "notes.txt", NULL);
    g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
    g_assert_true(g_file_set_contents(file, "x", 1, NULL));
    assert_not_closed(folder, 0755, "notes.txt");
    g_assert_cmpint(chmod(folder, 0700), ==, 0);
    spool_close(open_spool(folder, SERVER)); /* nobody else looks into it */
    g_autofree char *shared = new_folder();
    g_assert_cmpint(g_mkdir_with_parents(shared, 0700), ==, 0);
    g_assert_cmpint(chmod(shared, 01777), ==, 0);
    assert_not_closed(shared, 01777, "1777");
}

static void test_each_server_has_its_own(void)
{
    g_autofree char *folder = new_folder();
    g_autoptr(Spool) one = open_spool(folder, SERVER);
    g_autoptr(Spool) two = open_spool(folder, "http://127.0.0.1:2");
    g_free(add(one, "a"));
    g_free(add(two, "b"));
    g_free(add(two, "c"));
    guint others = 0;
    g_autoptr(GPtrArray) entries = spool_entries(one, &others, NULL);
    g_assert_cmpuint(entries->len, ==, 1);
    g_assert_cmpuint(others, ==, 2);
}

static void test_one_holds_the_lock(void)
{
    g_autofree char *folder = new_folder();
    Spool *one = open_spool(folder, SERVER);
    g_autoptr(Spool) two = open_spool(folder, SERVER);
    g_autoptr(GError) error = NULL;
    g_assert_true(spool_try_lock(one, &error));
    g_assert_true(spool_try_lock(one, &error)); /* again is fine */
    g_assert_false(spool_try_lock(two, &error));
    g_assert_no_error(error);
    g_free(add(two, "a")); /* adding needs no lock */
    spool_close(one);
    g_assert_true(spool_try_lock(two, &error));
}

static void test_removed_and_rejected(void)
{
    g_autofree char *folder = new_folder();
    g_autoptr(Spool) spool = open_spool(folder, SERVER);
    g_autofree char *good = add(spool, "good"), *bad = add(spool, "bad");
    g_assert_true(spool_remove(spool, good, NULL));
    g_assert_true(spool_remove(spool, good, NULL)); /* gone is gone */
    gsize length = 0;
    g_autoptr(GError) error = NULL;
    g_assert_null(spool_read(spool, good, &length, &error));
    g_assert_no_error(error);
    g_assert_null(spool_rejection(spool, bad));
    g_assert_true(spool_reject(spool, bad, "422 nonsense\n  /id: odd", NULL));
    guint others = 0;
    g_autoptr(GPtrArray) entries = spool_entries(spool, &others, NULL);
    g_assert_cmpuint(entries->len, ==, 0);
    g_autofree char *reason = spool_rejection(spool, bad);
    g_assert_cmpstr(reason, ==, "422 nonsense\n  /id: odd");
    g_autofree char *kept = g_build_filename(folder, "rejected", bad, NULL);
    g_autofree char *text = NULL;
    g_assert_true(g_file_get_contents(kept, &text, NULL, NULL));
    g_assert_cmpstr(text, ==, "{\"id\":\"bad\"}");
}

static void test_what_is_not_an_entry(void)
{
    g_autofree char *folder = new_folder();
    g_autoptr(Spool) spool = open_spool(folder, SERVER);
    static const char *const names[] = {"notes.txt", "run.json", ".00.json.12",
                                        "0123456789abcdef-x.json",
                                        "0123456789abcdef-01234567-x.json.tmp"};
    for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
        g_autofree char *path = g_build_filename(folder, names[i], NULL);
        g_assert_true(g_file_set_contents(path, "x", 1, NULL));
    }
    guint others = 0;
    g_autoptr(GPtrArray) entries = spool_entries(spool, &others, NULL);
    g_assert_cmpuint(entries->len + others, ==, 0);
}

static void test_leavings_of_a_kill_are_swept(void)
{
    g_autofree char *folder = new_folder();
    g_autoptr(Spool) spool = open_spool(folder, SERVER);
    g_autofree char *old = g_build_filename(folder, ".0-0-x.json.77", NULL);
    g_autofree char *fresh = g_build_filename(folder, ".0-0-y.json.78", NULL);
    g_assert_true(g_file_set_contents(old, "{", 1, NULL) &&
                  g_file_set_contents(fresh, "{", 1, NULL));
    struct utimbuf long_ago = {.actime = 1000, .modtime = 1000};
    g_assert_cmpint(utime(old, &long_ago), ==, 0);
    guint others = 0;
    g_ptr_array_unref(spool_entries(spool, &others, NULL));
    g_assert_true(g_file_test(old, G_FILE_TEST_EXISTS)); /* only who holds the lock sweeps */
    g_assert_true(spool_try_lock(spool, NULL));
    g_ptr_array_unref(spool_entries(spool, &others, NULL));
    g_assert_false(g_file_test(old, G_FILE_TEST_EXISTS));
    g_assert_true(g_file_test(fresh, G_FILE_TEST_EXISTS));
}

static void test_bad_folder_and_id(void)
{
    g_autoptr(GError) error = NULL;
    g_autofree char *file = g_build_filename(root, "file", NULL);
    g_assert_true(g_file_set_contents(file, "", 0, NULL));
    g_autofree char *below = g_build_filename(file, "spool", NULL);
    g_assert_null(spool_open(below, SERVER, &error));
    g_assert_nonnull(strstr(error->message, below));
    g_autofree char *folder = new_folder();
    g_autoptr(Spool) spool = open_spool(folder, SERVER);
    static const char *const bad[] = {"", "a/b", "../x", "a b", "\xc3\xa4"};
    for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
        g_clear_error(&error);
        g_assert_null(spool_add(spool, bad[i], "x", 1, &error));
        g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    }
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    root = scratch_new();
    g_test_add_func("/spool/order", test_in_order_and_private);
    g_test_add_func("/spool/closed", test_open_folder_is_closed);
    g_test_add_func("/spool/not-closed", test_what_is_not_a_spool_stays_open);
    g_test_add_func("/spool/servers", test_each_server_has_its_own);
    g_test_add_func("/spool/lock", test_one_holds_the_lock);
    g_test_add_func("/spool/rejected", test_removed_and_rejected);
    g_test_add_func("/spool/not-an-entry", test_what_is_not_an_entry);
    g_test_add_func("/spool/swept", test_leavings_of_a_kill_are_swept);
    g_test_add_func("/spool/bad-folder-and-id", test_bad_folder_and_id);
    int status = g_test_run();
    scratch_remove(root);
    return status;
}
