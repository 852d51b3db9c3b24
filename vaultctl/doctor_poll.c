/* SPDX-License-Identifier: Apache-2.0 */
/* doctor, after the HTML: checks the script, which server answers its URLs or the stream of another client,
 * whether streams and polls get through, and the server's status if that is accessible.
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
/* The length of the name by which the status identifies a page. */
#define NAME_LENGTH 12
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

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
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
                               vaultctl_json_text(json_object_get(refused, "method")), number(refused, "status"));
    }
    json_decref(body);
}

/* @return 1: there were updates, so the next poll has to be tried */
static int judge_poll(vaultctl_doctor_t *d, const vaultctl_visit_t *poll)
{
    const char *error = refusal(poll, d->pool);
    int news = news_in(poll, &d->seq), waits = !poll->ended && !poll->status;

    d->live = waits || news >= 0 || poll->status == 204;
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

/* -------------------------------------------------------------------- server */

/* Requests the status, and stores the error for the caller.
 * @return to be released by the caller; NULL: the answer is not 200 with JSON */
static json_t *ask_status(const vaultctl_options_t *options, const char *path, const char **why, apr_pool_t *pool)
{
    vaultctl_http_t *http = vaultctl_http_open(options, pool);
    vaultctl_answer_t answer = {.status = 0};
    json_t *json;

    *why = http != NULL ? vaultctl_http_ask(http, &answer, path, NULL, 0, pool) : "libcurl cannot be used";
    if (*why != NULL) {
        return NULL;
    }
    json = answer.status == 200 ? vaultctl_http_object(&answer) : NULL;
    if (json == NULL) {
        *why = apr_psprintf(pool, "%s answers %ld", answer.url, answer.status);
    }
    return json;
}

/* The URL of the status: --url, or else beside the poll. Only the page's own origin gets a login. */
static vaultctl_options_t options_of_status(const vaultctl_doctor_t *d, const char *poll)
{
    vaultctl_options_t o = *d->options;

    if (o.unsaid) {
        o.url = vaultctl_url_resolve(poll, ".", d->pool);
        o.unsaid = 0;
        if (!vaultctl_visitor_knows(d->visitor, poll)) {
            o.user = NULL;
            o.netrc = 0;
            o.netrc_file = NULL;
            o.headers = apr_array_make(d->pool, 1, sizeof(const char *));
        }
    }
    return o;
}

static void say_limits(vaultctl_doctor_t *d, const json_t *limits)
{
    const char *mpm = vaultctl_json_text(json_object_get(limits, "MPM"));

    if (json_is_true(json_object_get(limits, "Parking")) || json_is_true(json_object_get(limits, "Bell"))) {
        vaultctl_doctor_fact(
            d,
            "The %s MPM: polls wait without a thread, %" JSON_INTEGER_FORMAT " in each of %" JSON_INTEGER_FORMAT
            " children (connections allow %" JSON_INTEGER_FORMAT ", open files %" JSON_INTEGER_FORMAT
            "); those that need a thread are %" JSON_INTEGER_FORMAT
            " in a child (VaultLongPollThreads); one client may have %" JSON_INTEGER_FORMAT ".",
            mpm, number(limits, "Waiting"), number(limits, "Children"), number(limits, "ByConnections"),
            number(limits, "ByDescriptors"), number(limits, "LongPollThreads"), number(limits, "WaitingPerClient"));
        return;
    }
    vaultctl_doctor_fact(d,
                         "The %s MPM: each poll that waits holds a thread, of %" JSON_INTEGER_FORMAT
                         " in each of %" JSON_INTEGER_FORMAT " children; %" JSON_INTEGER_FORMAT
                         " may (VaultLongPollThreads).",
                         mpm, number(limits, "Threads"), number(limits, "Children"), number(limits, "LongPollThreads"));
    if (strcmp(mpm, "prefork") != 0) { /* for prefork the check has a warning */
        vaultctl_doctor_change(d, "operating.md, \"Prefork, worker, old httpd\"",
                               "The event MPM of httpd 2.4.63 and later lets polls wait without a thread");
    }
}

static void say_list(vaultctl_doctor_t *d, const json_t *check, const char *name, const char *manual)
{
    const json_t *list = json_object_get(check, name), *text;
    size_t i;

    json_array_foreach(list, i, text)
    {
        vaultctl_doctor_change(d, manual, "vaultctl check: %s", vaultctl_json_text(text));
    }
}

static void check_threads(vaultctl_doctor_t *d, const json_t *status)
{
    if (strcmp(d->page.version, "HTTP/2") == 0 && number(status, "WaitingInThreads") > 0) {
        vaultctl_doctor_change(d, "operating.md, \"HTTP/2 and TLS\"",
                               "httpd speaks HTTP/2 itself, so each poll that waits holds a thread: Protocols http/1.1 "
                               "where live pages are, or a proxy in front");
    }
}

/* Runs while the page's poll waits, so that the status shows it. */
static void check_server(vaultctl_doctor_t *d, const char *poll)
{
    vaultctl_options_t options = options_of_status(d, poll);
    const char *why, *path = "status?check";
    json_t *check, *status, *page;

    d->asked = 1;
    check = ask_status(&options, path, &why, d->pool);
    if (check == NULL) {
        vaultctl_doctor_fact(d,
                             "What kind of server it is cannot be asked from here (%s): on its own machine "
                             "--url says where its status is.",
                             why);
        return;
    }
    if (d->html.page != NULL) {
        path = apr_psprintf(d->pool, "status?page=%.*s", NAME_LENGTH, d->html.page);
        page = ask_status(&options, path, &why, d->pool);
        if (page == NULL) {
            vaultctl_doctor_fact(
                d, "The status at %s does not know the page: it is that of another server, or no page was kept.",
                options.url);
            json_decref(check);
            return;
        }
        json_decref(page);
    }
    say_limits(d, json_object_get(check, "Limits"));
    say_list(d, check, "Wrong", "vaultctl.md, \"check\"");
    say_list(d, check, "Warnings", "operating.md, \"How many polls can wait\"");
    status = ask_status(&options, "status?json", &why, d->pool);
    check_threads(d, status);
    json_decref(status);
    json_decref(check);
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
        check_server(d, poll);
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
        check_server(d, poll);
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
    check_server(d, d->stream);
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
        d->live = 1;
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
        check_server(d, poll);
    }
}
