/* SPDX-License-Identifier: Apache-2.0
 * What a run's source says of a pull request. Any thread. */
#include "schema/run.h"

#include <jansson.h>

static char *member_of(const json_t *source, const char *name)
{
    return g_strdup(json_string_value(json_object_get(source, name)));
}

bool run_pull_request(const Run *run, char **out_pull_request, char **out_base)
{
    json_t *source = run->source_json ? json_loads(run->source_json, 0, NULL) : NULL;
    *out_pull_request = member_of(source, "pull_request");
    *out_base = *out_pull_request ? member_of(source, "base") : NULL;
    json_decref(source);
    return *out_pull_request != NULL;
}
