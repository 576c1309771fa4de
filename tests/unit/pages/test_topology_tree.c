/* SPDX-License-Identifier: Apache-2.0
 * A machine's topology from XML that anybody may have sent: both formats of hwloc, what is alike,
 * hostile texts, and every bound. */
#include "server/pages/topology_draw.h"

#include <string.h>

#define HEAD                                                                                       \
    "<?xml version=\"1.0\"?><!DOCTYPE topology SYSTEM \"hwloc2.dtd\"><topology version=\"2.0\">"
#define PU(n) "<object type=\"PU\" os_index=\"" #n "\"/>"
#define CORE(n, pus)                                                                               \
    "<object type=\"L2Cache\" cache_size=\"524288\" depth=\"2\" cache_type=\"0\"><object "         \
    "type=\"L1Cache\" cache_size=\"32768\" depth=\"1\" cache_type=\"1\"><object type=\"Core\" "    \
    "os_index=\"" #n "\">" pus "</object></object></object>"

static const char two_cores[] = HEAD
    "<object type=\"Machine\" os_index=\"0\" cpuset=\"0xf\"><info name=\"DMIBoard\" value=\"x\"/>"
    "<object type=\"Package\" os_index=\"0\"><info name=\"CPUModel\" value=\" Model 7 \"/>"
    "<object type=\"NUMANode\" os_index=\"0\" local_memory=\"8589934592\"><page_type "
    "size=\"4096\"/>"
    "</object><object type=\"L3Cache\" cache_size=\"33554432\" depth=\"3\" cache_type=\"0\">" CORE(
        0, PU(0) PU(2))
        CORE(1, PU(1) PU(
                    3)) "</object></object><object type=\"Bridge\"><object type=\"PCIDev\"><object "
                        "type=\"OSDev\" name=\"eth0\"/></object></object></object></topology>";

static TopologyTree *must_parse(const char *xml)
{
    g_autoptr(GError) error = NULL;
    TopologyTree *tree = topology_tree_parse(xml, &error);
    g_assert_no_error(error);
    return tree;
}

static char *lines_of(const TopologyTree *tree)
{
    Html *html = html_new();
    topology_draw_lines(html, tree);
    return g_string_free(html_finish(html), FALSE);
}

static char *boxes_of(const TopologyTree *tree)
{
    Html *html = html_new();
    topology_draw_boxes(html, tree);
    return g_string_free(html_finish(html), FALSE);
}

static void test_in_words(void)
{
    g_autoptr(TopologyTree) tree = must_parse(two_cores);
    g_autofree char *sentence = topology_tree_sentence(tree);
    g_assert_cmpstr(sentence, ==,
                    "1 package, 1 NUMA node, 2 cores, 4 processing units; L3 32 MiB, 2 × L2 512 "
                    "KiB, 2 × L1d 32 KiB");
    g_autofree char *lines = lines_of(tree);
    g_assert_cmpstr(lines, ==,
                    "Machine\n"
                    "  Package 0: Model 7\n"
                    "    NUMA node 0 8 GiB\n"
                    "    L3 32 MiB\n"
                    "      2 × L2 512 KiB · L1d 32 KiB · Core\n"
                    "        2 × PU\n");
}

static void test_in_boxes(void)
{
    g_autoptr(TopologyTree) tree = must_parse(two_cores);
    g_autofree char *boxes = boxes_of(tree);
    g_assert_nonnull(strstr(boxes, "role=\"img\" aria-label=\"1 package, "));
    g_assert_nonnull(strstr(boxes, "<b>L2 512 KiB · L1d 32 KiB · Core 1</b><i>1</i><i>3</i>"));
    g_assert_null(strstr(boxes, "eth0")); /* devices are not drawn */
}

static void test_the_older_format(void)
{
    g_autoptr(TopologyTree) tree = must_parse(
        "<topology><object type=\"Machine\"><object type=\"Socket\" os_index=\"0\"><object "
        "type=\"Cache\" cache_size=\"1048576\" depth=\"2\" cache_type=\"0\"><object type=\"Core\" "
        "os_index=\"0\"><object type=\"PU\" os_index=\"0\"/></object></object></object></object>"
        "</topology>");
    g_autofree char *lines = lines_of(tree);
    g_assert_cmpstr(lines, ==, "Machine\n  Package 0 · L2 1 MiB · Core 0 · PU 0\n");
}

static void test_hostile_texts(void)
{
    g_autoptr(TopologyTree) tree = must_parse(
        "<topology><object type=\"Machine\"><object type=\"Package\" os_index=\"-1\"><info "
        "name=\"CPUModel\" value=\"&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload='x'\"/>"
        "<object type=\"PU\" os_index=\"99999999999999999999\"/><object type=\"L9Cache\"/><object "
        "type=\"&lt;b&gt;\"/><object/></object></object></topology>");
    g_autofree char *boxes = boxes_of(tree), *lines = lines_of(tree);
    g_assert_null(strstr(boxes, "<script"));
    g_assert_null(strstr(lines, "<script"));
    g_assert_nonnull(strstr(boxes, "&lt;script&gt;alert(1)&lt;/script&gt;&quot; onload=&#39;x"));
    g_assert_cmpuint(tree->n_objects, ==, 3);
}

static void test_what_is_no_topology(void)
{
    static const struct {
        const char *xml;
        int code;
    } cases[] = {
        {"", ERROR_SYNTAX},
        {"not xml", ERROR_SYNTAX},
        {"<topology><object type=\"Machine\">", ERROR_SYNTAX},
        {"<topology></topology>", ERROR_INVALID},
        {"<topology><object type=\"PU\"/></topology>", ERROR_INVALID},
        {"<topology><object type=\"Machine\"/><object type=\"Machine\"/></topology>",
         ERROR_INVALID},
        /* entities of the document's own are not expanded */
        {"<!DOCTYPE t [<!ENTITY a \"aaaaaaaa\"><!ENTITY b \"&a;&a;\">]><topology><object "
         "type=\"Machine\"><info name=\"CPUModel\" value=\"&b;\"/></object></topology>",
         ERROR_SYNTAX},
    };
    for (gsize i = 0; i < G_N_ELEMENTS(cases); i++) {
        g_autoptr(GError) error = NULL;
        g_assert_null(topology_tree_parse(cases[i].xml, &error));
        g_assert_error(error, BREAKEVEN_ERROR, cases[i].code);
    }
}

static void test_depth_is_bounded(void)
{
    g_autoptr(GString) xml = g_string_new("<topology><object type=\"Machine\">");
    g_autoptr(GError) error = NULL;
    for (guint i = 0; i < 100000; i++)
        g_string_append(xml, "<object type=\"Group\">");
    g_assert_null(topology_tree_parse(xml->str, &error));
    g_assert_error(error, BREAKEVEN_ERROR, ERROR_INVALID);
    g_assert_nonnull(strstr(error->message, "deeper than 64"));
}

/* So many cores, each with a number of its own; alike or of different sizes. */
static TopologyTree *many(guint n, gboolean differ)
{
    g_autoptr(GString) xml = g_string_new("<topology><object type=\"Machine\">");
    for (guint i = 0; i < n; i++)
        g_string_append_printf(xml,
                               "<object type=\"L2Cache\" cache_size=\"%u\" depth=\"2\" "
                               "cache_type=\"0\"><object type=\"PU\" os_index=\"%u\"/></object>",
                               differ ? 1024 * (i + 1) : 1024, i);
    g_string_append(xml, "</object></topology>");
    return must_parse(xml->str);
}

static guint count(const char *text, const char *what)
{
    guint n = 0;
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n++;
    return n;
}

static void test_many_are_bounded(void)
{
    g_autoptr(TopologyTree) few = many(100, FALSE), alike = many(2000, FALSE);
    g_autoptr(TopologyTree) different = many(2000, TRUE), too_many = many(5000, FALSE);
    g_autofree char *all = boxes_of(few), *one = boxes_of(alike), *cut = boxes_of(different);
    g_assert_cmpuint(count(all, "<b>"), ==, 100);
    g_assert_cmpuint(count(one, "<b>"), ==, 1);
    g_assert_nonnull(strstr(one, "<b>2000 × L2 1 KiB · PU</b>"));
    g_assert_cmpuint(count(cut, "<b>"), ==, TOPOLOGY_DRAW_MAX);
    g_assert_nonnull(strstr(cut, "…"));
    g_assert_true(too_many->is_cut);
    g_assert_cmpuint(too_many->n_objects, ==, TOPOLOGY_OBJECTS_MAX);
    g_autofree char *sentence = topology_tree_sentence(too_many);
    g_assert_nonnull(strstr(sentence, "only the first 8192 objects"));
}

int main(int argc, char **argv)
{
    g_test_init(&argc, &argv, NULL);
    g_test_add_func("/topology/in-words", test_in_words);
    g_test_add_func("/topology/in-boxes", test_in_boxes);
    g_test_add_func("/topology/the-older-format", test_the_older_format);
    g_test_add_func("/topology/hostile-texts", test_hostile_texts);
    g_test_add_func("/topology/what-is-no-topology", test_what_is_no_topology);
    g_test_add_func("/topology/depth-is-bounded", test_depth_is_bounded);
    g_test_add_func("/topology/many-are-bounded", test_many_are_bounded);
    return g_test_run();
}
