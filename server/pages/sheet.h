/* SPDX-License-Identifier: Apache-2.0
 * A page in its other forms. Every page of results is also JSON, CSV and Markdown, by the suffix
 * .json, .csv or .md of its address (of / it is /index.json …), or by ?as=json, csv, md, which is
 * the way where the name that the address ends in ends so itself: a name wins over a suffix. A page
 * that has them
 *
 *  1. stands in server/routes.h as PAGE(ROUTE, pattern, handler), and with its four paths in
 *     schema/openapi.yaml;
 *  2. asks sheet_form_of() first, gives sheet_type(form) to http_not_modified, and where the form
 * is not SHEET_HTML writes what it would show with the functions below, then sheet_send()s it;
 *  3. sets `.request` of its struct layout, so that its footer leads to the forms.
 *
 * What is written is facts, then tables, each once, and comes out so: in JSON an object with a
 * member a fact and an array of objects a table; in CSV the first table (?table=KEY: that one), its
 * columns' keys as the heading; in Markdown a heading with the page's address, a line a fact, and
 * tables that can be pasted into a pull request. Numbers are raw in JSON and CSV, as people read
 * them in Markdown. A number, time or text that is not known is null, an empty cell, "–".
 *
 * A Sheet belongs to the request's thread. Texts are copied. */
#pragma once

#include "server/context.h"
#include "server/pages/html.h"

enum sheet_form { SHEET_HTML, SHEET_JSON, SHEET_CSV, SHEET_MARKDOWN };

/* `is_name`: what the address ends in, suffix included, is a name that is there (false where no
 * name ends it). */
enum sheet_form sheet_form_of(const HttpRequest *request, bool is_name);
const char *sheet_type(enum sheet_form form);

/* The address' last segment {name} with the suffix that the route cut off: NULL where the route has
 * none, or another segment is its last. The caller frees it. */
char *sheet_whole_name(const HttpRequest *request, const char *name);

typedef struct sheet Sheet;

/* `title` heads the page in Markdown and is the member "title". Not for SHEET_HTML. */
Sheet *sheet_new(const HttpRequest *request, enum sheet_form form, const char *title);
/* Which table CSV shows where nobody asks for one; NULL, as at first: the first. */
void sheet_csv_default(Sheet *sheet, const char *key);
void sheet_free(Sheet *sheet);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Sheet, sheet_free)
/* Takes the sheet, and answers 200 with it; 404 where ?table= names none of its tables. */
void sheet_send(HttpRequest *request, Sheet *sheet);

/* The end of a handler: answers with the page, or its other form, whichever is there, else with the
 * error. Takes what it is given. */
void sheet_respond(HttpRequest *request, Html *html, Sheet *sheet, const GError *error);

/* ---- Facts: before the first table. Keys and labels are literals of the program. ---- */

/* A line of its own where label is NULL, else "label: text". */
void sheet_fact(Sheet *sheet, const char *key, const char *label, const char *text);
/* The same with a way to a page below this server. */
void sheet_fact_link(Sheet *sheet, const char *key, const char *label, const char *text,
                     const char *path);
void sheet_fact_integer(Sheet *sheet, const char *key, const char *label, int64_t value);
void sheet_fact_ratio(Sheet *sheet, const char *key, const char *label, double ratio);
/* A list (char *): an array in JSON, one item a line in Markdown; NULL: none. */
void sheet_fact_list(Sheet *sheet, const char *key, const char *label, const GPtrArray *texts);

/* ---- Tables ---- */

#define SHEET_ROWS 100u /* of a table in Markdown: so many a pull request bears */

struct sheet_column {
    const char *key;   /* in JSON and CSV; NULL: only in Markdown */
    const char *title; /* in Markdown; NULL: only in JSON and CSV */
    bool is_number;    /* stands right in Markdown */
};

/* `columns` ends with {0}, outlives the table. Then each row's cells follow in the columns' order,
 * and nothing else. Markdown shows the first `rows_max` rows and says how many there are (0: all).
 */
void sheet_table(Sheet *sheet, const char *key, const char *title,
                 const struct sheet_column *columns, guint rows_max);
void sheet_table_end(Sheet *sheet);

void sheet_text(Sheet *sheet, const char *text);
void sheet_link(Sheet *sheet, const char *text, const char *path);
/* JSON as it is (an object, for one), which is also the text in CSV; `text` in Markdown. */
void sheet_raw(Sheet *sheet, const char *json, const char *text);
/* Its whole sha; in Markdown 8 digits that lead to its page. NULL: none. */
void sheet_commit(Sheet *sheet, const struct store_commit *commit);
void sheet_number(Sheet *sheet, double value, const char *unit);
void sheet_ratio(Sheet *sheet, double ratio);   /* 0.05 is +5 % */
void sheet_share(Sheet *sheet, double ratio);   /* 0.05 is 5 % */
void sheet_probability(Sheet *sheet, double p); /* "< 0.001" where people would not read it */
void sheet_integer(Sheet *sheet, int64_t value);
void sheet_bool(Sheet *sheet, bool value);
void sheet_id(Sheet *sheet, int64_t id);           /* ids are opaque strings; 0: none */
void sheet_time_ms(Sheet *sheet, int64_t time_ms); /* 0: none */
