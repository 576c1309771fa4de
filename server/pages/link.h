/* SPDX-License-Identifier: Apache-2.0
 * Addresses of the product's pages, with every name encoded. All return new strings. Pure; any
 * thread. */
#pragma once

#include <glib.h>
#include <stdint.h>

char *link_project(const char *project);
char *link_bench(const char *project, const char *bench);
char *link_commit(const char *project, const char *sha);
char *link_changes(const char *project);
char *link_change(const char *project, gint64 id);
char *link_rules(const char *project);
char *link_annotations(const char *project);
char *link_machine(const char *machine);

/* Where a form leads back to: `path` with a query "?…", a fragment "#…", or a number below it
 * "/7"; `path` alone where `back` is none of these. */
char *link_back(const char *path, const char *back);
/* Each side as comparison.h takes it; `also` may be NULL. */
char *link_compare(const char *project, const char *base, const char *head);
char *link_compare_also(const char *project, const char *base, const char *head, const char *also);

/* The template's {sha} replaced; NULL where there is no template or what comes out is no http(s)
 * address. */
char *link_forge(const char *url_template, const char *sha);

/* A word for a shell: quoted where it holds more than letters, digits and ._-/@+ */
char *link_shell_word(const char *text);

/* "?…" made of `pairs` (struct http_pair *) with `name` set to `value` (NULL: left out); of a
 * repeated name all are replaced. "?" where nothing is left. */
char *link_query(const GPtrArray *pairs, const char *name, const char *value);

/* The same with another range of commits: `from` and `to` are shas, or NULL: left out. */
char *link_range(const GPtrArray *pairs, const char *from, const char *to);
