/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the run to which an application's request belongs, and answers with the reason if there is none. */
#include "endpoint/feed_page.h"

#include "request/reply.h"
#include "server/server.h"
#include "view/context.h"
#include "view/feed_key.h"

#define RETRY_AFTER 5

#define OVER                                                                                                           \
    "the run that Vault-Page names has ended, and nothing was stored: call a feed before the answer to httpd is "      \
    "complete"
#define NO_RUN                                                                                                         \
    "this Vault-Page names no run: rows for a page can be requested while its method or the page itself is rendered, " \
    "with the value of Vault-Page as httpd has sent it"
#define TWICE "this run has made the same call already: keep its rows and use them again"

static int refuse(request_rec *r, apr_status_t rv)
{
    switch (rv) {
    case APR_NOTFOUND:
        return vault_reply_error(r, HTTP_GONE, "there is no such page any more");
    case APR_ECONNABORTED:
        return vault_reply_error(r, HTTP_CONFLICT, OVER);
    case APR_EEXIST:
        return vault_reply_error(r, HTTP_CONFLICT, TWICE);
    default:
        return vault_reply_retry(r, RETRY_AFTER, "the page's state does not fit in the shared memory");
    }
}

/* If a view cannot become a page, since it answers a HEAD request or there is no room, httpd has given the application
 * an id without a page and without a run.
 * @return DECLINED: continue, without a page if there is no run; else the handler returns this */
static int read_calls(request_rec *r, vault_calls_t *calls, const char *said)
{
    if (!vault_server->pages || !vault_feed_key_parse(calls, said)) {
        return vault_reply_error(r, HTTP_BAD_REQUEST, "Vault-Page is not what httpd has sent to an application");
    }
    vault_page_locate(vault_server->pages, &calls->page);
    calls->key = vault_feed_key_of(r)->id;
    return calls->run || !calls->page.index ? DECLINED : vault_reply_error(r, HTTP_CONFLICT, NO_RUN);
}

int vault_feed_page_begin(request_rec *r, const char *cursor)
{
    vault_context_t *x = vault_context_make(r);
    const char *said = x->trusted ? vault_feed_caller_page(r) : NULL;
    vault_calls_base_t *b;
    apr_status_t rv;
    int status;

    if (!said) {
        return DECLINED;
    }
    status = read_calls(r, &x->calls, said);
    if (status != DECLINED || !x->calls.run) {
        x->calls.run = 0;
        return status;
    }
    b = apr_pcalloc(x->pool, sizeof(*b));
    rv = vault_page_calls_read(vault_server->pages, &x->calls, b, x->pool);
    if (rv == APR_SUCCESS && b->made && vault_state_cursor(b->made, b->url, cursor)) {
        rv = APR_EEXIST;
    }
    if (rv != APR_SUCCESS) {
        x->calls.run = 0;
        return refuse(r, rv);
    }
    x->outside = b;
    x->txn = vault_page_txn_create_call(vault_server->pages, &x->calls, b, x->pool);
    return DECLINED;
}

int vault_feed_page_add(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);
    apr_status_t rv;

    if (!x->outside) {
        return DECLINED;
    }
    rv = vault_page_calls_add(vault_server->pages, &x->calls, vault_page_txn_made(x->txn), x->pool);
    if (rv == APR_SUCCESS) {
        return DECLINED;
    }
    if (rv != APR_EEXIST) {
        vault_page_calls_fail(vault_server->pages, &x->calls);
    }
    return refuse(r, rv);
}

int vault_feed_page_fail(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);
    apr_status_t rv;

    if (!x || !x->outside) {
        return DECLINED;
    }
    rv = vault_page_calls_fail(vault_server->pages, &x->calls);
    return rv == APR_SUCCESS ? DECLINED : refuse(r, rv);
}

void vault_feed_page_end(request_rec *r)
{
    vault_context_t *x = vault_context_get(r);

    if (x && x->outside) {
        x->outside = NULL;
        x->txn = NULL;
        x->results = NULL;
        x->calls.run = 0;
    }
}
