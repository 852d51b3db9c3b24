/* SPDX-License-Identifier: Apache-2.0 */
/* doctor, after the HTML: checks the script, which server answers its URLs or the stream of another client,
 * and whether streams and polls get through.
 */
#include "doctor.h"

#include <string.h>
#include <strings.h>

#include "apr_strings.h"

#include "http.h"

#define STREAM "text/event-stream"
/* vault.js gives up a stream that has not begun by then. */
#define HELLO 5.0
/* A poll without an answer by then is being held. */
#define WAITS 0.5
#define PROXIES "operating.md, \"Proxies in front\""

/* ------------------------------------------------------------------- answers */

static json_t *object_of(const vaultctl_visit_t *visit)
{
    vaultctl_answer_t answer = {.body = (char *)visit->body, .length = visit->length};

    return vaultctl_http_object(&answer);
}

/* The error of a refusal by mod_vault; NULL: the request was not refused, or not by mod_vault. */
static const char *refusal(const vaultctl_visit_t *visit, apr_pool_t *pool)
{
    json_t *body = visit->status >= 400 ? object_of(visit) : NULL;
    const char *error = json_string_value(json_object_get(body, "error"));

    error = error != NULL && strstr(vaultctl_doctor_header(visit, "Cache-Control"), "no-store") != NULL
                ? apr_pstrdup(pool, error)
                : NULL;
    json_decref(body);
    return error;
}

/* The number of methods with updates; -1: this is not an answer to a poll.
 * @param seq  set to the seq of the next poll, if there are updates */
static int news_in(const vaultctl_visit_t *visit, json_int_t *seq)
{
    json_t *body = visit->status == 200 ? object_of(visit) : NULL, *updates = json_object_get(body, "updates");
    const json_t *number = json_object_get(body, "seq");
    int count = json_is_integer(number) && json_is_array(updates) ? (int)json_array_size(updates) : -1;

    *seq = count >= 0 ? json_integer_value(number) : *seq;
    json_decref(body);
    return count;
}

static int has_type(const vaultctl_visit_t *visit, const char *type)
{
    return strncasecmp(vaultctl_doctor_header(visit, "Content-Type"), type, strlen(type)) == 0;
}

/* -------------------------------------------------------------------- script */

static void check_script(vaultctl_doctor_t *d)
{
    vaultctl_request_t request = {.url = d->script};
    vaultctl_visit_t script;
    const char *why = vaultctl_visit(d->visitor, &script, &request, d->pool), *type;

    if (why != NULL) {
        vaultctl_doctor_change(d, "client.md, \"The script element\"", "The script cannot be loaded: %s", why);
        return;
    }
    type = vaultctl_doctor_header(&script, "Content-Type");
    if (script.status != 200 || strstr(script.body, "mod_vault") == NULL ||
        strstr(script.body, "data-vault-page") == NULL) {
        vaultctl_doctor_change(d, PROXIES,
                               "%s answers %ld, and not with the client of mod_vault: the Alias of vault.conf is "
                               "missing, or a front controller, a rewrite rule or a proxy takes the URL over",
                               d->script, script.status);
    }
    else if (strstr(type, "javascript") == NULL && *vaultctl_doctor_header(&script, "X-Content-Type-Options")) {
        vaultctl_doctor_change(d, "client.md, \"The script element\"",
                               "The script has the type \"%s\" and X-Content-Type-Options, so browsers do not run it: "
                               "AddType text/javascript .js",
                               type);
    }
    else if (strncmp(d->page.url, "https:", 6) == 0 && strncmp(d->script, "https:", 6) != 0) {
        vaultctl_doctor_change(d, "client.md, \"The script element\"",
                               "The page comes over https and its script does not, so browsers do not load it");
    }
    else {
        vaultctl_doctor_fact(d, "The script is that of mod_vault.");
    }
}

/* ------------------------------------------------------------------ identity */

static void say_who_else(vaultctl_doctor_t *d, const vaultctl_visit_t *visit)
{
    if (visit->status == 401 || visit->status == 403) {
        vaultctl_doctor_change(
            d, "operating.md, \"Security\"",
            "%s answers %ld: whoever may see the page must be let in here as well, by the same Require "
            "and the same login",
            visit->url, visit->status);
    }
    else if (visit->location != NULL) {
        vaultctl_doctor_change(d, PROXIES,
                               "%s leads to %s (%ld): something else than mod_vault answers, such as a login or a "
                               "redirect to another host",
                               visit->url, visit->location, visit->status);
    }
    else {
        vaultctl_doctor_change(
            d, PROXIES,
            "%s answers %ld, and it is something else than mod_vault that does: are the <Location>s of "
            "vault.conf there, and does no rewrite rule, front controller or proxy take them over?",
            visit->url, visit->status);
    }
}

/* mod_vault refuses a request without parameters at once, with an error of its own.
 * @param status  of that refusal */
static int is_mod_vault(vaultctl_doctor_t *d, const char *url, const char *body, long status)
{
    vaultctl_request_t request = {.url = url, .body = body, .by_page = 1};
    vaultctl_visit_t visit;
    const char *why;

    if (body != NULL) {
        request.type = "application/json";
    }
    why = vaultctl_visit(d->visitor, &visit, &request, d->pool);
    if (why != NULL) {
        vaultctl_doctor_change(d, PROXIES, "%s", why);
        return 0;
    }
    if (visit.status != status || refusal(&visit, d->pool) == NULL) {
        say_who_else(d, &visit);
        return 0;
    }
    vaultctl_doctor_fact(d, "mod_vault answers %s.", url);
    return 1;
}

/* ------------------------------------------------------------------- streams */

static const char *query_of(const vaultctl_doctor_t *d, const char *poll, const char *more)
{
    return apr_psprintf(d->pool, "%s?page=%s&seq=%" APR_INT64_T_FMT "%s", poll, d->html.page, (apr_int64_t)d->seq,
                        more);
}

static void check_stream(vaultctl_doctor_t *d, const char *poll)
{
    vaultctl_request_t request = {.url = query_of(d, poll, ""), .accept = STREAM, .by_page = 1};
    vaultctl_visit_t stream;

    if (strcmp(d->page.version, "HTTP/2") == 0) {
        return; /* vault.js asks for no stream there */
    }
    vaultctl_visit_begin(d->visitor, &request);
    vaultctl_visit_wait(d->visitor, HELLO, 1);
    if (vaultctl_visit_end(d->visitor, &stream, d->pool) != NULL) {
        return; /* the poll will show why */
    }
    if (has_type(&stream, STREAM) && stream.length > 0) {
        vaultctl_doctor_fact(d, "A stream of events begins at once: nothing keeps it back.");
    }
    else if (!stream.ended) {
        vaultctl_doctor_change(d, PROXIES,
                               "Nothing of a stream of events came within %d s, so pages poll instead: a proxy or a "
                               "compression keeps answers until they are complete (flushpackets=on of ProxyPass, "
                               "proxy_buffering of nginx), or VaultStreamTimeout is 0 there",
                               (int)HELLO);
    }
}

/* ---------------------------------------------------------------------- poll */

static void say_refused(vaultctl_doctor_t *d, const vaultctl_visit_t *poll, const char *error)
{
    if (poll->status == 410) {
        vaultctl_doctor_change(
            d, PROXIES,
            "mod_vault does not know the page (410, \"%s\"): a cache keeps the HTML, the page and its polls "
            "reach different servers or virtual hosts, or something in the page failed when it was rendered, "
            "and VLT00011 in the error log says what",
            error);
    }
    else if (poll->status == 403) {
        vaultctl_doctor_change(d, "operating.md, \"Security\"",
                               "The poll is refused (403, \"%s\"): give its URL the same authentication as the page",
                               error);
    }
    else {
        vaultctl_doctor_change(d, "operating.md, \"How many polls can wait\"", "The poll is refused (%ld, \"%s\")",
                               poll->status, error);
    }
}

/* The answer to a poll lists once the methods that answered 401, 403 or a redirect. */
static void say_refused_methods(vaultctl_doctor_t *d, const vaultctl_visit_t *poll)
{
    json_t *body = object_of(poll), *refused;
    size_t i;

    json_array_foreach(json_object_get(body, "refused"), i, refused)
    {
        vaultctl_doctor_change(d, "controllers.md, \"When the visitor signs out\"",
                               "The method %s answers %" JSON_INTEGER_FORMAT
                               " to the poll: it needs a login that the page and its poll do not bring",
                               vaultctl_json_text(json_object_get(refused, "method")),
                               json_integer_value(json_object_get(refused, "status")));
    }
    json_decref(body);
}

/* @return 1: there were updates, so the next poll has to be tried */
static int judge_poll(vaultctl_doctor_t *d, const vaultctl_visit_t *poll)
{
    const char *error = refusal(poll, d->pool);
    int news = news_in(poll, &d->seq), waits = !poll->ended && !poll->status;

    d->live = !d->broken && (waits || news >= 0 || poll->status == 204);
    if (waits) {
        vaultctl_doctor_fact(d, "A poll waits for news.");
    }
    else if (news >= 0) {
        vaultctl_doctor_fact(d, "A poll is answered at once, with news of %d of the page's methods.", news);
        say_refused_methods(d, poll);
    }
    else if (poll->status == 204) {
        vaultctl_doctor_fact(d, "A poll is answered at once: no news.");
    }
    else if (error != NULL) {
        say_refused(d, poll, error);
    }
    else {
        say_who_else(d, poll);
    }
    return news >= 0;
}

/* vault.js acknowledges by POST, with the origin of the page. */
static void check_acknowledgement(vaultctl_doctor_t *d, const char *poll)
{
    vaultctl_request_t request = {.url = query_of(d, poll, "&ack=1"), .body = "", .by_page = 1};
    vaultctl_visit_t visit;
    const char *why = vaultctl_visit(d->visitor, &visit, &request, d->pool);
    const char *error = why == NULL ? refusal(&visit, d->pool) : NULL;

    if (why != NULL) {
        vaultctl_doctor_change(d, PROXIES, "An acknowledgement, by POST, gets no answer: %s", why);
    }
    else if (visit.status == 403 && error != NULL) {
        vaultctl_doctor_change(d, PROXIES,
                               "A POST of the page is refused (\"%s\"): a proxy must pass on the Host header of the "
                               "browser (ProxyPreserveHost On; proxy_set_header Host $host)",
                               error);
    }
    else if (visit.status != 204) {
        vaultctl_doctor_change(
            d, PROXIES,
            "An acknowledgement, by POST, is answered %ld where mod_vault answers 204: something does "
            "not pass it on",
            visit.status);
    }
    else {
        vaultctl_doctor_fact(d, "An acknowledgement by POST is taken.");
    }
}

/* ---------------------------------------------------------------------- both */

/* @return 1: there were updates, so the next poll has to be tried */
static int ask_poll(vaultctl_doctor_t *d, const char *poll)
{
    vaultctl_request_t request = {.url = query_of(d, poll, ""), .accept = "application/json", .by_page = 1};
    vaultctl_visit_t visit;
    const char *why;

    vaultctl_visit_begin(d->visitor, &request);
    if (!vaultctl_visit_wait(d->visitor, WAITS, 0)) {
        vaultctl_doctor_server(d, poll);
    }
    why = vaultctl_visit_end(d->visitor, &visit, d->pool);
    if (why != NULL) {
        vaultctl_doctor_change(d, PROXIES, "The poll broke off: %s", why);
        return 0;
    }
    return judge_poll(d, &visit);
}

static void check_poll(vaultctl_doctor_t *d, const char *poll)
{
    check_stream(d, poll);
    if (ask_poll(d, poll)) {
        ask_poll(d, poll); /* all pending updates have been received */
    }
    if (!d->asked) {
        vaultctl_doctor_server(d, poll);
    }
    if (d->live) {
        check_acknowledgement(d, poll);
    }
}

/* A client of an HTML stream does not poll, so the stream alone decides whether the page is live. */
static void check_html_stream(vaultctl_doctor_t *d)
{
    vaultctl_request_t request = {.url = apr_pstrcat(d->pool, d->stream, "?page=", d->html.page, "&as=html", NULL),
                                  .accept = STREAM,
                                  .by_page = 1};
    vaultctl_visit_t stream;
    const char *why;

    vaultctl_visit_begin(d->visitor, &request);
    vaultctl_visit_wait(d->visitor, HELLO, 1);
    vaultctl_doctor_server(d, d->stream);
    why = vaultctl_visit_end(d->visitor, &stream, d->pool);
    if (why != NULL) {
        vaultctl_doctor_change(d, PROXIES, "The stream broke off: %s", why);
    }
    else if (has_type(&stream, STREAM) && strstr(stream.body, "vault-expired") != NULL) {
        vaultctl_doctor_change(d, PROXIES,
                               "mod_vault does not know the page: a cache keeps the HTML, the page and its stream "
                               "reach different servers or virtual hosts, or something in the page failed when it was "
                               "rendered, and VLT00011 in the error log says what");
    }
    else if (has_type(&stream, STREAM) && stream.length > 0) {
        d->live = !d->broken;
        vaultctl_doctor_fact(d, "A stream of HTML begins at once: nothing keeps it back.");
    }
    else if (!stream.ended) {
        vaultctl_doctor_change(
            d, PROXIES,
            "Nothing of the stream came within %d s, and such a client cannot poll instead: a proxy or "
            "a compression keeps answers until they are complete (flushpackets=on of ProxyPass, "
            "proxy_buffering of nginx)",
            (int)HELLO);
    }
    else if (refusal(&stream, d->pool) != NULL) {
        vaultctl_doctor_change(d, "protocol.md, \"Streams of HTML\"", "The stream is refused (%ld, \"%s\")",
                               stream.status, refusal(&stream, d->pool));
    }
    else {
        say_who_else(d, &stream);
    }
}

static const char *poll_of(vaultctl_doctor_t *d)
{
    if (d->script == NULL) {
        return d->stream;
    }
    check_script(d);
    return vaultctl_url_resolve(d->script, "poll", d->pool);
}

void vaultctl_doctor_polls(vaultctl_doctor_t *d)
{
    const char *poll = poll_of(d);

    if (poll == NULL || !is_mod_vault(d, poll, NULL, 400)) {
        return;
    }
    if (d->script == NULL) {
        check_html_stream(d);
    }
    else if (d->html.page != NULL) {
        check_poll(d, poll);
    }
    else {
        d->live = is_mod_vault(d, vaultctl_url_resolve(d->script, "page", d->pool), "{}", 400);
        vaultctl_doctor_server(d, poll);
    }
}
