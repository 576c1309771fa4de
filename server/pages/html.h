/* SPDX-License-Identifier: Apache-2.0
 * HTML and SVG go out through these emitters, by context, and through nothing else: struct html is
 * opaque, so a page cannot put a string of the store's or of a request's into its text unescaped.
 * Names and values of markup are literals of the program; only their content comes from outside.
 * Knows no page and no resource. An Html belongs to one thread. */
#pragma once

#include <glib.h>
#include <stdint.h>

typedef struct html Html;

Html *html_new(void);
void html_free(Html *html);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Html, html_free)

/* The text written so far; `html` is freed. */
GString *html_finish(Html *html);

/* A place for what depends on who gets the page: filled when it is finished. `text` is a literal of
 * the program, for whoever fills it. */
void html_slot(Html *html, int kind, const char *text);
typedef void (*html_fill_fn)(Html *html, int kind, const char *text, void *user);
/* As html_finish; slots that are not filled by it stay empty. */
GString *html_finish_filled(Html *html, html_fill_fn fill, void *user);

/* Markup of the program itself. Takes string literals only. */
#define html_literal(html, literal) html_append_trusted((html), "" literal, sizeof(literal) - 1)
void html_append_trusted(Html *html, const char *literal, size_t length);

/* printf where the format is a literal and what each %s and %c gives is escaped, which holds
 * between tags and inside double quotes. Not for addresses (html_url) and not inside script. */
#define html_print(html, ...) html_append_format((html), "" __VA_ARGS__)
void html_append_format(Html *html, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Content of an element. NULL writes nothing. */
void html_text(Html *html, const char *text);

/* A whole attribute with its quotes and a space before it: ` name="value"`. */
#define html_attr(html, name, value) html_append_attr((html), " " name "=\"", (value))
void html_append_attr(Html *html, const char *opening, const char *value);

/* The same for an address: a path below this server ("/…", not "//…"), a query "?…", a fragment
 * "#…", or http(s)://…. Anything else (javascript:, data:, a stray word) becomes "#". */
#define html_url(html, name, url) html_append_url((html), " " name "=\"", (url))
void html_append_url(Html *html, const char *opening, const char *url);

/* True for an address that html_url would write as it is. */
gboolean html_url_is_safe(const char *url);

/* Inside <script type="application/json">: a JSON string with its quotes in which neither </script
 * nor <!-- can occur; a number; null for what is not finite. */
void html_json_string(Html *html, const char *text);
void html_json_number(Html *html, double value);

/* A coordinate of a drawing: at most two decimals, never an exponent. */
void html_coordinate(Html *html, double value);

size_t html_length(const Html *html);
