/* SPDX-License-Identifier: Apache-2.0
 * The parts of a machine's page, one function each; page_machine.c gathers what they show. All
 * write HTML inside the request's snapshot. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/machine_history.h"
#include "server/pages/sheet.h"

struct machine_view {
    const HttpRequest *request;
    StoreSnapshot *snapshot;
    const struct store_machine *machine;
    const MachineHistory *history;
    const GPtrArray *environments; /* struct store_environment *, the one seen last first */
    int64_t now_ms;                /* to the hour */
};

/* The facts that hold now, and the topology. */
bool machine_facts_write(Html *html, const struct machine_view *view, GError **error);
/* Which environments there were, and what changed from each to the next. */
void machine_environments_write(Html *html, const struct machine_view *view);
/* What its runs recorded of the machine itself. */
bool machine_probes_write(Html *html, const struct machine_view *view, GError **error);
/* Projects, last runs. */
void machine_runs_write(Html *html, const struct machine_view *view);
/* When it was silent. */
void machine_gaps_write(Html *html, const struct machine_view *view);
/* Its series, the noisiest first. */
bool machine_noise_write(Html *html, const struct machine_view *view, GError **error);

/* The page in another form than HTML, and the tables of it that are read from the store. */
Sheet *machine_sheet_new(const struct machine_view *view, enum sheet_form form, GError **error);
bool machine_probes_sheet(Sheet *sheet, const struct machine_view *view, GError **error);
bool machine_noise_sheet(Sheet *sheet, const struct machine_view *view, GError **error);

/* "26 h", "3 days", "40 min". */
void machine_duration_write(Html *html, int64_t ms);
