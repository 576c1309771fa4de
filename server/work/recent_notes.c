/* SPDX-License-Identifier: Apache-2.0
 * See recent_notes.h. One lock around a queue of copies. */
#include "server/work/recent_notes.h"

#include <pthread.h>
#include <string.h>

struct recent_notes {
    pthread_mutex_t mutex;
    GQueue list; /* struct recent_note *, newest first */
    guint64 total;
};

static void note_free(gpointer data)
{
    struct recent_note *note = data;
    g_free((char *)(gsize)note->where);
    g_free((char *)(gsize)note->text);
    g_free(note);
}

RecentNotes *recent_notes_new(void)
{
    RecentNotes *notes = g_new0(RecentNotes, 1);
    pthread_mutex_init(&notes->mutex, NULL);
    g_queue_init(&notes->list);
    return notes;
}

void recent_notes_free(RecentNotes *notes)
{
    if (!notes)
        return;
    g_queue_clear_full(&notes->list, note_free);
    pthread_mutex_destroy(&notes->mutex);
    g_free(notes);
}

static char *bounded(const char *text)
{
    if (!text)
        return NULL;
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    if (g_utf8_strlen(valid, -1) <= RECENT_NOTE_CHARS_MAX)
        return g_steal_pointer(&valid);
    g_autofree char *head = g_utf8_substring(valid, 0, RECENT_NOTE_CHARS_MAX);
    return g_strconcat(head, "…", NULL);
}

static struct recent_note *note_copy(const struct recent_note *from)
{
    struct recent_note *note = g_new(struct recent_note, 1);
    *note = *from;
    note->where = bounded(from->where);
    note->text = bounded(from->text);
    return note;
}

static gboolean is_same(const struct recent_note *a, const struct recent_note *b)
{
    return a && a->status == b->status && g_strcmp0(a->where, b->where) == 0 &&
           g_strcmp0(a->text, b->text) == 0;
}

void recent_notes_add(RecentNotes *notes, const struct recent_note *note)
{
    struct recent_note *copy = note_copy(note);
    copy->n = 1;
    pthread_mutex_lock(&notes->mutex);
    struct recent_note *last = g_queue_peek_head(&notes->list);
    notes->total++;
    if (is_same(last, copy)) {
        last->at_ms = copy->at_ms;
        last->n++;
    } else {
        g_queue_push_head(&notes->list, g_steal_pointer(&copy));
    }
    struct recent_note *oldest =
        notes->list.length > RECENT_NOTES_MAX ? g_queue_pop_tail(&notes->list) : NULL;
    pthread_mutex_unlock(&notes->mutex);
    g_clear_pointer(&copy, note_free);
    g_clear_pointer(&oldest, note_free);
}

GPtrArray *recent_notes_copy(RecentNotes *notes, guint64 *out_total)
{
    GPtrArray *copies = g_ptr_array_new_with_free_func(note_free);
    pthread_mutex_lock(&notes->mutex);
    *out_total = notes->total;
    for (const GList *link = notes->list.head; link; link = link->next)
        g_ptr_array_add(copies, note_copy(link->data));
    pthread_mutex_unlock(&notes->mutex);
    return copies;
}
