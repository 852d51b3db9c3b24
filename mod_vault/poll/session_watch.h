/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session_watch.h
 * Detects that the session of a poll is not the one that its methods have seen.
 *
 * The request of a poll waits, and its cookie with it. When the session gets another id, or the browser gets its
 * first session, the methods could only show what the old cookie names: nothing. So the poll ends, without an answer,
 * and the next one brings the cookie that the browser has by then. A poll that begins so runs the methods that have
 * seen another session, or none.
 *
 * A poll can also be outdated when it comes: it was on its way without a cookie when a session was made at its
 * address. Its methods run, and their new stamps are committed. If they wrote nothing, the poll ends then. The next
 * one finds these stamps, and waits if it has no session either.
 *
 * Thread: the one that owns the poll.
 */
#ifndef VAULT_SESSION_WATCH_H
#define VAULT_SESSION_WATCH_H

#include "httpd.h"

#include "page/interest_set.h"

/** What is known of the sessions of one page's poll. Zeroed, then vault_session_watch_begin(). */
typedef struct vault_session_watch_t {
    apr_uint64_t began; /* the notifier's number when the poll came */
    int had_session;    /* the request has found a session */
    int missed_cookie;  /* a method has run without the session that the browser may have by now */
} vault_session_watch_t;

typedef enum vault_session_watch_result_t {
    VAULT_SESSION_WATCH_SAME,    /* as when the method ran, or it reads no session */
    VAULT_SESSION_WATCH_OTHER,   /* another session: run the method */
    VAULT_SESSION_WATCH_OUTDATED /* the cookie of the request is outdated: end the poll */
} vault_session_watch_result_t;

/** The poll has come. */
void vault_session_watch_begin(vault_session_watch_t *watch);

/** Methods have run.
 * @param base  the state that they began with
 * @param next  what they have made of it */
void vault_session_watch_ran(vault_session_watch_t *watch, const vault_state_t *base, const vault_state_t *next);

/** Compare what the method has seen with what the request of the poll names now.
 * @param base       the state that has the method
 * @param interests  armed */
vault_session_watch_result_t vault_session_watch_compare(vault_session_watch_t *watch, request_rec *r,
                                                         const vault_state_t *base, const vault_method_t *method,
                                                         const vault_interest_set_t *interests);

#endif
