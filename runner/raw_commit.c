/* SPDX-License-Identifier: Apache-2.0
 * Reads the header lines tree, parent, author, committer and encoding, then the message: its first
 * paragraph is the subject, its last may hold trailers. Unknown headers and their continuation
 * lines are passed over. Pure; any thread. */
#include "runner/raw_commit.h"

#include "schema/number.h"
#include <string.h>

#define TRAILER      "Breakeven-Expect:"
#define TRAILERS_MAX 32u
#define TIME_S_MAX   253402300799ll /* the end of the year 9999 */

static bool is_direction_character(gunichar c)
{
    return c == 0x061c || c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069) || c == 0xfeff;
}

char *raw_commit_clean_text(const char *text, gsize length, gsize bytes_max)
{
    g_autofree char *valid = g_utf8_make_valid(text, (gssize)length);
    g_autofree char *composed = g_utf8_normalize(valid, -1, G_NORMALIZE_NFC);
    if (!composed)
        return NULL;
    g_autoptr(GString) clean = g_string_new(NULL);
    for (const char *at = composed; *at; at += g_utf8_skip[(guchar)*at]) {
        gunichar c = g_utf8_get_char(at);
        if (is_direction_character(c))
            continue;
        gunichar kept = g_unichar_iscntrl(c) || g_unichar_isspace(c) ? ' ' : c;
        if (clean->len + (gsize)g_unichar_to_utf8(kept, NULL) > bytes_max)
            break;
        g_string_append_unichar(clean, kept);
    }
    g_strstrip(clean->str);
    return *clean->str ? g_strdup(clean->str) : NULL;
}

/* "Name <mail> 1547031912 +0100". Of two the first name counts. */
static void take_person(const char *line, gsize length, char **out_name,
                        struct run_commit *out_time)
{
    g_autofree char *text = g_strndup(line, length);
    char *mail = strchr(text, '<'), *mail_end = strrchr(text, '>');
    if (out_name && !*out_name && mail)
        *out_name = raw_commit_clean_text(text, (gsize)(mail - text), RUN_NAME_BYTES_MAX);
    if (!out_time || !mail_end)
        return;
    char *end = NULL;
    gint64 time_s = g_ascii_strtoll(mail_end + 1, &end, 10);
    out_time->has_time = end != mail_end + 1 && time_s >= 0 && time_s <= TIME_S_MAX;
    out_time->time_s = out_time->has_time ? time_s : 0;
}

static void take_header(struct run_commit *commit, GStrvBuilder *parents, const char *line,
                        gsize length)
{
    if (g_str_has_prefix(line, "parent ")) {
        g_autofree char *parent = g_strndup(line + 7, length - 7);
        g_strv_builder_add(parents, parent);
    } else if (g_str_has_prefix(line, "author ")) {
        take_person(line + 7, length - 7, &commit->author, NULL);
    } else if (g_str_has_prefix(line, "committer ")) {
        take_person(line + 10, length - 10, NULL, commit);
    }
}

/* Messages in another encoding than UTF-8 say so in a header. */
static char *decode_message(const char *header, const char *message, gsize length)
{
    const char *encoding = strstr(header, "\nencoding ");
    if (encoding) {
        encoding += strlen("\nencoding ");
        g_autofree char *name = g_strndup(encoding, strcspn(encoding, "\n"));
        char *decoded = g_convert(message, (gssize)length, "UTF-8", name, NULL, NULL, NULL);
        if (decoded)
            return decoded;
    }
    return g_strndup(message, length);
}

/* {"Breakeven-Expect":["…"]} from the last paragraph, or NULL. */
static char *find_trailers(const char *message)
{
    g_autofree char *text = g_strchomp(g_strdup(message));
    const char *last = g_strrstr(text, "\n\n");
    if (!last)
        return NULL;
    g_auto(GStrv) lines = g_strsplit(last + 2, "\n", -1);
    g_autoptr(GString) json = g_string_new(NULL);
    guint n = 0;
    for (char **line = lines; *line && n < TRAILERS_MAX; line++) {
        if (g_ascii_strncasecmp(*line, TRAILER, strlen(TRAILER)) != 0)
            continue;
        const char *value = *line + strlen(TRAILER);
        g_autofree char *clean = raw_commit_clean_text(value, strlen(value), RUN_NAME_BYTES_MAX);
        if (!clean)
            continue;
        g_string_append(json, n++ ? "," : "{\"Breakeven-Expect\":[");
        json_append_string(json, clean);
    }
    if (n == 0)
        return NULL;
    g_string_append(json, "]}");
    return g_strdup(json->str);
}

static void take_message(struct run_commit *commit, const char *header, const char *message,
                         gsize length)
{
    g_autofree char *text = decode_message(header, message, length);
    const char *begin = text + strspn(text, "\n");
    const char *paragraph = strstr(begin, "\n\n");
    gsize subject_length = paragraph ? (gsize)(paragraph - begin) : strlen(begin);
    commit->subject = raw_commit_clean_text(begin, subject_length, RUN_TEXT_BYTES_MAX);
    commit->trailers_json = find_trailers(begin);
}

struct run_commit *raw_commit_parse(const char *sha, const char *raw, gsize length)
{
    g_autofree char *copy = g_strndup(raw, length);
    if (!g_str_has_prefix(copy, "tree "))
        return NULL;
    char *header_end = strstr(copy, "\n\n");
    gsize header_length = header_end ? (gsize)(header_end - copy) : strlen(copy);
    struct run_commit *commit = run_commit_new();
    commit->sha = g_strdup(sha);
    g_autoptr(GStrvBuilder) parents = g_strv_builder_new();
    for (const char *at = copy; at < copy + header_length;) {
        gsize line_length = strcspn(at, "\n");
        take_header(commit, parents, at, line_length);
        at += line_length + 1;
    }
    commit->parents = g_strv_builder_end(parents);
    if (g_strv_length(commit->parents) > RUN_PARENTS_MAX) {
        run_commit_free(commit);
        return NULL;
    }
    if (header_end) {
        *header_end = '\0';
        take_message(commit, copy, header_end + 2, strlen(header_end + 2));
    }
    return commit;
}
