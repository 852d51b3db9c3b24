/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file socache_call.h
 * Calls of a provider of httpd's shared caches, each in a thread of its own, so that a request waits for it at most
 * for a second. Providers have no time-out that can be relied on: RedisTimeout 1 is 11 days, as APR-util takes the
 * microseconds of mod_socache_redis for seconds, and apr_memcache has none.
 *
 * At most VAULT_SOCACHE_CALLS run at a time in a process. After one that failed or was slow there are none for some
 * seconds, and a warning is logged, at most once a minute.
 *
 * Thread: any, in a child.
 */
#ifndef VAULT_SOCACHE_CALL_H
#define VAULT_SOCACHE_CALL_H

#include "apr_pools.h"
#include "apr_sha1.h"
#include "apr_time.h"

#define VAULT_SOCACHE_CALLS 16

typedef struct vault_socache_call_t vault_socache_call_t;

struct vault_socache_call_t {
    apr_status_t (*run)(vault_socache_call_t *call); /* in the thread */
    const char *cache;                               /* for the log; const as long as the process lives */
    unsigned char name[APR_SHA1_DIGESTSIZE];
    unsigned char *block; /* in `pool`: what is stored, or room for what is found */
    unsigned size;
    apr_time_t expiry; /* by the system clock */
    apr_pool_t *pool;  /* of the call; the thread uses it while it runs */
    /* private */
    apr_time_t begun;
    int state; /* lock */
    apr_status_t rv;
};

/** A call, to be filled. @return NULL: not now */
vault_socache_call_t *vault_socache_call_make(void);

/** It is not needed any more, or was never begun. */
void vault_socache_call_free(vault_socache_call_t *call);

/** Begin it and wait for its end.
 * @return APR_TIMEUP: it has not ended; its thread frees it, and the caller must not touch it; otherwise what `run` has
 *         returned */
apr_status_t vault_socache_call_wait(vault_socache_call_t *call);

/** Begin it; its thread frees it. */
void vault_socache_call_leave(vault_socache_call_t *call);

/** Before the pools of the process go: wait a little for calls that run. */
void vault_socache_call_finish(void);

#endif
