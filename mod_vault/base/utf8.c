/* SPDX-License-Identifier: Apache-2.0 */
/* Validates and repairs UTF-8. */
#include "base/utf8.h"

#include <string.h>

static int is_tail(const unsigned char *s, apr_size_t left, apr_size_t n)
{
    apr_size_t i;

    for (i = 1; i <= n; i++) {
        if (i >= left || (s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    return 1;
}

apr_size_t vault_utf8_length(const char *text, apr_size_t left)
{
    const unsigned char *s = (const unsigned char *)text;

    if (s[0] < 0x80) {
        return 1;
    }
    if (s[0] >= 0xc2 && s[0] <= 0xdf) {
        return is_tail(s, left, 1) ? 2 : 0;
    }
    if (s[0] >= 0xe0 && s[0] <= 0xef) {
        return is_tail(s, left, 2) && !(s[0] == 0xe0 && s[1] < 0xa0) && !(s[0] == 0xed && s[1] > 0x9f) ? 3 : 0;
    }
    if (s[0] >= 0xf0 && s[0] <= 0xf4) {
        return is_tail(s, left, 3) && !(s[0] == 0xf0 && s[1] < 0x90) && !(s[0] == 0xf4 && s[1] > 0x8f) ? 4 : 0;
    }
    return 0;
}

/* The length of what `text` begins with: eight ASCII characters, or else one character. 0: it is not valid. */
static apr_size_t step(const char *text, apr_size_t left)
{
    apr_uint64_t eight;

    if (left >= sizeof(eight)) {
        memcpy(&eight, text, sizeof(eight));
        if (!(eight & 0x8080808080808080u)) {
            return sizeof(eight);
        }
    }
    return vault_utf8_length(text, left);
}

const char *vault_utf8_clean(const char *text, apr_size_t length, apr_size_t *out, apr_pool_t *pool)
{
    apr_size_t i = 0, n, used;
    char *clean;

    while (i < length && (n = step(text + i, length - i))) {
        i += n;
    }
    *out = length;
    if (i == length) {
        return text;
    }
    clean = apr_palloc(pool, i + (length - i) * 3 + 1);
    memcpy(clean, text, i);
    for (used = i; i < length; i += n ? n : 1) {
        n = vault_utf8_length(text + i, length - i);
        memcpy(clean + used, n ? text + i : "\xef\xbf\xbd", n ? n : 3);
        used += n ? n : 3;
    }
    clean[used] = '\0';
    *out = used;
    return clean;
}
