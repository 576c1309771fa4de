/* SPDX-License-Identifier: Apache-2.0
 * What one large upload costs, step by step and in CPU time: 4,000 results of a foreign format with
 * ten repetitions each, recognised, parsed, validated, hashed and stored, on a store that knows the
 * series already. Usage: bench_upload [ROUNDS [RESULTS [FOLDER]]] */
#include "schema/formats/format.h"
#include "tests/bench/bench_load.h"

#include <glib/gstdio.h>
#include <stdio.h>
#include <stdlib.h>

#define REPETITIONS 10

enum step { STEP_PARSE, STEP_VALIDATE, STEP_DIGEST, STEP_STORE, STEPS };
static const char *const step_names[] = {"recognise and parse", "print and validate", "digest",
                                         "store"};

/* Google Benchmark's JSON, as a real CI pushes it. */
static GString *make_file(guint n_results, guint round)
{
    GString *file =
        g_string_new("{\"context\":{\"date\":\"2026-12-01T00:00:00+00:00\",\"num_cpus\":2},"
                     "\"benchmarks\":[");
    for (guint i = 0; i < n_results * REPETITIONS; i++) {
        guint result = i / REPETITIONS;
        double value = 1000.5 + result + (double)((i * 7919u + round) % 977u) / 3;
        g_string_append_printf(
            file,
            "%s{\"name\":\"BM_Kernel%u/size:%u/threads:%u\",\"run_name\":\"BM_Kernel%u/size:%u/"
            "threads:%u\",\"run_type\":\"iteration\",\"repetitions\":%d,\"repetition_index\":%u,"
            "\"iterations\":1000,\"real_time\":%.10g,\"cpu_time\":%.10g,\"time_unit\":\"us\"}",
            i ? "," : "", result % 100, result / 100, result % 4, result % 100, result / 100,
            result % 4, REPETITIONS, i % REPETITIONS, value, value * 0.97);
    }
    g_string_append(file, "]}");
    return file;
}

static Run *parse(const GString *file, guint round)
{
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
    Run *run = run_new();
    struct format_reading reading = {.run = run, .warnings = warnings, .faults = faults};
    if (!format_read(&reading, file->str, file->len, NULL))
        exit(1);
    run->id = g_strdup_printf("upload-%u", round);
    run->project = g_strdup("demo");
    run->machine = g_strdup("box");
    run->commit.sha = bench_load_sha_of(round);
    return run;
}

static Run *validate(Run *run)
{
    g_autoptr(GString) text = g_string_new(NULL);
    g_autoptr(Faults) faults = faults_new();
    run_print(run, text);
    run_free(run);
    run = run_parse(text->str, text->len, faults, NULL);
    if (!run)
        exit(1);
    return run;
}

static void put(Store *store, Run *run, char *digest)
{
    struct bench_client client = {.peer = store};
    pthread_mutex_init(&client.mutex, NULL);
    pthread_cond_init(&client.changed, NULL);
    store_put_run(store, run, digest, bench_load_client_stored, &client);
    bench_load_client_wait(&client);
}

static void upload(Store *store, const GString *file, guint round, double cpu[STEPS])
{
    double start = bench_load_cpu_seconds(), now;
    Run *run = parse(file, round);
    cpu[STEP_PARSE] += (now = bench_load_cpu_seconds()) - start;
    start = now;
    run = validate(run);
    cpu[STEP_VALIDATE] += (now = bench_load_cpu_seconds()) - start;
    start = now;
    char *digest = run_digest(run);
    cpu[STEP_DIGEST] += (now = bench_load_cpu_seconds()) - start;
    put(store, run, digest);
    cpu[STEP_STORE] += bench_load_cpu_seconds() - now;
}

int main(int argc, char **argv)
{
    guint n_rounds = argc > 1 ? (guint)g_ascii_strtoull(argv[1], NULL, 10) : 5;
    guint n_results = argc > 2 ? (guint)g_ascii_strtoull(argv[2], NULL, 10) : 4000;
    g_autofree char *folder =
        argc > 3 ? g_strdup(argv[3]) : g_dir_make_tmp("bench-upload-XXXXXX", NULL);
    g_autofree char *path = g_build_filename(folder, "upload.db", NULL);
    Store *store = bench_load_open(path);
    double first[STEPS] = {0}, cpu[STEPS] = {0}, wall = 0, total = 0;
    for (guint round = 0; round <= n_rounds; round++) {
        GString *file = make_file(n_results, round);
        double start = bench_load_now_seconds();
        upload(store, file, round, round ? cpu : first);
        wall += round ? bench_load_now_seconds() - start : 0;
        if (round == n_rounds)
            printf("%u results, %u samples, %.1f MB; CPU ms: first upload, then each\n", n_results,
                   n_results * REPETITIONS * 2, (double)file->len / 1e6);
        g_string_free(file, TRUE);
    }
    for (int i = 0; i < STEPS; i++) {
        printf("  %-20s %8.1f %8.1f\n", step_names[i], first[i] * 1e3, cpu[i] / n_rounds * 1e3);
        total += cpu[i];
    }
    printf("  %-20s %8s %8.1f   (%.1f ms wall)\n", "all", "", total / n_rounds * 1e3,
           wall / n_rounds * 1e3);
    store_close(store);
    bench_load_remove(path);
    if (argc <= 3)
        g_rmdir(folder);
    return 0;
}
