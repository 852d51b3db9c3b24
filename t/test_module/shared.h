/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file shared.h
 * Shared by the children, for the test module: variables with a value, and barriers at which requests stop.
 *
 * Both are created by name at first use, and exist until the server is stopped; graceful restarts keep them.
 * Tests kill children, so the lock recovers from dead owners.
 */
#ifndef VAULT_TEST_SHARED_H
#define VAULT_TEST_SHARED_H

#include "httpd.h"

/* A name that is # and a number below 65536 is a numeric variable, 0 at first, which is found without a search:
 * for tests with thousands of them. It can be read and added to. */
#define SHARED_NAME_MAX 64
#define SHARED_VALUE_MAX 4096

/** Create the segment, or find it again after a restart. Parent, post_config. */
apr_status_t shared_create(apr_pool_t *pconf);

/** @return the value, in `pool`; "" if it was never set; NULL: the name is too long or the table is full */
const char *shared_get(const char *name, apr_pool_t *pool);

/** @return APR_SUCCESS; APR_EINVAL too long; APR_ENOSPC the table is full */
apr_status_t shared_set(const char *name, const char *value);

/** Add to a number atomically.
 * @return the new value; -1: the name is too long or the table is full */
long shared_add(const char *name, long step);

/** Stop at the barrier until it is opened (or is open already).
 * @return APR_SUCCESS; APR_TIMEUP it was not opened within BARRIER_SECONDS, so that a broken test ends; others as
 *         shared_set() */
apr_status_t shared_barrier_wait(const char *name);

/** Let through all that wait, and all that arrive later. */
apr_status_t shared_barrier_open(const char *name);

/** Stop requests again; resets the number of arrivals. */
apr_status_t shared_barrier_close(const char *name);

/** This process ends at once: its requests continue as if all barriers were open. */
void shared_barriers_abandon(void);

/** @return how many have arrived since the barrier was created or closed; -1 on error */
long shared_barrier_arrived(const char *name);

#endif
