/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_snapshot.h
 * A page as one server hands it to another: everything that the next poll needs, and nothing that only the first server
 * understands.
 *
 * A snapshot has the states, but not their interests: stamps are numbers of one server. After
 * vault_page_snapshot_restore() each method that has run before waits for the page's own interest with a stamp that is
 * outdated. So each one runs once, continues from its own cursors, and creates its interests again. A pause after a
 * refusal is forgotten, since the clocks of the servers differ.
 *
 * A page that several servers know belongs to one of them. Each owner has a number, its `fence`; it grows from owner to
 * owner, by random steps, so that two servers never choose the same one. What a server makes of the page is counted as
 * versions. The store (store.h) refuses what a former owner writes, and ignores a version that is older than the one it
 * has.
 *
 * The first answer that a new owner makes leaves a random gap in the numbers of answers. A former owner that cannot
 * reach the store may still answer; then a browser has a number that the new owner does not know, and reloads the page.
 *
 * Thread: any thread of any process.
 */
#ifndef VAULT_PAGE_SNAPSHOT_H
#define VAULT_PAGE_SNAPSHOT_H

#include "page/page.h"

/** The committed state, and the staged ones. */
#define VAULT_SNAPSHOT_STATES (VAULT_PAGE_STAGED + 1)

typedef struct vault_snapshot_state_t {
    vault_state_t *state; /* a method that has run has `deps`, which are empty in a snapshot that was read */
    apr_uint64_t from;    /* the number of the state that it was made from */
} vault_snapshot_state_t;

typedef struct vault_page_snapshot_t {
    const char *user;                                     /* the owner; NULL: any */
    apr_uint64_t tab[2];                                  /* the browser tab that polls; 0,0: not known yet */
    apr_uint64_t last_seq;                                /* the largest number of an answer */
    apr_uint64_t head;                                    /* the number of the state that its poll goes on from */
    apr_uint32_t streams;                                 /* its poll is an HTML stream */
    unsigned count;                                       /* of states, at least 1 */
    vault_snapshot_state_t states[VAULT_SNAPSHOT_STATES]; /* the committed one is the first */
} vault_page_snapshot_t;

/** What a server knows of its copy of a page in the store. */
typedef struct vault_page_copy_t {
    apr_uint64_t fence;   /* 0: the page was never in the store */
    apr_uint64_t version; /* of the last snapshot */
    apr_uint64_t saved;   /* identifies what the store has; 0: not known */
} vault_page_copy_t;

/** Read what this server knows of its copy. @return APR_SUCCESS; APR_NOTFOUND there is no such page: all is 0 */
apr_status_t vault_page_copy_read(vault_pages_t *p, const vault_page_t *page, vault_page_copy_t *copy);

/** Take a snapshot.
 * @param copy   the fence, and the version of this snapshot. Until vault_page_snapshot_saved() is called, it is not
 *               known what the store has
 * @param fence  of the page, if it never was in the store
 * @return APR_SUCCESS; APR_NOTFOUND there is no such page; APR_EAGAIN it is not published yet; APR_EGENERAL a stored
 *         block is not a valid state */
apr_status_t vault_page_snapshot_take(vault_pages_t *p, const vault_page_t *page, apr_uint64_t fence,
                                      vault_page_copy_t *copy, vault_page_snapshot_t *snapshot, apr_pool_t *pool);

/** The store has this version, `copy->saved` identifies it. Does nothing if it has had a newer one, or the page another
 * fence. */
void vault_page_snapshot_saved(vault_pages_t *p, const vault_page_t *page, const vault_page_copy_t *copy);

/** Would vault_page_take() or vault_page_acknowledge() accept this tab and this number? The owner is not compared.
 * @return APR_SUCCESS; APR_EMISMATCH */
apr_status_t vault_page_snapshot_admits(const vault_page_snapshot_t *snapshot, const vault_take_t *take);

/** How a page is restored. */
typedef struct vault_page_restore_t {
    const vault_page_snapshot_t *snapshot;
    const vault_owner_t *owner; /* on this server; with the user of the snapshot */
    vault_page_copy_t copy;
    apr_uint64_t gap; /* what the number of the next answer leaves out */
    apr_time_t now;
    apr_interval_time_t idle; /* as for vault_page_create() */
} vault_page_restore_t;

/** Make the page be as in the snapshot; it need not exist. If it has a poll here, that is superseded.
 * @param page  gets its index
 * @return APR_SUCCESS; APR_EAGAIN its fence is not older, it is left as it is; APR_NOTFOUND it was removed meanwhile;
 *         APR_ENOSPC as vault_page_create() */
apr_status_t vault_page_snapshot_restore(vault_pages_t *p, vault_page_t *page, const vault_page_restore_t *restore);

#endif
