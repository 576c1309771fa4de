/* SPDX-License-Identifier: Apache-2.0
 * /p/{project}/rules: what people want to be told, what another rule would have told, and who saved
 * what. GET with `try` tries the rule of the form, and saves nothing; POST saves it. A worker
 * thread; the browser is led back on the writer's. */
#include "server/pages/link.h"
#include "server/pages/page_names.h"
#include "server/pages/rule_form.h"
#include "server/pages/rules_parts.h"
#include "server/routes.h"

#include <string.h>

#define LOG_ENTRIES 50u

struct rules_page {
    HttpRequest *request;
    enum sheet_form shown_as;
    char *project; /* its name */
    struct rule_form form;
    guint commits;
    bool tries;
    char *problem;     /* what is wrong with the form, or NULL */
    RulesTrial *trial; /* or NULL */
};

static void page_clear(struct rules_page *page)
{
    rule_form_clear(&page->form);
    g_free(page->project);
    g_free(page->problem);
    rules_trial_free(page->trial);
}

/* Names a list of rules: what was looked at is what is changed. */
static char *name_of_rules(const struct store_project *project)
{
    const char *json = project->rules_json ? project->rules_json : "";
    g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, json, -1);
    return g_strndup(digest, 16);
}

static guint commits_of(const GPtrArray *pairs)
{
    const char *text = http_form_value(pairs, "commits");
    guint64 commits = RULES_TRIAL_COMMITS;
    if (text && !g_ascii_string_to_unsigned(text, 10, 1, RULES_TRIAL_COMMITS_MAX, &commits, NULL))
        commits = RULES_TRIAL_COMMITS;
    return (guint)commits;
}

/* ---- What is asked --------------------------------------------------------------------------- */

/* The rule of the form in its place among the present ones; NULL: the form is wrong, and why. */
static GPtrArray *list_tried(const struct rules_page *page, const struct store_project *project,
                             GError **error)
{
    struct rule *rule = rule_form_rule(&page->form, error);
    return rule ? rule_form_list(&page->form, project->rules, rule) : NULL;
}

static void fill_form(struct rules_page *page, const struct store_project *project,
                      const GPtrArray *pairs)
{
    const char *edit = http_form_value(pairs, "edit");
    guint64 place = 0;
    bool edits = edit && project->rules && project->rules->len > 0 &&
                 g_ascii_string_to_unsigned(edit, 10, 0, project->rules->len - 1, &place, NULL);
    if (edits)
        rule_form_fill(&page->form, (const struct rule *)project->rules->pdata[place], (int)place);
    else
        rule_form_read(&page->form, pairs);
    if (page->form.place >= (project->rules ? (int)project->rules->len : 0))
        page->form.place = -1;
}

/* Tries the form's rule; without a snapshot, since that takes its time. */
static bool try_rule(struct rules_page *page, GPtrArray *rules, GError **error)
{
    const struct rules_trial_request wanted = {.project = page->project,
                                               .rules = rules,
                                               .commits = page->commits,
                                               .values_max = RULES_TRIAL_VALUES_MAX};
    page->trial =
        rules_trial_run((StoreReader *)http_request_thread(page->request), &wanted, error);
    return page->trial != NULL;
}

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_intro(Html *html)
{
    html_literal(
        html,
        "<p class=\"intro\">A rule says which series it speaks of, and what holds for them: the "
        "least effect that "
        "matters (2 % where no rule says otherwise), whether they are muted, which direction is "
        "better. Of several rules for one setting the most specific holds: the benchmark decides "
        "first, then the number of parameters, the machine, the metric; of equals, the later "
        "one.</p>");
}

static void write_form(Html *html, const struct rules_page *page,
                       const struct store_project *project)
{
    g_autofree char *base = name_of_rules(project);
    html_literal(html, "<section class=\"card\" id=\"form\"><h2>");
    if (page->form.place < 0)
        html_literal(html, "Try a new rule");
    else
        html_print(html, "Try a change of rule %d", page->form.place + 1);
    html_literal(html, "</h2>");
    if (page->problem) {
        html_literal(html, "<p class=\"warn\" role=\"alert\" id=\"problem\">");
        html_text(html, page->problem);
        html_literal(html, "</p>");
    }
    rule_form_write(html, &page->form, project, base, page->commits);
    html_literal(html, "</section>");
}

/* One more entry than is shown, which tells that there are more. */
static GPtrArray *read_log(const struct rules_page *page, StoreSnapshot *snapshot,
                           const struct store_project *project, GError **error)
{
    const char *before = http_request_query(page->request, "before");
    const struct store_page wanted = {project->id, before ? g_ascii_strtoll(before, NULL, 10) : 0,
                                      LOG_ENTRIES + 1};
    return store_rule_log(snapshot, &wanted, error);
}

static Sheet *render_sheet(const struct rules_page *page, StoreSnapshot *snapshot,
                           const struct store_project *project, GError **error)
{
    g_autofree char *title = g_strdup_printf("Rules · %s", project->name);
    g_autoptr(GPtrArray) log = read_log(page, snapshot, project, error);
    if (!log)
        return NULL;
    Sheet *sheet = sheet_new(page->request, page->shown_as, title);
    sheet_fact(sheet, "problem", "Not tried", page->problem);
    rules_parts_list_sheet(sheet, project);
    if (page->trial)
        rules_parts_trial_sheet(sheet, snapshot, page->trial);
    rules_parts_log_sheet(sheet, log, LOG_ENTRIES);
    return sheet;
}

static Html *render(const struct rules_page *page, StoreSnapshot *snapshot,
                    const struct store_project *project, GError **error)
{
    g_autofree char *project_url = link_project(project->name);
    g_autofree char *title = g_strdup_printf("Rules · %s", project->name);
    g_autofree char *base = name_of_rules(project);
    const struct layout_crumb crumbs[] = {{project->name, project_url}, {"Rules", NULL}};
    const struct layout layout = {.title = title,
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .project = project->name,
                                  .room = "/rules",
                                  .request = page->request,
                                  .version = context_of(page->request)->version};
    g_autoptr(Html) html = html_new();
    layout_begin(html, &layout);
    html_literal(html, "<div class=\"heading\"><h1>Rules</h1></div>");
    write_intro(html);
    rules_parts_list(html, project, base);
    write_form(html, page, project);
    if (page->trial)
        rules_parts_trial(html, snapshot, page->trial);
    g_autoptr(GPtrArray) log = read_log(page, snapshot, project, error);
    if (!log)
        return NULL;
    rules_parts_log(html, log, LOG_ENTRIES);
    layout_end(html, &layout);
    return g_steal_pointer(&html);
}

/* In a snapshot of its own. */
static void answer(const struct rules_page *page, unsigned status)
{
    g_autoptr(GError) error = NULL;
    StoreSnapshot *snapshot = context_snapshot(page->request);
    if (!snapshot)
        return;
    const struct store_project *project = page_find_project(page->request, snapshot);
    bool is_page = page->shown_as == SHEET_HTML;
    Html *html = project && is_page ? render(page, snapshot, project, &error) : NULL;
    Sheet *sheet = project && !is_page ? render_sheet(page, snapshot, project, &error) : NULL;
    store_snapshot_end(snapshot);
    if (sheet)
        sheet_send(page->request, sheet);
    else if (html)
        http_respond(page->request, status, HTTP_HTML, layout_finish(page->request, html));
    else if (error)
        http_respond_error(page->request, error, NULL);
}

/* ---- GET ------------------------------------------------------------------------------------- */

/* Reads the form, and what it would be tried as. False: the request has been answered. */
static bool open_page(struct rules_page *page, GPtrArray **out_rules)
{
    const GPtrArray *pairs = http_request_query_pairs(page->request);
    g_autoptr(StoreSnapshot) snapshot = context_snapshot(page->request);
    const struct store_project *project =
        snapshot ? page_find_project(page->request, snapshot) : NULL;
    page->shown_as = sheet_form_of(page->request, false);
    if (!project || http_not_modified(page->request, store_version(snapshot, project),
                                      sheet_type(page->shown_as)))
        return false;
    g_autoptr(GError) error = NULL;
    page->project = g_strdup(project->name);
    page->commits = commits_of(pairs);
    page->tries = http_form_value(pairs, "try") != NULL;
    fill_form(page, project, pairs);
    if (page->tries && !(*out_rules = list_tried(page, project, &error)))
        page->problem = g_strdup(error->message);
    return true;
}

void page_rules(HttpRequest *request)
{
    struct rules_page page = {.request = request};
    g_autoptr(GPtrArray) rules = NULL;
    g_autoptr(GError) error = NULL;
    if (open_page(&page, &rules)) {
        if (!rules || try_rule(&page, rules, &error))
            answer(&page, 200);
        else
            http_respond_error(request, error, NULL);
    }
    page_clear(&page);
}

/* ---- POST ------------------------------------------------------------------------------------ */

static void save_done(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    g_autofree char *path = link_rules(http_request_segment(request, "project"));
    g_autofree char *target = g_strconcat(path, "#rules", NULL);
    if (receipt->outcome == STORE_REFUSED)
        http_respond_error(request, receipt->error, NULL);
    else
        http_respond_see_other(request, target);
    http_request_finish(request);
}

static const char *given(const GPtrArray *form, const char *name)
{
    const char *text = http_form_value(form, name);
    return text && *text ? text : NULL;
}

/* What the form saves; NULL: why not, in page->problem. */
static struct store_project_settings *
settings_of(struct rules_page *page, const struct store_project *project, const GPtrArray *form)
{
    g_autoptr(GError) error = NULL;
    g_autoptr(Faults) faults = faults_new();
    g_autofree char *base = name_of_rules(project);
    bool removes = g_strcmp0(http_form_value(form, "do"), "remove") == 0;
    fill_form(page, project, form);
    if (g_strcmp0(http_form_value(form, "base"), base) != 0) {
        page->problem = g_strdup("The rules were changed by somebody else since this page was "
                                 "shown. Look at them, and save again.");
        return NULL;
    }
    g_autoptr(GPtrArray) list = removes ? rule_form_list(&page->form, project->rules, NULL)
                                        : list_tried(page, project, &error);
    g_autofree char *text = list ? rules_text(list) : NULL;
    g_autoptr(GPtrArray) sound = text ? rules_parse(text, strlen(text), faults, &error) : NULL;
    if (!sound) {
        page->problem = g_strdup(error->message);
        return NULL;
    }
    struct store_project_settings *settings = g_new0(struct store_project_settings, 1);
    settings->name = g_strdup(project->name);
    settings->rules = g_steal_pointer(&sound);
    settings->who = page_form_who(page->request, form);
    settings->note = g_strdup(given(form, "note"));
    return settings;
}

void page_rules_post(HttpRequest *request)
{
    g_autoptr(GError) error = NULL;
    struct rules_page page = {.request = request};
    g_autoptr(GPtrArray) form = http_request_form(request, &error);
    StoreSnapshot *snapshot = form ? context_snapshot(request) : NULL;
    const struct store_project *project = snapshot ? page_find_project(request, snapshot) : NULL;
    struct store_project_settings *settings = NULL;
    if (project) {
        page.project = g_strdup(project->name);
        page.commits = commits_of(form);
        settings = settings_of(&page, project, form);
    }
    store_snapshot_end(snapshot);
    if (settings) {
        http_request_defer(request);
        store_put_project(context_of(request)->store, settings, save_done, request);
    } else if (page.problem) {
        answer(&page, 422);
    } else if (error) {
        http_respond_error(request, error, NULL);
    }
    page_clear(&page);
}
