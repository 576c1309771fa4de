/* SPDX-License-Identifier: Apache-2.0
 * Finds what a page's address names, or answers the request with a 404 that says what is there
 * instead. */
#pragma once

#include "server/context.h"

/* By segment {project}; NULL: the request has been answered. */
struct store_project *page_find_project(HttpRequest *request, StoreSnapshot *snapshot);
/* The name under which what a form says is kept: of whoever is signed in, else the field "who";
 * NULL where it is empty. The caller frees it. */
char *page_form_who(const HttpRequest *request, const GPtrArray *form);
/* By segment {bench}. */
struct store_benchmark *page_find_benchmark(HttpRequest *request,
                                            const struct store_project *project);
/* By segment {machine}. */
struct store_machine *page_find_machine(HttpRequest *request, StoreSnapshot *snapshot);

/* Whether what the address ends in, with the suffix that the route cut off (sheet.h), is the name
 * of one that is there: it is then the one that is found. */
bool page_project_is_whole(const HttpRequest *request, StoreSnapshot *snapshot);
bool page_benchmark_is_whole(const HttpRequest *request, const struct store_project *project);
bool page_machine_is_whole(const HttpRequest *request, StoreSnapshot *snapshot);
