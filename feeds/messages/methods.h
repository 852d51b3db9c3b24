/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file methods.h
 * What the feed can be asked. docs/messages.md describes each method for those who call it.
 */
#ifndef MESSAGES_METHODS_H
#define MESSAGES_METHODS_H

#include "messages/messages.h"

/** Interests: of a user's messages, of the list of channels, of a channel's list of subscribers; a name follows. */
#define MESSAGES_OF_USER "message-"
#define MESSAGES_CHANNELS "messages-channels"
#define MESSAGES_OF_CHANNEL "messages-channel-"

extern const vault_feed_method_t messages_methods[];

/* The bodies of the methods. The arguments are checked; the body takes a connection. Each sets m->rows, or leaves
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
