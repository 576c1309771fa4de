/* SPDX-License-Identifier: Apache-2.0
 * Files and their names around a store (see store_backup.h). A copy is written under a name of its
 * own beside the one it is to have, checked, flushed, renamed, and the folder flushed. Must not
 * know of SQL. Any thread. */
#include "server/store/store_backup.h"
#include "server/store/file_lock.h"
#include "server/store/sqlite_backup.h"
#include "server/store/sqlite_check.h"
#include "server/store/store_internal.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool fail_file(GError **error, const char *doing, const char *path)
{
    int cause = errno;
    int kind = cause == ENOSPC || cause == EDQUOT ? ERROR_FULL : ERROR_UNAVAILABLE;
    g_set_error(error, BREAKEVEN_ERROR, kind, "cannot %s %s: %s", doing, path, g_strerror(cause));
    return false;
}

static bool sync_path(const char *path, int flags, GError **error)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | flags);
    bool fine = fd >= 0 && fsync(fd) == 0;
    if (!fine)
        fail_file(error, "write to the disk:", path);
    if (fd >= 0)
        close(fd);
    return fine;
}

static bool sync_folder_of(const char *path, GError **error)
{
    g_autofree char *folder = g_path_get_dirname(path);
    return sync_path(folder, O_DIRECTORY, error);
}

static bool is_there(const char *path, const char *suffix)
{
    g_autofree char *name = g_strconcat(path, suffix, NULL);
    struct stat status;
    return lstat(name, &status) == 0;
}

static char *stamp_now(void)
{
    g_autoptr(GDateTime) now = g_date_time_new_now_utc();
    return g_date_time_format(now, "%Y%m%dT%H%M%SZ");
}

/* ---- A copy under a name of its own
 * ------------------------------------------------------------------------------------ */

static bool check_copy(const char *path, const char *of, GError **error)
{
    g_autoptr(GPtrArray) faults = g_ptr_array_new_with_free_func(g_free);
    if (!sqlite_check_structure(path, faults, error))
        return false;
    if (faults->len == 0)
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                "%s is damaged (%u faults, the first: %s); breakeven-server check says more; "
                "another backup would be right",
                of, faults->len, (const char *)faults->pdata[0]);
    return false;
}

static void discard(const char *part)
{
    g_autofree char *journal = g_strconcat(part, "-journal", NULL);
    unlink(part);
    unlink(journal);
}

/* A whole, sound copy on the disk, beside `place`; its name, or NULL. */
static char *copy_beside(const char *from, const char *place, GError **error)
{
    g_autofree char *part = g_strconcat(place, ".part-XXXXXX", NULL);
    int fd = g_mkstemp_full(part, O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail_file(error, "make a file beside", place);
        return NULL;
    }
    close(fd);
    if (sqlite_backup(from, part, error) && check_copy(part, from, error) &&
        sync_path(part, 0, error))
        return g_steal_pointer(&part);
    discard(part);
    return NULL;
}

/* Gives the copy its name; without `replaces` only where nothing has it. */
static bool put_in_place(const char *part, const char *place, bool replaces, GError **error)
{
    int code = renameat2(AT_FDCWD, part, AT_FDCWD, place, replaces ? 0 : RENAME_NOREPLACE);
    if (code != 0 && !replaces && (errno == EINVAL || errno == ENOSYS)) {
        errno = EEXIST; /* a file system that cannot tell: asked beforehand */
        code = is_there(place, "") ? -1 : rename(part, place);
    }
    if (code == 0)
        return sync_folder_of(place, error);
    fail_file(error, "give the copy its name", place);
    discard(part);
    return false;
}

/* ---- Backup
 * -------------------------------------------------------------------------------------------------------
 */

static bool check_file(const char *path, GError **error)
{
    struct stat status;
    if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
                "%s is not there, or is no file; the path of a store's file would be right", path);
    return false;
}

/* A store's log beside the place would be taken for the copy's. */
static bool check_place(const char *path, const char *file, bool replaces, GError **error)
{
    struct stat store, place;
    if (is_there(file, "-wal") || is_there(file, "-journal") ||
        (stat(path, &store) == 0 && stat(file, &place) == 0 && store.st_ino == place.st_ino &&
         store.st_dev == place.st_dev)) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s is a store that may be in use; a name of its own would be right for a "
                    "backup",
                    file);
        return false;
    }
    if (replaces || !is_there(file, ""))
        return true;
    g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                "%s is there already; --force replaces it, or give another name", file);
    return false;
}

/* For store_status: when a backup was last taken. Whoever may read the store need not be allowed
 * to leave this beside it. */
static void note_backup(const char *path)
{
    g_autofree char *note = g_strconcat(path, STORE_BACKUP_NOTE, NULL);
    int fd = open(note, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
        return;
    futimens(fd, NULL);
    close(fd);
}

bool store_backup(const char *url, const char *file, bool replaces, GError **error)
{
    g_autofree char *path = store_path_of(url, error);
    int64_t version;
    if (!path || !check_file(path, error) || !check_place(path, file, replaces, error) ||
        !sqlite_schema_of(path, &version, error))
        return false;
    g_autofree char *part = copy_beside(path, file, error);
    if (!part || !put_in_place(part, file, replaces, error))
        return false;
    note_backup(path);
    return true;
}

/* ---- Restoration
 * ------------------------------------------------------------------------------------------------------
 */

static bool check_backup(const char *from, GError **error)
{
    int64_t version = 0;
    if (!check_file(from, error) || !sqlite_schema_of(from, &version, error))
        return false;
    if (version > 0 && version <= sqlite_schema_newest())
        return true;
    if (version == 0)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID,
                    "%s is empty; a backup that breakeven-server made would be right", from);
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNSUPPORTED,
                    "%s has schema %" G_GINT64_FORMAT ", this program knows up to %" G_GINT64_FORMAT
                    ": it was written by a newer breakeven-server; restore it with that one",
                    from, (gint64)version, (gint64)sqlite_schema_newest());
    return false;
}

/* Whose the store was, his the restored one is: root restores what a service's user is to write. */
static void take_owner(const char *part, const char *path)
{
    struct stat status;
    g_autofree char *folder = g_path_get_dirname(path);
    bool is_known = stat(path, &status) == 0;
    if (!is_known && stat(folder, &status) != 0)
        return;
    /* Whom it belongs to is tried: the start says it where the file cannot be written. */
    int chowned = geteuid() == 0 ? chown(part, status.st_uid, status.st_gid) : 0;
    int modded = chmod(part, is_known ? status.st_mode & 0777 : 0600);
    (void)chowned, (void)modded;
}

static bool move(const char *path, const char *kept, const char *suffix, GError **error)
{
    g_autofree char *from = g_strconcat(path, suffix, NULL);
    g_autofree char *to = g_strconcat(kept, suffix, NULL);
    if (!is_there(from, ""))
        return true;
    return rename(from, to) == 0 || fail_file(error, "keep the present store as", to);
}

/* The log goes into the file first, so that at no moment the file stands there without what its log
 * held; that of a damaged file goes along as it is. */
static bool set_aside(const char *path, const char *kept, GError **error)
{
    g_autofree char *memory = g_strconcat(path, "-shm", NULL);
    sqlite_fold_log(path);
    if (!move(path, kept, "-wal", error) || !move(path, kept, "", error))
        return false;
    unlink(memory);
    return true;
}

static bool restore_locked(const char *path, const char *from, char **out_kept, GError **error)
{
    g_autofree char *part = copy_beside(from, path, error);
    if (!part)
        return false;
    take_owner(part, path);
    if (is_there(path, "") || is_there(path, "-wal")) {
        g_autofree char *stamp = stamp_now();
        g_autofree char *kept = g_strconcat(path, ".before-restore-", stamp, NULL);
        if (!set_aside(path, kept, error)) {
            discard(part);
            return false;
        }
        *out_kept = g_steal_pointer(&kept);
    }
    bool fine = put_in_place(part, path, false, error);
    if (!fine && *out_kept)
        g_prefix_error(error, "the store that was there is now %s: ", *out_kept);
    return fine;
}

bool store_restore(const char *url, const char *from, bool replaces, char **out_kept,
                   GError **error)
{
    *out_kept = NULL;
    g_autofree char *path = store_path_of(url, error);
    if (!path || !check_backup(from, error))
        return false;
    int lock = file_lock_take(path, error);
    if (lock < 0)
        return false;
    bool is_refused = !replaces && is_there(path, "");
    if (is_refused)
        g_set_error(error, BREAKEVEN_ERROR, ERROR_CONFLICT,
                    "%s is there already; --force puts the backup in its place and keeps it beside",
                    path);
    bool fine = !is_refused && restore_locked(path, from, out_kept, error);
    close(lock);
    return fine;
}

/* ---- Before the schema changes
 * ----------------------------------------------------------------------------------------- */

#define SCHEMA_INFIX ".schema-"

bool store_keep_schema(const char *path, char **out_copy, GError **error)
{
    int64_t version = 0;
    *out_copy = NULL;
    struct stat status;
    /* What is no store of ours, or cannot be read, is refused by who opens it, with its reasons. */
    if (stat(path, &status) != 0 || status.st_size == 0 ||
        !sqlite_schema_of(path, &version, NULL) || version <= 0 ||
        version >= sqlite_schema_newest())
        return true;
    g_autofree char *stamp = stamp_now();
    g_autofree char *copy =
        g_strdup_printf("%s" SCHEMA_INFIX "%" G_GINT64_FORMAT "-%s", path, (gint64)version, stamp);
    GError *cause = NULL;
    g_autofree char *part = copy_beside(path, copy, &cause);
    if (part && put_in_place(part, copy, true, &cause)) {
        *out_copy = g_steal_pointer(&copy);
        return true;
    }
    g_propagate_prefixed_error(error, cause,
                               "%s has an older schema, and cannot be copied before that is "
                               "changed; nothing was changed: ",
                               path);
    return false;
}

/* By the date at the end of the name, the newest first. */
static gint compare_dates(gconstpointer a, gconstpointer b)
{
    const char *left = strrchr(*(const char *const *)a, '-');
    const char *right = strrchr(*(const char *const *)b, '-');
    return g_strcmp0(right, left);
}

static void remove_old_copies(const char *path)
{
    g_autofree char *folder = g_path_get_dirname(path);
    g_autofree char *name = g_path_get_basename(path);
    g_autofree char *prefix = g_strconcat(name, SCHEMA_INFIX, NULL);
    g_autoptr(GDir) entries = g_dir_open(folder, 0, NULL);
    g_autoptr(GPtrArray) copies = g_ptr_array_new_with_free_func(g_free);
    for (const char *entry; entries && (entry = g_dir_read_name(entries));)
        if (g_str_has_prefix(entry, prefix) && g_str_has_suffix(entry, "Z"))
            g_ptr_array_add(copies, g_build_filename(folder, entry, NULL));
    g_ptr_array_sort(copies, compare_dates);
    for (guint i = STORE_SCHEMA_COPIES_MAX; i < copies->len; i++)
        unlink(copies->pdata[i]);
}

void store_settle_schema(const char *path, const char *copy)
{
    int64_t before = 0, now = 0;
    if (!copy)
        return;
    bool is_same = sqlite_schema_of(copy, &before, NULL) && sqlite_schema_of(path, &now, NULL) &&
                   before == now;
    if (is_same)
        unlink(copy);
    else
        remove_old_copies(path);
}
