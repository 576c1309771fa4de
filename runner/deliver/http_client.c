/* SPDX-License-Identifier: Apache-2.0
 * The only file of the runner that knows libcurl. The token is in one header of one handle, and in
 * no message. Main thread. */
#include "runner/deliver/http_client.h"

#include <curl/curl.h>
#include <string.h>

struct http_client {
    CURL *curl;
    struct curl_slist *headers;
    bool (*stopped)(void);
    GString *body; /* of the answer at hand */
    gsize answer_bytes_max;
    long seconds; /* for a whole exchange */
    char failure[CURL_ERROR_SIZE];
};

static int on_progress(void *user, curl_off_t down_total, curl_off_t down, curl_off_t up_total,
                       curl_off_t up)
{
    (void)down_total, (void)down, (void)up_total, (void)up;
    const HttpClient *client = (const HttpClient *)user;
    return client->stopped && client->stopped() ? 1 : 0;
}

static size_t on_body(char *bytes, size_t size, size_t n, void *user)
{
    const HttpClient *client = (const HttpClient *)user;
    size_t length = size * n;
    if (client->body->len + length > client->answer_bytes_max)
        return 0;
    g_string_append_len(client->body, bytes, (gssize)length);
    return length;
}

static bool add_header(HttpClient *client, const char *header)
{
    struct curl_slist *longer = curl_slist_append(client->headers, header);
    if (longer)
        client->headers = longer;
    return longer != NULL;
}

static bool set_up(HttpClient *client, const struct http_client_options *options)
{
    CURL *curl = client->curl;
    bool is_good = add_header(client, "Content-Type: application/json") &&
                   add_header(client, "Accept: application/json") && add_header(client, "Expect:");
    if (options->token) {
        g_autofree char *bearer = g_strdup_printf("Authorization: Bearer %s", options->token);
        is_good = is_good && add_header(client, bearer);
    }
    long connect_seconds = options->connect_seconds ? (long)options->connect_seconds : 10L;
    client->seconds = options->seconds ? (long)options->seconds : 120L;
    return is_good && curl_easy_setopt(curl, CURLOPT_HTTPHEADER, client->headers) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NETRC, (long)CURL_NETRC_IGNORED) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, connect_seconds) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_TIMEOUT, client->seconds) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_USERAGENT, "breakeven-runner/" BREAKEVEN_VERSION) ==
               CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->failure) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_XFERINFODATA, client) == CURLE_OK &&
           curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
}

HttpClient *http_client_new(const struct http_client_options *options, GError **error)
{
    g_autoptr(HttpClient) client = g_new0(HttpClient, 1);
    client->stopped = options->stopped;
    client->answer_bytes_max =
        options->answer_bytes_max > 0 ? options->answer_bytes_max : HTTP_CLIENT_ANSWER_BYTES_MAX;
    client->curl = curl_easy_init();
    if (client->curl && set_up(client, options))
        return g_steal_pointer(&client);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "libcurl cannot be set up");
    return NULL;
}

void http_client_free(HttpClient *client)
{
    if (!client)
        return;
    curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->headers);
    g_free(client);
}

/* A name that begins as a loopback address does, 127.0.0.1.example.org, is no address. */
static bool is_local(const char *host)
{
    return g_ascii_strcasecmp(host, "localhost") == 0 || strcmp(host, "::1") == 0 ||
           (g_str_has_prefix(host, "127.") && g_hostname_is_ip_address(host));
}

bool http_client_is_exposed(const char *url)
{
    g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
    return uri && g_uri_get_host(uri) && strcmp(g_uri_get_scheme(uri), "https") != 0 &&
           !is_local(g_uri_get_host(uri));
}

void http_client_limit(HttpClient *client, unsigned seconds)
{
    /* Where it cannot be set the one before holds. */
    curl_easy_setopt(client->curl, CURLOPT_TIMEOUT, seconds ? (long)seconds : client->seconds);
}

/* A server on this machine is never reached through a proxy. */
static const char *no_proxy_for(const char *url)
{
    g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
    const char *host = uri ? g_uri_get_host(uri) : NULL;
    return host && is_local(host) ? "*" : NULL;
}

static char *failure_text(const HttpClient *client, CURLcode code)
{
    if (client->stopped && client->stopped())
        return g_strdup("interrupted");
    if (code == CURLE_WRITE_ERROR)
        return g_strdup("its answer is too long for one of Breakeven's");
    return g_strdup(*client->failure ? client->failure : curl_easy_strerror(code));
}

/* Sends what was set up, and reads the answer. */
static void perform(HttpClient *client, const char *url, CURLcode code,
                    struct http_answer *out_answer)
{
    *out_answer = (struct http_answer){.body = g_string_new(NULL), .retry_after_s = -1};
    *client->failure = '\0';
    client->body = out_answer->body;
    CURL *curl = client->curl;
    if (code == CURLE_OK)
        code = curl_easy_setopt(curl, CURLOPT_URL, url);
    if (code == CURLE_OK)
        code = curl_easy_setopt(curl, CURLOPT_NOPROXY, no_proxy_for(url));
    if (code == CURLE_OK)
        code = curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
    if (code == CURLE_OK)
        code = curl_easy_perform(curl);
    if (code != CURLE_OK) {
        out_answer->failure = failure_text(client, code);
        return;
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &out_answer->status);
    curl_off_t wait_s = 0;
    if (curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &wait_s) == CURLE_OK && wait_s > 0)
        out_answer->retry_after_s = wait_s;
}

void http_client_post(HttpClient *client, const char *url, const char *bytes, gsize length,
                      struct http_answer *out_answer)
{
    CURLcode code = curl_easy_setopt(client->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
    if (code == CURLE_OK)
        code = curl_easy_setopt(client->curl, CURLOPT_POSTFIELDS, bytes);
    perform(client, url, code, out_answer);
}

void http_client_put(HttpClient *client, const char *url, const char *bytes, gsize length,
                     struct http_answer *out_answer)
{
    CURLcode code = curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, "PUT");
    if (code == CURLE_OK)
        http_client_post(client, url, bytes, length, out_answer);
    else
        perform(client, url, code, out_answer);
    curl_easy_setopt(client->curl, CURLOPT_CUSTOMREQUEST, NULL);
}

void http_client_get(HttpClient *client, const char *url, struct http_answer *out_answer)
{
    perform(client, url, curl_easy_setopt(client->curl, CURLOPT_HTTPGET, 1L), out_answer);
}

void http_answer_clear(struct http_answer *answer)
{
    if (answer->body)
        g_string_free(answer->body, TRUE);
    g_free(answer->failure);
    *answer = (struct http_answer){0};
}
