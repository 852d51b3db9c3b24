/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file channels.h
 * Channels, found and locked within a transaction.
 */
#ifndef MESSAGES_CHANNELS_H
#define MESSAGES_CHANNELS_H

#include "messages/messages.h"

/** Lock the channel m->channel. No user may be locked yet.
 * @param serial  of its newest message
 * @return APR_SUCCESS; APR_EINVAL there is no such channel; other */
apr_status_t messages_lock_channel(messages_call_t *m, apr_int64_t *id, apr_int64_t *serial);

/** A subscription to this channel, which is locked, has ended. If the channel is empty now, its idle time begins. */
apr_status_t messages_touch_channel(messages_call_t *m, apr_int64_t id);

#endif
