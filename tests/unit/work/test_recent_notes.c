/* SPDX-License-Identifier: Apache-2.0
 * The list of what happened lately: bounded in number and length, repetitions counted, safe from
 * any thread. */
#include "server/work/recent_notes.h"

#include <pthread.h>
#include <string.h>

static void add(RecentNotes *notes, int64_t at_ms, const char *text)
{
    const struct recent_note note = {
        .at_ms = at_ms, .status = 422, .where = "POST /api/runs", .text = text};
    recent_notes_add(notes, &note);
}

static const struct recent_note *at(const GPtrArray *list, guint i)
{
    return (const struct recent_note *)list->pdata[i];
}

static void test_the_latest_are_kept(void)
{
    g_autoptr(RecentNotes) notes = recent_notes_new();
    guint64 total;
    for (guint i = 0; i < RECENT_NOTES_MAX + 10; i++) {
        g_autofree char *text = g_strdup_printf("fault %u", i);
        add(notes, i, text);
    }
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    g_assert_cmpuint(total, ==, RECENT_NOTES_MAX + 10);
    g_assert_cmpuint(list->len, ==, RECENT_NOTES_MAX);
    g_assert_cmpstr(at(list, 0)->text, ==, "fault 59");
    g_assert_cmpstr(at(list, RECENT_NOTES_MAX - 1)->text, ==, "fault 10");
}

static void test_repetitions_are_counted(void)
{
    g_autoptr(RecentNotes) notes = recent_notes_new();
    guint64 total;
    add(notes, 1, "other");
    for (guint i = 0; i < 1000; i++)
        add(notes, 2 + i, "same");
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    g_assert_cmpuint(total, ==, 1001);
    g_assert_cmpuint(list->len, ==, 2);
    g_assert_cmpuint(at(list, 0)->n, ==, 1000);
    g_assert_cmpint(at(list, 0)->at_ms, ==, 1001);
    g_assert_cmpuint(at(list, 1)->n, ==, 1);
}

static void test_texts_are_bounded(void)
{
    g_autoptr(RecentNotes) notes = recent_notes_new();
    g_autofree char *text = g_strnfill(100000, 'x');
    guint64 total;
    add(notes, 1, text);
    add(notes, 2, "\xff\xfe");
    add(notes, 3, NULL);
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    g_assert_null(at(list, 0)->text);
    g_assert_true(g_utf8_validate(at(list, 1)->text, -1, NULL));
    g_assert_cmpint(g_utf8_strlen(at(list, 2)->text, -1), ==, RECENT_NOTE_CHARS_MAX + 1);
}

#define THREADS 4u
#define EACH    500u

static void *add_many(void *user)
{
    for (guint i = 0; i < EACH; i++) {
        g_autofree char *text = g_strdup_printf("%u", i % 7);
        guint64 total;
        add((RecentNotes *)user, i, text);
        if (i % 50 == 0)
            g_ptr_array_unref(recent_notes_copy((RecentNotes *)user, &total));
    }
    return NULL;
}

static void test_from_any_thread(void)
{
    g_autoptr(RecentNotes) notes = recent_notes_new();
    pthread_t threads[THREADS];
    guint64 total;
    for (guint i = 0; i < THREADS; i++)
        g_assert_cmpint(pthread_create(&threads[i], NULL, add_many, notes), ==, 0);
    for (guint i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    g_assert_cmpuint(total, ==, THREADS * EACH);
    g_assert_cmpuint(list->len, ==, RECENT_NOTES_MAX);
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/recent-notes/the-latest-are-kept", test_the_latest_are_kept);
    g_test_add_func("/recent-notes/repetitions-are-counted", test_repetitions_are_counted);
    g_test_add_func("/recent-notes/texts-are-bounded", test_texts_are_bounded);
    g_test_add_func("/recent-notes/from-any-thread", test_from_any_thread);
    return g_test_run();
}
