/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file context.h
 * What a request is to the module: a page view that makes a page as it goes, a method that runs for a page, or neither.
 *
 * The context hangs on the main request; its subrequests (SSI includes, the methods of a poll) find it there. The record of a page
 * is made by the first thing that needs one: an interest, a property, a long poll.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CONTEXT_H
#define VAULT_CONTEXT_H

#include "apr_hash.h"
#include "httpd.h"

#include "page/page_calls.h"
#include "page/page_txn.h"

typedef struct vault_context_t {
    vault_page_txn_t *txn;   /* the round: of the view, or of the poll; NULL: no page */
    apr_pool_t *pool;        /* what lives as long as the view or the method */
    vault_page_t page;       /* view: drawn before the page is made, if it ever is */
    int in_method;           /* a method of a poll runs: what it writes is an update */
    int in_view;             /* a page is being rendered */
    int is_drawn;            /* view: the application was told the id of the page that its answer may become */
    int is_reserved;         /* view: its page has been made, though the view may come to need none */
    int has_poll;            /* view: a long poll was added */
    int sealed;              /* view: the header is on its way; too late for a page */
    int refused;             /* view: a page was wanted and could not be had */
    int wants_script;        /* view: the script element is to be put into the HTML */
    int has_script;          /* view: the HTML has it */
    int has_stream;          /* view: a client of the page's own takes the stream, so there is to be no script */
    const char *format;      /* method: what Vault-Update said; NULL: nothing */
    const char *rendered;    /* method: the format of what templates have given so far, "" or "htmx"; NULL: nothing */
    const vault_page_t *own; /* neither: the page that the request comes from; NULL: none, or it says none */
    const apr_array_header_t *own_properties; /* of vault_property_t: what its handler was told */
    vault_calls_t
        calls; /* the run that is open to calls from outside, for the method's or view's own request; for such a call, its run;
                            calls.run 0: none */
    const vault_calls_base_t *outside; /* this request is such a call, and begins from that; NULL: it is none */
    const char *said_page;             /* the Vault-Page that came with a key; NULL: none */
    int trusted;                       /* the request has the key of VaultFeedKeyFile */
    apr_size_t room;     /* a feed's method by URL: how many bytes its answer may have; 0: not limited here */
    apr_hash_t *results; /* of json_t: rows that a feed has given in this method or view, by call */
} vault_context_t;

/** The context of `r`'s main request, or NULL. */
vault_context_t *vault_context_get(request_rec *r);

/** The same, made if need be. */
vault_context_t *vault_context_make(request_rec *r);

/** Begin a round of methods for the poll `r`: a context in `pool`, until vault_context_end(). */
vault_context_t *vault_context_begin(request_rec *r, vault_page_txn_t *txn, const vault_page_t *page, apr_pool_t *pool);
void vault_context_end(request_rec *r);

/** The round that `r` is part of; begun now if `r` is a view that may have a page.
 * @param status  why there is none: APR_EACCES VaultLongPoll is off here, APR_EINIT too late, APR_ENOSPC no room, APR_NOTFOUND
 *                `r` is neither a view nor a method; may be NULL */
vault_page_txn_t *vault_context_txn(request_rec *r, apr_status_t *status);

/** Create the page of a view now, for external calls (page_calls.h). It is removed with the request unless the view
 * publishes it.
 * @return APR_SUCCESS; else as vault_page_create(), which is not logged */
apr_status_t vault_context_reserve(request_rec *r);

/** Drop the page of a view that will not be published. */
void vault_context_drop(request_rec *r);

/** `r` is what `before` was redirected to inside of the server: it has its page from now on. */
void vault_context_inherit(request_rec *r, vault_context_t *before);

/** The URL of the stream of the page that the answer to `r` is or may become. The application writes it into its HTML before anything has made
 * the page.
 * @return in the request's pool; NULL: the answer becomes no page */
const char *vault_context_stream_url(request_rec *r);

/** Publish the page that the view has made: it outlives the request. What is not published goes with the request.
 * @return APR_SUCCESS, or why not: the log has been told */
apr_status_t vault_context_publish(request_rec *r);

#endif
