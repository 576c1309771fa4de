/* SPDX-License-Identifier: Apache-2.0
 * See expectation.h. Pure; any thread. */
#include "schema/expectation.h"

#include "schema/rules.h"
#include "schema/text.h"

#include <jansson.h>
#include <string.h>

void expectation_free(struct expectation *expectation)
{
    if (!expectation)
        return;
    series_pattern_clear(&expectation->pattern);
    g_free(expectation->text);
    g_free(expectation);
}

/* Cuts the last word off and returns it; NULL where there is only one. */
static char *cut_word(char *text)
{
    char *space = strrchr(g_strchomp(text), ' ');

    if (!space)
        return NULL;
    *space = '\0';
    return space + 1;
}

static bool fill(struct expectation *expectation, char *text, GError **error)
{
    char *share = cut_word(text), *word = share ? cut_word(text) : NULL;
    bool is_worse = g_strcmp0(word, "worse") == 0;

    if (!word || (!is_worse && strcmp(word, "better") != 0)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                            "it does not end in `worse 5%` or `better 5%`");
        return false;
    }
    expectation->direction = is_worse ? -1 : 1;
    if (!g_str_has_suffix(share, "%") || !rules_parse_share(share, &expectation->effect) ||
        expectation->effect == 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "`%.40s` is no share above 0 %%; 5%% would be right", share);
        return false;
    }
    series_pattern_clear(&expectation->pattern);
    return series_pattern_parse(text, &expectation->pattern, error);
}

struct expectation *expectation_parse(const char *text, GError **error)
{
    struct expectation *expectation = g_new0(struct expectation, 1);
    g_autofree char *copy = g_strstrip(g_strdup(text));
    GError *cause = NULL;

    expectation->text = g_strdup(copy);
    g_strdelimit(copy, "\t", ' ');
    if (fill(expectation, copy, &cause))
        return expectation;
    g_autofree char *excerpt = text_excerpt(text);
    g_propagate_prefixed_error(error, cause, EXPECTATION_TRAILER ": %s: ", excerpt);
    expectation_free(expectation);
    return NULL;
}

static void free_expectation(gpointer expectation)
{
    expectation_free((struct expectation *)expectation);
}

static void take(const char *text, GPtrArray *list, GPtrArray *problems)
{
    g_autoptr(GError) error = NULL;
    struct expectation *expectation = expectation_parse(text, &error);

    if (expectation)
        g_ptr_array_add(list, expectation);
    else if (problems)
        g_ptr_array_add(
            problems, g_strdup_printf("%s; the trailer is kept, and says nothing", error->message));
}

GPtrArray *expectations_parse(const char *trailers_json, GPtrArray *problems)
{
    GPtrArray *list = g_ptr_array_new_with_free_func(free_expectation);
    json_t *root = trailers_json && strstr(trailers_json, "\"" EXPECTATION_TRAILER "\"")
                       ? json_loads(trailers_json, 0, NULL)
                       : NULL;
    const json_t *values = json_object_get(root, EXPECTATION_TRAILER);

    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *text = json_string_value(json_array_get(values, i));

        if (text)
            take(text, list, problems);
    }
    json_decref(root);
    return list;
}
