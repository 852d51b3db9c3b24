/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file utf8.h
 * Text from outside made safe for JSON.
 */
#ifndef VAULT_UTF8_H
#define VAULT_UTF8_H

#include "apr_pools.h"

/** `text` itself when it is UTF-8 as RFC 3629 has it, else a copy with U+FFFD for what is not, NUL-terminated.
 * @param out  length of what is returned */
const char *vault_utf8_clean(const char *text, apr_size_t length, apr_size_t *out, apr_pool_t *pool);

#endif
