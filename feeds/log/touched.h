/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file touched.h
 * Interests to be notified once a transaction is committed, or once its changes are in the ring, each once.
 */
#ifndef DATABASE_TOUCHED_H
#define DATABASE_TOUCHED_H

#include "apr_hash.h"

#include "change_log.h"

struct database_touched_t {
    const database_log_t *log;
    apr_pool_t *pool;
    apr_hash_t *names;
    apr_hash_t *asked; /**< the feed's own: what it has asked the database for on the way */
    int all;           /**< nobody knows what was touched */
};

database_touched_t *database_touched_make(const database_log_t *log, apr_pool_t *pool);
/** Add an interest. @param name  lives as long as `touched`; NULL: none */
void database_touched_name(database_touched_t *touched, const char *name);
/** Add every interest there is. */
void database_touched_all(database_touched_t *touched);
/** @return whether all were announced */
int database_touched_notify(const database_touched_t *touched);

#endif
