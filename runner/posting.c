/* SPDX-License-Identifier: Apache-2.0
 * Reads a file of results, whatever its format, into a checked run document. Main thread. */
#include "runner/posting.h"

#include "runner/envelope.h"
#include "schema/formats/format.h"
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool set_unreadable(GError **error, const char *path)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s cannot be read: %s", path,
                g_strerror(errno));
    return false;
}

static bool read_all(int file, GString *out, const char *path, GError **error)
{
    char buffer[1 << 16];
    for (;;) {
        ssize_t n = read(file, buffer, sizeof(buffer));
        if (n == 0)
            return true;
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return set_unreadable(error, path);
        if (out->len + (gsize)n > RUN_BODY_BYTES_MAX) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                        "%s is over 16 MiB, the most that a server takes", path);
            return false;
        }
        g_string_append_len(out, buffer, n);
    }
}

/* *out_time_ms: when the file was written; now for a stream. */
static GString *read_file(const char *path, int64_t *out_time_ms, GError **error)
{
    bool is_stream = strcmp(path, "-") == 0;
    int file = is_stream ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        set_unreadable(error, path);
        return NULL;
    }
    struct stat facts;
    bool is_file = fstat(file, &facts) == 0 && S_ISREG(facts.st_mode);
    *out_time_ms = is_file ? (int64_t)facts.st_mtim.tv_sec * 1000 : envelope_now_ms();
    GString *bytes = g_string_new(NULL);
    bool is_good = read_all(file, bytes, path, error);
    if (!is_stream)
        close(file);
    if (is_good)
        return bytes;
    g_string_free(bytes, TRUE);
    return NULL;
}

static char *hash_id(const Run *run, const GString *bytes)
{
    g_autoptr(GChecksum) checksum = g_checksum_new(G_CHECKSUM_SHA256);
    const char *const parts[] = {run->project, run->commit.sha, run->machine};
    for (gsize i = 0; i < G_N_ELEMENTS(parts); i++)
        g_checksum_update(checksum, (const guchar *)parts[i], (gssize)strlen(parts[i]) + 1);
    g_checksum_update(checksum, (const guchar *)bytes->str, (gssize)bytes->len);
    return g_strconcat("h-", g_checksum_get_string(checksum), NULL);
}

/* What a run cannot be without must be said by the file or by the command line. */
static bool check_envelope(const Run *run, GError **error)
{
    const char *missing = !run->project      ? "project"
                          : !run->commit.sha ? "commit"
                          : !run->machine    ? "machine"
                                             : NULL;
    if (missing)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the %s is not known: the file does not say it; give --%s", missing, missing);
    return !missing;
}

static bool fill(Posting *posting, const struct posting_input *input, Faults *faults,
                 GError **error)
{
    Run *run = posting->run;
    struct format_reading reading = {
        .format = input->format, .run = run, .warnings = posting->warnings, .faults = faults};
    if (!format_read(&reading, input->bytes->str, input->bytes->len, error))
        return false;
    if (input->complete)
        input->complete(run, input->user);
    if (!check_envelope(run, error))
        return false;
    g_free(run->id);
    run->id = input->id ? g_strdup(input->id) : hash_id(run, input->bytes);
    if (run->started_ms == 0)
        run->started_ms = input->time_ms;
    posting->document = envelope_print(run, faults, error);
    return posting->document != NULL;
}

static Posting *posting_new(void)
{
    Posting *posting = g_new0(Posting, 1);
    posting->warnings = g_ptr_array_new_with_free_func(g_free);
    return posting;
}

Posting *posting_take(Run *envelope, const struct posting_input *input, Faults *faults,
                      GError **error)
{
    g_autoptr(Posting) posting = posting_new();
    posting->run = envelope;
    return fill(posting, input, faults, error) ? g_steal_pointer(&posting) : NULL;
}

/* What a person can do about a file that is no run document. */
static void add_hint(GError **error, const GString *bytes)
{
    if (!error || !*error)
        return;
    bool is_benchmark = strstr(bytes->str, "\"benchmarks\"") && strstr(bytes->str, "\"context\"");
    if (!is_benchmark)
        return;
    char *longer = g_strdup_printf("%s (is it --format google-benchmark? --format auto finds out)",
                                   (*error)->message);
    g_free((*error)->message);
    (*error)->message = longer;
}

static Posting *read_document(const GString *bytes, Faults *faults, GError **error)
{
    g_autoptr(Posting) posting = posting_new();
    posting->run = run_parse(bytes->str, bytes->len, faults, error);
    if (!posting->run) {
        add_hint(error, bytes);
        return NULL;
    }
    posting->document = envelope_print(posting->run, faults, error);
    return posting->document ? g_steal_pointer(&posting) : NULL;
}

static Posting *read_foreign(const struct posting_input *input, const Provenance *provenance,
                             Faults *faults, GError **error)
{
    Run *envelope = envelope_new(provenance, error);
    return envelope ? posting_take(envelope, input, faults, error) : NULL;
}

Posting *posting_read(const char *path, const char *format_name, const Provenance *provenance,
                      const char *id, Faults *faults, GError **error)
{
    struct posting_input input = {.format = format_find(format_name), .id = id};
    GString *bytes = read_file(path, &input.time_ms, error);
    if (!bytes)
        return NULL;
    input.bytes = bytes;
    bool is_foreign = strcmp(format_name, POSTING_FORMAT) != 0;
    Posting *posting = is_foreign ? read_foreign(&input, provenance, faults, error)
                                  : read_document(bytes, faults, error);
    g_string_free(bytes, TRUE);
    return posting;
}

void posting_free(Posting *posting)
{
    if (!posting)
        return;
    run_free(posting->run);
    if (posting->document)
        g_string_free(posting->document, TRUE);
    g_ptr_array_unref(posting->warnings);
    g_free(posting);
}
