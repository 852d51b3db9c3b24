/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file touch.h
 * Which interests a recorded change touches.
 *
 *   a channel whose serial was increased: a post      `message-USER` of each user who is subscribed to it now
 *   a subscription that began or ended                `message-USER` of its user, and the lists
 *   a channel that was created, deleted or handed on  the lists
 *
 * The lists are `messages-channels` and `messages-channel-CHANNEL`.
 *
 * A user may have been subscribed when a message was posted, and not any more when the tailer reads the post. This
 * loses no notify: the end of the subscription was committed after the post, so the tailer reads it too. A user whose
 * subscription began in between is notified without need.
 */
#ifndef MESSAGES_TOUCH_H
#define MESSAGES_TOUCH_H

#include "log/touched.h"
#include "messages/messages.h"

/** change_log_t::touch. */
apr_status_t messages_touch(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change);

#endif
