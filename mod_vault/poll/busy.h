/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file busy.h
 * The methods of a page that another request is running now: the poll waits for the output of that request, without a
 * thread, as it waits for any interest.
 *
 * The other request may hang, in a statement of a database or in an application. So a poll waits for a limited time
 * and then forgets its lead (vault_output_forget_lead()): one of the polls that wait runs the method, the others wait
 * for that one.
 *
 * The order is the same as in every wait: first arm the interest, then check. A poll that arms `waiters` and then
 * finds that the output is still being made is notified when that ends (output_store.h).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_BUSY_H
#define VAULT_BUSY_H

#include "apr_tables.h"

#include "output/output_store.h"
#include "page/interest_set.h"

/** Zeroed at first. The memory is the poll's. */
typedef struct vault_busy_t {
    apr_array_header_t *methods; /* one for each URL that ever was busy; NULL: none was */
} vault_busy_t;

/** Another request runs the method.
 * @param until  the poll waits no longer for that (now.h)
 * @param pool   of the poll */
void vault_busy_note(vault_busy_t *busy, const char *url, const vault_output_lead_t *lead, apr_time_t until,
                     apr_pool_t *pool);

/** Does the other request still run it, and has the poll not forgotten its lead? */
int vault_busy_is(vault_busy_t *busy, const char *url);

/** Has the poll waited for another request that ran the method, since it last ran it itself, until that one ended? It
 * does not wait again then: that request has made nothing that it can use, and waiting for one another in turn would
 * take longer than running the method. Forgets it. */
int vault_busy_has_waited(vault_busy_t *busy, const char *url);

/** The earlier of `at` and the next time after `now` when the poll forgets a lead. */
apr_time_t vault_busy_until(const vault_busy_t *busy, apr_time_t now, apr_time_t at);

/** How many interests vault_busy_list() adds at most. */
unsigned vault_busy_max(const vault_busy_t *busy);

/** Add the interests that are notified when the methods are no longer busy. */
void vault_busy_list(const vault_busy_t *busy, vault_interest_set_t *interests);

#endif
