/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file deliver.h
 * Delivery of messages to users: each delivery gets the next serial number of its user, in the transaction of the
 * caller.
 */
#ifndef MESSAGES_DELIVER_H
#define MESSAGES_DELIVER_H

#include "messages/messages.h"

typedef struct messages_user_t {
    apr_int64_t id;
    apr_int64_t serial; /**< of the newest message */
    apr_int64_t pruned; /**< of the newest message that was pruned */
} messages_user_t;

/** Deliver the newest m->limit messages of a channel to a user. Both are locked; `serial` is that of the channel's
 * newest message. Messages that were delivered to this user before are left out. */
apr_status_t messages_deliver_history(messages_call_t *m, apr_int64_t channel, apr_int64_t serial,
                                      messages_user_t *user);

/** The serial for a delivery without a message: a page that reads it gets a first view again. */
#define MESSAGES_WITHDRAWN 0

/** Deliver one message to all subscribers of a channel, which is locked. Locks the users in the order of their ids.
 * @param serial  of the message in the channel, or MESSAGES_WITHDRAWN
 * @param poster  the id of the subscriber whose rate counts it; 0: no rate counts it
 * @return as messages_count_rate() */
apr_status_t messages_deliver_to_all(messages_call_t *m, apr_int64_t channel, apr_int64_t serial, apr_int64_t poster);

#endif
