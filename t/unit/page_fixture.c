/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of tests of pages: a segment with pages, and shorthands for a browser's requests. */
#include "page_fixture.h"

#include <string.h>

#define SLOTS 8

void pages_begin(fixture_t *f, vault_pages_t **pages, apr_uint32_t max, apr_uint64_t heap_bytes)
{
    vault_limits_t limits = {0, 600, max, SLOTS, 0};
    vault_page_tables_t tables;

    memset(f, 0, sizeof(*f));
    limits.size = vault_notifier_space(&limits) + vault_pages_space(&limits) + vault_clients_space(&limits) +
                  heap_bytes + 128 * 1024;
    CU_ASSERT_FATAL(apr_pool_create(&f->pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&f->segment, &limits, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_notifier_create(&f->notifier, f->segment, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_heap_create(&f->heap, f->segment, heap_bytes, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_clients_create(&f->clients, f->segment, f->pool) == APR_SUCCESS);
    tables.clients = f->clients;
    tables.heap = f->heap;
    tables.notifier = f->notifier;
    CU_ASSERT_FATAL(vault_pages_create(pages, f->segment, &tables, f->pool) == APR_SUCCESS);
}

void pages_sound(fixture_t *f, vault_pages_t *pages, unsigned line, const char *file)
{
    fixture_sound(vault_pages_check(pages), line, file);
    fixture_sound(vault_pages_check_live(pages, f->pool), line, file);
    fixture_sound(vault_notifier_check(f->notifier), line, file);
    fixture_sound(vault_notifier_check_live(f->notifier), line, file);
    fixture_sound(vault_heap_check(f->heap), line, file);
    fixture_sound(vault_clients_check(f->clients), line, file);
}

void pages_end(fixture_t *f, vault_pages_t *pages, const vault_page_t *last)
{
    CHECK_PAGES(f, pages);
    if (last) {
        vault_page_drop(pages, last);
    }
    CU_ASSERT_EQUAL(vault_pages_count(pages), 0);
    CU_ASSERT_EQUAL(vault_interest_count(f->notifier), 0);
    CU_ASSERT_EQUAL(vault_heap_used(f->heap), 0);
    CU_ASSERT_EQUAL(vault_clients_count(f->clients), 0);
    fixture_end(f);
}

vault_page_t page_publish(vault_pages_t *pages, apr_pool_t *pool)
{
    vault_page_t page;

    CU_ASSERT_FATAL(vault_page_create(pages, &page, NULL, NOW, IDLE) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_page_publish(pages, &page, vault_state_create(pool)) == APR_SUCCESS);
    return page;
}

apr_status_t page_poll(vault_pages_t *pages, const vault_page_t *page, apr_uint64_t seq, apr_uint64_t tab,
                       vault_ticket_t *ticket)
{
    vault_take_t take = {seq, {tab, tab}, {0}, NOW, NOW};

    return vault_page_take(pages, page, &take, ticket);
}

apr_status_t page_acknowledge(vault_pages_t *pages, const vault_page_t *page, const vault_take_t *take)
{
    vault_ticket_t ticket;

    return vault_page_acknowledge(pages, page, take, &ticket);
}

vault_state_t *page_base(vault_pages_t *pages, vault_ticket_t *ticket, apr_pool_t *pool)
{
    vault_state_t *base = NULL;

    CU_ASSERT_FATAL(vault_page_read_base(pages, ticket, &base, pool) == APR_SUCCESS);
    return base;
}

vault_state_t *page_state(apr_pool_t *pool, const char *mark, vault_interest_t interest, apr_uint64_t stamp)
{
    vault_state_t *s = vault_state_create(pool);
    vault_method_t *m = apr_array_push(s->methods);

    vault_state_set(s, "mark", mark);
    m->url = "/m";
    m->deps = apr_array_make(pool, 1, sizeof(vault_dep_t));
    if (interest) {
        vault_dep_t *d = apr_array_push(m->deps);
        d->interest = interest;
        d->stamp = stamp;
    }
    return s;
}

const char *page_mark(vault_pages_t *pages, vault_ticket_t *ticket, apr_pool_t *pool)
{
    vault_property_t *p = vault_state_property(page_base(pages, ticket, pool), "mark");

    return p ? p->value : "";
}
