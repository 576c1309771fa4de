/* SPDX-License-Identifier: Apache-2.0
 * See handover.h. */
#include "runner/handover.h"

#include "runner/command.h"
#include "runner/out_file.h"
#include "runner/report.h"
#include "runner/show/console.h"

bool handover_wants_document(const Options *options, const Settings *settings)
{
    return settings->server || options_flag(options, "json") || options_value(options, "out");
}

void handover_say_project(const Provenance *provenance)
{
    if (provenance->project_from)
        console_message("project %s, from %s (--project names another)", provenance->project,
                        provenance->project_from);
}

static int deliver(const struct handover *handover, const Run *run, const GString *document,
                   GError **error)
{
    bool urls_are_data = !options_flag(handover->options, "json");
    int code = handover->delivery ? report_send(handover->delivery, handover->settings, run,
                                                document, urls_are_data, error)
                                  : EXIT_FINE;
    return code == EXIT_FINE && handover->gate ? gating_run(handover->gate, error) : code;
}

int handover_run(const struct handover *handover, const Run *run, GError **error)
{
    g_autoptr(GError) problem = NULL;
    const char *out = options_value(handover->options, "out");
    GString *document = report_document(run, error);
    if (!document)
        return COMMAND_FAILED;
    if (options_flag(handover->options, "json"))
        console_print("%s\n", document->str);
    if (out && !out_file_write("out", out, document, &problem))
        console_message("%s", problem->message);
    int code = deliver(handover, run, document, error);
    g_string_free(document, TRUE);
    return code == EXIT_FINE && problem ? EXIT_UNDELIVERED : code;
}
