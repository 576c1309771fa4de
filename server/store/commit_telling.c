/* SPDX-License-Identifier: Apache-2.0
 * Merging what is told of commits, and packing what a document told (see commit_telling.h). Must
 * not know of SQL. Telling and packing run on the writer thread, unpacking on a reader's. */
#include "server/store/commit_telling.h"
#include "schema/expectation.h"
#include "schema/timestamp.h"
#include "server/store/sample_blob.h"
#include <string.h>

#define AHEAD_SECONDS_MAX (24 * 60 * 60)

void commit_telling_init(struct commit_telling *telling, struct staging *staging,
                         struct catalogue_project *project, GPtrArray *warnings)
{
    *telling = (struct commit_telling){.staging = staging,
                                       .project = project,
                                       .now_s = g_get_real_time() / G_USEC_PER_SEC,
                                       .linked = g_ptr_array_new(),
                                       .warnings = warnings};
}

void commit_telling_clear(struct commit_telling *telling)
{
    g_clear_pointer(&telling->linked, g_ptr_array_unref);
}

static void warn(struct commit_telling *telling, const struct catalogue_commit *commit,
                 const char *format, ...) G_GNUC_PRINTF(3, 4);

static void warn(struct commit_telling *telling, const struct catalogue_commit *commit,
                 const char *format, ...)
{
    telling->n_warnings++;
    if (telling->n_warnings > COMMIT_WARNINGS_MAX)
        return;
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *what = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_ptr_array_add(telling->warnings, g_strdup_printf("commit %.12s: %s", commit->pub.sha, what));
}

static struct catalogue_commit *find_or_add(struct commit_telling *telling, const char *sha)
{
    struct catalogue_commit *commit = staging_find_commit(telling->staging, telling->project, sha);
    return commit ? commit : staging_add_commit(telling->staging, telling->project, sha);
}

static bool same_parents(const struct order_commit *order, char **parents)
{
    guint n = g_strv_length(parents);
    if (n != order->n_parents)
        return false;
    for (guint i = 0; i < n; i++)
        if (strcmp(order->parents[i]->sha, parents[i]) != 0)
            return false;
    return true;
}

static guint tell_parents(struct commit_telling *telling, struct catalogue_commit *commit,
                          char **parents)
{
    if (!parents)
        return 0;
    if (commit->order.parents_known) {
        if (!same_parents(&commit->order, parents))
            warn(telling, commit, "other parents than the known ones; the known ones stay");
        return 0;
    }
    g_autoptr(GPtrArray) list = g_ptr_array_new();
    for (guint i = 0; parents[i]; i++)
        g_ptr_array_add(list, &find_or_add(telling, parents[i])->order);
    commit_order_link(&commit->order, (struct order_commit *const *)list->pdata, list->len);
    if (list->len > 0)
        g_ptr_array_add(telling->linked, &commit->order);
    return FACT_PARENTS;
}

static guint tell_time(struct commit_telling *telling, struct catalogue_commit *commit,
                       const struct run_commit *told)
{
    if (!told->has_time)
        return 0;
    if (commit->order.has_time) {
        int64_t known = commit->has_claimed ? commit->claimed_time_s : commit->order.time_s;
        if (known != told->time_s) {
            g_autofree char *known_text = timestamp_format_s(known);
            g_autofree char *told_text = timestamp_format_s(told->time_s);
            warn(telling, commit, "time %s contradicts %s, which is known and stays", told_text,
                 known_text);
        }
        return 0;
    }
    commit->order.has_time = true;
    commit->order.time_s = told->time_s;
    if (told->time_s > telling->now_s + AHEAD_SECONDS_MAX) {
        g_autofree char *told_text = timestamp_format_s(told->time_s);
        commit->has_claimed = true;
        commit->claimed_time_s = told->time_s;
        commit->order.time_s = telling->now_s + AHEAD_SECONDS_MAX;
        warn(telling, commit,
             "time %s is more than a day ahead of this server's clock; it counts as one day ahead",
             told_text);
    }
    return FACT_TIME;
}

static guint tell_text(struct commit_telling *telling, struct catalogue_commit *commit,
                       const char **known, const char *told, guint fact)
{
    if (!told)
        return 0;
    if (!*known) {
        *known = g_strdup(told);
        return fact;
    }
    const char *name = fact == FACT_AUTHOR    ? "author"
                       : fact == FACT_SUBJECT ? "subject"
                                              : "trailers";
    if (fact != FACT_BRANCH && strcmp(*known, told) != 0)
        warn(telling, commit, "%s \"%.200s\" contradicts \"%.200s\", which is known and stays",
             name, told, *known);
    return 0;
}

/* What a commit expects of itself and cannot be understood is kept as it is told, and said. */
static void check_expectations(struct commit_telling *telling,
                               const struct catalogue_commit *commit)
{
    g_autoptr(GPtrArray) problems = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_unref(expectations_parse(commit->trailers_json, problems));
    for (guint i = 0; i < problems->len; i++)
        warn(telling, commit, "%s", (const char *)problems->pdata[i]);
}

static guint told_mask(const struct run_commit *told)
{
    return (told->parents ? FACT_PARENTS : 0u) | (told->has_time ? FACT_TIME : 0u) |
           (told->author ? FACT_AUTHOR : 0u) | (told->subject ? FACT_SUBJECT : 0u) |
           (told->trailers_json ? FACT_TRAILERS : 0u);
}

static bool same_time(const struct catalogue_commit *commit, int64_t time_s)
{
    int64_t known = commit->has_claimed ? commit->claimed_time_s : commit->order.time_s;
    return commit->order.has_time && known == time_s;
}

/* Takes out what only a bound one told, where it is otherwise than what is told now. */
static void make_way(struct commit_telling *telling, struct catalogue_commit *commit,
                     const struct run_commit *told)
{
    guint facts = told_mask(told) | (telling->branch ? FACT_BRANCH : 0u);
    facts &= told->is_bound ? 0u : commit->bound_facts;
    if (facts & FACT_PARENTS && same_parents(&commit->order, told->parents))
        facts &= ~(guint)FACT_PARENTS;
    if (facts & FACT_TIME && same_time(commit, told->time_s))
        facts &= ~(guint)FACT_TIME;
    if (facts & FACT_AUTHOR && g_strcmp0(commit->author, told->author) == 0)
        facts &= ~(guint)FACT_AUTHOR;
    if (facts & FACT_SUBJECT && g_strcmp0(commit->subject, told->subject) == 0)
        facts &= ~(guint)FACT_SUBJECT;
    if (facts & FACT_BRANCH && g_strcmp0(commit->branch, telling->branch) == 0)
        facts &= ~(guint)FACT_BRANCH;
    if (facts == 0)
        return;
    if (facts & ~(guint)FACT_BRANCH)
        warn(telling, commit,
             "a token that is bound to a branch had told otherwise of it; that gave way");
    staging_drop_facts(telling->staging, commit, facts);
}

struct catalogue_commit *commit_telling_tell(struct commit_telling *telling,
                                             const struct run_commit *told)
{
    struct catalogue_commit *commit = find_or_add(telling, told->sha);
    telling->is_bound = told->is_bound;
    make_way(telling, commit, told);
    guint bound_before = commit->bound_facts;
    guint filled = tell_parents(telling, commit, told->parents);
    filled |= tell_time(telling, commit, told);
    filled |= tell_text(telling, commit, &commit->author, told->author, FACT_AUTHOR);
    filled |= tell_text(telling, commit, &commit->subject, told->subject, FACT_SUBJECT);
    if (!telling->is_aside && !told->is_bound)
        filled |=
            tell_text(telling, commit, &commit->trailers_json, told->trailers_json, FACT_TRAILERS);
    filled |= tell_text(telling, commit, &commit->branch, telling->branch, FACT_BRANCH);
    if (filled & FACT_TRAILERS)
        check_expectations(telling, commit);
    if (told->is_bound)
        commit->bound_facts |= filled;
    else
        commit->bound_facts &= ~(told_mask(told) | (telling->branch ? FACT_BRANCH : 0u));
    if (filled || commit->bound_facts != bound_before)
        staging_note_facts(telling->staging, commit, filled, bound_before);
    return commit;
}

/* Adds to `set` all that `from` leads to, upwards or downwards. */
static void reach(GHashTable *set, const GPtrArray *from, bool upwards)
{
    g_autoptr(GPtrArray) list = g_ptr_array_copy((GPtrArray *)(guintptr)from, NULL, NULL);
    for (guint i = 0; i < list->len; i++) {
        const struct order_commit *commit = list->pdata[i];
        struct order_commit **next = upwards ? commit->parents : commit->children;
        guint n = upwards ? commit->n_parents : commit->n_children;
        for (guint k = 0; k < n; k++)
            if (g_hash_table_add(set, next[k]))
                g_ptr_array_add(list, next[k]);
    }
}

/* Takes out the parents that only bound ones told of, of all commits on those cycles. */
static void break_bound_links(struct commit_telling *telling, const GPtrArray *cycles)
{
    g_autoptr(GHashTable) above = g_hash_table_new(NULL, NULL);
    g_autoptr(GHashTable) below = g_hash_table_new(NULL, NULL);
    GHashTableIter iter;
    gpointer order;
    reach(above, cycles, true);
    reach(below, cycles, false);
    g_hash_table_iter_init(&iter, above);
    while (g_hash_table_iter_next(&iter, &order, NULL)) {
        struct catalogue_commit *commit = catalogue_commit_of(order);
        if (commit->bound_facts & FACT_PARENTS && g_hash_table_contains(below, order))
            staging_drop_facts(telling->staging, commit, FACT_PARENTS);
    }
}

void commit_telling_settle(struct commit_telling *telling, guint mark)
{
    int64_t key_min = telling->staging->key_min;
    g_autoptr(GPtrArray) cycles = commit_order_find_cycles(telling->linked, key_min);
    if (cycles->len > 0 && !telling->is_bound) {
        break_bound_links(telling, cycles);
        g_ptr_array_unref(cycles);
        cycles = commit_order_find_cycles(telling->linked, key_min);
    }
    const GPtrArray *changes = telling->staging->changes;
    for (guint i = changes->len; cycles->len > 0 && i-- > mark;) {
        struct staging_change *change = changes->pdata[i];
        struct catalogue_commit *commit = change->object;
        if (change->kind != STAGED_FACTS || !(change->facts & FACT_PARENTS) ||
            !g_ptr_array_find(cycles, &commit->order, NULL))
            continue;
        warn(telling, commit, "its parents would make it its own ancestor; they are not taken");
        staging_take_facts_back(telling->staging, i, FACT_PARENTS);
    }
    if (telling->n_warnings > COMMIT_WARNINGS_MAX)
        g_ptr_array_add(telling->warnings,
                        g_strdup_printf("%u further warnings about commits",
                                        telling->n_warnings - COMMIT_WARNINGS_MAX));
}

/* ---- A document's commits
 * ----------------------------------------------------------------------------------------- */

static bool told_as_known(const struct run_commit *told, const struct catalogue_commit *commit)
{
    int64_t time_s = commit->has_claimed ? commit->claimed_time_s : commit->order.time_s;
    return (!told->parents ||
            (commit->order.parents_known && same_parents(&commit->order, told->parents))) &&
           (!told->has_time || (commit->order.has_time && time_s == told->time_s)) &&
           (!told->author || g_strcmp0(told->author, commit->author) == 0) &&
           (!told->subject || g_strcmp0(told->subject, commit->subject) == 0) &&
           (!told->trailers_json || g_strcmp0(told->trailers_json, commit->trailers_json) == 0);
}

static void pack_spelled(GByteArray *out, const struct run_commit *told)
{
    sample_blob_put_text(out, told->sha);
    if (told->parents) {
        sample_blob_put_uint(out, g_strv_length(told->parents));
        for (guint i = 0; told->parents[i]; i++)
            sample_blob_put_text(out, told->parents[i]);
    }
    if (told->has_time)
        sample_blob_put_int(out, told->time_s);
    if (told->author)
        sample_blob_put_text(out, told->author);
    if (told->subject)
        sample_blob_put_text(out, told->subject);
    if (told->trailers_json)
        sample_blob_put_text(out, told->trailers_json);
}

enum { HEAD_SPELLED = 1, HEAD_NEW_MASK = 2, HEAD_BITS = 2 };

GByteArray *commit_telling_pack(const Run *run, const GPtrArray *known)
{
    GByteArray *out = g_byte_array_sized_new(known->len + 16);
    int64_t previous = 0;
    guint mask = UINT_MAX;
    for (guint i = 0; i < known->len; i++) {
        const struct catalogue_commit *commit = known->pdata[i];
        const struct run_commit *told = i == 0 ? &run->commit : run->history->pdata[i - 1];
        /* What may give way is spelled: the document stays as it was. */
        bool spelled = !told_as_known(told, commit) || (commit->bound_facts & told_mask(told));
        int64_t step = spelled ? 0 : commit->pub.id - previous;
        bool new_mask = told_mask(told) != mask;
        uint64_t zigzag = (uint64_t)step << 1 ^ (step < 0 ? UINT64_MAX : 0);
        sample_blob_put_uint(out, zigzag << HEAD_BITS | (new_mask ? HEAD_NEW_MASK : 0u) |
                                      (spelled ? HEAD_SPELLED : 0u));
        mask = told_mask(told);
        if (new_mask)
            sample_blob_put_uint(out, mask);
        if (spelled)
            pack_spelled(out, told);
        else
            previous = commit->pub.id;
    }
    return out;
}

static void unpack_spelled(struct sample_blob_reader *reader, guint mask, struct run_commit *out)
{
    out->sha = sample_blob_get_text(reader);
    if (mask & FACT_PARENTS) {
        uint64_t n = sample_blob_get_uint(reader);
        g_autoptr(GPtrArray) parents = g_ptr_array_new();
        for (uint64_t i = 0; i < n && !reader->damaged; i++)
            g_ptr_array_add(parents, sample_blob_get_text(reader));
        g_ptr_array_add(parents, NULL);
        out->parents = (char **)g_ptr_array_steal(parents, NULL);
    }
    out->has_time = mask & FACT_TIME;
    if (mask & FACT_TIME)
        out->time_s = sample_blob_get_int(reader);
    if (mask & FACT_AUTHOR)
        out->author = sample_blob_get_text(reader);
    if (mask & FACT_SUBJECT)
        out->subject = sample_blob_get_text(reader);
    if (mask & FACT_TRAILERS)
        out->trailers_json = sample_blob_get_text(reader);
}

static void unpack_known(const struct catalogue_commit *commit, guint mask, struct run_commit *out)
{
    out->sha = g_strdup(commit->pub.sha);
    if ((mask & FACT_PARENTS) && commit->pub.parents) {
        g_autoptr(GPtrArray) parents = g_ptr_array_new();
        for (guint i = 0; commit->pub.parents[i]; i++)
            g_ptr_array_add(parents, g_strdup(commit->pub.parents[i]->sha));
        g_ptr_array_add(parents, NULL);
        out->parents = (char **)g_ptr_array_steal(parents, NULL);
    }
    out->has_time = mask & FACT_TIME;
    if (mask & FACT_TIME)
        out->time_s = commit->told_time_s;
    if (mask & FACT_AUTHOR)
        out->author = g_strdup(commit->pub.author);
    if (mask & FACT_SUBJECT)
        out->subject = g_strdup(commit->pub.subject);
    if (mask & FACT_TRAILERS)
        out->trailers_json = g_strdup(commit->pub.trailers_json);
}

bool commit_telling_unpack(const Catalogue *catalogue, const void *bytes, size_t length, Run *run)
{
    struct sample_blob_reader reader = {.at = bytes, .end = (const guint8 *)bytes + length};
    int64_t id = 0;
    guint mask = 0;
    for (bool first = true; reader.at < reader.end && !reader.damaged; first = false) {
        uint64_t head = sample_blob_get_uint(&reader);
        if (head & HEAD_NEW_MASK)
            mask = (guint)sample_blob_get_uint(&reader);
        uint64_t zigzag = head >> HEAD_BITS;
        if (!(head & HEAD_SPELLED))
            id += (int64_t)((zigzag >> 1) ^ (~(zigzag & 1) + 1));
        const struct catalogue_commit *commit =
            head & HEAD_SPELLED ? NULL : catalogue_commit_at(catalogue, id);
        if (!(head & HEAD_SPELLED) && !commit)
            return false;
        struct run_commit *out = first ? &run->commit : run_commit_new();
        if (!first)
            g_ptr_array_add(run->history, out);
        if (commit)
            unpack_known(commit, mask, out);
        else
            unpack_spelled(&reader, mask, out);
    }
    return !reader.damaged && run->commit.sha != NULL;
}
