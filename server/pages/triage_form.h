/* SPDX-License-Identifier: Apache-2.0
 * The form by which people say what changes are: triage, note, who; for those that are ticked, or
 * for all of a group. It works without script. page_triage.c takes what it sends. The request's
 * thread. */
#pragma once

#include "server/pages/layout.h"
#include "server/store/store_changes.h"

struct triage_form {
    const char *project;
    const GPtrArray *changes; /* struct store_change *: all that "all" stands for */
    int64_t id;               /* of the group, or of the one change: tells forms of a page apart */
    const char *back;         /* the address that the browser goes to afterwards: "?show=all" */
};
void triage_form_write(Html *html, const struct triage_form *form);

/* A box for one change, anywhere in the page. */
void triage_form_box(Html *html, int64_t form_id, const struct store_change *change);

/* What people and the detector did to a change, oldest first. */
void triage_form_log(Html *html, const GPtrArray *log);
