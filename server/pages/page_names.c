/* SPDX-License-Identifier: Apache-2.0
 * The 404s name what was asked for and the names that come close. The request's thread, inside its
 * snapshot. */
#include "server/pages/page_names.h"

#include "server/pages/sheet.h"

#include <string.h>

#define SUGGESTIONS_MAX 5u

/* Shares its first four bytes with `name`, or one holds the other, whatever the case. */
static bool is_close(const char *name, const char *candidate)
{
    g_autofree char *left = g_utf8_strdown(name, -1), *right = g_utf8_strdown(candidate, -1);
    return strncmp(left, right, 4) == 0 || strstr(left, right) || strstr(right, left);
}

static void append_suggestion(GString *text, guint *n_found, const char *name,
                              const char *candidate)
{
    if (*n_found >= SUGGESTIONS_MAX || !is_close(name, candidate))
        return;
    g_string_append(text, *n_found == 0 ? " Did you mean " : ", ");
    g_string_append(text, candidate);
    (*n_found)++;
}

/* Access was decided by the name without its suffix: who is bound to that one project sees no other
 * whose whole name this is. */
static bool may_be_whole(const HttpRequest *request, const char *whole)
{
    const Principal *principal = http_request_principal(request);
    return http_request_reads_open(request) || principal_has_project(principal, whole);
}

static struct store_project *find_whole_project(const HttpRequest *request, StoreSnapshot *snapshot)
{
    g_autofree char *whole = sheet_whole_name(request, "project");
    return whole && may_be_whole(request, whole) ? store_project_find(snapshot, whole) : NULL;
}

bool page_project_is_whole(const HttpRequest *request, StoreSnapshot *snapshot)
{
    return find_whole_project(request, snapshot) != NULL;
}

static struct store_benchmark *find_whole_benchmark(const HttpRequest *request,
                                                    const struct store_project *project)
{
    g_autofree char *whole = sheet_whole_name(request, "bench");
    return whole ? store_benchmark_find(project, whole) : NULL;
}

bool page_benchmark_is_whole(const HttpRequest *request, const struct store_project *project)
{
    return find_whole_benchmark(request, project) != NULL;
}

static struct store_machine *find_whole_machine(const HttpRequest *request, StoreSnapshot *snapshot)
{
    g_autofree char *whole = sheet_whole_name(request, "machine");
    return whole ? store_machine_find(snapshot, whole) : NULL;
}

bool page_machine_is_whole(const HttpRequest *request, StoreSnapshot *snapshot)
{
    return find_whole_machine(request, snapshot) != NULL;
}

struct store_project *page_find_project(HttpRequest *request, StoreSnapshot *snapshot)
{
    const char *name = http_request_segment(request, "project");
    struct store_project *project = find_whole_project(request, snapshot);
    project = project ? project : store_project_find(snapshot, name);
    if (project)
        return project;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "No project is called “%s”.", name);
    guint n_found = 0;
    const GPtrArray *projects = store_projects(snapshot);
    for (guint i = 0; i < projects->len; i++)
        append_suggestion(text, &n_found, name,
                          ((const struct store_project *)g_ptr_array_index(projects, i))->name);
    http_respond_status(request, 404, "%s%s", text->str, n_found > 0 ? "?" : "");
    return NULL;
}

struct store_benchmark *page_find_benchmark(HttpRequest *request,
                                            const struct store_project *project)
{
    const char *name = http_request_segment(request, "bench");
    struct store_benchmark *benchmark = find_whole_benchmark(request, project);
    benchmark = benchmark ? benchmark : store_benchmark_find(project, name);
    if (benchmark)
        return benchmark;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "Project “%s” has no benchmark “%s”.", project->name, name);
    guint n_found = 0;
    for (guint i = 0; i < project->benchmarks->len; i++)
        append_suggestion(
            text, &n_found, name,
            ((const struct store_benchmark *)g_ptr_array_index(project->benchmarks, i))->name);
    http_respond_status(request, 404, "%s%s", text->str, n_found > 0 ? "?" : "");
    return NULL;
}

struct store_machine *page_find_machine(HttpRequest *request, StoreSnapshot *snapshot)
{
    const char *name = http_request_segment(request, "machine");
    struct store_machine *machine = find_whole_machine(request, snapshot);
    machine = machine ? machine : store_machine_find(snapshot, name);
    if (machine)
        return machine;
    g_autoptr(GString) text = g_string_new(NULL);
    g_string_printf(text, "No machine is called “%s”.", name);
    guint n_found = 0;
    const GPtrArray *machines = store_machines(snapshot);
    for (guint i = 0; i < machines->len; i++)
        append_suggestion(text, &n_found, name,
                          ((const struct store_machine *)g_ptr_array_index(machines, i))->name);
    http_respond_status(request, 404, "%s%s", text->str, n_found > 0 ? "?" : "");
    return NULL;
}

char *page_form_who(const HttpRequest *request, const GPtrArray *form)
{
    const char *said = http_form_value(form, "who");
    g_autofree char *text = g_strstrip(g_strdup(said ? said : ""));
    return http_request_signed(request, *text ? text : NULL);
}
