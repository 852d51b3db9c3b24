/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file deliver.h
 * Messages to users: each gets a serial number of its own, in one transaction with whatever else is done.
 */
#ifndef MESSAGES_DELIVER_H
#define MESSAGES_DELIVER_H

#include "messages/messages.h"

typedef struct messages_user_t {
    apr_int64_t id;
    apr_int64_t serial; /**< of the newest message */
    apr_int64_t pruned; /**< of the newest message that is kept no more */
} messages_user_t;

/** The newest m->limit messages of a channel, which is locked and whose newest is `serial`, to a user who is locked.
 * Those that this user was given before are left out. */
apr_status_t messages_deliver_history(messages_call_t *m, apr_int64_t channel, apr_int64_t serial,
                                      messages_user_t *user);

/** The serial of no message: a page that is given it takes a first view again. */
#define MESSAGES_WITHDRAWN 0

/** One message to all subscribers of a channel, which is locked. Locks the users, in the order of their ids.
 * @param serial  of the message in the channel, or MESSAGES_WITHDRAWN
 * @param poster  the id of the subscriber whose rate counts it; 0: it counts for no subscriber
 * @return as messages_count_rate */
apr_status_t messages_deliver_to_all(messages_call_t *m, apr_int64_t channel, apr_int64_t serial, apr_int64_t poster);

#endif
