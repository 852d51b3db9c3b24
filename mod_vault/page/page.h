/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page.h
 * The pages: who may poll, which state counts, and what an acknowledgement does.
 *
 * A page has a committed state (`base`: what the browser is known to have) and staged ones (answers on their way). A poll names the
 * answer it has seen by its number, `seq`:
 *
 *   seq of a staged state   it arrived: that state is committed
 *   seq of the base         it did not (or not yet): the methods run again from the base; the staged state is kept for a
 *                           poll that was overtaken, until another answer has been staged after the next
 *   anything else           the browser shows what we do not know: APR_EMISMATCH, nothing is touched
 *
 * A poll goes on from the base, and ends with an answer. A stream goes on from the last answer that it sent, its `head`, whether or not
 * somebody has acknowledged it: its answers are a chain, of at most VAULT_PAGE_STAGED. Acknowledging one of them makes it the base, and
 * those that were made from it stay. When the chain is full the stream waits for that.
 *
 * A number is used for one answer only. One poll per page: taking the page raises its `fence`, and whoever holds an older fence
 * can no longer commit or stage anything. The page's lock is held to move pointers and copy states, never while a method runs.
 *
 * States are built beside and published by one store, so a process killed at any instruction leaves the old one or the new one. The
 * next sweep finishes the drop of a page that it was dropping, and ends its polls. What a thread of it was handling at that instant is lost
 * until the server is stopped: at most a block for each state of one page and one more, one hold of an interest, what a client was charged
 * for them, and one record. vault_pages_count_lost() counts the blocks.
 *
 * A feed may want to hear that the browser has what a run rendered (vault.h, on_ack). Such acks lie in the state of that run, so that
 * they go when it goes. Whoever finds some in the committed state tells the feed, with no lock held, and then says that they are
 * told: a process that dies in between leaves them to the next poll.
 *
 * What is written from outside of the polls goes through to the committed and the staged states, and a round that was running is
 * told to begin again.
 *
 * A page holds interests for as long as a stored state names them or a run may. `page:ID` is the interest of the page itself:
 * notified when it is taken over from a poll, published, written or dropped.
 *
 * Threads: create is for the parent before any fork; the rest for any thread of any process.
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
/** A page that was rendered but never polled is forgotten after this. */
#define VAULT_PAGE_UNPOLLED apr_time_from_sec(60)
/** When the table is full, a page that nobody polled for this long makes room. */
#define VAULT_PAGE_EVICTABLE apr_time_from_sec(10)
/** Answers of a page that may be on their way. */
#define VAULT_PAGE_STAGED 8
/** Interests one page may hold, unless vault_pages_set_limits() says otherwise; and the most that it can say: each look at a page
 * goes through them. */
#define VAULT_PAGE_INTERESTS 256
#define VAULT_PAGE_INTERESTS_MAX 1024

typedef struct vault_pages_t vault_pages_t; /* handle, made before the fork, the same in every process */

/** Names a page; made of its id, so it may name one that is gone, or that is not there yet. */
typedef struct vault_page_t {
    apr_uint64_t id[2];
    apr_uint32_t key;   /* the rest of the id, by which its record is looked up; not 0 */
    apr_uint32_t index; /* of its record; 0: not known, vault_page_locate() looks it up */
} vault_page_t;

/** Whose a page is, and who asks for one. Zeroed: no user, of no client, and the host 0, which is a host like any other. */
typedef struct vault_owner_t {
    vault_client_id_t client; /* whom a page that is made is charged to (client_table.h); 0: no client */
    apr_uint64_t host;        /* names the virtual host: a page answers to its own alone */
    apr_uint64_t realm;       /* names the realm of `user`: elsewhere the name is another person's; 0 without a user */
    const char *user;         /* authenticated; NULL: none. A page without a user answers to all users of its host */
} vault_owner_t;

/** As the seq of a poll: the client does not say one, and shows what a stream has sent last. */
#define VAULT_PAGE_LATEST APR_UINT64_MAX

/** What a poll asks for. From the browser: trust nothing. */
typedef struct vault_take_t {
    apr_uint64_t seq;    /* or VAULT_PAGE_LATEST */
    apr_uint64_t tab[2]; /* 0,0: not said */
    vault_owner_t owner; /* who polls */
    apr_time_t now;
    apr_time_t until; /* the poll's deadline: the page counts as polled until then, or vault_page_leave() */
} vault_take_t;

/** What a poll has got: the right to commit, until somebody takes the page over. */
typedef struct vault_ticket_t {
    vault_page_t page;
    apr_uint64_t fence;
    apr_uint64_t written;      /* what the last look saw of writes from outside */
    apr_uint64_t committed;    /* the base's number when last looked at */
    vault_interest_t interest; /* the page's own */
    apr_uint64_t heard;        /* its stamp, before the last look: what was told since is news */
    int owes;                  /* the base that was looked at has acks to be told */
    int full;                  /* when last looked at, a stream could stage no more */
    int redelivers;            /* an answer was staged and is not known to have arrived */
} vault_ticket_t;

apr_uint64_t vault_pages_space(const vault_limits_t *limits);

/** What pages are made in. */
typedef struct vault_page_tables_t {
    vault_heap_t *heap;
    vault_notifier_t *notifier;
    vault_clients_t *clients;
} vault_page_tables_t;

/** How much there may be. */
typedef struct vault_page_limits_t {
    apr_uint32_t interests;                       /* that one page holds: 1 to VAULT_PAGE_INTERESTS_MAX */
    apr_uint64_t of_client[VAULT_CLIENT_OF_SLOT]; /* pages, bytes and interests of one client; 0: as much as there is */
} vault_page_limits_t;

/** @return APR_SUCCESS; APR_ENOSPC the segment has not so much left */
apr_status_t vault_pages_create(vault_pages_t **pages, vault_segment_t *segment, const vault_page_tables_t *tables,
                                apr_pool_t *pool);

/** Fill in what one client may have of bytes and interests, where that is 0: a sixteenth of the heap, an eighth of the interests; or as much as
 * so many ordinary pages take as it may have, if that is more. */
void vault_pages_default_limits(const vault_pages_t *p, vault_page_limits_t *limits);

/** How much there may be from now on. Parent, before it forks those that are to know. */
void vault_pages_set_limits(vault_pages_t *p, const vault_page_limits_t *limits);
const vault_page_limits_t *vault_pages_limits(const vault_pages_t *p);

/** The slot of this process (slot.h): what its polls have of a page is void when it is known to be gone. Child, before its first poll. */
void vault_pages_set_slot(vault_pages_t *p, unsigned slot);

/** Draw the id of a page that may be made later. Costs one system call and no shared memory.
 * @return APR_SUCCESS, or what the system says */
apr_status_t vault_page_draw(vault_page_t *page);

/** Make a page, without a state: polls wait until it is published.
 * @param page   an id from vault_page_draw(), for which no page has been made: becomes the name of the page
 * @param owner  who alone may poll it; copied. NULL: as one that is zeroed, here and below
 * @param idle   pages not polled for so long are expired
 * @return APR_SUCCESS
 *         APR_EEXIST  there is a page with this id
 *         APR_ENOSPC  there are as many pages, bytes or interests as there may be, or as the client may have, and no page goes
 *                     to make room (page_evict.c) */
apr_status_t vault_page_create_drawn(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                                     apr_interval_time_t idle);

/** Draw an id and make its page. @return as both */
apr_status_t vault_page_create(vault_pages_t *p, vault_page_t *page, const vault_owner_t *owner, apr_time_t now,
                               apr_interval_time_t idle);

/** State number 0 is what the HTML shows. Called when the HTML is complete, before its end is sent.
 * @return APR_SUCCESS; APR_NOTFOUND the page is gone; APR_EINVAL it was published before; APR_ENOSPC the segment is full or the
 *         state too large. Unless APR_SUCCESS, the page is as before */
apr_status_t vault_page_publish(vault_pages_t *p, const vault_page_t *page, const vault_state_t *state);

/** Forget the page; a poll of it will be told. */
void vault_page_drop(vault_pages_t *p, const vault_page_t *page);

/** Take the page over for a poll.
 * @return APR_SUCCESS    `ticket` is filled in
 *         APR_NOTFOUND   no such page on this host
 *         APR_EACCES     it belongs to another user, or to one of this name of another realm
 *         APR_EMISMATCH  another tab has it, or a number that cannot be: the page is not touched */
apr_status_t vault_page_take(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                             vault_ticket_t *ticket);

/** From here on the poll of the ticket goes on from its own answers. @return as vault_page_read_base() */
apr_status_t vault_page_stream(vault_pages_t *p, const vault_ticket_t *ticket);

/** The client of this stream acknowledges nothing: what it was sent counts as acknowledged. Does nothing when a newer poll has the page.
 * @param all  1: every answer; 0: the oldest one, which makes room for another */
void vault_page_assume(vault_pages_t *p, const vault_ticket_t *ticket, int all);

/** The poll stays: the page counts as polled until then. */
void vault_page_stay(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t until);

/** Acknowledge only: as vault_page_take(), but no poll is made. When it commits an answer, a poll that runs or waits on the state
 * before is overtaken: what it would commit knows nothing of that answer. A stream whose own answer it is goes on, and is woken if there
 * are acks to be told or it has room again.
 * @param ticket  on success: to look for acks and to settle them; it counts only if there may be any */
apr_status_t vault_page_acknowledge(vault_pages_t *p, const vault_page_t *page, const vault_take_t *take,
                                    vault_ticket_t *ticket);

/** Read the state that the poll goes on from: the committed one, or a stream's head.
 * @return APR_SUCCESS       `base` is a copy in `pool`; if the ticket now `owes`, tell the acks of the committed state, which is this one or
 *                           vault_page_committed(), and then vault_page_acks_reported(), before anything else is committed
 *         APR_EAGAIN        not published yet
 *         APR_ECONNABORTED  a newer poll has the page
 *         APR_EGENERAL      what is stored is no state
 *         APR_NOTFOUND      the page is gone */
apr_status_t vault_page_read_base(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool);

/** Read the committed state. @return as vault_page_read_base() */
apr_status_t vault_page_committed(vault_pages_t *p, vault_ticket_t *ticket, vault_state_t **base, apr_pool_t *pool);

/** The acks of the committed state, as last looked at, have been told. Does nothing when a newer poll has the page, or another state is
 * committed by now: they are told once more. */
void vault_page_acks_reported(vault_pages_t *p, const vault_ticket_t *ticket);

/** Does a poll have the page now? It may have left by the time that this returns. */
int vault_page_is_polled(vault_pages_t *p, const vault_page_t *page, apr_time_t now);

/** Does a newer poll have the page, or is it gone? Takes no lock. */
int vault_page_superseded(vault_pages_t *p, const vault_ticket_t *ticket);

/** Was the page written to from outside since the look? Takes no lock. */
int vault_page_rewritten(vault_pages_t *p, const vault_ticket_t *ticket);

/** Hold an interest for the page, once however often it is asked, and read its stamp. For the page's view or the run that has
 * its ticket; what no state comes to name is let go at the next commit.
 * @return as vault_interest_hold(); APR_NOTFOUND the page is gone; APR_ENOSPC also when it holds as many as it may */
apr_status_t vault_page_hold(vault_pages_t *p, const vault_page_t *page, const char *name, vault_interest_t *interest,
                             apr_uint64_t *stamp);

/** Nothing to show: `state` takes the place of the one that the poll goes on from, under the number of that.
 * @return as vault_page_read_base(), and then nothing was done; APR_EAGAIN also: the page was written to since the look, so look again;
 *         APR_ENOSPC the segment is full or the state too large */
apr_status_t vault_page_commit(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state);

/** Something to show: `state` gets a number never used before on this page and waits for its acknowledgement.
 * Only after APR_SUCCESS may the first byte of the answer be sent. Errors as vault_page_commit(). */
apr_status_t vault_page_stage(vault_pages_t *p, const vault_ticket_t *ticket, vault_state_t *state);

/** What somebody outside of the page's polls writes. */
typedef struct vault_write_t {
    const apr_array_header_t *properties; /* of vault_property_t, value NULL: removed; NULL: none */
    const char *method;                   /* URL of a long-poll method that the page gets; NULL: none */
    int max_methods;
    const char *without; /* URL of a method that the page loses, with its place in the data; NULL: none */
} vault_write_t;

/** Write through to every state of the page. Its polls run all their methods again when a property has changed, and the new
 * method; a round that runs now is discarded for that.
 * @param owner  who writes
 * @param pool   for what is needed meanwhile
 * @return APR_SUCCESS   written, or there was nothing to change
 *         APR_NOTFOUND  no such page on this host
 *         APR_EACCES    as vault_page_take()
 *         APR_EAGAIN    its HTML is still being rendered
 *         APR_EINVAL    a key or a value is empty or too long
 *         APR_ENOSPC    the segment is full, the state too large, or it has `max_methods` */
apr_status_t vault_page_write(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                              const vault_write_t *write, apr_pool_t *pool);

/** The committed state, for somebody outside of its polls: errors as vault_page_write(). */
apr_status_t vault_page_read(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                             vault_state_t **base, apr_pool_t *pool);

/** The poll is over: the page is idle from now on, unless a newer poll has it. */
void vault_page_leave(vault_pages_t *p, const vault_ticket_t *ticket, apr_time_t now);

/** Every child asks now and then: is it this one's turn to sweep? At most twice a second some child's it is. */
int vault_pages_claim_sweep(vault_pages_t *p, apr_time_t now);

/** Forget the pages that nobody polled for `idle` (never polled: VAULT_PAGE_UNPOLLED).
 * @return how many */
unsigned vault_pages_sweep(vault_pages_t *p, apr_time_t now, apr_interval_time_t idle);

/** If a child was killed since the last call, count the bytes of the heap that no page has. Any child calls it after its sweep. It takes
 * the lock of one page after the other, and others go on meanwhile, so the number may be wrong by some blocks.
 * @return 1 more than an eighth of the heap is lost: tell the admin; 0 less is lost, or no child was killed */
int vault_pages_count_lost(vault_pages_t *p);

/** The bytes that were last counted so. */
apr_uint64_t vault_pages_lost(const vault_pages_t *p);

/** Pages now. */
apr_uint32_t vault_pages_count(const vault_pages_t *p);

void vault_page_format(const vault_page_t *page, char id[VAULT_PAGE_ID_LEN + 1]);
/** @return 1 when `id` has the form of an id. The name has no index yet: only after vault_page_locate() does it find its page */
int vault_page_parse(vault_page_t *page, const char *id);

/** Look up the page's record by its id: a page that is not there gets the index 0, which finds no page. Any thread of any process. */
void vault_page_locate(vault_pages_t *p, vault_page_t *page);

/** Compare states, holds and interests of every page. For tests; call it while nothing else runs.
 * @return NULL, or the first thing that is wrong */
const char *vault_pages_check(vault_pages_t *p);

/** The same while others go on: each page under its lock, and of the interests whether they have a holder for each page. For
 * `vault-status?check`. Takes memory for all interests, from `pool`; sleeps for a moment when it has to look again. */
const char *vault_pages_check_live(vault_pages_t *p, apr_pool_t *pool);

#endif
