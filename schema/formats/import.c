/* SPDX-License-Identifier: Apache-2.0
 * Results put together from a foreign file: names, identity, what was said twice, and the ends. It
 * does not trust the tool: every name is checked as if a stranger had typed it. Any thread. */
#include "schema/formats/import.h"

#include "schema/number.h"
#include "schema/text.h"

#include <math.h>
#include <string.h>

static void row_free(void *item)
{
    struct import_result *row = (struct import_result *)item;

    json_decref(row->info);
    g_ptr_array_unref(row->dropped);
    g_free(row);
}

void import_begin(Import *import, Run *run, GPtrArray *warnings, Faults *faults)
{
    *import = (Import){.run = run, .warnings = warnings, .faults = faults};
    import->rows = g_ptr_array_new_with_free_func(row_free);
    import->by_key = json_object();
    import->context = json_object();
    import->environment = json_object();
}

/* ---- What is wrong ----------------------------------------------------------------- */

void import_warn(Import *import, const char *format, ...)
{
    va_list arguments;

    if (import->n_warnings++ >= IMPORT_WARNINGS_MAX)
        return;
    va_start(arguments, format);
    g_ptr_array_add(import->warnings, g_strdup_vprintf(format, arguments));
    va_end(arguments);
}

void import_fault(Import *import, const char *member, const char *format, ...)
{
    static const struct place top = {0};
    struct place place = {.up = import->at ? import->at : &top, .key = member};
    struct reading reading = {.faults = import->faults,
                              .place = member       ? &place
                                       : import->at ? import->at
                                                    : &top};
    g_autofree char *message = NULL;
    va_list arguments;

    va_start(arguments, format);
    message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    if (import->line)
        document_fault(reading, "line %u: %s", import->line, message);
    else
        document_fault(reading, "%s", message);
}

/* ---- Walking JSON ------------------------------------------------------------------ */

/* The member `key` of value as a place of its own; NULL: value itself. */
static json_t *step_into(Import *import, json_t *value, const char *key, struct place *place)
{
    static const struct place top = {0};

    if (!import->at)
        import->at = &top;
    if (!key)
        return value;
    *place = (struct place){.up = import->at, .key = key};
    import->at = place;
    return json_object_get(value, key);
}

void import_each_element(Import *import, json_t *value, const char *key, import_element_fn each,
                         void *user)
{
    const struct place *before = import->at;
    struct place place;
    json_t *list = step_into(import, value, key, &place);

    if (!json_is_array(list))
        import_fault(import, NULL, "is %s, must be an array",
                     list ? document_type_name(list) : "missing");
    for (size_t i = 0; i < json_array_size(list); i++) {
        const struct place *up = import->at;
        struct place element = {.up = up, .index = i};

        import->at = &element;
        each(import, json_array_get(list, i), user);
        import->at = up;
    }
    import->at = before;
}

void import_each_member(Import *import, json_t *value, const char *key, import_member_fn each,
                        void *user)
{
    const struct place *before = import->at;
    struct place place;
    json_t *map = step_into(import, value, key, &place);
    const char *name;
    json_t *member;

    if (!json_is_object(map))
        import_fault(import, NULL, "is %s, must be an object",
                     map ? document_type_name(map) : "missing");
    json_object_foreach(map, name, member)
    {
        const struct place *up = import->at;
        struct place inner = {.up = up, .key = name};

        import->at = &inner;
        each(import, name, member, user);
        import->at = up;
    }
    import->at = before;
}

const char *import_text(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

bool import_number(const json_t *value, double *out)
{
    double number = IMPORT_NONE;

    if (json_is_number(value))
        number = json_number_value(value);
    if (json_is_string(value) && !number_parse(json_string_value(value), &number))
        return false;
    if (!isfinite(number))
        return false;
    *out = number;
    return true;
}

bool import_member_number(const json_t *object, const char *key, double *out)
{
    return import_number(json_object_get(object, key), out);
}

/* ---- Names and parameters ---------------------------------------------------------- */

#define HASH_DIGITS 8

static bool is_tidy(const char *text, size_t bytes_max)
{
    size_t n = 0;

    for (; (unsigned char)text[n] >= 0x20 && (unsigned char)text[n] < 0x7F; n++)
        ;
    return text[n] == '\0' && n <= bytes_max && text[0] != ' ' && (n == 0 || text[n - 1] != ' ');
}

/* Spaces as text_name_problem sees them at the ends, and what may stand nowhere in a name. */
static bool is_blank(gunichar c)
{
    return c <= ' ' || (c >= 0x7F && c <= 0xA0) || c == 0x1680 || (c >= 0x2000 && c <= 0x200A) ||
           c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F || c == 0x3000 || c == 0xFEFF;
}

static bool is_control(gunichar c)
{
    return c < ' ' || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029;
}

static GString *without_control(const char *text)
{
    g_autofree char *composed = g_utf8_normalize(text, -1, G_NORMALIZE_NFC);
    const char *at = composed ? composed : "";
    GString *out = g_string_sized_new(strlen(at));
    size_t end = 0;

    while (*at && is_blank(g_utf8_get_char(at)))
        at += g_utf8_skip[(unsigned char)*at];
    for (; *at; at += g_utf8_skip[(unsigned char)*at]) {
        gunichar c = g_utf8_get_char(at);

        g_string_append_unichar(out, is_control(c) ? ' ' : c);
        if (!is_blank(c))
            end = out->len;
    }
    g_string_truncate(out, end);
    return out;
}

/* Two long names that begin alike stay apart by their hashes. */
static void shorten(GString *name, size_t bytes_max)
{
    g_autofree char *hash =
        g_compute_checksum_for_string(G_CHECKSUM_SHA256, name->str, (gssize)name->len);

    g_string_truncate(name, text_prefix_bytes(name->str, bytes_max - strlen("… ") - HASH_DIGITS));
    g_string_append_printf(name, "… %.*s", HASH_DIGITS, hash);
}

char *import_tidy(const char *text, size_t bytes_max)
{
    GString *name;

    if (is_tidy(text, bytes_max))
        return g_strdup(text);
    name = without_control(text);
    if (name->len > bytes_max)
        shorten(name, bytes_max);
    return g_string_free(name, FALSE);
}

static bool param_exists(const GPtrArray *params, const char *name)
{
    for (guint i = 0; i < params->len; i++) {
        const struct run_param *param = (const struct run_param *)g_ptr_array_index(params, i);

        if (strcmp(param->name, name) == 0)
            return true;
    }
    return false;
}

/* Longer whole numbers stay text, so that no digit is lost. */
static bool number_is_exact(const char *text, double *out_value)
{
    return number_parse(text, out_value) && fabs(*out_value) < (double)DOCUMENT_WHOLE_MAX;
}

void import_param(GPtrArray *params, const char *name, const char *text)
{
    g_autofree char *tidy = import_tidy(name, RUN_NAME_BYTES_MAX - 4);
    g_autofree char *unique = g_strdup(tidy);
    g_autofree char *value = import_tidy(text, RUN_NAME_BYTES_MAX);
    char canonical[NUMBER_TEXT_BYTES];
    double number;

    /* More than a result may hold is refused with the result: no need to look further. */
    for (guint i = 2; i <= RUN_PARAMS_MAX && param_exists(params, unique); i++) {
        g_free(unique);
        unique = g_strdup_printf("%s_%u", tidy, i);
    }
    if (params->len > RUN_PARAMS_MAX)
        return;
    if (number_is_exact(value, &number)) {
        number_format(number, canonical);
        run_params_add(params, unique, canonical);
    } else {
        run_params_add(params, unique, value);
    }
}

void import_param_json(GPtrArray *params, const char *name, json_t *value)
{
    g_autoptr(GString) text = g_string_new(NULL);

    if (json_is_string(value))
        g_string_assign(text, json_string_value(value));
    else if (json_is_number(value) && isfinite(json_number_value(value)))
        number_append(text, json_number_value(value));
    else if (json_is_boolean(value) || json_is_null(value))
        g_string_assign(text, json_is_null(value)   ? "null"
                              : json_is_true(value) ? "true"
                                                    : "false");
    else {
        char *dump = json_dumps(value, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

        g_string_assign(text, dump ? dump : "");
        free(dump);
    }
    import_param(params, name, text->str);
}

void import_params_json(GPtrArray *params, json_t *object)
{
    const char *name;
    json_t *value;

    json_object_foreach(object, name, value)
    {
        import_param_json(params, name, value);
    }
}

static void segment_take(GPtrArray *params, const char *segment, GString *bench, guint *n_bare)
{
    const char *equals = strchr(segment, '=');
    double number;

    if (equals && equals > segment && equals[1]) {
        g_autofree char *key = g_strndup(segment, (gsize)(equals - segment));

        import_param(params, key, equals + 1);
    } else if (number_is_exact(segment, &number)) {
        g_autofree char *key = g_strdup_printf("arg%u", (*n_bare)++);

        import_param(params, key, segment);
    } else {
        g_string_append_printf(bench, "/%s", segment);
    }
}

char *import_split_name(const char *name, GPtrArray *params)
{
    /* The parameters are counted, so a name of a million segments is cut off where the count is
     * over anyway. */
    g_auto(GStrv) segments = g_strsplit(name, "/", RUN_PARAMS_MAX * 2);
    GString *bench = g_string_new(segments[0]);
    guint n_bare = 0;

    for (size_t i = 1; segments[0] && segments[i]; i++)
        segment_take(params, segments[i], bench, &n_bare);
    return g_string_free(bench, FALSE);
}

/* ---- Results ----------------------------------------------------------------------- */

static bool check_name(Import *import, const char *what, const char *text, char *taken_problem)
{
    g_autofree char *problem = taken_problem;
    g_autofree char *excerpt = NULL;

    if (!problem)
        return true;
    excerpt = text_excerpt(text);
    import_fault(import, NULL, "the %s \"%s\" %s", what, excerpt, problem);
    return false;
}

static bool check_identity(Import *import, const char *bench, const GPtrArray *params)
{
    bool right = check_name(import, "benchmark's name", bench,
                            text_name_problem(bench, strlen(bench), RUN_BENCH_BYTES_MAX));

    if (params->len > RUN_PARAMS_MAX) {
        import_fault(import, NULL, "has more than %u parameters", RUN_PARAMS_MAX);
        return false;
    }
    for (guint i = 0; i < params->len; i++) {
        const struct run_param *param = (const struct run_param *)g_ptr_array_index(params, i);

        right &=
            check_name(import, "parameter's name", param->name,
                       text_name_problem(param->name, strlen(param->name), RUN_NAME_BYTES_MAX));
        right &=
            check_name(import, "parameter's value", param->value,
                       text_value_problem(param->value, strlen(param->value), RUN_NAME_BYTES_MAX));
    }
    return right;
}

static struct import_result *row_find(const Import *import, const char *key)
{
    const json_t *index = json_object_get(import->by_key, key);

    return index ? (struct import_result *)g_ptr_array_index(import->rows,
                                                             (guint)json_integer_value(index))
                 : NULL;
}

static struct import_result *row_new(Import *import, const char *bench, GPtrArray *params,
                                     const char *key)
{
    struct import_result *row = g_new0(struct import_result, 1);

    row->result = run_result_new(bench);
    row->dropped = g_ptr_array_new_with_free_func(g_free);
    g_ptr_array_unref(row->result->params);
    row->result->params = g_ptr_array_ref(params);
    json_object_set_new(import->by_key, key, json_integer((json_int_t)import->rows->len));
    g_ptr_array_add(import->rows, row);
    g_ptr_array_add(import->run->results, row->result);
    return row;
}

static char *row_key(const char *bench, const GPtrArray *params)
{
    g_autofree char *text = run_params_text(params);

    return g_strdup_printf("%s\n%s", bench, text);
}

struct import_result *import_result_find(Import *import, const char *bench, GPtrArray *params)
{
    g_autofree char *name = import_tidy(bench, RUN_BENCH_BYTES_MAX);
    g_autofree char *key = row_key(name, params);

    return row_find(import, key);
}

struct import_result *import_result_take(Import *import, const char *bench, GPtrArray *params)
{
    g_autoptr(GPtrArray) owned = params ? params : run_params_new();
    g_autofree char *name = import_tidy(bench, RUN_BENCH_BYTES_MAX);
    g_autofree char *key = row_key(name, owned);
    struct import_result *row = row_find(import, key);

    if (row || !check_identity(import, name, owned))
        return row;
    if (import->rows->len < RUN_RESULTS_MAX)
        return row_new(import, name, owned, key);
    import_fault(import, NULL, "is one result more than the %u that a run may hold",
                 RUN_RESULTS_MAX);
    return NULL;
}

void import_error(Import *import, struct import_result *row, const char *message)
{
    size_t bytes = text_prefix_bytes(message ? message : "", RUN_TEXT_BYTES_MAX);

    if (bytes && message[bytes]) {
        g_autofree char *name = text_excerpt(row->result->bench);

        import_warn(import, "%s: its error message is cut to %u bytes", name, RUN_TEXT_BYTES_MAX);
    }
    if (!row->result->error)
        row->result->error =
            bytes ? g_strndup(message, bytes) : g_strdup("failed without a message");
}

/* ---- Facts of a result ------------------------------------------------------------- */

void import_info(Import *import, struct import_result *row, const char *key, const json_t *value)
{
    g_autofree char *name = import_tidy(key, RUN_NAME_BYTES_MAX);
    json_t *known = json_object_get(row->info, name);
    g_autofree char *bench = NULL;

    if (json_is_string(value)) {
        import_info_text(import, row, name, json_string_value(value));
        return;
    }
    if (!json_is_number(value) && !json_is_boolean(value))
        return;
    if (known) {
        if (json_equal(known, value))
            return;
        bench = text_excerpt(row->result->bench);
        import_warn(import, "%s: its rows have different values of %s; the first is kept", bench,
                    name);
        return;
    }
    if (!row->info)
        row->info = json_object();
    if (json_object_size(row->info) < RUN_MAP_MAX)
        json_object_set_new(row->info, name, json_deep_copy(value));
}

void import_info_text(Import *import, struct import_result *row, const char *key, const char *text)
{
    size_t bytes = text ? text_prefix_bytes(text, RUN_TEXT_BYTES_MAX) : 0;
    const char *known = import_text(row->info, key);
    g_autofree char *bench = text_excerpt(row->result->bench);

    if (bytes == 0)
        return;
    if (text[bytes])
        import_warn(import, "%s: its %s is cut to %u bytes", bench, key, RUN_TEXT_BYTES_MAX);
    if (known) {
        if (strncmp(known, text, bytes) != 0 || known[bytes])
            import_warn(import, "%s: its rows have different values of %s; the first is kept",
                        bench, key);
        return;
    }
    if (!row->info)
        row->info = json_object();
    if (json_object_size(row->info) < RUN_MAP_MAX)
        json_object_set_new(row->info, key, json_stringn(text, bytes));
}

/* ---- The ends ---------------------------------------------------------------------- */

/* What is beside the samples must have their number, in every metric of the result. */
static bool beside_fits(const struct run_result *result, const struct run_beside *beside)
{
    bool has_samples = false;

    for (guint i = 0; i < result->metrics->len; i++) {
        const struct run_metric *metric =
            (const struct run_metric *)g_ptr_array_index(result->metrics, i);

        if (metric->kind != METRIC_SAMPLES)
            continue;
        has_samples = true;
        if (metric->n_samples != beside->n_values)
            return false;
    }
    return has_samples;
}

static void drop_beside_that_does_not_fit(struct run_result *result)
{
    for (guint i = result->beside->len; i > 0; i--) {
        const struct run_beside *beside =
            (const struct run_beside *)g_ptr_array_index(result->beside, i - 1);

        if (!beside_fits(result, beside))
            g_ptr_array_remove_index(result->beside, i - 1);
    }
}

static void row_end(struct import_result *row)
{
    struct run_result *result = row->result;

    drop_beside_that_does_not_fit(result);
    if (result->metrics->len == 0 && !result->error)
        result->error = g_strdup(row->dropped->len ? "no metric of it is a finite number"
                                                   : "the file holds no metric of it");
    if (row->info) {
        char *dump = json_dumps(row->info, JSON_COMPACT);

        result->info_json = dump ? run_map_text(dump) : NULL;
        free(dump);
    }
}

static void take_map(json_t *map, char **slot)
{
    char *dump = json_object_size(map) && !*slot ? json_dumps(map, JSON_COMPACT) : NULL;

    if (dump)
        *slot = run_map_text(dump);
    free(dump);
    json_decref(map);
}

void import_end(Import *import)
{
    for (guint i = 0; i < import->rows->len; i++)
        row_end((struct import_result *)g_ptr_array_index(import->rows, i));
    take_map(import->context, &import->run->context_json);
    take_map(import->environment, &import->run->environment_json);
    import_fill_facts(import);
    if (import->n_warnings > IMPORT_WARNINGS_MAX)
        g_ptr_array_add(
            import->warnings,
            g_strdup_printf("and %u further warnings", import->n_warnings - IMPORT_WARNINGS_MAX));
    json_decref(import->by_key);
    g_ptr_array_unref(import->rows);
}
