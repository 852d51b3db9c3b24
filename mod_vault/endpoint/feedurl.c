/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a feed's method by URL. Only one spelling of the URL is accepted, so that <Location "/vault/feed/NAME">
 * restricts a feed reliably. */
#include "endpoint/feedurl.h"

#include "apr_lib.h"
#include "apr_strings.h"
#include "http_log.h"

#include "base/call_name.h"
#include "base/json_text.h"
#include "base/now.h"
#include "base/text.h"
#include "endpoint/endpoint_conf.h"
#include "endpoint/feed_page.h"
#include "feed/feedcall.h"
#include "feed/feeds.h"
#include "page/method_url.h"
#include "poll/poll_conf.h"
#include "poll/unsent.h"
#include "request/client.h"
#include "request/origin.h"
#include "request/reply.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/recorded.h"
#include "view/feed_key.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* Retry-After for refused clients, in seconds. */
#define RETRY_AFTER 5

/* ---------------------------------------------------------------------- URLs */

static apr_size_t name_length(const char *text)
{
    apr_size_t n = 0;

    while (apr_isalnum(text[n]) || text[n] == '_' || text[n] == '-') {
        n++;
    }
    return n;
}

int vault_feedurl_is_name(const char *name)
{
    apr_size_t n = name_length(name);

    return n && !name[n];
}

/* The rest of `url` after BASE/feed/, or NULL. */
static const char *after_base(const char *url, const char *base)
{
    apr_size_t length = strlen(base);

    return !strncmp(url, base, length) && !strncmp(url + length, "/feed/", 6) ? url + length + 6 : NULL;
}

int vault_feedurl_is(const char *url, const char *base)
{
    const char *p = after_base(url, base);
    apr_size_t n = p ? name_length(p) : 0;

    if (!n || p[n] != '/') {
        return 0;
    }
    p += n + 1;
    n = name_length(p);
    return n && (!p[n] || p[n] == '?') && vault_method_is_url(url);
}

/* The method that the URL names, if it is exposed here; otherwise NULL. */
static const vault_exposed_t *find_exposed(const request_rec *r)
{
    const vault_endpoint_conf_t *l = vault_endpoint_conf_of(r);
    const char *rest = after_base(r->uri, vault_view_conf_path(vault_view_conf_of(r)));
    int i;

    for (i = 0; rest && l->exposed && i < l->exposed->nelts; i++) {
        const vault_exposed_t *e = &APR_ARRAY_IDX(l->exposed, i, vault_exposed_t);
        apr_size_t n = strlen(e->feed);
        if (!strncmp(rest, e->feed, n) && rest[n] == '/' && !strcmp(rest + n + 1, e->method)) {
            return e;
        }
    }
    return NULL;
}

/* For programs with the key, which can call all methods, exposed or not. NULL: the URL names no method. */
static const vault_exposed_t *find_any(const request_rec *r)
{
    const char *base = vault_view_conf_path(vault_view_conf_of(r)), *rest = after_base(r->uri, base);
    apr_size_t feed = rest ? name_length(rest) : 0;
    vault_exposed_t *e;

    if (!feed || rest[feed] != '/' || !vault_feedurl_is_name(rest + feed + 1)) {
        return NULL;
    }
    e = apr_palloc(r->pool, sizeof(*e));
    e->feed = apr_pstrmemdup(r->pool, rest, feed);
    e->method = rest + feed + 1;
    return vault_feeds_check_method(e->feed, e->method, r->pool) ? NULL : e;
}

static int is_trusted(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return x && x->trusted;
}

/* ------------------------------------------------------------------- answers */

/* Refuses the call. If it is a method of a page, the method fails as a whole. */
static int refuse(request_rec *r, int status, const char *error)
{
    const vault_context_t *x = vault_context_get(r);
    int over = vault_feed_page_fail(r);

    if (over != DECLINED) {
        return over;
    }
    if (x && x->in_method && x->txn) {
        vault_page_txn_fail(x->txn, error);
    }
    return vault_reply_error(r, status, error);
}

/* The client may try again when the next minute of the clock begins. */
static int refuse_for_now(request_rec *r, const char *error)
{
    apr_table_setn(r->headers_out, "Retry-After", apr_itoa(r->pool, 60 - (int)(apr_time_sec(r->request_time) % 60)));
    return refuse(r, HTTP_TOO_MANY_REQUESTS, error);
}

/* A feed's message about itself (paths, errors of a database) is only logged. A message about an argument is
 * for the client that has sent it. */
static int answer_failure(request_rec *r, const vault_exposed_t *e, apr_status_t rv, const char *error)
{
    static apr_time_t said;
    int over = vault_feed_page_fail(r);

    if (over != DECLINED) {
        return over;
    }
    if (rv == APR_EINVAL) {
        return refuse(r, HTTP_BAD_REQUEST, error);
    }
    if (rv == APR_EBUSY) {
        return refuse_for_now(r, error);
    }
    if (rv == APR_ENOSPC) {
        return refuse(r, HTTP_REQUEST_ENTITY_TOO_LARGE, error);
    }
    if (!vault_context_get(r)->in_method) {
        int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00070) "feed %s, method %s: %s", e->feed, e->method, error);
    }
    if (rv == APR_EAGAIN) {
        return vault_reply_retry(r, RETRY_AFTER, "the data cannot be reached now");
    }
    return vault_reply_error(r, HTTP_INTERNAL_SERVER_ERROR, "the feed failed; the server's log says why");
}

/* Rows as text, up to the size that is allowed. */
typedef struct rows_text_t {
    vault_json_text_t t;
    apr_size_t room;
} rows_text_t;

static int take_part(const char *part, size_t length, void *baton)
{
    rows_text_t *text = baton;

    if (length > text->room - text->t.length) {
        return -1;
    }
    vault_json_text_bytes(&text->t, part, length);
    return text->t.lost ? -1 : 0;
}

/* A method of a page has a size limit of its own, which is checked elsewhere. */
static int answer_text(request_rec *r, json_t *rows, char **answer)
{
    const vault_context_t *x = vault_context_get(r);
    rows_text_t text = {.room = x->in_method ? APR_SIZE_MAX : x->room};
    int written = !json_dump_callback(rows, take_part, &text, JSON_COMPACT);

    json_decref(rows);
    if (written) {
        *answer = vault_json_text_end(&text.t);
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    vault_json_text_drop(&text.t);
    return refuse(r, HTTP_REQUEST_ENTITY_TOO_LARGE,
                  apr_psprintf(r->pool,
                               "the answer has more than %" APR_SIZE_T_FMT
                               " bytes, VaultMaxAnswer: ask for less, with limit= where the method takes it",
                               x->room));
}

/* The header Vault-Rows tells the application, which renders the rows, whether they replace what the page
 * shows. They do if the view becomes no page. */
static int answer_page(request_rec *r, const char *cursor, json_t *rows, char **text)
{
    const vault_context_t *x = vault_context_get(r);
    int first = !x->txn || !vault_page_txn_knows(x->txn, cursor) || (rows && vault_feedcall_is_reset(r, rows));

    if (!rows && !first) {
        return vault_reply_nothing(r);
    }
    apr_table_setn(r->headers_out, "Vault-Rows", first ? "first" : "new");
    return answer_text(r, rows ? rows : json_array(), text);
}

/* A first call without rows is answered by an empty list; a page that waits stays as it is. A first view is
 * marked as such, because the feed may send it again when it cannot tell what is new. */
static int answer_rows(request_rec *r, json_t *rows, char **text)
{
    vault_context_t *x = vault_context_get(r);

    if (x->in_method && x->txn) {
        vault_recording_first(x->recording, vault_page_txn_is_first(x->txn));
        if (vault_page_txn_is_first(x->txn) || (rows && vault_feedcall_is_reset(r, rows))) {
            x->format = "first";
        }
        else if (!rows) {
            return vault_reply_nothing(r);
        }
    }
    return answer_text(r, rows ? rows : json_array(), text);
}

/* The page with the form that a visitor has sent, if the browser navigates to the answer; then no script has
 * sent it. @return NULL: not a form */
static const char *page_of_form(const request_rec *r, const vault_exposed_t *e)
{
    const char *accept = apr_table_get(r->headers_in, "Accept");
    int is_form = r->method_number == M_POST && vault_feeds_writes(e->feed, e->method);

    return is_form && accept && ap_strstr_c(accept, "text/html") ? vault_origin_page(r) : NULL;
}

static int answer_form(request_rec *r, const char *page, json_t *rows)
{
    json_decref(rows);
    apr_table_setn(r->headers_out, "Location", page);
    return HTTP_SEE_OTHER;
}

/* Adds the call's cursor and interests to the run before the rows are sent. If that fails, the application must
 * not show the rows. */
static int add_to_page(request_rec *r, int status, char **text)
{
    int added = *text || r->status == HTTP_NO_CONTENT ? vault_feed_page_add(r) : DECLINED;

    if (added == DECLINED) {
        return status;
    }
    apr_table_unset(r->headers_out, "Vault-Rows");
    vault_text_free(*text);
    *text = NULL;
    return added;
}

/* @param text  receives the answer; NULL: the return value is the answer */
static int call_for_page(request_rec *r, const vault_exposed_t *e, const json_t *args, char **text)
{
    apr_pool_t *pool = vault_context_get(r)->pool;
    const char *error = NULL, *cursor = vault_call_name(e->feed, e->method, args, pool);
    int status = vault_feed_page_begin(r, cursor);
    json_t *rows = NULL;
    apr_status_t rv;

    if (status != DECLINED) {
        return status;
    }
    rv = vault_feedcall_run(r, e->feed, e->method, args, &rows, &error, pool);
    if (rv != APR_SUCCESS) {
        return answer_failure(r, e, rv, error);
    }
    status = vault_feeds_writes(e->feed, e->method) ? answer_rows(r, rows, text) : answer_page(r, cursor, rows, text);
    return add_to_page(r, status, text);
}

/* @param text  receives the answer; NULL: the return value is the answer */
static int call(request_rec *r, const vault_exposed_t *e, const json_t *args, char **text)
{
    const char *error = NULL, *page = is_trusted(r) ? NULL : page_of_form(r, e);
    json_t *rows = NULL;
    apr_status_t rv;

    if (is_trusted(r) && vault_feed_caller_page(r)) {
        return call_for_page(r, e, args, text);
    }
    rv = vault_feedcall_run(r, e->feed, e->method, args, &rows, &error, r->pool);
    if (rv == APR_SUCCESS && page) {
        return answer_form(r, page, rows);
    }
    return rv == APR_SUCCESS ? answer_rows(r, rows, text) : answer_failure(r, e, rv, error);
}

/* A call that is not part of a method or a view frees its memory before the answer is sent, since the client
 * may be slow to read. */
static int call_and_answer(request_rec *r, const vault_exposed_t *e, const json_t *args)
{
    vault_context_t *x = vault_context_make(r);
    const vault_poll_conf_t *l = vault_poll_conf_of(r);
    apr_pool_t *outer = x->pool;
    char *text = NULL;
    int own = !x->in_method && !x->in_view, status;

    if (!r->main && !x->trusted && !vault_feeds_writes(e->feed, e->method) &&
        !vault_unsent_allows(r, vault_client_of(r))) {
        return vault_reply_retry(r, RETRY_AFTER, VAULT_UNSENT_REFUSED);
    }
    if (own) {
        apr_pool_create(&x->pool, vault_server->scratch);
    }
    x->room = (apr_size_t)(x->in_method ? vault_poll_conf_max_output(l) : vault_poll_conf_max_answer(l));
    status = call(r, e, args, &text);
    x->room = 0;
    vault_feed_page_end(r);
    if (own) {
        apr_pool_destroy(x->pool);
        x->pool = outer;
    }
    return !text ? status : r->main || x->trusted ? vault_reply_text(r, HTTP_OK, text) : vault_unsent_reply(r, text);
}

/* ------------------------------------------------------------------- request */

/* @return NULL, or a sentence that says what is wrong. A field with an empty name is ignored: a page can use it
 *         to have two methods with the same call. */
static const char *read_arguments(json_t *args, const apr_array_header_t *fields, apr_pool_t *pool)
{
    int i;

    for (i = 0; i < fields->nelts; i++) {
        const vault_field_t *f = &APR_ARRAY_IDX(fields, i, vault_field_t);
        apr_status_t rv = *f->name ? vault_feedcall_argument(args, f->name, f->value) : APR_SUCCESS;
        if (rv != APR_SUCCESS) {
            return apr_psprintf(pool, "the argument %.60s %s", f->name,
                                rv == APR_EEXIST ? "is given twice" : "is not UTF-8, or has no proper name");
        }
    }
    return NULL;
}

static int handle(request_rec *r, const vault_exposed_t *e)
{
    apr_array_header_t *fields;
    const char *wrong;
    json_t *args;
    int status = vault_reply_fields(r, &fields, VAULT_REPLY_FORM_MAX, r->pool);

    if (status == HTTP_BAD_REQUEST) {
        return refuse(r, status, "the query and a form must be URL-encoded, with no NUL and at most 100 fields");
    }
    if (status == HTTP_UNSUPPORTED_MEDIA_TYPE) {
        return refuse(r, status, VAULT_REPLY_FORM_ONLY);
    }
    if (status != OK) {
        return refuse(r, status, "the form is too long or incomplete");
    }
    args = json_object();
    wrong = read_arguments(args, fields, r->pool);
    status = wrong ? refuse(r, HTTP_BAD_REQUEST, wrong) : call_and_answer(r, e, args);
    json_decref(args);
    return status;
}

/* @return OK; otherwise what the handler returns: 405 has been answered */
static int check_method(request_rec *r, const vault_exposed_t *e)
{
    if (!vault_feeds_writes(e->feed, e->method)) {
        return vault_reply_method(r, 1, 1);
    }
    return r->method_number == M_POST ? OK : vault_reply_allow(r, "POST", "a feed's method that writes takes POST");
}

/* A wrong key is an error. If it were ignored, each call would be a first view, and the page would show all
 * rows again and again. */
static int refuse_key(request_rec *r)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING), any = vault_feed_key_of(r) != NULL;

    ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00343) "a call of a feed was refused: %s",
                  any ? "its key is not the one of VaultFeedKeyFile"
                      : "it comes with a key and Vault-Page, and VaultFeedKeyFile is not set for this virtual host");
    apr_table_setn(r->err_headers_out, "WWW-Authenticate", "Bearer error=\"invalid_token\"");
    return vault_reply_error(r, HTTP_UNAUTHORIZED,
                             any ? "the key is not the one of VaultFeedKeyFile"
                                 : "VaultFeedKeyFile is not set for this virtual host");
}

/* @return DECLINED: continue; otherwise what the handler returns */
static int admit(request_rec *r)
{
    vault_feed_caller_t caller = vault_feed_caller(r);

    if (caller == VAULT_FEED_CALLER_WRONG) {
        return refuse_key(r);
    }
    if (caller == VAULT_FEED_CALLER_TRUSTED) {
        vault_context_make(r)->trusted = 1;
        return DECLINED;
    }
    return vault_origin_admit(r, "GET, POST", r->method_number == M_GET);
}

int vault_feedurl_handler(request_rec *r)
{
    const vault_exposed_t *e;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-feed")) {
        return DECLINED;
    }
    apr_table_setn(r->headers_out, "X-Content-Type-Options", "nosniff");
    if ((status = admit(r)) != DECLINED) {
        return status;
    }
    if (!(e = is_trusted(r) ? find_any(r) : find_exposed(r))) {
        return refuse(r, HTTP_NOT_FOUND,
                      is_trusted(r) ? "there is no such method of a feed" : "no such method of a feed is exposed here");
    }
    if (r->main && vault_feeds_writes(e->feed, e->method)) {
        return refuse(r, HTTP_METHOD_NOT_ALLOWED, "the method changes data: it is called by POST, and not polled");
    }
    status = check_method(r, e);
    vault_recorded_share(r);
    return status == OK ? handle(r, e) : status;
}
