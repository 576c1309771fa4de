/* SPDX-License-Identifier: Apache-2.0
 * The key file of a plan, read strictly: GKeyFile merges groups and keys that are there twice in
 * silence; here they are faults, and so are unknown groups and keys. It knows the form of a plan,
 * not what a benchmark is. Pure. */
#pragma once

#include "schema/error.h"
#include <stdbool.h>

typedef struct plan_file PlanFile;

/* `more_keys` (NULL-terminated): what a group of cells may have besides bench, executor, threads
 * and task-cost. */
PlanFile *plan_file_parse(const char *text, gsize length, const char *origin,
                          const char *const *more_keys, GError **error);
void plan_file_free(PlanFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(PlanFile, plan_file_free)

const char *plan_file_origin(const PlanFile *file);
/* The i-th group of cells ("cells spawn"), or NULL behind the last. */
const char *plan_file_group(const PlanFile *file, guint i);

/* The name of the plan. */
bool plan_file_name(const PlanFile *file, char **out_name, GError **error);

struct plan_range {
    guint min, max;
    bool required;
};
/* A number of [plan]; left as it is where the file has none. */
bool plan_file_number(const PlanFile *file, const char *key, struct plan_range range,
                      guint *inout_value, GError **error);

/* A list of a group of cells; NULL where it has none. */
bool plan_file_list(const PlanFile *file, const char *group, const char *key, GStrv *out_list,
                    GError **error);

/* "a, b" as its items, without spaces around them. */
GStrv plan_file_split(const char *text);
