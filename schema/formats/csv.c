/* SPDX-License-Identifier: Apache-2.0
 * Comma-separated values, and the plainest of the foreign formats: a table whose first line names
 * the columns. `bench` and `value` must be there; `metric`, `unit`, `better` and `error` may; every
 * other column is a parameter, which a row does not have where its field is empty. Rows that repeat
 * are samples. Any thread. */
#include "schema/formats/csv.h"

#include "schema/error.h"
#include "schema/formats/parsers.h"

#include <string.h>

/* ---- Reading ----------------------------------------------------------------------- */

static bool read_quoted(struct csv_reader *reader, GString *field, GError **error)
{
    for (reader->at++; *reader->at; reader->at++) {
        if (*reader->at == '"' && reader->at[1] != '"') {
            reader->at++;
            if (!strchr(",\r\n", *reader->at)) { /* true of the NUL, too */
                g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                            "line %u: a comma or the line's end must follow a quoted field",
                            reader->line);
                return false;
            }
            return true;
        }
        reader->at += *reader->at == '"';
        reader->n_lines += *reader->at == '\n';
        g_string_append_c(field, *reader->at);
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "line %u: a quote is not closed",
                reader->line);
    return false;
}

static bool read_field(struct csv_reader *reader, GPtrArray *fields, GError **error)
{
    g_autoptr(GString) field = g_string_new(NULL);

    if (*reader->at == '"') {
        if (!read_quoted(reader, field, error))
            return false;
    } else {
        size_t n = strcspn(reader->at, ",\r\n");

        g_string_append_len(field, reader->at, (gssize)n);
        reader->at += n;
    }
    if (fields->len >= CSV_FIELDS_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "line %u: there are over %u fields",
                    reader->line, CSV_FIELDS_MAX);
        return false;
    }
    g_ptr_array_add(fields, g_string_free(g_steal_pointer(&field), FALSE));
    return true;
}

static void skip_line_end(struct csv_reader *reader)
{
    if (*reader->at == '\r')
        reader->at++;
    if (*reader->at == '\n') {
        reader->at++;
        reader->n_lines++;
    }
}

GPtrArray *csv_read(struct csv_reader *reader, GError **error)
{
    g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);

    while (*reader->at == '\r' || *reader->at == '\n')
        skip_line_end(reader);
    if (!*reader->at)
        return NULL;
    reader->line = reader->n_lines + 1;
    do {
        reader->at += fields->len > 0; /* the comma */
        if (!read_field(reader, fields, error))
            return NULL;
    } while (*reader->at == ',');
    skip_line_end(reader);
    return g_steal_pointer(&fields);
}

/* ---- The format -------------------------------------------------------------------- */

enum column { BENCH, METRIC, UNIT, BETTER, VALUE, ERROR, COLUMNS };
static const char *const column_names[COLUMNS] = {"bench",  "metric", "unit",
                                                  "better", "value",  "error"};

static guint column_index(const GPtrArray *header, enum column column)
{
    guint index = 0;

    while (index < header->len && strcmp(header->pdata[index], column_names[column]) != 0)
        index++;
    return index;
}

/* "" where the table has no such column. */
static const char *field_of(const GPtrArray *header, const GPtrArray *fields, enum column column)
{
    guint index = column_index(header, column);

    return index < fields->len ? fields->pdata[index] : "";
}

static bool is_parameter(const char *name)
{
    return *name && !g_strv_contains((const char *const[]){"bench", "metric", "unit", "better",
                                                           "value", "error", NULL},
                                     name);
}

static GPtrArray *params_of(const GPtrArray *header, const GPtrArray *fields)
{
    GPtrArray *params = run_params_new();

    for (guint i = 0; i < header->len; i++) {
        const char *value = fields->pdata[i];

        if (is_parameter(header->pdata[i]) && *value)
            import_param(params, header->pdata[i], value);
    }
    return params;
}

static void take_value(Import *import, struct import_result *result, const GPtrArray *header,
                       const GPtrArray *fields)
{
    const char *metric_name = field_of(header, fields, METRIC);
    const char *better = field_of(header, fields, BETTER);
    struct import_metric metric = {*metric_name ? metric_name : NULL,
                                   field_of(header, fields, UNIT), BETTER_UNKNOWN, false};
    json_t *value = json_string(field_of(header, fields, VALUE));

    if (strcmp(better, "higher") == 0 || strcmp(better, "lower") == 0)
        metric.better = import_claim(import, result, metric.unit,
                                     *better == 'h' ? BETTER_HIGHER : BETTER_LOWER);
    else if (strcmp(better, "none") == 0)
        metric.is_undirected = true;
    else if (*better)
        import_fault(import, NULL, "has \"%.60s\" for better: it must be higher, lower or none",
                     better);
    import_sample_json(import, result, &metric, value);
    json_decref(value);
}

static void take_record(Import *import, const GPtrArray *header, const GPtrArray *fields)
{
    const char *bench = field_of(header, fields, BENCH);
    struct import_result *result;

    if (fields->len != header->len) {
        import_fault(import, NULL, "has %u fields, the first line %u", fields->len, header->len);
        return;
    }
    result = import_result_take(import, bench, params_of(header, fields));
    if (!result)
        return;
    if (*field_of(header, fields, ERROR))
        import_error(import, result, field_of(header, fields, ERROR));
    if (*field_of(header, fields, VALUE) || !*field_of(header, fields, ERROR))
        take_value(import, result, header, fields);
}

static void take_records(Import *import, struct csv_reader *reader, const GPtrArray *header,
                         GError **error)
{
    GPtrArray *fields;

    while ((fields = csv_read(reader, error)) != NULL) {
        import->line = reader->line;
        take_record(import, header, fields);
        g_ptr_array_unref(fields);
    }
}

static bool has_columns(const GPtrArray *header)
{
    return header && column_index(header, BENCH) < header->len &&
           column_index(header, VALUE) < header->len;
}

bool csv_recognise(const struct format_input *input)
{
    struct csv_reader reader = {.at = input->bytes};
    g_autoptr(GPtrArray) header = input->json ? NULL : csv_read(&reader, NULL);

    return has_columns(header);
}

void csv_take(Import *import, const struct format_input *input)
{
    struct csv_reader reader = {.at = input->bytes};
    g_autoptr(GError) error = NULL;
    g_autoptr(GPtrArray) header = csv_read(&reader, &error);

    if (has_columns(header))
        take_records(import, &reader, header, &error);
    else if (!error)
        import_fault(import, NULL,
                     "must begin with the names of its columns, among them bench and "
                     "value, with commas between them");
    import->line = 0;
    if (error)
        import_fault(import, NULL, "%s", error->message);
}
