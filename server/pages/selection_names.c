/* SPDX-License-Identifier: Apache-2.0
 * What a chosen line is called and how it looks, of selection.h. The request's thread, inside its
 * snapshot. */
#include "server/pages/selection.h"

#include "server/pages/chart.h"

#include <string.h>

static bool facet_differs(const Selection *selection, const struct facet *facet)
{
    for (guint i = 1; i < selection->series->len; i++) {
        const char *first = selection_series_value(
            facet, (const struct store_series *)g_ptr_array_index(selection->series, 0));
        const char *other = selection_series_value(
            facet, (const struct store_series *)g_ptr_array_index(selection->series, i));
        if (strcmp(first, other) != 0)
            return true;
    }
    return false;
}

static void append_part(GString *name, const struct facet *facet, const char *value)
{
    if (name->len > 0)
        g_string_append(name, " · ");
    if (*value == '\0')
        g_string_append_printf(name, "no %s", facet->name);
    else
        g_string_append_printf(name, "%s %s", facet->name, value);
}

char *selection_line_name(const Selection *selection, const struct store_series *series)
{
    g_autoptr(GString) name = g_string_new(NULL);
    bool is_single = selection->series->len <= 1;
    for (guint i = 0; i < selection->facets->len; i++) {
        const struct facet *facet = (const struct facet *)g_ptr_array_index(selection->facets, i);
        const char *value = selection_series_value(facet, series);
        if ((is_single && *value != '\0') || facet_differs(selection, facet))
            append_part(name, facet, value);
    }
    if (name->len == 0)
        g_string_append(name, series->metric);
    return g_string_free(g_steal_pointer(&name), FALSE);
}

char *selection_common_name(const Selection *selection)
{
    g_autoptr(GString) name = g_string_new(NULL);
    for (guint i = 0; selection->series->len > 1 && i < selection->facets->len; i++) {
        const struct facet *facet = (const struct facet *)g_ptr_array_index(selection->facets, i);
        const char *value = selection_series_value(
            facet, (const struct store_series *)g_ptr_array_index(selection->series, 0));
        if (*value != '\0' && !facet_differs(selection, facet))
            append_part(name, facet, value);
    }
    return g_string_free(g_steal_pointer(&name), FALSE);
}

/* Mixed radix over the places of its values, the facet with the most values counting fastest: the
 * lines of the default selection take neighbouring slots, and a line keeps its slot when others are
 * hidden or added. */
guint selection_series_slot(const Selection *selection, const struct store_series *series)
{
    const struct facet *fastest = NULL;
    for (guint i = 0; i < selection->facets->len; i++) {
        const struct facet *facet = (const struct facet *)g_ptr_array_index(selection->facets, i);
        if (!fastest || facet->values->len > fastest->values->len)
            fastest = facet;
    }
    guint slot = 0, stride = 1;
    for (guint pass = 0; pass < 2; pass++) {
        for (guint i = 0; i < selection->facets->len; i++) {
            const struct facet *facet =
                (const struct facet *)g_ptr_array_index(selection->facets, i);
            if ((facet == fastest) != (pass == 0))
                continue;
            const char *value = selection_series_value(facet, series);
            for (guint k = 0; k < facet->values->len; k++) {
                if (strcmp(g_array_index(facet->values, struct facet_value, k).text, value) == 0)
                    slot += k * stride;
            }
            stride = (stride * facet->values->len) % CHART_SLOTS;
        }
    }
    return slot % CHART_SLOTS;
}
