/* SPDX-License-Identifier: Apache-2.0
 * See demo_plan.h. */
#include "server/demo/demo_plan.h"

#include <string.h>

const struct demo_machine demo_machines[DEMO_MACHINES] = {
    {"lab-1", "64 cores, 3.25 GHz", 64, "6.1.0-18", NULL, 0, 1, 0, DEMO_COMMITS, 1, 1},
    {"lab-2", "16 cores, 3.6 GHz", 16, "6.1.0-18", "6.1.0-25", 300, 1, 19, 396, 0.84, 1.4},
    {"board-1", "4 cores, 2.4 GHz", 4, "6.6.31", NULL, 0, 5, 0, DEMO_COMMITS, 3.1, 2.2},
};

/* clang-format off */
const struct demo_bench demo_benches[] = {
    {"ArenaAllocate",    DEMO_BYTES,     0.031,  SYNTHETIC_NORMAL,     0.006, 0, 0},
    {"BTreeInsert",      DEMO_BYTES,     1.9,    SYNTHETIC_NORMAL,     0.010, 0, 0},
    {"Base64Encode",     DEMO_BYTES,     0.42,   SYNTHETIC_NORMAL,     0.004, 0, 0},
    {"BitmapIntersect",  DEMO_BYTES,     0.011,  SYNTHETIC_HEAVY,      0.008, 0, 0},
    {"ChannelSend",      DEMO_THREADS,   92,     SYNTHETIC_BIMODAL,    0.012, 0, 0},
    {"CoroutineResume",  DEMO_ALONE,     3.4,    SYNTHETIC_NORMAL,     0.005, 0, 0},
    {"Crc32",            DEMO_BYTES,     0.085,  SYNTHETIC_NORMAL,     0.003, 0, 0},
    {"CsvRead",          DEMO_FILES,     1.15,   SYNTHETIC_CORRELATED, 0.012, 0, 0},
    {"FutureThen",       DEMO_ALONE,     64,     SYNTHETIC_NORMAL,     0.010, 0, 0},
    {"HashMapInsert",    DEMO_BYTES,     0.74,   SYNTHETIC_NORMAL,     0.009, 0, 0},
    {"HashMapLookup",    DEMO_BYTES,     0.22,   SYNTHETIC_HEAVY,      0.010, 0, 0},
    {"HttpParseRequest", DEMO_ALONE,     810,    SYNTHETIC_NORMAL,     0.007, 0, 0},
    {"JsonParse",        DEMO_FILES,     1.7,    SYNTHETIC_NORMAL,     0.008, 0, 0},
    {"JsonPrint",        DEMO_FILES,     0.93,   SYNTHETIC_NORMAL,     0.008, 0, 0},
    {"LogLine",          DEMO_ALONE,     390,    SYNTHETIC_SPIKY,      0.015, 0, 330},
    {"LogRecord",        DEMO_ALONE,     350,    SYNTHETIC_SPIKY,      0.015, 330, 0},
    {"LruCacheGet",      DEMO_THREADS,   58,     SYNTHETIC_NORMAL,     0.012, 0, 0},
    {"Lz4Compress",      DEMO_BYTES,     1.35,   SYNTHETIC_NORMAL,     0.005, 0, 0},
    {"Lz4Decompress",    DEMO_BYTES,     0.33,   SYNTHETIC_NORMAL,     0.005, 0, 0},
    {"MallocSmall",      DEMO_THREADS,   21,     SYNTHETIC_DRIFT,      0.010, 0, 0},
    {"MutexContended",   DEMO_THREADS,   130,    SYNTHETIC_HEAVY,      0.045, 0, 0},
    {"MutexUncontended", DEMO_ALONE,     8.6,    SYNTHETIC_NORMAL,     0.004, 0, 0},
    {"ParallelFor",      DEMO_THREADS,   420,    SYNTHETIC_SPIKY,      0.014, 0, 0},
    {"ParallelReduce",   DEMO_THREADS,   510,    SYNTHETIC_NORMAL,     0.014, 0, 0},
    {"ParallelSort",     DEMO_THREADS,   9100,   SYNTHETIC_CORRELATED, 0.012, 0, 0},
    {"QueuePushPop",     DEMO_THREADS,   47,     SYNTHETIC_BIMODAL,    0.018, 0, 0},
    {"RegexMatch",       DEMO_ALONE,     2300,   SYNTHETIC_NORMAL,     0.009, 0, 0},
    {"RingBufferWrite",  DEMO_BYTES,     0.06,   SYNTHETIC_NORMAL,     0.008, 0, 0},
    {"RouteLookup",      DEMO_ALONE,     128,    SYNTHETIC_NORMAL,     0.006, 0, 0},
    {"SemaphoreHandOff", DEMO_ALONE,     2900,   SYNTHETIC_BIMODAL,    0.030, 0, 0},
    {"SerialTaskGroup",  DEMO_ALONE,     33,     SYNTHETIC_NORMAL,     0.006, 0, 0},
    {"Sha256",           DEMO_BYTES,     0.61,   SYNTHETIC_NORMAL,     0.003, 0, 0},
    {"SharedMutexRead",  DEMO_THREADS,   36,     SYNTHETIC_NORMAL,     0.020, 0, 0},
    {"SpinLockContended", DEMO_THREADS,  75,     SYNTHETIC_HEAVY,      0.060, 0, 0},
    {"StringConcat",     DEMO_BYTES,     0.14,   SYNTHETIC_NORMAL,     0.007, 180, 0},
    {"ThreadPoolIdle",   DEMO_THREADS,   5200,   SYNTHETIC_SPIKY,      0.025, 0, 0},
    {"ThreadPoolSpawn",  DEMO_EXECUTORS, 720,    SYNTHETIC_NORMAL,     0.011, 0, 0},
    {"ThreadedTaskGroup", DEMO_EXECUTORS, 810,   SYNTHETIC_NORMAL,     0.012, 0, 0},
    {"TimerWheelInsert", DEMO_ALONE,     41,     SYNTHETIC_NORMAL,     0.007, 0, 0},
    {"Utf8Validate",     DEMO_BYTES,     0.05,   SYNTHETIC_NORMAL,     0.004, 0, 0},
};
const guint demo_n_benches = G_N_ELEMENTS(demo_benches);

/* A commit whose number is here did what its subject says. */
enum {
    NODES = 96, WAKE_UPS = 138, WAKE_UPS_BACK = 151, FREE_LIST = 205, HASHES = 250, BACKTRACK = 340, UTF8 = 372, ONE_LOCK = 378,
    FOLD = 384, QUOTES = 397
};

const struct demo_move demo_moves[] = {
    {"BTreeInsert",                          NULL,            DEMO_EVERYWHERE, {NODES, 1, -0.12}},
    {"ThreadPoolSpawn|ThreadedTaskGroup",    "executor=fifo", DEMO_EVERYWHERE, {WAKE_UPS, 1, 0.14}},
    {"ThreadPoolSpawn|ThreadedTaskGroup",    "executor=fifo", DEMO_EVERYWHERE, {WAKE_UPS_BACK, 1, 1 / 1.14 - 1}},
    {"ArenaAllocate|MallocSmall|FutureThen", NULL,            DEMO_EVERYWHERE, {FREE_LIST, 1, -0.16}},
    {"HashMapInsert",                        NULL,            DEMO_EVERYWHERE, {HASHES, 24, 0.13}},
    {"Mutex|SpinLock|Semaphore|SharedMutex|ThreadPool", NULL, 1,               {300, 1, 0.07}},
    {"RegexMatch",                           NULL,            DEMO_EVERYWHERE, {BACKTRACK, 1, 0.35}},
    {"JsonParse",                            NULL,            DEMO_EVERYWHERE, {UTF8, 1, 0.18}},
    {"LruCacheGet",                          "threads=8",     DEMO_EVERYWHERE, {ONE_LOCK, 1, 0.11}},
    {"Crc32",                                NULL,            DEMO_EVERYWHERE, {FOLD, 1, -0.22}},
    {"CsvRead",                              NULL,            DEMO_EVERYWHERE, {QUOTES, 1, 0.09}},
};
const guint demo_n_moves = G_N_ELEMENTS(demo_moves);

static const struct {
    guint commit;
    const char *subject;
} told[] = {
    {NODES,         "btree: a node fills two cache lines"},
    {WAKE_UPS,      "pool: wake-ups are counted under the lock"},
    {WAKE_UPS_BACK, "Revert \"pool: wake-ups are counted under the lock\""},
    {FREE_LIST,     "arena: small blocks come from a free list"},
    {HASHES,        "hash map: keys keep their hash (1 of 24)"},
    {BACKTRACK,     "regex: back references"},
    {UTF8,          "json: UTF-8 is checked while parsing"},
    {ONE_LOCK,      "lru cache: one lock for all shards"},
    {FOLD,          "crc32: four words are folded at a time"},
    {QUOTES,        "csv: quotes within quotes"},
};
/* clang-format on */

static const char *const subjects[] = {
    "docs: how a sample is taken",
    "build: warnings are errors with clang, too",
    "tests: the queue under many producers",
    "http: header names are compared without case",
    "log: times with milliseconds",
    "pool: names of threads",
    "json: numbers keep their digits",
    "tests: a clock that can be set",
    "arena: the last block is kept",
    "cache: entries tell their age",
    "docs: what the units mean",
    "timer: cancelled entries leave at once",
    "csv: the separator is an option",
    "route: parameters in paths",
    "build: one list of sources",
    "string: fewer temporary copies",
    "tests: input that is cut at each byte",
};

static const char *const authors[] = {"Pool maintainers", "Parser maintainers",
                                      "Storage maintainers", "Build robot"};

bool demo_move_takes(const struct demo_move *move, const char *bench)
{
    g_auto(GStrv) prefixes = g_strsplit(move->benches, "|", 0);
    for (char **prefix = prefixes; *prefix; prefix++)
        if (g_str_has_prefix(bench, *prefix))
            return true;
    return false;
}

const char *demo_subject(guint commit)
{
    for (guint i = 0; i < G_N_ELEMENTS(told); i++)
        if (told[i].commit == commit)
            return told[i].subject;
    return subjects[commit * 7 % G_N_ELEMENTS(subjects)];
}

const char *demo_author(guint commit)
{
    return authors[commit * 5 % 13 % G_N_ELEMENTS(authors)];
}
