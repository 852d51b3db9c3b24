/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_record.h
 * How a page lies in the segment: for page.c (what a poll does to it), page_chain.c (the answers that are on
 * their way), page_calls.c (what calls from outside add to a run), page_write.c (what others do to it),
 * page_facts.c (what it tells), page_snapshot.c (what another server needs of it), session.c (a record that is a
 * session), page_clients.c (what its client has), page_lost.c (what killed processes have lost), page_check.c (is it
 * sound), page_table.c (how it comes and goes), page_claim.c (which record is free), page_ids.c (how an id finds it),
 * page_evict.c (which one is evicted) and page_record.c (its lock, its blocks, its holds); for no other file.
 *
 * Free records are chained under the table's lock; a record's own lock guards the rest of it and is made when
 * the record is first used, so that a large table costs only what is in use. The id is written last when a page
 * is made and wiped first when it goes.
 */
#ifndef VAULT_PAGE_RECORD_H
#define VAULT_PAGE_RECORD_H

#include "notify/slot.h"
#include "page/page.h"
#include "page/page_calls.h"
#include "page/page_facts.h"
#include "page/page_snapshot.h"
#include "shm/lock.h"

typedef struct vault_eviction_t vault_eviction_t;

/** What a record is. The id of one kind never finds a record of another. */
typedef enum vault_record_kind_t { VAULT_RECORD_PAGE, VAULT_RECORD_SESSION } vault_record_kind_t;

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
    apr_uint64_t gap;                      /* lock; what the number of the next answer leaves out */
    vault_page_copy_t copy;                /* lock; in the store that several servers share (page_snapshot.h) */
    apr_uint64_t saved_version;            /* lock; of `copy.saved` */
    apr_uint64_t written;                  /* lock; atomic; how often it was changed from outside of its polls */
    vault_off_t base;                      /* lock; atomic; 0: not published */
    vault_off_t staged[VAULT_PAGE_STAGED]; /* lock; atomic; in no order; 0: none */
    apr_uint64_t head;                     /* lock; the number of the state that its poll goes on from */
    vault_off_t calls;                     /* lock; atomic; the results of external calls of the open run; 0: none */
    apr_uint64_t calls_run;                /* lock; the number of the last run that was opened */
    apr_uint64_t calls_key;                /* lock; the id of the key of that run's virtual host */
    apr_uint32_t calls_open;               /* lock; whether that run is open, and for what: VAULT_CALLS_… */
    apr_uint32_t calls_failed;             /* lock; a call failed, so the run must not take effect */
    apr_uint32_t streams;     /* lock; its poll is an HTML stream, which continues from unacknowledged answers */
    vault_off_t owner;        /* lock; atomic; the user's name, a string in the heap; 0: any user */
    apr_uint64_t host, realm; /* lock; of that user, see vault_owner_t; `host` also without one */
    vault_off_t holds;        /* lock; atomic; a vault_holds_t in the heap; 0: none */
    vault_client_id_t client; /* atomic; whose page it is; 0: not counted */
    vault_client_row_t row;   /* lock; atomic; where it is counted; 0: not counted */
    vault_page_last_t last;   /* atomic, each for itself; what its polls last did */
    apr_uint32_t next;        /* table lock; the next free record */
    apr_uint32_t key;         /* table lock; atomic; hash key, part of its id; 0: not in the index of ids */
    apr_uint32_t chain;       /* table lock; the next record of its bucket */
    apr_uint32_t born;        /* table lock; the record's lock has been made */
    apr_uint32_t kind;        /* table lock; atomic; vault_record_kind_t */
    apr_uint64_t idle_most;   /* atomic; session: it expires after that long without a request, in microseconds */
    apr_uint64_t address;     /* lock; session: identifies the address from which it was made */
} vault_page_record_t;

/* Values of calls_open: no run, the page's view, or VAULT_CALLS_METHOD plus the method's index in the state from which
 * its poll continues. */
#define VAULT_CALLS_CLOSED 0u
#define VAULT_CALLS_VIEW 1u
#define VAULT_CALLS_METHOD 2u

/* The interests a page holds. Appending writes the place before the count, so a kill in between never releases
 * an interest twice. */
typedef struct vault_holds_t {
    apr_uint32_t room;
    apr_uint32_t count;
    vault_interest_t interest[];
} vault_holds_t;

typedef struct vault_page_table_t {
    vault_lock_t lock;
    apr_uint32_t free;     /* lock; first free record, 0: none */
    apr_uint32_t fresh;    /* lock; atomic; records never used begin after this one */
    apr_uint32_t count;    /* atomic; records in use */
    apr_uint32_t sessions; /* atomic; those of them that are sessions */
    apr_uint64_t swept;    /* atomic; when a child last looked for expired pages */
    apr_uint64_t lost;     /* atomic; bytes of the heap that no page has, when they were last counted */
    apr_uint32_t deaths;   /* atomic; children that had been killed by then */
} vault_page_table_t;

struct vault_pages_t {
    vault_heap_t *heap;
    vault_notifier_t *notifier;
    vault_page_table_t *table;
    vault_clients_t *clients;
    vault_page_record_t *records; /* 1..max; 0 is not used */
    apr_uint32_t max;
    apr_uint32_t *buckets; /* table lock; of the table of ids: the first record of each chain, or 0 */
    apr_uint32_t mask;     /* one less than there are buckets, a power of two */
    vault_page_limits_t limits;
    unsigned slot; /* of this process */
};

#define vault_load(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define vault_store(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

static inline int vault_record_is_session(const vault_page_record_t *rec)
{
    return vault_load(&rec->kind) == VAULT_RECORD_SESSION;
}

/** As vault_page_at(), for records of any kind. */
int vault_page_record_at(const vault_pages_t *p, apr_uint32_t index, vault_page_t *page);

/** As vault_page_locate(), for a record of that kind. */
void vault_page_record_locate(vault_pages_t *p, vault_page_t *page, vault_record_kind_t kind);

/** Create a record of the eviction's kind, evicting others if need be; else as vault_page_create_drawn().
 * @param idle  as there, for the pages that may have expired */
apr_status_t vault_page_record_create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner,
                                      apr_interval_time_t idle, vault_eviction_t *eviction);

/** Store the name of the user with the record. Locked. @return APR_SUCCESS; APR_ENOSPC */
apr_status_t vault_page_record_store_owner(vault_pages_t *p, vault_page_record_t *rec, const char *user,
                                           vault_eviction_t *eviction);

/** Give the record another id. Its index, its states and its interest stay. If the process is killed meanwhile, the
 * record is dropped by the next sweep. Locked. */
void vault_page_record_rename(vault_pages_t *p, vault_page_t *page, const vault_page_t *drawn);

/** As vault_page_write(), once its arguments have been checked. Locked. */
apr_status_t vault_page_record_write(vault_pages_t *p, vault_page_record_t *rec, const vault_write_t *write,
                                     vault_eviction_t *eviction, apr_pool_t *pool);

/** Can these keys and values be stored? */
int vault_page_write_is_valid(const vault_write_t *write);

/** Does the record carry this page? Takes no lock. */
int vault_page_record_is(const vault_page_record_t *rec, const vault_page_t *page);

/** Take the record's lock; after a dead owner, mend it and notify all. */
void vault_page_record_lock(vault_pages_t *p, vault_page_record_t *rec);

/** The record of the page, locked; NULL when the page is gone. */
vault_page_record_t *vault_page_record_lock_page(vault_pages_t *p, const vault_page_t *page);

/** May they do what polls do? Locked.
 * @return APR_SUCCESS; APR_NOTFOUND the page is of another host; APR_EACCES of another user */
apr_status_t vault_page_record_admits(vault_pages_t *p, const vault_page_record_t *rec, const vault_owner_t *owner);

/** A block of the heap for the page; its client is charged. 0: the heap is full, or the client is at its limit:
 * `eviction` says which. Locked, until the block is in the record or freed: else vault_pages_count_lost() would
 * count it as lost. */
vault_off_t vault_page_record_alloc(vault_pages_t *p, vault_page_record_t *rec, apr_size_t size,
                                    vault_eviction_t *eviction);

/** The same with that state in it. 0 also: it is too large. */
vault_off_t vault_page_record_store(vault_pages_t *p, vault_page_record_t *rec, const vault_state_t *state,
                                    vault_eviction_t *eviction);

/** The state in that block, copied into `pool`. Locked.
 * @return NULL: what is stored is no state */
vault_state_t *vault_page_record_read(vault_pages_t *p, vault_off_t block, apr_pool_t *pool);

/** Give a block of the page back to the heap, and its client's bytes with it. 0: nothing to do. Locked. */
void vault_page_record_free_block(vault_pages_t *p, vault_page_record_t *rec, vault_off_t block);

/** The same. The record's reference to the block is cleared first, so that a kill leaks the block and it is
 * never freed twice. */
void vault_page_record_free(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place);

/** The number of a stored state. */
apr_uint64_t vault_page_record_seq(vault_pages_t *p, vault_off_t block);

/** The interests it holds; NULL: none ever. Locked. */
vault_holds_t *vault_page_record_holds(vault_pages_t *p, vault_page_record_t *rec);

/** Where the state of that number is: the base or a staged one; NULL: nowhere. Locked. */
vault_off_t *vault_page_chain_find(vault_pages_t *p, vault_page_record_t *rec, apr_uint64_t seq);

/** The oldest answer on the way from the base to the head; NULL: the base is the head, or is not there. Locked. */
vault_off_t *vault_page_chain_first(vault_pages_t *p, vault_page_record_t *rec);

/** The answer at `place`, a staged one, has arrived: it becomes the base. Of the others those stay that were
 * made from it. What only the others named is still held: a round may run that needs it. Locked. */
void vault_page_chain_commit(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place);

/** The place for one more answer that is made from the head. What must go for that is given back. Locked.
 * @return NULL: all places are taken by answers that the head goes back to */
vault_off_t *vault_page_chain_room(vault_pages_t *p, vault_page_record_t *rec);

/** Is there no such place? Locked. */
int vault_page_chain_is_full(vault_pages_t *p, vault_page_record_t *rec);

/** The staged states, the newest first. Locked.
 * @return how many */
unsigned vault_page_chain_list(vault_pages_t *p, const vault_page_record_t *rec, vault_off_t blocks[VAULT_PAGE_STAGED]);

/** No run of the page is open to calls from outside any more, and what they have added goes. Locked. */
void vault_page_record_close(vault_pages_t *p, vault_page_record_t *rec);

/** The same when a poll of the page has ended or was overtaken. The run of a view stays open: polls may come,
 * and go, before the page is complete, and void nothing of it. Locked. */
void vault_page_record_void_run(vault_pages_t *p, vault_page_record_t *rec);

/** As vault_page_hold(). Locked. */
apr_status_t vault_page_record_hold(vault_pages_t *p, vault_page_record_t *rec, const char *name, vault_dep_t *held,
                                    vault_eviction_t *eviction);

/** Hold the page's own interest for it. Locked. @return as vault_page_hold() */
apr_status_t vault_page_record_hold_own(vault_pages_t *p, vault_page_record_t *rec, const char *name,
                                        vault_eviction_t *eviction);

/** Let go what no stored state names any more. Only where no thread can publish what it holds without being named
 * yet: the page's view or its round has just published, or of a published page the fence or `written` was
 * raised. Locked. */
void vault_page_record_release_unnamed(vault_pages_t *p, vault_page_record_t *rec);

/* ------------------------------------------------------------------ clients */

/** Charge the page's client. A page without a client costs nothing. Locked.
 * @param eviction  told why not; NULL: whatever the client has
 * @return APR_SUCCESS; APR_ENOSPC it has as much as it may */
apr_status_t vault_page_charge(vault_pages_t *p, vault_page_record_t *rec, vault_client_kind_t kind,
                               apr_uint64_t amount, vault_eviction_t *eviction);

/** Take it back, once what it was charged for is gone. Locked. */
void vault_page_refund(vault_pages_t *p, vault_page_record_t *rec, vault_client_kind_t kind, apr_uint64_t amount);

/** What the client of the record should be charged for it, by what is in it: added to `counts`. Locked. */
void vault_page_count_charges(vault_pages_t *p, vault_page_record_t *rec, vault_client_counts_t *counts);

/** Has each client what its pages come to, or more if a process was killed? For vault_pages_check(). @return
 * NULL, or what is wrong */
const char *vault_page_clients_check(vault_pages_t *p, apr_pool_t *pool);

/* ----------------------------------------------------------------- eviction */

/** What an attempt lacked, and the pages to evict for that. The caller sets what it knows and zeroes the rest. It
 * serves one call of a public function, which repeats its attempt for as long as vault_evict_page() evicts a page. */
typedef struct vault_victim_t {
    vault_page_t page;
    int lives;    /* the page is alive: a poll has it, or had it a moment ago */
    int unpolled; /* it is idle and was never polled */
} vault_victim_t;
#define VAULT_EVICTION_VICTIMS 64
struct vault_eviction_t {
    apr_uint32_t asks; /* index of the page that needs memory, which is not evicted itself; 0: it has no index yet */
    vault_client_id_t client;      /* the client of that page; 0: it belongs to no client */
    vault_record_kind_t kind_asks; /* what needs it, a page or a session */
    int lacks;                     /* 1: the last attempt failed for want of something that an eviction frees */
    vault_client_kind_t kind;      /* of this resource */
    apr_uint64_t amount;           /* this amount was lacking */
    int own;                       /* the client is at its own limit: evict only its own pages */
    apr_uint64_t share;            /* the fair share of one client */
    apr_time_t now;
    unsigned evicted;                               /* how many pages were evicted */
    unsigned count, next;                           /* how many victims there are, and the next one to evict */
    vault_victim_t victims[VAULT_EVICTION_VICTIMS]; /* in the order of their eviction */
};

/** Note what the attempt lacked. @param eviction  NULL: do nothing */
void vault_eviction_need(vault_eviction_t *eviction, const vault_page_record_t *rec, vault_client_kind_t kind,
                         apr_uint64_t amount, int own);

/** Evict one page, to free what the last attempt lacked. The caller holds no lock.
 * @return 1  one page was evicted: try again
 *         0  the attempt lacked nothing, or no page may be evicted for it */
int vault_evict_page(vault_pages_t *p, vault_eviction_t *eviction);

/** Has the page had no poll for so long? Takes no lock. */
int vault_page_is_idle(const vault_page_record_t *rec, apr_time_t now, apr_interval_time_t idle);

/** Drop the page, unless it was polled meanwhile and does not go all the same. @return whether it went */
int vault_page_drop_victim(vault_pages_t *p, const vault_victim_t *victim, apr_time_t now, apr_interval_time_t idle);

/** Is anything left of a page in the record? Only a killed process leaves something where there is no id. */
int vault_page_record_has_left(const vault_page_record_t *rec);

/** Take the table's lock; after a dead owner, count anew and notify all. */
void vault_page_table_lock(vault_pages_t *p);

/** The table of ids: how many buckets it has for so many pages; take a record in, take it out, rebuild it after
 * a process died in between. Table lock. */
apr_uint32_t vault_page_ids_buckets(apr_uint32_t pages);
void vault_page_ids_add_locked(vault_pages_t *p, apr_uint32_t index, apr_uint32_t key);
void vault_page_ids_remove_locked(vault_pages_t *p, apr_uint32_t index);
void vault_page_ids_mend_locked(vault_pages_t *p);

/** Does it find each page? For vault_pages_check(). Table lock. @return NULL, or what is wrong */
const char *vault_page_ids_check(const vault_pages_t *p);

/** Claim a free record for the page or session of that key. @return its index; 0: none is free, or there are as many
 * sessions as there may be */
apr_uint32_t vault_page_record_claim(vault_pages_t *p, apr_uint32_t key, vault_record_kind_t kind);

/** Free a record, once nothing is left in it. */
void vault_page_record_release(vault_pages_t *p, apr_uint32_t index);

/** Are there as many sessions as there may be? The answer may be outdated when this returns. */
int vault_sessions_are_full(const vault_pages_t *p);

/** How long the chain of free records is. A chain that leads nowhere ends where it cannot be longer. Table lock. */
apr_uint32_t vault_page_table_free(const vault_pages_t *p);

#endif
