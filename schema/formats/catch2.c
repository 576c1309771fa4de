/* SPDX-License-Identifier: Apache-2.0
 * Catch2's XML report (-r xml) of versions 2 and 3: each BenchmarkResults has the mean of its
 * samples in nanoseconds with its confidence interval. What is no benchmark means nothing here.
 * GLib's reader knows no entities but XML's own five, so nothing outside the file is read. Any
 * thread. */
#include "schema/formats/parsers.h"

#include <string.h>

static const struct import_metric time_metric = {"time", "ns", BETTER_LOWER, false};

struct reader {
    Import *import;
    GPtrArray *path;              /* char *: names of the test case and the sections around */
    struct import_result *result; /* of the BenchmarkResults around, or NULL */
    int64_t n_samples;
};

static const char *attribute(const char **names, const char **values, const char *name)
{
    for (size_t i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return values[i];
    }
    return NULL;
}

static double number_attribute(const char **names, const char **values, const char *name)
{
    const char *text = attribute(names, values, name);
    char *end = NULL;
    double value = text ? g_ascii_strtod(text, &end) : 0;

    return text && end > text && !*end ? value : IMPORT_NONE;
}

/* "test case/section/benchmark", of which the last part may hold parameters. */
static struct import_result *take_result(struct reader *reader, const char *name)
{
    GPtrArray *params = run_params_new();
    g_autofree char *own = import_split_name(name, params);
    g_autoptr(GString) bench = g_string_new(NULL);

    for (guint i = 0; i < reader->path->len; i++)
        g_string_append_printf(bench, "%s/", (const char *)reader->path->pdata[i]);
    g_string_append(bench, own);
    return import_result_take(reader->import, bench->str, params);
}

static void take_mean(struct reader *reader, const char **names, const char **values)
{
    const struct import_summary summary = {
        .center = number_attribute(names, values, "value"),
        .low = number_attribute(names, values, "lowerBound"),
        .high = number_attribute(names, values, "upperBound"),
        .n = reader->n_samples,
        .is_mean = true,
    };

    import_summary(reader->import, reader->result, &time_metric, &summary);
}

static void begin_element(GMarkupParseContext *context, const char *element, const char **names,
                          const char **values, void *user, GError **error)
{
    struct reader *reader = user;
    const char *name = attribute(names, values, "name");
    int line;

    (void)error;
    g_markup_parse_context_get_position(context, &line, NULL);
    reader->import->line = (guint)line;
    if (strcmp(element, "TestCase") == 0 || strcmp(element, "Section") == 0) {
        g_ptr_array_add(reader->path, g_strdup(name ? name : ""));
    } else if (strcmp(element, "BenchmarkResults") == 0) {
        double n = number_attribute(names, values, "samples");

        reader->n_samples = n >= 1 && n < 1e15 ? (int64_t)n : 0;
        reader->result = take_result(reader, name ? name : "");
    } else if (reader->result && strcmp(element, "mean") == 0) {
        take_mean(reader, names, values);
    } else if (reader->result && strcmp(element, "failed") == 0) {
        import_error(reader->import, reader->result, attribute(names, values, "message"));
    }
}

static void end_element(GMarkupParseContext *context, const char *element, void *user,
                        GError **error)
{
    struct reader *reader = user;

    (void)context, (void)error;
    if (strcmp(element, "BenchmarkResults") == 0)
        reader->result = NULL;
    else if (strcmp(element, "TestCase") == 0 || strcmp(element, "Section") == 0)
        g_ptr_array_set_size(reader->path, (int)reader->path->len - 1);
}

bool catch2_recognise(const struct format_input *input)
{
    return !input->json && strstr(input->bytes, "<BenchmarkResults ") &&
           strstr(input->bytes, "<Catch");
}

void catch2_take(Import *import, const struct format_input *input)
{
    static const GMarkupParser parser = {.start_element = begin_element,
                                         .end_element = end_element};
    g_autoptr(GPtrArray) path = g_ptr_array_new_with_free_func(g_free);
    struct reader reader = {.import = import, .path = path};
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&parser, G_MARKUP_TREAT_CDATA_AS_TEXT, &reader, NULL);
    g_autoptr(GError) error = NULL;
    bool is_whole =
        g_markup_parse_context_parse(context, input->bytes, (gssize)input->length, &error) &&
        g_markup_parse_context_end_parse(context, &error);

    import->line = 0;
    if (!is_whole) { /* GLib may quote a part of a character */
        g_autofree char *says = g_utf8_make_valid(error->message, -1);
        import_fault(import, NULL, "is no whole XML: %s", says);
    } else if (import->rows->len == 0) {
        import_fault(import, NULL, "holds no BenchmarkResults");
    }
}
