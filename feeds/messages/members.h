/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file members.h
 * Users: finding, creating and locking them within a transaction.
 */
#ifndef MESSAGES_MEMBERS_H
#define MESSAGES_MEMBERS_H

#include "messages/deliver.h"

/** Lock m->user, and create it if necessary. After this, no channel may be locked.
 * @param user    id, serial and pruned are set
 * @param is_new  1: the user was created
 * @return APR_SUCCESS; APR_EINVAL there are too many users; other */
apr_status_t messages_lock_user(messages_call_t *m, messages_user_t *user, int *is_new);

/** The id of m->user, which is created if necessary. A user who existed is not locked; no other call can wait for a new
 * one.
 * @return as messages_lock_user() */
apr_status_t messages_find_or_make_user(messages_call_t *m, apr_int64_t *id);

/** Has m->user reached `rate` already? Called before any work for a call that messages_count_rate() counts later: a call
 * that is refused must cost little.
 * @param user  its rate_minute and rate_posts; it need not be locked, since the counter only increases within a minute
 * @return APR_SUCCESS; APR_EBUSY */
apr_status_t messages_check_rate(messages_call_t *m, const json_t *user);

/**
 * Count an action that pages of other users are notified of: a message, a channel that was created, a subscription that
 * has ended. A new subscription is not counted, since the subscriptions of a user are limited.
 * @param user  locked, so that two calls at a time count twice
 * @return APR_SUCCESS; APR_EBUSY the user has reached `rate` in this minute of the clock; other
 */
apr_status_t messages_count_rate(messages_call_t *m, apr_int64_t user);

#endif
