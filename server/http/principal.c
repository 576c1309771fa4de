/* SPDX-License-Identifier: Apache-2.0
 * See principal.h. Pure; any thread. */
#include "server/http/principal.h"
#include "schema/text.h"
#include <string.h>

#define NAME_BYTES_MAX    256u
#define LIFETIME_DAYS_MAX 3650

static const struct {
    const char *word;
    unsigned bit, with; /* what it takes along */
} scopes_known[] = {{"read", PRINCIPAL_READ, PRINCIPAL_READ},
                    {"submit", PRINCIPAL_SUBMIT, PRINCIPAL_SUBMIT},
                    {"triage", PRINCIPAL_TRIAGE, PRINCIPAL_TRIAGE | PRINCIPAL_READ},
                    {"admin", PRINCIPAL_ADMIN, PRINCIPAL_ALL}};

void principal_free(Principal *principal)
{
    if (!principal)
        return;
    g_free(principal->who);
    g_free(principal->key);
    g_free(principal->project);
    g_strfreev(principal->branches);
    g_strfreev(principal->machines);
    g_free(principal);
}

Principal *principal_new_shared(void)
{
    Principal *principal = g_new0(Principal, 1);
    principal->who = g_strdup("write token");
    principal->key = g_strdup(PRINCIPAL_SHARED_KEY);
    principal->scopes = PRINCIPAL_ALL;
    return principal;
}

static bool scope_take(const char *word, unsigned *inout)
{
    for (gsize i = 0; i < G_N_ELEMENTS(scopes_known); i++) {
        if (strcmp(word, scopes_known[i].word) != 0)
            continue;
        *inout |= scopes_known[i].with;
        return true;
    }
    return false;
}

bool principal_scopes_parse(const char *text, unsigned *out, GError **error)
{
    g_auto(GStrv) words = g_strsplit(text, ",", 8);
    *out = 0;
    for (char **word = words; *word; word++) {
        if (scope_take(g_strstrip(*word), out))
            continue;
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                    "\"%.40s\" is no scope; read, submit, triage or admin would be right, or "
                    "several with commas: submit,read",
                    *word);
        return false;
    }
    if (*out != 0)
        return true;
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                        "no scope is named; read, submit, triage or admin would be right");
    return false;
}

char *principal_scopes_print(unsigned scopes)
{
    g_autoptr(GString) text = g_string_new(NULL);
    unsigned said = 0;
    for (gsize i = G_N_ELEMENTS(scopes_known); i-- > 0;) { /* the widest first */
        unsigned with = scopes_known[i].with;
        if (!(scopes & scopes_known[i].bit) || (said & with) == with)
            continue;
        g_string_append_printf(text, "%s%s", text->len ? "," : "", scopes_known[i].word);
        said |= with;
    }
    return g_string_free(g_steal_pointer(&text), FALSE);
}

static bool name_fits(const char *pattern, const char *name)
{
    size_t length = strlen(pattern);
    if (length > 0 && pattern[length - 1] == '*')
        return strncmp(pattern, name, length - 1) == 0;
    return strcmp(pattern, name) == 0;
}

static bool one_fits(char *const *patterns, const char *name)
{
    for (; name && *patterns; patterns++)
        if (name_fits(*patterns, name))
            return true;
    return false;
}

bool principal_has_project(const Principal *principal, const char *project)
{
    return !principal || !principal->project || g_strcmp0(principal->project, project) == 0;
}

bool principal_has_branch(const Principal *principal, const char *branch)
{
    return !principal || !principal->branches || one_fits(principal->branches, branch);
}

bool principal_has_machine(const Principal *principal, const char *machine)
{
    return !principal || !principal->machines || one_fits(principal->machines, machine);
}

/* ---- What a token is asked to be ---- */

static bool name_is_sound(const char *what, const char *name, GError **error)
{
    g_autofree char *problem = text_name_problem(name, strlen(name), NAME_BYTES_MAX);
    if (problem)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the %s \"%.80s\" %s", what, name,
                    problem);
    return !problem;
}

static bool names_are_sound(const char *what, char *const *names, GError **error)
{
    guint n = 0;
    for (; names && names[n]; n++)
        if (!name_is_sound(what, names[n], error))
            return false;
    if (n <= PRINCIPAL_NAMES_MAX)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "a token is bound to at most %u names of a %s; one that ends in * stands for all "
                "that begin so",
                PRINCIPAL_NAMES_MAX, what);
    return false;
}

static bool lifetime_parse(const char *text, int64_t *out_seconds, GError **error)
{
    static const struct {
        char unit;
        int64_t seconds;
    } units[] = {{'h', 3600}, {'d', 86400}, {'w', 7 * 86400}};
    char *end = NULL;
    guint64 n = g_ascii_isdigit(*text) ? g_ascii_strtoull(text, &end, 10) : 0;
    for (gsize i = 0; n > 0 && i < G_N_ELEMENTS(units); i++) {
        if (*end != units[i].unit || end[1] != '\0' ||
            n > (guint64)(LIFETIME_DAYS_MAX * 86400LL / units[i].seconds))
            continue;
        *out_seconds = (int64_t)n * units[i].seconds;
        return true;
    }
    g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                "\"%.40s\" is no time to live; 12h, 90d or 4w would be right, up to %d days", text,
                LIFETIME_DAYS_MAX);
    return false;
}

/* A token of one branch that could triage or manage would not be of one branch. */
static bool bindings_make_sense(const struct principal_wish *wish, unsigned scopes, GError **error)
{
    unsigned wide = (unsigned)PRINCIPAL_TRIAGE | (unsigned)PRINCIPAL_ADMIN;
    if (!(wish->branches || wish->machines) || !(scopes & wide))
        return true;
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "a token that is bound to branches or machines may submit, or submit,read; "
                        "triage and admin are not of one branch");
    return false;
}

char *principal_wish_check(const struct principal_wish *wish, int64_t *out_lifetime_s,
                           GError **error)
{
    unsigned scopes;
    *out_lifetime_s = 0;
    if ((wish->project && !name_is_sound("project", wish->project, error)) ||
        (wish->note && !name_is_sound("note", wish->note, error)) ||
        !names_are_sound("branch", wish->branches, error) ||
        !names_are_sound("machine", wish->machines, error) ||
        !principal_scopes_parse(wish->scope ? wish->scope : "", &scopes, error) ||
        !bindings_make_sense(wish, scopes, error) ||
        (wish->expires && !lifetime_parse(wish->expires, out_lifetime_s, error)))
        return NULL;
    return principal_scopes_print(scopes);
}
