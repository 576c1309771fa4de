/* SPDX-License-Identifier: Apache-2.0
 * /api/status: what waits, how much is kept, what failed and what was refused lately. A worker
 * thread. */
#include "server/api/api_write.h"
#include "server/context.h"
#include "server/routes.h"

#include "server/work/server_state.h"

static void write_queue(struct json_writer *writer, const char *key,
                        const struct server_queue *queue)
{
    json_writer_object(writer, key);
    json_writer_integer(writer, "waiting", queue->n);
    json_writer_bool(writer, "more", queue->is_bounded);
    api_write_time_ms(writer, "oldest", queue->oldest_ms);
    json_writer_end(writer);
}

static void write_analysis(struct json_writer *writer, const struct server_state *state)
{
    json_writer_object(writer, "analysis");
    write_queue(writer, "runs", &state->runs);
    write_queue(writer, "series", &state->series);
    json_writer_integer(writer, "runs_judged", state->work.runs_judged);
    json_writer_integer(writer, "series_judged", state->work.series_judged);
    json_writer_integer(writer, "failures", state->work.failures);
    json_writer_end(writer);
}

static void write_writer(struct json_writer *writer, const struct store_status *store)
{
    json_writer_object(writer, "writer");
    json_writer_bool(writer, "can_write", store->can_write);
    json_writer_integer(writer, "waiting", store->queued_writes);
    json_writer_integer(writer, "waiting_bytes", store->queued_bytes);
    json_writer_integer(writer, "transactions", store->commits);
    json_writer_integer(writer, "runs_stored", store->runs_stored);
    json_writer_integer(writer, "runs_refused", store->runs_refused);
    json_writer_end(writer);
}

static void write_store(struct json_writer *writer, const struct server_state *state)
{
    json_writer_object(writer, "store");
    json_writer_string(writer, "engine", state->engine);
    json_writer_integer(writer, "schema", state->schema);
    json_writer_integer(writer, "database_bytes", state->store.database_bytes);
    json_writer_integer(writer, "wal_bytes", state->store.wal_bytes);
    json_writer_integer(writer, "disk_free_bytes", state->store.disk_free_bytes);
    api_write_time_ms(writer, "last_backup", state->store.backup_s * 1000);
    json_writer_object(writer, "rows");
    for (guint i = 0; i < state->n_rows; i++)
        json_writer_integer(writer, state->rows[i].what, (int64_t)state->rows[i].n);
    json_writer_end(writer);
    json_writer_end(writer);
}

static void write_notes(struct json_writer *writer, const char *key, RecentNotes *notes)
{
    guint64 total;
    g_autoptr(GPtrArray) list = recent_notes_copy(notes, &total);
    json_writer_object(writer, key);
    json_writer_integer(writer, "total", (int64_t)total);
    json_writer_array(writer, "latest");
    for (guint i = 0; i < list->len; i++) {
        const struct recent_note *note = list->pdata[i];
        json_writer_object(writer, NULL);
        api_write_time_ms(writer, "time", note->at_ms);
        if (note->status > 0)
            json_writer_integer(writer, "status", note->status);
        else
            json_writer_null(writer, "status");
        json_writer_string(writer, "request", note->where);
        json_writer_string(writer, "reason", note->text);
        json_writer_integer(writer, "times", note->n);
        json_writer_end(writer);
    }
    json_writer_end(writer);
    json_writer_end(writer);
}

static GString *render(const struct context *context, const struct server_state *state)
{
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    json_writer_object(&writer, NULL);
    json_writer_string(&writer, "version", context->version);
    json_writer_string(&writer, "build", context->build_id);
    api_write_time_ms(&writer, "started", context->started_ms);
    api_write_time_ms(&writer, "now", g_get_real_time() / 1000);
    write_analysis(&writer, state);
    write_writer(&writer, &state->store);
    write_store(&writer, state);
    write_notes(&writer, "errors", context->errors);
    write_notes(&writer, "refused", context->refusals);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    return body;
}

void api_status(HttpRequest *request)
{
    const struct context *context = context_of(request);
    struct server_state state;
    g_autoptr(GError) error = NULL;
    StoreReader *reader = (StoreReader *)http_request_thread(request);
    if (server_state_read(&state, context->store, context->work, reader, &error))
        http_respond(request, 200, HTTP_JSON, render(context, &state));
    else
        http_respond_error(request, error, NULL);
}
