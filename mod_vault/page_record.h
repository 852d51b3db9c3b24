/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_record.h
 * How a page lies in the segment: for page.c (what a poll does to it), page_chain.c (the answers that are on their way), page_write.c
 * (what others do to it), page_facts.c (what it tells), page_clients.c (how many a client has), page_recount.c (what pages have in
 * all), page_check.c (is it sound), page_table.c (how it comes and goes) and page_record.c (its lock, its blocks, its holds), nobody
 * else.
 *
 * Free records are chained under the table's lock; a record's own lock guards the rest of it and is made when the record is first
 * used, so that a large table costs only what is in use. The id is written last when a page is made and wiped first when it goes.
 */
#ifndef VAULT_PAGE_RECORD_H
#define VAULT_PAGE_RECORD_H

#include "lock.h"
#include "page.h"
#include "page_facts.h"
#include "slot.h"

typedef struct vault_page_record_t {
    vault_lock_t lock;
    apr_uint64_t id[2];                    /* lock; atomic; 0,0: free */
    apr_uint64_t fence;                    /* lock; atomic */
    apr_uint64_t idle_since;               /* atomic; in the future while a poll waits */
    vault_lease_t lease;                   /* lock; atomic; of the child whose poll that is */
    apr_uint32_t polled;                   /* atomic */
    vault_interest_t own;                  /* lock; atomic */
    apr_uint64_t tab[2];                   /* lock; the browser tab that polls; 0,0: not known yet */
    apr_uint64_t last_seq;                 /* lock; the largest number ever given to an answer */
    apr_uint64_t written;                  /* lock; atomic; how often it was changed from outside of its polls */
    vault_off_t base;                      /* lock; atomic; 0: not published */
    vault_off_t staged[VAULT_PAGE_STAGED]; /* lock; atomic; in no order; 0: none */
    apr_uint64_t tip;                      /* lock; the number of the state that its poll goes on from */
    apr_uint32_t streams;                  /* lock; its poll goes on from answers that nobody has acknowledged yet */
    vault_off_t owner;                     /* lock; atomic; a string in the heap; 0: anybody */
    vault_off_t holds;                     /* lock; atomic; a vault_holds_t in the heap; 0: none */
    apr_uint32_t client;                   /* atomic; whose page it is, for VaultMaxPagesPerClient; 0: not counted */
    vault_page_last_t last;                /* atomic, each for itself; what its polls last did */
    apr_uint32_t next;                     /* table lock; the next free record */
    apr_uint32_t born;                     /* table lock; the record's lock has been made */
} vault_page_record_t;

/* The interests a page holds. Appending writes the place before the count, so a kill in between never frees twice; what it leaks is
 * found by the recount. */
typedef struct vault_holds_t {
    apr_uint32_t room;
    apr_uint32_t count;
    vault_interest_t interest[];
} vault_holds_t;

typedef struct vault_page_table_t {
    vault_lock_t lock;
    apr_uint32_t free;  /* lock; first free record, 0: none */
    apr_uint32_t fresh; /* lock; atomic; records never used begin after this one */
    apr_uint32_t count; /* atomic */
    apr_uint64_t swept; /* atomic; when a child last looked for expired pages */
    vault_lock_t recounting;
    apr_uint32_t recounted; /* atomic; of the children known to have died, those after whom the holds were counted */
} vault_page_table_t;

/* How many pages a client has: at least what the smaller of its two places says, since others may share a place. Changed by atomic steps
 * without a lock; what a killed process leaves wrong is set right by the next sweep. */
#define VAULT_CLIENT_PLACES 4096
typedef struct vault_page_clients_t {
    apr_uint32_t count[2][VAULT_CLIENT_PLACES];
} vault_page_clients_t;

struct vault_pages_t {
    vault_heap_t *heap;
    vault_notifier_t *notifier;
    vault_page_table_t *table;
    vault_page_clients_t *clients;
    vault_page_record_t *records; /* 1..max; 0 is not used */
    apr_uint32_t max;
    apr_uint32_t max_interests; /* of one page */
    unsigned slot;              /* of this process */
};

#define vault_load(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define vault_store(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

/** Does the record carry this page? Takes no lock. */
int vault_page_record_is(const vault_page_record_t *rec, const vault_page_t *page);

/** Take the record's lock; after a dead owner, mend it and notify all. */
void vault_page_record_lock(vault_pages_t *p, vault_page_record_t *rec);

/** The record of the page, locked; NULL when the page is gone. */
vault_page_record_t *vault_page_record_lock_page(vault_pages_t *p, const vault_page_t *page);

/** May this user do what polls do? `owner` NULL: nobody in particular. Locked. */
int vault_page_record_is_of(vault_pages_t *p, const vault_page_record_t *rec, const char *owner);

/** A block of the heap with that state; 0: it is too large, or there is no room. Locked, until the block is in the record or freed:
 * else the recount after a death would take it for lost. */
vault_off_t vault_page_record_store(vault_pages_t *p, const vault_state_t *state);

/** The state in that block, copied into `pool`. Locked.
 * @return NULL: what is stored is no state */
vault_state_t *vault_page_record_read(vault_pages_t *p, vault_off_t block, apr_pool_t *pool);

/** Give a block of the heap back; its place is wiped before, so that a kill leaks it and nothing is freed twice. */
void vault_page_record_free(vault_pages_t *p, vault_off_t *place);

/** The number of a stored state. */
apr_uint64_t vault_page_record_seq(vault_pages_t *p, vault_off_t block);

/** The interests it holds; NULL: none ever. Locked. */
vault_holds_t *vault_page_record_holds(vault_pages_t *p, vault_page_record_t *rec);

/** Where the state of that number is: the base or a staged one; NULL: nowhere. Locked. */
vault_off_t *vault_page_chain_find(vault_pages_t *p, vault_page_record_t *rec, apr_uint64_t seq);

/** The answer at `place`, a staged one, has arrived: it becomes the base. Of the others those stay that were made from it. What only the
 * others named is still held: a round may run that needs it. Locked. */
void vault_page_chain_commit(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place);

/** The place for one more answer that is made from the tip. What must go for that is given back. Locked.
 * @return NULL: all places are taken by answers that the tip goes back to */
vault_off_t *vault_page_chain_room(vault_pages_t *p, vault_page_record_t *rec);

/** Is there no such place? Locked. */
int vault_page_chain_is_full(vault_pages_t *p, vault_page_record_t *rec);

/** The staged states, the newest first. Locked.
 * @return how many */
unsigned vault_page_chain_list(vault_pages_t *p, const vault_page_record_t *rec, vault_off_t blocks[VAULT_PAGE_STAGED]);

/** As vault_page_hold(). Locked. */
apr_status_t vault_page_record_hold(vault_pages_t *p, vault_page_record_t *rec, const char *name,
                                    vault_interest_t *interest, apr_uint64_t *stamp);

/** Let go what no stored state names any more. Only where nobody can publish what it holds without being named yet: the page's view or
 * its round has just published, or of a published page the fence or `written` was raised. Locked. */
void vault_page_record_release_unnamed(vault_pages_t *p, vault_page_record_t *rec);

/** How many pages a client has, about; 0: nobody. */
apr_uint32_t vault_page_clients_pages(const vault_pages_t *p, apr_uint32_t client);

/** One page less for its client. */
void vault_page_clients_leave(vault_pages_t *p, apr_uint32_t client);

/** Count afresh: one page of `client`. `counts` begins empty. */
void vault_page_clients_add(vault_page_clients_t *counts, apr_uint32_t client);
/** What was counted afresh is right. */
void vault_page_clients_set(vault_pages_t *p, const vault_page_clients_t *counts);

/** How many records hold each interest up to `last`; others count as 0. Takes the lock of one record after the other. */
void vault_page_count_holds(vault_pages_t *p, apr_uint32_t *counted, vault_interest_t last);

/** Is anything left of a page in the record? Only a killed process leaves something where there is no id. */
int vault_page_record_has_left(const vault_page_record_t *rec);

/** Take the table's lock; after a dead owner, count anew and notify all. */
void vault_page_table_lock(vault_pages_t *p);

/** How long the chain of free records is. A chain that leads nowhere ends where it cannot be longer. Table lock. */
apr_uint32_t vault_page_table_free(const vault_pages_t *p);

#endif
