/* SPDX-License-Identifier: Apache-2.0
 * Runs git and reads what it prints. Its three streams are unnamed files in memory, so that neither
 * side can wait for the other. Main thread. */
#include "runner/git.h"

#include "runner/raw_commit.h"
#include "schema/text.h"
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define GIT_OUTPUT_BYTES_MAX (256u << 20)
#define GIT_CHUNK            1000u /* commits read by one git cat-file */

struct git_output {
    char *text;
    gsize length;
    char *complaint; /* what git said on its standard error, one line */
    int status;      /* exit status; -1: killed */
};

static void git_output_clear(struct git_output *output)
{
    g_free(output->text);
    g_free(output->complaint);
}

typedef struct git_output git_output_t;
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(git_output_t, git_output_clear)

static bool set_system_error(GError **error, const char *what)
{
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL, "%s: %s", what, g_strerror(errno));
    return false;
}

static char *read_memory_file(int file, gsize *out_length, GError **error)
{
    off_t size = lseek(file, 0, SEEK_END);
    if (size < 0 || (guint64)size > GIT_OUTPUT_BYTES_MAX) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_TOO_LARGE,
                    "git printed more than %u MiB; ask for a shorter range",
                    GIT_OUTPUT_BYTES_MAX >> 20);
        return NULL;
    }
    char *text = (char *)g_try_malloc((gsize)size + 1);
    gsize length = 0;
    while (text && length < (gsize)size) {
        ssize_t n = pread(file, text + length, (gsize)size - length, (off_t)length);
        if (n <= 0)
            break;
        length += (gsize)n;
    }
    if (!text) {
        set_system_error(error, "reading what git printed");
        return NULL;
    }
    text[length] = '\0';
    *out_length = length;
    return text;
}

static char **git_environment(void)
{
    char **environment = g_get_environ();
    environment = g_environ_setenv(environment, "LC_ALL", "C", TRUE);
    environment = g_environ_setenv(environment, "GIT_OPTIONAL_LOCKS", "0", TRUE);
    environment = g_environ_setenv(environment, "GIT_TERMINAL_PROMPT", "0", TRUE);
    environment = g_environ_setenv(environment, "GIT_NO_REPLACE_OBJECTS", "1", TRUE);
    /* A promised object of a partial clone is not worth a visit to the network. */
    return g_environ_setenv(environment, "GIT_NO_LAZY_FETCH", "1", TRUE);
}

static bool spawn_and_wait(const char *const *argv, const int files[3], int *out_status,
                           GError **error)
{
    g_auto(GStrv) environment = git_environment();
    g_autoptr(GError) problem = NULL;
    GPid child = 0;
    if (!g_spawn_async_with_pipes_and_fds(
            NULL, argv, (const char *const *)environment,
            (GSpawnFlags)(G_SPAWN_SEARCH_PATH | G_SPAWN_DO_NOT_REAP_CHILD), NULL, NULL, files[0],
            files[1], files[2], NULL, NULL, 0, &child, NULL, NULL, NULL, &problem)) {
        bool is_absent = g_error_matches(problem, G_SPAWN_ERROR, G_SPAWN_ERROR_NOENT);
        g_set_error(error, BREAKEVEN_ERROR, ERROR_UNAVAILABLE, "git cannot be run: %s",
                    is_absent ? "it is not installed (apt install git)" : problem->message);
        return false;
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return set_system_error(error, "waiting for git");
    *out_status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return true;
}

/* Runs git with the arguments (NULL-terminated, the program's name included) and `input` on its
 * standard input. True where it ran, whatever its exit status. */
static bool git_run(const char *const *argv, const char *input, struct git_output *out,
                    GError **error)
{
    int files[3] = {memfd_create("git-in", MFD_CLOEXEC), memfd_create("git-out", MFD_CLOEXEC),
                    memfd_create("git-err", MFD_CLOEXEC)};
    bool is_good = files[0] >= 0 && files[1] >= 0 && files[2] >= 0;
    gsize input_length = input ? strlen(input) : 0;
    if (is_good && input_length > 0)
        is_good = pwrite(files[0], input, input_length, 0) == (ssize_t)input_length;
    if (!is_good)
        set_system_error(error, "a file in memory for git");
    is_good = is_good && spawn_and_wait(argv, files, &out->status, error);
    gsize complaint_length = 0;
    if (is_good) {
        out->text = read_memory_file(files[1], &out->length, error);
        out->complaint = out->text ? read_memory_file(files[2], &complaint_length, error) : NULL;
        is_good = out->complaint != NULL;
    }
    if (is_good)
        g_strstrip(out->complaint);
    for (int i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    return is_good;
}

/* git's refusal as an error that says what to do. */
static bool set_refusal(const struct git_output *output, const char *revision, GError **error)
{
    if (strstr(output->complaint, "dubious ownership")) {
        const char *quote = strchr(output->complaint, '\'');
        gsize length = quote ? strcspn(quote + 1, "'") : 0;
        g_autofree char *folder = quote ? g_strndup(quote + 1, length) : g_get_current_dir();
        g_set_error(error, BREAKEVEN_ERROR, ERROR_FORBIDDEN,
                    "git does not read %s because another user owns it; say that you trust it: "
                    "git config --global --add safe.directory '%s' (or name the commit: --commit "
                    "SHA --project NAME)",
                    folder, folder);
        return false;
    }
    g_autofree char *line = g_strndup(output->complaint, strcspn(output->complaint, "\n"));
    if (strstr(line, "not a git repository"))
        g_set_error(
            error, BREAKEVEN_ERROR, ERROR_NOT_FOUND,
            "the commit is not known: this folder is in no git repository; go into one, or give "
            "--commit SHA --project NAME");
    else
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "git knows no commit %s here: %s",
                    revision, *line ? line : "no such revision");
    return false;
}

/* The one line that git prints, or NULL where it fails. */
static char *git_line(const char *const *argv)
{
    g_auto(git_output_t) output = {0};
    if (!git_run(argv, NULL, &output, NULL) || output.status != 0)
        return NULL;
    g_strchomp(output.text);
    return *output.text ? g_steal_pointer(&output.text) : NULL;
}

static char *resolve_commit(const char *revision, GError **error)
{
    g_autofree char *peeled = g_strdup_printf("%s^{commit}", revision);
    const char *const argv[] = {"git",  "rev-parse", "--verify", "--quiet", "--end-of-options",
                                peeled, NULL};
    g_auto(git_output_t) output = {0};
    if (!git_run(argv, NULL, &output, error))
        return NULL;
    g_strchomp(output.text);
    if (output.status == 0 && text_is_sha(output.text))
        return g_steal_pointer(&output.text);
    set_refusal(&output, revision, error);
    return NULL;
}

char *git_resolve(const char *revision)
{
    return resolve_commit(revision, NULL);
}

char *git_merge_base(const char *a, const char *b)
{
    const char *const argv[] = {"git", "merge-base", "--end-of-options", a, b, NULL};
    g_autofree char *sha = git_line(argv);
    return sha && text_is_sha(sha) ? g_steal_pointer(&sha) : NULL;
}

/* The answer of git cat-file --batch: "SHA commit SIZE\n" and SIZE bytes and "\n" for each, or "SHA
 * missing\n". */
static bool take_batch(const struct git_output *output, GPtrArray *commits)
{
    const char *at = output->text, *end = output->text + output->length;
    while (at < end) {
        const char *line_end = (const char *)memchr(at, '\n', (gsize)(end - at));
        if (!line_end)
            return false;
        g_autofree char *line = g_strndup(at, (gsize)(line_end - at));
        g_auto(GStrv) words = g_strsplit(line, " ", 3);
        at = line_end + 1;
        if (g_strv_length(words) < 3)
            continue;
        guint64 size = 0;
        if (!g_ascii_string_to_unsigned(words[2], 10, 0, (guint64)(end - at), &size, NULL))
            return false;
        struct run_commit *commit = raw_commit_parse(words[0], at, (gsize)size);
        if (commit)
            g_ptr_array_add(commits, commit);
        at += size + 1;
    }
    return true;
}

static bool read_commits(const char *const *shas, guint n, GPtrArray *commits, GError **error)
{
    const char *const argv[] = {"git", "cat-file", "--batch", NULL};
    for (guint from = 0; from < n; from += GIT_CHUNK) {
        g_autoptr(GString) input = g_string_new(NULL);
        for (guint i = from; i < n && i < from + GIT_CHUNK; i++)
            g_string_append_printf(input, "%s\n", shas[i]);
        g_auto(git_output_t) output = {0};
        if (!git_run(argv, input->str, &output, error))
            return false;
        if (output.status != 0)
            return set_refusal(&output, shas[from], error);
        if (!take_batch(&output, commits)) {
            g_set_error(error, BREAKEVEN_ERROR, ERROR_INTERNAL,
                        "git cat-file printed what it should not");
            return false;
        }
    }
    return true;
}

/* What git rev-list prints for these revisions; NULL: it refused, with `what` in the error. */
static char **list_revisions(const GPtrArray *argv, const char *what, GError **error)
{
    g_auto(git_output_t) output = {0};
    if (!git_run((const char *const *)argv->pdata, NULL, &output, error))
        return NULL;
    if (output.status == 0)
        return g_strsplit(g_strchomp(output.text), "\n", -1);
    set_refusal(&output, what, error);
    return NULL;
}

static GPtrArray *rev_list_argv(const char *option, const char *revision, const GPtrArray *known)
{
    GPtrArray *argv = g_ptr_array_new_with_free_func(g_free);
    const char *const words[] = {"git", "rev-list", option, "--end-of-options", revision};
    for (guint i = 0; i < G_N_ELEMENTS(words); i++)
        g_ptr_array_add(argv, g_strdup(words[i]));
    for (guint i = 0; known && i < known->len; i++)
        g_ptr_array_add(argv, g_strconcat("^", (const char *)known->pdata[i], NULL));
    g_ptr_array_add(argv, g_strdup("--"));
    g_ptr_array_add(argv, NULL);
    return argv;
}

GPtrArray *git_first_parents(const char *sha, guint max)
{
    g_autofree char *count = g_strdup_printf("--max-count=%u", max);
    g_autoptr(GPtrArray) argv = rev_list_argv(count, sha, NULL);
    g_ptr_array_insert(argv, 3, g_strdup("--first-parent"));
    g_auto(GStrv) shas = list_revisions(argv, sha, NULL);
    if (!shas)
        return NULL;
    GPtrArray *list = g_ptr_array_new_with_free_func(g_free);
    for (char **at = shas; *at; at++)
        g_ptr_array_add(list, g_strdup(*at));
    return list;
}

bool git_is_shallow(void)
{
    const char *const argv[] = {"git", "rev-parse", "--is-shallow-repository", NULL};
    g_autofree char *answer = git_line(argv);
    return g_strcmp0(answer, "true") == 0;
}

GPtrArray *git_log(const char *range, guint max, bool *out_more, GError **error)
{
    return git_log_since(range, NULL, max, out_more, error);
}

GPtrArray *git_log_since(const char *sha, const GPtrArray *known, guint max, bool *out_more,
                         GError **error)
{
    g_autofree char *count = g_strdup_printf("--max-count=%u", max + 1);
    g_autoptr(GPtrArray) argv = rev_list_argv(count, sha, known);
    g_auto(GStrv) shas = list_revisions(argv, sha, error);
    if (!shas)
        return NULL;
    guint n = g_strv_length(shas);
    *out_more = n > max;
    g_autoptr(GPtrArray) commits = g_ptr_array_new_with_free_func((GDestroyNotify)run_commit_free);
    if (n > 0 && !read_commits((const char *const *)shas, MIN(n, max), commits, error))
        return NULL;
    return g_steal_pointer(&commits);
}

static void read_project(GitFacts *facts)
{
    const char *const remote_argv[] = {"git", "config", "--get", "remote.origin.url", NULL};
    const char *const folder_argv[] = {"git", "rev-parse", "--show-toplevel", NULL};
    g_autofree char *remote = git_line(remote_argv);
    if (remote) {
        gsize length = strlen(remote);
        while (length > 0 && remote[length - 1] == '/')
            remote[--length] = '\0';
        if (g_str_has_suffix(remote, ".git"))
            remote[length - 4] = '\0';
        const char *slash = strrchr(remote, '/'), *colon = strrchr(remote, ':');
        const char *name = slash ? slash + 1 : colon ? colon + 1 : remote;
        if (*name && g_utf8_validate(name, -1, NULL)) {
            facts->project = g_strdup(name);
            facts->project_from = g_strdup("the git remote origin");
            return;
        }
    }
    g_autofree char *folder = git_line(folder_argv);
    if (folder && g_utf8_validate(folder, -1, NULL)) {
        facts->project = g_path_get_basename(folder);
        facts->project_from = g_strdup_printf("the folder %s", folder);
    }
}

static void read_work_tree(GitFacts *facts)
{
    const char *const branch_argv[] = {"git", "symbolic-ref", "--short", "--quiet", "HEAD", NULL};
    const char *const status_argv[] = {"git", "status", "--porcelain", "--untracked-files=no",
                                       NULL};
    facts->branch = git_line(branch_argv);
    g_autofree char *changes = git_line(status_argv);
    facts->dirty = changes != NULL;
}

GitFacts *git_read(const char *revision, guint history_max, GError **error)
{
    g_autoptr(GitFacts) facts = g_new0(GitFacts, 1);
    g_autofree char *sha = resolve_commit(revision ? revision : "HEAD", error);
    if (!sha)
        return NULL;
    bool more = false;
    facts->history = git_log(sha, history_max + 1, &more, error);
    if (!facts->history)
        return NULL;
    struct run_commit *first =
        facts->history->len ? (struct run_commit *)facts->history->pdata[0] : NULL;
    if (!first || strcmp(first->sha, sha) != 0) {
        g_set_error(error, BREAKEVEN_ERROR, ERROR_NOT_FOUND, "git cannot read commit %s", sha);
        return NULL;
    }
    facts->commit = (struct run_commit *)g_ptr_array_steal_index(facts->history, 0);
    read_project(facts);
    g_autofree char *head = revision ? resolve_commit("HEAD", NULL) : NULL;
    if (!revision || g_strcmp0(head, sha) == 0)
        read_work_tree(facts);
    return g_steal_pointer(&facts);
}

void git_facts_free(GitFacts *facts)
{
    if (!facts)
        return;
    g_free(facts->project);
    g_free(facts->project_from);
    g_free(facts->branch);
    if (facts->commit)
        run_commit_free(facts->commit);
    if (facts->history)
        g_ptr_array_unref(facts->history);
    g_free(facts);
}
