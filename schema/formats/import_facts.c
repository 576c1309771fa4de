/* SPDX-License-Identifier: Apache-2.0
 * What a foreign file says of the run as a whole: its context, the machine, the time. Any thread.
 */
#include "schema/formats/import.h"

#include "schema/number.h"
#include "schema/text.h"
#include "schema/timestamp.h"

#include <math.h>
#include <string.h>

#define LIST_ELEMENTS_MAX  64u
#define CONTEXT_LEVELS_MAX 4

/* {"type":"Unified","level":3,"size":33554432,"num_sharing":2} → "L3 Unified 33554432 B shared by
 * 2": how Google Benchmark writes a cache. */
static void append_cache(GString *out, const json_t *cache)
{
    const char *type = import_text(cache, "type");

    g_string_append_printf(out, "%sL%.0f %s ", out->len ? ", " : "",
                           json_number_value(json_object_get(cache, "level")), type ? type : "");
    number_append(out, json_number_value(json_object_get(cache, "size")));
    g_string_append(out, " B shared by ");
    number_append(out, json_number_value(json_object_get(cache, "num_sharing")));
}

/* A list of scalars or of caches as one text; NULL where it is neither. */
static char *list_text(const json_t *list)
{
    g_autoptr(GString) out = g_string_new(NULL);

    if (!json_is_array(list) || json_array_size(list) > LIST_ELEMENTS_MAX)
        return NULL;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *element = json_array_get(list, i);

        if (json_is_object(element)) {
            append_cache(out, element);
            continue;
        }
        if (i)
            g_string_append(out, ", ");
        if (json_is_string(element))
            g_string_append(out, json_string_value(element));
        else if (!document_append_scalar(out, element))
            return NULL;
    }
    return g_strndup(out->str, text_prefix_bytes(out->str, RUN_TEXT_BYTES_MAX));
}

static json_t *bounded_text(const char *text)
{
    return json_stringn(text, text_prefix_bytes(text, RUN_TEXT_BYTES_MAX));
}

/* The value as the run document takes it, or NULL. */
static json_t *flat_value(json_t *value)
{
    g_autofree char *list = list_text(value);

    if (list)
        return bounded_text(list);
    if (json_is_string(value))
        return bounded_text(json_string_value(value));
    if (json_is_integer(value)) {
        json_int_t whole = json_integer_value(value);

        if (whole > DOCUMENT_WHOLE_MAX || whole < -DOCUMENT_WHOLE_MAX)
            return json_sprintf("%" JSON_INTEGER_FORMAT, whole);
    }
    return json_is_number(value) || json_is_boolean(value) ? json_incref(value) : NULL;
}

/* NOLINTNEXTLINE(misc-no-recursion): CONTEXT_LEVELS_MAX deep */
static guint context_take(Import *import, const char *prefix, json_t *object, int level)
{
    guint n_left_out = 0;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        g_autofree char *name = *prefix ? g_strdup_printf("%s.%s", prefix, key) : g_strdup(key);
        g_autofree char *problem = text_name_problem(name, strlen(name), RUN_NAME_BYTES_MAX);
        json_t *flat = NULL;

        if (json_is_object(value) && level < CONTEXT_LEVELS_MAX && !problem) {
            n_left_out += context_take(import, name, value, level + 1);
            continue;
        }
        if (json_is_null(value) || (json_is_array(value) && json_array_size(value) == 0))
            continue; /* it says nothing */
        if (!problem && json_object_size(import->context) < RUN_MAP_MAX)
            flat = flat_value(value);
        if (flat)
            json_object_set_new(import->context, name, flat);
        else
            n_left_out++;
    }
    return n_left_out;
}

void import_context(Import *import, const char *prefix, json_t *object)
{
    guint n_left_out = context_take(import, prefix, object, 0);

    if (n_left_out)
        import_warn(import,
                    "context: %u entries are left out: no scalar, not a finite number, or a name "
                    "that is not allowed",
                    n_left_out);
}

void import_context_text(Import *import, const char *key, const char *text)
{
    g_autofree char *name = import_tidy(key, RUN_NAME_BYTES_MAX);

    if (text && *name && json_object_size(import->context) < RUN_MAP_MAX)
        json_object_set_new(import->context, name, bounded_text(text));
}

void import_environment(Import *import, const char *fact, const json_t *value)
{
    if (json_is_string(value) && *json_string_value(value))
        json_object_set_new(import->environment, fact, bounded_text(json_string_value(value)));
    else if (json_is_boolean(value) || (json_is_number(value) && fabs(json_number_value(value)) <=
                                                                     (double)DOCUMENT_WHOLE_MAX))
        json_object_set_new(import->environment, fact, json_deep_copy(value));
}

void import_fact(Import *import, char **slot, const char *what, const char *text)
{
    g_autofree char *tidy = import_tidy(text ? text : "", RUN_NAME_BYTES_MAX);
    g_autofree char *problem = text_name_problem(tidy, strlen(tidy), RUN_NAME_BYTES_MAX);
    g_autofree char *known = NULL;
    g_autofree char *other = NULL;

    if (*tidy == '\0' || g_strcmp0(*slot, tidy) == 0)
        return;
    if (problem) {
        import_fault(import, NULL, "its %s %s", what, problem);
        return;
    }
    if (!*slot) {
        *slot = g_steal_pointer(&tidy);
        return;
    }
    known = text_excerpt(*slot);
    other = text_excerpt(tidy);
    import_fault(import, NULL,
                 "is of the %s \"%s\", but what stands before it of \"%s\": a run has one; send "
                 "them apart",
                 what, other, known);
}

static void fill(char **slot, char **said)
{
    if (!*slot)
        *slot = g_steal_pointer(said);
    g_clear_pointer(said, g_free);
}

/* Facts of a commit go with its sha only: the caller may have named another. */
static void fill_commit(Run *run, struct run_commit *said)
{
    if (!run->commit.sha) {
        run_commit_clear(&run->commit);
        run->commit = *said;
        memset(said, 0, sizeof *said);
    } else if (g_strcmp0(run->commit.sha, said->sha) == 0 && !run->commit.has_time) {
        run->commit.has_time = said->has_time;
        run->commit.time_s = said->time_s;
    }
    run_commit_clear(said);
}

void import_fill_facts(Import *import)
{
    fill(&import->run->project, &import->project);
    fill(&import->run->machine, &import->machine);
    fill(&import->run->branch, &import->branch);
    fill_commit(import->run, &import->commit);
}

void import_commit_time(Import *import, const char *text)
{
    g_autoptr(GError) error = NULL;
    int64_t time_ms = 0;

    if (!text)
        return;
    if (import_time_ms(text, &time_ms, &error)) {
        import->commit.has_time = true;
        import->commit.time_s = time_ms / 1000;
    } else {
        import_warn(import, "the commit's time is not taken: %s", error->message);
    }
}

/* With Z where no offset is said, and T for a space. */
bool import_time_ms(const char *text, int64_t *out_ms, GError **error)
{
    g_autofree char *copy = g_strndup(text, text_prefix_bytes(text, RUN_NAME_BYTES_MAX));
    g_autofree char *with_zone = NULL;
    size_t length = strlen(copy);
    const char *clock = length > 10 ? copy + 10 : copy;

    if (length > 10 && copy[10] == ' ')
        copy[10] = 'T';
    if (length > 10 && !strpbrk(clock, "Zz+-"))
        with_zone = g_strconcat(copy, "Z", NULL);
    return timestamp_parse_ms(with_zone ? with_zone : copy, out_ms, error);
}

void import_started(Import *import, const char *text)
{
    g_autoptr(GError) error = NULL;
    int64_t time_ms = 0;

    if (!text)
        return;
    if (!import_time_ms(text, &time_ms, &error))
        import_warn(import, "the date is not taken: %s", error->message);
    else if (import->run->started_ms == 0 || time_ms < import->run->started_ms)
        import->run->started_ms = time_ms;
}
