/* SPDX-License-Identifier: Apache-2.0
 * See comparison_json.h. */
#include "server/api/comparison_json.h"

#include "server/api/api_series.h"
#include "server/api/api_write.h"

static void write_side(struct json_writer *writer, const char *key,
                       const struct comparison_side *side)
{
    if (!side->commit) {
        json_writer_null(writer, key);
        return;
    }
    json_writer_object(writer, key);
    json_writer_string(writer, "commit", side->commit->sha);
    json_writer_string(writer, "subject", side->commit->subject);
    json_writer_string(writer, "run", side->run ? side->run->id : NULL);
    json_writer_string(writer, "branch", side->branch);
    json_writer_string(writer, "machine", side->machine ? side->machine->name : NULL);
    api_write_taken(
        writer, "page",
        api_write_address("/p/", side->commit->project->name, "/c/", side->commit->sha, NULL));
    json_writer_end(writer);
}

static void write_value(struct json_writer *writer, const char *key,
                        const struct comparison_value *value)
{
    if (!value->known) {
        json_writer_null(writer, key);
        return;
    }
    json_writer_object(writer, key);
    json_writer_number(writer, "level", value->level);
    if (value->noise > 0)
        json_writer_number(writer, "noise", value->noise);
    else
        json_writer_null(writer, "noise");
    json_writer_integer(writer, "n", value->n);
    json_writer_end(writer);
}

static void write_result(struct json_writer *writer, const struct comparison_row *row)
{
    static const char *const names[] = {"effect", "low", "high", "p", "detectable"};
    const double values[] = {row->result.effect, row->result.low, row->result.high, row->result.p,
                             row->result.detectable};
    for (guint i = 0; i < G_N_ELEMENTS(names); i++) {
        if (row->has_result)
            json_writer_number(writer, names[i], values[i]);
        else
            json_writer_null(writer, names[i]);
    }
    if (row->verdict == COMPARISON_UNSURE && row->result.runs_more > 0)
        json_writer_integer(writer, "runs_more", row->result.runs_more);
    else
        json_writer_null(writer, "runs_more");
}

static void write_row(struct json_writer *writer, const struct comparison_row *row)
{
    const struct store_series *series = row->series;
    json_writer_object(writer, NULL);
    api_write_id(writer, "series", series->id);
    json_writer_string(writer, "bench", series->benchmark->name);
    json_writer_raw(writer, "params", series->params_text);
    json_writer_string(writer, "machine", series->machine->name);
    bool is_other = row->base_series && row->base_series->machine != series->machine;
    json_writer_string(writer, "base_machine", is_other ? row->base_series->machine->name : NULL);
    json_writer_string(writer, "metric", series->metric);
    json_writer_string(writer, "unit", series->unit);
    json_writer_string(writer, "better", better_name(series->better));
    json_writer_string(writer, "verdict", comparison_verdict_name(row->verdict));
    write_value(writer, "base", &row->base);
    write_value(writer, "head", &row->head);
    write_result(writer, row);
    json_writer_number(writer, "least_effect", comparison_least_effect(row));
    json_writer_bool(writer, "disturbed", row->disturbed);
    if (row->change_id > 0)
        api_write_id(writer, "change", row->change_id);
    else
        json_writer_null(writer, "change");
    api_write_time_ms(writer, "judged", row->judged_ms);
    json_writer_integer(writer, "judged_commits", row->judged_commits);
    api_write_taken(writer, "page", api_series_page(series));
    json_writer_end(writer);
}

static void write_counts(struct json_writer *writer, const Comparison *comparison)
{
    json_writer_object(writer, "counts");
    for (guint i = 0; i < COMPARISON_NONE; i++)
        json_writer_integer(writer, comparison_verdict_name((enum comparison_verdict)i),
                            comparison->counts[i]);
    json_writer_integer(writer, "no_direction", comparison->counts[COMPARISON_NONE]);
    json_writer_end(writer);
}

static void write_means(struct json_writer *writer, const Comparison *comparison)
{
    json_writer_array(writer, "means");
    for (guint i = 0; i < comparison->means->len; i++) {
        const struct comparison_mean *mean =
            &g_array_index(comparison->means, struct comparison_mean, i);
        json_writer_object(writer, NULL);
        json_writer_string(writer, "bench", mean->benchmark->name);
        json_writer_string(writer, "metric", mean->metric);
        json_writer_string(writer, "unit", mean->unit);
        json_writer_string(writer, "better", better_name(mean->better));
        json_writer_number(writer, "ratio", mean->ratio);
        json_writer_integer(writer, "series", mean->n);
        json_writer_end(writer);
    }
    json_writer_end(writer);
}

void comparison_json_write(struct json_writer *writer, const Comparison *comparison)
{
    json_writer_string(writer, "project", comparison->project->name);
    write_side(writer, "base", &comparison->base);
    write_side(writer, "head", &comparison->head);
    json_writer_string(writer, "merge_base",
                       comparison->merge_base ? comparison->merge_base->sha : NULL);
    json_writer_string(writer, "measured_base",
                       comparison->measured ? comparison->measured->sha : NULL);
    if (comparison->is_base_proven)
        json_writer_integer(writer, "behind", comparison->n_behind);
    else
        json_writer_null(writer, "behind");
    api_write_taken(writer, "sentence", comparison_sentence(comparison));
    write_counts(writer, comparison);
    write_means(writer, comparison);
    api_write_strings(writer, "warnings", comparison->warnings);
    json_writer_array(writer, "series");
    for (guint i = 0; i < comparison->rows->len; i++)
        write_row(writer, &g_array_index(comparison->rows, struct comparison_row, i));
    json_writer_end(writer);
}
