/* SPDX-License-Identifier: Apache-2.0
 * Numbers as people read them: a unit is scaled once for a chart or a column (ns to µs, items/s to
 * M items/s), and values carry four significant digits. Pure; any thread. Knows no page. */
#pragma once

#include <glib.h>
#include <stdint.h>

#define QUANTITY_TEXT_BYTES 48

struct quantity_scale {
    double divisor;  /* shown number = value / divisor */
    char label[272]; /* "µs", "M items/s"; "" where there is no unit and no prefix */
};

/* The scale in which numbers up to `magnitude` (an absolute value) are short. Units of time, also
 * per something (ns/op), move through ns µs ms s; bytes and rates take decimal prefixes. */
struct quantity_scale quantity_scale_for(const char *unit, double magnitude);

/* `value` in `scale` without its unit: "1.163", "861", "−12.35" (with U+2212), "0.004". */
void quantity_format(double value, const struct quantity_scale *scale,
                     char out[QUANTITY_TEXT_BYTES]);

/* With its own scale and unit: "1.163 M items/s". The caller frees it. */
char *quantity_text(double value, const char *unit);

/* "1,234,567" */
void quantity_count(uint64_t count, char out[QUANTITY_TEXT_BYTES]);

/* "+4.1 %", "−0.3 %", "0 %"; a factor beyond tenfold: "×12.4". The minus sign is U+2212. */
void quantity_ratio(double ratio, char out[QUANTITY_TEXT_BYTES]);

/* The number of an axis' tick with so many decimals (0 to 9); below 0: as short as it can be said.
 * The minus sign is U+2212. */
void quantity_tick(double shown, int decimals, char out[QUANTITY_TEXT_BYTES]);

/* A step of 1, 2 or 5 × 10^k such that [low, high] holds at most `ticks_max` of its multiples (2 to
 * 20). high > low. */
double quantity_step(double low, double high, unsigned ticks_max);
