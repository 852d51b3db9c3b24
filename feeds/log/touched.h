/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file touched.h
 * Interests to be notified once a transaction is committed, or once its changes are in the ring, each once.
 */
#ifndef LOG_TOUCHED_H
#define LOG_TOUCHED_H

#include "apr_hash.h"

#include "log/change_log.h"

struct log_touched_t {
    const change_log_t *log;
    apr_pool_t *pool;
    apr_hash_t *names;
    apr_hash_t *asked; /**< for the feed: what it has queried from the database meanwhile */
    int all;           /**< it is unknown what was touched */
    /** the tailer of each server finds these changes, so the other servers are not notified */
    int is_local;
};

log_touched_t *log_touched_make(const change_log_t *log, apr_pool_t *pool);
/** Add an interest. @param name  lives as long as `touched`; NULL: none */
void log_touched_name(log_touched_t *touched, const char *name);
/** Add all interests. */
void log_touched_all(log_touched_t *touched);
/** @return 0: not all could be notified */
int log_touched_notify(const log_touched_t *touched);

#endif
