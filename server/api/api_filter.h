/* SPDX-License-Identifier: Apache-2.0
 * A request's query as the store's filter: which parameters mean what, and what is said of a value
 * that cannot be. Runs on the request's thread. */
#pragma once

#include "server/http/http.h"
#include "server/store/store.h"

/* All values of a parameter, char *; NULL where it is absent. False: ERROR_SYNTAX, one is empty;
 * the caller owns the others. */
bool api_filter_values(const HttpRequest *request, const char *name, GPtrArray **out,
                       GError **error);

/* Reads bench, project, machine, branch, reason, metric, since, until and param.NAME. False:
 * ERROR_SYNTAX or ERROR_INVALID that names the parameter. The filter is to be cleared with
 * store_filter_clear in every case. */
bool api_filter_parse(const HttpRequest *request, struct store_filter *filter, GError **error);

/* The same on the heap; NULL: the request has been answered with the error. */
struct store_filter *api_filter_of(HttpRequest *request);
void api_filter_free(gpointer filter);

/* Reads commit: full shas as they are; of 7 digits or more as the one commit that they name in the
 * filter's projects (all, where it names none). Digits that no commit begins with match nothing;
 * ERROR_SYNTAX where they name several. */
bool api_filter_resolve_commits(const HttpRequest *request, StoreSnapshot *snapshot,
                                struct store_filter *filter, GError **error);

/* The version that covers what the filter can see: its project's, where it names one that is known,
 * else everything's. */
int64_t api_filter_version(StoreSnapshot *snapshot, const struct store_filter *filter);

/* True where the text is `min` to 64 hex digits; pure. */
bool api_filter_is_sha(const char *text, size_t min);
