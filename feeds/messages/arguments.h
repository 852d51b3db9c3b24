/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arguments.h
 * The arguments of a call. They come from a browser, a page or another module: nothing in them is believed.
 */
#ifndef MESSAGES_ARGUMENTS_H
#define MESSAGES_ARGUMENTS_H

#include "messages/messages.h"

/** What a method takes beside `user`. */
enum {
    MESSAGES_CHANNEL = 1 << 0, /**< must be given */
    MESSAGES_IN = 1 << 1,      /**< `channel`, may be given */
    MESSAGES_TEXT = 1 << 2,
    MESSAGES_ONCE = 1 << 3,
    MESSAGES_LIMIT = 1 << 4,
    MESSAGES_HISTORY = 1 << 5
};

/** Check the arguments of a method that takes these, and fill in `m` from them: user, is_admin, channel, text,
 * once, limit.
 *
 * The user is the one that httpd authenticated. Without one, and if the feed is for anonymous use, it is the
 * argument.
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t messages_arguments(messages_call_t *m, unsigned takes);

/** Why `name`, any bytes, cannot be the name of a user. @return NULL: it can */
const char *messages_name_wrong(const char *name);

#endif
