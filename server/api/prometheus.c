/* SPDX-License-Identifier: Apache-2.0
 * See prometheus.h. */
#include "server/api/prometheus.h"

#include "schema/number.h"

void prometheus_family(GString *out, const char *name, const char *type, const char *help)
{
    g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void append_value(GString *out, double number)
{
    g_string_append_c(out, ' ');
    number_append(out, number);
    g_string_append_c(out, '\n');
}

void prometheus_sample(GString *out, const char *name, const char *label, const char *value,
                       double number)
{
    g_string_append(out, name);
    if (label)
        g_string_append_printf(out, "{%s=\"%s\"}", label, value);
    append_value(out, number);
}

void prometheus_gauge(GString *out, const char *name, const char *help, double value)
{
    prometheus_family(out, name, "gauge", help);
    prometheus_sample(out, name, NULL, NULL, value);
}

void prometheus_counter(GString *out, const char *name, const char *help, double value)
{
    prometheus_family(out, name, "counter", help);
    prometheus_sample(out, name, NULL, NULL, value);
}

static void append_labels(GString *out, const char *label, const char *value)
{
    if (label)
        g_string_append_printf(out, "{%s=\"%s\"}", label, value);
}

static void append_bucket(GString *out, const char *name, const char *label, const char *value,
                          const char *bound)
{
    g_string_append_printf(out, "%s_bucket{", name);
    if (label)
        g_string_append_printf(out, "%s=\"%s\",", label, value);
    g_string_append_printf(out, "le=\"%s\"}", bound);
}

void prometheus_histogram(GString *out, const char *name, const char *label, const char *value,
                          const struct latency_counts *counts)
{
    int64_t so_far = 0;
    for (int i = 0; i <= LATENCY_BOUNDS; i++) {
        char bound[NUMBER_TEXT_BYTES] = "+Inf";
        if (i < LATENCY_BOUNDS)
            number_format((double)latency_bounds_us[i] / 1e6, bound);
        so_far += counts->counts[i];
        append_bucket(out, name, label, value, bound);
        append_value(out, (double)so_far);
    }
    g_string_append_printf(out, "%s_sum", name);
    append_labels(out, label, value);
    append_value(out, (double)counts->sum_us / 1e6);
    g_string_append_printf(out, "%s_count", name);
    append_labels(out, label, value);
    append_value(out, (double)so_far);
}
