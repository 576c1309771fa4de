/* SPDX-License-Identifier: Apache-2.0
 * What pytest-benchmark writes with --benchmark-json. `fullname` names a case, `name` does not; all
 * times are seconds. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

static const struct import_metric time_metric = {"time", "s", BETTER_LOWER, false};

/* "tests/test_sort.py::test_sort[10-fast]" without its brackets, whose content params say. */
static char *bench_of(const char *fullname, json_t *row)
{
    const char *open = strchr(fullname, '[');
    size_t n = strlen(fullname);

    if (open && open > fullname && fullname[n - 1] == ']' &&
        (json_object_size(json_object_get(row, "params")) > 0 || import_text(row, "param")))
        return g_strndup(fullname, (gsize)(open - fullname));
    return g_strdup(fullname);
}

static bool is_told(json_t *value)
{
    return !json_is_object(value) && !json_is_array(value) &&
           !(json_is_string(value) && g_str_has_prefix(json_string_value(value), "UNSERIALIZABLE"));
}

/* Parameters by their names where each is a plain value, else the one text that pytest made. */
static GPtrArray *params_of(json_t *row)
{
    GPtrArray *params = run_params_new();
    json_t *named = json_object_get(row, "params");
    const char *param = import_text(row, "param");
    bool are_plain = json_object_size(named) > 0;
    const char *key;
    json_t *value;

    json_object_foreach(named, key, value)
    {
        are_plain = are_plain && is_told(value);
    }
    if (are_plain)
        import_params_json(params, named);
    else if (param)
        import_param(params, "param", param);
    return params;
}

static void take_stats(Import *import, struct import_result *result, json_t *stats)
{
    struct import_summary summary = {.low = IMPORT_NONE, .high = IMPORT_NONE};
    json_t *data = json_object_get(stats, "data");
    double rounds = 0;

    if (json_array_size(data) > 0) {
        import_samples_json(import, result, &time_metric, data);
        return;
    }
    if (import_member_number(stats, "rounds", &rounds) && rounds >= 1 && rounds < 1e15)
        summary.n = (int64_t)rounds;
    summary.is_mean = !import_member_number(stats, "median", &summary.center);
    if (!summary.is_mean || import_member_number(stats, "mean", &summary.center))
        import_summary(import, result, &time_metric, &summary);
}

static void take_extra_info(Import *import, struct import_result *result, json_t *extra)
{
    const char *key;
    json_t *value;

    json_object_foreach(extra, key, value)
    {
        import_info(import, result, key, value);
    }
}

static void take_row(Import *import, json_t *row, void *user)
{
    const char *fullname = import_text(row, "fullname");
    struct import_result *result;
    g_autofree char *bench = NULL;

    (void)user;
    if (!fullname)
        fullname = import_text(row, "name");
    if (!fullname) {
        import_fault(import, "fullname", "is missing: every benchmark needs one");
        return;
    }
    bench = bench_of(fullname, row);
    result = import_result_take(import, bench, params_of(row));
    if (!result)
        return;
    import_info(import, result, "group", json_object_get(row, "group"));
    take_extra_info(import, result, json_object_get(row, "extra_info"));
    if (json_is_object(json_object_get(row, "stats")))
        take_stats(import, result, json_object_get(row, "stats"));
    else
        import_error(import, result, "it has no stats");
}

static void take_commit(Import *import, json_t *commit)
{
    const char *sha = import_text(commit, "id");

    if (sha && *sha && strspn(sha, "0123456789abcdef") == strlen(sha)) {
        import_fact(import, &import->commit.sha, "commit", sha);
        import_commit_time(import, import_text(commit, "time"));
    }
    import_fact(import, &import->project, "project", import_text(commit, "project"));
    if (g_strcmp0(import_text(commit, "branch"), "(unknown)") != 0 &&
        g_strcmp0(import_text(commit, "branch"), "(detached head)") != 0)
        import_fact(import, &import->branch, "branch", import_text(commit, "branch"));
    import->run->dirty |= json_is_true(json_object_get(commit, "dirty"));
}

static void take_machine(Import *import, json_t *machine)
{
    json_t *cpu = json_object_get(machine, "cpu");

    import_fact(import, &import->machine, "machine", import_text(machine, "node"));
    import_environment(import, "cpu", json_object_get(cpu, "brand_raw"));
    import_environment(import, "cpus", json_object_get(cpu, "count"));
    import_environment(import, "architecture", json_object_get(machine, "machine"));
    import_environment(import, "kernel", json_object_get(machine, "release"));
}

/* Of the machine's facts those that say what measured; the processor's flags would fill pages. */
static void take_context(Import *import, json_t *root)
{
    static const char *const facts[] = {"python_implementation", "python_version",
                                        "python_compiler", "system"};
    json_t *machine = json_object_get(root, "machine_info");

    for (size_t i = 0; i < G_N_ELEMENTS(facts); i++) {
        const char *text = import_text(machine, facts[i]);

        if (text)
            import_context_text(import, facts[i], text);
    }
    if (import_text(root, "version"))
        import_context_text(import, "pytest_benchmark_version", import_text(root, "version"));
}

bool pytest_benchmark_recognise(const struct format_input *input)
{
    json_t *list = json_object_get(input->json, "benchmarks");
    json_t *first = json_array_get(list, 0);

    return json_is_array(list) && json_object_get(input->json, "machine_info") &&
           (!first || (import_text(first, "fullname") && json_object_get(first, "stats")));
}

void pytest_benchmark_take(Import *import, const struct format_input *input)
{
    take_commit(import, json_object_get(input->json, "commit_info"));
    take_machine(import, json_object_get(input->json, "machine_info"));
    take_context(import, input->json);
    import_started(import, import_text(input->json, "datetime"));
    import_each_element(import, input->json, "benchmarks", take_row, NULL);
}
