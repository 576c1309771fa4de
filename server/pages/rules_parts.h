/* SPDX-License-Identifier: Apache-2.0
 * The parts of the page of rules: the list, what a trial says, the log. Inside the request's
 * snapshot, on its thread. */
#pragma once

#include "server/pages/layout.h"
#include "server/pages/sheet.h"
#include "server/work/rules_trial.h"

/* The rules that hold, each with how many series it speaks of; `base` names them. */
void rules_parts_list(Html *html, const struct store_project *project, const char *base);

/* What the tried rules would have told. */
void rules_parts_trial(Html *html, StoreSnapshot *snapshot, const RulesTrial *trial);

/* Who saved what: struct store_rule_entry *, newest first; more than n_max: a link leads on. */
void rules_parts_log(Html *html, const GPtrArray *log, guint n_max);

/* The same as tables of a sheet. */
void rules_parts_list_sheet(Sheet *sheet, const struct store_project *project);
void rules_parts_trial_sheet(Sheet *sheet, StoreSnapshot *snapshot, const RulesTrial *trial);
void rules_parts_log_sheet(Sheet *sheet, const GPtrArray *log, guint n_max);
