/* SPDX-License-Identifier: Apache-2.0
 * The published figures, and the text that sets others beside them. It writes nothing itself. Pure;
 * any thread. */
#include "runner/show/seed_tables.h"

#include "runner/measure/histogram.h"
#include "runner/show/table.h"
#include "schema/summary.h"
#include <string.h>

#define EXECUTORS_MAX 32u
#define NAME_WIDTH    41
#define CELL_WIDTH    10
#define NS_PER_US     1000.0

struct arrow_row {
    const char *bench;
    unsigned threads; /* 0: none */
    unsigned task_cost;
    double printed;
    char unit;
};

static const struct arrow_row arrow[] = {
    {"WorkloadCost", 0, 1000, 1.317, 'M'},       {"WorkloadCost", 0, 10000, 133, 'k'},
    {"WorkloadCost", 0, 100000, 13.3, 'k'},      {"ThreadPoolSpawn", 1, 1000, 1.164, 'M'},
    {"ThreadPoolSpawn", 2, 1000, 1.202, 'M'},    {"ThreadPoolSpawn", 4, 1000, 436, 'k'},
    {"ThreadPoolSpawn", 8, 1000, 290, 'k'},      {"ThreadPoolSpawn", 1, 10000, 130, 'k'},
    {"ThreadPoolSpawn", 2, 10000, 231, 'k'},     {"ThreadPoolSpawn", 4, 10000, 423, 'k'},
    {"ThreadPoolSpawn", 8, 10000, 860, 'k'},     {"ThreadPoolSpawn", 1, 100000, 13.1, 'k'},
    {"ThreadPoolSpawn", 2, 100000, 24.1, 'k'},   {"ThreadPoolSpawn", 4, 100000, 42.9, 'k'},
    {"ThreadPoolSpawn", 8, 100000, 93.6, 'k'},   {"SerialTaskGroup", 0, 1000, 1.140, 'M'},
    {"SerialTaskGroup", 0, 10000, 117, 'k'},     {"SerialTaskGroup", 0, 100000, 11.7, 'k'},
    {"ThreadedTaskGroup", 1, 1000, 755, 'k'},    {"ThreadedTaskGroup", 2, 1000, 919, 'k'},
    {"ThreadedTaskGroup", 4, 1000, 382, 'k'},    {"ThreadedTaskGroup", 8, 1000, 270, 'k'},
    {"ThreadedTaskGroup", 1, 10000, 99.4, 'k'},  {"ThreadedTaskGroup", 2, 10000, 179, 'k'},
    {"ThreadedTaskGroup", 4, 10000, 342, 'k'},   {"ThreadedTaskGroup", 8, 10000, 633, 'k'},
    {"ThreadedTaskGroup", 1, 100000, 10.4, 'k'}, {"ThreadedTaskGroup", 2, 100000, 18.7, 'k'},
    {"ThreadedTaskGroup", 4, 100000, 36.4, 'k'}, {"ThreadedTaskGroup", 8, 100000, 61.6, 'k'},
};

/* Microseconds; the direct call's were not given but for "less than 1". */
struct blog_row {
    const char *executor;
    const char *title;
    const char *push, *start, *reply;
};

static const struct blog_row blog[] = {
    {"libdispatch", "Grand Central Dispatch", "13", "20", "143"},
    {"performselector", "performSelector", "57", "97", "194"},
    {"nsthread", "NSThread", "58", "103", "198"},
    {"direct", "direct call", "-", "-", "< 1"},
};

double seed_tables_decimal(double printed, char unit)
{
    return printed * (unit == 'M' ? 1048576.0 : 1024.0);
}

static const char *param_of(const struct run_result *result, const char *name)
{
    for (guint i = 0; i < result->params->len; i++) {
        const struct run_param *param = (const struct run_param *)result->params->pdata[i];
        if (strcmp(param->name, name) == 0)
            return param->value;
    }
    return "";
}

/* The names of the executors that have results of a benchmark, in their order. */
static guint executors_of(const GPtrArray *results, const char *bench_prefix, const char **out)
{
    guint n = 0;
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        const char *executor = param_of(result, "executor");
        bool is_new = *executor && g_str_has_prefix(result->bench, bench_prefix);
        for (guint seen = 0; is_new && seen < n; seen++)
            is_new = strcmp(out[seen], executor) != 0;
        if (is_new && n < EXECUTORS_MAX)
            out[n++] = executor;
    }
    return n;
}

static void append_cell(GString *out, const char *text)
{
    gsize width = (gsize)g_utf8_strlen(text, -1);
    g_string_append_printf(out, "  %*s%s", (int)(width < CELL_WIDTH ? CELL_WIDTH - width : 0), "",
                           text);
}

static void append_name(GString *out, const char *text)
{
    gsize width = (gsize)g_utf8_strlen(text, -1);
    g_string_append_printf(out, "%s%*s", text, (int)(width < NAME_WIDTH ? NAME_WIDTH - width : 0),
                           "");
}

/* Arrow's table. */

static bool is_arrow_cell(const struct run_result *result, const struct arrow_row *row,
                          const char *executor)
{
    const char *threads = param_of(result, "threads"), *own = param_of(result, "executor");
    /* WorkloadCost has no executor: it is a direct call. A plain call has no threads. */
    bool is_executor = strcmp(*own ? own : "direct", executor) == 0;
    bool is_threads = !*threads || g_ascii_strtoull(threads, NULL, 10) == row->threads;
    return strcmp(result->bench, row->bench) == 0 && is_executor && is_threads &&
           g_ascii_strtoull(param_of(result, "task_cost"), NULL, 10) == row->task_cost &&
           !*param_of(result, "placement");
}

static char *arrow_cell(const GPtrArray *results, const struct arrow_row *row, const char *executor)
{
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        if (!is_arrow_cell(result, row, executor))
            continue;
        const struct run_metric *rate = table_metric(result, "items_per_second");
        return rate ? table_rate(summary_in_result(result, rate).center) : g_strdup("error");
    }
    return g_strdup("-");
}

static void append_arrow_row(GString *out, const GPtrArray *results, const struct arrow_row *row,
                             const char *const *executors, guint n_executors)
{
    g_autofree char *threads =
        row->threads ? g_strdup_printf("/threads:%u", row->threads) : g_strdup("");
    g_autofree char *name =
        g_strdup_printf("%s%s/task_cost:%u", row->bench, threads, row->task_cost);
    g_autofree char *printed = row->unit == 'M' ? g_strdup_printf("%.3fM", row->printed)
                                                : g_strdup_printf("%.4gk", row->printed);
    g_autofree char *decimal = table_rate(seed_tables_decimal(row->printed, row->unit));
    append_name(out, name);
    append_cell(out, printed);
    append_cell(out, decimal);
    for (guint e = 0; e < n_executors; e++) {
        g_autofree char *cell = arrow_cell(results, row, executors[e]);
        append_cell(out, cell);
    }
    g_string_append_c(out, '\n');
}

static void append_arrow(GString *out, const GPtrArray *results)
{
    const char *executors[EXECUTORS_MAX];
    guint n = executors_of(results, "ThreadPoolSpawn", executors);
    g_string_append(
        out, "Apache Arrow's table of 9 January 2019 (ARROW-4177, AMD of 8 cores), items/s, beside "
             "the medians of this machine\n\n");
    append_name(out, "");
    append_cell(out, "2019, as");
    append_cell(out, "the same,");
    append_cell(out, n ? "here:" : "");
    g_string_append_c(out, '\n');
    append_name(out, "Benchmark");
    append_cell(out, "printed");
    append_cell(out, "decimal");
    for (guint e = 0; e < n; e++)
        append_cell(out, executors[e]);
    g_string_append_c(out, '\n');
    for (gsize i = 0; i < G_N_ELEMENTS(arrow); i++)
        append_arrow_row(out, results, &arrow[i], executors, n);
    g_string_append(
        out, "\nUnits: Google Benchmark of 2019 printed items/s in binary units, k for 2^10 and M "
             "for 2^20: 1.317M is 1.381 million a\nsecond, which fits its 724 ns a call. All other "
             "figures are decimal. task_cost counts shift-and-subtract steps: 1000 is\nabout 0.7 "
             "us. A plain call (direct) has no threads: its figure stands in each row. Where "
             "threads are more than the CPUs,\nfigures tell of sharing a CPU.\n");
}

/* The table of 2009. */

static char *us_text(double ns)
{
    double us = ns / NS_PER_US;
    return us < 10 ? g_strdup_printf("%.2f", us) : g_strdup_printf("%.0f", us);
}

static char *blog_cell(const GPtrArray *results, const char *bench, const char *executor,
                       const char *pause)
{
    for (guint i = 0; i < results->len; i++) {
        const struct run_result *result = (const struct run_result *)results->pdata[i];
        if (strcmp(result->bench, bench) != 0 ||
            strcmp(param_of(result, "executor"), executor) != 0 ||
            strcmp(param_of(result, "pause_us"), pause) != 0 || *param_of(result, "placement"))
            continue;
        struct histogram_bounds bounds;
        const struct run_metric *latency = table_metric(result, "latency");
        return latency && histogram_metric_quantile(latency, 0.5, &bounds) ? us_text(bounds.middle)
                                                                           : g_strdup("error");
    }
    return g_strdup("-");
}

static void append_blog_row(GString *out, const GPtrArray *results, const char *executor)
{
    static const char *const pauses[] = {"first", "300"};
    static const char *const benches[] = {"DispatchPush", "DispatchStart", "DispatchReply"};
    const struct blog_row *published = NULL;
    for (gsize i = 0; i < G_N_ELEMENTS(blog); i++)
        if (strcmp(blog[i].executor, executor) == 0)
            published = &blog[i];
    g_autofree char *name =
        published ? g_strdup_printf("%s (%s)", published->title, executor) : g_strdup(executor);
    append_name(out, name);
    append_cell(out, published ? published->push : "-");
    append_cell(out, published ? published->start : "-");
    append_cell(out, published ? published->reply : "-");
    for (gsize p = 0; p < G_N_ELEMENTS(pauses); p++)
        for (gsize b = 0; b < G_N_ELEMENTS(benches); b++) {
            g_autofree char *cell = blog_cell(results, benches[b], executor, pauses[p]);
            append_cell(out, cell);
        }
    g_string_append_c(out, '\n');
}

static void append_blog_heads(GString *out)
{
    static const char *const over[] = {"2009:", "",      "",      "here,", "first",
                                       "push",  "here,", "after", "300 us"};
    static const char *const under[] = {"push",  "start", "reply", "push", "start",
                                        "reply", "push",  "start", "reply"};
    append_name(out, "");
    for (gsize i = 0; i < G_N_ELEMENTS(over); i++)
        append_cell(out, over[i]);
    g_string_append_c(out, '\n');
    append_name(out, "Microseconds");
    for (gsize i = 0; i < G_N_ELEMENTS(under); i++)
        append_cell(out, under[i]);
    g_string_append_c(out, '\n');
}

static void append_blog(GString *out, const GPtrArray *results)
{
    const char *executors[EXECUTORS_MAX];
    guint n = executors_of(results, "Dispatch", executors);
    g_string_append(out, "\nThe table of 2009 (Mac Pro of 8 cores), beside the medians of this "
                         "machine\n\n");
    append_blog_heads(out);
    for (gsize i = 0; i < G_N_ELEMENTS(blog); i++)
        append_blog_row(out, results, blog[i].executor);
    for (guint e = 0; e < n; e++) {
        bool is_published = false;
        for (gsize i = 0; i < G_N_ELEMENTS(blog); i++)
            is_published = is_published || strcmp(blog[i].executor, executors[e]) == 0;
        if (!is_published)
            append_blog_row(out, results, executors[e]);
    }
    g_string_append(
        out, "\npush: handing the task over, until that returns. start: until it runs in the "
             "background. reply: until its reply runs on\nthe main thread. 2009's are single "
             "clicks with what a first use costs, so the first push of a new process is what "
             "to\nset beside them; the other columns are pushes 300 us apart. Its author's "
             "break-even: work that takes less than the round\ntrip (some 150 us then) is done "
             "sooner by a plain call. \"-\": not measured here, or not published.\n");
}

GString *seed_tables_draw(const GPtrArray *results)
{
    GString *out = g_string_new(NULL);
    append_arrow(out, results);
    append_blog(out, results);
    return out;
}
