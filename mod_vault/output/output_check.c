/* SPDX-License-Identifier: Apache-2.0 */
/* Consistency check of the output store: compares the derived words with the records, and the resources of the records
 * with the heap and the notifier. */
#include "output/output_table.h"

#include <stdlib.h>
#include <string.h>

/* The most blocks of one record: its key, metadata, note, and forms. */
#define BLOCKS (3 + VAULT_OUTPUT_FORMS)

typedef struct check_t {
    vault_outputs_t *o;
    vault_off_t *blocks; /* of all records */
    apr_uint32_t *holds; /* of all records, by interest */
    apr_size_t block_count;
    apr_uint64_t bytes, files;
    apr_uint32_t count[4];
} check_t;

static const char *count_block(check_t *c, vault_off_t block)
{
    apr_size_t takes = block ? vault_heap_block_takes(c->o->heap, block) : 0;

    if (block && !takes) {
        return "a record has a block that is not in use";
    }
    if (block) {
        c->blocks[c->block_count++] = block;
        c->bytes += takes;
    }
    return NULL;
}

static const char *count_hold(check_t *c, vault_interest_t interest)
{
    if (interest > vault_notifier_interests(c->o->notifier)) {
        return "a record holds an interest that cannot be";
    }
    if (interest && ++c->holds[interest] > vault_interest_holders(c->o->notifier, interest)) {
        return "an interest has fewer holders than there are outputs that hold it";
    }
    return NULL;
}

static const char *check_resources(check_t *c, const output_record_t *rec)
{
    const char *wrong = count_block(c, rec->key);
    unsigned i;

    wrong = wrong ? wrong : count_block(c, rec->metadata);
    wrong = wrong ? wrong : count_block(c, rec->note);
    wrong = wrong ? wrong : count_hold(c, rec->waiters);
    for (i = 0; i < VAULT_OUTPUT_FORMS && !wrong; i++) {
        wrong = count_block(c, rec->body[i].block);
        c->files += rec->body[i].disk;
    }
    for (i = 0; i < output_deps(rec) && !wrong; i++) {
        wrong = count_hold(c, rec->deps[i].interest);
    }
    return wrong || rec->dep_count <= VAULT_OUTPUT_INTERESTS ? wrong : "a record has too many dependencies";
}

static int is_chained(const vault_outputs_t *o, const output_record_t *rec)
{
    apr_uint32_t i = o->buckets[rec->hash & o->mask], n, found = 0;

    for (n = 0; i && i <= o->max && n < o->max; i = o->records[i].next, n++) {
        found += i == output_index(o, rec);
    }
    return found == 1 && !i;
}

static const char *check_record(check_t *c, const output_record_t *rec)
{
    const char *key = vault_heap_at(c->o->heap, rec->key);
    const output_body_t *body = &rec->body[VAULT_OUTPUT_PLAIN];
    unsigned state = output_state(rec);

    c->count[state]++;
    if (state == OUTPUT_FREE) {
        return rec->key || rec->metadata || rec->note || rec->waiters || rec->dep_count || body->block || body->disk
                   ? "a free record has something left"
                   : NULL;
    }
    if (!key || rec->hash != output_hash(c->o, key, rec->key_length)) {
        return "a record has no key, or another hash";
    }
    if (!is_chained(c->o, rec)) {
        return "an output is not found by its key";
    }
    if (state == OUTPUT_KEPT && (body->state != OUTPUT_READY || (body->size && !body->block == !body->disk))) {
        return "an entry has no body";
    }
    return check_resources(c, rec);
}

static const char *check_lru(const vault_outputs_t *o, unsigned which)
{
    const output_lru_t *lru = &o->table->lru[which];
    apr_uint32_t i, prev = 0, length = 0;

    for (i = lru->newest; i && i <= o->max && length <= o->max; prev = i, i = o->records[i].older) {
        const output_record_t *rec = &o->records[i];
        if (output_state(rec) == OUTPUT_FREE || rec->newer != prev || output_lru(rec) != which) {
            return "an LRU list has a record that does not belong to it";
        }
        length++;
    }
    return prev != lru->oldest || length != lru->length ? "a record is missing in its LRU list" : NULL;
}

static const char *check_lists(const check_t *c)
{
    const vault_outputs_t *o = c->o;
    apr_uint32_t i, unused = 0, which, listed = 0;
    const char *wrong = NULL;

    for (which = 0; which < OUTPUT_LRU_LISTS && !wrong; which++) {
        wrong = check_lru(o, which);
        listed += o->table->lru[which].length;
    }
    if (wrong || listed + c->count[OUTPUT_FREE] != o->table->high_water) {
        return wrong ? wrong : "a record is missing in its LRU list";
    }
    for (i = o->table->free; i && i <= o->max && unused <= o->max; i = o->records[i].next) {
        if (output_state(&o->records[i]) != OUTPUT_FREE) {
            return "a record is in use and free";
        }
        unused++;
    }
    return i || unused != c->count[OUTPUT_FREE] ? "the list of free records is wrong" : NULL;
}

static int compare(const void *a, const void *b)
{
    const vault_off_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static const char *check_sums(const check_t *c)
{
    const output_table_t *t = c->o->table;
    apr_size_t i;

    qsort(c->blocks, c->block_count, sizeof(*c->blocks), compare);
    for (i = 1; i < c->block_count; i++) {
        if (c->blocks[i] == c->blocks[i - 1]) {
            return "two records have one block";
        }
    }
    if (c->bytes > vault_heap_used(c->o->heap)) {
        return "the records have more bytes than are in use";
    }
    if (c->files != t->files) {
        return "the bytes in files are not those of the entries";
    }
    return memcmp(&c->count[1], &t->count[1], 3 * sizeof(c->count[0])) ? "the count of outputs is wrong" : NULL;
}

const char *vault_outputs_check(vault_outputs_t *o)
{
    check_t c = {.o = o};
    const char *wrong = NULL;
    apr_pool_t *pool;
    apr_uint32_t i;

    if (apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        return "there is no memory to check the outputs";
    }
    c.blocks = apr_palloc(pool, ((apr_size_t)o->max + 1) * BLOCKS * sizeof(*c.blocks));
    c.holds = apr_pcalloc(pool, ((apr_size_t)vault_notifier_interests(o->notifier) + 1) * sizeof(*c.holds));
    output_lock(o);
    for (i = 1; i <= o->table->high_water && !wrong; i++) {
        wrong = check_record(&c, &o->records[i]);
    }
    wrong = wrong ? wrong : check_lists(&c);
    wrong = wrong ? wrong : check_sums(&c);
    output_unlock(o, NULL);
    apr_pool_destroy(pool);
    return wrong ? wrong : vault_heap_check(o->heap);
}
