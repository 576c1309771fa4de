/* SPDX-License-Identifier: Apache-2.0
 * See topology_draw.h. What holds one thing only shares its box, or its line, with that thing. The
 * tree's depth is bounded by its parser. */
#include "server/pages/topology_draw.h"

#define INDENT 2

struct drawing {
    Html *html;
    bool is_short;       /* alike siblings are one box */
    guint n_written;     /* boxes or lines */
    bool is_one_of_many; /* what is written stands for several: numbers would be wrong */
};

static const struct topology_object *part_at(const struct topology_object *object, guint i)
{
    return (const struct topology_object *)object->parts->pdata[i];
}

/* The index behind the siblings that are like the one at `first`. */
static guint end_of_alike(const struct topology_object *object, guint first)
{
    guint end = first + 1;
    while (end < object->parts->len && part_at(object, end)->shape == part_at(object, first)->shape)
        end++;
    return end;
}

static bool shares_with_part(const struct topology_object *object)
{
    return object->parts->len == 1 && object->kind != TOPOLOGY_MACHINE;
}

static void write_label(Html *html, const struct topology_object *object, bool with_number)
{
    struct topology_object named = *object;
    if (!with_number)
        named.number = -1;
    g_autofree char *label = topology_object_label(&named);
    html_text(html, label);
}

/* The names of an object and of those that share its place; gives the last of them. */
static const struct topology_object *
write_labels(const struct drawing *drawing, const struct topology_object *object, guint n_alike)
{
    Html *html = drawing->html;
    bool with_number = n_alike == 1 && !drawing->is_one_of_many;
    if (n_alike > 1)
        html_print(html, "%u × ", n_alike);
    write_label(html, object, with_number);
    while (shares_with_part(object)) {
        object = part_at(object, 0);
        html_literal(html, " · ");
        write_label(html, object, with_number);
    }
    return object;
}

/* ---- Boxes ----------------------------------------------------------------------------------- */

static void draw_object(struct drawing *drawing, const struct topology_object *object,
                        guint n_alike);

/* NOLINTNEXTLINE(misc-no-recursion): as deep as the parser lets it be, TOPOLOGY_DEPTH_MAX */
static void draw_parts(struct drawing *drawing, const struct topology_object *object)
{
    for (guint first = 0, end; first < object->parts->len; first = end) {
        end = drawing->is_short ? end_of_alike(object, first) : first + 1;
        if (drawing->n_written == TOPOLOGY_DRAW_MAX) {
            html_literal(drawing->html, "<span>…</span>");
            return;
        }
        draw_object(drawing, part_at(object, first), end - first);
    }
}

/* NOLINTNEXTLINE(misc-no-recursion): likewise */
static void draw_object(struct drawing *drawing, const struct topology_object *object,
                        guint n_alike)
{
    Html *html = drawing->html;
    drawing->n_written++;
    if (object->kind == TOPOLOGY_PU) {
        html_literal(html, "<i>");
        if (n_alike > 1 || object->number < 0 || drawing->is_one_of_many)
            write_labels(drawing, object, n_alike);
        else
            html_print(html, "%" G_GINT64_FORMAT, (gint64)object->number);
        html_literal(html, "</i>");
        return;
    }
    html_literal(html, "<div");
    if (object->kind == TOPOLOGY_PACKAGE || object->kind == TOPOLOGY_NUMA)
        html_print(html, " class=\"%s\"", object->kind == TOPOLOGY_NUMA ? "numa" : "package");
    html_literal(html, "><b>");
    const struct topology_object *last = write_labels(drawing, object, n_alike);
    html_literal(html, "</b>");
    bool was_one_of_many = drawing->is_one_of_many;
    drawing->is_one_of_many |= n_alike > 1;
    draw_parts(drawing, last);
    drawing->is_one_of_many = was_one_of_many;
    html_literal(html, "</div>");
}

void topology_draw_boxes(Html *html, const TopologyTree *tree)
{
    struct drawing drawing = {.html = html, .is_short = tree->n_objects > TOPOLOGY_DRAW_ALL};
    g_autofree char *sentence = topology_tree_sentence(tree);
    html_literal(html, "<div class=\"topology\" role=\"img\"");
    html_attr(html, "aria-label", sentence);
    html_literal(html, ">");
    draw_parts(&drawing, tree->root);
    html_literal(html, "</div>");
}

/* ---- Lines ----------------------------------------------------------------------------------- */

/* NOLINTNEXTLINE(misc-no-recursion): likewise */
static void write_lines(struct drawing *drawing, const struct topology_object *object, int depth)
{
    for (guint first = 0, end; first < object->parts->len; first = end) {
        end = end_of_alike(object, first);
        if (drawing->n_written == TOPOLOGY_DRAW_MAX)
            return;
        drawing->n_written++;
        html_print(drawing->html, "%*s", INDENT * depth, "");
        const struct topology_object *last =
            write_labels(drawing, part_at(object, first), end - first);
        html_literal(drawing->html, "\n");
        bool was_one_of_many = drawing->is_one_of_many;
        drawing->is_one_of_many |= end - first > 1;
        write_lines(drawing, last, depth + 1);
        drawing->is_one_of_many = was_one_of_many;
    }
}

void topology_draw_lines(Html *html, const TopologyTree *tree)
{
    struct drawing drawing = {.html = html};
    html_literal(html, "Machine\n");
    write_lines(&drawing, tree->root, 1);
    if (drawing.n_written == TOPOLOGY_DRAW_MAX)
        html_literal(html, "…\n");
}
