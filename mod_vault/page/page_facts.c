/* SPDX-License-Identifier: Apache-2.0 */
/* The facts about a page for the status page. Notes are stored without the page's lock: one that comes late may
 * describe an earlier poll. */
#include "page/page_facts.h"

#include "apr_strings.h"

#include "page/page_record.h"

apr_status_t vault_page_facts(vault_pages_t *p, const vault_page_t *page, vault_page_facts_t *facts, apr_pool_t *pool)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    vault_off_t staged[VAULT_PAGE_STAGED];
    vault_client_counts_t counts = {{0}};
    unsigned i;

    if (!rec) {
        return APR_NOTFOUND;
    }
    facts->owner = rec->owner ? apr_pstrdup(pool, vault_heap_at(p->heap, rec->owner)) : NULL;
    facts->client = vault_load(&rec->client);
    vault_page_count_charges(p, rec, &counts);
    facts->bytes = counts.held[VAULT_CLIENT_BYTES];
    facts->polled = vault_load(&rec->polled) != 0;
    facts->idle_since = (apr_time_t)vault_load(&rec->idle_since);
    facts->last = rec->last;
    facts->base = rec->base ? vault_page_record_read(p, rec->base, pool) : NULL;
    facts->count = vault_page_chain_list(p, rec, staged);
    for (i = 0; i < facts->count; i++) {
        facts->staged[i] = vault_page_record_read(p, staged[i], pool);
    }
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

int vault_page_is_elsewhere(vault_pages_t *p, const vault_page_t *page, apr_uint64_t host)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    int elsewhere;

    if (!rec) {
        return 0;
    }
    elsewhere = rec->host != host;
    vault_lock_release(&rec->lock);
    return elsewhere;
}

int vault_page_at(const vault_pages_t *p, apr_uint32_t index, vault_page_t *page)
{
    return vault_page_record_at(p, index, page) && !vault_record_is_session(&p->records[page->index]);
}

int vault_page_record_at(const vault_pages_t *p, apr_uint32_t index, vault_page_t *page)
{
    page->index = index <= p->max ? index : 0;
    page->id[0] = vault_load(&p->records[page->index].id[0]);
    page->id[1] = vault_load(&p->records[page->index].id[1]);
    page->key = vault_load(&p->records[page->index].key);
    return (page->id[0] | page->id[1]) != 0;
}

apr_uint32_t vault_pages_last(const vault_pages_t *p)
{
    return vault_load(&p->table->fresh);
}

apr_time_t vault_page_ran_at(const vault_pages_t *p, const vault_ticket_t *ticket)
{
    return (apr_time_t)vault_load(&p->records[ticket->page.index].last.ran_at);
}

void vault_page_note_wake(vault_pages_t *p, const vault_ticket_t *ticket, unsigned causes, apr_time_t now)
{
    vault_page_last_t *last = &p->records[ticket->page.index].last;

    if (!vault_page_superseded(p, ticket)) {
        vault_store(&last->woken_at, (apr_uint64_t)now);
        vault_store(&last->causes, causes);
    }
}

void vault_page_note_round(vault_pages_t *p, const vault_ticket_t *ticket, const vault_page_last_t *round)
{
    vault_page_last_t *last = &p->records[ticket->page.index].last;

    if (!vault_page_superseded(p, ticket)) {
        vault_store(&last->ran_at, round->ran_at);
        vault_store(&last->ran, round->ran);
        vault_store(&last->wrote, round->wrote);
        vault_store(&last->failed, round->failed);
    }
}
