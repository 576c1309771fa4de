/* SPDX-License-Identifier: Apache-2.0
 * Ids that no two senders share. Any thread. */
#include "runner/uuid.h"

#include <errno.h>
#include <sys/random.h>

char *uuid_new_v7(int64_t time_ms, GError **error)
{
    unsigned char random[10];
    if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "no random bits for an id: %s",
                    g_strerror(errno));
        return NULL;
    }
    uint64_t time = (uint64_t)time_ms & 0xffffffffffffull;
    unsigned low = (random[0] & 0x0fu) << 8 | random[1];
    unsigned variant = 0x8000u | (random[2] & 0x3fu) << 8 | random[3];
    uint64_t node = 0;
    for (int i = 4; i < 10; i++)
        node = node << 8 | random[i];
    return g_strdup_printf("%08" G_GINT64_MODIFIER "x-%04" G_GINT64_MODIFIER
                           "x-7%03x-%04x-%012" G_GINT64_MODIFIER "x",
                           time >> 16, time & 0xffff, low, variant, node);
}
