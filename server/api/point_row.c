/* SPDX-License-Identifier: Apache-2.0
 * See point_row.h. JSON and CSV have the same names in the same order. */
#include "server/api/point_row.h"

const char *const point_row_names[] = {
    "time",    "label",  "value",   "low",      "high",    "unit",    "better",      "n",
    "runs",    "commit", "subject", "position", "branch",  "project", "bench",       "case",
    "machine", "metric", "series",  "censored", "flagged", "dirty",   "provisional", NULL};

const char *point_row_censored(int censored)
{
    return censored > 0 ? "above" : censored < 0 ? "below" : NULL;
}

/* "executor=fifo threads=4"; "" where the case has no parameters. */
static void append_case(GString *out, const struct store_series *series)
{
    for (guint i = 0; i < series->params->len; i++) {
        const struct run_param *param =
            (const struct run_param *)g_ptr_array_index(series->params, i);
        g_string_append_printf(out, "%s%s=%s", i > 0 ? " " : "", param->name, param->value);
    }
}

/* "ThreadPoolSpawn executor=fifo threads=4 · items_per_second · ci-7" */
static void append_label(GString *out, const struct store_series *series)
{
    g_string_append(out, series->benchmark->name);
    if (series->params->len > 0)
        g_string_append_c(out, ' ');
    append_case(out, series);
    g_string_append_printf(out, " · %s · %s", series->metric, series->machine->name);
}

static void write_interval(struct json_writer *writer, const struct commit_point *point)
{
    if (point->has_interval) {
        json_writer_number(writer, "low", point->low);
        json_writer_number(writer, "high", point->high);
    } else {
        json_writer_null(writer, "low");
        json_writer_null(writer, "high");
    }
}

void point_row_write_json(struct json_writer *writer, const struct point_row *row)
{
    const struct store_series *series = row->series;
    const struct store_commit *commit = row->commit;
    const struct commit_point *point = &row->point;
    g_autoptr(GString) text = g_string_new(NULL);
    json_writer_object(writer, NULL);
    api_write_time_s(writer, "time", true, commit->time_s);
    append_label(text, series);
    json_writer_string(writer, "label", text->str);
    json_writer_number(writer, "value", point->center);
    write_interval(writer, point);
    json_writer_string(writer, "unit", series->unit);
    json_writer_string(writer, "better", better_name(series->better));
    json_writer_integer(writer, "n", point->n);
    json_writer_integer(writer, "runs", point->n_runs + point->n_runs_left_out);
    json_writer_string(writer, "commit", commit->sha);
    json_writer_string(writer, "subject", commit->subject);
    json_writer_integer(writer, "position", point->position);
    json_writer_string(writer, "branch", point->branch);
    json_writer_string(writer, "project", series->project->name);
    json_writer_string(writer, "bench", series->benchmark->name);
    g_string_truncate(text, 0);
    append_case(text, series);
    json_writer_string(writer, "case", text->str);
    json_writer_string(writer, "machine", series->machine->name);
    json_writer_string(writer, "metric", series->metric);
    api_write_id(writer, "series", series->id);
    json_writer_string(writer, "censored", point_row_censored(point->censored));
    json_writer_bool(writer, "flagged", point->flagged);
    json_writer_bool(writer, "dirty", point->dirty);
    json_writer_bool(writer, "provisional", commit->provisional);
    json_writer_end(writer);
}

void point_row_write_csv(struct csv_writer *writer, const struct point_row *row)
{
    const struct store_series *series = row->series;
    const struct store_commit *commit = row->commit;
    const struct commit_point *point = &row->point;
    g_autoptr(GString) text = g_string_new(NULL);
    api_write_csv_time_s(writer, true, commit->time_s);
    append_label(text, series);
    csv_writer_text(writer, text->str);
    csv_writer_number(writer, point->center);
    if (point->has_interval) {
        csv_writer_number(writer, point->low);
        csv_writer_number(writer, point->high);
    } else {
        csv_writer_empty(writer, 2);
    }
    csv_writer_text(writer, series->unit);
    csv_writer_text(writer, better_name(series->better));
    csv_writer_integer(writer, point->n);
    csv_writer_integer(writer, point->n_runs + point->n_runs_left_out);
    csv_writer_text(writer, commit->sha);
    csv_writer_text(writer, commit->subject);
    csv_writer_integer(writer, point->position);
    csv_writer_text(writer, point->branch);
    csv_writer_text(writer, series->project->name);
    csv_writer_text(writer, series->benchmark->name);
    g_string_truncate(text, 0);
    append_case(text, series);
    csv_writer_text(writer, text->str);
    csv_writer_text(writer, series->machine->name);
    csv_writer_text(writer, series->metric);
    csv_writer_integer(writer, series->id);
    csv_writer_text(writer, point_row_censored(point->censored));
    csv_writer_bool(writer, point->flagged);
    csv_writer_bool(writer, point->dirty);
    csv_writer_bool(writer, commit->provisional);
    csv_writer_end_row(writer);
}
