/* SPDX-License-Identifier: Apache-2.0
 * /api/machines: where things are measured: facts, environments over time, last seen. Runs on the
 * request's thread. */
#include "server/api/api_list.h"
#include "server/routes.h"

#include <string.h>

static const char *machine_name(gconstpointer item)
{
    return ((const struct store_machine *)item)->name;
}

static void write_head(struct json_writer *writer, const struct store_machine *machine)
{
    json_writer_string(writer, "name", machine->name);
    api_write_taken(writer, "url", api_write_address("/api/machines/", machine->name, NULL));
    json_writer_integer(writer, "runs", machine->n_runs);
    api_write_time_ms(writer, "last_seen", machine->last_seen_ms);
    json_writer_string(writer, "environment", machine->environment_digest);
}

static bool collect(struct api_list *list, GError **error G_GNUC_UNUSED)
{
    api_list_collect_by_name(list, store_machines(list->snapshot), machine_name);
    return true;
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    json_writer_object(writer, NULL);
    write_head(writer, (const struct store_machine *)item);
    json_writer_end(writer);
    return true;
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_machine *machine = (const struct store_machine *)item;
    csv_writer_text(writer, machine->name);
    csv_writer_integer(writer, machine->n_runs);
    api_write_csv_time_ms(writer, machine->last_seen_ms);
    csv_writer_text(writer, machine->environment_digest);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] = g_strdup(machine_name(item));
}

void api_machines_list(HttpRequest *request)
{
    static const char *const columns[] = {"name", "runs", "last_seen", "environment", NULL};
    static const char *const members[] = {"name", "url", "runs", "last_seen", "environment", NULL};
    static const struct api_list_spec spec = {.plural = "machines",
                                              .n_cursor_fields = 1,
                                              .members = members,
                                              .columns = columns,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place};
    api_list_serve(request, &spec, NULL);
}

/* ---- What changed
 * ----------------------------------------------------------------------------------------------
 */

#define CHANGES_MAX 100u

/* struct run_param * by name; empty where the facts are not known. */
static GPtrArray *facts_of(const GPtrArray *environments, const char *digest)
{
    for (guint i = 0; i < environments->len; i++) {
        const struct store_environment *environment =
            (const struct store_environment *)g_ptr_array_index(environments, i);
        GPtrArray *facts = environment->facts_json && strcmp(environment->digest, digest) == 0
                               ? run_params_parse(environment->facts_json)
                               : NULL;
        if (facts)
            return facts;
    }
    return run_params_new();
}

static void write_fact(struct json_writer *writer, const char *name, const char *before,
                       const char *after)
{
    if (g_strcmp0(before, after) == 0)
        return;
    json_writer_object(writer, NULL);
    json_writer_string(writer, "fact", name);
    json_writer_string(writer, "before", before);
    json_writer_string(writer, "after", after);
    json_writer_end(writer);
}

/* Whether the fact at `b` comes before (below 0), after or with the one at `a`, by name. */
static int compare_facts(const GPtrArray *before, guint b, const GPtrArray *after, guint a)
{
    if (b == before->len)
        return 1;
    if (a == after->len)
        return -1;
    return strcmp(((const struct run_param *)before->pdata[b])->name,
                  ((const struct run_param *)after->pdata[a])->name);
}

/* Both are sorted by name. */
static void write_differences(struct json_writer *writer, const GPtrArray *before,
                              const GPtrArray *after)
{
    guint b = 0, a = 0;
    while (b < before->len || a < after->len) {
        int order = compare_facts(before, b, after, a);
        const struct run_param *first = order <= 0 ? before->pdata[b++] : after->pdata[a];
        const struct run_param *second = order >= 0 ? after->pdata[a++] : NULL;
        write_fact(writer, first->name, order <= 0 ? first->value : NULL,
                   second ? second->value : NULL);
    }
}

static void write_changes(struct json_writer *writer, StoreSnapshot *snapshot,
                          const struct store_machine *machine, const GPtrArray *environments)
{
    g_autoptr(GArray) changes = store_machine_changes(snapshot, machine, CHANGES_MAX);
    json_writer_array(writer, "changes");
    for (guint i = changes->len; i-- > 0;) {
        const struct store_environment_change *change =
            &g_array_index(changes, struct store_environment_change, i);
        g_autoptr(GPtrArray) before = facts_of(environments, change->before);
        g_autoptr(GPtrArray) after = facts_of(environments, change->after);
        json_writer_object(writer, NULL);
        json_writer_string(writer, "run", change->run->id);
        json_writer_string(writer, "project", change->run->project->name);
        json_writer_string(writer, "commit", change->run->commit->sha);
        api_write_time_ms(writer, "received", change->run->received_ms);
        json_writer_string(writer, "before", change->before);
        json_writer_string(writer, "after", change->after);
        json_writer_array(writer, "facts");
        write_differences(writer, before, after);
        json_writer_end(writer);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

static void write_aliases(struct json_writer *writer, StoreSnapshot *snapshot,
                          const struct store_machine *machine)
{
    g_autoptr(GPtrArray) aliases = store_machine_aliases(snapshot, machine);
    api_write_strings(writer, "aliases", aliases);
}

/* NULL: the environments could not be read. */
static GString *render_machine(StoreSnapshot *snapshot, const struct store_machine *machine,
                               GError **error)
{
    g_autoptr(GPtrArray) environments = store_machine_environments(snapshot, machine, error);
    if (!environments)
        return NULL;
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    write_head(&writer, machine);
    json_writer_array(&writer, "environments");
    for (guint i = 0; i < environments->len; i++) {
        const struct store_environment *environment =
            (const struct store_environment *)g_ptr_array_index(environments, i);
        json_writer_object(&writer, NULL);
        json_writer_string(&writer, "digest", environment->digest);
        json_writer_raw(&writer, "facts", environment->facts_json);
        json_writer_bool(&writer, "has_topology", environment->has_topology);
        api_write_time_ms(&writer, "first_seen", environment->first_seen_ms);
        api_write_time_ms(&writer, "last_seen", environment->last_seen_ms);
        json_writer_end(&writer);
    }
    json_writer_end(&writer);
    write_changes(&writer, snapshot, machine, environments);
    write_aliases(&writer, snapshot, machine);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return body;
}

void api_machine_get(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    const char *name = http_request_segment(request, "machine");
    StoreSnapshot *snapshot = context_snapshot(request);
    if (!snapshot)
        return;
    const struct store_machine *machine = store_machine_find(snapshot, name);
    if (machine && http_not_modified(request, store_version(snapshot, NULL), HTTP_JSON)) {
        store_snapshot_end(snapshot);
        return;
    }
    GString *body = machine ? render_machine(snapshot, machine, &error) : NULL;
    store_snapshot_end(snapshot);
    if (!machine)
        g_set_error(&error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                    "no machine is named \"%s\"; GET /api/machines lists them", name);
    if (body)
        http_respond(request, 200, HTTP_JSON, body);
    else
        http_respond_error(request, error, NULL);
}
