/* SPDX-License-Identifier: Apache-2.0
 * The table of foreign formats. Any thread. */
#include "schema/formats/format.h"

#include "schema/formats/google_benchmark.h"

#include <string.h>

static const struct format google_benchmark = {
    .name = "google-benchmark",
    .description =
        "what Google Benchmark writes with --benchmark_format=json or --benchmark_out=FILE",
    .parse = google_benchmark_parse,
};

const struct format *const formats[] = {&google_benchmark, NULL};

const struct format *format_find(const char *name)
{
    for (size_t i = 0; formats[i]; i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    return NULL;
}

char *format_names(void)
{
    GString *names = g_string_new(NULL);

    for (size_t i = 0; formats[i]; i++)
        g_string_append_printf(names, "%s%s", i ? ", " : "", formats[i]->name);
    return g_string_free(names, FALSE);
}
