/* SPDX-License-Identifier: Apache-2.0 */
/* doctor: loads a page as a browser does, and says whether it is live. If it is not, it says why not, as far as
 * that can be seen from outside.
 */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "output.h"

#define REDIRECTS_MAX 5
#define ID_LENGTH 40
#define HTML "text/html,application/xhtml+xml,*/*;q=0.8"

/* ----------------------------------------------------------------- sentences */

/* JSON cannot hold bytes that are not UTF-8. */
static json_t *sentence(char *text)
{
    json_t *string = json_string(text);

    if (string == NULL) {
        text[vaultctl_output_clean(text, strlen(text))] = '\0';
        string = json_string(text);
    }
    return string;
}

static void say(vaultctl_doctor_t *d, json_t *list, const char *label, char *text)
{
    json_array_append_new(list, sentence(text));
    if (!d->options->json) {
        vaultctl_print("%s%s\n", label, text);
    }
}

/* Formats by the C library, which knows the format of jansson's integers; APR does not. */
static char *format(vaultctl_doctor_t *d, const char *fmt, va_list args) __attribute__((format(printf, 2, 0)));

static char *format(vaultctl_doctor_t *d, const char *fmt, va_list args)
{
    char *text, *copy;

    if (vasprintf(&text, fmt, args) < 0) {
        return apr_pstrdup(d->pool, "");
    }
    copy = apr_pstrdup(d->pool, text);
    free(text);
    return copy;
}

void vaultctl_doctor_fact(vaultctl_doctor_t *d, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(d, d->facts, "", format(d, fmt, args));
    va_end(args);
}

void vaultctl_doctor_change(vaultctl_doctor_t *d, const char *manual, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    say(d, d->changes, "change: ", apr_pstrcat(d->pool, format(d, fmt, args), "; see ", manual, NULL));
    va_end(args);
}

const char *vaultctl_doctor_header(const vaultctl_visit_t *visit, const char *name)
{
    const char *value = apr_table_get(visit->headers, name);

    return value != NULL ? value : "";
}

int vaultctl_doctor_is_id(const char *id)
{
    return strlen(id) == ID_LENGTH && strspn(id, "0123456789abcdefABCDEF") == ID_LENGTH;
}

/* ---------------------------------------------------------------------- load */

/* Loads the page, and follows redirects.
 * @param tell  report where they lead
 * @return NULL, or why there is no answer */
static const char *load(vaultctl_doctor_t *d, vaultctl_visit_t *page, int plain, int tell)
{
    vaultctl_request_t request = {.url = vaultctl_visitor_url(d->visitor), .accept = HTML, .plain = plain};
    const char *why = vaultctl_visit(d->visitor, page, &request, d->pool);

    for (int i = 0; why == NULL && page->location != NULL && i < REDIRECTS_MAX; i++) {
        if (tell) {
            vaultctl_doctor_fact(d, "%s leads to %s (%ld)%s.", page->url, page->location, page->status,
                                 vaultctl_visitor_knows(d->visitor, page->location)
                                     ? ""
                                     : ", another origin, which is not told the login and the headers of this command");
        }
        request.url = page->location;
        why = vaultctl_visit(d->visitor, page, &request, d->pool);
    }
    return why;
}

static void tell_who_answers(vaultctl_doctor_t *d)
{
    const char *server = vaultctl_doctor_header(&d->page, "Server"), *via = vaultctl_doctor_header(&d->page, "Via");

    vaultctl_doctor_fact(d, "%s answers %ld over %s%s%s.", d->page.url, d->page.status, d->page.version,
                         *server ? ", by " : "; it does not say by which server", server);
    if (*via) {
        vaultctl_doctor_fact(d, "A proxy is in between (Via: %s).", via);
    }
}

/* ------------------------------------------------------------------ not live */

static int is_html(const vaultctl_visit_t *page)
{
    const char *type = vaultctl_doctor_header(page, "Content-Type");

    return strncasecmp(type, "text/html", 9) == 0 || strncasecmp(type, "application/xhtml+xml", 21) == 0;
}

static int is_redirected(const vaultctl_doctor_t *d)
{
    return strcmp(d->page.url, vaultctl_visitor_url(d->visitor)) != 0;
}

/* @return 1: a login is needed, which has been reported */
static int is_signed_out(vaultctl_doctor_t *d)
{
    if (d->page.status == 401) {
        vaultctl_doctor_change(d, "vaultctl.md, \"doctor\"",
                               "A user is needed: --user or --netrc say who, or --header \"Cookie: ...\" with what a "
                               "browser sends that is logged in");
        return 1;
    }
    if (d->script == NULL && d->stream == NULL && is_redirected(d) && d->html.password) {
        vaultctl_doctor_change(d, "vaultctl.md, \"doctor\"",
                               "This is a page for logging in: --header \"Cookie: ...\" with what a browser sends that "
                               "is logged in shows the page itself");
        return 1;
    }
    return 0;
}

/* A header that mod_vault would have removed; NULL: there is none. */
static const char *header_left(const vaultctl_visit_t *page)
{
    static const char *const names[] = {"Vault-Poll",     "Vault-Stream", "Vault-Property",
                                        "Vault-Interest", "Vault-Update", "Vault-Notify"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (apr_table_get(page->headers, names[i]) != NULL) {
            return names[i];
        }
    }
    return NULL;
}

/* Is the page live without compression? An application may compress its answers itself if the client accepts
 * that. */
static int is_live_uncompressed(vaultctl_doctor_t *d)
{
    vaultctl_visit_t page;
    vaultctl_html_t html = {.script = NULL};

    if (*vaultctl_doctor_header(&d->page, "Content-Encoding") && load(d, &page, 1, 0) == NULL) {
        vaultctl_html_read(&html, page.body, page.length, d->pool);
    }
    return html.script != NULL;
}

static void say_why_no_script(vaultctl_doctor_t *d)
{
    const char *left = header_left(&d->page);

    if (left != NULL) {
        vaultctl_doctor_change(
            d, "controllers.md, \"Headers\"",
            "The answer still has its header %s, which mod_vault takes out of every answer: the httpd "
            "that answers has not loaded mod_vault, so include vault.conf there",
            left);
    }
    else if (is_live_uncompressed(d)) {
        vaultctl_doctor_change(d, "controllers.md, \"Headers of an answer\"",
                               "The application compresses its HTML itself, so that the script cannot be put in for "
                               "browsers: have it leave that to httpd (mod_deflate), or unset Accept-Encoding for it");
    }
    else if (d->html.ssi) {
        vaultctl_doctor_change(
            d, "ssi.md, \"Live pages in SSI\"",
            "Tags of SSI are in the HTML as they were written: Options +Includes and AddOutputFilter "
            "INCLUDES .shtml are needed there");
    }
    else if (strstr(d->page.body, "[an error occurred while processing this directive]") != NULL) {
        vaultctl_doctor_change(d, "log-messages.md, \"VLT00040\"", "A tag of SSI has failed: the error log says which");
    }
    else {
        vaultctl_doctor_change(
            d, "controllers.md, \"Headers\"",
            "The HTML has no script of mod_vault: VaultLongPoll is not On there, or nothing names a "
            "method (<!--#vault poll=\"...\" -->, the headers Vault-Poll and Vault-Stream, the directive "
            "VaultPoll). Where something does, the error log says why it does not count (VLT00010, VLT00011, "
            "VLT00064)");
    }
}

static void say_why_not_live(vaultctl_doctor_t *d)
{
    const char *type = vaultctl_doctor_header(&d->page, "Content-Type");

    if (d->page.location != NULL) {
        vaultctl_doctor_change(d, "vaultctl.md, \"doctor\"", "There are more than %d redirects", REDIRECTS_MAX);
    }
    else if (d->page.status >= 400) {
        vaultctl_doctor_change(d, "protocol.md, \"A page\"", "An answer of status %ld is never a live page%s",
                               d->page.status,
                               d->page.status == 403 ? ": the server does not let it be seen from here" : "");
    }
    else if (!is_html(&d->page)) {
        vaultctl_doctor_change(d, "protocol.md, \"A page\"", "The answer is no HTML (Content-Type: %s)",
                               *type ? type : "missing");
    }
    else {
        say_why_no_script(d);
    }
}

/* -------------------------------------------------------------------- caches */

/* The headers by which caches show themselves. */
static const char *traces_of_cache(const vaultctl_visit_t *page, apr_pool_t *pool)
{
    static const char *const names[] = {"Age", "X-Cache", "CF-Cache-Status", "X-Varnish", "X-Proxy-Cache", "Via"};
    const char *traces = "";

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *value = apr_table_get(page->headers, names[i]);

        if (value != NULL) {
            traces = apr_pstrcat(pool, traces, *traces ? ", " : "", names[i], ": ", value, NULL);
        }
    }
    return *traces ? traces : "no header says which";
}

/* Loading a page twice gives two pages, unless a cache stores the HTML. */
static void check_for_caches(vaultctl_doctor_t *d)
{
    const char *control = vaultctl_doctor_header(&d->page, "Cache-Control"), *why;
    vaultctl_visit_t again;
    vaultctl_html_t html;

    why = load(d, &again, 0, 0);
    if (why != NULL) {
        vaultctl_doctor_change(d, "operating.md, \"Page caches and crawlers\"",
                               "The page could not be loaded again: %s", why);
        return;
    }
    vaultctl_html_read(&html, again.body, again.length, d->pool);
    if (html.page != NULL && strcmp(html.page, d->html.page) == 0) {
        vaultctl_doctor_change(d, "operating.md, \"Page caches and crawlers\"",
                               "Two loadings gave the same page: a cache or a caching plug-in keeps the HTML (%s), and "
                               "its visitors share one page. Exempt this URL from it, or make the page a plain file",
                               traces_of_cache(&again, d->pool));
    }
    else if (strstr(control, "no-store") == NULL) {
        vaultctl_doctor_change(
            d, "operating.md, \"Page caches and crawlers\"",
            "Cache-Control is \"%s\" where mod_vault says \"private, no-store\": something changes it "
            "on the way, and a cache may then give one visitor's page to others",
            control);
    }
    else {
        vaultctl_doctor_fact(d, "No cache keeps it: two loadings are two pages, and Cache-Control is \"%s\".", control);
    }
}

/* -------------------------------------------------------------------- doctor */

static void tell_client(vaultctl_doctor_t *d)
{
    d->script = d->html.script != NULL ? vaultctl_url_resolve(d->page.url, d->html.script, d->pool) : NULL;
    d->stream = d->html.stream != NULL ? vaultctl_url_resolve(d->page.url, d->html.stream, d->pool) : NULL;
    if (d->script == NULL && d->stream != NULL) {
        vaultctl_doctor_fact(d,
                             "Its HTML is that of a live page, %.12s, without the script of mod_vault: a client of its "
                             "own, such as Turbo or htmx, takes the stream at %s.",
                             d->html.page, d->stream);
        return;
    }
    if (d->script == NULL) {
        return;
    }
    if (d->stream != NULL) {
        vaultctl_doctor_change(
            d, "controllers.md, \"Turbo and htmx without the script\"",
            "The HTML has the script of mod_vault, and another client that takes the stream: each takes "
            "the page from the other. The header Vault-Stream in the place of Vault-Poll leaves the "
            "script out");
    }
    if (d->html.page == NULL) {
        vaultctl_doctor_fact(d, "Its HTML is a plain file with the script %s, which asks for a page.", d->script);
    }
    else {
        vaultctl_doctor_fact(d, "Its HTML is that of a live page, %.12s, with the script %s.", d->html.page, d->script);
    }
}

static void examine(vaultctl_doctor_t *d)
{
    tell_who_answers(d);
    if (is_html(&d->page)) {
        vaultctl_html_read(&d->html, d->page.body, d->page.length, d->pool);
        tell_client(d);
    }
    if (is_signed_out(d)) {
        return;
    }
    if (d->page.location != NULL || d->page.status >= 400 || (d->script == NULL && d->stream == NULL)) {
        say_why_not_live(d);
        return;
    }
    if (d->html.page != NULL && !vaultctl_doctor_is_id(d->html.page)) {
        vaultctl_doctor_change(d, "client.md, \"The script element\"",
                               "%s is no id of 40 hexadecimal digits: something on the way has changed the HTML",
                               d->script != NULL ? "data-vault-page" : "The page of the stream");
        return;
    }
    if (d->html.page != NULL) {
        check_for_caches(d);
    }
    vaultctl_doctor_polls(d);
}

static int print_verdict(vaultctl_doctor_t *d)
{
    size_t changes = json_array_size(d->changes);

    if (d->options->json) {
        json_t *all =
            json_pack("{s:o, s:b, s:O, s:O}", "Url", sentence(apr_pstrdup(d->pool, vaultctl_visitor_url(d->visitor))),
                      "Live", d->live, "Facts", d->facts, "Changes", d->changes);
        vaultctl_print_json(all, JSON_INDENT(2));
        json_decref(all);
    }
    else if (changes == 0) {
        vaultctl_print("The page is live, and there is nothing to change.\n");
    }
    else {
        vaultctl_print("The page is %s, and there is something to change.\n", d->live ? "live" : "not live");
    }
    return d->live && changes == 0 ? VAULTCTL_DONE : VAULTCTL_FAILED;
}

int vaultctl_doctor(const vaultctl_options_t *options, char *const *words, int count, apr_pool_t *pool)
{
    vaultctl_doctor_t d = {.pool = pool};
    vaultctl_options_t own = *options;
    const char *why;
    int status;

    if (count != 1) {
        return vaultctl_say(VAULTCTL_USAGE, count ? "one page at a time" : "which page? Its URL is needed");
    }
    d.options = &own;
    d.visitor = vaultctl_visitor_open(&own, words[0], pool);
    if (d.visitor == NULL) {
        return VAULTCTL_TROUBLE;
    }
    own.user = vaultctl_visitor_user(d.visitor);
    d.facts = json_array();
    d.changes = json_array();
    why = load(&d, &d.page, 0, 1);
    if (why != NULL) {
        status = vaultctl_say(VAULTCTL_TROUBLE, "%s", why);
    }
    else {
        examine(&d);
        status = print_verdict(&d);
    }
    json_decref(d.facts);
    json_decref(d.changes);
    return status;
}
