/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file state_fuzz.c
 * Any bytes as the stored state of a page. Where they begin with "?" the magic and the length are made right,
 * so that what is behind them is looked at. Checked besides crashes: what was read can be written, and is then
 * read as the same.
 */
#include "page/state.h"

#include "fuzz.h"

#define MAGIC 0x76537435u

static void read_again(const vault_state_t *state, apr_pool_t *pool)
{
    apr_size_t size = vault_state_size(state);
    void *block = malloc(size), *other = malloc(size);
    const vault_state_t *again;

    vault_state_encode(state, block, size);
    again = vault_state_decode(block, size, pool);
    must(again != NULL && vault_state_size(again) == size);
    vault_state_encode(again, other, size);
    must(vault_state_bytes(block) == vault_state_bytes(other) && memcmp(block, other, vault_state_bytes(block)) == 0);
    free(block);
    free(other);
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    char *block = malloc(length + 1);
    const vault_state_t *state;

    memcpy(block, text, length);
    if (length >= 2 * sizeof(apr_uint32_t) && text[0] == '?') {
        const apr_uint32_t head[] = {MAGIC, (apr_uint32_t)length};

        memcpy(block, head, sizeof(head));
    }
    state = vault_state_decode(block, length, pool);
    if (state != NULL) {
        read_again(state, pool);
    }
    free(block);
}
