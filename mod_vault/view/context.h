/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context.h
 * What a request is to the module: a view, which may create a page; a method, which runs for a page; or
 * neither.
 *
 * The context belongs to the main request, and its subrequests (SSI includes, the methods of a poll) share it.
 * The record of a page is created by the first operation that needs it: an interest, a property or a long poll.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CONTEXT_H
#define VAULT_CONTEXT_H

#include "apr_hash.h"
#include "httpd.h"

#include "page/page_calls.h"
#include "page/page_txn.h"

/** A cursor of the page that comes from a kept part (cache/cache_part.h). */
typedef struct vault_taken_t {
    const char *position; /* its value; NULL: none */
    const char *part;     /* the key of the part */
} vault_taken_t;

typedef struct vault_context_t {
    vault_page_txn_t *txn;   /* the transaction of the view or of the poll; NULL: no page */
    apr_pool_t *pool;        /* lives as long as the view or the method */
    vault_page_t page;       /* view: its id is chosen before the page is created, if it ever is */
    int in_method;           /* a method of a poll is running, so its output is an update */
    int in_view;             /* a page is being rendered */
    int is_drawn;            /* view: the application was told the id that the page will have */
    int is_reserved;         /* view: the page has been created early, although the view may not need one */
    int has_poll;            /* view: a long poll was added */
    int sealed;              /* view: the response header has been sent, so it is too late for a page */
    int refused;             /* view: a page was needed and could not be created */
    int wants_script;        /* view: the script element is to be inserted into the HTML */
    int has_script;          /* view: the HTML contains the script element */
    int has_stream;          /* view: another client than vault.js takes the stream, so no script is inserted */
    const char *format;      /* method: the value of Vault-Update; NULL: none */
    const char *rendered;    /* method: the format of the templates rendered so far, "" or "htmx"; NULL: none */
    const vault_page_t *own; /* neither: the page that has sent the request; NULL: none */
    const apr_array_header_t *own_properties; /* of vault_property_t: the properties that were sent to the handler */
    /* The run that external calls can join (page_calls.h), while the method's or view's own request is forwarded; in an
     * external call, the run that it joins. calls.run 0: none. */
    vault_calls_t calls;
    const vault_calls_base_t *outside; /* in an external call: the state that it begins from; otherwise NULL */
    const char *said_page;             /* the value of Vault-Page in a request with a key; NULL: none */
    int trusted;                       /* the request has the key of VaultFeedKeyFile */
    apr_size_t room;                   /* a feed method called by URL: the largest answer, in bytes; 0: no limit here */
    int waits_for_none;                /* method: it does not wait for another request that runs it */
    int may_be_kept;                   /* VaultCache is On for it, so headers about keeping it count */
    struct vault_recording_t *recording; /* what the output depends on is recorded here (recorded.h); NULL: nowhere */
    apr_hash_t *taken;                   /* view: of vault_taken_t, by call; NULL: there is no kept part with a call */
    apr_hash_t *results;                 /* of json_t: the rows of the feed calls of this method or view, by call */
} vault_context_t;

/** The context of the main request of `r`, or NULL. */
vault_context_t *vault_context_get(request_rec *r);

/** The context of the main request of `r`; created if it does not exist. */
vault_context_t *vault_context_make(request_rec *r);

/** Begin to run methods for the poll `r`: creates a context in `pool` that is valid until vault_context_end(). */
vault_context_t *vault_context_begin(request_rec *r, vault_page_txn_t *txn, const vault_page_t *page, apr_pool_t *pool);
void vault_context_end(request_rec *r);

/** The transaction that `r` belongs to. If `r` is a view that may have a page, its transaction begins here.
 * @param status  the reason for NULL: APR_EACCES VaultLongPoll is off here, APR_EINIT too late, APR_ENOSPC no
 *                room, APR_NOTFOUND `r` is neither a view nor a method; may be NULL */
vault_page_txn_t *vault_context_txn(request_rec *r, apr_status_t *status);

/** Create the page of a view now, for external calls (page_calls.h). It is removed with the request unless the view
 * publishes it.
 * @return APR_SUCCESS; else as vault_page_create(), which is not logged */
apr_status_t vault_context_reserve(request_rec *r);

/** Remove the page of a view that will not be published. */
void vault_context_drop(request_rec *r);

/** `before` was redirected internally to `r`: move its page to `r`. */
void vault_context_inherit(request_rec *r, vault_context_t *before);

/** The URL of the stream for the page that the answer to `r` is or may become. The application can write it into
 * its HTML before the page is created.
 * @return in the request's pool; NULL: the answer cannot become a page */
const char *vault_context_stream_url(request_rec *r);

/** Publish the page of the view, so that it outlives the request.
 * @return APR_SUCCESS, or the reason why it failed, which has been logged */
apr_status_t vault_context_publish(request_rec *r);

#endif
