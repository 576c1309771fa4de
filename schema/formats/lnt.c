/* SPDX-License-Identifier: Apache-2.0
 * LNT's report of version 2: a machine, a run, and tests with the metrics of a test suite, each a
 * number or a list of samples. What the suite nts measures is known; other metrics have no unit and
 * no direction. Any thread. */
#include "schema/formats/parsers.h"

#include <string.h>

#define STATUS_SUFFIX "_status"

static const struct import_metric known[] = {
    {"execution_time", "s", BETTER_LOWER, false}, {"compile_time", "s", BETTER_LOWER, false},
    {"code_size", "B", BETTER_LOWER, false},      {"mem_bytes", "B", BETTER_LOWER, false},
    {"score", "", BETTER_HIGHER, false},
};

static struct import_metric metric_of(const char *name)
{
    for (size_t i = 0; i < G_N_ELEMENTS(known); i++) {
        if (strcmp(known[i].name, name) == 0)
            return known[i];
    }
    return (struct import_metric){name, "", BETTER_UNKNOWN, true};
}

/* 0 is a pass; 2 one that failed as it was expected to. */
static void take_status(Import *import, struct import_result *result, const char *key,
                        json_t *value)
{
    json_t *status = json_is_array(value) ? json_array_get(value, 0) : value;
    size_t n = strlen(key) - strlen(STATUS_SUFFIX);
    double code;
    g_autofree char *message = NULL;

    if (!import_number(status, &code) || code == 0)
        return;
    message = g_strdup_printf("%.*s has the status %.0f", (int)n, key, code);
    import_error(import, result, message);
}

static void take_member(Import *import, struct import_result *result, const char *key,
                        json_t *value)
{
    const struct import_metric metric = metric_of(key);

    if (g_str_has_suffix(key, STATUS_SUFFIX))
        take_status(import, result, key, value);
    else if (strcmp(key, "hash") == 0)
        import_info(import, result, key, value);
    else if (json_is_array(value) && json_is_number(json_array_get(value, 0)))
        import_samples_json(import, result, &metric, value);
    else if (json_is_number(value))
        import_sample_json(import, result, &metric, value);
    /* A text is a profile, or of a suite's own kind: no measurement. */
}

static void take_test(Import *import, json_t *test, void *user)
{
    const char *name = import_text(test, "name"), *key;
    struct import_result *result;
    json_t *value;

    (void)user;
    if (!name) {
        import_fault(import, "name", "is missing: every test needs one");
        return;
    }
    result = import_result_take(import, name, NULL);
    if (!result)
        return;
    json_object_foreach(test, key, value)
    {
        if (strcmp(key, "name") != 0)
            take_member(import, result, key, value);
    }
}

/* The order field of a suite is often a whole sha; a revision's number is only told. */
static void take_run(Import *import, json_t *run)
{
    static const char *const orders[] = {"git_sha", "llvm_project_revision", "commit"};

    import_started(import, import_text(run, "start_time"));
    for (size_t i = 0; i < G_N_ELEMENTS(orders); i++) {
        const char *sha = import_text(run, orders[i]);

        if (sha && strlen(sha) == 40 && strspn(sha, "0123456789abcdef") == 40) {
            import_fact(import, &import->commit.sha, "commit", sha);
            break;
        }
    }
    import_context(import, "run", run);
}

bool lnt_recognise(const struct format_input *input)
{
    return json_is_object(json_object_get(input->json, "machine")) &&
           json_is_object(json_object_get(input->json, "run")) &&
           json_is_array(json_object_get(input->json, "tests"));
}

void lnt_take(Import *import, const struct format_input *input)
{
    json_t *machine = json_object_get(input->json, "machine");

    import_fact(import, &import->machine, "machine", import_text(machine, "name"));
    import_context(import, "machine", machine);
    take_run(import, json_object_get(input->json, "run"));
    import_each_element(import, input->json, "tests", take_test, NULL);
}
