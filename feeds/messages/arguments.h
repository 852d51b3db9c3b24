/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file arguments.h
 * The arguments of a call. They come from a browser, a page or another module, and are not trusted.
 */
#ifndef MESSAGES_ARGUMENTS_H
#define MESSAGES_ARGUMENTS_H

#include "messages/messages.h"

/** What a method takes in addition to `user`. */
enum {
    MESSAGES_CHANNEL = 1 << 0, /**< required */
    MESSAGES_IN = 1 << 1,      /**< `channel`, optional */
    MESSAGES_TEXT = 1 << 2,
    MESSAGES_ONCE = 1 << 3,
    MESSAGES_LIMIT = 1 << 4,
    MESSAGES_HISTORY = 1 << 5
};

/**
 * Check the arguments of a method that takes these, and fill in the fields of `m`: user, is_admin, channel, text, once,
 * limit.
 *
 * The user is the one that httpd has authenticated. If there is none, and the feed allows anonymous use, it is the
 * argument.
 * @return APR_SUCCESS; APR_EINVAL: an argument is wrong, and the reason is set
 */
apr_status_t messages_arguments(messages_call_t *m, unsigned takes);

/** Why `name`, which may be any bytes, cannot be the name of a user. @return NULL: it can */
const char *messages_name_wrong(const char *name);

#endif
