/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers and texts as one block of bytes. */
#include "base/pack.h"

#include <string.h>

void vault_pack_pair(vault_packer_t *w, apr_uint32_t a, apr_uint32_t b)
{
    const apr_uint32_t pair[2] = {a, b};

    if (w->at) {
        memcpy(w->at + w->size, pair, sizeof(pair));
    }
    w->size += sizeof(pair);
}

void vault_pack_u64(vault_packer_t *w, apr_uint64_t n)
{
    if (w->at) {
        memcpy(w->at + w->size, &n, sizeof(n));
    }
    w->size += sizeof(n);
}

void vault_pack_text(vault_packer_t *w, const char *s)
{
    apr_size_t length = s ? strlen(s) : 0, padded = VAULT_PACK_ALIGN(sizeof(apr_uint32_t) + length + 1);
    apr_uint32_t n = s ? (apr_uint32_t)length : VAULT_PACK_NULL;

    if (w->at) {
        memset(w->at + w->size + padded - 8, 0, 8);
        memcpy(w->at + w->size, &n, sizeof(n));
        memcpy(w->at + w->size + sizeof(n), s ? s : "", length + 1);
    }
    w->size += padded;
}

const char *vault_unpack_bytes(vault_unpacker_t *r, apr_size_t n)
{
    const char *at = r->at;

    if (r->bad || n > r->left) {
        r->bad = 1;
        return NULL;
    }
    r->at += n;
    r->left -= n;
    return at;
}

apr_uint32_t vault_unpack_peek(vault_unpacker_t *r)
{
    apr_uint32_t n = 0;

    if (r->bad || r->left < sizeof(n)) {
        r->bad = 1;
        return 0;
    }
    memcpy(&n, r->at, sizeof(n));
    return n;
}

apr_uint32_t vault_unpack_pair(vault_unpacker_t *r, apr_uint32_t *second)
{
    apr_uint32_t pair[2] = {0, 0};
    const char *at = vault_unpack_bytes(r, sizeof(pair));

    if (at) {
        memcpy(pair, at, sizeof(pair));
    }
    if (second) {
        *second = pair[1];
    }
    return pair[0];
}

apr_uint64_t vault_unpack_u64(vault_unpacker_t *r)
{
    apr_uint64_t n = 0;
    const char *at = vault_unpack_bytes(r, sizeof(n));

    if (at) {
        memcpy(&n, at, sizeof(n));
    }
    return n;
}

const char *vault_unpack_text(vault_unpacker_t *r)
{
    apr_uint32_t n = vault_unpack_peek(r);
    const char *at =
        vault_unpack_bytes(r, VAULT_PACK_ALIGN(sizeof(n) + (apr_size_t)(n == VAULT_PACK_NULL ? 0 : n) + 1));

    if (!at || n == VAULT_PACK_NULL) {
        return NULL;
    }
    if (at[sizeof(n) + n] != '\0') {
        r->bad = 1;
        return NULL;
    }
    return at + sizeof(n);
}
