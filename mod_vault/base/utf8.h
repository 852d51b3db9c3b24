/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file utf8.h
 * Validates UTF-8 from outside, and makes it safe for JSON.
 */
#ifndef VAULT_UTF8_H
#define VAULT_UTF8_H

#include "apr_pools.h"

/** The length in bytes, 1 to 4, of the UTF-8 character that begins at `text`. 0: the bytes are not valid UTF-8
 * by RFC 3629 (overlong form, surrogate, above U+10FFFF, or cut short).
 * @param left  how many bytes may be read, at least 1 */
apr_size_t vault_utf8_length(const char *text, apr_size_t left);

/** `text` itself if it is valid UTF-8, otherwise a NUL-terminated copy with U+FFFD in place of each invalid
 * part.
 * @param out  receives the length of the result */
const char *vault_utf8_clean(const char *text, apr_size_t length, apr_size_t *out, apr_pool_t *pool);

#endif
