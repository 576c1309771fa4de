/* SPDX-License-Identifier: Apache-2.0
 * How a series stands in a table of a page: its name with the way to its trend, its values, the
 * effect found on it. The request's thread, inside its snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/sheet.h"

/* The trend page that shows this series alone. The caller frees it. */
char *series_parts_url(const struct store_series *series);

/* Its parameters, each a <span>. */
void series_parts_params(Html *html, const struct store_series *series, bool with_machine);

/* <th> with the benchmark and <td> with the parameters. */
void series_parts_write(Html *html, const struct store_series *series, bool with_machine);

/* One <th> with all that names the series: benchmark, metric, parameters, machine. */
void series_parts_head(Html *html, const struct store_series *series);

/* "µs ↓" after a value in this scale: the unit, and which way is better. */
void series_parts_unit(Html *html, const struct store_series *series,
                       const struct quantity_scale *scale);

/* "−9.8 %" with its interval below; a boundary of NaN is left out. Relative, 0.05 is 5 %. */
void series_parts_effect(Html *html, double effect, double low, double high);

/* "1.163 → 1.05 M items/s ↑": in the scale of the larger one. */
void series_parts_move(Html *html, const struct store_series *series, double before, double after);

/* "1.163 M items/s" of one side; "none" in words where `known` is false. */
void series_parts_value(Html *html, const struct store_series *series, bool known, double value);

/* The first columns of a table of series in a page's other forms, and their cells. */
/* clang-format off */
#define SERIES_PARTS_COLUMNS \
    {"bench", "Benchmark", false}, {"params", "Parameters", false}, {"machine", "Machine", false}, \
    {"metric", "Metric", false}, {"unit", NULL, false}, {"better", NULL, false}
/* clang-format on */
void series_parts_cells(Sheet *sheet, const struct store_series *series);
