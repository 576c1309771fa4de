/* SPDX-License-Identifier: Apache-2.0
 * What of a page depends on who gets it (layout.h): the corner that says who is signed in, the
 * tokens of forms, the name in them. Pages leave slots, layout_finish fills them. The request's
 * thread. */
#include "server/pages/layout_person.h"

#include "server/pages/layout.h"

enum slot { SLOT_PERSON, SLOT_TOKEN, SLOT_BUTTON, SLOT_WHO };

void layout_person(Html *html)
{
    html_slot(html, SLOT_PERSON, NULL);
}

void layout_form_token(Html *html)
{
    html_slot(html, SLOT_TOKEN, NULL);
}

void layout_form_button(Html *html)
{
    html_slot(html, SLOT_BUTTON, NULL);
}

void layout_form_who(Html *html, const char *label)
{
    html_slot(html, SLOT_WHO, label);
}

static void write_token(Html *html, const HttpRequest *request)
{
    html_literal(html, "<input type=\"hidden\" name=\"" HTTP_FORM_TOKEN "\"");
    html_attr(html, "value", http_request_form_token(request));
    html_literal(html, ">");
}

static void write_button(Html *html, const HttpRequest *request)
{
    html_literal(html, " formmethod=\"post\" name=\"" HTTP_FORM_TOKEN "\"");
    html_attr(html, "value", http_request_form_token(request));
}

static void write_who(Html *html, const HttpRequest *request, const char *label)
{
    const Principal *principal = http_request_principal(request);
    html_literal(html, "<label class=\"field\"><span class=\"legend\">");
    html_text(html, label);
    html_literal(html, "</span>");
    if (principal && principal->token_id != 0) {
        html_literal(html, "<output>");
        html_text(html, principal->who);
        html_literal(html, "</output></label>");
        return;
    }
    html_literal(html, "<input type=\"text\" name=\"who\" maxlength=\"200\" "
                       "autocomplete=\"name\"></label>");
}

static void write_signed_in(Html *html, const HttpRequest *request, const Principal *principal)
{
    html_literal(html, "<div class=\"person\">");
    if (principal->scopes & PRINCIPAL_ADMIN)
        html_literal(html, "<a href=\"/tokens\">Tokens</a> <a href=\"/audit\">Writes</a> ");
    html_literal(html, "<form class=\"inline\" method=\"post\" action=\"/sign-out\">");
    write_token(html, request);
    html_literal(html, "<span>");
    html_text(html, principal->who);
    html_literal(html, "</span> <button class=\"quiet\">Sign out</button></form></div>");
}

static void write_person(Html *html, const HttpRequest *request)
{
    const Principal *principal = http_request_principal(request);
    if (principal && principal->is_session)
        write_signed_in(html, request, principal);
    else if (!principal && http_request_can_sign_in(request))
        html_literal(html, "<div class=\"person\"><a href=\"/sign-in\">Sign in</a></div>");
}

static void fill(Html *html, int kind, const char *text, void *user)
{
    const HttpRequest *request = user;
    switch ((enum slot)kind) {
    case SLOT_PERSON:
        write_person(html, request);
        break;
    case SLOT_TOKEN:
        write_token(html, request);
        break;
    case SLOT_BUTTON:
        write_button(html, request);
        break;
    case SLOT_WHO:
        write_who(html, request, text);
        break;
    }
}

GString *layout_finish(HttpRequest *request, Html *html)
{
    return html_finish_filled(html, fill, request);
}
