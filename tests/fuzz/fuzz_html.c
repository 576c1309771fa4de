/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of what writes HTML, SVG, Markdown, CSV, JSON and addresses: whatever the texts are, the
 * output is read back, by readers that share no code with the writers, as the same texts, and as
 * nothing else. An input is up to three texts, with a byte 0xFF between them, which no UTF-8 has.
 * libFuzzer's entry point; replay.c feeds it what was kept. */
#include "schema/run.h"
#include "schema/text.h"
#include "server/http/csv_writer.h"
#include "server/http/http.h"
#include "server/http/json_writer.h"
#include "server/pages/badge.h"
#include "server/pages/html.h"
#include "server/pages/link.h"
#include "server/pages/markdown.h"
#include "server/pages/quantity.h"
#include "server/pages/topology_draw.h"
#include "tests/fuzz/fuzz.h"
#include <jansson.h>
#include <math.h>
#include <string.h>

#define TEXTS 3

/* ---- HTML ---- */

static bool is_kept_character(gunichar c)
{
    return (c >= 0x20 || c == '\n' || c == '\t') && (c & 0xFFFE) != 0xFFFE;
}

/* What a document can say of it: the characters that it can hold, U+FFFD for others. */
static char *as_shown(const char *text, bool is_format)
{
    GString *shown = g_string_new(NULL);
    for (const char *at = text; *at; at += g_utf8_skip[(guchar)*at]) {
        gunichar c = g_utf8_get_char(at);
        bool is_plane_end = (c & 0xFFFE) == 0xFFFE && c > 0xFFFF; /* a character like any other */
        bool is_referred = is_format && c >= 0x7f && c <= 0x9f && c != 0x85; /* GLib's way */
        g_string_append_unichar(
            shown, (is_kept_character(c) || is_plane_end) && !is_referred ? c : 0xFFFD);
    }
    return g_string_free(shown, FALSE);
}

/* The text of which [at, end) is the markup; traps at anything that is no text. */
static char *markup_read(const char *at, const char *end)
{
    static const char *const names[] = {"amp;",  "&",  "lt;",  "<", "gt;",   ">",
                                        "quot;", "\"", "#39;", "'", "apos;", "'"};
    GString *text = g_string_new(NULL);
    while (at < end) {
        check(!strchr("<>\"'", *at));
        if (*at != '&') {
            g_string_append_c(text, *at++);
            continue;
        }
        gsize i = 0;
        while (i < G_N_ELEMENTS(names) && !g_str_has_prefix(at + 1, names[i]))
            i += 2;
        check(i < G_N_ELEMENTS(names));
        at += 1 + strlen(names[i]);
        g_string_append(text, names[i + 1]);
    }
    check(at == end);
    return g_string_free(text, FALSE);
}

/* That `out` is `before`, markup of `text`, `after`. */
static void check_markup(const char *out, const char *before, const char *text, const char *after)
{
    size_t length = strlen(out), head = strlen(before), tail = strlen(after);
    check(length >= head + tail && g_str_has_prefix(out, before) && g_str_has_suffix(out, after));
    g_autofree char *read = markup_read(out + head, out + length - tail);
    check(strcmp(read, text) == 0);
}

static void check_elements(const char *text)
{
    g_autofree char *shown = as_shown(text, false);
    g_autofree char *printed = as_shown(text, true);
    Html *html = html_new();
    html_literal(html, "<p>");
    html_text(html, text);
    html_literal(html, "</p>");
    g_autoptr(GString) element = html_finish(html);
    check_markup(element->str, "<p>", shown, "</p>");
    html = html_new();
    html_attr(html, "title", text);
    g_autoptr(GString) attribute = html_finish(html);
    check_markup(attribute->str, " title=\"", shown, "\"");
    html = html_new();
    html_print(html, "<b id=\"%s\">", text);
    g_autoptr(GString) formatted = html_finish(html);
    check_markup(formatted->str, "<b id=\"", printed, "\">");
}

/* Who gets the page is filled in where the slot was. */
static void fill(Html *html, int kind, const char *text, void *user)
{
    check(kind == 7 && strcmp(text, "slot") == 0);
    html_text(html, (const char *)user);
}

static void check_slot(char *text)
{
    g_autofree char *shown = as_shown(text, false);
    Html *html = html_new();
    html_literal(html, "<i>");
    html_slot(html, 7, "slot");
    html_literal(html, "</i>");
    g_autoptr(GString) out = html_finish_filled(html, fill, text);
    check_markup(out->str, "<i>", shown, "</i>");
}

static void check_numbers(double number)
{
    Html *html = html_new();
    html_coordinate(html, number);
    html_literal(html, " ");
    html_json_number(html, number);
    g_autoptr(GString) out = html_finish(html);
    double bounded = isfinite(number) ? CLAMP(number, -1e6, 1e6) : 0;
    char *end;
    check(fabs(g_ascii_strtod(out->str, &end) - bounded) <= 0.006 && *end == ' ');
    check(strspn(out->str, "-0123456789.") == (size_t)(end - out->str));
    double read = g_ascii_strtod(end + 1, NULL);
    check(isfinite(number) ? !(read < number) && !(read > number) : strcmp(end, " null") == 0);
}

/* As a browser reads an address: it leaves the server's own only by http(s). */
static void check_url(const char *text)
{
    Html *html = html_new();
    html_url(html, "href", text);
    g_autoptr(GString) out = html_finish(html);
    check(g_str_has_prefix(out->str, " href=\"") && g_str_has_suffix(out->str, "\""));
    g_autofree char *url = markup_read(out->str + 7, out->str + out->len - 1);
    g_autofree char *shown = as_shown(text, false);
    check(strcmp(url, "#") == 0 || strcmp(url, shown) == 0);
    check(!strpbrk(url, " \t\r\n\\"));
    bool is_own = *url && strchr("/?#", url[0]) && !g_str_has_prefix(url, "//");
    g_autofree char *scheme = g_ascii_strdown(url, 8);
    check(is_own || g_str_has_prefix(scheme, "http://") || g_str_has_prefix(scheme, "https://"));
}

static void check_json(const char *text)
{
    Html *html = html_new();
    html_json_string(html, text);
    g_autoptr(GString) out = html_finish(html);
    json_t *value = json_loads(out->str, JSON_DECODE_ANY, NULL);
    check(!strpbrk(out->str, "<>&") && json_is_string(value));
    check(strcmp(json_string_value(value), text) == 0);
    json_decref(value);
}

/* GMarkup reads all of XML that the product writes, and nothing that is not well-formed. */
static void check_xml(const GString *xml)
{
    static const GMarkupParser nothing = {0};
    g_autoptr(GMarkupParseContext) context =
        g_markup_parse_context_new(&nothing, G_MARKUP_DEFAULT_FLAGS, NULL, NULL);
    check(g_markup_parse_context_parse(context, xml->str, (gssize)xml->len, NULL) &&
          g_markup_parse_context_end_parse(context, NULL));
}

static void check_badge(const char *name, const char *says)
{
    Html *html = html_new();
    badge_write(html, name, says, BADGE_WORSE);
    g_autoptr(GString) out = html_finish(html);
    check(out->len <= BADGE_BYTES_MAX);
    check_xml(out);
}

/* A machine's topology is drawn from XML that came with a run. */
static void check_topology(const char *xml)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(TopologyTree) tree = topology_tree_parse(xml, &error);
    check_error(!tree, error);
    if (!tree)
        return;
    g_autofree char *sentence = topology_tree_sentence(tree);
    check(g_utf8_validate(sentence, -1, NULL) && tree->n_objects <= TOPOLOGY_OBJECTS_MAX);
    Html *html = html_new();
    html_literal(html, "<x>");
    topology_draw_boxes(html, tree);
    topology_draw_lines(html, tree);
    html_literal(html, "</x>");
    g_autoptr(GString) out = html_finish(html);
    check_xml(out);
}

/* ---- Markdown ---- */

static bool is_word(char c)
{
    return g_ascii_isalnum(c) || (unsigned char)c >= 0x80;
}

/* No character that means something to a forge is there without a backslash, and no HTML but the
 * empty comment. */
static void check_markdown(const char *text)
{
    g_autoptr(GString) out = g_string_new(NULL);
    markdown_append_text(out, text);
    for (const char *at = out->str; *at; at++) {
        if (*at == '\\') {
            at++;
            check(*at && strchr("\\`*_{}[]|~$!@#", *at));
            check(!strchr("@#", *at) || !is_word(at[1]));
        } else if (g_str_has_prefix(at, "<!-- -->")) {
            at += at[8] == ':' ? 8 : 7; /* with what it stands before */
        } else {
            check(!strchr("`*{}[]|~$!<>@#\n\r\t", *at) && !g_str_has_prefix(at, "://"));
            check(*at != '_' || (at > out->str && is_word(at[-1]) && is_word(at[1])));
            check(*at != '&' || g_str_has_prefix(at, "&amp;") || g_str_has_prefix(at, "&lt;") ||
                  g_str_has_prefix(at, "&gt;"));
        }
    }
}

/* A link is one pair of brackets and of parentheses; its address ends where they do. */
static void check_markdown_link(const char *text, const char *path)
{
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GString) plain = g_string_new(NULL);
    markdown_append_link(out, text, "http://host", path);
    markdown_append_text(plain, text);
    if (g_string_equal(out, plain))
        return;
    g_autofree char *head = g_strdup_printf("[%s](http://host/", plain->str);
    check(g_str_has_prefix(out->str, head) && *path == '/');
    const char *address = out->str + strlen(head);
    check(strcspn(address, "()<>|`\"'* \t\r\n") == strlen(address) - 1);
    check(g_str_has_suffix(address, ")"));
}

/* ---- CSV ---- */

/* A cell of RFC 4180; moves *at behind it. */
static char *csv_read(const char **at)
{
    GString *cell = g_string_new(NULL);
    const char *c = *at;
    if (*c != '"') {
        for (; *c && !strchr(",\r\n", *c); c++) {
            check(*c != '"');
            g_string_append_c(cell, *c);
        }
        *at = c;
        return g_string_free(cell, FALSE);
    }
    for (c++; *c && (*c != '"' || c[1] == '"'); c++) {
        c += *c == '"';
        g_string_append_c(cell, *c);
    }
    check(*c == '"');
    *at = c + 1;
    return g_string_free(cell, FALSE);
}

static void check_cell(const char *cell, const char *text)
{
    static const char *const openings[] = {"=",  "+",  "-",  "@",  "\t", "\r",
                                           "\n", "＝", "＋", "－", "＠"};
    char *end;
    g_ascii_strtod(cell, &end);
    bool is_number = *cell && *end == '\0' && !strpbrk(cell, " \t\r\n");
    for (gsize i = 0; i < G_N_ELEMENTS(openings); i++)
        check(is_number || !g_str_has_prefix(cell, openings[i]));
    check(strcmp(cell, text) == 0 || (*cell == '\'' && strcmp(cell + 1, text) == 0));
}

static void check_csv(char *const texts[TEXTS], double number)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct csv_writer writer = CSV_WRITER_INIT(out);
    const char *at;
    for (int i = 0; i < TEXTS; i++)
        csv_writer_text(&writer, texts[i]);
    csv_writer_number(&writer, number);
    csv_writer_end_row(&writer);
    at = out->str;
    for (int i = 0; i < TEXTS; i++) {
        g_autofree char *cell = csv_read(&at);
        check_cell(cell, texts[i]);
        check(*at++ == ',');
    }
    g_autofree char *last = csv_read(&at);
    double read = g_ascii_strtod(last, NULL);
    check(isfinite(number) ? !(read < number) && !(read > number) : *last == '\0');
    check(strcmp(at, "\r\n") == 0);
}

/* Of three columns the one that is asked for. */
static void check_csv_fields(char *const texts[TEXTS])
{
    static const char *const columns[] = {"a", "b", "c", NULL};
    g_autoptr(GString) out = g_string_new(NULL);
    g_autoptr(GPtrArray) only = g_ptr_array_new();
    struct csv_writer writer = CSV_WRITER_INIT(out);
    g_ptr_array_add(only, (char[]){"b"});
    csv_writer_only(&writer, columns, only);
    csv_writer_header(&writer, columns);
    csv_writer_integer(&writer, -7);
    csv_writer_text(&writer, texts[0]);
    csv_writer_bool(&writer, true);
    csv_writer_end_row(&writer);
    check(g_str_has_prefix(out->str, "b\r\n"));
    const char *at = out->str + 3;
    g_autofree char *cell = csv_read(&at);
    check_cell(cell, texts[0]);
    check(strcmp(at, "\r\n") == 0);
}

/* ---- JSON by the writer of answers ---- */

static void check_json_writer(char *const texts[TEXTS], double number)
{
    g_autoptr(GString) out = g_string_new(NULL);
    struct json_writer writer = JSON_WRITER_INIT(out);
    json_writer_object(&writer, NULL);
    json_writer_key(&writer, texts[0]);
    json_writer_array(&writer, NULL);
    json_writer_string(&writer, NULL, texts[1]);
    json_writer_number(&writer, NULL, number);
    json_writer_end(&writer);
    json_writer_end(&writer);
    json_t *read = json_loadb(out->str, out->len, JSON_REJECT_DUPLICATES, NULL);
    check(json_object_size(read) == 1 && json_array_size(json_object_get(read, texts[0])) == 2);
    json_t *list = json_object_get(read, texts[0]);
    check(strcmp(json_string_value(json_array_get(list, 0)), texts[1]) == 0);
    check(json_is_null(json_array_get(list, 1)) == !isfinite(number));
    json_decref(read);
}

/* ---- Addresses ---- */

/* That the segment at *at is `name`, encoded; moves *at behind it. */
static void check_segment(const char **at, const char *name)
{
    for (; *name; name++) {
        unsigned char c = (unsigned char)**at;
        check(c == '%' || g_ascii_isalnum(c) || strchr("-._~", c));
        if (c == '%') {
            c = (unsigned char)(g_ascii_xdigit_value((*at)[1]) * 16 +
                                g_ascii_xdigit_value((*at)[2]));
            *at += 2;
        }
        check(c == (unsigned char)*name);
        (*at)++;
    }
}

static void check_past(const char **at, const char *text)
{
    check(g_str_has_prefix(*at, text));
    *at += strlen(text);
}

static void check_links(char *const texts[TEXTS])
{
    g_autofree char *bench = link_bench(texts[0], texts[1]);
    g_autofree char *compare = link_compare_also(texts[0], texts[1], texts[2], texts[0]);
    g_autofree char *back = link_back("/p", texts[0]);
    g_autofree char *forge = link_forge(texts[0], texts[1]);
    g_autofree char *word = link_shell_word(texts[0]);
    g_autofree char *plain = g_shell_unquote(word, NULL);
    const char *at = bench;
    check_past(&at, "/p/");
    check_segment(&at, texts[0]);
    check_past(&at, "/b/");
    check_segment(&at, texts[1]);
    check(*at == '\0');
    at = compare;
    check_past(&at, "/p/");
    check_segment(&at, texts[0]);
    check_past(&at, "/compare/");
    for (int i = 1; i < TEXTS; i++) {
        check_segment(&at, texts[i]);
        check_past(&at, "...");
    }
    check_segment(&at, texts[0]);
    check(*at == '\0' && html_url_is_safe(back) && g_str_has_prefix(back, "/p"));
    check(!forge || (html_url_is_safe(forge) && !strchr("/?#", forge[0])));
    check(plain && strcmp(plain, texts[0]) == 0);
}

static void check_more_links(char *const texts[TEXTS])
{
    char *const links[] = {link_commit(texts[0], texts[1]),
                           link_machine(texts[0]),
                           link_changes(texts[0]),
                           link_change(texts[0], -7),
                           link_rules(texts[0]),
                           link_annotations(texts[0]),
                           link_compare(texts[0], texts[1], texts[2])};
    for (gsize i = 0; i < G_N_ELEMENTS(links); i++) {
        const char *at = links[i];
        check_past(&at, i == 1 ? "/m/" : "/p/");
        check_segment(&at, texts[0]);
        check(*at == '/' || i == 1);
        check(html_url_is_safe(links[i]) && !strpbrk(links[i], "<>\"'&#?"));
        g_free(links[i]);
    }
}

static void check_query(char *const texts[TEXTS])
{
    struct http_pair pair = {texts[0], texts[1]};
    g_autoptr(GPtrArray) pairs = g_ptr_array_new();
    g_ptr_array_add(pairs, &pair);
    g_autofree char *query = link_query(pairs, "name", texts[2]);
    const char *at = query;
    check_past(&at, "?");
    if (strcmp(texts[0], "name") != 0) {
        check_segment(&at, texts[0]);
        check_past(&at, "=");
        check_segment(&at, texts[1]);
        check_past(&at, "&");
    }
    check_past(&at, "name=");
    check_segment(&at, texts[2]);
    check(*at == '\0');
    g_autofree char *range = link_range(pairs, texts[2], NULL);
    g_autofree char *end = link_query(NULL, "from", texts[2]);
    check(g_str_has_suffix(range, end + 1));
}

/* ---- Numbers ---- */

static void check_quantities(double number, const char *unit)
{
    char text[QUANTITY_TEXT_BYTES];
    struct quantity_scale scale = quantity_scale_for(unit, fabs(number));
    g_autofree char *whole = quantity_text(number, unit);
    check(g_utf8_validate(whole, -1, NULL) && g_utf8_validate(scale.label, -1, NULL));
    check(isfinite(scale.divisor) && scale.divisor > 0);
    quantity_format(number, &scale, text);
    check(*text && g_utf8_validate(text, -1, NULL));
    quantity_ratio(number, text);
    check(*text && g_utf8_validate(text, -1, NULL));
    for (int decimals = -1; decimals <= 9; decimals++) {
        quantity_tick(number, decimals, text);
        check(*text && g_utf8_validate(text, -1, NULL));
    }
    double high = fabs(number), low = high / 3, step = quantity_step(low, high, 8);
    check(isfinite(step) && step > 0);
    if (isfinite(high) && high > 1e-300)
        check(floor(high / step) - ceil(low / step) + 1 <= 8);
}

static void texts_take(const uint8_t *data, size_t size, char *texts[TEXTS])
{
    for (int i = 0; i < TEXTS; i++) {
        const uint8_t *end = i + 1 < TEXTS && size > 0 ? memchr(data, 0xFF, size) : NULL;
        size_t length = end ? (size_t)(end - data) : size;
        g_autofree char *raw = g_strndup((const char *)data, length);
        texts[i] = g_utf8_make_valid(raw, -1);
        data += length + (end != NULL);
        size -= length + (end != NULL);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *texts[TEXTS];
    texts_take(data, size, texts);
    double number = g_ascii_strtod(texts[2], NULL);
    for (int i = 0; i < TEXTS; i++) {
        check_elements(texts[i]);
        check_url(texts[i]);
        check_json(texts[i]);
        check_markdown(texts[i]);
        check_slot(texts[i]);
        check_markdown_link(texts[i], texts[(i + 1) % TEXTS]);
    }
    check_numbers(number);
    check_csv_fields(texts);
    check_more_links(texts);
    check_badge(texts[0], texts[1]);
    if (*texts[0] == '<')
        check_topology(texts[0]);
    check_csv(texts, number);
    check_json_writer(texts, number);
    check_links(texts);
    check_query(texts);
    texts[0][text_prefix_bytes(texts[0], RUN_NAME_BYTES_MAX)] = '\0'; /* as long as units are */
    check_quantities(number, texts[0]);
    for (int i = 0; i < TEXTS; i++)
        g_free(texts[i]);
    return 0;
}
