/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of outputs as blocks of bytes: what was written is read, and nothing else ever is. */
#include <string.h>

#include <CUnit/CUnit.h>

#include "apr_strings.h"

#include "output/output_packet.h"
#include "unit.h"

#define SEED 42

static const vault_output_packet_t example = {.key = "the key",
                                              .key_size = 7,
                                              .metadata = "some metadata",
                                              .metadata_size = 10,
                                              .body = "<p>the body</p>",
                                              .body_size = 15,
                                              .made = 1000,
                                              .until = 2000};

static char *encode(apr_size_t *size, apr_pool_t *pool)
{
    return vault_output_packet_encode(&example, SEED, size, pool);
}

static const char *decode(const char *block, apr_size_t size, vault_output_packet_t *p)
{
    memset(p, 0, sizeof(*p));
    p->key = example.key;
    p->key_size = example.key_size;
    return vault_output_packet_decode(p, SEED, block, size);
}

static void a_block_is_read_as_it_was_written(void)
{
    apr_pool_t *pool;
    vault_output_packet_t p, none = {.key = "k", .key_size = 1, .metadata = NULL, .body = NULL, .until = 1};
    apr_size_t size;
    char *block;

    apr_pool_create(&pool, NULL);
    block = encode(&size, pool);
    CU_ASSERT_PTR_NULL(decode(block, size, &p));
    CU_ASSERT(p.metadata_size == 10 && !memcmp(p.metadata, example.metadata, 10));
    CU_ASSERT(p.body_size == 15 && !memcmp(p.body, example.body, 15));
    CU_ASSERT(p.made == 1000 && p.until == 2000);
    block = vault_output_packet_encode(&none, SEED, &size, pool);
    CU_ASSERT_PTR_NULL(vault_output_packet_decode(&none, SEED, block, size));
    CU_ASSERT(none.body_size == 0 && none.metadata_size == 0);
    apr_pool_destroy(pool);
}

static void what_is_damaged_is_refused(void)
{
    apr_pool_t *pool;
    vault_output_packet_t p;
    apr_size_t size, i;
    unsigned bit;
    char *block, *longer;

    apr_pool_create(&pool, NULL);
    block = encode(&size, pool);
    for (i = 0; i < size; i++) {
        CU_ASSERT_PTR_NOT_NULL(decode(block, i, &p)); /* cut */
        for (bit = 0; bit < 8; bit++) {
            block[i] = (char)(block[i] ^ 1 << bit);
            CU_ASSERT_PTR_NOT_NULL(decode(block, size, &p));
            block[i] = (char)(block[i] ^ 1 << bit);
        }
    }
    longer = apr_pcalloc(pool, size + 1);
    memcpy(longer, block, size);
    CU_ASSERT_PTR_NOT_NULL(decode(longer, size + 1, &p));
    CU_ASSERT_PTR_NULL(decode(block, size, &p));
    apr_pool_destroy(pool);
}

static void what_belongs_elsewhere_is_refused(void)
{
    apr_pool_t *pool;
    vault_output_packet_t p = example;
    apr_size_t size;
    char *block;

    apr_pool_create(&pool, NULL);
    block = encode(&size, pool);
    CU_ASSERT_PTR_NOT_NULL(vault_output_packet_decode(&p, SEED + 1, block, size)); /* of another secret */
    p = (vault_output_packet_t){.key = "the kez", .key_size = 7};
    CU_ASSERT_STRING_EQUAL(vault_output_packet_decode(&p, SEED, block, size), "it belongs to another key");
    p = (vault_output_packet_t){.key = "the key2", .key_size = 8};
    CU_ASSERT_STRING_EQUAL(vault_output_packet_decode(&p, SEED, block, size), "it belongs to another key");
    CU_ASSERT_PTR_NOT_NULL(decode("another program wrote this text, which is longer than the head of a block", 73, &p));
    apr_pool_destroy(pool);
}

void vault_output_packet_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_packet", NULL, NULL);

    CU_ADD_TEST(suite, a_block_is_read_as_it_was_written);
    CU_ADD_TEST(suite, what_is_damaged_is_refused);
    CU_ADD_TEST(suite, what_belongs_elsewhere_is_refused);
}
