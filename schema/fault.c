/* SPDX-License-Identifier: Apache-2.0
 * A bounded list of what is wrong with a document. It knows nothing of the document. One thread at
 * a time. */
#include "schema/fault.h"

static void fault_free(void *item)
{
    struct fault *fault = (struct fault *)item;

    g_free(fault->pointer);
    g_free(fault->message);
    g_free(fault);
}

Faults *faults_new(void)
{
    Faults *faults = g_new0(Faults, 1);

    faults->items = g_ptr_array_new_with_free_func(fault_free);
    return faults;
}

void faults_free(Faults *faults)
{
    if (!faults)
        return;
    g_ptr_array_unref(faults->items);
    g_free(faults);
}

void faults_add(Faults *faults, const char *pointer, const char *format, ...)
{
    struct fault *fault;
    va_list arguments;

    faults->found++;
    if (faults->items->len >= FAULTS_MAX)
        return;
    fault = g_new0(struct fault, 1);
    fault->pointer = g_strdup(pointer);
    va_start(arguments, format);
    fault->message = g_strdup_vprintf(format, arguments);
    va_end(arguments);
    g_ptr_array_add(faults->items, fault);
}
