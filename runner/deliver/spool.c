/* SPDX-License-Identifier: Apache-2.0
 * The spool on a file system. A file is written under a name that begins with a dot, flushed,
 * renamed, and the folder flushed: after a power cut an entry is there whole or not at all. It
 * knows no HTTP. Main thread; other processes at any time. */
#include "runner/deliver/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define ENTRY_SUFFIX    ".json"
#define ENTRY_BYTES_MAX (16u << 20)
#define TIME_DIGITS     16u
#define TAG_DIGITS      8u
#define STALE_SECONDS   3600

struct spool {
    char *directory, *rejected;
    char tag[TAG_DIGITS + 1]; /* of the server */
    int lock;                 /* file descriptor of .lock, or -1 */
    int64_t last_us;          /* of the newest entry that this process added */
    bool was_open;
};

static bool set_file_error(GError **error, const char *what, const char *path)
{
    int kind = errno == ENOSPC || errno == EDQUOT ? ERROR_FULL : ERROR_INVALID;
    g_set_error(error, BREAKEVEN_ERROR, kind, "%s %s: %s", what, path, g_strerror(errno));
    return false;
}

static bool is_entry(const char *name)
{
    return strspn(name, "0123456789abcdef") == TIME_DIGITS && name[TIME_DIGITS] == '-' &&
           strspn(name + TIME_DIGITS + 1, "0123456789abcdef") >= TAG_DIGITS &&
           g_str_has_suffix(name, ENTRY_SUFFIX);
}

/* The name of a file that is not a spool's, or NULL where there is none. */
static char *foreign_file(const char *directory)
{
    g_autoptr(GDir) folder = g_dir_open(directory, 0, NULL);
    const char *name = NULL;
    while (folder && (name = g_dir_read_name(folder)))
        if (*name != '.' && !is_entry(name) && strcmp(name, "rejected") != 0)
            return g_strdup(name);
    return NULL;
}

/* A spool holds what is not public: names, commits, machines. */
static bool close_to_others(const char *directory, bool *out_was_open, GError **error)
{
    struct stat facts;
    if (stat(directory, &facts) != 0)
        return set_file_error(error, "the spool folder cannot be looked at:", directory);
    *out_was_open = (facts.st_mode & 077) != 0;
    if (!*out_was_open)
        return true;
    g_autofree char *foreign = foreign_file(directory);
    if (foreign || facts.st_mode & S_ISVTX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the spool folder %s is open to others (mode %04o) and not a spool alone%s%s; "
                    "one of its own, or mode 0700, would be right",
                    directory, facts.st_mode & 07777u, foreign ? ": it holds " : "",
                    foreign ? foreign : "");
        return false;
    }
    return chmod(directory, 0700) == 0 ||
           set_file_error(
               error,
               "the spool folder is open to others, and cannot be closed to them:", directory);
}

Spool *spool_open(const char *directory, const char *server, GError **error)
{
    if (g_mkdir_with_parents(directory, 0700) != 0) {
        set_file_error(error, "the spool folder cannot be made:", directory);
        return NULL;
    }
    if (access(directory, R_OK | W_OK | X_OK) != 0) {
        set_file_error(error, "the spool folder cannot be written:", directory);
        return NULL;
    }
    bool was_open;
    if (!close_to_others(directory, &was_open, error))
        return NULL;
    Spool *spool = g_new0(Spool, 1);
    spool->lock = -1;
    spool->was_open = was_open;
    spool->directory = g_strdup(directory);
    spool->rejected = g_build_filename(directory, "rejected", NULL);
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, server, -1);
    g_strlcpy(spool->tag, digest, sizeof(spool->tag));
    return spool;
}

void spool_close(Spool *spool)
{
    if (!spool)
        return;
    if (spool->lock >= 0)
        close(spool->lock);
    g_free(spool->directory);
    g_free(spool->rejected);
    g_free(spool);
}

const char *spool_directory(const Spool *spool)
{
    return spool->directory;
}

bool spool_was_open(const Spool *spool)
{
    return spool->was_open;
}

static bool sync_folder(const char *path, GError **error)
{
    int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool is_good = folder >= 0 && fsync(folder) == 0;
    if (!is_good)
        set_file_error(error, "the spool folder cannot be flushed:", path);
    if (folder >= 0)
        close(folder);
    return is_good;
}

static bool write_all(int file, const char *bytes, gsize length)
{
    while (length > 0) {
        ssize_t n = write(file, bytes, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        bytes += n;
        length -= (gsize)n;
    }
    return true;
}

/* Writes folder/name whole and durably: first as folder/.name.PID. */
static bool write_file(const char *folder, const char *name, const char *bytes, gsize length,
                       GError **error)
{
    g_autofree char *hidden = g_strdup_printf("%s/.%s.%d", folder, name, (int)getpid());
    g_autofree char *path = g_build_filename(folder, name, NULL);
    int file = open(hidden, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    bool is_good = file >= 0 && write_all(file, bytes, length) && fsync(file) == 0;
    if (file >= 0)
        is_good = close(file) == 0 && is_good;
    is_good = is_good && rename(hidden, path) == 0;
    if (!is_good) {
        set_file_error(error, "the document cannot be spooled as", path);
        unlink(hidden);
        return false;
    }
    return sync_folder(folder, error);
}

static bool id_is_safe(const char *id)
{
    gsize length = strspn(id, G_CSET_a_2_z G_CSET_A_2_Z G_CSET_DIGITS "._:-");
    return length > 0 && length <= 128 && id[length] == '\0';
}

char *spool_add(Spool *spool, const char *id, const char *bytes, gsize length, GError **error)
{
    if (!id_is_safe(id)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the id \"%s\" is not of 1 to 128 letters, digits and . _ : -", id);
        return NULL;
    }
    spool->last_us = MAX(spool->last_us + 1, g_get_real_time());
    g_autofree char *name = g_strdup_printf("%016" G_GINT64_MODIFIER "x-%s-%s" ENTRY_SUFFIX,
                                            (guint64)spool->last_us, spool->tag, id);
    return write_file(spool->directory, name, bytes, length, error) ? g_steal_pointer(&name) : NULL;
}

char *spool_rescue(const char *id, const char *bytes, gsize length)
{
    const char *const folders[] = {".", g_get_tmp_dir()};
    g_autofree char *name = g_strdup_printf("breakeven-%s" ENTRY_SUFFIX, id);
    for (gsize i = 0; id_is_safe(id) && i < G_N_ELEMENTS(folders); i++)
        if (write_file(folders[i], name, bytes, length, NULL))
            return g_build_filename(folders[i], name, NULL);
    return NULL;
}

/* What a process that was killed while it wrote has left. */
static void remove_if_stale(const Spool *spool, const char *name)
{
    g_autofree char *path = g_build_filename(spool->directory, name, NULL);
    struct stat facts;
    if (strstr(name, ENTRY_SUFFIX ".") && lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
        g_get_real_time() / G_USEC_PER_SEC - facts.st_mtim.tv_sec > STALE_SECONDS)
        unlink(path);
}

static int compare_names(gconstpointer a, gconstpointer b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

GPtrArray *spool_entries(Spool *spool, guint *out_others, GError **error)
{
    g_autoptr(GError) problem = NULL;
    g_autoptr(GDir) folder = g_dir_open(spool->directory, 0, &problem);
    if (!folder) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "the spool: %s", problem->message);
        return NULL;
    }
    GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
    *out_others = 0;
    const char *name = NULL;
    while (names->len < SPOOL_ENTRIES_MAX && (name = g_dir_read_name(folder))) {
        if (*name == '.' && spool->lock >= 0)
            remove_if_stale(spool, name);
        if (!is_entry(name))
            continue;
        if (strncmp(name + TIME_DIGITS + 1, spool->tag, TAG_DIGITS) == 0)
            g_ptr_array_add(names, g_strdup(name));
        else
            *out_others += 1;
    }
    g_ptr_array_sort(names, compare_names);
    return names;
}

bool spool_try_lock(Spool *spool, GError **error)
{
    if (spool->lock >= 0)
        return true;
    g_autofree char *path = g_build_filename(spool->directory, ".lock", NULL);
    int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return set_file_error(error, "the spool cannot be locked:", path);
    if (flock(file, LOCK_EX | LOCK_NB) == 0) {
        spool->lock = file;
        return true;
    }
    if (errno != EWOULDBLOCK && errno != EINTR)
        set_file_error(error, "the spool cannot be locked:", path);
    close(file);
    return false;
}

char *spool_read(Spool *spool, const char *name, gsize *out_length, GError **error)
{
    g_autofree char *path = g_build_filename(spool->directory, name, NULL);
    struct stat facts;
    if (stat(path, &facts) != 0) {
        if (errno != ENOENT)
            set_file_error(error, "the spooled document cannot be read:", path);
        return NULL;
    }
    g_autoptr(GError) problem = NULL;
    g_autofree char *text = NULL;
    if (facts.st_size > ENTRY_BYTES_MAX ||
        !g_file_get_contents(path, &text, out_length, &problem)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "the spooled document %s cannot be read: %s", path,
                    problem ? problem->message : "it is over 16 MiB");
        return NULL;
    }
    return g_steal_pointer(&text);
}

bool spool_remove(Spool *spool, const char *name, GError **error)
{
    g_autofree char *path = g_build_filename(spool->directory, name, NULL);
    if (unlink(path) == 0 || errno == ENOENT)
        return true;
    return set_file_error(error,
                          "a document that was delivered cannot be removed from the spool:", path);
}

static char *reason_name(const char *name)
{
    return g_strdup_printf("%.*s.reason", (int)(strlen(name) - strlen(ENTRY_SUFFIX)), name);
}

bool spool_reject(Spool *spool, const char *name, const char *reason, GError **error)
{
    if (mkdir(spool->rejected, 0700) != 0 && errno != EEXIST)
        return set_file_error(error, "a folder cannot be made:", spool->rejected);
    g_autofree char *why = reason_name(name);
    g_autofree char *line = g_strdup_printf("%s\n", reason);
    if (!write_file(spool->rejected, why, line, strlen(line), error))
        return false;
    g_autofree char *from = g_build_filename(spool->directory, name, NULL);
    g_autofree char *to = g_build_filename(spool->rejected, name, NULL);
    if (rename(from, to) != 0)
        return set_file_error(error, "a refused document cannot be moved to", to);
    return sync_folder(spool->rejected, error) && sync_folder(spool->directory, error);
}

char *spool_rejection(Spool *spool, const char *name)
{
    g_autofree char *why = reason_name(name);
    g_autofree char *path = g_build_filename(spool->rejected, why, NULL);
    char *text = NULL;
    if (!g_file_get_contents(path, &text, NULL, NULL))
        return NULL;
    return g_strchomp(text);
}
