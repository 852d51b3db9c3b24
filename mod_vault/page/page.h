/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page.h
 * The pages: which poll may act for a page, which state is committed, and what an acknowledgement does.
 *
 * A page has a committed state (`base`: what its browser is known to have) and staged ones (answers that are
 * not acknowledged yet). A poll names the answer that its browser shows by the number `seq`:
 *
 *   seq of a staged state   it has arrived: that state is committed
 *   seq of the base         it has not arrived (yet): the methods run again from the
 *                           base. The staged state is kept for a poll that was superseded, until another answer
 *                           has been staged after the next
 *   any other number        the browser shows an unknown state: APR_EMISMATCH, nothing is changed
 *
 * A poll continues from the base, and ends with an answer. A stream continues from the last answer that it has
 * sent, its `head`, acknowledged or not: its answers are a chain of at most VAULT_PAGE_STAGED. An acknowledged
 * answer becomes the base, and the answers made from it stay. When the chain is full, the stream waits for an
 * acknowledgement.
 *
 * A number is used for one answer only. A page has one poll: taking over the page raises its `fence`, and a
 * poll with an older fence can no longer commit or stage anything. The page's lock is held while pointers are
 * moved and states are copied, never while a method runs.
 *
 * States are built aside and published by one store, so a process killed at any instruction leaves the old
 * state or the new one. The next sweep completes the drop of a page that the process was dropping, and ends its
 * polls. What its threads were handling at that moment is lost until the server is stopped: for each thread, at
 * most a block for each state of one page and one more, one hold of an interest, what a client was charged for
 * them, and one record. vault_pages_count_lost() counts the blocks.
 *
 * A feed can ask to be told when the browser has the output of a run (vault.h, on_ack). These acknowledgements
 * to report are part of the state of that run, and are dropped with it. A request that finds some in the
 * committed state reports them to the feed, without holding a lock, and then marks them as reported. If the
 * process dies in between, the next poll reports them again.
 *
 * A write from outside of the polls changes the committed state and the staged ones, and a running round
 * becomes void.
 *
 * A page holds interests for as long as a stored state depends on them or a run may. `page:ID` is the interest
 * of the page itself: it is notified when the page is taken over from a poll, published, written to or dropped.
 *
 * Threads: create is for the parent before any fork; the rest is for any thread of any process.
 */
#ifndef VAULT_PAGE_H
#define VAULT_PAGE_H

#include "apr_time.h"

#include "notify/notifier.h"
#include "page/state.h"
#include "shm/client_table.h"
#include "shm/heap.h"

/** Length of an id as text, without the final NUL: 160 random bits in hexadecimal. */
#define VAULT_PAGE_ID_LEN 40
/** A page that was rendered but never polled is removed after this time. */
#define VAULT_PAGE_UNPOLLED apr_time_from_sec(60)
/** If the table is full, a page without a poll for this time can be evicted. */
#define VAULT_PAGE_EVICTABLE apr_time_from_sec(10)
/** The most answers of a page that are not acknowledged yet. */
#define VAULT_PAGE_STAGED 8
/** The most interests of a page, unless vault_pages_set_limits() sets another number, and the highest such
 * number: each turn of a poll walks through them. */
#define VAULT_PAGE_INTERESTS 256
#define VAULT_PAGE_INTERESTS_MAX 1024

typedef struct vault_pages_t vault_pages_t; /* handle, made before the fork, the same in every process */

/** Identifies a page by its id, so the page may not exist any more, or not yet. */
typedef struct vault_page_t {
    apr_uint64_t id[2];
    apr_uint32_t key;   /* the rest of the id, which selects the bucket of its record; not 0 */
    apr_uint32_t index; /* of its record; 0: unknown, until vault_page_locate() has looked it up */
} vault_page_t;

/** The owner of a page, or the sender of a request. Zeroed: no user, no client, and the host 0, which is a valid
 * host. */
typedef struct vault_owner_t {
    vault_client_id_t client; /* the client that a new page is charged to (client_table.h); 0: none */
    apr_uint64_t host;        /* identifies the virtual host: a page answers only to requests of its own */
    /* identifies the realm of `user`, since elsewhere the same name is another person's; 0 without a user */
    apr_uint64_t realm;
    const char *user; /* authenticated; NULL: none. A page without a user answers to all users of its host */
} vault_owner_t;

/** As the seq of a poll: the client sends no number, and shows the last answer of a stream. */
#define VAULT_PAGE_LATEST APR_UINT64_MAX

/** The parameters of a poll. They come from the browser, so nothing is trusted. */
typedef struct vault_take_t {
    apr_uint64_t seq;    /* or VAULT_PAGE_LATEST */
    apr_uint64_t tab[2]; /* 0,0: not sent */
    vault_owner_t owner; /* the sender */
    apr_time_t now;
    apr_time_t until; /* the poll's deadline: the page counts as polled until then, or vault_page_leave() */
} vault_take_t;

/** The right of a poll to commit, until the page is taken over. */
typedef struct vault_ticket_t {
    vault_page_t page;
    apr_uint64_t fence;
    apr_uint64_t written;      /* the count of writes from outside, when the state was read */
    apr_uint64_t committed;    /* the number of the base, when it was read */
    vault_interest_t interest; /* the page's own interest */
    apr_uint64_t heard;        /* its stamp before the state was read */
    int owes;                  /* the base has acknowledgements to report */
    int full;                  /* a stream could stage no more, when the state was read */
    int redelivers;            /* an answer was staged, and is not known to have arrived */
} vault_ticket_t;

apr_uint64_t vault_pages_space(const vault_limits_t *limits);

/** The tables that pages use. */
typedef struct vault_page_tables_t {
    vault_heap_t *heap;
    vault_notifier_t *notifier;
    vault_clients_t *clients;
} vault_page_tables_t;

/** The limits. */
typedef struct vault_page_limits_t {
    apr_uint32_t sessions;                        /* how many of the records may be sessions; 0: all */
    apr_uint32_t interests;                       /* of one page: 1 to VAULT_PAGE_INTERESTS_MAX */
    apr_uint64_t of_client[VAULT_CLIENT_OF_SLOT]; /* pages, bytes and interests of one client; 0: no limit */
} vault_page_limits_t;

/** @return APR_SUCCESS; APR_ENOSPC the segment has not enough memory left */
apr_status_t vault_pages_create(vault_pages_t **pages, vault_segment_t *segment, const vault_page_tables_t *tables,
                                apr_pool_t *pool);

/** Set the limits that are 0: half of the records may be sessions. A client may have a sixteenth of the heap and an
 * eighth of the interests or, if that is more, what the pages that it may have usually need. */
void vault_pages_default_limits(const vault_pages_t *p, vault_page_limits_t *limits);

/** Set the limits. Parent, before it forks the children that use them. */
void vault_pages_set_limits(vault_pages_t *p, const vault_page_limits_t *limits);
const vault_page_limits_t *vault_pages_limits(const vault_pages_t *p);

/** The notifier whose interests the pages hold. */
vault_notifier_t *vault_pages_notifier(const vault_pages_t *p);

/** Set the slot of this process (slot.h): the claims of its polls are void when it is known to have ended.
 * Child, before its first poll. */
void vault_pages_set_slot(vault_pages_t *p, unsigned slot);

/** Choose the id of a page that may be created later. Costs one system call and no shared memory.
 * @return APR_SUCCESS, or an error of the system */
apr_status_t vault_page_draw(vault_page_t *page);

/** Create a page without a state: polls wait until it is published.
 * @param page   an id from vault_page_draw() for which there is no page; becomes the name of the page
 * @param owner  only this owner may poll it; copied. NULL: as a zeroed one, here and below
 * @param idle   pages without a poll for this time are removed first
 * @return APR_SUCCESS
 *         APR_EEXIST  there is a page with this id
 *         APR_ENOSPC  a limit of pages, bytes or interests is reached, of all or of the client, and
 *                     no page can be evicted (page_evict.c) */
apr_status_t vault_page_create_drawn(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                                     apr_interval_time_t idle);

/** Choose an id and create its page. @return as both */
apr_status_t vault_page_create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                               apr_interval_time_t idle);

/** Publish state number 0, which is what the HTML shows. Called when the HTML is complete, before its end is
 * sent.
 * @return APR_SUCCESS; APR_NOTFOUND there is no such page; APR_EINVAL it was published before; APR_ENOSPC the
 *         segment is full or the state too large. Unless APR_SUCCESS, the page is unchanged */
apr_status_t vault_page_publish(vault_pages_t *p, const vault_page_t *page, const vault_state_t *state);

/** Remove the page; its poll is woken and finds out. */
void vault_page_drop(vault_pages_t *p, const vault_page_t *page);

/** Take over the page for a poll.
 * @return APR_SUCCESS    `ticket` is set
 *         APR_NOTFOUND   no such page on this host
 *         APR_EACCES     it belongs to another user, or to one of this name in another realm
 *         APR_EMISMATCH  another tab has it, or the number is impossible: the page is unchanged */
apr_status_t vault_page_take(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                             vault_ticket_t *ticket);

/** From here on the poll of the ticket continues from its own answers. @return as vault_page_read_base() */
apr_status_t vault_page_stream(vault_pages_t *p, const vault_ticket_t *ticket);

/** The client of this stream sends no acknowledgements: count answers that were sent as acknowledged. Does
 * nothing if a newer poll has the page.
 * @param all  1: every answer; 0: the oldest one, which makes room for another */
void vault_page_assume(vault_pages_t *p, const vault_ticket_t *ticket, int all);

/** The poll stays: the page counts as polled until then. */
void vault_page_stay(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t until);

/** Acknowledge without a poll; otherwise as vault_page_take(). If this commits an answer, a poll that runs or
 * waits from the previous state is superseded, since its results would not include that answer. A stream that
 * has sent the answer continues; it is woken if there are acknowledgements to report, or if it has room again.
 * @param ticket  on success: for reporting acknowledgements; valid only if there may be any */
apr_status_t vault_page_acknowledge(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                                    vault_ticket_t *ticket);

/** Read the state that the poll continues from: the committed one, or a stream's head.
 * @return APR_SUCCESS       `base` is a copy in `pool`; if the ticket now `owes`, report the acknowledgements
 *         of the committed state, which is this one or vault_page_committed(), and then call
 *         vault_page_acks_reported(), before anything else is committed
 *         APR_EAGAIN        not published yet
 *         APR_ECONNABORTED  a newer poll has the page
 *         APR_EGENERAL      the stored block is not a valid state
 *         APR_NOTFOUND      there is no such page */
apr_status_t vault_page_read_base(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool);

/** Read the committed state. @return as vault_page_read_base() */
apr_status_t vault_page_committed(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool);

/** The acknowledgements of the committed state, as it was read last, have been reported. Does nothing if a newer
 * poll has the page, or another state is committed by now: then they are reported once more. */
void vault_page_acks_reported(vault_pages_t *p, const vault_ticket_t *ticket);

/** Does a poll have the page now? The answer may be outdated when this returns. */
int vault_page_is_polled(vault_pages_t *p, const vault_page_t *page, apr_time_t now);

/** Does a newer poll have the page, or has the page been removed? Takes no lock. */
int vault_page_superseded(vault_pages_t *p, const vault_ticket_t *ticket);

/** Was the page written to from outside since the state was read? Takes no lock. */
int vault_page_rewritten(vault_pages_t *p, const vault_ticket_t *ticket);

/** Hold an interest for the page, once for any number of calls, and read its stamp. For the page's view, or the
 * run that has its ticket. An interest that no state comes to depend on is released at the next commit.
 * @return as vault_interest_hold(); APR_NOTFOUND there is no such page; APR_ENOSPC also if it holds as many as
 *         it may */
apr_status_t vault_page_hold(vault_pages_t *p, const vault_page_t *page, const char *name, vault_interest_t *interest,
                             apr_uint64_t *stamp);

/** Commit a state without updates: it replaces the one that the poll continues from, under the same number.
 * @return as vault_page_read_base(), and then nothing was done; also APR_EAGAIN: the page was written to since
 *         the state was read, so read it again; APR_ENOSPC the segment is full or the state too large */
apr_status_t vault_page_commit(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state);

/** Stage a state with updates: it gets a number never used before on this page, and waits for its
 * acknowledgement. The first byte of the answer may be sent only after APR_SUCCESS. Errors as
 * vault_page_commit(). */
apr_status_t vault_page_stage(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state);

/** A write from outside of the page's polls. */
typedef struct vault_write_t {
    const apr_array_header_t *properties; /* of vault_property_t, value NULL: remove; NULL: none */
    const char *method;                   /* the URL of a long-poll method to add; NULL: none */
    int max_methods;
    const char *without; /* the URL of a method to remove, with its cursors; NULL: none */
} vault_write_t;

/** Write to every state of the page. If a property has changed, its polls run all methods again, otherwise only
 * the new one; a running round becomes void.
 * @param owner  the sender
 * @param pool   scratch memory
 * @return APR_SUCCESS   written, or there was nothing to change
 *         APR_NOTFOUND  no such page on this host
 *         APR_EACCES    as vault_page_take()
 *         APR_EAGAIN    its HTML is still being rendered
 *         APR_EINVAL    a key or a value is empty or too long
 *         APR_ENOSPC    the segment is full, the state too large, or it has `max_methods` */
apr_status_t vault_page_write(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                              const vault_write_t *write, apr_pool_t *pool);

/** The committed state, for code outside of the page's polls; errors as vault_page_write(). */
apr_status_t vault_page_read(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                             vault_state_t **base, apr_pool_t *pool);

/** The poll has ended: the page is idle from now on, unless a newer poll has it. */
void vault_page_leave(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t now);

/** Each child asks this regularly: is it its turn to sweep? At most twice a second the answer is yes for one
 * child. */
int vault_pages_claim_sweep(vault_pages_t *p, apr_time_t now);

/** Remove the pages without a poll for `idle` (if never polled: VAULT_PAGE_UNPOLLED).
 * @return their number */
unsigned vault_pages_sweep(vault_pages_t *p, apr_time_t now, apr_interval_time_t idle);

/** If a child was killed since the last call, count the bytes of the heap that belong to no page. Any child
 * calls it after its sweep. It takes the lock of one page after the other while other processes continue, so
 * the result may be wrong by some blocks.
 * @return 1: more than an eighth of the heap is lost, so tell the administrator; 0: less is lost, or no child
 *         was killed */
int vault_pages_count_lost(vault_pages_t *p);

/** The result of the last count, in bytes. */
apr_uint64_t vault_pages_lost(const vault_pages_t *p);

/** The current number of pages. Sessions (session.h) take as many more of the records. */
apr_uint32_t vault_pages_count(const vault_pages_t *p);
apr_uint32_t vault_sessions_count(const vault_pages_t *p);

void vault_page_format(const vault_page_t *page, char id[VAULT_PAGE_ID_LEN + 1]);
/** @return 1: `id` has the form of an id. The name has no index yet, so it finds its page only after
 *         vault_page_locate() */
int vault_page_parse(vault_page_t *page, const char *id);

/** Look up the page's record by its id. If there is no such page, the index becomes 0, which finds no page. Any
 * thread of any process. */
void vault_page_locate(vault_pages_t *p, vault_page_t *page);

/** Check states, holds and interests of every page. For tests, while nothing else runs.
 * @return NULL, or the first inconsistency */
const char *vault_pages_check(vault_pages_t *p);

/** The same on a running server: each page under its lock, and for each interest whether it has a holder for
 * each page that holds it. For `vault-status?check`. Takes memory for all interests from `pool`; sleeps for a
 * moment if it has to check again. */
const char *vault_pages_check_live(vault_pages_t *p, apr_pool_t *pool);

#endif
