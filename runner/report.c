/* SPDX-License-Identifier: Apache-2.0
 * The words about a delivery, the same for every command that sends. Main thread. */
#include "runner/report.h"

#include "runner/command.h"
#include "runner/envelope.h"
#include "runner/history.h"
#include "runner/interrupt.h"
#include "runner/show/console.h"
#include <jansson.h>
#include <string.h>

static void on_notice(const char *message)
{
    console_message("%s", message);
}

/* A token on a network without encryption is a token for everybody on the way. */
void report_exposed_token(const Settings *settings)
{
    static bool is_said;
    if (is_said || !settings->token || !http_client_is_exposed(settings->server))
        return;
    is_said = true;
    console_message("the token goes to %s without encryption; https would protect it",
                    settings->server);
}

Delivery *report_open_delivery(const Settings *settings, GError **error)
{
    report_exposed_token(settings);
    struct delivery_options options = {
        .server = settings->server,
        .token = settings->token,
        .spool_dir = settings->spool_dir,
        .seconds = settings->deliver_seconds,
        .stopped = interrupt_requested,
        .notice = on_notice,
    };
    return delivery_open(&options, error);
}

/* URLs are data; where the data is a document, they are messages. */
static void say_url(bool is_data, const char *what, const char *url)
{
    if (is_data)
        console_print("%s: %s\n", what, url);
    else
        console_message("%s: %s", what, url);
}

static void say_stored(const Settings *settings, const Run *run,
                       const struct delivery_receipt *receipt, bool urls_are_data)
{
    for (guint i = 0; receipt->warnings && i < receipt->warnings->len; i++)
        console_message("the server warns: %s", (const char *)receipt->warnings->pdata[i]);
    g_autofree char *escaped_id = g_uri_escape_string(run->id, NULL, FALSE);
    g_autofree char *api = g_strdup_printf("%s/api/runs/%s", settings->server, escaped_id);
    say_url(urls_are_data, "stored", receipt->page ? receipt->page : api);
    if (run->results->len == 0)
        return;
    const struct run_result *first = (const struct run_result *)run->results->pdata[0];
    g_autofree char *project = g_uri_escape_string(run->project, NULL, FALSE);
    g_autofree char *bench = g_uri_escape_string(first->bench, NULL, FALSE);
    g_autofree char *trend = g_strdup_printf("%s/p/%s/b/%s", settings->server, project, bench);
    say_url(urls_are_data, "trend", trend);
}

static void say_waiting(const Settings *settings, const struct delivery_receipt *receipt)
{
    if (receipt->kept)
        console_message("not delivered to %s: %s\n  the run is kept as %s; deliver it with: "
                        "breakeven-runner post %s --server %s",
                        settings->server, receipt->message, receipt->kept, receipt->kept,
                        settings->server);
    else
        console_message("not delivered to %s: %s\n  the run waits in %s; deliver it with: "
                        "breakeven-runner post --spool --server %s",
                        settings->server, receipt->message, settings->spool_dir, settings->server);
}

int report_send(Delivery *delivery, const Settings *settings, const Run *run,
                const GString *document, bool urls_are_data, GError **error)
{
    struct delivery_receipt receipt;
    history_before_run(delivery, settings, run);
    if (!delivery_send(delivery, run->id, document->str, document->len, &receipt, error))
        return COMMAND_FAILED;
    int code = EXIT_UNDELIVERED;
    switch (receipt.outcome) {
    case DELIVERY_STORED:
        say_stored(settings, run, &receipt, urls_are_data);
        history_after_run(delivery, run);
        code = EXIT_FINE;
        break;
    case DELIVERY_REFUSED:
        console_message("%s refuses the run: %s\n  it is kept %s %s%s", settings->server,
                        receipt.message, receipt.kept ? "as" : "in",
                        receipt.kept ? receipt.kept : settings->spool_dir,
                        receipt.kept ? "" : "/rejected");
        break;
    case DELIVERY_WAITS:
    default:
        say_waiting(settings, &receipt);
        code = interrupt_requested() ? EXIT_INTERRUPTED : EXIT_UNDELIVERED;
        break;
    }
    delivery_receipt_clear(&receipt);
    return code;
}

void report_refusal(const Settings *settings, const struct http_answer *answer, GError **error)
{
    json_t *problem = json_loadb(answer->body->str, answer->body->len, 0, NULL);
    const char *detail = json_string_value(json_object_get(problem, "detail"));
    g_set_error(error, BREAKEVEN_ERROR, ERROR_INVALID, "%s answers %ld: %s", settings->server,
                answer->status, detail ? detail : "and says no more");
    json_decref(problem);
}

GString *report_document(const Run *run, GError **error)
{
    g_autoptr(Faults) faults = faults_new();
    GString *document = envelope_print(run, faults, error);
    if (!document)
        report_faults("the run document", faults);
    return document;
}

void report_faults(const char *name, const Faults *faults)
{
    for (guint i = 0; i < faults->items->len; i++) {
        const struct fault *fault = (const struct fault *)faults->items->pdata[i];
        console_message("%s: %s%s%s", name, fault->pointer, *fault->pointer ? ": " : "",
                        fault->message);
    }
    if (faults->found > faults->items->len)
        console_message("%s: and %u further faults", name, faults->found - faults->items->len);
}
