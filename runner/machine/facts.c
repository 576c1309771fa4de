/* SPDX-License-Identifier: Apache-2.0
 * Facts to JSON. Knows nothing of where they come from; any one thread. */
#include "runner/machine/facts.h"
#include "schema/number.h"
#include <string.h>

struct fact {
    char *name;
    char *json;
};

static void fact_free(gpointer data)
{
    struct fact *fact = data;
    g_free(fact->name);
    g_free(fact->json);
    g_free(fact);
}

Facts *facts_new(void)
{
    Facts *facts = g_new(Facts, 1);
    facts->items = g_ptr_array_new_with_free_func(fact_free);
    return facts;
}

void facts_free(Facts *facts)
{
    if (facts) {
        g_ptr_array_unref(facts->items);
        g_free(facts);
    }
}

static void facts_take(Facts *facts, const char *name, GString *json)
{
    struct fact *fact = g_new(struct fact, 1);
    fact->name = g_strdup(name);
    fact->json = g_string_free(json, FALSE);
    g_ptr_array_add(facts->items, fact);
}

/* Valid UTF-8 of one line, whatever the kernel or a firmware wrote. */
static char *clean(const char *text)
{
    g_autofree char *valid = g_utf8_make_valid(text, -1);
    for (char *c = valid; *c; c++) {
        if (g_ascii_iscntrl(*c)) {
            *c = ' ';
        }
    }
    g_strstrip(valid);
    if (strlen(valid) > FACT_TEXT_BYTES_MAX) {
        const char *end = g_utf8_find_prev_char(valid, valid + FACT_TEXT_BYTES_MAX + 1);
        valid[end ? end - valid : 0] = '\0';
    }
    return g_steal_pointer(&valid);
}

void facts_add_text(Facts *facts, const char *name, const char *text)
{
    g_autofree char *cleaned = text ? clean(text) : NULL;
    if (cleaned && *cleaned) {
        GString *json = g_string_new(NULL);
        json_append_string(json, cleaned);
        facts_take(facts, name, json);
    }
}

void facts_add_number(Facts *facts, const char *name, double number)
{
    GString *json = g_string_new(NULL);
    number_append(json, number);
    facts_take(facts, name, json);
}

void facts_add_bool(Facts *facts, const char *name, bool value)
{
    facts_take(facts, name, g_string_new(value ? "true" : "false"));
}

static gint compare_names(gconstpointer left, gconstpointer right)
{
    const struct fact *const *a = left;
    const struct fact *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

char *facts_print(const Facts *facts)
{
    g_ptr_array_sort(facts->items, compare_names);
    GString *out = g_string_new("{");
    for (guint i = 0; i < facts->items->len; i++) {
        const struct fact *fact = g_ptr_array_index(facts->items, i);
        g_string_append(out, i ? "," : "");
        json_append_string(out, fact->name);
        g_string_append_printf(out, ":%s", fact->json);
    }
    g_string_append_c(out, '}');
    return g_string_free(out, FALSE);
}
