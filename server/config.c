/* SPDX-License-Identifier: Apache-2.0
 * See config.h. One table holds every setting; options, variables and keys are all read through it,
 * so that none can exist in one and be forgotten in another. Not GOption, which takes the last of
 * two equal options in silence. */
#include "server/config.h"
#include <string.h>

#define TOKEN_BYTES_MIN 16u
#define TOKEN_BYTES_MAX 1024u
#define KEY_GROUP       "server"

enum kind {
    KIND_LISTEN,
    KIND_STORE,
    KIND_TOKEN_FILE,
    KIND_ORIGINS,
    KIND_PROXIES,
    KIND_PROXY_HEADER,
    KIND_CERTIFICATE,
    KIND_KEY,
    KIND_CONFIG,
    KIND_SWITCH,
    KIND_LOG_FORMAT,
    KIND_LOOPBACK,
    KIND_PRIVATE,
    KIND_NUMBER
};

struct setting {
    const char *name, *argument, *fallback, *help;
    enum kind kind;
    enum config_number number;
    int64_t min, max;
};

#define NUMBER(name, argument, fallback, help, number, min, max)                                   \
    {                                                                                              \
        name, argument, fallback, help, KIND_NUMBER, number, min, max                              \
    }
#define TEXT(name, argument, fallback, help, kind)                                                 \
    {                                                                                              \
        name, argument, fallback, help, kind, CONFIG_N_NUMBERS, 0, 0                               \
    }

/* clang-format off */
static const struct setting settings[] = {
    TEXT("listen", "ADDRESS:PORT", "127.0.0.1:8080", "where to listen; port 0 takes a free one; [::1]:8080 for IPv6", KIND_LISTEN),
    TEXT("store", "URL", "sqlite:breakeven.db", "where everything is kept", KIND_STORE),
    TEXT("write-token-file", "FILE", NULL, "a file with the token that writing needs; without any token writing is possible from this machine only", KIND_TOKEN_FILE),
    TEXT("private", "[=on|off]", NULL, "reading needs a token, too; off: nobody needs one; unsaid: only those who do not speak to loopback itself", KIND_PRIVATE),
    TEXT("cors-origin", "ORIGIN,…", NULL, "whose pages may read the API from a browser, such as https://grafana.example.org", KIND_ORIGINS),
    TEXT("trusted-proxy", "ADDRESS,…", NULL, "proxies (10.0.0.7, 192.168.0.0/16) whose word about the client's address counts", KIND_PROXIES),
    TEXT("proxy-header", "NAME", "x-forwarded-for", "where they say it: x-forwarded-for or forwarded", KIND_PROXY_HEADER),
    TEXT("tls-cert", "FILE", NULL, "speak HTTPS with this certificate and its chain (PEM); read again on SIGHUP", KIND_CERTIFICATE),
    TEXT("tls-key", "FILE", NULL, "the certificate's key (PEM)", KIND_KEY),
    TEXT("config", "FILE", NULL, "a key file: [server] with these names as keys, [oidc NAME] whose CI tokens to take", KIND_CONFIG),
    TEXT("access-log", "on|off", "on", "a line on stderr for each request", KIND_SWITCH),
    NUMBER("workers", "N", "2", "threads for slow requests", CONFIG_WORKERS, 1, 64),
    NUMBER("connections", "N", "0", "open at once; 0: what the limit on open files allows", CONFIG_CONNECTIONS, 0, 100000),
    NUMBER("body-bytes", "N", "16777216", "of one upload, after decompression", CONFIG_BODY_BYTES, 1024, 1 << 30),
    NUMBER("bodies-bytes", "N", "268435456", "of all uploads in flight; beyond it 503", CONFIG_BODIES_BYTES, 1024, INT64_C(1) << 40),
    NUMBER("queue-bytes", "N", "268435456", "of what waits to be written; beyond it 503", CONFIG_QUEUE_BYTES, 1024, INT64_C(1) << 40),
    NUMBER("request-seconds", "N", "60", "until a request must be whole; then 408", CONFIG_REQUEST_SECONDS, 1, 3600),
    NUMBER("idle-seconds", "N", "60", "after which a silent connection is closed", CONFIG_IDLE_SECONDS, 1, 3600),
    NUMBER("head-seconds", "N", "20", "until a request's head must be whole; then 408", CONFIG_HEAD_SECONDS, 1, 3600),
    NUMBER("uploads", "N", "256", "under way at once; beyond it 503", CONFIG_UPLOADS, 1, 100000),
    NUMBER("query-ms", "N", "30000", "that an answer may take to read the store; then 503", CONFIG_QUERY_MS, 1, 3600000),
    NUMBER("client-rate", "N", "200", "requests a second of one address or token, ten times as many at once; then 429", CONFIG_CLIENT_RATE, 1, 1000000),
    NUMBER("client-uploads", "N", "64", "under way at once, of one address or token; then 429", CONFIG_CLIENT_UPLOADS, 1, 100000),
    NUMBER("client-bytes", "N", "0", "of all uploads in flight of one address or token; then 429; 0: half of --bodies-bytes", CONFIG_CLIENT_BYTES, 0, INT64_C(1) << 40),
    NUMBER("client-connections", "N", "0", "open at once from one address; further ones are closed; 0: a quarter of --connections", CONFIG_CLIENT_CONNECTIONS, 0, 100000),
    TEXT("limit-loopback", "on|off", "off", "whether the limits of one client hold for this machine, too", KIND_LOOPBACK),
    TEXT("log-format", "logfmt|json", "logfmt", "of the lines on stderr", KIND_LOG_FORMAT),
    NUMBER("audit-rows", "N", "1000000", "of the log of writes that are kept; the oldest go", CONFIG_AUDIT_ROWS, 2000, 1000000000),
    NUMBER("drain-seconds", "N", "10", "for what is in flight, after SIGTERM", CONFIG_DRAIN_SECONDS, 0, 3600),
};
/* clang-format on */
#define N_SETTINGS G_N_ELEMENTS(settings)

/* The text of each setting from the strongest source that has it, and what to call that source in a
 * message. */
typedef struct sources {
    char *values[N_SETTINGS];
    char *origins[N_SETTINGS];
} Sources;

static void sources_clear(Sources *sources)
{
    for (gsize i = 0; i < N_SETTINGS; i++) {
        g_free(sources->values[i]);
        g_free(sources->origins[i]);
    }
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sources, sources_clear)

static bool fail(GError **error, const char *format, ...) G_GNUC_PRINTF(2, 3);
static bool fail(GError **error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    g_autofree char *message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_SYNTAX, message);
    return false;
}

static gsize setting_find(const char *name, gsize length)
{
    gsize i = 0;
    while (i < N_SETTINGS &&
           (strlen(settings[i].name) != length || strncmp(settings[i].name, name, length) != 0))
        i++;
    return i;
}

static char *names_join(const char *prefix)
{
    GString *names = g_string_new(NULL);
    for (gsize i = 0; i < N_SETTINGS; i++)
        g_string_append_printf(names, "%s%s%s", i ? ", " : "", prefix, settings[i].name);
    return g_string_free(names, FALSE);
}

/* ---- Options ---- */

static bool takes_file(enum config_command command)
{
    return command == CONFIG_BACKUP || command == CONFIG_RESTORE;
}

static bool command_take(Config *config, const char *text, bool *seen, GError **error)
{
    static const struct {
        const char *name;
        enum config_command command;
    } commands[] = {{"serve", CONFIG_SERVE},     {"migrate", CONFIG_MIGRATE},
                    {"demo", CONFIG_DEMO},       {"backup", CONFIG_BACKUP},
                    {"restore", CONFIG_RESTORE}, {"check", CONFIG_CHECK}};
    const char *right = "serve (the default), migrate, backup FILE, restore FILE, check or demo "
                        "would be right";
    if (*seen && takes_file(config->command) && !config->file && *text) {
        config->file = g_strdup(text);
        return true;
    }
    if (*seen)
        return fail(error, "%s: one command is enough; %s", text, right);
    *seen = true;
    for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
        if (strcmp(text, commands[i].name) != 0)
            continue;
        config->command = commands[i].command;
        return true;
    }
    return fail(error, "unknown command %s; %s", text, right);
}

/* What only some commands take is there, and not with others. */
static bool command_check(const Config *config, GError **error)
{
    if (takes_file(config->command) && !config->file)
        return fail(error, "%s wants a file: breakeven-server %s breakeven.backup",
                    config->command == CONFIG_BACKUP ? "backup" : "restore",
                    config->command == CONFIG_BACKUP ? "backup" : "restore");
    if (config->is_force && !takes_file(config->command))
        return fail(error, "--force belongs to backup and restore");
    return true;
}

/* Takes the option at argv[*at] with its value; moves *at to the last word of it. */
static bool option_take(Sources *sources, int argc, char *const *argv, int *at, GError **error)
{
    const char *name = argv[*at] + 2, *equals = strchr(name, '=');
    gsize length = equals ? (gsize)(equals - name) : strlen(name);
    gsize i = setting_find(name, length);
    if (i == N_SETTINGS) {
        g_autofree char *names = names_join("--");
        return fail(error, "unknown option --%.*s; there are %s, --help, --version", (int)length,
                    name, names);
    }
    if (sources->values[i])
        return fail(error, "--%s is given twice; once would be right", settings[i].name);
    bool needs_none = settings[i].kind == KIND_PRIVATE;
    const char *value = equals           ? equals + 1
                        : needs_none     ? "on"
                        : *at + 1 < argc ? argv[++*at]
                                         : NULL;
    if (!value)
        return fail(error, "--%s wants a value: --%s %s", settings[i].name, settings[i].name,
                    settings[i].argument);
    sources->values[i] = g_strdup(value);
    sources->origins[i] = g_strdup_printf("--%s", settings[i].name);
    return true;
}

static bool options_read(Config *config, Sources *sources, int argc, char *const *argv,
                         GError **error)
{
    bool command_seen = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) {
            config->command = CONFIG_HELP;
            return true;
        }
        if (strcmp(argv[i], "--version") == 0) {
            config->command = CONFIG_VERSION;
            return true;
        }
        bool ok = true;
        if (strcmp(argv[i], "--force") == 0)
            config->is_force = true;
        else if (g_str_has_prefix(argv[i], "--") && argv[i][2])
            ok = option_take(sources, argc, argv, &i, error);
        else if (argv[i][0] == '-')
            ok = fail(error, "unknown option %s; options have two dashes: --listen 127.0.0.1:8080",
                      argv[i]);
        else
            ok = command_take(config, argv[i], &command_seen, error);
        if (!ok)
            return false;
    }
    return command_check(config, error);
}

/* ---- Environment and key file ---- */

static void environment_read(Sources *sources)
{
    for (gsize i = 0; i < N_SETTINGS; i++) {
        g_autofree char *upper = g_ascii_strup(settings[i].name, -1);
        g_autofree char *name = g_strconcat("BREAKEVEN_", g_strdelimit(upper, "-", '_'), NULL);
        const char *value = g_getenv(name);
        if (!value || !*value || sources->values[i])
            continue;
        sources->values[i] = g_strdup(value);
        sources->origins[i] = g_steal_pointer(&name);
    }
}

static bool file_key_take(Sources *sources, GKeyFile *file, const char *path, const char *key,
                          GError **error)
{
    gsize i = setting_find(key, strlen(key));
    if (i == N_SETTINGS || settings[i].kind == KIND_CONFIG) {
        g_autofree char *names = names_join("");
        return fail(error, "%s: unknown key %s in [" KEY_GROUP "]; there are %s", path, key, names);
    }
    if (sources->values[i])
        return true;
    sources->values[i] = g_key_file_get_string(file, KEY_GROUP, key, error);
    sources->origins[i] = g_strdup_printf("%s: %s", path, key);
    return sources->values[i] != NULL;
}

static bool file_read(Config *config, Sources *sources, GError **error)
{
    gsize at = setting_find("config", strlen("config"));
    const char *path = sources->values[at];
    if (!path)
        return true;
    g_autoptr(GKeyFile) file = g_key_file_new();
    g_autoptr(GError) reason = NULL;
    if (!g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, &reason))
        return fail(error, "%s: %s: %s", sources->origins[at], path, reason->message);
    g_auto(GStrv) groups = g_key_file_get_groups(file, NULL);
    for (char **group = groups; *group; group++)
        if (strcmp(*group, KEY_GROUP) != 0 && !oidc_is_group(*group))
            return fail(error,
                        "%s: unknown group [%s]; [" KEY_GROUP "] or [oidc NAME] would be right",
                        path, *group);
    g_auto(GStrv) keys = g_key_file_get_keys(file, KEY_GROUP, NULL, NULL);
    for (char **key = keys; key && *key; key++)
        if (!file_key_take(sources, file, path, *key, error))
            return false;
    config->oidc = oidc_new(file, path, &reason);
    if (!reason)
        return true;
    g_propagate_error(error, g_steal_pointer(&reason));
    return false;
}

/* ---- Values ---- */

static bool take_listen(Config *config, const char *origin, const char *text, GError **error)
{
    const char *colon = strrchr(text, ':');
    guint64 port;
    gsize length = colon ? (gsize)(colon - text) : 0;
    bool bracketed = length > 2 && text[0] == '[' && text[length - 1] == ']';
    if (length == 0 || (!bracketed && memchr(text, ':', length)) ||
        !g_ascii_string_to_unsigned(colon + 1, 10, 0, 65535, &port, NULL))
        return fail(error, "%s: %s is no ADDRESS:PORT; 127.0.0.1:8080 or [::1]:8080 would be right",
                    origin, text);
    config->listen_host = bracketed ? g_strndup(text + 1, length - 2) : g_strndup(text, length);
    config->listen_port = (uint16_t)port;
    return true;
}

static bool take_token_file(Config *config, const char *origin, const char *path, GError **error)
{
    g_autofree char *text = NULL;
    g_autoptr(GError) reason = NULL;
    if (!g_file_get_contents(path, &text, NULL, &reason))
        return fail(error, "%s: %s", origin, reason->message);
    g_strstrip(text);
    size_t length = strlen(text);
    for (const char *at = text; *at; at++)
        if (!g_ascii_isgraph(*at))
            length = 0;
    if (length < TOKEN_BYTES_MIN || length > TOKEN_BYTES_MAX)
        return fail(error,
                    "%s: %s holds no token: %u to %u visible ASCII characters on one line would be "
                    "right, such as `openssl rand -hex 32` prints",
                    origin, path, TOKEN_BYTES_MIN, TOKEN_BYTES_MAX);
    config->write_token = g_steal_pointer(&text);
    return true;
}

static bool origin_is_sound(const char *origin)
{
    g_autoptr(GUri) uri = g_uri_parse(origin, G_URI_FLAGS_NONE, NULL);
    const char *scheme = uri ? g_uri_get_scheme(uri) : "";
    return (strcmp(scheme, "https") == 0 || strcmp(scheme, "http") == 0) && g_uri_get_host(uri) &&
           *g_uri_get_host(uri) && *g_uri_get_path(uri) == '\0' && !g_uri_get_query(uri) &&
           !g_uri_get_fragment(uri) && !g_uri_get_userinfo(uri);
}

static bool take_origins(Config *config, const char *origin, const char *text, GError **error)
{
    config->cors_origins = g_strsplit(text, ",", -1);
    for (char **one = config->cors_origins; *one; one++)
        if (!origin_is_sound(g_strstrip(*one)))
            return fail(error,
                        "%s: \"%s\" is no origin; https://grafana.example.org, without a path, "
                        "would be right, and several with commas",
                        origin, *one);
    return true;
}

static bool take_proxies(Config *config, const char *origin, const char *text, GError **error)
{
    config->proxies = http_proxies_parse(text, error);
    if (!config->proxies)
        g_prefix_error(error, "%s: ", origin);
    return config->proxies != NULL;
}

static bool take_proxy_header(Config *config, const char *origin, const char *text, GError **error)
{
    bool is_x = g_ascii_strcasecmp(text, "x-forwarded-for") == 0;
    config->proxy_header = is_x ? HTTP_PROXY_X_FORWARDED_FOR : HTTP_PROXY_FORWARDED;
    return is_x || g_ascii_strcasecmp(text, "forwarded") == 0 ||
           fail(error, "%s: %s is neither x-forwarded-for nor forwarded", origin, text);
}

static bool take_switch(bool *out, const char *origin, const char *text, GError **error)
{
    *out = strcmp(text, "on") == 0;
    return *out || strcmp(text, "off") == 0 ||
           fail(error, "%s: %s is neither on nor off", origin, text);
}

static bool take_number(Config *config, const struct setting *setting, const char *origin,
                        const char *text, GError **error)
{
    gint64 value;
    if (!g_ascii_string_to_signed(text, 10, setting->min, setting->max, &value, NULL))
        return fail(error,
                    "%s: %s is no whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT,
                    origin, text, (gint64)setting->min, (gint64)setting->max);
    config->numbers[setting->number] = value;
    return true;
}

static bool take_private(Config *config, const char *origin, const char *text, GError **error)
{
    config->is_private = strcmp(text, "on") == 0 ? CONFIG_PRIVATE_ON : CONFIG_PRIVATE_OFF;
    return config->is_private == CONFIG_PRIVATE_ON || strcmp(text, "off") == 0
               ? true
               : fail(error, "%s: %s is neither on nor off", origin, text);
}

static bool take_value(Config *config, const struct setting *setting, const char *origin,
                       const char *text, GError **error)
{
    switch (setting->kind) {
    case KIND_LISTEN:
        return take_listen(config, origin, text, error);
    case KIND_STORE:
        config->store = g_strdup(text);
        return g_str_has_prefix(text, "sqlite:") && text[strlen("sqlite:")]
                   ? true
                   : fail(error, "%s: %s is no store; sqlite:FILE would be right", origin, text);
    case KIND_TOKEN_FILE:
        return take_token_file(config, origin, text, error);
    case KIND_ORIGINS:
        return take_origins(config, origin, text, error);
    case KIND_PROXIES:
        return take_proxies(config, origin, text, error);
    case KIND_PROXY_HEADER:
        return take_proxy_header(config, origin, text, error);
    case KIND_CERTIFICATE:
        config->tls_certificate = g_strdup(text);
        break;
    case KIND_KEY:
        config->tls_key = g_strdup(text);
        break;
    case KIND_SWITCH:
        return take_switch(&config->access_log, origin, text, error);
    case KIND_LOOPBACK:
        return take_switch(&config->limit_loopback, origin, text, error);
    case KIND_LOG_FORMAT:
        config->log_json = strcmp(text, "json") == 0;
        return config->log_json || strcmp(text, "logfmt") == 0
                   ? true
                   : fail(error, "%s: %s is neither logfmt nor json", origin, text);
    case KIND_PRIVATE:
        return take_private(config, origin, text, error);
    case KIND_NUMBER:
        return take_number(config, setting, origin, text, error);
    case KIND_CONFIG:
        break;
    }
    return true;
}

Config *config_parse(int argc, char *const *argv, GError **error)
{
    g_autoptr(Config) config = g_new0(Config, 1);
    g_auto(Sources) sources = {0};
    if (!options_read(config, &sources, argc, argv, error))
        return NULL;
    if (config->command == CONFIG_HELP || config->command == CONFIG_VERSION)
        return g_steal_pointer(&config);
    environment_read(&sources);
    if (!file_read(config, &sources, error))
        return NULL;
    gsize store = setting_find("store", strlen("store"));
    /* What serves every day is never filled with a demonstration: only the option names its file.
     */
    bool is_temporary =
        config->command == CONFIG_DEMO && g_strcmp0(sources.origins[store], "--store") != 0;
    for (gsize i = 0; i < N_SETTINGS; i++) {
        const char *text = sources.values[i] ? sources.values[i] : settings[i].fallback;
        if (text && !(i == store && is_temporary) &&
            !take_value(config, &settings[i], sources.origins[i], text, error))
            return NULL;
    }
    if ((config->tls_certificate == NULL) != (config->tls_key == NULL) &&
        !fail(error, "%s is there without %s; both or neither would be right",
              config->tls_key ? "--tls-key" : "--tls-cert",
              config->tls_key ? "--tls-cert" : "--tls-key"))
        return NULL;
    return g_steal_pointer(&config);
}

void config_free(Config *config)
{
    if (!config)
        return;
    g_free(config->listen_host);
    g_free(config->store);
    g_free(config->write_token);
    g_free(config->file);
    g_strfreev(config->cors_origins);
    http_proxies_free(config->proxies);
    g_free(config->tls_certificate);
    g_free(config->tls_key);
    oidc_free(config->oidc);
    g_free(config);
}

char *config_help(void)
{
    GString *help =
        g_string_new("Usage: breakeven-server [serve|migrate|demo|check] [OPTION…]\n"
                     "       breakeven-server backup|restore FILE [--force] [OPTION…]\n"
                     "       breakeven-server token create|list|revoke [OPTION…]\n"
                     "       breakeven-server detect [--least-effect SHARE] [FILE]\n"
                     "Keeps benchmark results, and shows them per commit.\n\n"
                     "  serve     answers on HTTP until SIGTERM or SIGINT (the default)\n"
                     "  migrate   brings the store to this version's schema, and ends\n"
                     "  backup    copies the store into FILE, also while a server runs; --force "
                     "replaces one that is there\n"
                     "  restore   puts a backup in the place of the store; --force keeps what is "
                     "there beside it\n"
                     "  check     looks whether the store is whole: exit 1 where it is not\n"
                     "  demo      serves a made-up history from a temporary store (or from a new "
                     "one: --store)\n"
                     "  token     makes, shows and revokes tokens; token --help says how\n"
                     "  detect    judges the histories in a file; detect --help says how\n\n");
    for (gsize i = 0; i < N_SETTINGS; i++) {
        g_autofree char *left = g_strdup_printf("--%s %s", settings[i].name, settings[i].argument);
        g_string_append_printf(help, "  %-28s %s", left, settings[i].help);
        if (settings[i].fallback)
            g_string_append_printf(help, " [%s]", settings[i].fallback);
        g_string_append_c(help, '\n');
    }
    g_string_append(
        help, "  --help, --version\n\n"
              "Each is also a variable (BREAKEVEN_WRITE_TOKEN_FILE) and a key of the key file; "
              "the option wins, then the variable.\n\n"
              "Example:\n"
              "  breakeven-server --listen 127.0.0.1:8080 --store sqlite:breakeven.db\n");
    return g_string_free(help, FALSE);
}
