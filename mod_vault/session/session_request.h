/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session_request.h
 * The session of a request: where `VaultSession On` holds, the one whose id the browser has sent in its cookie.
 *
 * A session is made when its first property is set, and gets another id when its visitor logs in. Both happen in
 * requests of the visitor, never in a poll: a poll's request was sent long ago, so its cookie and its login may be
 * outdated, and its answer can be late.
 *
 * A method of a poll can read the session. It depends on the session's interest, so it runs again when a property has
 * changed. Without a session it depends on an interest of the client's address, which is notified when a session is
 * made there. The view of a page without a session depends on it, too, so its first poll knows what was made since
 * the view. Each poll compares the session that the browser has with the one that the method has seen.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_SESSION_REQUEST_H
#define VAULT_SESSION_REQUEST_H

#include "httpd.h"

#include "page/page_txn.h"

/** The properties of the session, of vault_property_t; NULL: `VaultSession` is off for `r`, or there is no session. */
const apr_array_header_t *vault_session_request_properties(request_rec *r);

/** One of them, in r->pool; NULL: not set. */
const char *vault_session_request_get(request_rec *r, const char *key);

/** Change properties, and make the session if there is none.
 * @param properties  of vault_property_t; NULL as a value removes
 * @return APR_SUCCESS
 *         APR_EACCES    `VaultSession` is off for `r`
 *         APR_NOTFOUND  `r` belongs to a poll
 *         APR_EINVAL    a key or a value is empty or too long
 *         APR_EINIT     there is no session, and it is too late for a cookie: the header has been sent
 *         APR_ENOSPC    no room for another session, or for the property */
apr_status_t vault_session_request_write(request_rec *r, const apr_array_header_t *properties);

/** The same with one property. NULL removes it. */
apr_status_t vault_session_request_set(request_rec *r, const char *key, const char *value);

/** Give the session another id, and send its cookie. Without a session there is nothing to do.
 * @return APR_SUCCESS, and the id that the request came with names nothing any more; otherwise as
 *         vault_session_request_write(), and the session is as it was */
apr_status_t vault_session_request_renew(request_rec *r);

/** What vault_session_request_write() or vault_session_request_renew() has refused, as half a sentence. */
const char *vault_session_request_why(apr_status_t rv);

/** Set the headers `Vault-Session-KEY` of a request for its handler.
 * @param headers  of the request; not shared with a request that must not have them */
void vault_session_request_set_headers(request_rec *r, apr_table_t *headers);

/** A method of a poll is about to run as `sub`: let it depend on the session, and set its request headers. */
void vault_session_request_enter_method(request_rec *sub, vault_page_txn_t *txn);

/** A request without a session begins the view of a live page: let the view depend on the sessions of its address. The
 * methods of the page continue from that. */
void vault_session_request_enter_view(request_rec *r, vault_page_txn_t *txn);

/** Has a method that ran without a session found that a session was made at its address since the page was last
 * compared? Then the browser may have a cookie that the poll does not have. Also true if nothing is known of the time
 * before the method ran.
 * @param base  the state that the methods began with
 * @param next  what they have made of it */
int vault_session_request_missed_cookie(const vault_state_t *base, const vault_state_t *next);

/** What a method has seen of sessions, compared with what the poll's request has. */
typedef enum vault_session_seen_t {
    VAULT_SESSION_NOT_READ, /* the method runs where `VaultSession` is off, or has never run */
    VAULT_SESSION_SAME,     /* the session that it has seen */
    VAULT_SESSION_STILL_NONE,
    VAULT_SESSION_OTHER, /* another one, or one where it has seen none */
    VAULT_SESSION_LOST   /* none, where it has seen one */
} vault_session_seen_t;

/** @param seen  what the method depends on for it, of vault_dep_t; unchanged if NOT_READ */
vault_session_seen_t vault_session_request_compare(request_rec *poll, const vault_state_t *base,
                                                   const vault_method_t *method, const apr_array_header_t **seen);

/** An answer that depends on a session is for its browser only: no shared cache may store it. */
void vault_session_request_set_private(request_rec *r);

void vault_session_request_hooks(void);

#endif
