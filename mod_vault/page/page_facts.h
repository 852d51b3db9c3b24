/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_facts.h
 * What there is to say of one page to somebody who asks why it shows what it shows, or why it still waits.
 *
 * Any thread of any process.
 */
#ifndef VAULT_PAGE_FACTS_H
#define VAULT_PAGE_FACTS_H

#include "page/page.h"

/** What the page's polls last did. In the segment: fixed-width, each field for itself. */
typedef struct vault_page_last_t {
    apr_uint64_t woken_at; /* 0: never */
    apr_uint64_t ran_at;   /* 0: never */
    apr_uint32_t causes;   /* VAULT_CAUSE_*; 0: woken for another reason, the client or the MPM */
    apr_uint32_t ran;      /* methods, in the last round */
    apr_uint32_t wrote;    /* of these, with something to show */
    apr_uint32_t failed;   /* of these */
} vault_page_last_t;

typedef struct vault_page_facts_t {
    const char *owner;        /* the user; NULL: any */
    vault_client_id_t client; /* whose it is; 0: no client */
    apr_uint64_t bytes;       /* that it takes in the heap */
    int polled;               /* ever */
    apr_time_t idle_since;
    vault_page_last_t last;
    vault_state_t *base;                      /* NULL: not published */
    unsigned count;                           /* answers that nobody has acknowledged yet */
    vault_state_t *staged[VAULT_PAGE_STAGED]; /* these, the newest first; NULL: what is stored is no state */
} vault_page_facts_t;

/** Copy what is known of the page, of one moment.
 * @return APR_SUCCESS, all in `pool`; APR_NOTFOUND the page is gone */
apr_status_t vault_page_facts(vault_pages_t *p, const vault_page_t *page, vault_page_facts_t *facts, apr_pool_t *pool);

/** Is there such a page, but of another host (vault_owner_t)? */
int vault_page_is_elsewhere(vault_pages_t *p, const vault_page_t *page, apr_uint64_t host);

/** The page in place `index`, for a walk over all: places run from 1 to vault_pages_last().
 * @return 0 there is none now */
int vault_page_at(const vault_pages_t *p, apr_uint32_t index, vault_page_t *page);
apr_uint32_t vault_pages_last(const vault_pages_t *p);

/** When the page's methods last ran; 0: never. */
apr_time_t vault_page_ran_at(const vault_pages_t *p, const vault_ticket_t *ticket);

/** The page's poll was woken. Does nothing for a ticket that no longer counts. */
void vault_page_note_wake(vault_pages_t *p, const vault_ticket_t *ticket, unsigned causes, apr_time_t now);

/** The page's poll has run methods; likewise. */
void vault_page_note_round(vault_pages_t *p, const vault_ticket_t *ticket, const vault_page_last_t *round);

#endif
