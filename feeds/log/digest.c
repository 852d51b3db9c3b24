/* SPDX-License-Identifier: Apache-2.0 */
/* Short names for long texts: see digest.h. */
#include "log/digest.h"

#include <string.h>

#include "apr_sha1.h"

const char *log_digest(const char *text, apr_pool_t *pool)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[APR_SHA1_DIGESTSIZE];
    char *hex = apr_palloc(pool, 2 * sizeof(digest) + 1);
    apr_sha1_ctx_t sha1;

    apr_sha1_init(&sha1);
    apr_sha1_update(&sha1, text, (unsigned)strlen(text));
    apr_sha1_final(digest, &sha1);
    for (apr_size_t i = 0; i < sizeof(digest); i++) {
        hex[2 * i] = digits[digest[i] >> 4];
        hex[2 * i + 1] = digits[digest[i] & 15];
    }
    hex[2 * sizeof(digest)] = '\0';
    return hex;
}
