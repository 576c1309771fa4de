/* SPDX-License-Identifier: Apache-2.0
 * A raw commit object of git (git cat-file commit) as facts of a commit. It names its parents
 * whatever the clone holds. Pure. */
#pragma once

#include "schema/run.h"

/* Texts are made valid: UTF-8 NFC, one line, no control or direction characters, cut at their
 * maximum. The trailer Breakeven-Expect is kept, others are not. NULL where it is no commit object,
 * or one of more than RUN_PARENTS_MAX parents. */
struct run_commit *raw_commit_parse(const char *sha, const char *raw, gsize length);

/* The same cleaning for any text that a person wrote; NULL where nothing is left of it. */
char *raw_commit_clean_text(const char *text, gsize length, gsize bytes_max);
