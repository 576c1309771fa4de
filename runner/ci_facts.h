/* SPDX-License-Identifier: Apache-2.0
 * Where a CI system says something about its job: variables, GitHub's file of the event, TeamCity's
 * files of parameters. One name space for all three, so that a table can name them. */
#pragma once

#include <glib.h>

typedef const char *(*ci_lookup_fn)(const char *variable); /* g_getenv but in tests */

typedef struct ci_facts CiFacts;

/* Reads the files that GITHUB_EVENT_PATH and TEAMCITY_BUILD_PROPERTIES_FILE name; one that is not
 * there, or no such file, tells nothing. */
CiFacts *ci_facts_new(ci_lookup_fn lookup);
void ci_facts_free(CiFacts *facts);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(CiFacts, ci_facts_free)

/* A fact, owned by the caller: "/pull_request/head/sha" is a place in the event (its strings and
 * whole numbers), "teamcity.build.branch" (a name with a point) a parameter, any other name a
 * variable. NULL where it is not set, empty, "false" (how two of the systems say that there is no
 * pull request), no UTF-8, or over 4096 bytes. */
char *ci_facts_get(const CiFacts *facts, const char *name);
