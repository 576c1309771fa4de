/* SPDX-License-Identifier: Apache-2.0
 * /assets/{file} and /favicon.ico: the bundled files under names that hold the hash of their
 * content. An event thread. */
#include "server/context.h"
#include "server/routes.h"
#include "web/web_assets.h"

#include <string.h>

/* What a browser asks for by itself where a document names no icon: a picture, the API's JSON. */
void page_favicon(HttpRequest *request)
{
    http_respond_static(
        request,
        &(struct http_static){.type = HTTP_SVG, .bytes = web_icon, .length = web_icon_length});
}

void page_asset(HttpRequest *request)
{
    const struct {
        const char *name;
        struct http_static content;
    } assets[] = {
        {web_script_name,
         {"text/javascript; charset=utf-8", web_script, web_script_length, web_script_brotli,
          web_script_brotli_length}},
        {web_style_name,
         {"text/css; charset=utf-8", web_style, web_style_length, web_style_brotli,
          web_style_brotli_length}},
        {web_icon_name, {.type = HTTP_SVG, .bytes = web_icon, .length = web_icon_length}},
    };
    const char *file = http_request_segment(request, "file");
    for (size_t i = 0; i < G_N_ELEMENTS(assets); i++) {
        if (strcmp(file, assets[i].name) == 0) {
            http_respond_static(request, &assets[i].content);
            return;
        }
    }
    http_respond_status(request, 404,
                        "no asset %s: the page that names it is of another build; reload it", file);
}
