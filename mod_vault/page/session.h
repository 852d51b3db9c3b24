/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file session.h
 * Sessions: properties that all pages of one browser share.
 *
 * A session is a record of the table of pages, of another kind: it has an id, an owner, an interest and one state with
 * properties, but no methods and no polls. So it has the pages' lock, blocks, limits of clients, eviction, repair after
 * a killed process, and its place in the segment, which is kept over graceful restarts.
 *
 * The id is a secret of the browser, and comes in a cookie. It is drawn when the session is made, when its visitor
 * logs in, and when the application asks for it. An id from elsewhere names nothing, and never becomes the id of a session. The interest of a session has a
 * name that says nothing about the id, and stays the same when the id changes. It is notified when a property changes,
 * and when the session is removed.
 *
 * Read in this order: vault_session_find(), hold the interest, vault_session_read(). What is written after that moves
 * the interest's stamp.
 *
 * Threads: any thread of any process.
 */
#ifndef VAULT_SESSION_H
#define VAULT_SESSION_H

#include "page/page.h"

/** The sender of a request, and what the location of the request says of sessions. */
typedef struct vault_visitor_t {
    vault_owner_t owner;
    apr_uint64_t address;        /* identifies the address of the client */
    int bound;                   /* only the address that made the session may use it */
    apr_interval_time_t timeout; /* the session expires after that long without a request */
    apr_time_t now;
    int keeps_alive; /* the request counts as the visitor's: it restarts the timeout */
} vault_visitor_t;

/** What vault_session_find() has found. */
typedef struct vault_session_t {
    char interest[64]; /* the name of its interest */
    int has_user;      /* its visitor has logged in */
} vault_session_t;

/** Make a session with these properties. It belongs to the visitor's user; to any visitor without a login who has its
 * id, if the visitor has not logged in.
 * @param session     becomes its id
 * @param properties  of vault_property_t; a value of NULL is left out
 * @param idle        as for vault_page_create()
 * @param pool        scratch memory
 * @return APR_SUCCESS; APR_EINVAL a key or a value is empty or too long; APR_ENOSPC as vault_page_create() */
apr_status_t vault_session_create(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor,
                                  const apr_array_header_t *properties, apr_interval_time_t idle, apr_pool_t *pool);

/** Look up the session of an id.
 * @param session  from vault_page_parse(); gets its index
 * @return APR_SUCCESS, and the visitor may use it
 *         APR_NOTFOUND  there is none on this host, or its time is over
 *         APR_EACCES    it is another user's, one's who has logged in while the visitor has not, or another address's */
apr_status_t vault_session_find(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor,
                                vault_session_t *found);

/** Read its properties.
 * @param properties  of vault_property_t, in `pool`
 * @return as vault_session_find(); APR_EGENERAL what is stored is no state */
apr_status_t vault_session_read(vault_pages_t *p, const vault_page_t *session, const vault_visitor_t *visitor,
                                apr_array_header_t **properties, apr_pool_t *pool);

/** Change its properties, as vault_page_write(). The interest is notified if anything has changed.
 * @return as vault_session_find(); APR_EINVAL, APR_ENOSPC as vault_page_write() */
apr_status_t vault_session_write(vault_pages_t *p, const vault_page_t *session, const vault_visitor_t *visitor,
                                 const apr_array_header_t *properties, apr_pool_t *pool);

/** The visitor has logged in: a session without a user becomes the visitor's own, under a new id. The old id is void
 * when this returns. Its interest is not notified, since the browser does not know the new id yet: the caller does that
 * once the browser has it.
 * @param session  becomes its new id
 * @return as vault_session_find(), and then nothing was done; also APR_ENOSPC */
apr_status_t vault_session_login(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor);

/** Give the session another id, since what it stands for has changed, as by a login that the application does. The old
 * id is void when this returns. As vault_session_login() in all else. */
apr_status_t vault_session_renew(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor);

/** Remove it. */
void vault_session_drop(vault_pages_t *p, const vault_page_t *session);

#endif
