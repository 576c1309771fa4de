/* SPDX-License-Identifier: Apache-2.0
 * How principals are held to their project, branches and machines, beyond the scope that the route
 * table asks for. One of a project is let to addresses that name it; lists need ?project=; what is
 * addressed by a run's, a change's or a series' id is looked up; all else is the whole server's,
 * and refused. One that is bound to branches and machines writes as and for those only. The
 * request's thread. */
#pragma once

#include "schema/run.h"
#include "server/api/api_list.h"
#include "server/http/http.h"
#include "server/store/store.h"

/* http_options.authorize: false: the request has been answered. */
bool api_access_authorize(HttpRequest *request);

/* For every door by which runs come: before the run is stored. ERROR_FORBIDDEN where its project,
 * branch, machine or commit is not the principal's. Of what a bound principal tells of commits that
 * are not its branch's nothing is taken, nor what any commit expects of itself (a pull request
 * would excuse its own regression), and what is taken gives way to others (run_commit.is_bound),
 * unless it is bound to the project's default branch and speaks for that; `warnings` (char *) says
 * so. `snapshot`: the open one of this thread, or NULL. */
bool api_access_take_run(HttpRequest *request, StoreSnapshot *snapshot, Run *run,
                         GPtrArray *warnings, GError **error);

/* The same for a batch of commits (struct run_commit *) of the project in the path. */
bool api_access_take_commits(HttpRequest *request, const char *branch, GPtrArray *commits,
                             GPtrArray *warnings, GError **error);

/* What is to be written is of the principal's project, machines and branches; ERROR_FORBIDDEN. */
bool api_access_check_names(const HttpRequest *request, const char *project, const char *machine,
                            const char *branch, GError **error);
/* A branch that is to be written; ERROR_FORBIDDEN. */
bool api_access_check_branch(const HttpRequest *request, const char *branch, GError **error);

/* Of which project the lists of tokens and of writes show rows: the principal's, where it has one,
 * else the query's; NULL: all. */
const char *api_access_list_project(const HttpRequest *request);
/* struct api_list_spec's open for them: none of it is in what store_version tells of, and no cache
 * keeps it. */
bool api_access_list_open(struct api_list *list, int64_t *out_version, GError **error);
