/* SPDX-License-Identifier: Apache-2.0 */
/* Which records of the table are free: claims one for a page or a session, and frees it. */
#include "page/page_record.h"

apr_uint32_t vault_page_table_free(const vault_pages_t *p)
{
    apr_uint32_t i = p->table->free, n = 0;

    while (i && i <= p->max && n <= p->table->fresh) {
        i = p->records[i].next;
        n++;
    }
    return n;
}

/* A record that is in no chain of ids is not in use, or a killed process was about to free it. */
static apr_uint32_t count_sessions(const vault_pages_t *p)
{
    apr_uint32_t i, n = 0;

    for (i = 1; i <= p->table->fresh; i++) {
        n += p->records[i].key && vault_record_is_session(&p->records[i]);
    }
    return n;
}

void vault_page_table_lock(vault_pages_t *p)
{
    if (vault_lock_acquire(&p->table->lock)) {
        vault_store(&p->table->count, p->table->fresh - vault_page_table_free(p));
        vault_store(&p->table->sessions, count_sessions(p));
        vault_page_ids_mend_locked(p);
        vault_notifier_all(p->notifier, 0);
    }
}

void vault_page_record_release(vault_pages_t *p, apr_uint32_t index)
{
    vault_page_table_lock(p);
    if (p->records[index].key && vault_record_is_session(&p->records[index])) {
        __atomic_fetch_sub(&p->table->sessions, 1, __ATOMIC_RELAXED);
    }
    vault_page_ids_remove_locked(p, index);
    p->records[index].next = p->table->free;
    p->table->free = index;
    __atomic_fetch_sub(&p->table->count, 1, __ATOMIC_RELAXED);
    vault_lock_release(&p->table->lock);
}

int vault_sessions_are_full(const vault_pages_t *p)
{
    return p->limits.sessions && vault_load(&p->table->sessions) >= p->limits.sessions;
}

/* Takes a record from the chain of free ones or, if there is none, one that was never used. */
static apr_uint32_t take_locked(vault_pages_t *p)
{
    apr_uint32_t index = p->table->free;

    if (index) {
        p->table->free = p->records[index].next;
    }
    else if (p->table->fresh < p->max && vault_lock_init(&p->records[p->table->fresh + 1].lock) == APR_SUCCESS) {
        index = p->table->fresh + 1;
        p->records[index].born = 1;
        vault_store(&p->table->fresh, index); /* its lock is initialised: a walk over all records may take it */
    }
    return index;
}

apr_uint32_t vault_page_record_claim(vault_pages_t *p, apr_uint32_t key, vault_record_kind_t kind)
{
    apr_uint32_t index;

    vault_page_table_lock(p);
    index = kind == VAULT_RECORD_SESSION && vault_sessions_are_full(p) ? 0 : take_locked(p);
    if (index) {
        vault_store(&p->records[index].kind, (apr_uint32_t)kind);
        vault_page_ids_add_locked(p, index, key);
        if (kind == VAULT_RECORD_SESSION) {
            __atomic_fetch_add(&p->table->sessions, 1, __ATOMIC_RELAXED);
        }
        __atomic_fetch_add(&p->table->count, 1, __ATOMIC_RELAXED);
    }
    vault_lock_release(&p->table->lock);
    return index;
}

apr_uint32_t vault_pages_count(const vault_pages_t *p)
{
    apr_uint32_t records = vault_load(&p->table->count), sessions = vault_sessions_count(p);

    return records > sessions ? records - sessions : 0; /* the two change one after the other */
}

apr_uint32_t vault_sessions_count(const vault_pages_t *p)
{
    return vault_load(&p->table->sessions);
}
