/* SPDX-License-Identifier: Apache-2.0
 * /api.html: the API's contract for people. Its content was made from schema/openapi.yaml when the
 * program was built (web/scripts/api_page.mjs); here it gets its frame. An event thread. */
#include "server/pages/layout.h"
#include "server/routes.h"

extern const unsigned char api_page[];
extern const size_t api_page_length;

void page_api(HttpRequest *request)
{
    static const struct layout_crumb crumbs[] = {{"API", NULL}};
    const struct layout layout = {.title = "HTTP API",
                                  .crumbs = crumbs,
                                  .n_crumbs = G_N_ELEMENTS(crumbs),
                                  .version = context_of(request)->version};
    if (http_not_modified(request, 0, HTTP_HTML))
        return;
    Html *html = html_new();
    layout_begin(html, &layout);
    html_append_trusted(html, (const char *)api_page, api_page_length);
    layout_end(html, &layout);
    layout_send(request, html);
}
