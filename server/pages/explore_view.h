/* SPDX-License-Identifier: Apache-2.0
 * What the parts of the explore page share; page_explore.c gathers it. All write HTML inside the
 * request's snapshot. */
#pragma once

#include "server/pages/explore_data.h"
#include "server/pages/layout.h"
#include "server/pages/sheet.h"

struct explore_view {
    const HttpRequest *request;
    const struct store_project *project;
    const struct store_machine *machine; /* NULL: all */
    const GPtrArray *series;             /* that the address asks for */
    struct explore_request wanted;
    bool from_zero;
    const ExploreData *data;
};

/* The form that chooses. */
void explore_form_write(Html *html, const struct explore_view *view);
/* The charts of the page with their legends, and the data for the script. */
void explore_charts_write(Html *html, const struct explore_view *view);
/* The same values in the page's other forms. */
void explore_sheet_write(Sheet *sheet, const struct explore_view *view);
