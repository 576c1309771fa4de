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

/* Access was decided by the name in the path, with its suffix or without it: who is bound to the
 * one project is not shown the other, nor the names of others. */
static bool may_see(const HttpRequest *request, const char *project)
{
    return http_request_reads_open(request) ||
           principal_has_project(http_request_principal(request), project);
}

static struct store_project *find_whole_project(const HttpRequest *request, StoreSnapshot *snapshot)
{
    g_autofree char *whole = sheet_whole_name(request, "project");
    return whole && may_see(request, whole) ? store_project_find(snapshot, whole) : NULL;
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

/* The 404 of a name, with those of `known` (NULL: none) that come close. */
static void respond_not_found(HttpRequest *request, const char *says, const char *name,
                              const GPtrArray *known, const char *(*name_of)(gconstpointer item))
{
    g_autoptr(GString) text = g_string_new(says);
    guint n_found = 0;
    for (guint i = 0; known && i < known->len; i++)
        append_suggestion(text, &n_found, name, name_of(known->pdata[i]));
    http_respond_status(request, 404, "%s%s", text->str, n_found > 0 ? "?" : "");
}

static const char *name_of_project(gconstpointer item)
{
    return ((const struct store_project *)item)->name;
}

static const char *name_of_benchmark(gconstpointer item)
{
    return ((const struct store_benchmark *)item)->name;
}

static const char *name_of_machine(gconstpointer item)
{
    return ((const struct store_machine *)item)->name;
}

struct store_project *page_find_project(HttpRequest *request, StoreSnapshot *snapshot)
{
    const char *name = http_request_segment(request, "project");
    struct store_project *project = find_whole_project(request, snapshot);
    if (!project && may_see(request, name))
        project = store_project_find(snapshot, name);
    if (project)
        return project;
    g_autofree char *says = g_strdup_printf("No project is called “%s”.", name);
    respond_not_found(request, says, name, may_see(request, NULL) ? store_projects(snapshot) : NULL,
                      name_of_project);
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
    g_autofree char *says =
        g_strdup_printf("Project “%s” has no benchmark “%s”.", project->name, name);
    respond_not_found(request, says, name, project->benchmarks, name_of_benchmark);
    return NULL;
}

struct store_machine *page_find_machine(HttpRequest *request, StoreSnapshot *snapshot)
{
    const char *name = http_request_segment(request, "machine");
    struct store_machine *machine = find_whole_machine(request, snapshot);
    machine = machine ? machine : store_machine_find(snapshot, name);
    if (machine)
        return machine;
    g_autofree char *says = g_strdup_printf("No machine is called “%s”.", name);
    respond_not_found(request, says, name, store_machines(snapshot), name_of_machine);
    return NULL;
}

char *page_form_who(const HttpRequest *request, const GPtrArray *form)
{
    const char *said = http_form_value(form, "who");
    g_autofree char *text = g_strstrip(g_strdup(said ? said : ""));
    return http_request_signed(request, *text ? text : NULL);
}
