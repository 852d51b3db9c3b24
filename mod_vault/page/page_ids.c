/* SPDX-License-Identifier: Apache-2.0 */
/* The index of pages by id: a hash table in the segment, with a chain of records for each bucket. The page table's lock
 * protects it. A record is in the index from when it is claimed until it is released.
 */
#include "page/page_record.h"

/* The number of buckets is at least VaultMaxPages, so that most chains have one or two records. */
apr_uint32_t vault_page_ids_buckets(apr_uint32_t pages)
{
    apr_uint32_t buckets = 1;

    while (buckets < pages && buckets < 1u << 31) {
        buckets *= 2;
    }
    return buckets;
}

static apr_uint32_t *bucket_of(const vault_pages_t *p, apr_uint32_t key)
{
    return &p->buckets[key & p->mask];
}

/* The index of the page's record; 0: not found. A killed process may have left a cycle in the chain, so the loop has a
 * limit. */
static apr_uint32_t find_locked(const vault_pages_t *p, const vault_page_t *page, vault_record_kind_t kind)
{
    apr_uint32_t i = *bucket_of(p, page->key), n;

    for (n = 0; i && i <= p->max && n < p->max; i = p->records[i].chain, n++) {
        if (p->records[i].key == page->key && p->records[i].kind == (apr_uint32_t)kind &&
            vault_page_record_is(&p->records[i], page)) {
            return i;
        }
    }
    return 0;
}

void vault_page_ids_add_locked(vault_pages_t *p, apr_uint32_t index, apr_uint32_t key)
{
    vault_page_record_t *rec = &p->records[index];

    vault_store(&rec->key, key);
    rec->chain = *bucket_of(p, key);
    vault_store(bucket_of(p, key), index);
}

void vault_page_ids_remove_locked(vault_pages_t *p, apr_uint32_t index)
{
    vault_page_record_t *rec = &p->records[index];
    apr_uint32_t *link = bucket_of(p, rec->key), n;

    for (n = 0; *link && *link <= p->max && *link != index && n < p->max; n++) {
        link = &p->records[*link].chain;
    }
    if (*link == index) {
        vault_store(link, rec->chain);
    }
    vault_store(&rec->key, 0);
}

void vault_page_ids_mend_locked(vault_pages_t *p)
{
    apr_uint32_t i;

    for (i = 0; i <= p->mask; i++) {
        vault_store(&p->buckets[i], 0);
    }
    for (i = 1; i <= p->table->fresh; i++) {
        if (p->records[i].key) {
            vault_page_ids_add_locked(p, i, p->records[i].key);
        }
    }
}

static int is_chained(const vault_pages_t *p, apr_uint32_t index)
{
    apr_uint32_t i = *bucket_of(p, p->records[index].key), n;

    for (n = 0; i && i <= p->max && i != index && n < p->max; n++) {
        i = p->records[i].chain;
    }
    return i == index && p->records[index].key;
}

const char *vault_page_ids_check(const vault_pages_t *p)
{
    apr_uint32_t i;

    for (i = 1; i <= p->table->fresh; i++) {
        const vault_page_record_t *rec = &p->records[i];
        if ((vault_load(&rec->id[0]) | vault_load(&rec->id[1])) && !is_chained(p, i)) {
            return "a page is not found by its id";
        }
    }
    return NULL;
}

void vault_page_record_locate(vault_pages_t *p, vault_page_t *page, vault_record_kind_t kind)
{
    vault_page_table_lock(p);
    page->index = find_locked(p, page, kind);
    vault_lock_release(&p->table->lock);
}

void vault_page_locate(vault_pages_t *p, vault_page_t *page)
{
    vault_page_record_locate(p, page, VAULT_RECORD_PAGE);
}

/* Without an id while the index changes: a process that is killed meanwhile leaves a record that the sweep drops, never
 * one that no id finds. */
void vault_page_record_rename(vault_pages_t *p, vault_page_t *page, const vault_page_t *drawn)
{
    vault_page_record_t *rec = &p->records[page->index];

    vault_page_table_lock(p);
    vault_store(&rec->id[0], 0);
    vault_store(&rec->id[1], 0);
    vault_page_ids_remove_locked(p, page->index);
    vault_page_ids_add_locked(p, page->index, drawn->key);
    vault_store(&rec->id[1], drawn->id[1]);
    vault_store(&rec->id[0], drawn->id[0]);
    vault_lock_release(&p->table->lock);
    page->id[0] = drawn->id[0];
    page->id[1] = drawn->id[1];
    page->key = drawn->key;
}
