/* SPDX-License-Identifier: Apache-2.0
 * See rename_body.h. */
#include "server/api/rename_body.h"

#include "schema/document.h"
#include "schema/text.h"
#include <string.h>

#define EXAMPLE        "{\"alias_of\":\"New\"}, {\"alias_of\":null} or {\"rename\":\"New\"}"
#define EXAMPLE_VALUES EXAMPLE " or {\"values\":{\"executor\":{\"fifo2\":\"fifo\"}}}"

static void take_target(struct reading at, json_t *value, bool may_be_null,
                        struct store_rename *rename, Faults *faults)
{
    const char *text = json_string_value(value);
    size_t bytes_max =
        rename->kind == STORE_RENAME_MACHINE ? RUN_NAME_BYTES_MAX : RUN_BENCH_BYTES_MAX;
    if (json_is_null(value) && may_be_null)
        return;
    if (!text) {
        document_fault(at, may_be_null ? "is no name; give one, or null to take it back"
                                       : "is no name");
        return;
    }
    g_autofree char *problem = text_name_problem(text, json_string_length(value), bytes_max);
    if (problem)
        document_fault(at, "%s", problem);
    if (faults->found == 0)
        rename->target = g_strdup(text);
}

/* A value of a parameter as parameters are compared. */
static char *canonical(const json_t *value)
{
    struct run_result *holder = run_result_new("");
    if (json_is_number(value))
        run_result_add_param_number(holder, "v", json_number_value(value));
    else if (json_is_boolean(value))
        run_result_add_param(holder, "v", json_is_true(value) ? "true" : "false");
    else
        run_result_add_param(holder, "v", json_string_value(value));
    char *text = g_strdup(((const struct run_param *)g_ptr_array_index(holder->params, 0))->value);
    run_result_free(holder);
    return text;
}

static char *canonical_text(const char *text)
{
    json_t *value = json_string(text);
    char *result = canonical(value);
    json_decref(value);
    return result;
}

struct values_of {
    struct store_rename *rename;
    const char *param;
};

static void take_value(struct reading at, const char *key, json_t *value, void *user)
{
    const struct values_of *of = (const struct values_of *)user;
    bool is_scalar = json_is_string(value) || json_is_number(value) || json_is_boolean(value);
    if (!is_scalar && !json_is_null(value)) {
        document_fault(at, "is no value of a parameter; give a string, number or boolean, or null "
                           "to take it back");
        return;
    }
    if (of->rename->values->len >= RENAME_BODY_VALUES_MAX) {
        document_fault(at, "is one value too many; up to %u are taken at once",
                       RENAME_BODY_VALUES_MAX);
        return;
    }
    struct store_value_name *name = g_new0(struct store_value_name, 1);
    name->param = g_strdup(of->param);
    name->value = canonical_text(key);
    name->target = is_scalar ? canonical(value) : NULL;
    g_ptr_array_add(of->rename->values, name);
}

static void take_param(struct reading at, const char *key, json_t *value, void *user)
{
    struct values_of of = {.rename = (struct store_rename *)user, .param = key};
    document_each_member(at, value, RENAME_BODY_VALUES_MAX, take_value, &of);
}

static void take_member(struct reading at, const char *key, json_t *value, void *user)
{
    struct store_rename *rename = (struct store_rename *)user;
    bool is_benchmark = rename->project != NULL;
    if (strcmp(key, "alias_of") == 0) {
        take_target(at, value, true, rename, at.faults);
    } else if (strcmp(key, "rename") == 0) {
        rename->is_new = true;
        take_target(at, value, false, rename, at.faults);
    } else if (strcmp(key, "values") == 0 && is_benchmark) {
        rename->kind = STORE_RENAME_VALUES;
        document_each_member(at, value, RENAME_BODY_VALUES_MAX, take_param, rename);
        if (at.faults->found == 0 && rename->values->len == 0)
            document_fault(at, "names no value");
    } else {
        document_fault(at, "is not known; give %s", is_benchmark ? EXAMPLE_VALUES : EXAMPLE);
    }
}

struct store_rename *rename_body_parse(const char *project, const char *name, const char *bytes,
                                       size_t length, Faults *faults, GError **error)
{
    if (length > RENAME_BODY_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "a rename has %zu bytes; up to %u are taken", length, RENAME_BODY_BYTES_MAX);
        return NULL;
    }
    json_t *root = document_load(bytes, length, error);
    if (!root)
        return NULL;
    struct store_rename *rename = g_new0(struct store_rename, 1);
    rename->kind = project ? STORE_RENAME_BENCHMARK : STORE_RENAME_MACHINE;
    rename->project = g_strdup(project);
    rename->name = g_strdup(name);
    rename->values = g_ptr_array_new();
    const struct place whole = {0};
    struct reading at = {.faults = faults, .place = &whole};
    if (!json_is_object(root) || json_object_size(root) != 1)
        faults_add(faults, "", "is not one of %s", project ? EXAMPLE_VALUES : EXAMPLE);
    else
        document_each_member(at, root, 1, take_member, rename);
    json_decref(root);
    if (document_conclude(faults, error))
        return rename;
    store_rename_free(rename);
    return NULL;
}
