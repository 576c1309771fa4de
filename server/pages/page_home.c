/* SPDX-License-Identifier: Apache-2.0
 * /: the projects with what waits in each and how fresh it is, and what to type where there is
 * none. A worker thread. */
#include "server/pages/judged_note.h"
#include "server/pages/link.h"
#include "server/pages/machine_history.h"
#include "server/pages/machine_view.h"
#include "server/pages/project_pulse.h"
#include "server/pages/sheet.h"
#include "server/routes.h"

#include <math.h>

#define PROJECTS_ALL_MAX 500u
#define HOUR_MS          INT64_C(3600000)
#define HOUR_SHIFT       40 /* of an ETag's number: versions are smaller */

static void write_empty(Html *html, const HttpRequest *request)
{
    g_autofree char *origin = http_request_origin(request);
    g_autofree char *runner = g_strdup_printf("breakeven-runner run --quick --server %s", origin);
    g_autofree char *curl = g_strdup_printf(
        "curl -H 'Content-Type: application/json' --data-binary @run.json %s/api/runs", origin);
    g_autofree char *google = g_strdup_printf(
        "./my_benchmark --benchmark_format=json --benchmark_repetitions=10 > result.json\n"
        "curl -H 'Content-Type: application/json' --data-binary @result.json \\\n"
        "  "
        "\"%s/api/runs?format=google-benchmark&project=my-project&machine=$(hostname)&commit=$(git "
        "rev-parse HEAD)\"",
        origin);
    html_literal(html,
                 "<section class=\"card notice\"><h1>Nothing has been measured yet</h1>"
                 "<p>Run the thread pool benchmarks on this machine, inside a git repository:</p>");
    layout_command(html, runner);
    html_literal(html, "<p>or send what you have: a run document</p>");
    layout_command(html, curl);
    html_literal(html, "<p>or the output of Google Benchmark</p>");
    layout_command(html, google);
    html_literal(html, "<p>To look around in a made-up project first, start another server:</p>");
    layout_command(html, "breakeven-server demo --listen 127.0.0.1:0");
    html_literal(html, "<p class=\"muted\">Each upload shows up here at once.</p></section>");
}

/* ---- How old a project's results are -------------------------------------------------------- */

#define RUNS_LOOKED_AT 500u

struct machine_age {
    const struct store_machine *machine;
    GPtrArray *runs; /* struct store_run *: those looked at, by time */
    int64_t newest_ms;
    int64_t silent_ms; /* since when nothing came that was due; 0: it is not silent */
};

static void age_clear(struct machine_age *age)
{
    g_ptr_array_unref(age->runs);
}

static struct machine_age *age_of(GArray *ages, const struct store_machine *machine)
{
    for (guint i = 0; i < ages->len; i++) {
        struct machine_age *age = &g_array_index(ages, struct machine_age, i);
        if (age->machine == machine)
            return age;
    }
    struct machine_age age = {.machine = machine, .runs = g_ptr_array_new()};
    g_array_append_val(ages, age);
    return &g_array_index(ages, struct machine_age, ages->len - 1);
}

static void tell_age(struct machine_age *age, int64_t now_ms)
{
    int64_t after_ms = machine_silence_after_ms(age->runs);
    age->newest_ms = machine_run_ms((const struct store_run *)age->runs->pdata[age->runs->len - 1]);
    if (after_ms > 0 && now_ms - age->newest_ms > after_ms)
        age->silent_ms = now_ms - age->newest_ms;
}

/* Of the machines that sent the last runs. */
static GArray *machine_ages(const struct store_project *project, int64_t now_ms)
{
    GArray *ages = g_array_new(FALSE, FALSE, sizeof(struct machine_age));
    guint n = project->runs->len, first = n > RUNS_LOOKED_AT ? n - RUNS_LOOKED_AT : 0;
    g_array_set_clear_func(ages, (GDestroyNotify)age_clear);
    for (guint i = first; i < n; i++) {
        struct store_run *run = (struct store_run *)g_ptr_array_index(project->runs, i);
        g_ptr_array_add(age_of(ages, run->machine)->runs, run);
    }
    for (guint i = 0; i < ages->len; i++)
        tell_age(&g_array_index(ages, struct machine_age, i), now_ms);
    return ages;
}

static int64_t newest_of(const GArray *ages)
{
    int64_t newest_ms = 0;
    for (guint i = 0; i < ages->len; i++)
        newest_ms = MAX(newest_ms, g_array_index(ages, struct machine_age, i).newest_ms);
    return newest_ms;
}

static void write_last_result(Html *html, const struct store_project *project, int64_t now_ms)
{
    g_autoptr(GArray) ages = machine_ages(project, now_ms);
    html_literal(html, "<td data-label=\"Last result\">");
    layout_time_ms(html, newest_of(ages));
    for (guint i = 0; i < ages->len; i++) {
        const struct machine_age *age = &g_array_index(ages, struct machine_age, i);
        if (age->silent_ms == 0)
            continue;
        html_literal(html, "<span class=\"sub warn\">");
        layout_machine(html, age->machine);
        html_literal(html, " silent for ");
        machine_duration_write(html, age->silent_ms);
        html_literal(html, "</span>");
    }
    html_literal(html, "</td>");
}

/* ---- Projects -------------------------------------------------------------------------------- */

static void write_detection(Html *html, const JudgedNote *note)
{
    html_literal(html, "<td data-label=\"Detection\">");
    if (note->n_series == 0)
        html_literal(html, "nothing to judge");
    else if (note->n_judged == note->n_series)
        html_print(html, "%s%u series judged", note->n_series == 1 ? "" : "all ", note->n_series);
    else
        html_print(html, "%u of %u series judged", note->n_judged, note->n_series);
    html_literal(html, "<span class=\"sub\">");
    if (note->n_waiting > 0)
        html_print(html, "<span class=\"warn\">%s%u %s to be judged</span>",
                   note->is_waiting_bounded ? "at least " : "", note->n_waiting,
                   note->n_waiting == 1 ? "run waits" : "runs wait");
    else if (note->n_judged > 0)
        layout_time_ms(html, note->last_ms);
    html_literal(html, "</span></td>");
}

static void write_name(Html *html, const struct store_project *project)
{
    char runs[QUANTITY_TEXT_BYTES];
    g_autofree char *url = link_project(project->name);
    quantity_count(project->runs->len, runs);
    html_literal(html, "<tr><th scope=\"row\"><a");
    html_url(html, "href", url);
    html_literal(html, ">");
    html_text(html, project->name);
    html_print(html, "</a><span class=\"sub\">%u %s, %s %s</span></th>", project->benchmarks->len,
               project->benchmarks->len == 1 ? "benchmark" : "benchmarks", runs,
               project->runs->len == 1 ? "run" : "runs");
}

static bool write_project(Html *html, StoreSnapshot *snapshot, const struct store_project *project,
                          int64_t now_ms, GError **error)
{
    g_autoptr(ProjectPulse) pulse = project_pulse_read(snapshot, project, error);
    JudgedNote note;
    if (!pulse || !judged_note_read(snapshot, project->series, &note, error))
        return false;
    write_name(html, project);
    html_literal(html, "<td class=\"trend\">");
    project_pulse_write(html, pulse);
    html_literal(html, "</td><td data-label=\"Changes that wait\">");
    project_pulse_write_waiting(html, pulse);
    html_literal(html, "</td>");
    write_last_result(html, project, now_ms);
    write_detection(html, &note);
    html_literal(html, "</tr>");
    return true;
}

static bool write_projects(Html *html, HttpRequest *request, StoreSnapshot *snapshot,
                           int64_t now_ms, GError **error)
{
    const GPtrArray *projects = store_projects(snapshot);
    struct layout_paging paging =
        layout_paging_of(request, "page", projects->len, PROJECTS_ALL_MAX);
    html_literal(
        html,
        "<div class=\"heading\"><h1>Projects</h1></div><section class=\"card\">"
        "<div class=\"scroll\" tabindex=\"0\" role=\"region\" "
        "aria-label=\"Projects\"><table class=\"stack\"><thead><tr>"
        "<th scope=\"col\">Project</th><th scope=\"col\">Mean of all levels, up is better</th>"
        "<th scope=\"col\">Changes that wait</th><th scope=\"col\">Last result</th>"
        "<th scope=\"col\">Detection</th></tr></thead><tbody>");
    for (guint i = paging.first; i < paging.end; i++) {
        if (!write_project(html, snapshot,
                           (const struct store_project *)g_ptr_array_index(projects, i), now_ms,
                           error))
            return false;
    }
    html_literal(html, "</tbody></table></div>");
    layout_pager(html, request, &paging, "Projects");
    html_literal(html, "</section>");
    return true;
}

/* ---- The other forms ------------------------------------------------------------------------- */

static const struct sheet_column columns[] = {{"project", "Project", false},
                                              {"benchmarks", "Benchmarks", true},
                                              {"series", NULL, true},
                                              {"runs", "Runs", true},
                                              {"mean", "Mean of all levels", true},
                                              {"mean_commits", "Over commits", true},
                                              {"worse", "Worse", true},
                                              {"better", "Better", true},
                                              {"moved", NULL, true},
                                              {"worst", "Worst", false},
                                              {"worst_effect", "By", true},
                                              {"last_result", "Last result", false},
                                              {"silent", "Silent machines", false},
                                              {"judged", "Series judged", true},
                                              {"runs_waiting", "Runs that wait", true},
                                              {"last_judged", NULL, false},
                                              {0}};

/* "old, new"; NULL where none is. */
static char *silent_names(const GArray *ages)
{
    g_autoptr(GString) names = g_string_new(NULL);
    for (guint i = 0; i < ages->len; i++) {
        const struct machine_age *age = &g_array_index(ages, struct machine_age, i);
        if (age->silent_ms > 0)
            g_string_append_printf(names, "%s%s", names->len > 0 ? ", " : "", age->machine->name);
    }
    return names->len > 0 ? g_string_free(g_steal_pointer(&names), FALSE) : NULL;
}

static void write_waiting_cells(Sheet *sheet, const ProjectPulse *pulse)
{
    const struct store_series *worst = pulse->worst;
    g_autofree char *name =
        worst ? g_strdup_printf("%s %s", worst->benchmark->name, worst->metric) : NULL;
    sheet_ratio(sheet, pulse->n_values > 0 ? pulse->values[pulse->n_values - 1] - 1 : (double)NAN);
    sheet_integer(sheet, pulse->n_commits);
    sheet_integer(sheet, pulse->n_worse);
    sheet_integer(sheet, pulse->n_better);
    sheet_integer(sheet, pulse->n_other);
    sheet_text(sheet, name);
    sheet_ratio(sheet, worst ? pulse->worst_effect : (double)NAN);
}

static bool write_project_cells(Sheet *sheet, StoreSnapshot *snapshot,
                                const struct store_project *project, int64_t now_ms, GError **error)
{
    g_autoptr(ProjectPulse) pulse = project_pulse_read(snapshot, project, error);
    JudgedNote note;
    if (!pulse || !judged_note_read(snapshot, project->series, &note, error))
        return false;
    g_autoptr(GArray) ages = machine_ages(project, now_ms);
    g_autofree char *silent = silent_names(ages), *url = link_project(project->name);
    sheet_link(sheet, project->name, url);
    sheet_integer(sheet, project->benchmarks->len);
    sheet_integer(sheet, project->series->len);
    sheet_integer(sheet, project->runs->len);
    write_waiting_cells(sheet, pulse);
    sheet_time_ms(sheet, newest_of(ages));
    sheet_text(sheet, silent);
    sheet_integer(sheet, note.n_judged);
    sheet_integer(sheet, note.n_waiting);
    sheet_time_ms(sheet, note.last_ms);
    return true;
}

static Sheet *render_sheet(HttpRequest *request, StoreSnapshot *snapshot, int64_t now_ms,
                           GError **error)
{
    g_autoptr(Sheet) sheet = sheet_new(request, sheet_form_of(request, false), "Projects");
    const GPtrArray *projects = store_projects(snapshot);
    sheet_table(sheet, "projects", NULL, columns, 0);
    for (guint i = 0; i < projects->len; i++) {
        if (!write_project_cells(sheet, snapshot, (const struct store_project *)projects->pdata[i],
                                 now_ms, error))
            return NULL;
    }
    sheet_table_end(sheet);
    return g_steal_pointer(&sheet);
}

static Html *render(HttpRequest *request, StoreSnapshot *snapshot, int64_t now_ms, GError **error)
{
    g_autoptr(Html) html = html_new();
    const struct layout layout = {.version = context_of(request)->version, .request = request};
    layout_begin(html, &layout);
    if (store_projects(snapshot)->len == 0)
        write_empty(html, request);
    else if (!write_projects(html, request, snapshot, now_ms, error))
        return NULL;
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

/* Whoever may see one project only has no use for a page of all. */
static bool leads_to_own(HttpRequest *request)
{
    const Principal *principal = http_request_principal(request);
    if (!principal || !principal->project || http_request_reads_open(request))
        return false;
    g_autofree char *path = link_project(principal->project);
    http_respond_see_other(request, path);
    return true;
}

void page_home(HttpRequest *request)
{
    if (leads_to_own(request))
        return;
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(request);
    enum sheet_form form = sheet_form_of(request, false);
    /* Ages are told in whole hours: within one the page stays the same. */
    int64_t hour = g_get_real_time() / 1000 / HOUR_MS, now_ms = hour * HOUR_MS;
    if (!snapshot || http_not_modified(request, store_version(snapshot, NULL) ^ hour << HOUR_SHIFT,
                                       sheet_type(form)))
        return;
    g_autoptr(GError) error = NULL;
    Html *html = form == SHEET_HTML ? render(request, snapshot, now_ms, &error) : NULL;
    Sheet *sheet = form == SHEET_HTML ? NULL : render_sheet(request, snapshot, now_ms, &error);
    store_snapshot_end(g_steal_pointer(&snapshot));
    sheet_respond(request, html, sheet, error);
}
