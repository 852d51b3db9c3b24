/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_fixture.h
 * The fixture of tests of pages: a segment with pages, and shorthands for a browser's requests.
 */
#ifndef VAULT_PAGE_FIXTURE_H
#define VAULT_PAGE_FIXTURE_H

#include "fixture.h"
#include "page/page_txn.h"

/** The time of the tests; any other would do. */
#define NOW apr_time_from_sec(1000000)
#define IDLE apr_time_from_sec(300)

/** As fixture_begin(), with room for `max` pages; ends with pages_end(), or with fixture_end() where pages may
 * be left. */
void pages_begin(fixture_t *f, vault_pages_t **pages, apr_uint32_t max, apr_uint64_t heap_bytes);

/** Run all checks of invariants. */
void pages_sound(fixture_t *f, vault_pages_t *pages, unsigned line, const char *file);
#define CHECK_PAGES(f, pages) pages_sound(f, pages, __LINE__, __FILE__)

/** Run all checks, drop the last page (NULL: it is gone already), check that nothing is held or stored any more,
 * and free everything. */
void pages_end(fixture_t *f, vault_pages_t *pages, const vault_page_t *last);

/** Make a page and publish an empty state. Ends the test when that fails. */
vault_page_t page_publish(vault_pages_t *pages, apr_pool_t *pool);

/** Poll as tab `tab` of any user (0: without a nonce). */
apr_status_t page_poll(vault_pages_t *pages, const vault_page_t *page, apr_uint64_t seq, apr_uint64_t tab,
                       vault_ticket_t *ticket);

/** Acknowledge without a poll, as a browser does that leaves the page. */
apr_status_t page_acknowledge(vault_pages_t *pages, const vault_page_t *page, const vault_take_t *take);

/** The committed state. Ends the test when there is none. */
vault_state_t *page_base(vault_pages_t *pages, vault_ticket_t *ticket, apr_pool_t *pool);

/** A state with the property `mark` and one method that depends on `interest` (0: on nothing). */
vault_state_t *page_state(apr_pool_t *pool, const char *mark, vault_interest_t interest, apr_uint64_t stamp);

/** The property `mark` of the committed state, "" for none. */
const char *page_mark(vault_pages_t *pages, vault_ticket_t *ticket, apr_pool_t *pool);

#endif
