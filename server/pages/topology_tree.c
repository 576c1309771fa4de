/* SPDX-License-Identifier: Apache-2.0
 * See topology_tree.h. GLib's markup parser knows no entities but the five of XML and fetches
 * nothing, so a document type with its own entities is refused, not expanded. */
#include "server/pages/topology_tree.h"

#include <string.h>

#define KIB          UINT64_C(1024)
#define CACHE_LEVELS 5u
#define SENTENCE_MAX 8u /* different caches that are named */

struct parsing {
    TopologyTree *tree;
    struct topology_object *path[TOPOLOGY_DEPTH_MAX]; /* by depth of elements; NULL: not shown */
    guint depth;
    guint skipping; /* elements open below one whose content is of no interest */
};

static void object_free(gpointer data)
{
    struct topology_object *object = (struct topology_object *)data;
    if (!object)
        return;
    g_ptr_array_unref(object->parts);
    g_free(object->model);
    g_free(object);
}

void topology_tree_free(TopologyTree *tree)
{
    if (!tree)
        return;
    object_free(tree->root);
    g_free(tree);
}

/* ---- Parsing --------------------------------------------------------------------------------- */

static const char *value_of(const char *const *names, const char *const *values, const char *name)
{
    for (guint i = 0; names[i]; i++) {
        if (strcmp(names[i], name) == 0)
            return values[i];
    }
    return NULL;
}

static uint64_t number_of(const char *const *names, const char *const *values, const char *name,
                          uint64_t none)
{
    const char *text = value_of(names, values, name);
    guint64 number;
    return text && g_ascii_string_to_unsigned(text, 10, 0, G_MAXINT64, &number, NULL) ? number
                                                                                      : none;
}

/* False for what is not drawn: devices, and what future formats bring. */
static bool kind_of(const char *type, struct topology_object *object)
{
    static const struct {
        const char *type;
        enum topology_kind kind;
    } kinds[] = {
        {"Machine", TOPOLOGY_MACHINE}, {"Package", TOPOLOGY_PACKAGE}, {"Socket", TOPOLOGY_PACKAGE},
        {"Die", TOPOLOGY_DIE},         {"Group", TOPOLOGY_GROUP},     {"NUMANode", TOPOLOGY_NUMA},
        {"Core", TOPOLOGY_CORE},       {"PU", TOPOLOGY_PU},           {"Cache", TOPOLOGY_CACHE}};
    for (guint i = 0; i < G_N_ELEMENTS(kinds); i++) {
        if (strcmp(kinds[i].type, type) == 0) {
            object->kind = kinds[i].kind;
            return true;
        }
    }
    bool is_cache = type[0] == 'L' && type[1] >= '1' && type[1] < '1' + (char)CACHE_LEVELS &&
                    (strcmp(type + 2, "Cache") == 0 || strcmp(type + 2, "iCache") == 0);
    object->kind = TOPOLOGY_CACHE;
    object->level = is_cache ? (guint)(type[1] - '0') : 0;
    return is_cache;
}

static void take_cache(struct topology_object *object, const char *const *names,
                       const char *const *values)
{
    static const char letters[] = {'\0', 'd', 'i'};
    uint64_t type = number_of(names, values, "cache_type", 0);
    object->bytes = number_of(names, values, "cache_size", 0);
    object->cache_letter = type < sizeof letters ? letters[type] : '\0';
    if (object->level == 0)
        object->level = (guint)CLAMP(number_of(names, values, "depth", 1), 1, CACHE_LEVELS);
}

static struct topology_object *object_new(const char *const *names, const char *const *values)
{
    const char *type = value_of(names, values, "type");
    struct topology_object object = {.number = -1};
    if (!type || !kind_of(type, &object))
        return NULL;
    object.number = (int64_t)number_of(names, values, "os_index", (uint64_t)-1);
    if (object.kind == TOPOLOGY_CACHE)
        take_cache(&object, names, values);
    if (object.kind == TOPOLOGY_NUMA)
        object.bytes = number_of(names, values, "local_memory", 0);
    object.parts = g_ptr_array_new_with_free_func(object_free);
    return (struct topology_object *)g_memdup2(&object, sizeof object);
}

static struct topology_object *parent_of(const struct parsing *parsing)
{
    for (guint i = parsing->depth; i > 0; i--) {
        if (parsing->path[i - 1])
            return parsing->path[i - 1];
    }
    return NULL;
}

static bool add_object(struct parsing *parsing, struct topology_object *object, GError **error)
{
    struct topology_object *parent = parent_of(parsing);
    TopologyTree *tree = parsing->tree;
    bool is_root = object->kind == TOPOLOGY_MACHINE;
    if (is_root ? tree->root != NULL : !parent) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "a topology has one Machine, and all other objects are in it");
        object_free(object);
        return false;
    }
    if (is_root)
        tree->root = object;
    else
        g_ptr_array_add(parent->parts, object);
    parsing->path[parsing->depth] = object;
    tree->n_objects++;
    return true;
}

static void take_info(const struct parsing *parsing, const char *const *names,
                      const char *const *values)
{
    struct topology_object *object = parent_of(parsing);
    const char *name = value_of(names, values, "name"), *value = value_of(names, values, "value");
    if (!object || object->model || !name || !value || strcmp(name, "CPUModel") != 0)
        return;
    g_autofree char *model = g_utf8_strlen(value, -1) > TOPOLOGY_MODEL_CHARS_MAX
                                 ? g_utf8_substring(value, 0, TOPOLOGY_MODEL_CHARS_MAX)
                                 : g_strdup(value);
    object->model = g_strdup(g_strstrip(model));
}

static void on_start(GMarkupParseContext *context G_GNUC_UNUSED, const char *element,
                     const char **names, const char **values, gpointer user, GError **error)
{
    struct parsing *parsing = (struct parsing *)user;
    const char *const *const keys = (const char *const *)names;
    const char *const *const texts = (const char *const *)values;
    if (parsing->depth == TOPOLOGY_DEPTH_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the topology nests deeper than %u elements", TOPOLOGY_DEPTH_MAX);
        return;
    }
    parsing->path[parsing->depth] = NULL;
    bool is_object = strcmp(element, "object") == 0;
    if (parsing->skipping == 0 && strcmp(element, "info") == 0)
        take_info(parsing, keys, texts);
    struct topology_object *object =
        is_object && parsing->skipping == 0 ? object_new(keys, texts) : NULL;
    bool is_full = object && parsing->tree->n_objects == TOPOLOGY_OBJECTS_MAX;
    if (is_full) {
        parsing->tree->is_cut = true;
        g_clear_pointer(&object, object_free);
    }
    if (object && !add_object(parsing, object, error))
        return;
    parsing->depth++;
    /* A memory-side cache holds the node itself; a device holds devices. */
    bool is_passed = is_object && !object && !is_full &&
                     g_strcmp0(value_of(keys, texts, "type"), "MemCache") == 0;
    if (parsing->skipping > 0 || (is_object && !object && !is_passed))
        parsing->skipping++;
}

static void on_end(GMarkupParseContext *context G_GNUC_UNUSED, const char *element G_GNUC_UNUSED,
                   gpointer user, GError **error G_GNUC_UNUSED)
{
    struct parsing *parsing = (struct parsing *)user;
    parsing->depth--;
    if (parsing->skipping > 0)
        parsing->skipping--;
}

static guint64 mix(guint64 hash, guint64 value)
{
    hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
    return hash ^ hash >> 29;
}

/* Children first. */
/* NOLINTNEXTLINE(misc-no-recursion): the parser takes TOPOLOGY_DEPTH_MAX levels */
static void finish_object(struct topology_object *object)
{
    guint64 shape = mix(object->kind + 1, object->level * 4u + (guchar)object->cache_letter);
    shape = mix(shape, object->bytes);
    shape = mix(shape, object->model ? g_str_hash(object->model) : 0);
    object->n_objects = 1;
    for (guint i = 0; i < object->parts->len; i++) {
        struct topology_object *part = (struct topology_object *)object->parts->pdata[i];
        finish_object(part);
        shape = mix(shape, part->shape);
        object->n_objects += part->n_objects;
    }
    object->shape = mix(shape, object->parts->len);
}

TopologyTree *topology_tree_parse(const char *xml, GError **error)
{
    static const GMarkupParser parser = {.start_element = on_start, .end_element = on_end};
    g_autoptr(TopologyTree) tree = g_new0(TopologyTree, 1);
    struct parsing parsing = {.tree = tree};
    g_autoptr(GMarkupParseContext) context = g_markup_parse_context_new(&parser, 0, &parsing, NULL);
    g_autoptr(GError) cause = NULL;
    if (!g_markup_parse_context_parse(context, xml, (gssize)strlen(xml), &cause) ||
        !g_markup_parse_context_end_parse(context, &cause)) {
        bool is_ours = cause->domain == BREAKEVEN_ERROR;
        g_autofree char *says =
            g_utf8_make_valid(cause->message, -1); /* GLib may quote half a character */
        g_set_error(error, BREAKEVEN_ERROR, is_ours ? ERROR_INVALID : ERROR_SYNTAX, "%s", says);
        return NULL;
    }
    if (!tree->root) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the XML holds no object of type Machine");
        return NULL;
    }
    finish_object(tree->root);
    return g_steal_pointer(&tree);
}

/* ---- Words ----------------------------------------------------------------------------------- */

static void append_size(GString *text, uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    guint unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && bytes >= KIB &&
           (bytes % KIB == 0 || bytes >= 10 * KIB)) {
        bytes /= KIB;
        unit++;
    }
    g_string_append_printf(text, " %" G_GUINT64_FORMAT " %s", bytes, units[unit]);
}

static void append_cache(GString *text, const struct topology_object *cache)
{
    char letter[] = {cache->cache_letter, '\0'};
    g_string_append_printf(text, "L%u%s", cache->level, letter);
    if (cache->bytes > 0)
        append_size(text, cache->bytes);
}

char *topology_object_label(const struct topology_object *object)
{
    static const char *const names[TOPOLOGY_KINDS] = {"Machine",   "Package", "Die",  "Group",
                                                      "NUMA node", "",        "Core", "PU"};
    GString *text = g_string_new(NULL);
    if (object->kind == TOPOLOGY_CACHE) {
        append_cache(text, object);
        return g_string_free(text, FALSE);
    }
    g_string_append(text, names[object->kind]);
    bool has_number =
        object->number >= 0 && object->kind != TOPOLOGY_MACHINE && object->kind != TOPOLOGY_GROUP;
    if (has_number)
        g_string_append_printf(text, " %" G_GINT64_FORMAT, (gint64)object->number);
    if (object->bytes > 0)
        append_size(text, object->bytes);
    if (object->model)
        g_string_append_printf(text, ": %s", object->model);
    return g_string_free(text, FALSE);
}

struct counts {
    guint of[TOPOLOGY_KINDS];
    const struct topology_object *caches[SENTENCE_MAX]; /* the first of each look */
    guint n_of[SENTENCE_MAX], n_caches;
};

static bool looks_alike(const struct topology_object *a, const struct topology_object *b)
{
    return a->level == b->level && a->cache_letter == b->cache_letter && a->bytes == b->bytes;
}

static void count_cache(struct counts *counts, const struct topology_object *cache)
{
    guint i = 0;
    while (i < counts->n_caches && !looks_alike(counts->caches[i], cache))
        i++;
    if (i == SENTENCE_MAX)
        return;
    counts->caches[i] = cache;
    counts->n_of[i] = i == counts->n_caches ? 1 : counts->n_of[i] + 1;
    counts->n_caches = MAX(counts->n_caches, i + 1);
}

/* NOLINTNEXTLINE(misc-no-recursion): the parser took TOPOLOGY_DEPTH_MAX levels */
static void count_object(struct counts *counts, const struct topology_object *object)
{
    counts->of[object->kind]++;
    if (object->kind == TOPOLOGY_CACHE)
        count_cache(counts, object);
    for (guint i = 0; i < object->parts->len; i++)
        count_object(counts, (const struct topology_object *)object->parts->pdata[i]);
}

char *topology_tree_sentence(const TopologyTree *tree)
{
    static const struct {
        enum topology_kind kind;
        const char *one, *many;
    } words[] = {{TOPOLOGY_PACKAGE, "package", "packages"},
                 {TOPOLOGY_NUMA, "NUMA node", "NUMA nodes"},
                 {TOPOLOGY_CORE, "core", "cores"},
                 {TOPOLOGY_PU, "processing unit", "processing units"}};
    struct counts counts = {.n_caches = 0};
    GString *text = g_string_new(NULL);
    count_object(&counts, tree->root);
    for (guint i = 0; i < G_N_ELEMENTS(words); i++) {
        guint n = counts.of[words[i].kind];
        if (n > 0)
            g_string_append_printf(text, "%s%u %s", text->len > 0 ? ", " : "", n,
                                   n == 1 ? words[i].one : words[i].many);
    }
    for (guint i = 0; i < counts.n_caches; i++) {
        g_string_append(text, i == 0 ? "; " : ", ");
        if (counts.n_of[i] > 1)
            g_string_append_printf(text, "%u × ", counts.n_of[i]);
        append_cache(text, counts.caches[i]);
    }
    if (tree->is_cut)
        g_string_append_printf(text, "; only the first %u objects are told", TOPOLOGY_OBJECTS_MAX);
    return g_string_free(text, FALSE);
}
