/* SPDX-License-Identifier: Apache-2.0
 * A request's query as the store's filter. Runs on the request's thread. */
#include "server/api/api_filter.h"

#include "server/api/param_filter.h"
#include <string.h>

#define SHA_DIGITS_MIN 7u
#define PARAM_PREFIX   "param."

static const char *const reasons[] = {"merge",    "nightly", "manual",  "pull-request",
                                      "backfill", "bisect",  "confirm", NULL};
#define REASONS "merge, nightly, manual, pull-request, backfill, bisect, confirm"

bool api_filter_values(const HttpRequest *request, const char *name, GPtrArray **out,
                       GError **error)
{
    *out = http_query_values(request, name);
    for (guint i = 0; *out && i < (*out)->len; i++) {
        if (*(const char *)g_ptr_array_index(*out, i) == '\0') {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "%s: has no value; give one, or leave the parameter out for any", name);
            return false;
        }
    }
    return true;
}

static bool check_reasons(const GPtrArray *values, GError **error)
{
    for (guint i = 0; values && i < values->len; i++) {
        const char *value = (const char *)g_ptr_array_index(values, i);
        if (!g_strv_contains(reasons, value)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "reason: \"%s\" is none of " REASONS,
                        value);
            return false;
        }
    }
    return true;
}

static struct store_param_filter *param_filter_of(struct store_filter *filter, const char *name)
{
    if (!filter->params)
        filter->params = g_ptr_array_new();
    for (guint i = 0; i < filter->params->len; i++) {
        struct store_param_filter *known =
            (struct store_param_filter *)g_ptr_array_index(filter->params, i);
        if (strcmp(known->name, name) == 0)
            return known;
    }
    struct store_param_filter *made = g_new0(struct store_param_filter, 1);
    made->name = g_strdup(name);
    made->values = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_add(filter->params, made);
    return made;
}

static bool take_params(const HttpRequest *request, struct store_filter *filter, GError **error)
{
    const GPtrArray *pairs = http_request_query_pairs(request);
    for (guint i = 0; i < pairs->len; i++) {
        const struct http_pair *pair = (const struct http_pair *)g_ptr_array_index(pairs, i);
        if (!g_str_has_prefix(pair->name, PARAM_PREFIX))
            continue;
        const char *name = pair->name + strlen(PARAM_PREFIX);
        if (!param_filter_add(param_filter_of(filter, name), pair->value, error))
            return false;
    }
    return true;
}

bool api_filter_parse(const HttpRequest *request, struct store_filter *filter, GError **error)
{
    memset(filter, 0, sizeof *filter);
    if (!api_filter_values(request, "project", &filter->projects, error) ||
        !api_filter_values(request, "bench", &filter->benches, error) ||
        !api_filter_values(request, "machine", &filter->machines, error) ||
        !api_filter_values(request, "branch", &filter->branches, error) ||
        !api_filter_values(request, "reason", &filter->reasons, error) ||
        !api_filter_values(request, "metric", &filter->metrics, error) ||
        !check_reasons(filter->reasons, error) ||
        !http_query_time_ms(request, "since", &filter->since_ms, error) ||
        !http_query_time_ms(request, "until", &filter->until_ms, error) ||
        !take_params(request, filter, error))
        return false;
    if (filter->since_ms != 0 && filter->until_ms != 0 && filter->since_ms >= filter->until_ms) {
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_SYNTAX,
            "until: is not after since; runs are given whose start is from since (inclusive) "
            "to until (exclusive)");
        return false;
    }
    return true;
}

void api_filter_free(gpointer filter)
{
    store_filter_clear((struct store_filter *)filter);
    g_free(filter);
}

struct store_filter *api_filter_of(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    struct store_filter *filter = g_new0(struct store_filter, 1);
    if (api_filter_parse(request, filter, &error))
        return filter;
    http_respond_error(request, error, NULL);
    api_filter_free(filter);
    return NULL;
}

bool api_filter_is_sha(const char *text, size_t min)
{
    size_t length = strlen(text);
    return length >= min && length <= 64 && strspn(text, "0123456789abcdefABCDEF") == length;
}

/* What a short sha names in one project is added to `shas`; false: it names several there. */
static bool resolve_in(const struct store_project *project, const char *prefix, GPtrArray *shas,
                       GError **error)
{
    g_autoptr(GError) failure = NULL;
    const struct store_commit *commit = store_commit_find(project, prefix, &failure);
    if (commit) {
        if (!g_ptr_array_find_with_equal_func(shas, commit->sha, g_str_equal, NULL))
            g_ptr_array_add(shas, g_strdup(commit->sha));
    } else if (!g_error_matches(failure, BREAKEVEN_ERROR, ERROR_NOT_FOUND)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "commit: %s", failure->message);
        return false;
    }
    return true;
}

static bool resolve_short(StoreSnapshot *snapshot, struct store_filter *filter, const char *prefix,
                          GError **error)
{
    g_autoptr(GPtrArray) shas = g_ptr_array_new_with_free_func(g_free);
    const GPtrArray *all = store_projects(snapshot);
    for (guint i = 0; i < all->len; i++) {
        const struct store_project *project =
            (const struct store_project *)g_ptr_array_index(all, i);
        bool is_meant =
            !filter->projects ||
            g_ptr_array_find_with_equal_func(filter->projects, project->name, g_str_equal, NULL);
        if (is_meant && !resolve_in(project, prefix, shas, error))
            return false;
    }
    if (shas->len > 1) {
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_SYNTAX,
            "commit: %s names %u commits of different projects (%s, %s, …); add project= or "
            "more digits",
            prefix, shas->len, (const char *)g_ptr_array_index(shas, 0),
            (const char *)g_ptr_array_index(shas, 1));
        return false;
    }
    const char *found = shas->len == 1 ? (const char *)g_ptr_array_index(shas, 0) : prefix;
    g_ptr_array_add(filter->commits, g_strdup(found));
    return true;
}

bool api_filter_resolve_commits(const HttpRequest *request, StoreSnapshot *snapshot,
                                struct store_filter *filter, GError **error)
{
    g_autoptr(GPtrArray) values = NULL;
    if (!api_filter_values(request, "commit", &values, error))
        return false;
    g_clear_pointer(&filter->commits, g_ptr_array_unref);
    for (guint i = 0; values && i < values->len; i++) {
        const char *value = (const char *)g_ptr_array_index(values, i);
        if (!api_filter_is_sha(value, SHA_DIGITS_MIN)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "commit: \"%s\" is no commit; give %u to 64 hex digits of a sha", value,
                        SHA_DIGITS_MIN);
            return false;
        }
        if (!filter->commits)
            filter->commits = g_ptr_array_new_with_free_func(g_free);
        g_autofree char *lower = g_ascii_strdown(value, -1);
        size_t length = strlen(lower);
        if (length == 40 || length == 64)
            g_ptr_array_add(filter->commits, g_steal_pointer(&lower));
        else if (!resolve_short(snapshot, filter, lower, error))
            return false;
    }
    return true;
}

int64_t api_filter_version(StoreSnapshot *snapshot, const struct store_filter *filter)
{
    const struct store_project *project = NULL;
    if (filter->projects && filter->projects->len == 1)
        project =
            store_project_find(snapshot, (const char *)g_ptr_array_index(filter->projects, 0));
    return store_version(snapshot, project);
}
