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

/* The place of a value: of the fastest facet in its own order with "none" last, of the others by
 * the number of series, so that what is chosen by default has place 0. */
static guint place_of(const struct facet *facet, const char *text, bool is_fastest)
{
    const struct facet_value *values =
        (const struct facet_value *)(const void *)facet->values->data;
    guint n = facet->values->len, at = 0, place = 0;
    while (at < n && strcmp(values[at].text, text) != 0)
        at++;
    if (at == n)
        return 0;
    if (is_fastest && *values[0].text == '\0')
        return at == 0 ? n - 1 : at - 1;
    for (guint i = 0; i < n; i++) {
        if (is_fastest)
            place += i < at ? 1 : 0;
        else
            place += values[i].n_series > values[at].n_series ||
                     (values[i].n_series == values[at].n_series && i < at);
    }
    return place;
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
    if (!fastest)
        return 0;
    guint slot = place_of(fastest, selection_series_value(fastest, series), true);
    guint stride = fastest->values->len % CHART_SLOTS;
    for (guint i = 0; i < selection->facets->len; i++) {
        const struct facet *facet = (const struct facet *)g_ptr_array_index(selection->facets, i);
        if (facet == fastest)
            continue;
        slot += stride * place_of(facet, selection_series_value(facet, series), false);
        stride = stride * facet->values->len % CHART_SLOTS;
    }
    return slot % CHART_SLOTS;
}
