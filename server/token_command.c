/* SPDX-License-Identifier: Apache-2.0
 * See token_command.h. */
#include "server/token_command.h"
#include "schema/number.h"
#include "schema/timestamp.h"
#include "server/config.h"
#include "server/http/principal.h"
#include "server/store/store_access.h"
#include <string.h>

static const char summary[] =
    "create   makes a token and prints it, once: it is kept nowhere, only its hash is\n"
    "list     shows the tokens, live ones and those that are over\n"
    "revoke   ends a token by its number, with all sessions of it\n\n"
    "A server that has the store open takes and refuses them from its next request on.\n\n"
    "Scopes: submit posts runs, imports and history, and nothing else; read sees what is kept "
    "where "
    "reading is not open to all; triage reads, says what changes are and annotates; admin does all "
    "of its project, or of the server without --project. Several with commas: submit,read.\n\n"
    "Examples:\n"
    "  breakeven-server token create --project mine --scope submit --branch 'main' --expires 90d "
    "--note ci\n"
    "  breakeven-server token create --scope admin --note ada\n"
    "  breakeven-server token revoke 7";

struct asked {
    char *project, *scope, *expires, *note, *store, *config;
    char **branches, **machines;
    gboolean json, help;
};

static void asked_clear(struct asked *asked)
{
    g_free(asked->project);
    g_free(asked->scope);
    g_free(asked->expires);
    g_free(asked->note);
    g_free(asked->store);
    g_free(asked->config);
    g_strfreev(asked->branches);
    g_strfreev(asked->machines);
}

/* The store as the server's own settings name it: option, variable, key file. */
static char *store_url(const struct asked *asked, GError **error)
{
    g_autoptr(GStrvBuilder) words = g_strv_builder_new();
    g_strv_builder_add(words, "breakeven-server");
    if (asked->store)
        g_strv_builder_add_many(words, "--store", asked->store, NULL);
    if (asked->config)
        g_strv_builder_add_many(words, "--config", asked->config, NULL);
    g_auto(GStrv) argv = g_strv_builder_end(words);
    g_autoptr(Config) config = config_parse((int)g_strv_length(argv), argv, error);
    return config ? g_strdup(config->store) : NULL;
}

static struct store_audit *audit_new(const char *method)
{
    struct store_audit *audit = g_new0(struct store_audit, 1);
    g_autofree char *id = g_uuid_string_random();
    audit->request_id = g_strconcat("cli-", id, NULL);
    audit->at_ms = g_get_real_time() / 1000;
    audit->who = g_strdup_printf("command line (%s)", g_get_user_name());
    audit->method = g_strdup(method);
    audit->status = 200;
    return audit;
}

/* ---- create ---- */

static StoreToken *token_of(const struct asked *asked, GError **error)
{
    const struct principal_wish wish = {.project = asked->project,
                                        .scope = asked->scope,
                                        .note = asked->note,
                                        .expires = asked->expires,
                                        .branches = asked->branches,
                                        .machines = asked->machines};
    int64_t lifetime_s, now_ms = g_get_real_time() / 1000;
    char *scopes = principal_wish_check(&wish, &lifetime_s, error);
    if (!scopes)
        return NULL;
    StoreToken *token = g_new0(StoreToken, 1);
    token->project = g_strdup(asked->project);
    token->scopes = scopes;
    token->branches = g_strdupv(asked->branches);
    token->machines = g_strdupv(asked->machines);
    token->note = g_strdup(asked->note);
    token->made_by = g_strdup_printf("command line (%s)", g_get_user_name());
    token->created_ms = now_ms;
    token->expires_ms = lifetime_s > 0 ? now_ms + lifetime_s * 1000 : 0;
    return token;
}

static char *create(StoreTokenFile *file, StoreToken *token, bool json, GError **error)
{
    char *secret = secret_new(error);
    if (!secret)
        return NULL;
    struct store_audit *audit = audit_new("POST");
    int64_t id;
    audit->project = g_strdup(token->project);
    audit->detail = g_strdup_printf("scope %s", token->scopes);
    digest_sha256(secret, SECRET_TEXT_LENGTH, token->hash);
    bool fine = store_token_file_add(file, token, audit, &id, error);
    store_audit_free(audit);
    char *text = fine ? secret_print(SECRET_TOKEN_PREFIX, id, secret) : NULL;
    secret_free(secret);
    if (!text)
        return NULL;
    char *out = json ? g_strdup_printf("{\"id\":\"%" G_GINT64_FORMAT "\",\"token\":\"%s\"}\n",
                                       (gint64)id, text)
                     : g_strconcat(text, "\n", NULL);
    secret_free(text);
    return out;
}

/* ---- list ---- */

static const char *state_of(const struct store_token *token, int64_t now_ms)
{
    return store_token_is_live(token, now_ms) ? "live" : token->revoked_ms ? "revoked" : "expired";
}

static void append_member(GString *out, const char *name, const char *text)
{
    g_string_append_printf(out, ",\"%s\":", name);
    if (text)
        json_append_string(out, text);
    else
        g_string_append(out, "null");
}

static void append_time(GString *out, const char *name, int64_t time_ms)
{
    g_autofree char *text = time_ms ? timestamp_format_ms(time_ms) : NULL;
    append_member(out, name, text);
}

static void append_names(GString *out, const char *name, char *const *names)
{
    g_string_append_printf(out, ",\"%s\":%s", name, names ? "[" : "null");
    for (guint i = 0; names && names[i]; i++) {
        g_string_append(out, i > 0 ? "," : "");
        json_append_string(out, names[i]);
    }
    g_string_append(out, names ? "]" : "");
}

/* As GET /api/tokens gives them, one object a line. */
static void append_json(GString *out, const struct store_token *token, int64_t now_ms)
{
    g_string_append_printf(out, "{\"id\":\"%" G_GINT64_FORMAT "\"", (gint64)token->id);
    append_member(out, "project", token->project);
    append_member(out, "scope", token->scopes);
    append_names(out, "branches", token->branches);
    append_names(out, "machines", token->machines);
    append_member(out, "note", token->note);
    append_member(out, "state", state_of(token, now_ms));
    append_member(out, "made_by", token->made_by);
    append_time(out, "created", token->created_ms);
    append_time(out, "expires", token->expires_ms);
    append_time(out, "last_used", token->last_used_ms);
    append_time(out, "revoked", token->revoked_ms);
    append_member(out, "revoked_by", token->revoked_by);
    g_string_append(out, "}\n");
}

static void append_day(GString *out, int64_t time_ms)
{
    g_autofree char *text = time_ms ? timestamp_format_ms(time_ms) : NULL;
    g_string_append_printf(out, "%-11.10s", text ? text : "-");
}

static void append_row(GString *out, const struct store_token *token, int64_t now_ms)
{
    g_string_append_printf(out, "%4" G_GINT64_FORMAT "  %-8s %-13s %-16s ", (gint64)token->id,
                           state_of(token, now_ms), token->scopes,
                           token->project ? token->project : "(all)");
    append_day(out, token->created_ms);
    append_day(out, token->expires_ms);
    append_day(out, token->last_used_ms);
    g_string_append(out, token->note ? token->note : "");
    for (guint i = 0; token->branches && token->branches[i]; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "  [branch ", token->branches[i]);
    g_string_append(out, token->branches ? "]" : "");
    for (guint i = 0; token->machines && token->machines[i]; i++)
        g_string_append_printf(out, "%s%s", i > 0 ? ", " : "  [machine ", token->machines[i]);
    g_string_append(out, token->machines ? "]\n" : "\n");
}

static char *list(StoreTokenFile *file, const struct asked *asked, GError **error)
{
    g_autoptr(GPtrArray) tokens = store_token_file_list(file, asked->project, error);
    int64_t now_ms = g_get_real_time() / 1000;
    if (!tokens)
        return NULL;
    GString *out = g_string_new(NULL);
    if (!asked->json)
        g_string_append(out, "  ID  STATE    SCOPE         PROJECT          CREATED    EXPIRES    "
                             "LAST USED  NOTE\n");
    for (guint i = 0; i < tokens->len; i++) {
        if (asked->json)
            append_json(out, tokens->pdata[i], now_ms);
        else
            append_row(out, tokens->pdata[i], now_ms);
    }
    return g_string_free(out, FALSE);
}

/* ---- revoke ---- */

static char *token_end(StoreTokenFile *file, const char *text, GError **error)
{
    guint64 id;
    if (!text || !g_ascii_string_to_unsigned(text, 10, 1, G_MAXINT64, &id, NULL)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                            "token revoke wants the number of a token, as token list shows it (the "
                            "7 of brkv_7_…)");
        return NULL;
    }
    struct store_audit *audit = audit_new("DELETE");
    bool fine = store_token_file_revoke(file, (int64_t)id, audit, error);
    store_audit_free(audit);
    return fine ? g_strdup_printf("token %" G_GUINT64_FORMAT " is revoked\n", id) : NULL;
}

/* ---- All ---- */

static char *perform(const struct asked *asked, int argc, char **argv, GError **error)
{
    const char *verb = argc > 1 ? argv[1] : "";
    bool creates = strcmp(verb, "create") == 0, lists = strcmp(verb, "list") == 0;
    bool revokes = strcmp(verb, "revoke") == 0;
    if ((!creates && !lists && !revokes) || argc != (revokes ? 3 : 2)) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX,
                            "token create, token list or token revoke ID would be right; token "
                            "--help says more");
        return NULL;
    }
    /* Before a store is made for nothing. */
    g_autoptr(StoreToken) token = creates ? token_of(asked, error) : NULL;
    if (creates && !token)
        return NULL;
    g_autofree char *url = store_url(asked, error);
    g_autoptr(StoreTokenFile) file = url ? store_token_file_open(url, error) : NULL;
    if (!file)
        return NULL;
    return creates ? create(file, token, asked->json, error)
           : lists ? list(file, asked, error)
                   : token_end(file, argv[2], error);
}

char *token_command_text(int argc, char **argv, GError **error)
{
    struct asked asked = {0};
    const GOptionEntry entries[] = {
        {"project", 0, 0, G_OPTION_ARG_STRING, &asked.project, "The only project it is for", "P"},
        {"scope", 0, 0, G_OPTION_ARG_STRING, &asked.scope, "submit, read, triage or admin", "S"},
        {"expires", 0, 0, G_OPTION_ARG_STRING, &asked.expires, "When it ends (default: never)",
         "12h|90d|4w"},
        {"branch", 0, 0, G_OPTION_ARG_STRING_ARRAY, &asked.branches,
         "The only branch it writes as; repeat it for several; pr/* is all that begin so", "B"},
        {"machine", 0, 0, G_OPTION_ARG_STRING_ARRAY, &asked.machines,
         "The only machine it writes for; repeat it for several", "M"},
        {"note", 0, 0, G_OPTION_ARG_STRING, &asked.note,
         "What or who it is for: the name under which its writes are logged", "TEXT"},
        {"store", 0, 0, G_OPTION_ARG_STRING, &asked.store, "As of the server", "URL"},
        {"config", 0, 0, G_OPTION_ARG_FILENAME, &asked.config, "As of the server", "FILE"},
        {"json", 0, 0, G_OPTION_ARG_NONE, &asked.json, "Print JSON, an object a line", NULL},
        {"help", 'h', 0, G_OPTION_ARG_NONE, &asked.help, "Show this help", NULL},
        G_OPTION_ENTRY_NULL};
    g_autoptr(GOptionContext) context = g_option_context_new("create|list|revoke [ID]");
    g_option_context_set_help_enabled(context, FALSE);
    g_option_context_set_summary(context, summary);
    g_option_context_add_main_entries(context, entries, NULL);
    g_autoptr(GError) problem = NULL;
    char *text = NULL;
    if (!g_option_context_parse(context, &argc, &argv, &problem))
        g_set_error(error, BREAKEVEN_ERROR, ERROR_SYNTAX, "token: %s", problem->message);
    else if (asked.help)
        text = g_option_context_get_help(context, FALSE, NULL);
    else
        text = perform(&asked, argc, argv, error);
    asked_clear(&asked);
    return text;
}
