/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file members.h
 * Users, found and locked within a transaction.
 */
#ifndef MESSAGES_MEMBERS_H
#define MESSAGES_MEMBERS_H

#include "messages/deliver.h"

/** Lock m->user, made if need be. From here on no channel may be locked.
 * @param user    id, serial and pruned are set
 * @param is_new  1: the user was made
 * @return APR_SUCCESS; APR_EINVAL there are too many users; other */
apr_status_t messages_lock_user(messages_call_t *m, messages_user_t *user, int *is_new);

/** The id of m->user, made if need be. A user who was there is not locked; for one who is new no other call can wait.
 * @return as messages_lock_user */
apr_status_t messages_find_or_make_user(messages_call_t *m, apr_int64_t *id);

/** Has m->user reached `rate` already? Asked before anything is done for a call that messages_count_rate counts later:
 * a call that is refused is to cost little.
 * @param user  its rate_minute and rate_posts; it need not be locked, since the counter only grows in a minute
 * @return APR_SUCCESS; APR_EBUSY */
apr_status_t messages_check_rate(messages_call_t *m, const json_t *user);

/** Count what pages of others are told of: a message, a channel that was made, a subscription that has ended. One that
 * begins is not counted, since a user has a limit of them.
 * @param user  locked, so that two calls at a time are counted as two
 * @return APR_SUCCESS; APR_EBUSY it was as often as `rate` says in this minute of the clock; other */
apr_status_t messages_count_rate(messages_call_t *m, apr_int64_t user);

#endif
