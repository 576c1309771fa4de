/* SPDX-License-Identifier: Apache-2.0
 * The frame of every page (head, bread crumbs, footer) and the small parts that pages share. Knows
 * no resource. A page is rendered whole into an Html, the snapshot is ended, then it is sent. The
 * request's thread. */
#pragma once

#include "server/context.h"
#include "server/pages/html.h"
#include "server/pages/quantity.h"

#define LAYOUT_PAGE_ROWS 50u

struct layout_crumb {
    const char *text, *url; /* url NULL: the page itself */
};

struct layout {
    const char *title; /* of the document; the name of the product is added */
    const struct layout_crumb *crumbs;
    guint n_crumbs;
    const char *version;
    bool is_wide; /* uses the window's whole width */
    const HttpRequest
        *request;        /* of a page that has other forms (sheet.h): the footer leads to them */
    const char *project; /* of whose pages it is one: with the ways to the others; NULL: of none */
    const char *room;    /* which of those: "" the overview, "/changes", …; NULL: below one */
};

void layout_begin(Html *html, const struct layout *layout);
void layout_end(Html *html, const struct layout *layout);

/* The address of a page that has other forms, in the one of that suffix (".csv"). */
char *layout_form_url(const HttpRequest *request, const char *suffix);

/* Ends `html` and answers 200 with it. */
void layout_send(HttpRequest *request, Html *html);
/* Ends `html` and fills in what depends on who gets it: who is signed in, and the tokens of forms.
 */
GString *layout_finish(HttpRequest *request, Html *html);

/* In every form that posts: the hidden field by which the server knows it for this browser's own.
 * Where a form is sent by GET and only one button posts it, the button's attributes instead. */
void layout_form_token(Html *html);
void layout_form_button(Html *html);
/* The field "who" (`label`, a literal) for people who are not signed in, else their name. Taken by
 * page_form_who (page_names.h). */
void layout_form_who(Html *html, const char *label);

/* Of a select or a datalist. */
void layout_option(Html *html, const char *value, const char *says, bool is_chosen);

/* The error page that the HTTP layer asks for: what it is, and what to do. */
void page_error(HttpRequest *request, unsigned status, const char *title, const char *detail,
                GString *out);

/* <time>: absolute and UTC, so that the same state gives the same bytes. Nothing for 0. */
void layout_time_s(Html *html, int64_t time_s);
void layout_time_ms(Html *html, int64_t time_ms);

/* A command to copy. */
void layout_command(Html *html, const char *command);

/* A commit's short sha as a link to its page. */
void layout_commit(Html *html, const struct store_commit *commit);

/* A machine's name as a link to its page. */
void layout_machine(Html *html, const struct store_machine *machine);

/* A commit's subject; says so where it is not known. */
void layout_subject(Html *html, const struct store_commit *commit);

/* "1.163" with its interval below, in the scale of a column; a bound carries > or <. */
struct layout_value {
    double center, low, high;
    bool has_interval;
    int censored;
    int64_t n; /* 0: not known */
};
void layout_value(Html *html, const struct layout_value *value, const struct quantity_scale *scale);

/* Which rows a page shows: from query parameter `name` (1-based), LAYOUT_PAGE_ROWS each; "all"
 * shows up to `all_max`. */
struct layout_paging {
    const char *name;
    guint n_rows, first, end; /* rows first <= i < end */
    guint page, n_pages;      /* page 0: all */
    guint all_max;
};
struct layout_paging layout_paging_of(const HttpRequest *request, const char *name, guint n_rows,
                                      guint all_max);
/* "rows 1–50 of 212", previous, next, all; nothing where all rows fit on the first page. */
void layout_pager(Html *html, const HttpRequest *request, const struct layout_paging *paging,
                  const char *what);
