/* SPDX-License-Identifier: Apache-2.0
 * breakeven-runner import: brings a history that another system kept. Each of its runs is posted by
 * itself, and is the same however often it is sent; one that cannot be taken is said and left out.
 * Main thread. */
#include "runner/command.h"

#include "runner/deliver/http_client.h"
#include "runner/git.h"
#include "runner/import_source.h"
#include "runner/interrupt.h"
#include "runner/posting.h"
#include "runner/report.h"
#include "runner/show/console.h"
#include "schema/text.h"
#include <jansson.h>
#include <string.h>

#define SAID_MAX       20u /* runs that are left out, each with a message of its own */
#define SHA_DIGITS_MIN 7u
#define SHA_DIGITS_MAX 64u
#define IMPORT_SECONDS 600u
#define HEX            "0123456789abcdef"

static const struct option_spec specs[] = {
    SETTINGS_OPTIONS_SERVER,
    SETTINGS_OPTION_PROJECT,
    {"machine", 'm', OPTION_VALUE, "NAME", "Machine (what the files say)"},
    {"branch", 'b', OPTION_VALUE, "NAME", "Branch of the commits (what the files say)"},
    {"from", 0, OPTION_VALUE, "SOURCE",
     "asv, codespeed, github-action-benchmark, google-benchmark-dir or lnt"},
    {"dry-run", 'n', OPTION_FLAG, NULL, "Print the documents that would be sent, and stop"},
    {0},
};

static const struct option_usage usage = {
    .command = "import",
    .arguments = "PATH…",
    .summary = "Brings histories that another system kept. PATH is\n"
               "  asv                      its folder results/\n"
               "  codespeed                a file of its manage.py dumpdata codespeed\n"
               "  github-action-benchmark  its data.js\n"
               "  google-benchmark-dir     a folder of its JSON files, each (or its folder) named "
               "after its commit\n"
               "  lnt                      a folder of its reports\n"
               "In a clone of the project the commits' facts come from git. What was imported "
               "before is not stored twice.",
    .examples = "Examples:\n"
                "  breakeven-runner import --from asv --server http://127.0.0.1:8080 --project "
                "numpy results/\n"
                "  breakeven-runner import --from github-action-benchmark --server "
                "http://127.0.0.1:8080 --machine ci-7 data.js\n"
                "\nExit: 0 fine, 2 usage or nothing that can be read, 3 some of it could not be "
                "taken; the rest was sent, 4 not delivered (it waits in the spool; send the rest "
                "again later), 130 interrupted\n",
    .specs = specs,
};

struct job {
    const Options *options;
    const Settings *settings;
    const struct format *format;
    Delivery *delivery; /* NULL: documents are printed */
    char *project;      /* of git; NULL: not known */
    guint n_taken, n_left_out;
    int code; /* EXIT_FINE, or why it stopped */
};

/* ---- The commit ---- */

/* The id that a file's name, or its folder's, holds: digits that are whole, or that git knows. */
static char *commit_in(const char *name)
{
    char *found = NULL;
    g_autofree char *lower = g_ascii_strdown(name, -1);
    for (const char *at = lower; *at && !found;) {
        gsize digits = strspn(at, HEX);
        g_autofree char *sha = g_strndup(at, digits);
        if (text_is_sha(sha))
            found = g_steal_pointer(&sha);
        else if (digits >= SHA_DIGITS_MIN && digits <= SHA_DIGITS_MAX)
            found = git_resolve(sha);
        at += digits ? digits : 1;
    }
    return found;
}

static char *commit_of(const struct import_item *item)
{
    if (!item->hint)
        return NULL;
    g_autofree char *base = g_path_get_basename(item->hint);
    g_autofree char *folder = g_path_get_dirname(item->hint);
    g_autofree char *parent = g_path_get_basename(folder);
    char *commit = commit_in(base);
    return commit ? commit : commit_in(parent);
}

/* What git knows of the commit, where this is a clone of it; and the project, where nobody says. */
static void complete(Run *run, void *user)
{
    const struct job *job = (const struct job *)user;
    struct run_commit *commit = &run->commit;
    if (!run->project)
        run->project = g_strdup(job->project);
    g_autoptr(GitFacts) facts = commit->sha ? git_read(commit->sha, 0, NULL) : NULL;
    if (!facts)
        return;
    if (!commit->parents)
        commit->parents = g_strdupv(facts->commit->parents);
    if (!commit->has_time) {
        commit->has_time = facts->commit->has_time;
        commit->time_s = facts->commit->time_s;
    }
    if (!commit->author)
        commit->author = g_strdup(facts->commit->author);
    if (!commit->subject)
        commit->subject = g_strdup(facts->commit->subject);
}

/* ---- One run ---- */

static void leave_out(struct job *job, const char *name, const char *why)
{
    if (job->n_left_out++ < SAID_MAX)
        console_message("%s is left out: %s", name, why);
}

static bool deliver(struct job *job, const char *name, const Posting *posting, GError **error)
{
    struct delivery_receipt receipt;
    if (!delivery_send(job->delivery, posting->run->id, posting->document->str,
                       posting->document->len, &receipt, error))
        return false;
    if (receipt.outcome == DELIVERY_STORED)
        job->n_taken++;
    else if (receipt.outcome == DELIVERY_REFUSED)
        leave_out(job, name, receipt.message);
    else
        job->code = interrupt_requested() ? EXIT_INTERRUPTED : EXIT_UNDELIVERED;
    if (job->code == EXIT_UNDELIVERED)
        console_message("not delivered to %s: %s%s%s", job->settings->server, receipt.message,
                        receipt.kept ? "; it is kept as " : "", receipt.kept ? receipt.kept : "");
    delivery_receipt_clear(&receipt);
    return true;
}

static bool take_item(const struct import_item *item, void *user, GError **error)
{
    struct job *job = (struct job *)user;
    g_autoptr(Faults) faults = faults_new();
    g_autoptr(GError) problem = NULL;
    if (job->code != EXIT_FINE)
        return true;
    if (interrupt_requested()) {
        job->code = EXIT_INTERRUPTED;
        return true;
    }
    Run *envelope = run_new();
    envelope->project = g_strdup(job->settings->project);
    envelope->machine = g_strdup(job->settings->machine);
    envelope->branch = g_strdup(options_value(job->options, "branch"));
    envelope->commit.sha = commit_of(item);
    envelope->reason = g_strdup("backfill");
    const struct posting_input input = {.bytes = item->bytes,
                                        .format = job->format,
                                        .time_ms = item->time_ms,
                                        .complete = complete,
                                        .user = job};
    g_autoptr(Posting) posting = posting_take(envelope, &input, faults, &problem);
    if (posting && job->delivery)
        return deliver(job, item->name, posting, error);
    if (posting) {
        console_print("%s\n", posting->document->str);
        job->n_taken++;
        return true;
    }
    const struct fault *first =
        faults->items->len ? (const struct fault *)faults->items->pdata[0] : NULL;
    g_autofree char *why = first ? g_strdup_printf("%s%s%s", first->pointer,
                                                   *first->pointer ? ": " : "", first->message)
                                 : g_strdup(problem->message);
    leave_out(job, item->name, why);
    return true;
}

/* ---- What the server takes apart itself ---- */

static void append_query(GString *path, const char *name, const char *value)
{
    g_autofree char *escaped = value ? g_uri_escape_string(value, NULL, FALSE) : NULL;
    if (escaped)
        g_string_append_printf(path, "&%s=%s", name, escaped);
}

static void take_answer(struct job *job, const struct http_answer *answer)
{
    json_t *receipt = json_loadb(answer->body->str, answer->body->len, 0, NULL);
    const json_t *warnings = json_object_get(receipt, "warnings");
    guint runs = (guint)json_integer_value(json_object_get(receipt, "runs"));
    guint refused = (guint)json_integer_value(json_object_get(receipt, "refused"));
    for (size_t i = 0; i < json_array_size(warnings); i++)
        console_message("the server warns: %s", json_string_value(json_array_get(warnings, i)));
    job->n_taken += runs > refused ? runs - refused : 0;
    job->n_left_out += refused;
    json_decref(receipt);
}

static bool send_whole(struct job *job, const struct import_source *source, const char *path,
                       GError **error)
{
    int64_t time_ms = 0;
    const struct http_client_options options = {
        .token = job->settings->token, .stopped = interrupt_requested, .seconds = IMPORT_SECONDS};
    report_exposed_token(job->settings);
    g_autoptr(HttpClient) client = http_client_new(&options, error);
    GString *bytes = client ? import_read_file(path, RUN_BODY_BYTES_MAX, &time_ms, error) : NULL;
    if (!bytes)
        return false;
    g_autoptr(GString) url = g_string_new(job->settings->server);
    g_string_append_printf(url, "/api/import?from=%s", source->name);
    append_query(url, "project", job->settings->project);
    append_query(url, "machine", job->settings->machine);
    append_query(url, "branch", options_value(job->options, "branch"));
    struct http_answer answer;
    http_client_post(client, url->str, bytes->str, bytes->len, &answer);
    if (answer.failure)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_BUSY, "%s gives no answer: %s",
                    job->settings->server, answer.failure);
    else if (answer.status / 100 != 2)
        report_refusal(job->settings, &answer, error);
    else
        take_answer(job, &answer);
    bool is_good = !answer.failure && answer.status / 100 == 2;
    http_answer_clear(&answer);
    g_string_free(bytes, TRUE);
    return is_good;
}

/* ---- The command ---- */

static int import_all(struct job *job, const struct import_source *source, GError **error)
{
    const GPtrArray *paths = options_arguments(job->options);
    bool is_good = true;
    for (guint i = 0; is_good && i < paths->len && job->code == EXIT_FINE; i++) {
        const char *path = (const char *)paths->pdata[i];
        is_good = source->each ? source->each(path, take_item, job, error)
                               : send_whole(job, source, path, error);
    }
    if (!is_good)
        return interrupt_requested() ? EXIT_INTERRUPTED : COMMAND_FAILED;
    console_message("%u runs %s, %u left out", job->n_taken, job->delivery ? "sent" : "read",
                    job->n_left_out);
    if (job->code == EXIT_FINE && job->n_taken == 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "nothing could be taken as %s",
                    source->name);
    return job->code != EXIT_FINE ? job->code
           : job->n_taken == 0    ? COMMAND_FAILED
           : job->n_left_out > 0  ? EXIT_UNMEASURED
                                  : EXIT_FINE;
}

static bool check(const struct job *job, const struct import_source *source, GError **error)
{
    bool is_dry = options_flag(job->options, "dry-run");
    if (options_arguments(job->options)->len == 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "import needs a path: %s",
                    source->description);
    else if (source->format && !format_find(source->format))
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "this build does not read %s",
                    source->format);
    else if (is_dry && !source->each)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "--dry-run is not for %s, which the server takes apart", source->name);
    else
        return is_dry || command_needs_server(job->settings, error);
    return false;
}

static const struct import_source *source_of(const Options *options, GError **error)
{
    const char *name = options_value(options, "from");
    if (name)
        return import_source_find(name, error);
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "import needs --from SOURCE, as in import --from asv results/");
    return NULL;
}

int command_import(int argc, char **argv, GError **error)
{
    int code = EXIT_FINE;
    g_autoptr(Options) options = command_begin(&usage, argc, argv, &code, error);
    if (!options)
        return code;
    const struct import_source *source = source_of(options, error);
    g_autoptr(Settings) settings = source ? settings_read(options, error) : NULL;
    struct job job = {.options = options, .settings = settings};
    if (!settings || !check(&job, source, error))
        return COMMAND_FAILED;
    g_autofree char *project = command_project(settings, NULL);
    g_autoptr(Delivery) delivery =
        options_flag(options, "dry-run") ? NULL : report_open_delivery(settings, error);
    if (!delivery && !options_flag(options, "dry-run"))
        return COMMAND_FAILED;
    job.project = project;
    job.delivery = delivery;
    job.format = source->format ? format_find(source->format) : NULL;
    return import_all(&job, source, error);
}
