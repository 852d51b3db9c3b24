/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: reports what the server's status says: its MPM and limits, the warnings of check, and which methods of the
 * page fail.
 */
#include "doctor.h"

#include <string.h>

#include "apr_strings.h"

#include "http.h"

/* The length of the name by which the status identifies a page. */
#define NAME_LENGTH 12
/* The status is asked for the page this often, with pauses of so many seconds, until the page's methods have run. */
#define LOOKS 10
#define PAUSE 0.5

static json_int_t number(const json_t *object, const char *name)
{
    return json_integer_value(json_object_get(object, name));
}

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

/* ---------------------------------------------------------------------- page */

/* After a run, only a method that failed is due. */
static int is_due(const json_t *method)
{
    const char *state = vaultctl_json_text(json_object_get(method, "state"));

    return strcmp(state, "never run") == 0 || strcmp(state, "to be run") == 0;
}

static size_t count_due(const json_t *methods)
{
    const json_t *method;
    size_t i, count = 0;

    json_array_foreach(methods, i, method)
    {
        count += is_due(method);
    }
    return count;
}

static int has_run(const json_t *page)
{
    return json_is_number(json_object_get(json_object_get(page, "LastRound"), "seconds")) ||
           !count_due(json_object_get(page, "Methods"));
}

/* The page, after a run of its methods. A run that takes long, or a poll that has ended, is not waited for.
 * @return to be released by the caller; NULL: the status does not know it */
static json_t *ask_page(vaultctl_doctor_t *d, const vaultctl_options_t *options)
{
    const char *path = apr_psprintf(d->pool, "status?page=%.*s", NAME_LENGTH, d->html.page), *why;
    json_t *page = ask_status(options, path, &why, d->pool);

    for (int i = 1; i < LOOKS && page != NULL && !has_run(page) && !vaultctl_visit_wait(d->visitor, PAUSE, 0); i++) {
        json_decref(page);
        page = ask_status(options, path, &why, d->pool);
    }
    return page;
}

static void say_failed_methods(vaultctl_doctor_t *d, const json_t *page)
{
    const json_t *methods = json_object_get(page, "Methods"), *method;
    size_t i;

    if (number(json_object_get(page, "LastRound"), "failed") == 0) {
        return;
    }
    json_array_foreach(methods, i, method)
    {
        if (is_due(method)) {
            vaultctl_doctor_change(d, "protocol.md, \"Methods\"",
                                   "The method %s fails when the poll runs it, so the page shows none of its updates: "
                                   "VLT00030 in the error log says why",
                                   vaultctl_json_text(json_object_get(method, "url")));
        }
    }
    d->broken = count_due(methods) == json_array_size(methods);
}

/* -------------------------------------------------------------------- status */

void vaultctl_doctor_server(vaultctl_doctor_t *d, const char *poll)
{
    vaultctl_options_t options = options_of_status(d, poll);
    const char *why;
    json_t *check, *status, *page;

    d->asked = 1;
    check = ask_status(&options, "status?check", &why, d->pool);
    if (check == NULL) {
        vaultctl_doctor_fact(
            d,
            "What kind of server it is, and whether the page's methods fail, cannot be asked from here "
            "(%s): on its own machine --url says where its status is.",
            why);
        return;
    }
    if (d->html.page != NULL) {
        page = ask_page(d, &options);
        if (page == NULL) {
            vaultctl_doctor_fact(
                d, "The status at %s does not know the page: it is that of another server, or no page was kept.",
                options.url);
            json_decref(check);
            return;
        }
        say_failed_methods(d, page);
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
