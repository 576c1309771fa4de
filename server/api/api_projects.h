/* SPDX-License-Identifier: Apache-2.0
 * What other resources need of a project. Runs on the request's thread. */
#pragma once

#include "server/http/http.h"
#include "server/store/store.h"

/* The project that the path names; NULL: ERROR_NOT_FOUND. */
struct store_project *api_project_of_path(const HttpRequest *request, StoreSnapshot *snapshot,
                                          GError **error);

/* For writes that may make the project: false where its name, in the path, breaks the rules of
 * names (ERROR_INVALID). */
bool api_project_check_name(const HttpRequest *request, GError **error);
