/* SPDX-License-Identifier: Apache-2.0
 * What BenchmarkDotNet's JSON exporters write, brief or full. Times are nanoseconds an operation;
 * a benchmark without statistics was not measured. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

#define JOB_DEFAULT "DefaultJob"

static const struct import_metric time_metric = {"time", "ns/op", BETTER_LOWER, false};
static const struct import_metric allocated_metric = {"allocated", "B/op", BETTER_LOWER, false};

/* "N=1000&Kind=list" */
static void take_parameters(GPtrArray *params, const char *text)
{
    g_auto(GStrv) pairs = g_strsplit(text ? text : "", "&", -1);

    for (size_t i = 0; pairs[i]; i++) {
        char *equals = strchr(pairs[i], '=');

        if (!equals)
            continue;
        *equals = '\0';
        import_param(params, pairs[i], equals + 1);
    }
}

/* Of "Type.Method: Job-AHXFZQ(Runtime=.NET 8.0) [N=10]" what the job sets, for its name is made
 * anew by some versions; else its name, unless it is the default. */
static void take_job(GPtrArray *params, const char *display)
{
    const char *job = display ? strstr(display, ": ") : NULL;
    size_t n;
    g_autofree char *own = NULL;

    if (!job)
        return;
    job += strlen(": ");
    n = strcspn(job, "([");
    if (job[n] == '(') {
        job += n + 1;
        n = strcspn(job, ")");
    }
    own = g_strstrip(g_strndup(job, n));
    if (*own && strcmp(own, JOB_DEFAULT) != 0)
        import_param(params, "job", own);
}

static char *bench_of(json_t *row)
{
    const char *parts[] = {import_text(row, "Namespace"), import_text(row, "Type"),
                           import_text(row, "Method")};
    GString *bench = g_string_new(NULL);

    for (size_t i = 0; i < G_N_ELEMENTS(parts); i++) {
        if (parts[i] && *parts[i])
            g_string_append_printf(bench, "%s%s", bench->len ? "." : "", parts[i]);
    }
    return g_string_free(bench, FALSE);
}

static void take_statistics(Import *import, struct import_result *result, json_t *statistics)
{
    json_t *values = json_object_get(statistics, "OriginalValues");
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE};
    double n = 0;

    if (json_array_size(values) > 0) {
        import_samples_json(import, result, &time_metric, values);
        return;
    }
    if (import_member_number(statistics, "N", &n) && n >= 1 && n < 1e15)
        summary.n = (int64_t)n;
    summary.is_mean = !import_member_number(statistics, "Median", &summary.center);
    if (!summary.is_mean || import_member_number(statistics, "Mean", &summary.center))
        import_summary(import, result, &time_metric, &summary);
}

static void take_row(Import *import, json_t *row, void *user)
{
    json_t *memory = json_object_get(row, "Memory");
    g_autofree char *bench = bench_of(row);
    struct import_result *result;
    GPtrArray *params;

    (void)user;
    if (!*bench) {
        import_fault(import, "Method", "is missing: every benchmark needs one");
        return;
    }
    params = run_params_new();
    take_parameters(params, import_text(row, "Parameters"));
    take_job(params, import_text(row, "DisplayInfo"));
    result = import_result_take(import, bench, params);
    if (!result)
        return;
    if (json_is_object(json_object_get(row, "Statistics")))
        take_statistics(import, result, json_object_get(row, "Statistics"));
    else
        import_error(import, result, "it has no statistics: it was not measured");
    if (json_object_get(memory, "BytesAllocatedPerOperation"))
        import_sample_json(import, result, &allocated_metric,
                           json_object_get(memory, "BytesAllocatedPerOperation"));
}

static void take_host(Import *import, json_t *host)
{
    import_environment(import, "cpu", json_object_get(host, "ProcessorName"));
    import_environment(import, "cpus", json_object_get(host, "LogicalCoreCount"));
    import_environment(import, "architecture", json_object_get(host, "Architecture"));
    import_context_text(import, "os", import_text(host, "OsVersion"));
    import_context_text(import, "runtime", import_text(host, "RuntimeVersion"));
    import_context_text(import, "benchmarkdotnet", import_text(host, "BenchmarkDotNetVersion"));
}

bool benchmark_dotnet_recognise(const struct format_input *input)
{
    return json_object_get(input->json, "HostEnvironmentInfo") &&
           json_is_array(json_object_get(input->json, "Benchmarks"));
}

void benchmark_dotnet_take(Import *import, const struct format_input *input)
{
    take_host(import, json_object_get(input->json, "HostEnvironmentInfo"));
    import_each_element(import, input->json, "Benchmarks", take_row, NULL);
}
