/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_txn_scene.h
 * The page that tests of transactions begin with.
 */
#ifndef VAULT_PAGE_TXN_SCENE_H
#define VAULT_PAGE_TXN_SCENE_H

#include "page_fixture.h"
#include "unit.h"

#define HEAP (1024 * 1024)

/* A page whose view created the interest "x" for the cursor "c", with two methods. */
typedef struct scene_t {
    fixture_t f;
    vault_pages_t *pages;
    vault_page_t page;
    vault_ticket_t ticket;
    vault_page_txn_t *txn;
} scene_t;

__attribute__((unused)) static void begin_round(scene_t *s)
{
    s->txn = vault_page_txn_create(s->pages, &s->page, page_base(s->pages, &s->ticket, s->f.pool), s->f.pool);
}

__attribute__((unused)) static void commit_round(scene_t *s)
{
    CU_ASSERT_EQUAL(vault_page_commit(s->pages, &s->ticket, vault_page_txn_state(s->txn)), APR_SUCCESS);
    begin_round(s);
}

__attribute__((unused)) static void scene_begin(scene_t *s)
{
    pages_begin(&s->f, &s->pages, 2, HEAP);
    CU_ASSERT_FATAL(vault_page_create(s->pages, &s->page, NULL, NOW, IDLE) == APR_SUCCESS);
    s->txn = vault_page_txn_create(s->pages, &s->page, vault_state_create(s->f.pool), s->f.pool);
    CU_ASSERT_EQUAL(vault_page_txn_create_interest(s->txn, "c", "x"), 1); /* it never asked */
    vault_page_txn_set_cursor(s->txn, "c", "seen by the view");
    vault_page_txn_set(s->txn, "p", "of the view");
    vault_page_txn_add_method(s->txn, "/m", 3);
    vault_page_txn_add_method(s->txn, "/n", 3);
    CU_ASSERT(vault_page_txn_end(s->txn, 1));
    CU_ASSERT_EQUAL(vault_page_publish(s->pages, &s->page, vault_page_txn_state(s->txn)), APR_SUCCESS);
    CU_ASSERT_EQUAL(page_poll(s->pages, &s->page, 0, 0, &s->ticket), APR_SUCCESS);
    begin_round(s);
}

__attribute__((unused)) static void scene_end(scene_t *s)
{
    pages_end(&s->f, s->pages, &s->page);
}

/* Runs a method that only creates the interest for the cursor. @return the result of creating it */
__attribute__((unused)) static int ask(scene_t *s, const char *url, const char *cursor, const char *interest)
{
    int told;

    vault_page_txn_begin(s->txn, url);
    told = vault_page_txn_create_interest(s->txn, cursor, interest);
    CU_ASSERT(vault_page_txn_end(s->txn, 1));
    return told;
}

__attribute__((unused)) static void notify(scene_t *s, const char *interest)
{
    CU_ASSERT_EQUAL(vault_notifier_notify(s->f.notifier, interest, 0), APR_SUCCESS);
}

#endif
