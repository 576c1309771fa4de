/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner post: sends files of results, or what waits in the spool. All files are read and
 * checked before the first is sent. Main thread. */
#include "runner/command.h"

#include "runner/interrupt.h"
#include "runner/nearest.h"
#include "runner/posting.h"
#include "runner/report.h"
#include "runner/show/console.h"
#include "schema/formats/format.h"
#include <string.h>

#define POST_FILES_MAX 1000u

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTIONS_IDENTITY,
    PROVENANCE_OPTIONS,
    {"format", 'f', OPTION_VALUE, "NAME",
     "Format of the files: breakeven.run/1 (default), auto, or a tool's (google-benchmark, "
     "hyperfine, "
     "go, …: deploy/docs/formats.md)"},
    {"id", 0, OPTION_VALUE, "ID", "Id of the run (hash of project, commit, machine and file)"},
    {"spool", 0, OPTION_FLAG, NULL, "Deliver what waits in the spool"},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Print the documents that would be sent, and stop"},
    {0},
};

static const struct option_usage usage = {
    .command = "post",
    .arguments = "FILE…",
    .summary = "Posts files of results to a server (- is the standard input), or what waits in the "
               "spool.\n"
               "--project, --machine, --commit and their like go with a foreign format; a run "
               "document says its own.",
    .examples =
        "Examples:\n"
        "  breakeven-runner post --server http://127.0.0.1:8080 run.json\n"
        "  breakeven-runner post --server http://127.0.0.1:8080 --format google-benchmark "
        "--project arrow bench.json\n"
        "  hyperfine --export-json times.json 'sleep 0.1' && breakeven-runner post --server "
        "http://127.0.0.1:8080 --format auto times.json\n"
        "  breakeven-runner post --spool\n"
        "\nExit: 0 fine, 2 usage or a file that is not valid, 4 not delivered (it waits in "
        "the spool) or refused, 130 interrupted\n",
    .specs = specs,
};

static const char *const foreign_only[] = {"project", "machine", "commit", "branch", "parents",
                                           "time",    "reason",  "id",     NULL};

static bool set_unknown_format(const char *name, GError **error)
{
    g_autoptr(GPtrArray) names = g_ptr_array_new();
    g_ptr_array_add(names, (gpointer)(guintptr)POSTING_FORMAT);
    for (const struct format *const *format = formats; *format; format++)
        g_ptr_array_add(names, (gpointer)(guintptr)(*format)->name);
    g_autofree char *hint = nearest_hint(name, (const char *const *)names->pdata, names->len, "");
    g_autofree char *foreign = format_names();
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "--format %s: there is no such format%s (there are: %s, %s, %s)", name, hint,
                POSTING_FORMAT, FORMAT_AUTO, foreign);
    return false;
}

static bool check_options(const Options *options, const char *format, bool is_foreign,
                          GError **error)
{
    guint n_files = options_arguments(options)->len;
    bool is_spool = options_flag(options, "spool");
    if (is_spool && (n_files > 0 || options_flag(options, "dry-run"))) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--spool posts what waits; it takes no file and no --dry-run");
        return false;
    }
    if (!is_spool && n_files == 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "post needs a file, as in post run.json, or --spool");
        return false;
    }
    if (n_files > POST_FILES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "post takes at most %u files at once",
                    POST_FILES_MAX);
        return false;
    }
    if (is_foreign && strcmp(format, FORMAT_AUTO) != 0 && !format_find(format))
        return set_unknown_format(format, error);
    if (options_value(options, "id") && n_files > 1) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--id names one run; post one file with it");
        return false;
    }
    for (const char *const *name = foreign_only; *name && !is_foreign; name++)
        if (options_flag(options, *name)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                        "--%s goes with --format of a foreign format; a run document says its own",
                        *name);
            return false;
        }
    return true;
}

/* All files, read and checked; NULL where one of them cannot be sent. */
static GPtrArray *read_files(const Options *options, const char *format,
                             const Provenance *provenance, GError **error)
{
    g_autoptr(GPtrArray) postings = g_ptr_array_new_with_free_func((GDestroyNotify)posting_free);
    const GPtrArray *files = options_arguments(options);
    for (guint i = 0; i < files->len; i++) {
        const char *path = (const char *)files->pdata[i];
        g_autoptr(Faults) faults = faults_new();
        Posting *posting =
            posting_read(path, format, provenance, options_value(options, "id"), faults, error);
        if (!posting) {
            report_faults(path, faults);
            g_prefix_error(error, "%s: ", path);
            return NULL;
        }
        for (guint w = 0; w < posting->warnings->len; w++)
            console_message("%s: %s", path, (const char *)posting->warnings->pdata[w]);
        g_ptr_array_add(postings, posting);
    }
    return g_steal_pointer(&postings);
}

static int send_all(Delivery *delivery, const Settings *settings, const GPtrArray *postings,
                    GError **error)
{
    int worst = EXIT_FINE;
    for (guint i = 0; i < postings->len; i++) {
        const Posting *posting = (const Posting *)postings->pdata[i];
        int code = report_send(delivery, settings, posting->run, posting->document, true, error);
        if (code == COMMAND_FAILED || code == EXIT_INTERRUPTED)
            return code;
        worst = MAX(worst, code);
    }
    return worst;
}

static int post_files(const Options *options, const Settings *settings, const char *format,
                      bool is_foreign, GError **error)
{
    bool is_dry = options_flag(options, "dry-run");
    if (!is_dry && !command_needs_server(settings, error))
        return COMMAND_FAILED;
    g_autoptr(Provenance) provenance =
        is_foreign ? provenance_gather(options, settings, error) : NULL;
    if (is_foreign && !provenance)
        return COMMAND_FAILED;
    g_autoptr(GPtrArray) postings = read_files(options, format, provenance, error);
    if (!postings)
        return COMMAND_FAILED;
    for (guint i = 0; is_dry && i < postings->len; i++)
        console_print("%s\n", ((const Posting *)postings->pdata[i])->document->str);
    if (is_dry)
        return EXIT_FINE;
    g_autoptr(Delivery) delivery = report_open_delivery(settings, error);
    return delivery ? send_all(delivery, settings, postings, error) : COMMAND_FAILED;
}

static int post_spool(const Settings *settings, GError **error)
{
    if (!command_needs_server(settings, error))
        return COMMAND_FAILED;
    g_autoptr(Delivery) delivery = report_open_delivery(settings, error);
    struct delivery_totals totals = {0};
    if (!delivery || !delivery_drain(delivery, &totals, error))
        return COMMAND_FAILED;
    console_message("spool %s: %u delivered, %u refused, %u waiting", settings->spool_dir,
                    totals.stored, totals.refused, totals.waiting);
    if (totals.others > 0)
        console_message("%u more wait for other servers; name theirs by --server", totals.others);
    if (interrupt_requested())
        return EXIT_INTERRUPTED;
    return totals.refused + totals.waiting > 0 ? EXIT_UNDELIVERED : EXIT_FINE;
}

int command_post(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    if (!options)
        return code;
    const char *given = options_value(options, "format");
    const char *format = given ? given : POSTING_FORMAT;
    bool is_foreign = strcmp(format, POSTING_FORMAT) != 0;
    g_autoptr(Settings) settings = NULL;
    if (!check_options(options, format, is_foreign, error) ||
        !(settings = settings_read(options, error)))
        return COMMAND_FAILED;
    if (options_flag(options, "spool"))
        return post_spool(settings, error);
    return post_files(options, settings, format, is_foreign, error);
}
