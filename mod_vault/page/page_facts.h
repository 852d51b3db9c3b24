/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_facts.h
 * The facts about one page that explain what it shows and why it still waits.
 *
 * Any thread of any process.
 */
#ifndef VAULT_PAGE_FACTS_H
#define VAULT_PAGE_FACTS_H

#include "page/page.h"

/** What the page's polls did last. In the segment: fixed width, each field atomic by itself. */
typedef struct vault_page_last_t {
    apr_uint64_t woken_at; /* 0: never */
    apr_uint64_t ran_at;   /* 0: never */
    apr_uint32_t causes;   /* VAULT_CAUSE_*; 0: woken for another reason, the client or the MPM */
    apr_uint32_t ran;      /* methods that ran in the last round */
    apr_uint32_t wrote;    /* of these, methods with output */
    apr_uint32_t failed;   /* of these, methods that failed */
} vault_page_last_t;

typedef struct vault_page_facts_t {
    const char *owner;        /* the user; NULL: any */
    vault_client_id_t client; /* whose page it is; 0: no client */
    apr_uint64_t bytes;       /* its memory in the heap */
    int polled;               /* 1: it has been polled */
    apr_time_t idle_since;
    vault_page_last_t last;
    vault_state_t *base; /* NULL: not published */
    unsigned count;      /* answers that are not acknowledged yet */
    /* these answers, the newest first; NULL: the block is not a valid state */
    vault_state_t *staged[VAULT_PAGE_STAGED];
} vault_page_facts_t;

/** Copy the facts of the page, as a snapshot.
 * @return APR_SUCCESS, all in `pool`; APR_NOTFOUND there is no such page */
apr_status_t vault_page_facts(vault_pages_t *p, const vault_page_t *page, vault_page_facts_t *facts, apr_pool_t *pool);

/** Does the page exist, but on another virtual host (vault_owner_t)? */
int vault_page_is_elsewhere(vault_pages_t *p, const vault_page_t *page, apr_uint64_t host);

/** The page in slot `index`, for a walk over all pages: slots run from 1 to vault_pages_last().
 * @return 0: the slot is free */
int vault_page_at(const vault_pages_t *p, apr_uint32_t index, vault_page_t *page);
apr_uint32_t vault_pages_last(const vault_pages_t *p);

/** When the page's methods last ran; 0: never. */
apr_time_t vault_page_ran_at(const vault_pages_t *p, const vault_ticket_t *ticket);

/** Record that the page's poll was woken. Does nothing if the ticket is no longer valid. */
void vault_page_note_wake(vault_pages_t *p, const vault_ticket_t *ticket, unsigned causes, apr_time_t now);

/** Record that the page's poll has run methods. Does nothing if the ticket is no longer valid. */
void vault_page_note_round(vault_pages_t *p, const vault_ticket_t *ticket, const vault_page_last_t *round);

#endif
