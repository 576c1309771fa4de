/* SPDX-License-Identifier: Apache-2.0
 * Every URL of the product. ROUTE(method, pattern, handler, access, cache, speed, query
 * parameters). api_* handlers live in server/api/, one file per resource; page_* in server/pages/,
 * one file per page. A query of NULL takes anything (pages ignore what they do not know); elsewhere
 * an unknown parameter, or one that is given twice without the mark +, is a 400.
 *
 * Access: HTTP_OPEN everybody always, else the scope that is needed (HTTP_READ HTTP_SUBMIT
 * HTTP_TRIAGE HTTP_ADMIN); server/api/api_access.h says how a token of one project, and one that is
 * bound to branches and machines, is held to them. */
#pragma once

#include "server/http/http.h"

#define RUN_FILTERS    "bench+ project+ machine+ commit+ branch+ reason+ since until param.* samples "
#define SERIES_FILTERS "project+ bench+ machine+ metric+ param.* "
#define CHANGE_FILTERS "project bench+ machine+ metric+ param.* status+ triage+ commit+ "
#define LINE_FILTERS   "from to branch+ buckets "
#define UPLOAD_FACTS   "format project commit branch parents+ time machine id better better.*"

/* clang-format off */
/* Rows, in each of their forms. A list takes limit, cursor and fields beside its filters, which end
 * with a space. */
#define ROWS(ROUTE, pattern, handler, speed, query) \
    ROUTE("GET", pattern,           handler, HTTP_READ, HTTP_REVALIDATE, speed, query) \
    ROUTE("GET", pattern ".csv",    handler, HTTP_READ, HTTP_REVALIDATE, speed, query) \
    ROUTE("GET", pattern ".ndjson", handler, HTTP_READ, HTTP_REVALIDATE, speed, query)
#define LIST(ROUTE, pattern, handler, speed, filters) \
    ROWS(ROUTE, pattern, handler, speed, filters "limit cursor fields")
/* A page in each of its forms (pages/sheet.h): with a suffix, and without. Its query takes anything. */
#define PAGE(ROUTE, pattern, handler) \
    ROUTE("GET", pattern, handler, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, NULL) \
    PAGE_FORMS(ROUTE, pattern, handler)
#define PAGE_FORMS(ROUTE, pattern, handler) \
    ROUTE("GET", pattern ".json", handler, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, NULL) \
    ROUTE("GET", pattern ".csv",  handler, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, NULL) \
    ROUTE("GET", pattern ".md",   handler, HTTP_READ, HTTP_REVALIDATE, HTTP_SLOW, NULL)

/* A list that no cache may keep, for those who manage access. */
#define ADMIN_LIST(ROUTE, pattern, handler, filters) \
    ROUTE("GET", pattern,           handler, HTTP_ADMIN, HTTP_NO_STORE, HTTP_SLOW, filters "limit cursor fields") \
    ROUTE("GET", pattern ".csv",    handler, HTTP_ADMIN, HTTP_NO_STORE, HTTP_SLOW, filters "limit cursor fields") \
    ROUTE("GET", pattern ".ndjson", handler, HTTP_ADMIN, HTTP_NO_STORE, HTTP_SLOW, filters "limit cursor fields")

#define ROUTES(ROUTE) \
    ROUTE("GET",    "/api",                                api_index,           HTTP_OPEN,  HTTP_REVALIDATE, HTTP_QUICK, "") \
    ROUTE("GET",    "/api/openapi.json",                   api_openapi,         HTTP_OPEN,  HTTP_REVALIDATE, HTTP_QUICK, "") \
    ROUTE("POST",   "/api/runs",                           api_runs_post,       HTTP_SUBMIT, HTTP_NO_STORE,   HTTP_QUICK, UPLOAD_FACTS) \
    LIST(ROUTE,     "/api/runs",                           api_runs_list,       HTTP_SLOW,  RUN_FILTERS) \
    ROUTE("GET",    "/api/runs/{id}",                      api_run_get,         HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "") \
    ROUTE("DELETE", "/api/runs/{id}",                      api_run_delete,      HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("GET",    "/api/runs/{id}/verdict",              api_run_verdict,     HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "wait") \
    ROUTE("GET",    "/api/compare",                        api_compare,         HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "project base head also machine bench+ metric+ param.*") \
    LIST(ROUTE,     "/api/changes",                        api_changes_list,    HTTP_SLOW,  CHANGE_FILTERS) \
    ROUTE("GET",    "/api/changes/{change}",               api_change_get,      HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "") \
    ROUTE("PATCH",  "/api/changes/{change}",               api_change_patch,    HTTP_TRIAGE, HTTP_NO_STORE,   HTTP_QUICK, "") \
    LIST(ROUTE,     "/api/projects",                       api_projects_list,   HTTP_QUICK, "") \
    ROUTE("GET",    "/api/projects/{project}",             api_project_get,     HTTP_READ,  HTTP_REVALIDATE, HTTP_QUICK, "") \
    ROUTE("PUT",    "/api/projects/{project}",             api_project_put,     HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("PUT",    "/api/projects/{project}/benchmarks/{bench}", api_benchmark_put, HTTP_ADMIN, HTTP_NO_STORE, HTTP_QUICK, "") \
    ROUTE("GET",    "/api/projects/{project}/renames",     api_renames_get,     HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "") \
    ROUTE("GET",    "/api/projects/{project}/retention",   api_retention_get,   HTTP_READ,  HTTP_REVALIDATE, HTTP_QUICK, "") \
    ROUTE("PUT",    "/api/projects/{project}/retention",   api_retention_put,   HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("POST",   "/api/projects/{project}/retention/try", api_retention_try, HTTP_ADMIN, HTTP_NO_STORE,   HTTP_SLOW,  "") \
    ROUTE("PUT",    "/api/machines/{machine}",             api_machine_put,     HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("GET",    "/api/projects/{project}/rules",       api_rules_get,       HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "before") \
    ROUTE("POST",   "/api/projects/{project}/rules/try",   api_rules_try,       HTTP_READ,  HTTP_NO_STORE,   HTTP_SLOW,  "") \
    LIST(ROUTE,     "/api/projects/{project}/commits",     api_commits_list,    HTTP_QUICK, "branch+ sha+ ") \
    ROUTE("POST",   "/api/projects/{project}/commits",     api_commits_post,    HTTP_SUBMIT, HTTP_NO_STORE,   HTTP_QUICK, "branch") \
    LIST(ROUTE,     "/api/projects/{project}/branches",    api_branches_list,   HTTP_QUICK, "") \
    ROUTE("GET",    "/api/projects/{project}/branches/{branch}", api_branch_get, HTTP_READ, HTTP_REVALIDATE, HTTP_QUICK, "") \
    ROUTE("PUT",    "/api/projects/{project}/branches/{branch}", api_branch_put, HTTP_SUBMIT, HTTP_NO_STORE,  HTTP_QUICK, "") \
    ROUTE("DELETE", "/api/projects/{project}/branches/{branch}", api_branch_delete, HTTP_ADMIN, HTTP_NO_STORE, HTTP_QUICK, "") \
    LIST(ROUTE,     "/api/projects/{project}/annotations", api_annotations_list, HTTP_QUICK, "bench+ machine+ commit+ removed ") \
    ROUTE("POST",   "/api/projects/{project}/annotations", api_annotations_post, HTTP_TRIAGE, HTTP_NO_STORE,  HTTP_QUICK, "") \
    ROUTE("DELETE", "/api/projects/{project}/annotations/{annotation}", api_annotation_delete, HTTP_TRIAGE, HTTP_NO_STORE, HTTP_QUICK, "who") \
    LIST(ROUTE,     "/api/benchmarks",                     api_benchmarks_list, HTTP_SLOW,  "project+ ") \
    LIST(ROUTE,     "/api/series",                         api_series_list,     HTTP_SLOW,  SERIES_FILTERS) \
    ROWS(ROUTE,     "/api/series/{series}/points",         api_points_get,      HTTP_SLOW,  LINE_FILTERS "fields") \
    LIST(ROUTE,     "/api/points",                         api_points_list,     HTTP_SLOW,  SERIES_FILTERS LINE_FILTERS "shape ") \
    LIST(ROUTE,     "/api/machines",                       api_machines_list,   HTTP_QUICK, "") \
    ROUTE("GET",    "/api/machines/{machine}",             api_machine_get,     HTTP_READ,  HTTP_REVALIDATE, HTTP_QUICK, "") \
    ROUTE("GET",    "/api/status",                         api_status,          HTTP_READ,  HTTP_NO_STORE,   HTTP_SLOW,  "") \
    ROUTE("POST",   "/api/import",                         api_import_post,     HTTP_SUBMIT, HTTP_NO_STORE,   HTTP_SLOW,  "from project machine branch suite better better.*") \
    ROUTE("POST",   "/result/add/json/",                   api_codespeed_add_json, HTTP_SUBMIT, HTTP_NO_STORE, HTTP_QUICK, "") \
    ROUTE("POST",   "/result/add/",                        api_codespeed_add,   HTTP_SUBMIT, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("POST",   "/db_{db}/v4/{suite}/submitRun",       api_lnt_submit,      HTTP_SUBMIT, HTTP_NO_STORE,   HTTP_QUICK, "project commit machine branch") \
    ADMIN_LIST(ROUTE, "/api/tokens",                       api_tokens_list,     "project ") \
    ROUTE("POST",   "/api/tokens",                         api_tokens_post,     HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("DELETE", "/api/tokens/{token}",                 api_token_delete,    HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, "") \
    ADMIN_LIST(ROUTE, "/api/audit",                        api_audit_list,      "project ") \
    ROUTE("GET",    "/healthz",                            api_healthz,         HTTP_OPEN,  HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("GET",    "/readyz",                             api_readyz,          HTTP_OPEN,  HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("GET",    "/metrics",                            api_metrics,         HTTP_READ,  HTTP_NO_STORE,   HTTP_QUICK, "") \
    ROUTE("GET",    "/",                                   page_home,           HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  NULL) \
    PAGE_FORMS(ROUTE, "/index",                           page_home) \
    ROUTE("GET",    "/api.html",                           page_api,            HTTP_OPEN,  HTTP_REVALIDATE, HTTP_QUICK, NULL) \
    PAGE(ROUTE,     "/p/{project}",                       page_project) \
    PAGE(ROUTE,     "/p/{project}/matrix",                page_matrix) \
    PAGE(ROUTE,     "/p/{project}/explore",               page_explore) \
    PAGE(ROUTE,     "/p/{project}/b/{bench}",             page_trend) \
    PAGE(ROUTE,     "/p/{project}/c/{sha}",               page_commit) \
    PAGE(ROUTE,     "/p/{project}/changes",               page_changes) \
    ROUTE("POST",   "/p/{project}/changes",                page_triage,         HTTP_TRIAGE, HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("POST",   "/p/{project}/annotations",            page_annotations_post, HTTP_TRIAGE, HTTP_NO_STORE, HTTP_SLOW,  NULL) \
    PAGE(ROUTE,     "/p/{project}/changes/{change}",      page_change) \
    ROUTE("GET",    "/p/{project}/changes.atom",           page_changes_atom,   HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  "before") \
    PAGE(ROUTE,     "/p/{project}/rules",                 page_rules) \
    ROUTE("POST",   "/p/{project}/rules",                  page_rules_post,     HTTP_ADMIN, HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/p/{project}/compare",                page_compare_choose, HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  NULL) \
    PAGE(ROUTE,     "/p/{project}/compare/{range}",       page_compare) \
    PAGE(ROUTE,     "/m",                                 page_machines) \
    PAGE(ROUTE,     "/m/{machine}",                       page_machine) \
    ROUTE("GET",    "/status",                             page_status,         HTTP_READ,  HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/status.json",                        page_status,         HTTP_READ,  HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/status.csv",                         page_status,         HTTP_READ,  HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/status.md",                          page_status,         HTTP_READ,  HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/badge/{project}.svg",                page_badge,          HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/badge/{project}/{bench}.svg",        page_badge_bench,    HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/embed/p/{project}/b/{bench}",        page_embed,          HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/chart/series/{series}.svg",          page_series_svg,     HTTP_READ,  HTTP_REVALIDATE, HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/sign-in",                            page_sign_in,        HTTP_OPEN,  HTTP_NO_STORE,   HTTP_QUICK, NULL) \
    ROUTE("POST",   "/sign-in",                            page_sign_in_post,   HTTP_OPEN,  HTTP_NO_STORE,   HTTP_QUICK, NULL) \
    ROUTE("POST",   "/sign-out",                           page_sign_out,       HTTP_OPEN,  HTTP_NO_STORE,   HTTP_QUICK, NULL) \
    ROUTE("GET",    "/tokens",                             page_tokens,         HTTP_ADMIN, HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("POST",   "/tokens",                             page_tokens_post,    HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, NULL) \
    ROUTE("POST",   "/tokens/{token}/revoke",              page_token_revoke,   HTTP_ADMIN, HTTP_NO_STORE,   HTTP_QUICK, NULL) \
    ROUTE("GET",    "/audit",                              page_audit,          HTTP_ADMIN, HTTP_NO_STORE,   HTTP_SLOW,  NULL) \
    ROUTE("GET",    "/favicon.ico",                        page_favicon,        HTTP_OPEN,  HTTP_REVALIDATE, HTTP_QUICK, NULL) \
    ROUTE("GET",    "/assets/{file}",                      page_asset,          HTTP_OPEN,  HTTP_IMMUTABLE,  HTTP_QUICK, NULL)
/* clang-format on */

#define ROUTE_DECLARE(method, pattern, handler, ...) void handler(HttpRequest *request);
ROUTES(ROUTE_DECLARE)
#undef ROUTE_DECLARE
