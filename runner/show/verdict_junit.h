/* SPDX-License-Identifier: Apache-2.0
 * A comparison as a JUnit report, in the shape that Jenkins, GitLab and others read: one suite, a
 * test case for each series (classname: the benchmark; name: parameters, metric, machine). What
 * fails the command is a <failure>; unsure, new and missing ones that do not are <skipped>; what
 * could not be measured ("errors" of the comparison: {name, message}) is an <error>. Pure text; any
 * thread. */
#pragma once

#include <glib.h>
#include <jansson.h>

GString *verdict_junit_draw(const json_t *comparison);

/* Text of an element or attribute: escaped, without what XML 1.0 cannot hold. */
void xml_append_text(GString *out, const char *text);
