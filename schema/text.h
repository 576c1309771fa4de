/* SPDX-License-Identifier: Apache-2.0
 * The rules of names and other short texts, and how they are quoted in messages. Every text is
 * valid UTF-8. Pure; any thread. */
#pragma once

#include <glib.h>
#include <stdbool.h>

#define TEXT_EXCERPT_BYTES 64

/* What is wrong with a name, as the rest of a sentence that begins with what is named ("is longer
 * than 256 bytes (it has 300)"); NULL where it is right: 1 to bytes_max bytes, in Unicode
 * normalization form C, without control and direction characters, no space at either end, neither
 * "." nor "..". */
char *text_name_problem(const char *text, size_t bytes, size_t bytes_max);

/* The same for a value that is no name of its own and no part of a path: it may be empty, "." and
 * "..". */
char *text_value_problem(const char *text, size_t bytes, size_t bytes_max);

/* A copy for a message: at most TEXT_EXCERPT_BYTES, cut between characters, with … where something
 * was cut. */
char *text_excerpt(const char *text);

/* The longest prefix of at most bytes_max bytes that ends between characters. */
size_t text_prefix_bytes(const char *text, size_t bytes_max);

/* 40 or 64 lower-case hex digits. */
bool text_is_sha(const char *text);
