/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subscription.h
 * Positions that outlive pages: with `persistent=yes` the table vault_subscriptions stores the position of a user in a
 * call. So the next visit shows what has changed while the user was away.
 *
 * The position moves only when the browser has acknowledged an answer, and never back: if a user has two pages, the
 * position of the more advanced one counts.
 */
#ifndef DATABASE_SUBSCRIPTION_H
#define DATABASE_SUBSCRIPTION_H

#include "database/model/database.h"

/** An id of the call for this user; in c->pool.
 * @param id  NULL: the call is not persistent=yes
 * @return APR_SUCCESS; APR_EINVAL: the request has no user, or the argument has another value; the reason is set */
apr_status_t database_subscription_id(sql_call_t *c, const char **id);

/** The stored cursor of the user, or NULL. Within a transaction. */
apr_status_t database_subscription_recall(sql_call_t *c, const char *id, const char **cursor);

/** Store the cursor when the browser has the output of this call. @param position  the part of the cursor that only
 * increases */
apr_status_t database_subscription_keep(sql_call_t *c, const char *id, const char *cursor, const char *position);

/** vault_feed_t::acked */
void database_subscription_acked(void *self, const char *data);

#endif
