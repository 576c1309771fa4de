/* SPDX-License-Identifier: Apache-2.0
 * The parts of the trend page, one function each; page_trend.c gathers what they show. All write
 * HTML inside the request's snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/sheet.h"
#include "server/pages/trend_data.h"

struct trend_view {
    const HttpRequest *request;
    struct store_project *project;
    struct store_benchmark *benchmark;
    const Selection *selection;
    const TrendData *data;
    struct trend_request wanted;
    bool from_zero, log, timed;  /* how the axes are looked at */
    bool has_window;             /* only a part of the y axis is */
    double window[2];            /* low < high: that part, in values over their line's base */
    struct quantity_scale scale; /* of the values looked at, as measured */
};

/* Takes from the request's query what a trend's address may ask for. */
void trend_view_read(struct trend_view *view);

/* The form that chooses metric, machine, parameters, branch. */
void trend_form_write(Html *html, const struct trend_view *view);
/* The drawing alone, as a document of its own. */
void trend_chart_write(Html *html, const struct trend_view *view);
/* The chart with its heading, legend and notes, and the data for the script. */
void trend_figure_write(Html *html, const struct trend_view *view);
void trend_json_write(Html *html, const struct trend_view *view);
/* The changes found on the lines, and how far the lines were judged. */
void trend_found_write(Html *html, const struct trend_view *view);
/* The values looked at, newest commit first. */
void trend_table_write(Html *html, const struct trend_view *view);
/* The page in another form than HTML. */
Sheet *trend_sheet_new(const struct trend_view *view, enum sheet_form form);
