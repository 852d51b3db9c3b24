/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file turns.h
 * Who is next where clients share a few places: the connections of one child.
 *
 * A place is never left free while a client waits, so a client alone may have them all. When a place becomes free
 * while several wait, it goes to a call of the client that has the fewest places. Among those it goes to the client
 * that had its last turn longest ago, and then to the call that came first. So a client that sends many calls at once
 * delays its own.
 *
 * Any thread of the process. One lock, held for some thousand instructions at most; nothing is called under it.
 */
#ifndef SQL_TURNS_H
#define SQL_TURNS_H

#include "apr_pools.h"
#include "apr_time.h"

typedef struct sql_turns_t sql_turns_t;

/** @param places  1 and up */
apr_status_t sql_turns_create(sql_turns_t **turns, unsigned places, apr_pool_t *pool);

/** Take a place; wait for one as long as `timeout`.
 * @param client  who asks; 0 is a client like any other
 * @return APR_SUCCESS; APR_TIMEUP nothing was taken */
apr_status_t sql_turns_take(sql_turns_t *turns, apr_uint64_t client, apr_interval_time_t timeout);

/** Give it back. @param client  as it was taken */
void sql_turns_give(sql_turns_t *turns, apr_uint64_t client);

/** How many calls wait. */
unsigned sql_turns_waiting(sql_turns_t *turns);

#endif
