/* SPDX-License-Identifier: Apache-2.0
 * See trend_norm.h. Flagged and censored values are no base. */
#include "server/pages/trend_norm.h"

#include "server/pages/recent_runs.h"

#include <math.h>

static const struct {
    const char *name, *label;
} norms[] = {
    [TREND_NORM_NONE] = {"", NULL},
    [TREND_NORM_FIRST] = {"first", "% of the first value shown"},
    [TREND_NORM_REFERENCE] = {"reference", "% of the median of the 30 commits before the newest"}};

const char *trend_norm_name(enum trend_norm norm)
{
    return norms[norm].name;
}

const char *trend_norm_label(enum trend_norm norm)
{
    return norms[norm].label;
}

enum trend_norm trend_norm_parse(const char *text)
{
    for (guint i = 0; i < G_N_ELEMENTS(norms); i++)
        if (g_strcmp0(text, norms[i].name) == 0)
            return (enum trend_norm)i;
    return TREND_NORM_NONE;
}

void trend_norm_reference(TrendData *data)
{
    for (guint i = 0; i < data->lines->len; i++) {
        struct trend_line *line = (struct trend_line *)data->lines->pdata[i];
        g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(struct commit_point));
        for (guint k = 0; k < line->points->len; k++) {
            const struct trend_point *point = &g_array_index(line->points, struct trend_point, k);
            if (!point->hollow)
                g_array_append_val(points, point->value);
        }
        struct recent_reference reference = recent_reference_of(points);
        bool is_known = reference.n >= RECENT_REFERENCE_MIN && reference.value != 0;
        line->base = is_known ? reference.value : (double)NAN;
    }
}

void trend_norm_first(TrendData *data)
{
    for (guint i = 0; i < data->lines->len; i++) {
        struct trend_line *line = (struct trend_line *)data->lines->pdata[i];
        line->base = (double)NAN;
        for (guint k = 0; k < line->points->len && isnan(line->base); k++) {
            const struct trend_point *point = &g_array_index(line->points, struct trend_point, k);
            bool is_base = !point->hollow && recent_is_base(&point->value);
            if (is_base && point->column >= data->view_first && point->column < data->view_end)
                line->base = point->value.center;
        }
    }
}
