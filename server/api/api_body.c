/* SPDX-License-Identifier: Apache-2.0
 * What all writes share. Reading runs on the request's thread, answers of the store on the
 * writer's. */
#include "server/api/api_body.h"

#include <string.h>

bool api_body_check_json(HttpRequest *request)
{
    g_autofree char *media_type = http_request_media_type(request);
    if (strcmp(media_type, "application/json") == 0)
        return true;
    bool is_stated = *media_type != '\0';
    http_respond_status(request, 415,
                        "The body's type is %s%s%s, and only JSON is taken here: send the header "
                        "Content-Type: application/json (with curl: -H 'Content-Type: "
                        "application/json' --data-binary @FILE)",
                        is_stated ? "\"" : "", is_stated ? media_type : "not stated",
                        is_stated ? "\"" : "");
    return false;
}

bool api_body_read(const HttpRequest *request, const struct field_table *table, void *target,
                   Faults *faults, GError **error)
{
    size_t length;
    const char *bytes = http_request_body(request, &length);
    json_t *root = document_load(bytes, length, error);
    if (!root)
        return false;
    document_read((struct reading){faults, &(struct place){0}}, root, table, target);
    json_decref(root);
    return document_conclude(faults, error);
}

bool api_body_refused(HttpRequest *request, const struct store_receipt *receipt)
{
    if (receipt->outcome != STORE_REFUSED)
        return false;
    http_respond_error(request, receipt->error, NULL);
    http_request_finish(request);
    return true;
}

void api_body_deleted(const struct store_receipt *receipt, void *user)
{
    HttpRequest *request = (HttpRequest *)user;
    if (api_body_refused(request, receipt))
        return;
    http_respond_empty(request, 204);
    http_request_finish(request);
}
