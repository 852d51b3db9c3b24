/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the session of a poll's request with the one that a method has seen. */
#include "poll/session_watch.h"

#include "server/server.h"
#include "session/session_request.h"

void vault_session_watch_begin(vault_session_watch_t *watch)
{
    watch->began = vault_notifier_now(vault_server->notifier);
}

void vault_session_watch_ran(vault_session_watch_t *watch, const vault_state_t *base, const vault_state_t *next)
{
    watch->missed_cookie |= vault_session_request_missed_cookie(base, next);
}

/* Has a session been made, or got another id, at this address since the poll came and the method ran? (An interest that
 * the method has created has a stamp of its own, later than the poll.) */
static int has_moved(const vault_session_watch_t *watch, const apr_array_header_t *deps,
                     const vault_interest_set_t *interests)
{
    int i;

    for (i = 0; i < deps->nelts; i++) {
        const vault_dep_t *dep = &APR_ARRAY_IDX(deps, i, vault_dep_t);
        if (vault_interest_set_has_moved(interests, dep->interest,
                                         dep->stamp > watch->began ? dep->stamp : watch->began)) {
            return 1;
        }
    }
    return 0;
}

vault_session_watch_result_t vault_session_watch_compare(vault_session_watch_t *watch, request_rec *r,
                                                         const vault_state_t *base, const vault_method_t *method,
                                                         const vault_interest_set_t *interests)
{
    const apr_array_header_t *deps;

    switch (vault_session_request_compare(r, base, method, &deps)) {
    case VAULT_SESSION_NOT_READ:
        return VAULT_SESSION_WATCH_SAME;
    case VAULT_SESSION_STILL_NONE:
        return has_moved(watch, deps, interests) ? VAULT_SESSION_WATCH_OUTDATED : VAULT_SESSION_WATCH_SAME;
    case VAULT_SESSION_LOST:
        return watch->had_session ? VAULT_SESSION_WATCH_OUTDATED : VAULT_SESSION_WATCH_OTHER;
    case VAULT_SESSION_OTHER:
        watch->had_session = 1;
        return VAULT_SESSION_WATCH_OTHER;
    case VAULT_SESSION_SAME:
        break;
    }
    watch->had_session = 1;
    return VAULT_SESSION_WATCH_SAME;
}
