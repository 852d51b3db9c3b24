/* SPDX-License-Identifier: Apache-2.0 */
/* A block: the head, the key, the metadata, the body. The checksum covers everything behind it. */
#include "output/output_packet.h"

#include <stddef.h>
#include <string.h>

#include "base/hash.h"

/* The last character counts the layouts of this file. Another byte order reads another number. */
#define MAGIC APR_UINT64_C(0x766f75742d706b31) /* "vout-pk1" */

typedef struct head_t {
    apr_uint64_t magic, checksum;
    apr_uint64_t key_size, metadata_size, body_size;
    apr_uint64_t made, until;
} head_t;

_Static_assert(sizeof(head_t) <= VAULT_OUTPUT_PACKET_HEAD, "the head must fit into what callers reserve for it");

/* The checksum covers everything from here on. */
#define SUMMED offsetof(head_t, key_size)

static char *append(char *at, const void *data, apr_size_t size)
{
    if (size) {
        memcpy(at, data, size);
    }
    return at + size;
}

char *vault_output_packet_encode(const vault_output_packet_t *p, apr_uint64_t seed, apr_size_t *size, apr_pool_t *pool)
{
    head_t head = {
        MAGIC, 0, p->key_size, p->metadata_size, p->body_size, (apr_uint64_t)p->made, (apr_uint64_t)p->until};
    char *block, *at;

    *size = sizeof(head) + p->key_size + p->metadata_size + p->body_size;
    block = apr_palloc(pool, *size);
    at = append(block, &head, sizeof(head));
    at = append(at, p->key, p->key_size);
    at = append(at, p->metadata, p->metadata_size);
    append(at, p->body, p->body_size);
    head.checksum = vault_hash(seed, block + SUMMED, *size - SUMMED);
    memcpy(block, &head, sizeof(head));
    return block;
}

/* No sum can overflow, since each size is compared with what is left. */
static int sizes_fit(const head_t *head, apr_size_t left)
{
    if (head->key_size > left || head->metadata_size > left - head->key_size) {
        return 0;
    }
    return head->body_size == left - head->key_size - head->metadata_size;
}

const char *vault_output_packet_decode(vault_output_packet_t *p, apr_uint64_t seed, const char *block, apr_size_t size)
{
    head_t head;

    if (size < sizeof(head)) {
        return "it is cut";
    }
    memcpy(&head, block, sizeof(head));
    if (head.magic != MAGIC) {
        return "another version or another program has written it";
    }
    if (!sizes_fit(&head, size - sizeof(head)) || head.checksum != vault_hash(seed, block + SUMMED, size - SUMMED)) {
        return "it is damaged, or a server with another secret has written it";
    }
    block += sizeof(head);
    if (head.key_size != p->key_size || memcmp(block, p->key, p->key_size)) {
        return "it belongs to another key";
    }
    p->metadata = block + head.key_size;
    p->metadata_size = (apr_size_t)head.metadata_size;
    p->body = block + head.key_size + head.metadata_size;
    p->body_size = (apr_size_t)head.body_size;
    p->made = (apr_time_t)head.made;
    p->until = (apr_time_t)head.until;
    return NULL;
}
