/* SPDX-License-Identifier: Apache-2.0
 * The table of foreign formats, and reading a file by it. Any thread. */
#include "schema/formats/format.h"

#include "schema/document_memory.h"
#include "schema/formats/parsers.h"

#include <string.h>

#define JSON "application/json"

/* Name, description, media type, what stands for samples, and the two functions of parsers.h. */
#define FORMAT(...)                                                                                \
    &(const struct format)                                                                         \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

const struct format *const formats[] = {
    FORMAT("google-benchmark",
           "what Google Benchmark writes with --benchmark_format=json or --benchmark_out=FILE",
           JSON, "each repetition; else the median", google_benchmark_recognise,
           google_benchmark_take),
    FORMAT("bencher", "Bencher Metric Format (BMF), version 0 or 1", JSON,
           "the value; a summary where it has bounds", bencher_recognise, bencher_take),
    FORMAT("conbench", "one Conbench benchmark result, or an array of them", JSON,
           "the data; else the median, else the mean, as a summary", conbench_recognise,
           conbench_take),
    FORMAT("codespeed", "Codespeed's results, as posted to /result/add/json/", JSON,
           "result_value; std_dev, min, max, q1 and q3 are kept beside it", codespeed_recognise,
           codespeed_take),
    FORMAT("github-action-benchmark",
           "github-action-benchmark's custom array; the direction goes by the unit", JSON,
           "the value; a range is kept beside it", github_action_recognise, github_action_take),
    FORMAT("github-action-benchmark-bigger", "the same of the tool customBiggerIsBetter", JSON,
           "the value; a range is kept beside it", NULL, github_action_bigger_take),
    FORMAT("github-action-benchmark-smaller", "the same of the tool customSmallerIsBetter", JSON,
           "the value; a range is kept beside it", NULL, github_action_smaller_take),
    FORMAT("hyperfine", "what hyperfine writes with --export-json FILE", JSON,
           "each timing run; else the mean as a summary", hyperfine_recognise, hyperfine_take),
    FORMAT("go", "Go's benchmark text, as go test -bench prints it", "text/plain",
           "each line of a benchmark (-count)", go_benchmark_recognise, go_benchmark_take),
    FORMAT("pytest-benchmark", "what pytest-benchmark writes with --benchmark-json FILE", JSON,
           "each round; else the median, else the mean, as a summary", pytest_benchmark_recognise,
           pytest_benchmark_take),
    FORMAT(
        "jmh", "what JMH writes with -rf json", JSON,
        "each iteration of each fork; of mode sample each call, up to 10,000, else the median as "
        "a summary",
        jmh_recognise, jmh_take),
    FORMAT("criterion", "cargo-criterion's messages (--message-format=json)",
           "application/x-ndjson", "each sample, divided by its iterations", criterion_recognise,
           criterion_take),
    FORMAT("catch2", "Catch2's XML report (-r xml), version 2 or 3", "application/xml",
           "the mean with its interval, as a summary", catch2_recognise, catch2_take),
    FORMAT("nanobench", "nanobench's JSON template", JSON, "each measurement (epoch)",
           nanobench_recognise, nanobench_take),
    FORMAT("pyperf", "what pyperf writes with -o FILE", JSON, "each value of each process",
           pyperf_recognise, pyperf_take),
    FORMAT("benchmarkdotnet", "what BenchmarkDotNet's JSON exporters write", JSON,
           "the original values; else the median, else the mean, as a summary",
           benchmark_dotnet_recognise, benchmark_dotnet_take),
    FORMAT("vitest", "what vitest bench writes with --outputJson, or tinybench's tasks", JSON,
           "the samples, up to 10,000; else the median, else the mean, as a summary",
           vitest_recognise, vitest_take),
    FORMAT("lnt", "LNT's report, version 2", JSON, "each element of a metric's list", lnt_recognise,
           lnt_take),
    FORMAT("asv", "a result file of airspeed velocity (asv), version 2", JSON,
           "the samples; else the result, a median, as a summary", asv_recognise, asv_take),
    FORMAT("rebench", "what ReBench sends to ReBenchDB", JSON, "each iteration of each invocation",
           rebench_recognise, rebench_take),
    FORMAT("csv", "a table with the columns bench, parameters, metric, unit, better, value",
           "text/csv", "each row", csv_recognise, csv_take),
    NULL,
};

const struct format *format_find(const char *name)
{
    for (size_t i = 0; formats[i]; i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    return NULL;
}

static void append_name(GString *names, const char *name)
{
    g_string_append_printf(names, "%s%s", names->len ? ", " : "", name);
}

char *format_names(void)
{
    GString *names = g_string_new(NULL);

    for (size_t i = 0; formats[i]; i++)
        append_name(names, formats[i]->name);
    return g_string_free(names, FALSE);
}

/* ---- Recognising ------------------------------------------------------------------- */

static void set_unrecognised(const struct format_input *input, GError **error)
{
    g_autofree char *names = format_names();

    if (input->json_error)
        g_set_error(error, BREAKEVEN_ERROR, input->json_error->code,
                    "the file's format is not recognised, and as JSON it is not whole: %s",
                    input->json_error->message);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the file's format is not recognised by its content; name it: %s", names);
}

static const struct format *recognise(const struct format_input *input, GError **error)
{
    g_autoptr(GString) candidates = g_string_new(NULL);
    const struct format *found = NULL;
    guint n_found = 0;

    for (size_t i = 0; formats[i]; i++) {
        if (!formats[i]->recognise || !formats[i]->recognise(input))
            continue;
        append_name(candidates, formats[i]->name);
        found = formats[i];
        n_found++;
    }
    if (n_found == 1)
        return found;
    if (n_found == 0)
        set_unrecognised(input, error);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the file could be of %u formats; name the one it is: %s", n_found,
                    candidates->str);
    return NULL;
}

/* ---- Reading ----------------------------------------------------------------------- */

/* A format of JSON cannot read what is none; where it is broken, the position helps. */
static bool check_syntax(const struct format_input *input, const struct format *format,
                         GError **error)
{
    if (input->json || strcmp(format->media_type, JSON) != 0)
        return true;
    if (input->json_error)
        g_set_error_literal(error, BREAKEVEN_ERROR, input->json_error->code,
                            input->json_error->message);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "malformed JSON: the file is not what %s is: it begins with neither { nor [",
                    format->name);
    return false;
}

static bool read_input(struct format_reading *reading, const struct format_input *input,
                       GError **error)
{
    Import import;

    if (!reading->format)
        reading->format = recognise(input, error);
    if (!reading->format || !check_syntax(input, reading->format, error))
        return false;
    import_begin(&import, reading->run, reading->warnings, reading->faults);
    reading->format->take(&import, input);
    import_end(&import);
    return document_conclude(reading->faults, error);
}

bool format_read(struct format_reading *reading, const char *bytes, size_t length, GError **error)
{
    struct format_input input;
    GError *problem = NULL, *shortage = NULL;

    document_memory_enter();
    bool is_open = format_input_open(&input, bytes, length, &problem);
    bool is_good = is_open && read_input(reading, &input, &problem);
    if (!document_memory_leave(&shortage)) {
        g_clear_error(&problem); /* it may come of the shortage */
        problem = shortage;
        is_good = false;
    }
    format_input_close(&input);
    if (!is_good)
        g_propagate_error(error, problem);
    return is_good;
}

guint format_set_better(Run *run, const char *metric, enum better better)
{
    guint n = 0;

    for (guint i = 0; i < run->results->len; i++) {
        const struct run_result *result =
            (const struct run_result *)g_ptr_array_index(run->results, i);

        for (guint j = 0; j < result->metrics->len; j++) {
            struct run_metric *found = (struct run_metric *)g_ptr_array_index(result->metrics, j);

            if (metric && strcmp(metric, found->name) != 0)
                continue;
            found->better = better;
            n++;
        }
    }
    return n;
}
