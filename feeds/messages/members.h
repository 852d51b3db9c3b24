/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file members.h
 * Users and channels, found and locked within a transaction.
 */
#ifndef MESSAGES_MEMBERS_H
#define MESSAGES_MEMBERS_H

#include "messages.h"

/** Lock the channel m->channel. No user may be locked yet.
 * @param serial  of its newest message
 * @return APR_SUCCESS; APR_EINVAL there is none; other */
apr_status_t messages_lock_channel(messages_call_t *m, apr_int64_t *id, apr_int64_t *serial);

#endif
