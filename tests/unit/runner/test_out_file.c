/* SPDX-License-Identifier: Apache-2.0
 * What --out writes to: a file whole, a link's file, and what is no file without replacing it. */
#include "runner/out_file.h"

#include "schema/error.h"
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct place {
    char *folder, *path, *link;
    GString *document;
};

static void setup(struct place *place, gconstpointer data)
{
    (void)data;
    place->folder = g_dir_make_tmp("breakeven-out-XXXXXX", NULL);
    place->path = g_build_filename(place->folder, "run.json", NULL);
    place->link = g_build_filename(place->folder, "link.json", NULL);
    place->document = g_string_new("{\"document\":1}");
}

static void teardown(struct place *place, gconstpointer data)
{
    (void)data;
    unlink(place->path);
    unlink(place->link);
    g_assert_cmpint(rmdir(place->folder), ==, 0); /* nothing is left beside */
    g_string_free(place->document, TRUE);
    g_free(place->folder);
    g_free(place->path);
    g_free(place->link);
}

static void assert_holds(const char *path, const char *text)
{
    g_autofree char *contents = NULL;
    g_assert_true(g_file_get_contents(path, &contents, NULL, NULL));
    g_assert_cmpstr(contents, ==, text);
}

static void test_file(struct place *place, gconstpointer data)
{
    (void)data;
    g_assert_true(out_file_check("out", place->path, NULL));
    g_assert_false(g_file_test(place->path, G_FILE_TEST_EXISTS));
    g_assert_true(out_file_write("out", place->path, place->document, NULL));
    assert_holds(place->path, "{\"document\":1}");
}

static void test_link(struct place *place, gconstpointer data)
{
    (void)data;
    g_assert_true(g_file_set_contents(place->path, "old", -1, NULL));
    g_assert_cmpint(symlink(place->path, place->link), ==, 0);
    g_assert_true(out_file_check("out", place->link, NULL));
    g_assert_true(out_file_write("out", place->link, place->document, NULL));
    g_assert_true(g_file_test(place->link, G_FILE_TEST_IS_SYMLINK));
    assert_holds(place->path, "{\"document\":1}");
}

static void test_pipe(struct place *place, gconstpointer data)
{
    (void)data;
    char read_back[64] = "";
    g_assert_cmpint(mkfifo(place->path, 0600), ==, 0);
    int reader = open(place->path, O_RDONLY | O_NONBLOCK);
    g_assert_true(out_file_check("out", place->path, NULL));
    g_assert_true(out_file_write("out", place->path, place->document, NULL));
    struct stat facts;
    g_assert_cmpint(stat(place->path, &facts), ==, 0);
    g_assert_true(S_ISFIFO(facts.st_mode)); /* as /dev/null has to stay a device */
    g_assert_cmpint(read(reader, read_back, sizeof read_back - 1), ==, 14);
    g_assert_cmpstr(read_back, ==, "{\"document\":1}");
    close(reader);
}

/* Through a link, so that a rename could not take the device from the machine that tests. */
static void test_full(struct place *place, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) error = NULL;
    g_assert_cmpint(symlink("/dev/full", place->link), ==, 0);
    g_assert_false(out_file_write("out", place->link, place->document, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_FULL);
    g_assert_nonnull(strstr(error->message, "link.json cannot be written"));
    g_assert_true(g_file_test(place->link, G_FILE_TEST_IS_SYMLINK));
}

static void test_refused(struct place *place, gconstpointer data)
{
    (void)data;
    g_autoptr(GError) folder = NULL, missing = NULL;
    g_assert_false(out_file_check("out", place->folder, &folder));
    g_assert_nonnull(strstr(folder->message, "it is a folder"));
    g_assert_false(out_file_check("out", "/nonexistent/run.json", &missing));
    g_assert_error(missing, BREAKEVEN_ERROR, ERROR_INVALID);
}

#define ADD(name, function)                                                                        \
    g_test_add("/out-file/" name, struct place, NULL, setup, function, teardown)

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    ADD("file", test_file);
    ADD("link", test_link);
    ADD("pipe", test_pipe);
    ADD("full", test_full);
    ADD("refused", test_refused);
    return g_test_run();
}
