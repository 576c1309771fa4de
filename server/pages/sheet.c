/* SPDX-License-Identifier: Apache-2.0
 * See sheet.h. The forms are written straight into one text; no table is built. */
#include "server/pages/sheet.h"

#include "schema/timestamp.h"
#include "server/http/csv_writer.h"
#include "server/http/json_writer.h"
#include "server/pages/layout.h"
#include "server/pages/link.h"
#include "server/pages/markdown.h"

#include <math.h>
#include <string.h>

#define COLUMNS_MAX 40u

static const struct {
    enum sheet_form form;
    const char *word, *suffix, *type;
} forms[] = {{SHEET_JSON, "json", ".json", HTTP_JSON},
             {SHEET_CSV, "csv", ".csv", HTTP_CSV},
             {SHEET_MARKDOWN, "md", ".md", HTTP_MARKDOWN},
             {SHEET_HTML, "html", "", HTTP_HTML}};

struct sheet {
    enum sheet_form form;
    GString *text;
    char *origin;
    const char *wanted; /* the table that CSV shows; NULL: the first */
    bool is_found;      /* it was written */
    GString *tables;    /* their keys, for whoever asked for another */
    struct json_writer json;
    struct csv_writer csv;
    bool has_facts, has_tables;
    /* of the table at hand */
    const struct sheet_column *columns;
    guint n_columns, column, n_rows, rows_max;
    bool is_skipped;
};

/* ---- Which form ------------------------------------------------------------------------------ */

static const char *suffix_of(const HttpRequest *request)
{
    const char *pattern = http_request_pattern(request);
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (*forms[i].suffix && g_str_has_suffix(pattern, forms[i].suffix))
            return forms[i].suffix;
    }
    return "";
}

enum sheet_form sheet_form_of(const HttpRequest *request, bool is_name)
{
    const char *asked = http_request_query(request, "as"), *suffix = suffix_of(request);
    for (guint i = 0; asked && i < G_N_ELEMENTS(forms); i++) {
        if (strcmp(forms[i].word, asked) == 0)
            return forms[i].form;
    }
    for (guint i = 0; !is_name && i < G_N_ELEMENTS(forms); i++) {
        if (strcmp(forms[i].suffix, suffix) == 0)
            return forms[i].form;
    }
    return SHEET_HTML;
}

const char *sheet_type(enum sheet_form form)
{
    for (guint i = 0; i < G_N_ELEMENTS(forms); i++) {
        if (forms[i].form == form)
            return forms[i].type;
    }
    return HTTP_HTML;
}

char *sheet_whole_name(const HttpRequest *request, const char *name)
{
    const char *suffix = suffix_of(request);
    g_autofree char *end = g_strdup_printf("/{%s}%s", name, suffix);
    if (!*suffix || !g_str_has_suffix(http_request_pattern(request), end))
        return NULL;
    return g_strconcat(http_request_segment(request, name), suffix, NULL);
}

/* The address of the page that a sheet is another form of. A suffix is part of the name where the
 * form was asked for by `as`. */
static char *page_of(const HttpRequest *request)
{
    g_autofree char *path = g_strdup(http_request_path(request));
    g_autofree char *query = link_query(http_request_query_pairs(request), "as", NULL);
    const char *suffix = http_request_query(request, "as") ? "" : suffix_of(request);
    if (g_str_has_suffix(path, suffix))
        path[strlen(path) - strlen(suffix)] = '\0';
    return g_strconcat(strcmp(path, "/index") == 0 ? "/" : path, query[1] ? query : "", NULL);
}

/* ---- The whole ------------------------------------------------------------------------------- */

Sheet *sheet_new(const HttpRequest *request, enum sheet_form form, const char *title)
{
    Sheet *sheet = g_new0(Sheet, 1);
    sheet->form = form;
    sheet->text = g_string_sized_new(4096);
    sheet->origin = http_request_origin(request);
    sheet->wanted = form == SHEET_CSV ? http_request_query(request, "table") : NULL;
    sheet->tables = g_string_new(NULL);
    sheet->json = (struct json_writer)JSON_WRITER_INIT(sheet->text);
    sheet->csv = (struct csv_writer)CSV_WRITER_INIT(sheet->text);
    if (form == SHEET_JSON) {
        json_writer_object(&sheet->json, NULL);
        json_writer_string(&sheet->json, "title", title);
    } else if (form == SHEET_MARKDOWN) {
        g_autofree char *page = page_of(request);
        g_string_append(sheet->text, "### ");
        markdown_append_link(sheet->text, title, sheet->origin, page);
        g_string_append(sheet->text, "\n\n");
    }
    return sheet;
}

void sheet_csv_default(Sheet *sheet, const char *key)
{
    if (sheet->form == SHEET_CSV && !sheet->wanted)
        sheet->wanted = key;
}

void sheet_free(Sheet *sheet)
{
    if (!sheet)
        return;
    if (sheet->text)
        g_string_free(sheet->text, TRUE);
    g_string_free(sheet->tables, TRUE);
    g_free(sheet->origin);
    g_free(sheet);
}

void sheet_send(HttpRequest *request, Sheet *sheet)
{
    if (sheet->wanted && !sheet->is_found) {
        http_respond_status(request, 404, "“%s” is none of the page’s tables: %s.", sheet->wanted,
                            sheet->tables->str);
        sheet_free(sheet);
        return;
    }
    if (sheet->form == SHEET_JSON) {
        json_writer_end(&sheet->json);
        g_string_append_c(sheet->text, '\n');
    }
    http_respond(request, 200, sheet_type(sheet->form), g_steal_pointer(&sheet->text));
    sheet_free(sheet);
}

void sheet_respond(HttpRequest *request, Html *html, Sheet *sheet, const GError *error)
{
    if (html)
        layout_send(request, html);
    else if (sheet)
        sheet_send(request, sheet);
    else
        http_respond_error(request, error, NULL);
}

/* ---- Facts ----------------------------------------------------------------------------------- */

static void begin_line(Sheet *sheet, const char *label)
{
    sheet->has_facts = true;
    if (label)
        g_string_append_printf(sheet->text, "- %s: ", label);
}

static void end_line(Sheet *sheet, const char *label)
{
    g_string_append(sheet->text, label ? "\n" : "\n\n");
}

void sheet_fact(Sheet *sheet, const char *key, const char *label, const char *text)
{
    sheet_fact_link(sheet, key, label, text, NULL);
}

void sheet_fact_link(Sheet *sheet, const char *key, const char *label, const char *text,
                     const char *path)
{
    if (sheet->form == SHEET_JSON && key)
        json_writer_string(&sheet->json, key, text);
    if (sheet->form != SHEET_MARKDOWN || !text)
        return;
    begin_line(sheet, label);
    markdown_append_link(sheet->text, text, sheet->origin, path);
    end_line(sheet, label);
}

void sheet_fact_integer(Sheet *sheet, const char *key, const char *label, int64_t value)
{
    if (sheet->form == SHEET_JSON && key)
        json_writer_integer(&sheet->json, key, value);
    if (sheet->form != SHEET_MARKDOWN || !label)
        return;
    begin_line(sheet, label);
    g_string_append_printf(sheet->text, "%" G_GINT64_FORMAT, (gint64)value);
    end_line(sheet, label);
}

void sheet_fact_ratio(Sheet *sheet, const char *key, const char *label, double ratio)
{
    char text[QUANTITY_TEXT_BYTES];
    if (sheet->form == SHEET_JSON && key)
        json_writer_number(&sheet->json, key, ratio);
    if (sheet->form != SHEET_MARKDOWN || !label || !isfinite(ratio))
        return;
    begin_line(sheet, label);
    quantity_ratio(ratio, text);
    g_string_append(sheet->text, text);
    end_line(sheet, label);
}

void sheet_fact_list(Sheet *sheet, const char *key, const char *label, const GPtrArray *texts)
{
    if (sheet->form == SHEET_JSON && key)
        json_writer_array(&sheet->json, key);
    for (guint i = 0; texts && i < texts->len; i++) {
        const char *text = (const char *)texts->pdata[i];
        if (sheet->form == SHEET_JSON && key)
            json_writer_string(&sheet->json, NULL, text);
        if (sheet->form != SHEET_MARKDOWN || !label)
            continue;
        begin_line(sheet, label);
        markdown_append_text(sheet->text, text);
        end_line(sheet, label);
    }
    if (sheet->form == SHEET_JSON && key)
        json_writer_end(&sheet->json);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static bool is_told(const Sheet *sheet, const struct sheet_column *column)
{
    return sheet->form == SHEET_MARKDOWN ? column->title != NULL : column->key != NULL;
}

static void write_csv_heading(Sheet *sheet)
{
    for (guint i = 0; i < sheet->n_columns; i++) {
        if (sheet->columns[i].key)
            csv_writer_text(&sheet->csv, sheet->columns[i].key);
    }
    csv_writer_end_row(&sheet->csv);
}

static void write_markdown_heading(Sheet *sheet, const char *title)
{
    if (sheet->has_facts)
        g_string_append_c(sheet->text, '\n');
    sheet->has_facts = false;
    if (title)
        g_string_append_printf(sheet->text, "#### %s\n\n", title);
    for (guint i = 0; i < sheet->n_columns; i++) {
        if (sheet->columns[i].title)
            g_string_append_printf(sheet->text, "| %s ", sheet->columns[i].title);
    }
    g_string_append(sheet->text, "|\n");
    for (guint i = 0; i < sheet->n_columns; i++) {
        if (sheet->columns[i].title)
            g_string_append(sheet->text, sheet->columns[i].is_number ? "|--:" : "|:--");
    }
    g_string_append(sheet->text, "|\n");
}

void sheet_table(Sheet *sheet, const char *key, const char *title,
                 const struct sheet_column *columns, guint rows_max)
{
    bool is_first = !sheet->has_tables;
    sheet->has_tables = true;
    sheet->columns = columns;
    sheet->n_columns = sheet->column = sheet->n_rows = 0;
    sheet->rows_max = rows_max;
    while (sheet->n_columns < COLUMNS_MAX &&
           (columns[sheet->n_columns].key || columns[sheet->n_columns].title))
        sheet->n_columns++;
    bool is_wanted = sheet->wanted ? strcmp(sheet->wanted, key) == 0 : is_first;
    sheet->is_skipped = sheet->form == SHEET_CSV && !is_wanted;
    sheet->is_found = sheet->is_found || is_wanted;
    g_string_append_printf(sheet->tables, "%s%s", is_first ? "" : ", ", key);
    if (sheet->form == SHEET_JSON)
        json_writer_array(&sheet->json, key);
    else if (sheet->form == SHEET_MARKDOWN)
        write_markdown_heading(sheet, title);
    else if (!sheet->is_skipped)
        write_csv_heading(sheet);
}

void sheet_table_end(Sheet *sheet)
{
    if (sheet->form == SHEET_JSON)
        json_writer_end(&sheet->json);
    if (sheet->form == SHEET_MARKDOWN && sheet->n_rows == 0)
        g_string_append(sheet->text, "| none |\n");
    if (sheet->form == SHEET_MARKDOWN && sheet->rows_max > 0 && sheet->n_rows > sheet->rows_max)
        g_string_append_printf(sheet->text, "\nThe first %u of %u.\n", sheet->rows_max,
                               sheet->n_rows);
    if (sheet->form == SHEET_MARKDOWN)
        g_string_append_c(sheet->text, '\n');
    sheet->columns = NULL;
    sheet->is_skipped = false;
}

/* The key of the next cell, "" in Markdown; NULL: it is not told. Every cell begins and ends so. */
static const char *begin_cell(Sheet *sheet)
{
    const struct sheet_column *column = &sheet->columns[sheet->column];
    bool is_cut =
        sheet->form == SHEET_MARKDOWN && sheet->rows_max > 0 && sheet->n_rows >= sheet->rows_max;
    if (sheet->column == 0 && sheet->form == SHEET_JSON)
        json_writer_object(&sheet->json, NULL);
    if (sheet->is_skipped || is_cut || !is_told(sheet, column))
        return NULL;
    if (sheet->form == SHEET_MARKDOWN)
        g_string_append(sheet->text, "| ");
    return sheet->form == SHEET_MARKDOWN ? "" : column->key;
}

static void end_cell(Sheet *sheet, const char *key)
{
    bool is_cut =
        sheet->form == SHEET_MARKDOWN && sheet->rows_max > 0 && sheet->n_rows >= sheet->rows_max;
    if (key && sheet->form == SHEET_MARKDOWN)
        g_string_append_c(sheet->text, ' ');
    if (++sheet->column < sheet->n_columns)
        return;
    sheet->column = 0;
    sheet->n_rows++;
    if (sheet->form == SHEET_JSON)
        json_writer_end(&sheet->json);
    else if (sheet->form == SHEET_CSV && !sheet->is_skipped)
        csv_writer_end_row(&sheet->csv);
    else if (sheet->form == SHEET_MARKDOWN && !is_cut)
        g_string_append(sheet->text, "|\n");
}

static void write_none(Sheet *sheet, const char *key)
{
    if (sheet->form == SHEET_JSON)
        json_writer_null(&sheet->json, key);
    else if (sheet->form == SHEET_CSV)
        csv_writer_empty(&sheet->csv, 1);
    else
        g_string_append(sheet->text, "–");
}

void sheet_text(Sheet *sheet, const char *text)
{
    sheet_link(sheet, text, NULL);
}

void sheet_link(Sheet *sheet, const char *text, const char *path)
{
    const char *key = begin_cell(sheet);
    if (key && !text)
        write_none(sheet, key);
    else if (key && sheet->form == SHEET_JSON)
        json_writer_string(&sheet->json, key, text);
    else if (key && sheet->form == SHEET_CSV)
        csv_writer_text(&sheet->csv, text);
    else if (key)
        markdown_append_link(sheet->text, text, sheet->origin, path);
    end_cell(sheet, key);
}

void sheet_commit(Sheet *sheet, const struct store_commit *commit)
{
    bool is_short = commit && sheet->form == SHEET_MARKDOWN;
    g_autofree char *shown = is_short ? g_strndup(commit->sha, 8) : NULL;
    g_autofree char *path = is_short ? link_commit(commit->project->name, commit->sha) : NULL;
    sheet_link(sheet, is_short ? shown : commit ? commit->sha : NULL, path);
}

void sheet_raw(Sheet *sheet, const char *json, const char *text)
{
    const char *key = begin_cell(sheet);
    if (key && sheet->form == SHEET_JSON)
        json_writer_raw(&sheet->json, key, json);
    else if (key && sheet->form == SHEET_CSV)
        csv_writer_text(&sheet->csv, json);
    else if (key)
        markdown_append_text(sheet->text, text);
    end_cell(sheet, key);
}

/* A number, and how people read it. */
static void write_number(Sheet *sheet, double value, const char *shown)
{
    const char *key = begin_cell(sheet);
    if (key && !isfinite(value))
        write_none(sheet, key);
    else if (key && sheet->form == SHEET_JSON)
        json_writer_number(&sheet->json, key, value);
    else if (key && sheet->form == SHEET_CSV)
        csv_writer_number(&sheet->csv, value);
    else if (key)
        markdown_append_text(sheet->text, shown);
    end_cell(sheet, key);
}

void sheet_number(Sheet *sheet, double value, const char *unit)
{
    g_autofree char *shown =
        sheet->form == SHEET_MARKDOWN && isfinite(value) ? quantity_text(value, unit) : NULL;
    write_number(sheet, value, shown);
}

void sheet_ratio(Sheet *sheet, double ratio)
{
    char shown[QUANTITY_TEXT_BYTES];
    quantity_ratio(ratio, shown);
    write_number(sheet, ratio, shown);
}

void sheet_share(Sheet *sheet, double ratio)
{
    char shown[QUANTITY_TEXT_BYTES];
    quantity_ratio(fabs(ratio), shown);
    write_number(sheet, ratio, *shown == '+' ? shown + 1 : shown);
}

void sheet_probability(Sheet *sheet, double p)
{
    char shown[G_ASCII_DTOSTR_BUF_SIZE];
    write_number(sheet, p, p < 0.001 ? "< 0.001" : g_ascii_formatd(shown, sizeof shown, "%.3f", p));
}

void sheet_integer(Sheet *sheet, int64_t value)
{
    const char *key = begin_cell(sheet);
    if (key && sheet->form == SHEET_JSON)
        json_writer_integer(&sheet->json, key, value);
    else if (key && sheet->form == SHEET_CSV)
        csv_writer_integer(&sheet->csv, value);
    else if (key)
        g_string_append_printf(sheet->text, "%" G_GINT64_FORMAT, (gint64)value);
    end_cell(sheet, key);
}

void sheet_bool(Sheet *sheet, bool value)
{
    const char *key = begin_cell(sheet);
    if (key && sheet->form == SHEET_JSON)
        json_writer_bool(&sheet->json, key, value);
    else if (key && sheet->form == SHEET_CSV)
        csv_writer_bool(&sheet->csv, value);
    else if (key)
        g_string_append(sheet->text, value ? "yes" : "no");
    end_cell(sheet, key);
}

void sheet_id(Sheet *sheet, int64_t id)
{
    g_autofree char *text = id > 0 ? g_strdup_printf("%" G_GINT64_FORMAT, (gint64)id) : NULL;
    sheet_text(sheet, text);
}

void sheet_time_ms(Sheet *sheet, int64_t time_ms)
{
    g_autofree char *text = time_ms != 0 ? timestamp_format_ms(time_ms) : NULL;
    sheet_text(sheet, text);
}
