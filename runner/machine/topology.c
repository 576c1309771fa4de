/* SPDX-License-Identifier: Apache-2.0
 * hwloc's topology in the forms that the runner shows and sends. Knows nothing of benchmarks; any
 * one thread. */
#include "runner/machine/topology.h"
#include "schema/error.h"
#include <hwloc.h>
#include <stdbool.h>
#include <string.h>

#define DRAW_DEPTH_MAX   32 /* levels; hwloc's trees have about ten */
#define DRAW_OBJECTS_MAX 8192u
#define LABEL_BYTES      256
#define BYTES_PER_KIB    UINT64_C(1024)

struct topology {
    hwloc_topology_t tree;
};

Topology *topology_load(GError **error)
{
    Topology *topology = g_new0(Topology, 1);
    if (hwloc_topology_init(&topology->tree) != 0) {
        g_free(topology);
        topology = NULL;
    } else if (hwloc_topology_load(topology->tree) != 0) {
        topology_free(topology);
        topology = NULL;
    }
    if (!topology) {
        g_set_error_literal(
            error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
            "the machine's topology cannot be read: hwloc failed on /sys and /proc");
    }
    return topology;
}

void topology_free(Topology *topology)
{
    if (topology) {
        hwloc_topology_destroy(topology->tree);
        g_free(topology);
    }
}

static uint32_t count_of(const Topology *topology, hwloc_obj_type_t type)
{
    int count = hwloc_get_nbobjs_by_type(topology->tree, type);
    return count > 0 ? (uint32_t)count : 0;
}

struct topology_counts topology_count(const Topology *topology)
{
    return (struct topology_counts){
        .packages = count_of(topology, HWLOC_OBJ_PACKAGE),
        .cores = count_of(topology, HWLOC_OBJ_CORE),
        .pus = count_of(topology, HWLOC_OBJ_PU),
        .numa_nodes = count_of(topology, HWLOC_OBJ_NUMANODE),
    };
}

/* Virtual machines often give a bare "AMD EPYC": the numbers tell generations apart. */
char *topology_cpu_model(const Topology *topology)
{
    hwloc_obj_t package = hwloc_get_obj_by_type(topology->tree, HWLOC_OBJ_PACKAGE, 0);
    const char *model = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : NULL;
    if (!model) {
        return NULL;
    }
    const char *family = hwloc_obj_get_info_by_name(package, "CPUFamilyNumber");
    const char *number = hwloc_obj_get_info_by_name(package, "CPUModelNumber");
    const char *stepping = hwloc_obj_get_info_by_name(package, "CPUStepping");
    g_autofree char *name = g_strstrip(g_strdup(model));
    if (!family || !number || !stepping) {
        return g_steal_pointer(&name);
    }
    return g_strdup_printf("%s (family %s model %s stepping %s)", name, family, number, stepping);
}

static char *size_text(uint64_t bytes)
{
    const char *const units[] = {"KiB", "MiB", "GiB", "TiB"};
    uint64_t size = bytes / BYTES_PER_KIB;
    unsigned unit = 0;
    while (unit + 1 < G_N_ELEMENTS(units) && size >= 10 * BYTES_PER_KIB) {
        size /= BYTES_PER_KIB;
        unit++;
    }
    if (unit + 1 < G_N_ELEMENTS(units) && size >= BYTES_PER_KIB && size % BYTES_PER_KIB == 0) {
        size /= BYTES_PER_KIB;
        unit++;
    }
    return g_strdup_printf("%" G_GUINT64_FORMAT " %s", size, units[unit]);
}

static char *cache_text(hwloc_obj_t cache)
{
    g_autofree char *size = size_text(cache->attr->cache.size);
    const char *kind = cache->attr->cache.type == HWLOC_OBJ_CACHE_DATA          ? "d"
                       : cache->attr->cache.type == HWLOC_OBJ_CACHE_INSTRUCTION ? "i"
                                                                                : "";
    return g_strdup_printf("L%u%s %s", cache->attr->cache.depth, kind, size);
}

char *topology_caches(const Topology *topology)
{
    const hwloc_obj_type_t types[] = {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE,
                                      HWLOC_OBJ_L4CACHE};
    GString *text = g_string_new(NULL);
    for (unsigned i = 0; i < G_N_ELEMENTS(types); i++) {
        uint32_t count = count_of(topology, types[i]);
        hwloc_obj_t cache = count ? hwloc_get_obj_by_type(topology->tree, types[i], 0) : NULL;
        if (!cache) {
            continue;
        }
        g_autofree char *one = cache_text(cache);
        g_string_append(text, text->len ? ", " : "");
        if (count > 1) {
            g_string_append_printf(text, "%u x ", count);
        }
        g_string_append(text, one);
    }
    return g_string_free(text, FALSE);
}

/* Takes each piece from `start` to the next `end` out, with the white space before it. */
static void xml_remove(GString *xml, const char *start, const char *end)
{
    size_t from = 0;
    for (const char *found = strstr(xml->str, start); found;
         found = strstr(xml->str + from, start)) {
        const char *close = strstr(found + strlen(start), end);
        if (!close) {
            return;
        }
        const char *first = found;
        while (first > xml->str && g_ascii_isspace(first[-1])) {
            first--;
        }
        from = (size_t)(first - xml->str);
        g_string_erase(xml, (gssize)from, close + strlen(end) - first);
    }
}

char *topology_xml(const Topology *topology, GError **error)
{
    char *buffer = NULL;
    int length = 0;
    if (hwloc_topology_export_xmlbuffer(topology->tree, &buffer, &length, 0) != 0) {
        g_set_error_literal(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE,
                            "hwloc cannot export the topology as XML");
        return NULL;
    }
    GString *xml = g_string_new(buffer); /* ends with a NUL, which `length` counts */
    hwloc_free_xmlbuffer(topology->tree, buffer);
    xml_remove(xml, "<info name=\"HostName\"", "/>");
    xml_remove(xml, "<info name=\"ProcessName\"", "/>");
    xml_remove(xml, "<info name=\"LinuxCgroup\"", "/>");
    /* Hosts give virtual machines memory and take it back: it would make another topology of each
     * run. */
    xml_remove(xml, "<page_type ", "/>");
    xml_remove(xml, "local_memory=\"", "\"");
    return g_string_free(xml, FALSE);
}

static void label_append(GString *out, hwloc_obj_t object)
{
    if (hwloc_obj_type_is_cache(object->type)) {
        g_autofree char *text = cache_text(object);
        g_string_append(out, text);
        return;
    }
    char type[LABEL_BYTES];
    hwloc_obj_type_snprintf(type, sizeof type, object, 0);
    g_string_append(out, type);
    if (object->type != HWLOC_OBJ_MACHINE && object->os_index != HWLOC_UNKNOWN_INDEX) {
        g_string_append_printf(out, " %u", object->os_index);
    }
    uint64_t memory_bytes = object->type == HWLOC_OBJ_NUMANODE ? object->attr->numanode.local_memory
                            : object->type == HWLOC_OBJ_MACHINE ? object->total_memory
                                                                : 0;
    if (memory_bytes) {
        g_autofree char *size = size_text(memory_bytes);
        g_string_append_printf(out, " (%s)", size);
    }
    const char *model = hwloc_obj_get_info_by_name(object, "CPUModel");
    if (model) {
        g_string_append_printf(out, ": %s", model);
    }
}

/* A chain of only children is one line: "L2 512 KiB, L1d 32 KiB, Core 0, PU 0". */
static bool is_on_its_parents_line(hwloc_obj_t object)
{
    hwloc_obj_t parent = object->parent;
    return parent && parent->parent && parent->arity == 1 && parent->memory_arity == 0;
}

static int line_depth(hwloc_obj_t object)
{
    int depth = 0;
    for (; object->parent && depth < DRAW_DEPTH_MAX; object = object->parent) {
        depth += !is_on_its_parents_line(object);
    }
    return depth;
}

static void draw_line_start(GString *out, hwloc_obj_t object, int depth)
{
    if (out->len) {
        g_string_append_c(out, '\n');
    }
    g_string_append_printf(out, "%*s", 2 * depth, "");
    label_append(out, object);
}

/* The next in the order of a reader: children first, then siblings, then those of the parents. */
static hwloc_obj_t next_object(hwloc_obj_t object)
{
    if (object->first_child) {
        return object->first_child;
    }
    while (object && !object->next_sibling) {
        object = object->parent;
    }
    return object ? object->next_sibling : NULL;
}

char *topology_draw(const Topology *topology)
{
    GString *out = g_string_new(NULL);
    unsigned drawn = 0;
    hwloc_obj_t object = hwloc_get_root_obj(topology->tree);
    for (; object && drawn < DRAW_OBJECTS_MAX; object = next_object(object)) {
        if (is_on_its_parents_line(object)) {
            g_string_append(out, ", ");
            label_append(out, object);
        } else {
            draw_line_start(out, object, line_depth(object));
        }
        drawn++;
        for (hwloc_obj_t node = object->memory_first_child; node && drawn < DRAW_OBJECTS_MAX;
             node = node->next_sibling, drawn++) {
            draw_line_start(out, node, line_depth(object) + 1);
        }
    }
    g_string_append(out, object ? "\n…\n" : "\n");
    return g_string_free(out, FALSE);
}
