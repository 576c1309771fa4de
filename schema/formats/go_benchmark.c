/* SPDX-License-Identifier: Apache-2.0
 * Go's benchmark text, as `go test -bench` prints it: configuration lines `key: value` that hold
 * until they change, `Unit` lines, and results `BenchmarkName-8 iterations value unit …`, which
 * repeat with -count. Other lines are a test's own output and mean nothing here. Any thread. */
#include "schema/formats/metric_unit.h"
#include "schema/formats/parsers.h"

#include "schema/text.h"

#include <math.h>
#include <string.h>

#define PREFIX       "Benchmark"
#define FIELDS_MAX   (2 + 2 * RUN_METRICS_MAX)
#define PACKAGE_KEY  "pkg"
#define MESSAGES_MAX 20u /* lines of a failed benchmark's own messages */

struct reader {
    json_t *config;               /* what holds now */
    json_t *varying;              /* the set of the keys that have several values in the file */
    json_t *better;               /* unit to "higher" or "lower", by Unit lines */
    struct import_result *failed; /* whose verdict was the last, or NULL */
    const char *verdict;          /* "failed" or "skipped" */
    GString *messages;            /* indented lines: before the verdict with -v, else after it */
    guint n_messages;
};

/* ---- Lines ------------------------------------------------------------------------- */

/* "key: value" where the key begins with a lower-case letter and holds neither capitals nor spaces;
 * NULL for any other line. The value is what stands after the colon and spaces. */
static char *config_key(const char *line, const char **out_value)
{
    size_t n = 0;

    if (!g_ascii_islower(line[0]))
        return NULL;
    while (line[n] && line[n] != ':' && !g_ascii_isupper(line[n]) && !g_ascii_isspace(line[n]))
        n++;
    if (line[n] != ':' || (line[n + 1] && !g_ascii_isspace(line[n + 1])))
        return NULL;
    *out_value = line + n + 1 + strspn(line + n + 1, " \t");
    return g_strndup(line, n);
}

static bool is_result_name(const char *word)
{
    const char *rest = word + strlen(PREFIX);

    return g_str_has_prefix(word, PREFIX) && !g_unichar_islower(g_utf8_get_char(rest));
}

/* The fields between spaces and tabs, at most one more than FIELDS_MAX; the caller frees the list.
 */
static GPtrArray *fields_of(const char *line)
{
    GPtrArray *fields = g_ptr_array_new_with_free_func(g_free);

    while (*line && fields->len <= FIELDS_MAX) {
        size_t n;

        line += strspn(line, " \t");
        n = strcspn(line, " \t");
        if (n)
            g_ptr_array_add(fields, g_strndup(line, n));
        line += n;
    }
    return fields;
}

/* A number as Go prints it, NaN and +Inf too. */
static bool field_number(const char *text, double *out)
{
    char *end;

    if (strlen(text) > 64 || strpbrk(text, "xXpP"))
        return false;
    *out = g_ascii_strtod(text, &end);
    return end != text && *end == '\0';
}

/* ---- Metrics ----------------------------------------------------------------------- */

/* A custom unit such as p99-ns or 99%-us/op has the unit after its last dash. */
static struct import_metric metric_of(const struct reader *reader, const char *unit)
{
    struct import_metric metric = {.name = unit, .unit = unit};
    const char *dash = strrchr(unit, '-');
    const char *better = import_text(reader->better, unit);
    struct metric_unit normal;

    metric_unit_normalise(unit, &normal);
    if (strcmp(normal.text, "ns/op") == 0 || strcmp(normal.text, "B/s") == 0)
        metric.name = NULL;
    else if (dash && dash > unit && dash[1])
        metric.unit = dash + 1;
    if (better)
        metric.better = strcmp(better, "higher") == 0 ? BETTER_HIGHER : BETTER_LOWER;
    return metric;
}

static void take_values(Import *import, const struct reader *reader, struct import_result *result,
                        const GPtrArray *fields)
{
    for (guint i = 2; i + 1 < fields->len; i += 2) {
        const char *unit = (const char *)g_ptr_array_index(fields, i + 1);
        struct import_metric metric = metric_of(reader, unit);
        g_autofree char *excerpt = text_excerpt(unit);
        double value = IMPORT_NONE;

        if (field_number((const char *)g_ptr_array_index(fields, i), &value))
            import_sample(import, result, &metric, value);
        else
            import_warn(import, "line %u: the value before %s is no number", import->line, excerpt);
    }
}

/* ---- Results ----------------------------------------------------------------------- */

/* "Sort/n=10/fast-8" without its -8, which is GOMAXPROCS and absent where that is 1. */
static char *without_procs(const char *name, GPtrArray *params)
{
    const char *dash = strrchr(name, '-');
    size_t n_digits = dash ? strspn(dash + 1, "0123456789") : 0;

    if (n_digits == 0 || n_digits > 6 || dash[1 + n_digits] || dash == name)
        return g_strdup(name);
    import_param(params, "procs", dash + 1);
    return g_strndup(name, (gsize)(dash - name));
}

static struct import_result *result_of(Import *import, const struct reader *reader,
                                       const char *word)
{
    GPtrArray *params = run_params_new();
    g_autofree char *name = NULL;
    g_autofree char *bench = NULL;
    const char *key;
    json_t *value;

    word += is_result_name(word) ? strlen(PREFIX) : 0;
    json_object_foreach(reader->config, key, value)
    {
        if (strcmp(key, PACKAGE_KEY) == 0 || json_object_get(reader->varying, key))
            import_param(params, key, json_string_value(value));
    }
    name = without_procs(word, params);
    bench = import_split_name(*name ? name : PREFIX, params);
    return import_result_take(import, bench, params);
}

static void warn_of_line(Import *import)
{
    import_warn(import,
                "line %u: no result, though it begins with " PREFIX
                ": it is not of the form \"name "
                "iterations value unit …\"",
                import->line);
}

static void take_result(Import *import, const struct reader *reader, const char *line)
{
    g_autoptr(GPtrArray) fields = fields_of(line);
    struct import_result *result;
    double iterations;

    /* A name alone says that it begins: the result follows. */
    if (fields->len < 2)
        return;
    bool is_result =
        fields->len >= 4 && field_number((const char *)g_ptr_array_index(fields, 1), &iterations);
    if (is_result && fields->len > FIELDS_MAX) {
        import_fault(import, NULL, "has more than the %u metrics that a result may hold",
                     RUN_METRICS_MAX);
    } else if (!is_result || fields->len % 2) {
        warn_of_line(import);
    } else {
        result = result_of(import, reader, (const char *)g_ptr_array_index(fields, 0));
        if (result)
            take_values(import, reader, result, fields);
    }
}

/* ---- What failed ------------------------------------------------------------------- */

static void end_failure(Import *import, struct reader *reader)
{
    if (reader->failed) {
        g_string_prepend(reader->messages, reader->messages->len ? ": " : "");
        g_string_prepend(reader->messages, reader->verdict);
        import_error(import, reader->failed, reader->messages->str);
    }
    reader->failed = NULL;
    reader->n_messages = 0;
    g_string_truncate(reader->messages, 0);
}

/* "--- FAIL: BenchmarkX-8" or SKIP; its messages are the indented lines before and after it. */
static bool take_verdict(Import *import, struct reader *reader, const char *line)
{
    static const char fail[] = "--- FAIL: ", skip[] = "--- SKIP: ";
    bool is_skip = g_str_has_prefix(line, skip);
    const char *name = line + strlen(fail);
    g_autoptr(GPtrArray) fields = NULL;

    if ((!is_skip && !g_str_has_prefix(line, fail)) || !is_result_name(name))
        return false;
    if (reader->failed)
        end_failure(import, reader);
    fields = fields_of(name);
    reader->failed = result_of(import, reader, (const char *)g_ptr_array_index(fields, 0));
    reader->verdict = is_skip ? "skipped" : "failed";
    return true;
}

static bool take_message(struct reader *reader, const char *line)
{
    if (!g_ascii_isspace(*line))
        return false;
    if (reader->n_messages++ < MESSAGES_MAX)
        g_string_append_printf(reader->messages, "%s%s", reader->messages->len ? "\n" : "",
                               line + strspn(line, " \t"));
    return true;
}

/* ---- The walk ---------------------------------------------------------------------- */

/* "Unit MB/s better=higher assume=exact" */
static void take_unit(struct reader *reader, const char *line)
{
    g_autoptr(GPtrArray) fields = fields_of(line);

    for (guint i = 2; i < fields->len; i++) {
        const char *field = (const char *)g_ptr_array_index(fields, i);

        if (strcmp(field, "better=higher") == 0 || strcmp(field, "better=lower") == 0)
            json_object_set_new(reader->better, (const char *)g_ptr_array_index(fields, 1),
                                json_string(strchr(field, '=') + 1));
    }
}

static bool take_config(Import *import, struct reader *reader, const char *line)
{
    const char *value = NULL;
    g_autofree char *key = config_key(line, &value);
    g_autofree char *excerpt = NULL;

    if (!key)
        return false;
    excerpt = text_excerpt(value);
    if (strcmp(key, "panic") == 0)
        import_warn(import, "line %u: the benchmarks ended with a panic: %s", import->line,
                    excerpt);
    else if (*value && json_object_size(reader->config) < RUN_MAP_MAX)
        json_object_set_new(reader->config, key, json_string(value));
    else
        json_object_del(reader->config, key);
    return true;
}

static void take_line(Import *import, struct reader *reader, const char *line)
{
    if (take_message(reader, line) || take_verdict(import, reader, line))
        return;
    end_failure(import, reader);
    if (is_result_name(line))
        take_result(import, reader, line);
    else if (g_str_has_prefix(line, "Unit "))
        take_unit(reader, line);
    else
        take_config(import, reader, line);
}

/* The keys whose value changes in the file: they tell results apart. The others are of the run. */
static void find_varying(Import *import, struct reader *reader, const char *text)
{
    for (char *line; (line = format_input_line(&text)); g_free(line)) {
        const char *value = NULL;
        g_autofree char *key = config_key(line, &value);
        const char *known = key ? import_text(reader->config, key) : NULL;

        if (!key || !*value || json_object_size(reader->config) >= RUN_MAP_MAX)
            continue;
        if (known && strcmp(known, value) != 0)
            json_object_set_new(reader->varying, key, json_true());
        json_object_set_new(reader->config, key, json_string(value));
    }
    for (void *at = json_object_iter(reader->config); at;
         at = json_object_iter_next(reader->config, at)) {
        const char *key = json_object_iter_key(at);

        if (strcmp(key, PACKAGE_KEY) == 0 || strcmp(key, "panic") == 0 ||
            json_object_get(reader->varying, key))
            continue;
        import_context_text(import, key, json_string_value(json_object_iter_value(at)));
        if (strcmp(key, "cpu") == 0)
            import_environment(import, key, json_object_iter_value(at));
    }
    json_object_clear(reader->config);
}

bool go_benchmark_recognise(const struct format_input *input)
{
    const char *cursor = input->bytes;

    if (input->json || input->json_error)
        return false;
    for (char *line; (line = format_input_line(&cursor)); g_free(line)) {
        g_autoptr(GPtrArray) fields = is_result_name(line) ? fields_of(line) : NULL;
        bool is_result = fields && fields->len >= 4 && fields->len % 2 == 0;
        bool is_verdict = g_str_has_prefix(line, "--- FAIL: " PREFIX);

        if (is_result || is_verdict) {
            g_free(line);
            return true;
        }
    }
    return false;
}

void go_benchmark_take(Import *import, const struct format_input *input)
{
    struct reader reader = {
        .config = json_object(), .varying = json_object(), .better = json_object()};
    const char *cursor = input->bytes;

    reader.messages = g_string_new(NULL);
    find_varying(import, &reader, input->bytes);
    for (char *line; (line = format_input_line(&cursor)); g_free(line)) {
        import->line++;
        take_line(import, &reader, line);
    }
    end_failure(import, &reader);
    import->line = 0;
    if (import->rows->len == 0)
        import_fault(import, NULL,
                     "holds no result: a line such as \"BenchmarkSort-8 1000 1234 ns/op\"");
    g_string_free(reader.messages, TRUE);
    json_decref(reader.better);
    json_decref(reader.varying);
    json_decref(reader.config);
}
