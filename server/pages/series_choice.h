/* SPDX-License-Identifier: Apache-2.0
 * Which series of a project a table or a grid shows, by the address: `bench` and `param.NAME` (each
 * may repeat: or), `machine`, `metric`, and the words of `q`. Where no metric is asked for, each
 * benchmark is shown by the one that is preferred. Also the form that chooses. No I/O; the
 * request's thread, inside its snapshot. */
#pragma once

#include "server/http/http.h"
#include "server/pages/html.h"
#include "server/store/store.h"

/* "*" as the machine in the address: all of them, where a page else chooses one. */
#define SERIES_CHOICE_ALL "*"

/* struct store_series *, by benchmark, then in the order in which they were first measured. A
 * machine of NULL is any. The caller frees the array. */
GPtrArray *series_choice_read(const HttpRequest *request, const struct store_project *project,
                              const struct store_machine *machine);

/* The machine that the address names; else, where it names none or one that is not there, that of
 * the latest run. NULL for SERIES_CHOICE_ALL, for "" and in an empty project. */
const struct store_machine *series_choice_machine(const HttpRequest *request,
                                                  const struct store_project *project);

/* ---- The form ---- */

/* <form> with what the address holds as hidden fields, but for `page` and the fields (a list that
 * ends with NULL) that the form itself has. */
void series_choice_form_begin(Html *html, const HttpRequest *request, const char *label,
                              const char *const *fields);
/* A select of texts (const char *), the first of which may be "": shown as `empty`. A chosen text
 * that is not among them chooses the first. */
void series_choice_select(Html *html, const char *name, const char *label, const GPtrArray *texts,
                          const char *chosen, const char *empty);
void series_choice_search(Html *html, const HttpRequest *request);
/* With what narrows the choice beside the fields (bench, param.NAME), each to be taken away. */
void series_choice_form_end(Html *html, const HttpRequest *request);

/* Names of the project's machines that have series, and of its metrics: "" first, each once, in
 * order. const char *; the caller frees the array. */
GPtrArray *series_choice_machines(const struct store_project *project);
GPtrArray *series_choice_metrics(const struct store_project *project);
