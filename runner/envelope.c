/* SPDX-License-Identifier: Apache-2.0
 * Builds documents. It measures nothing and sends nothing. Main thread. */
#include "runner/envelope.h"

#include "runner/raw_commit.h"
#include "runner/uuid.h"
#include "schema/number.h"
#include "schema/timestamp.h"
#include <jansson.h>
#include <string.h>

int64_t envelope_now_ms(void)
{
    return g_get_real_time() / 1000;
}

static struct run_commit *commit_copy(const struct run_commit *commit)
{
    struct run_commit *copy = run_commit_new();
    copy->sha = g_strdup(commit->sha);
    copy->parents = g_strdupv(commit->parents);
    copy->has_time = commit->has_time;
    copy->time_s = commit->time_s;
    copy->author = g_strdup(commit->author);
    copy->subject = g_strdup(commit->subject);
    copy->trailers_json = g_strdup(commit->trailers_json);
    return copy;
}

Run *envelope_new(const Provenance *provenance, GError **error)
{
    g_autofree char *id = uuid_new_v7(envelope_now_ms(), error);
    if (!id)
        return NULL;
    Run *run = run_new();
    run->id = g_steal_pointer(&id);
    run->project = g_strdup(provenance->project);
    run->machine = g_strdup(provenance->machine);
    run->branch = g_strdup(provenance->branch);
    run->dirty = provenance->dirty;
    run->source_json = g_strdup(provenance->source_json);
    run->reason = g_strdup(provenance->reason);
    struct run_commit *commit = commit_copy(provenance->commit);
    run->commit = *commit;
    g_free(commit);
    for (guint i = 0; provenance->history && i < provenance->history->len; i++)
        g_ptr_array_add(run->history,
                        commit_copy((const struct run_commit *)provenance->history->pdata[i]));
    return run;
}

static char *join_arguments(int argc, char **argv)
{
    g_autoptr(GString) line = g_string_new(NULL);
    for (int i = 0; i < argc; i++)
        g_string_append_printf(line, "%s%s", i ? " " : "", argv[i]);
    return raw_commit_clean_text(line->str, line->len, RUN_NAME_BYTES_MAX);
}

char *envelope_context(const Plan *plan, guint rounds, uint64_t seed, int argc, char **argv)
{
    g_autofree char *arguments = join_arguments(argc, argv);
    json_t *context = json_object();
    json_object_set_new(context, "argv", json_string(arguments ? arguments : ""));
    json_object_set_new(context, "plan", json_string(plan->name));
    json_object_set_new(context, "rounds", json_integer(rounds));
    json_object_set_new(context, "runner", json_string(BREAKEVEN_VERSION));
    json_object_set_new(context, "sample_ms", json_integer(plan->sample_ms));
    json_object_set_new(context, "samples_per_round", json_integer(plan->samples));
    json_object_set_new(context, "seed", json_integer((json_int_t)seed));
    char *text = json_dumps(context, JSON_COMPACT | JSON_SORT_KEYS);
    json_decref(context);
    char *copy = g_strdup(text);
    free(text);
    return copy;
}

GString *envelope_print(const Run *run, Faults *faults, GError **error)
{
    GString *text = g_string_new(NULL);
    run_print(run, text);
    Run *checked = NULL;
    if (text->len > RUN_BODY_BYTES_MAX)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "the document has %" G_GSIZE_FORMAT " bytes; at most %u are taken", text->len,
                    RUN_BODY_BYTES_MAX);
    else
        checked = run_parse(text->str, text->len, faults, error);
    if (checked) {
        run_free(checked);
        return text;
    }
    g_string_free(text, TRUE);
    return NULL;
}

static void append_member(GString *out, const char *name, const char *value)
{
    if (!value)
        return;
    g_string_append_printf(out, ",\"%s\":", name);
    json_append_string(out, value);
}

static void append_commit(GString *out, const struct run_commit *commit)
{
    g_string_append(out, "{\"sha\":");
    json_append_string(out, commit->sha);
    if (commit->parents) {
        g_string_append(out, ",\"parents\":[");
        for (guint i = 0; commit->parents[i]; i++) {
            if (i)
                g_string_append_c(out, ',');
            json_append_string(out, commit->parents[i]);
        }
        g_string_append_c(out, ']');
    }
    g_autofree char *time = commit->has_time ? timestamp_format_s(commit->time_s) : NULL;
    append_member(out, "time", time);
    append_member(out, "author", commit->author);
    append_member(out, "subject", commit->subject);
    if (commit->trailers_json)
        g_string_append_printf(out, ",\"trailers\":%s", commit->trailers_json);
    g_string_append_c(out, '}');
}

GString *envelope_commits(const GPtrArray *commits, guint from, guint to)
{
    GString *out = g_string_new("{\"commits\":[");
    for (guint i = from; i < to; i++) {
        if (i > from)
            g_string_append_c(out, ',');
        append_commit(out, (const struct run_commit *)commits->pdata[i]);
    }
    g_string_append(out, "]}");
    return out;
}
