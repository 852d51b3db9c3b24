/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file fair_semaphore.h
 * A counting semaphore that is fair between clients. It limits the connections to a database that one child uses.
 *
 * No permit stays free while a call waits, so a client alone may hold all permits. When a call releases a permit and
 * several calls wait, the semaphore grants it to a call of the client that holds the fewest permits. Among such clients
 * it chooses the one whose last grant is the oldest, and among the calls of that client the one that came first. So a
 * client that sends many calls at once delays only its own calls.
 *
 * Any thread of the process may call these functions. One lock protects the semaphore. A thread holds it for a few
 * thousand instructions at most and calls nothing under it.
 */
#ifndef SQL_FAIR_SEMAPHORE_H
#define SQL_FAIR_SEMAPHORE_H

#include "apr_pools.h"
#include "apr_time.h"

typedef struct sql_semaphore_t sql_semaphore_t;

/** @param permits  how many calls may hold the semaphore at a time, 1 or more */
apr_status_t sql_semaphore_create(sql_semaphore_t **semaphore, unsigned permits, apr_pool_t *pool);

/** Acquire a permit. Wait for it, but not longer than `timeout`.
 * @param client  the client that calls; 0 is a client like any other
 * @return APR_SUCCESS; APR_TIMEUP the caller holds no permit */
apr_status_t sql_semaphore_acquire(sql_semaphore_t *semaphore, apr_uint64_t client, apr_interval_time_t timeout);

/** Release a permit. @param client  the client that acquired it */
void sql_semaphore_release(sql_semaphore_t *semaphore, apr_uint64_t client);

/** The number of calls that wait for a permit. Only tests use it: nothing else shows them that a thread waits. Any
 * thread. */
unsigned sql_semaphore_waiting(sql_semaphore_t *semaphore);

#endif
