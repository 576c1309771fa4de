/* SPDX-License-Identifier: Apache-2.0
 * Fuzzing of what is read: queries, filters, cursors, selections, ranges and patterns go to the
 * product's own handlers, of the API and of the pages, on a store whose names are full of markup.
 * Each answer is whole and sound (exchange_check), and `next` of a list leads on to one. An input
 * is a request as exchange.h takes it; those that would change the store are passed over.
 * libFuzzer's entry point; replay.c feeds it what was kept. */
#include "tests/fuzz/world.h"
#include <string.h>

/* ---- One request ---- */

static bool changes_something(const char *text, size_t size)
{
    static const char *const reads[] = {"GET ", "HEAD ", "OPTIONS ",
                                        "POST /api/projects/demo/rules/try",
                                        "POST /api/projects/demo/retention/try"};
    for (gsize i = 0; i < G_N_ELEMENTS(reads); i++)
        if (size >= strlen(reads[i]) && memcmp(text, reads[i], strlen(reads[i])) == 0)
            return false;
    return true;
}

/* A list that says that there is more gives it. */
static void check_next(const struct exchange *exchange)
{
    const char *link = exchange_header(exchange, "Link");
    const char *path = link && exchange->status == 200 ? strstr(link, "/api/") : NULL;
    if (!path)
        return;
    g_autofree char *text =
        g_strdup_printf("GET %.*s\nHost: localhost:8080\n\n", (int)strcspn(path, ">"), path);
    world_must(text, 200);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct exchange exchange;
    if (changes_something((const char *)data, size))
        return 0;
    exchange_run(world_server(), (const char *)data, size, &exchange);
    exchange_check(&exchange);
    check_next(&exchange);
    exchange_clear(&exchange);
    return 0;
}
