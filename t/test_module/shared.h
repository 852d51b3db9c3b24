/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file shared.h
 * What the test module shares between children: variables with a value, and barriers at which requests stop.
 *
 * Both are made at first use, by name, and live until the server is stopped, graceful restarts included. A child killed while it holds
 * the lock leaves it to the next one: tests kill children.
 */
#ifndef VAULT_TEST_SHARED_H
#define VAULT_TEST_SHARED_H

#include "httpd.h"

/* A name that is a # and a number below 65536 is a number from the beginning, 0 at first, and is found at once: for tests that need
 * thousands. It can be read and added to. */
#define SHARED_NAME_MAX 64
#define SHARED_VALUE_MAX 4096

/** Make it, or find it again after a restart. Parent, post_config. */
apr_status_t shared_create(apr_pool_t *pconf);

/** @return the value, in `pool`; "" when it was never set; NULL: the name is too long or the table is full */
const char *shared_get(const char *name, apr_pool_t *pool);

/** @return APR_SUCCESS; APR_EINVAL too long; APR_ENOSPC the table is full */
apr_status_t shared_set(const char *name, const char *value);

/** Add to a number in one step.
 * @return what it is now; -1: the name is too long or the table is full */
long shared_add(const char *name, long step);

/** Stop at the barrier until somebody opens it (or it is open already).
 * @return APR_SUCCESS; APR_TIMEUP nobody did within 30 s, so that a broken test ends; others as shared_set */
apr_status_t shared_barrier_wait(const char *name);

/** Let through all that wait, and all that come later. */
apr_status_t shared_barrier_open(const char *name);

/** Stop the next ones again; forgets how many arrived. */
apr_status_t shared_barrier_close(const char *name);

/** This process ends at once: its requests go on as if all barriers were open. */
void shared_barriers_abandon(void);

/** @return how many have come to the barrier since it was made or closed; -1 on error */
long shared_barrier_arrived(const char *name);

#endif
