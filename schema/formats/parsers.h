/* SPDX-License-Identifier: Apache-2.0
 * The two functions of each format that the table in format.c names; see struct format. One file
 * each, of the same name. */
#pragma once

#include "schema/formats/format.h"
#include "schema/formats/format_input.h"
#include "schema/formats/import.h"

bool bencher_recognise(const struct format_input *input);
void bencher_take(Import *import, const struct format_input *input);

bool codespeed_recognise(const struct format_input *input);
void codespeed_take(Import *import, const struct format_input *input);

bool conbench_recognise(const struct format_input *input);
void conbench_take(Import *import, const struct format_input *input);

bool criterion_recognise(const struct format_input *input);
void criterion_take(Import *import, const struct format_input *input);

bool github_action_recognise(const struct format_input *input);
void github_action_take(Import *import, const struct format_input *input);
void github_action_bigger_take(Import *import, const struct format_input *input);
void github_action_smaller_take(Import *import, const struct format_input *input);

bool go_benchmark_recognise(const struct format_input *input);
void go_benchmark_take(Import *import, const struct format_input *input);

bool google_benchmark_recognise(const struct format_input *input);
void google_benchmark_take(Import *import, const struct format_input *input);

bool hyperfine_recognise(const struct format_input *input);
void hyperfine_take(Import *import, const struct format_input *input);

bool jmh_recognise(const struct format_input *input);
void jmh_take(Import *import, const struct format_input *input);

bool pytest_benchmark_recognise(const struct format_input *input);
void pytest_benchmark_take(Import *import, const struct format_input *input);

bool asv_recognise(const struct format_input *input);
void asv_take(Import *import, const struct format_input *input);

bool benchmark_dotnet_recognise(const struct format_input *input);
void benchmark_dotnet_take(Import *import, const struct format_input *input);

bool catch2_recognise(const struct format_input *input);
void catch2_take(Import *import, const struct format_input *input);

bool csv_recognise(const struct format_input *input);
void csv_take(Import *import, const struct format_input *input);

bool lnt_recognise(const struct format_input *input);
void lnt_take(Import *import, const struct format_input *input);

bool nanobench_recognise(const struct format_input *input);
void nanobench_take(Import *import, const struct format_input *input);

bool pyperf_recognise(const struct format_input *input);
void pyperf_take(Import *import, const struct format_input *input);

bool rebench_recognise(const struct format_input *input);
void rebench_take(Import *import, const struct format_input *input);

bool vitest_recognise(const struct format_input *input);
void vitest_take(Import *import, const struct format_input *input);
