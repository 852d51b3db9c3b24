/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file utf8.h
 * Text from outside: is it UTF-8, and made safe for JSON.
 */
#ifndef VAULT_UTF8_H
#define VAULT_UTF8_H

#include "apr_pools.h"

/** The bytes of the character that begins at `text`: 1 to 4. 0: none does, as RFC 3629 has it: no overlong form, no surrogate, nothing
 * above U+10FFFF, nothing cut.
 * @param left  bytes that may be read, at least 1 */
apr_size_t vault_utf8_length(const char *text, apr_size_t left);

/** `text` itself when it is UTF-8 as RFC 3629 has it, else a copy with U+FFFD for what is not, NUL-terminated.
 * @param out  length of what is returned */
const char *vault_utf8_clean(const char *text, apr_size_t length, apr_size_t *out, apr_pool_t *pool);

#endif
