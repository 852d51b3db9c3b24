/* SPDX-License-Identifier: Apache-2.0 */
/* POST {"add":[URL, …]} creates a page with these methods. Each method runs at once, as the page's first poll
 * would run it, and the answers are what the page shows.
 *
 * POST {"page":ID,"add":[URL, …],"remove":[URL, …]} changes the methods of an existing page. The page's next
 * poll runs the new ones. Each new method is tried before without the page, since a poll cannot report what is
 * wrong with a call.
 */
#include "endpoint/subscriptions.h"

#include "apr_strings.h"

#include "endpoint/feedurl.h"
#include "poll/method.h"
#include "poll/poll_conf.h"
#include "poll/unsent.h"
#include "poll/updates.h"
#include "request/body.h"
#include "request/client.h"
#include "request/origin.h"
#include "request/realm.h"
#include "request/reply.h"
#include "server/server.h"
#include "store/store.h"
#include "view/context.h"
#include "view/view_conf.h"

/* The size of a hundred URLs of the greatest length, with the JSON around them. */
#define BODY_MAX (128 * 1024)
/* The most methods in one request, since each of them runs. */
#define METHODS_MAX 100
/* Retry-After for clients that were refused at a limit, in seconds. */
#define RETRY_AFTER 5

typedef struct request_t {
    request_rec *r;
    json_t *body; /* the parsed body */
    const json_t *page, *add, *remove;
    vault_updates_t updates;
    vault_answer_budget_t budget; /* the size limit of the answer */
} request_t;

/* ------------------------------------------------------------------- methods */

static void refuse(request_t *q, const char *url, int status, const char *error)
{
    vault_refused_t refused = {.url = url, .status = status, .error = error};

    vault_updates_refuse(&q->updates, &refused, NULL);
}

/* The error that the URL's handler has sent to the browser. If it has sent none, the reason is only in the log. */
static const char *error_of(const vault_output_t *o, apr_pool_t *pool)
{
    json_t *body = o->body ? json_loadb(o->body, o->length, 0, NULL) : NULL;
    const char *error = json_string_value(json_object_get(body, "error"));

    error = error                  ? apr_pstrdup(pool, error)
            : o->status != HTTP_OK ? apr_psprintf(pool, "its status is %d", o->status)
                                   : "what it answered cannot be passed on; the server's log says why";
    json_decref(body);
    return error;
}

/* Reports a failed method. An error in the request (4xx) is permanent, any other failure may pass. @return 1:
 * the page keeps the method */
static int report(request_t *q, vault_output_t *o)
{
    int wrong =
        vault_method_is_refusal(o->status) || (o->status >= HTTP_BAD_REQUEST && o->status < HTTP_INTERNAL_SERVER_ERROR);

    refuse(q, o->url, wrong ? o->status : HTTP_SERVICE_UNAVAILABLE, error_of(o, q->r->pool));
    return !wrong;
}

/* The answer has no room for the first rows of this method. The new page keeps the method, and its first poll
 * runs it. */
static void leave_out(request_t *q, const char *url)
{
    refuse(q, url, HTTP_SERVICE_UNAVAILABLE, "the answer is full (VaultMaxAnswer): the rest comes with a poll");
}

/* Runs a method of the new page. */
static void run_method(request_t *q, vault_context_t *x, const char *url)
{
    apr_off_t max = vault_poll_conf_max_output(vault_poll_conf_of(q->r));
    vault_output_t o;
    const char *failed;

    x->results = NULL;
    vault_page_txn_begin(x->txn, url);
    if ((failed = vault_method_run(q->r, url, max, &o, x->pool))) {
        vault_page_txn_fail(x->txn, failed);
    }
    vault_tally(runs, 1);
    if (!vault_page_txn_failed(x->txn) && o.body && !vault_updates_add(&q->updates, &o, &q->budget)) {
        vault_page_txn_end(x->txn, 0);
        leave_out(q, url);
        return;
    }
    if (!vault_page_txn_end(x->txn, 1) && !report(q, &o)) {
        vault_page_txn_remove_method(x->txn, url);
    }
}

/* Frees the memory of each method when it has ended. */
static void run_in_scratch(request_t *q, vault_context_t *x, const char *url)
{
    apr_pool_t *outer = x->pool;

    if (!vault_answer_budget_allows(&q->budget, 1)) {
        leave_out(q, url);
        return;
    }
    apr_pool_create(&x->pool, vault_server->scratch);
    run_method(q, x, url);
    x->results = NULL;
    apr_pool_destroy(x->pool);
    x->pool = outer;
}

/* May the page have this method? If not, the answer says so. */
static int is_welcome(request_t *q, const char *url)
{
    const char *base = vault_view_conf_path(vault_view_conf_of(q->r));

    if (vault_feedurl_is(url, base)) {
        return 1;
    }
    refuse(q, url, HTTP_BAD_REQUEST, apr_psprintf(q->r->pool, "%s/feed/NAME/METHOD?argument=value is needed", base));
    return 0;
}

static void add_method(request_t *q, vault_context_t *x, const char *url)
{
    int max = vault_view_conf_max_methods(vault_view_conf_of(q->r));

    if (vault_state_method(vault_page_txn_state(x->txn), url) || !is_welcome(q, url)) {
        return;
    }
    if (vault_page_txn_add_method(x->txn, url, max) != APR_SUCCESS) {
        refuse(q, url, HTTP_FORBIDDEN, apr_psprintf(q->r->pool, "a page may have %d methods", max));
        return;
    }
    run_in_scratch(q, x, url);
}

static const char *url_at(const json_t *list, apr_size_t i)
{
    return json_string_value(json_array_get(list, i));
}

/* ------------------------------------------------------------------ new pages */

static int answer(request_t *q, const vault_page_t *page)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    vault_json_text_t t = {.text = NULL};

    vault_json_text_raw(&t, "{\"updates\":");
    vault_updates_write(&t, &q->updates);
    vault_json_text_raw(&t, ",\"refused\":");
    vault_updates_write_refused(&t, &q->updates);
    if (page) {
        vault_page_format(page, id);
        vault_json_text_raw(&t, ",\"page\":\"");
        vault_json_text_raw(&t, id);
        vault_json_text_raw(&t, "\",\"seq\":0");
    }
    vault_json_text_raw(&t, "}");
    return vault_unsent_reply(q->r, vault_json_text_end(&t));
}

static int make_page(request_t *q)
{
    vault_context_t *x = vault_context_make(q->r);
    apr_size_t i;

    if (!vault_unsent_allows(q->r, vault_client_of(q->r))) {
        return vault_reply_retry(q->r, RETRY_AFTER, VAULT_UNSENT_REFUSED);
    }
    x->in_view = 1;
    if (!vault_context_txn(q->r, NULL)) {
        return vault_reply_retry(q->r, RETRY_AFTER, "the server is full");
    }
    x->in_method = 1;
    for (i = 0; i < json_array_size(q->add); i++) {
        add_method(q, x, url_at(q->add, i));
    }
    vault_page_txn_begin(x->txn, "");
    if (!vault_page_txn_state(x->txn)->methods->nelts || q->r->connection->aborted) {
        return answer(q, NULL);
    }
    if (vault_context_publish(q->r) != APR_SUCCESS) {
        return vault_reply_retry(q->r, RETRY_AFTER, "the server is full");
    }
    return answer(q, &x->page);
}

/* ----------------------------------------------------------- pages that there are */

/* Can this call be answered? The rows of the trial are discarded. */
static int passes_trial(request_t *q, const char *url)
{
    apr_off_t max = vault_poll_conf_max_output(vault_poll_conf_of(q->r));
    apr_pool_t *pool = NULL;
    vault_output_t o;
    int passes;

    apr_pool_create(&pool, vault_server->scratch);
    passes = !vault_method_run(q->r, url, max, &o, pool) || report(q, &o);
    apr_pool_destroy(pool);
    return passes;
}

static apr_status_t join_method(request_t *q, const vault_page_t *page, const vault_state_t *base, const char *url)
{
    vault_write_t write = {.method = url, .max_methods = vault_view_conf_max_methods(vault_view_conf_of(q->r))};
    vault_owner_t owner = vault_realm_owner(q->r);
    apr_status_t rv;

    if (vault_state_method(base, url) || !is_welcome(q, url) || !passes_trial(q, url)) {
        return APR_SUCCESS;
    }
    rv = vault_page_write(vault_server->pages, page, &owner, &write, q->r->pool);
    if (rv == APR_ENOSPC) {
        refuse(q, url, HTTP_FORBIDDEN,
               apr_psprintf(q->r->pool, "a page may have %d methods, or the server is full", write.max_methods));
        return APR_SUCCESS;
    }
    return rv;
}

static apr_status_t change_methods(request_t *q, const vault_page_t *page)
{
    vault_owner_t owner = vault_realm_owner(q->r);
    vault_state_t *base;
    apr_status_t rv = APR_SUCCESS;
    apr_size_t i;

    for (i = 0; rv == APR_SUCCESS && i < json_array_size(q->remove); i++) {
        vault_write_t write = {.without = url_at(q->remove, i)};
        rv = vault_page_write(vault_server->pages, page, &owner, &write, q->r->pool);
    }
    if (rv == APR_SUCCESS) {
        rv = vault_page_read(vault_server->pages, page, &owner, &base, q->r->pool);
    }
    for (i = 0; rv == APR_SUCCESS && i < json_array_size(q->add); i++) {
        rv = join_method(q, page, base, url_at(q->add, i));
    }
    return rv;
}

/* If another server takes the page over meanwhile, the change is void there, and the client is told to try again. */
static apr_status_t change_shared(request_t *q, vault_page_t *page)
{
    vault_owner_t owner = vault_realm_owner(q->r);
    apr_status_t rv = vault_store_find(q->r, page, &owner, NULL, 0);

    if (rv == APR_SUCCESS) {
        rv = change_methods(q, page);
    }
    return rv == APR_SUCCESS && vault_store_save(q->r, page) != APR_SUCCESS ? APR_TIMEUP : rv;
}

/* The id was parsed before, so it consists of hexadecimal digits. */
static int answer_change(request_t *q, const char *id)
{
    vault_json_text_t t = {.text = NULL};

    vault_json_text_raw(&t, "{\"page\":\"");
    vault_json_text_raw(&t, id);
    vault_json_text_raw(&t, "\",\"refused\":");
    vault_updates_write_refused(&t, &q->updates);
    vault_json_text_raw(&t, "}");
    return vault_unsent_reply(q->r, vault_json_text_end(&t));
}

static int change_page(request_t *q, const char *id)
{
    vault_page_t page;
    apr_status_t rv = APR_NOTFOUND;

    if (vault_page_parse(&page, id)) {
        vault_page_locate(vault_server->pages, &page);
        rv = change_shared(q, &page);
    }
    switch (rv) {
    case APR_SUCCESS:
        return answer_change(q, id);
    case APR_NOTFOUND:
        vault_tally(expired, 1);
        return vault_reply_error(q->r, HTTP_GONE, "the page has expired");
    case APR_EACCES:
        return vault_reply_error(q->r, HTTP_FORBIDDEN, "the page belongs to another user");
    case APR_EAGAIN:
        return vault_reply_retry(q->r, RETRY_AFTER, "the page is still being rendered");
    default:
        return vault_reply_retry(q->r, RETRY_AFTER, "the server is full");
    }
}

/* ------------------------------------------------------------------- request */

static int is_list_of_urls(const json_t *list)
{
    apr_size_t i;

    for (i = 0; i < json_array_size(list) && json_is_string(json_array_get(list, i)); i++) {
    }
    return json_is_array(list) && i == json_array_size(list) && i <= METHODS_MAX;
}

/* @return OK, or the status to answer */
static int read_request(request_t *q)
{
    char *text;
    int status = vault_body_read(q->r, &text, BODY_MAX, q->r->pool);

    if (status != OK) {
        return status;
    }
    q->body = json_loads(text, 0, NULL);
    q->page = json_object_get(q->body, "page");
    q->add = json_object_get(q->body, "add");
    q->remove = json_object_get(q->body, "remove");
    return is_list_of_urls(q->add) && (!q->page || (json_is_string(q->page) && is_list_of_urls(q->remove)))
               ? OK
               : HTTP_BAD_REQUEST;
}

static int handle(request_t *q)
{
    int status = read_request(q);

    if (status == HTTP_BAD_REQUEST) {
        return vault_reply_error(
            q->r, status,
            "the body must be JSON: {\"add\":[URL, ...]}, and for a page that there is \"page\":ID and "
            "\"remove\":[URL, ...]; each list has 100 at most");
    }
    if (status != OK) {
        return status;
    }
    return q->page ? change_page(q, json_string_value(q->page)) : make_page(q);
}

int vault_subscriptions_handler(request_rec *r)
{
    request_t *q;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-page")) {
        return DECLINED;
    }
    if (r->main) {
        return HTTP_FORBIDDEN; /* its methods would use the context of the request that includes it */
    }
    if ((status = vault_origin_admit(r, "POST", 0)) != DECLINED || (status = vault_reply_method(r, 0, 1)) != OK) {
        return status;
    }
    q = apr_pcalloc(r->pool, sizeof(*q));
    q->r = r;
    vault_updates_begin(&q->updates, r->pool, 0);
    q->budget.most = (apr_size_t)vault_poll_conf_max_answer(vault_poll_conf_of(r));
    status = handle(q);
    json_decref(q->body);
    return status;
}
