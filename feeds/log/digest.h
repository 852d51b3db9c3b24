/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file digest.h
 * Short names for long texts.
 */
#ifndef LOG_DIGEST_H
#define LOG_DIGEST_H

#include "apr_pools.h"

/** The SHA-1 of a text, in hexadecimal digits. In `pool`. */
const char *log_digest(const char *text, apr_pool_t *pool);

#endif
