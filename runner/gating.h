/* SPDX-License-Identifier: Apache-2.0
 * run --gate: the verdict of a run that was just stored, made into an exit code; with --confirm its
 * suspects are measured again first, and these samples alone decide (runner/confirming.h). They are
 * posted as a run of the same commit with reason "confirm", which takes no part in baselines. Main
 * thread. */
#pragma once

#include "runner/confirming.h"
#include "runner/deliver/delivery.h"
#include "runner/judging.h"

#define GATING_OPTIONS                                                                             \
    {"gate", 0, OPTION_FLAG, NULL,                                                                 \
     "Wait for the server's verdict on the run: exit 1 where a change of its history, or "         \
     "--confirm, says that it regressed; what this one run alone shows fails nothing"},            \
        {"confirm", 0, OPTION_FLAG, NULL,                                                          \
         "With --gate: measure what looks slower again, interleaved with the base's build where "  \
         "it is given, else with the plain workload; that alone decides"},                         \
        {"confirm-rounds", 0, OPTION_VALUE, "N",                                                   \
         "Processes in which each is measured again (10)"},                                        \
        {"base-runner", 0, OPTION_VALUE, "PATH",                                                   \
         "breakeven-runner of the base's build, to measure suspects beside"},                      \
        {"base-executor", 0, OPTION_LIST, "LIB,…",                                                 \
         "Executor libraries of the base's build; each takes the place of the executor of its "    \
         "name"},                                                                                  \
        JUDGING_OPTIONS

struct gating {
    bool is_wanted, confirms;
    struct judging judging;
    guint rounds;
    struct confirm_base base;
};

/* What can be checked before the plan is known; gating_clear frees. */
bool gating_parse(const Options *options, const Settings *settings, struct gating *out,
                  GError **error);
/* That each library of the base is an executor of the plan. */
bool gating_check(struct gating *gating, const Options *options, const Plan *plan, GError **error);
void gating_clear(struct gating *gating);

struct gating_run {
    const struct gating *gating;
    const Settings *settings;
    Delivery *delivery;
    const Plan *plan;
    const Run *run;  /* it is stored; its results are the plan's, or fewer */
    bool is_message; /* the standard output is a document's */
    /* Measures a plan and puts it into a run of the same commit with that reason; NULL: an error,
     * or none where it was interrupted. */
    Run *(*measure)(const Plan *plan, const char *reason, void *user, GError **error);
    void *user;
};

/* The exit code, or COMMAND_FAILED with an error where the server has no answer. */
int gating_run(const struct gating_run *request, GError **error);
