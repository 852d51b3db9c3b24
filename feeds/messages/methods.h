/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file methods.h
 * The methods of the feed. docs/messages.md describes each of them for its callers.
 */
#ifndef MESSAGES_METHODS_H
#define MESSAGES_METHODS_H

#include "messages/messages.h"

/** Interests, each followed by a name: the messages of a user, the list of channels, the subscribers of a channel. */
#define MESSAGES_OF_USER "message-"
#define MESSAGES_CHANNELS "messages-channels"
#define MESSAGES_OF_CHANNEL "messages-channel-"

extern const vault_feed_method_t messages_methods[];

/* The bodies of the methods. The arguments have been checked; the body takes a connection. Each sets m->rows, or leaves
 * it NULL. */
apr_status_t messages_create_user(messages_call_t *m);
apr_status_t messages_create_channel(messages_call_t *m);
apr_status_t messages_delete_channel(messages_call_t *m);
apr_status_t messages_subscribe(messages_call_t *m);
apr_status_t messages_unsubscribe(messages_call_t *m);
apr_status_t messages_get_channels(messages_call_t *m);
apr_status_t messages_get_subscribers(messages_call_t *m);
apr_status_t messages_post(messages_call_t *m);
apr_status_t messages_get_new(messages_call_t *m);

/** The id of a message: "CHANNEL-SERIAL". A new reference. */
json_t *messages_id(apr_int64_t channel, apr_int64_t serial);

#endif
