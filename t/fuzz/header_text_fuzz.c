/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file header_text_fuzz.c
 * Parses any value of a header. Checks that decoding reverses encoding, that an accepted property has a valid
 * key and no empty value, and that no reserved name stays in a list.
 */
#include "base/header_text.h"

#include "fuzz.h"

static void comes_back(const char *text, apr_pool_t *pool)
{
    const char *decoded = vault_header_decode(vault_header_encode(text, pool), pool);

    must(decoded != NULL && strcmp(decoded, text) == 0);
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    const char *rest = text, *piece, *others = vault_header_others(text, pool);

    comes_back(text, pool);
    vault_header_is_reserved(text);
    must(others == NULL || (strlen(others) < length && vault_header_others(others, pool) == NULL));
    while ((piece = vault_header_piece(&rest, pool)) != NULL) {
        const char *decoded = vault_header_decode(piece, pool), *key, *value;

        must(piece[0] != '\0');
        if (decoded != NULL) {
            comes_back(decoded, pool);
        }
        if (vault_header_property(piece, &key, &value, pool)) {
            must(vault_header_is_key(key) && (value == NULL || value[0] != '\0'));
        }
    }
}
