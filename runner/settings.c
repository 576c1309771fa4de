/* SPDX-License-Identifier: Apache-2.0
 * Merges key file, environment and options, in this order, and checks each value where it came
 * from, so that a message names the place to correct. Reads files; no other side effect. Main
 * thread. */
#include "runner/settings.h"

#include "runner/nearest.h"
#include <string.h>

#define TOKEN_BYTES_MAX  4096u
#define CONFIG_BYTES_MAX (64u << 10)
#define SECONDS_MAX      86400u
#define SECONDS_DEFAULT  60u

static const char *const setting_names[] = {"server",     "project",         "machine", "spool-dir",
                                            "token-file", "deliver-timeout", NULL};

struct sources {
    const Options *options;
    GKeyFile *file;
    char *file_path;
};

static bool check_keys(GKeyFile *file, const char *path, GError **error)
{
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    for (char **group = groups; *group; group++) {
        if (strcmp(*group, "runner") == 0)
            continue;
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s: there is no group [%s]; settings stand in [runner]", path, *group);
        return false;
    }
    g_auto(GStrv) keys = g_key_file_get_keys(file, "runner", NULL, NULL);
    for (char **key = keys; key && *key; key++) {
        if (g_strv_contains(setting_names, *key))
            continue;
        g_autofree char *hint =
            nearest_hint(*key, setting_names, G_N_ELEMENTS(setting_names) - 1, "");
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: there is no setting \"%s\"%s", path,
                    *key, hint);
        return false;
    }
    return true;
}

/* Leaves the file empty where nobody named one and the usual path holds none. */
static bool read_config(struct sources *sources, GError **error)
{
    const char *given = options_value(sources->options, "config");
    sources->file = g_key_file_new();
    sources->file_path =
        given ? g_strdup(given)
              : g_build_filename(g_get_user_config_dir(), "breakeven", "runner.conf", NULL);
    if (!given && !g_file_test(sources->file_path, G_FILE_TEST_EXISTS))
        return true;
    g_autofree char *text = NULL;
    gsize length = 0;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(sources->file_path, &text, &length, &problem) ||
        (length <= CONFIG_BYTES_MAX &&
         !g_key_file_load_from_data(sources->file, text, length, G_KEY_FILE_NONE, &problem))) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the key file %s cannot be used: %s",
                    sources->file_path, problem->message);
        return false;
    }
    if (length > CONFIG_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the key file %s is over %u bytes",
                    sources->file_path, CONFIG_BYTES_MAX);
        return false;
    }
    return check_keys(sources->file, sources->file_path, error);
}

/* The value of a setting and where it comes from; NULL where nobody set it. */
static char *lookup(const struct sources *sources, const char *name, char **out_origin)
{
    const char *given = options_value(sources->options, name);
    if (given) {
        *out_origin = g_strdup_printf("--%s", name);
        return g_strdup(given);
    }
    g_autofree char *variable = g_strdup_printf("BREAKEVEN_%s", name);
    for (char *at = variable; *at; at++)
        *at = *at == '-' ? '_' : g_ascii_toupper(*at);
    const char *environment = g_getenv(variable);
    if (environment && *environment) {
        *out_origin = g_steal_pointer(&variable);
        return g_strdup(environment);
    }
    g_autofree char *value = g_key_file_get_string(sources->file, "runner", name, NULL);
    if (!value || !*g_strstrip(value))
        return NULL;
    *out_origin = g_strdup_printf("%s in %s", name, sources->file_path);
    return g_steal_pointer(&value);
}

static char *check_server(const char *text, const char *origin, GError **error)
{
    g_autoptr(GUri) uri = g_uri_parse(text, G_URI_FLAGS_HAS_PASSWORD, NULL);
    const char *scheme = uri ? g_uri_get_scheme(uri) : "";
    const char *fault = NULL;
    if (!uri || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0) ||
        !g_uri_get_host(uri) || !*g_uri_get_host(uri))
        fault = "is no URL of a server";
    else if (g_uri_get_userinfo(uri))
        fault = "holds a user name; a token goes into BREAKEVEN_TOKEN or --token-file";
    else if (g_uri_get_query(uri) || g_uri_get_fragment(uri))
        fault = "must end before ? and #";
    if (fault) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s: \"%s\" %s; write it like http://127.0.0.1:8080", origin,
                    strchr(text, '@') ? "…" : text, fault);
        return NULL;
    }
    char *server = g_strdup(text);
    for (gsize length = strlen(server); length > 0 && server[length - 1] == '/'; length--)
        server[length - 1] = '\0';
    return server;
}

static char *check_token(const char *text, const char *origin, GError **error)
{
    g_autofree char *token = g_strstrip(g_strdup(text));
    bool is_good = *token != '\0' && strlen(token) <= TOKEN_BYTES_MAX;
    for (const char *at = token; *at; at++)
        is_good = is_good && *at > ' ' && *at < 0x7f;
    if (!is_good) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s holds no token: it must be one word of printable ASCII, at most %u bytes",
                    origin, TOKEN_BYTES_MAX);
        return NULL;
    }
    return g_steal_pointer(&token);
}

/* --token-file, then BREAKEVEN_TOKEN, then a file that the environment or the key file names. */
static bool read_token(Settings *settings, const struct sources *sources, GError **error)
{
    const char *secret = g_getenv("BREAKEVEN_TOKEN");
    if (secret && *secret && !options_value(sources->options, "token-file")) {
        settings->token = check_token(secret, "BREAKEVEN_TOKEN", error);
        return settings->token != NULL;
    }
    g_autofree char *origin = NULL;
    g_autofree char *path = lookup(sources, "token-file", &origin);
    if (!path)
        return true;
    g_autofree char *text = NULL;
    g_autoptr(GError) problem = NULL;
    if (!g_file_get_contents(path, &text, NULL, &problem)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s: %s", origin, problem->message);
        return false;
    }
    settings->token = check_token(text, path, error);
    return settings->token != NULL;
}

static bool read_seconds(Settings *settings, const struct sources *sources, GError **error)
{
    g_autofree char *origin = NULL;
    g_autofree char *text = lookup(sources, "deliver-timeout", &origin);
    guint64 seconds = SECONDS_DEFAULT;
    if (text && !g_ascii_string_to_unsigned(text, 10, 0, SECONDS_MAX, &seconds, NULL)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s: \"%s\" is not a whole number of seconds up to %u", origin, text,
                    SECONDS_MAX);
        return false;
    }
    settings->deliver_seconds = (guint)seconds;
    return true;
}

static bool fill(Settings *settings, const struct sources *sources, GError **error)
{
    g_autofree char *server_origin = NULL, *project_origin = NULL, *machine_origin = NULL,
                    *spool_origin = NULL;
    g_autofree char *server = lookup(sources, "server", &server_origin);
    if (server) {
        settings->server = check_server(server, server_origin, error);
        if (!settings->server)
            return false;
    }
    settings->project = lookup(sources, "project", &project_origin);
    settings->machine = lookup(sources, "machine", &machine_origin);
    settings->spool_dir = lookup(sources, "spool-dir", &spool_origin);
    if (!settings->spool_dir)
        settings->spool_dir = g_build_filename(g_get_user_state_dir(), "breakeven", "spool", NULL);
    return read_token(settings, sources, error) && read_seconds(settings, sources, error);
}

Settings *settings_read(const Options *options, GError **error)
{
    g_autoptr(Settings) settings = g_new0(Settings, 1);
    struct sources sources = {.options = options};
    bool is_good = read_config(&sources, error) && fill(settings, &sources, error);
    g_key_file_unref(sources.file);
    g_free(sources.file_path);
    return is_good ? g_steal_pointer(&settings) : NULL;
}

void settings_free(Settings *settings)
{
    if (!settings)
        return;
    g_free(settings->server);
    g_free(settings->project);
    g_free(settings->machine);
    g_free(settings->spool_dir);
    g_free(settings->token);
    g_free(settings);
}

gboolean settings_in_ci(void)
{
    const char *value = g_getenv("CI");
    return value && *value && strcmp(value, "0") != 0 && g_ascii_strcasecmp(value, "false") != 0;
}
