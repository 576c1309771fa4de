/* SPDX-License-Identifier: Apache-2.0
 * Prometheus' text format 0.0.4: families, each with its help and type before its samples. Knows no
 * request; one thread at a time. */
#pragma once

#include "schema/latency.h"
#include <glib.h>

#define PROMETHEUS_TYPE "text/plain; version=0.0.4; charset=utf-8"

/* `name` in base units, a counter's ends in _total. `help` is one line without a backslash. */
void prometheus_gauge(GString *out, const char *name, const char *help, double value);
void prometheus_counter(GString *out, const char *name, const char *help, double value);

/* A family of several samples: its head, then prometheus_sample for each; `label` and `value` are
 * plain words of the program. */
void prometheus_family(GString *out, const char *name, const char *type, const char *help);
void prometheus_sample(GString *out, const char *name, const char *label, const char *value,
                       double number);
/* One histogram of a family; `label` NULL: it is the only one. In seconds. */
void prometheus_histogram(GString *out, const char *name, const char *label, const char *value,
                          const struct latency_counts *counts);
