/* SPDX-License-Identifier: Apache-2.0
 * /api/tokens: who may do what. An admin of one project sees and makes tokens of that only. A new
 * token is in the answer to its POST and nowhere else. Reading runs on the request's thread; writes
 * are answered on the writer's. */
#include "server/access/token_making.h"
#include "server/api/api_access.h"
#include "server/api/api_body.h"
#include "server/api/api_list.h"
#include "server/routes.h"

#include <string.h>

/* ---- The list ---- */

static bool collect(struct api_list *list, GError **error)
{
    int64_t after = list->after ? g_ascii_strtoll(list->after[0], NULL, 10) : 0;
    GPtrArray *tokens =
        store_tokens((StoreReader *)http_request_thread(list->request),
                     api_access_list_project(list->request), after, list->limit + 1, error);
    if (!tokens)
        return false;
    g_ptr_array_unref(list->items);
    list->items = tokens;
    list->has_more = tokens->len > list->limit;
    return true;
}

static const char *state_of(const struct store_token *token)
{
    return store_token_is_live(token, g_get_real_time() / 1000) ? "live"
           : token->revoked_ms                                  ? "revoked"
                                                                : "expired";
}

static void write_names(struct json_writer *writer, const char *key, char *const *names)
{
    if (!names) {
        json_writer_null(writer, key);
        return;
    }
    json_writer_array(writer, key);
    for (; *names; names++)
        json_writer_string(writer, NULL, *names);
    json_writer_end(writer);
}

static bool row_json(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                     struct json_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_token *token = item;
    json_writer_object(writer, NULL);
    api_write_id(writer, "id", token->id);
    json_writer_string(writer, "project", token->project);
    json_writer_string(writer, "scope", token->scopes);
    write_names(writer, "branches", token->branches);
    write_names(writer, "machines", token->machines);
    json_writer_string(writer, "note", token->note);
    json_writer_string(writer, "state", state_of(token));
    json_writer_string(writer, "made_by", token->made_by);
    api_write_time_ms(writer, "created", token->created_ms);
    api_write_time_ms(writer, "expires", token->expires_ms);
    api_write_time_ms(writer, "last_used", token->last_used_ms);
    api_write_time_ms(writer, "revoked", token->revoked_ms);
    json_writer_string(writer, "revoked_by", token->revoked_by);
    json_writer_end(writer);
    return true;
}

static void csv_names(struct csv_writer *writer, char **names)
{
    g_autofree char *text = names ? g_strjoinv(" ", names) : NULL;
    csv_writer_text(writer, text);
}

static bool row_csv(struct api_list *list G_GNUC_UNUSED, gconstpointer item,
                    struct csv_writer *writer, GError **error G_GNUC_UNUSED)
{
    const struct store_token *token = item;
    csv_writer_integer(writer, token->id);
    csv_writer_text(writer, token->project);
    csv_writer_text(writer, token->scopes);
    csv_names(writer, token->branches);
    csv_names(writer, token->machines);
    csv_writer_text(writer, token->note);
    csv_writer_text(writer, state_of(token));
    csv_writer_text(writer, token->made_by);
    api_write_csv_time_ms(writer, token->created_ms);
    api_write_csv_time_ms(writer, token->expires_ms);
    api_write_csv_time_ms(writer, token->last_used_ms);
    api_write_csv_time_ms(writer, token->revoked_ms);
    csv_writer_text(writer, token->revoked_by);
    csv_writer_end_row(writer);
    return true;
}

static void place(gconstpointer item, char *fields[API_LIST_FIELDS_MAX])
{
    fields[0] =
        g_strdup_printf("%" G_GINT64_FORMAT, (gint64)((const struct store_token *)item)->id);
}

void api_tokens_list(HttpRequest *request)
{
    static const char *const columns[] = {
        "id",      "project", "scope",   "branches",  "machines", "note",       "state",
        "made_by", "created", "expires", "last_used", "revoked",  "revoked_by", NULL};
    static const struct api_list_spec spec = {.plural = "tokens",
                                              .n_cursor_fields = 1,
                                              .members = columns,
                                              .columns = columns,
                                              .open = api_access_list_open,
                                              .collect = collect,
                                              .write_json = row_json,
                                              .write_csv = row_csv,
                                              .place = place,
                                              .free_user = g_free};
    api_list_serve(request, &spec, g_new0(char, 1));
}

/* ---- Making ---- */

struct asked {
    char *project, *scope, *expires, *note;
    char **branches, **machines;
};

static void asked_clear(struct asked *asked)
{
    g_free(asked->project);
    g_free(asked->scope);
    g_free(asked->expires);
    g_free(asked->note);
    g_strfreev(asked->branches);
    g_strfreev(asked->machines);
}

static void take_names(json_t *value, const char *pointer, char ***out, Faults *faults)
{
    GPtrArray *names = g_ptr_array_new();
    bool fine = json_is_array(value) && json_array_size(value) > 0;
    for (size_t i = 0; fine && i < json_array_size(value); i++) {
        const char *name = json_string_value(json_array_get(value, i));
        fine = name && i < PRINCIPAL_NAMES_MAX;
        if (fine)
            g_ptr_array_add(names, g_strdup(name));
    }
    if (!fine)
        faults_add(faults, pointer, "must be an array of 1 to %u names", PRINCIPAL_NAMES_MAX);
    g_ptr_array_add(names, NULL);
    g_strfreev(*out);
    *out = (char **)g_ptr_array_free(names, FALSE);
}

static void take_member(struct asked *asked, const char *key, json_t *value, Faults *faults)
{
    const struct {
        const char *name;
        char **text;
        char ***names;
    } members[] = {{"project", &asked->project, NULL},   {"scope", &asked->scope, NULL},
                   {"expires", &asked->expires, NULL},   {"note", &asked->note, NULL},
                   {"branches", NULL, &asked->branches}, {"machines", NULL, &asked->machines}};
    g_autofree char *pointer = g_strconcat("/", key, NULL);
    for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
        if (strcmp(members[i].name, key) != 0)
            continue;
        const char *text = json_string_value(value);
        if (members[i].names)
            take_names(value, pointer, members[i].names, faults);
        else if (text)
            *members[i].text = g_strdup(text);
        else
            faults_add(faults, pointer, "must be a text");
        return;
    }
    faults_add(faults, pointer,
               "is not known; give scope, project, expires, branches, machines, note");
}

static bool read_asked(const HttpRequest *request, struct asked *asked, Faults *faults,
                       GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length), *key;
    json_t *root = document_load(bytes, length, error), *value;
    if (!root)
        return false;
    if (!json_is_object(root))
        faults_add(faults, "", "must be an object with scope");
    json_object_foreach(root, key, value) take_member(asked, key, value, faults);
    if (!asked->scope && faults->items->len == 0)
        faults_add(faults, "/scope", "is missing; read, submit, triage or admin would be right");
    json_decref(root);
    return document_conclude(faults, error);
}

struct token_post {
    HttpRequest *request;
    char *secret;
};

static void post_done(const struct store_receipt *receipt, void *user)
{
    g_autofree struct token_post *post = user;
    if (!api_body_refused(post->request, receipt)) {
        char *text = secret_print(SECRET_TOKEN_PREFIX, receipt->access_id, post->secret);
        g_autofree char *id = g_strdup_printf("%" G_GINT64_FORMAT, (gint64)receipt->access_id);
        g_autofree char *address = api_write_address("/api/tokens/", id, NULL);
        g_autofree char *detail = g_strdup_printf("made token %s", id);
        GString *body = g_string_new(NULL);
        struct json_writer writer = JSON_WRITER_INIT(body);
        json_writer_object(&writer, NULL);
        json_writer_string(&writer, "id", id);
        json_writer_string(&writer, "token", text);
        json_writer_string(&writer, "url", address);
        json_writer_end(&writer);
        g_string_append_c(body, '\n');
        secret_free(text);
        http_request_note(post->request, NULL, detail);
        http_response_header(post->request, "Location", address);
        http_respond(post->request, 201, HTTP_JSON, body);
        http_request_finish(post->request);
    }
    secret_free(post->secret);
}

static StoreToken *token_of(const HttpRequest *request, const struct asked *asked,
                            char **out_secret, GError **error)
{
    const struct principal_wish wish = {.project = asked->project,
                                        .scope = asked->scope,
                                        .note = asked->note,
                                        .expires = asked->expires,
                                        .branches = asked->branches,
                                        .machines = asked->machines};
    return token_making_new(request, &wish, out_secret, error);
}

void api_tokens_post(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    struct asked asked = {0};
    if (!api_body_check_json(request))
        return;
    char *secret = NULL;
    StoreToken *token = read_asked(request, &asked, faults, &error)
                            ? token_of(request, &asked, &secret, &error)
                            : NULL;
    asked_clear(&asked);
    if (!token) {
        http_respond_error(request, error, faults);
        return;
    }
    struct token_post *post = g_new0(struct token_post, 1);
    *post = (struct token_post){request, secret};
    token_making_put(request, context_of(request)->store, token, post_done, post);
}

void api_token_delete(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    if (!token_making_revoke(request, context_of(request)->store, api_body_deleted, &error))
        http_respond_error(request, error, NULL);
}
