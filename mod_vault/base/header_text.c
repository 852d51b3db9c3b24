/* SPDX-License-Identifier: Apache-2.0 */
/* Parses and writes the values of Vault-* headers. */
#include "base/header_text.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "base/hex.h"

static int is_blank(char c)
{
    return c == ' ' || c == '\t';
}

const char *vault_header_piece(const char **rest, apr_pool_t *pool)
{
    const char *begin = *rest, *end;

    while (is_blank(*begin) || *begin == ',') {
        begin++;
    }
    end = begin + strcspn(begin, ",");
    *rest = end;
    while (end > begin && is_blank(end[-1])) {
        end--;
    }
    return end > begin ? apr_pstrmemdup(pool, begin, (apr_size_t)(end - begin)) : NULL;
}

const char *vault_header_decode(const char *text, apr_pool_t *pool)
{
    char *decoded = apr_palloc(pool, strlen(text) + 1), *to = decoded;

    for (; *text; text++) {
        int high, low;

        if (*text != '%') {
            *to++ = *text;
            continue;
        }
        high = vault_hex_value(text[1]);
        low = high < 0 ? -1 : vault_hex_value(text[2]);
        if (low < 0 || !(*to = (char)(high << 4 | low))) {
            return NULL;
        }
        to++;
        text += 2;
    }
    *to = '\0';
    return decoded;
}

const char *vault_header_encode(const char *text, apr_pool_t *pool)
{
    static const char digits[] = "0123456789ABCDEF";
    char *encoded = apr_palloc(pool, 3 * strlen(text) + 1), *to = encoded;

    for (; *text; text++) {
        if (*text > ' ' && *text <= '~' && *text != ',' && *text != '%') {
            *to++ = *text;
            continue;
        }
        *to++ = '%';
        *to++ = digits[(unsigned char)*text >> 4];
        *to++ = digits[(unsigned char)*text & 15];
    }
    *to = '\0';
    return encoded;
}

int vault_header_is_key(const char *key)
{
    const char *p;

    for (p = key; (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || *p == '-'; p++) {
    }
    return p > key && !*p;
}

int vault_header_property(const char *piece, const char **key, const char **value, apr_pool_t *pool)
{
    const char *eq = strchr(piece, '=');
    char *name, *p;

    if (!eq) {
        return 0;
    }
    name = apr_pstrmemdup(pool, piece, (apr_size_t)(eq - piece));
    for (p = name; *p; p++) {
        *p = (char)apr_tolower(*p);
    }
    *key = name;
    *value = vault_header_decode(eq + 1, pool);
    if (!vault_header_is_key(name) || !*value) {
        return 0;
    }
    *value = **value ? *value : NULL;
    return 1;
}

/* Compares without regard to case, and takes every character that is not alphanumeric for a hyphen.
 * @return the rest of `name` after `begin`; NULL: it begins otherwise */
static const char *begins(const char *name, const char *begin)
{
    for (; *begin; name++, begin++) {
        if (apr_isalnum(*name) ? apr_tolower(*name) != *begin : !*name || *begin != '-') {
            return NULL;
        }
    }
    return name;
}

int vault_header_is_reserved(const char *name)
{
    static const char *const whole[] = {"vault-page", "vault-new-page", "vault-stream"};
    unsigned i;

    for (i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
        const char *end = begins(name, whole[i]);
        if (end && !*end) {
            return 1;
        }
    }
    return begins(name, "vault-property") || begins(name, "vault-session");
}

const char *vault_header_others(const char *list, apr_pool_t *pool)
{
    static const char between[] = ",; \t\r\n\v\f";
    char *names = apr_pstrdup(pool, list), *others = apr_palloc(pool, strlen(list) + 1), *to = others, *name, *rest;
    const char *from = list, *end;
    int reserved = 0;

    for (name = apr_strtok(names, between, &rest); name; name = apr_strtok(NULL, between, &rest), from = end) {
        end = list + (name - names) + strlen(name);
        if (vault_header_is_reserved(name)) {
            reserved = 1;
            continue;
        }
        memcpy(to, from, (apr_size_t)(end - from));
        to += end - from;
    }
    *to = '\0';
    return reserved ? others + strspn(others, between) : NULL;
}
