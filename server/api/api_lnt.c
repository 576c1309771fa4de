/* SPDX-License-Identifier: Apache-2.0
 * POST /db_{db}/v4/{suite}/submitRun: where `lnt submit` and its like send a report. The suite is
 * the project unless the query names one; a report that orders its runs by something else than a
 * commit's sha needs one in the query. Answers are what those clients print. Runs on the request's
 * thread; the answer is given later. */
#include "schema/formats/format.h"
#include "server/api/api_access.h"
#include "server/api/foreign_run.h"
#include "server/api/upload_runs.h"
#include "server/context.h"
#include "server/http/json_writer.h"
#include "server/http/problem.h"
#include "server/routes.h"
#include <string.h>

static void write_faults(GString *text, const Faults *faults)
{
    for (guint i = 0; faults && i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)g_ptr_array_index(faults->items, i);
        g_string_append_printf(text, "%s: %s\n", fault->pointer, fault->message);
    }
}

static void refuse(HttpRequest *request, const GError *error, const Faults *faults)
{
    GString *body = g_string_new(NULL);
    g_autoptr(GString) message = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    write_faults(message, faults);
    json_writer_object(&writer, NULL);
    json_writer_bool(&writer, "success", false);
    json_writer_string(&writer, "error", error->message);
    json_writer_string(&writer, "message", message->str);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, problem_status(error), HTTP_JSON, body);
}

static void answer(HttpRequest *request, const struct upload_outcome *outcome)
{
    if (outcome->error) {
        refuse(request, outcome->error, NULL);
        return;
    }
    GString *body = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(body);
    const char *id = (const char *)g_ptr_array_index(outcome->ids, 0);
    g_autoptr(GString) address = g_string_new("api/runs/");
    http_append_encoded(address, id);
    json_writer_object(&writer, NULL);
    json_writer_bool(&writer, "success", true);
    json_writer_null(&writer, "error");
    json_writer_string(&writer, "run_id", id);
    json_writer_string(&writer, "result_url", address->str);
    json_writer_array(&writer, "warnings");
    for (guint i = 0; i < outcome->warnings->len; i++)
        json_writer_string(&writer, NULL, (const char *)g_ptr_array_index(outcome->warnings, i));
    json_writer_end(&writer);
    json_writer_end(&writer);
    g_string_append_c(body, '\n');
    http_respond(request, 200, HTTP_JSON, body);
}

/* The form's field input_data, or the body itself where it is JSON. The caller frees it. */
static char *take_report(const HttpRequest *request, GError **error)
{
    g_autofree char *type = http_request_media_type(request);
    size_t length;
    const char *body = http_request_body(request, &length);
    if (strcmp(type, "application/json") == 0)
        return g_strndup(body, length);
    g_autoptr(GPtrArray) form = http_request_form(request, error);
    const char *text = form ? http_form_value(form, "input_data") : NULL;
    if (form && !text)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "the form has no field input_data: send the report in it, or the report itself "
                    "as application/json");
    return g_strdup(text);
}

/* What the query says stands above the file. */
static void take_facts(const HttpRequest *request, Run *run)
{
    static const char *const names[] = {"project", "machine", "branch", "commit"};
    char **const slots[] = {&run->project, &run->machine, &run->branch, &run->commit.sha};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        const char *value = http_request_query(request, names[i]);
        if (!value || !*value)
            continue;
        g_free(*slots[i]);
        *slots[i] = g_strdup(value);
    }
    if (!run->project)
        run->project = g_strdup(http_request_segment(request, "suite"));
}

static Run *read_report(HttpRequest *request, const char *report, GPtrArray *warnings,
                        Faults *faults, GError **error)
{
    g_autoptr(Run) run = run_new();
    struct format_reading reading = {
        .format = format_find("lnt"), .run = run, .warnings = warnings, .faults = faults};
    if (!format_read(&reading, report, strlen(report), error))
        return NULL;
    take_facts(request, run);
    if (!run->commit.sha) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the report's run has no full sha as git_sha, llvm_project_revision or commit: "
                    "add ?commit=SHA to the address");
        return NULL;
    }
    g_autoptr(StoreSnapshot) snapshot =
        store_snapshot_begin((StoreReader *)http_request_thread(request), error);
    Run *made = snapshot
                    ? foreign_run_complete(snapshot, run, report, strlen(report), faults, error)
                    : NULL;
    if (made && !api_access_take_run(request, snapshot, made, warnings, error))
        g_clear_pointer(&made, run_free);
    return made;
}

void api_lnt_submit(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    GPtrArray *warnings = g_ptr_array_new_with_free_func(g_free);
    g_autofree char *report = take_report(request, &error);
    Run *run = report ? read_report(request, report, warnings, faults, &error) : NULL;
    if (run) {
        GPtrArray *runs = g_ptr_array_new();
        g_ptr_array_add(runs, run);
        upload_runs_store(request, runs, warnings, answer);
        return;
    }
    g_ptr_array_unref(warnings);
    refuse(request, error, faults);
}
