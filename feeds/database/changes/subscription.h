/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subscription.h
 * Positions that outlive pages: `persistent=yes` keeps where a user is with a call, in the table
 * vault_subscriptions, so that what happened while the user was away comes at the next visit.
 *
 * The position moves only when the browser has acknowledged what it was sent, and never back: of two pages of one
 * user the one that is further counts.
 */
#ifndef DATABASE_SUBSCRIPTION_H
#define DATABASE_SUBSCRIPTION_H

#include "database/model/database.h"

/** What names this user's use of this call; in c->pool.
 * @param id  NULL: the call does not say persistent=yes
 * @return APR_SUCCESS; APR_EINVAL: the request has no user, or the argument says something else; a sentence was
 * given */
apr_status_t database_subscription_id(sql_call_t *c, const char **id);

/** The cursor of a user who was here before, else NULL. Within a transaction. */
apr_status_t database_subscription_recall(sql_call_t *c, const char *id, const char **cursor);

/** Have it kept once the browser has what this call renders. @param position  the part of the cursor that only grows */
apr_status_t database_subscription_keep(sql_call_t *c, const char *id, const char *cursor, const char *position);

/** vault_feed_t::acked */
void database_subscription_acked(void *self, const char *data);

#endif
