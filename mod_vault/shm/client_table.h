/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client_table.h
 * Counts exactly, over all children, what each client uses: pages and sessions, bytes of the heap, interests, waiting
 * polls, unsent bytes of answers, threads that wait for its bodies, and how often it notifies.
 *
 * A client is an authenticated user or, without a login, an IP address. The table knows a client by a 64-bit SipHash
 * of its whole name. The key is random and never leaves the segment, so an attacker cannot choose two names with the
 * same hash.
 *
 * A client has a row while it uses anything. The table frees a row that counts nothing at once, and one that has only
 * a notify rate at the next vault_clients_sweep(). There are more than twice as many rows as pages: each page can
 * belong to another client, and as many clients again can be served without a page. If all rows are in use, the
 * caller refuses the request as at a limit. So the server admits nothing uncounted.
 *
 * What a process that dies leaves:
 *   - Counts that belong to a slot (WAITING, UNSENT, BODIES): each slot has a share of the count, and only the
 *     process in that slot changes it. vault_clients_slot_gone() clears the shares of a dead process. The count of a
 *     client is the sum of its shares.
 *   - The other counts (PAGES, BYTES, INTERESTS) outlive the process that made them. The caller raises the count
 *     before it records what it counted, and deletes that record before it lowers the count. So a kill can only leave
 *     a count that is too high, by what one thread was handling. It stays too high until the server is stopped.
 *
 * Threads: the parent calls create before any fork. Any thread of any process may call all other functions. One
 * robust lock protects the table. A thread holds it for some tens of instructions and calls nothing under it. Lock
 * order: page > clients.
 */
#ifndef VAULT_CLIENT_TABLE_H
#define VAULT_CLIENT_TABLE_H

#include "apr_time.h"

#include "shm/segment.h"

typedef struct vault_clients_t
    vault_clients_t;                     /* handle, made before the fork, the same in every process; plain data */
typedef apr_uint64_t vault_client_id_t;  /* identifies a client; 0: none */
typedef apr_uint32_t vault_client_row_t; /* the row of its counts, while it uses something; 0: none */

/** What is counted. */
typedef enum vault_client_kind_t {
    VAULT_CLIENT_PAGES,     /* pages and sessions */
    VAULT_CLIENT_BYTES,     /* bytes of the heap in blocks of these pages */
    VAULT_CLIENT_INTERESTS, /* interests that these pages hold; an interest that two of them hold counts twice */
    VAULT_CLIENT_SESSIONS,  /* the sessions among PAGES */
    VAULT_CLIENT_WAITING,   /* polls that wait; counted for each slot */
    VAULT_CLIENT_UNSENT,    /* bytes of answers that wait to be written; counted for each slot */
    VAULT_CLIENT_BODIES,    /* threads that wait for its bodies; counted for each slot */
    VAULT_CLIENT_KINDS
} vault_client_kind_t;

/** The first kind that belongs to a slot. All kinds from here on do, none before it does. */
#define VAULT_CLIENT_OF_SLOT VAULT_CLIENT_WAITING

/** What a client asks for. */
typedef struct vault_client_claim_t {
    vault_client_id_t id;
    vault_client_kind_t kind;
    unsigned slot;       /* of this process (slot.h), 1 and up; not used for a kind that is not counted for each slot */
    apr_uint64_t amount; /* 0: nothing is done, and `row` becomes 0 */
    apr_uint64_t most;   /* the limit of its count of this kind, over all slots; APR_UINT64_MAX: none */
} vault_client_claim_t;

/** The memory of the table in a segment with these limits (pages and slots), in bytes, rounded up generously. */
apr_uint64_t vault_clients_space(const vault_limits_t *limits);

/** Create the table and its key.
 * @return APR_SUCCESS; APR_ENOSPC the segment is too small; or the error of the system's random numbers */
apr_status_t vault_clients_create(vault_clients_t **clients, vault_segment_t *segment, apr_pool_t *pool);

/** The id of the client with this name, for example "user NAME" or "address ADDRESS". Never 0. It is the same in every
 * process until the server is stopped. Takes no lock. */
vault_client_id_t vault_client_id(const vault_clients_t *clients, const char *name);

/** Give the client `amount` more, unless it would then have more than `most`; both in one step.
 * @param row  receives the row where it is counted, for vault_clients_give(); valid until all of it is given back
 * @return APR_SUCCESS; otherwise nothing was done, `row` is 0, and the status is
 *         APR_ENOSPC  it would have more than `most`
 *         APR_ENOMEM  all rows are in use: refuse the request as at a limit
 *         APR_EINVAL  there is no such kind or slot, or the id is 0 */
apr_status_t vault_clients_take(vault_clients_t *clients, vault_client_row_t *row, const vault_client_claim_t *claim);

/** Lower the count by `amount`, but not below 0. Does nothing for row 0.
 * @param slot  as in the claim */
void vault_clients_give(vault_clients_t *clients, vault_client_row_t row, vault_client_kind_t kind, unsigned slot,
                        apr_uint64_t amount);

/** May the client notify once more? A leaky bucket: notifies for up to one second may come in a burst. If more than
 * half of the rows are in use, a client without a row may not notify, so that rows stay free for clients with pages.
 * @param per_second  1 to 1,000,000
 * @param now         as vault_now()
 * @return 1  yes, and it is counted
 *         0  not now; it is not counted */
int vault_clients_admit(vault_clients_t *clients, vault_client_id_t id, unsigned per_second, apr_time_t now);

/** Clear the shares of a slot whose process has ended. Call it before another process claims the slot. */
void vault_clients_slot_gone(vault_clients_t *clients, unsigned slot);

/** Free the rows of clients that use nothing and have not notified for a second. One child calls it about once a
 * second. */
void vault_clients_sweep(vault_clients_t *clients, apr_time_t now);

/** Counts of the kinds that are not counted for each slot: pages, bytes, interests, sessions. */
typedef struct vault_client_counts_t {
    apr_uint64_t held[VAULT_CLIENT_OF_SLOT];
} vault_client_counts_t;

/* ------------------------------------------------------------------- looking */

/** The largest row that was ever in use. */
vault_client_row_t vault_clients_last(const vault_clients_t *clients);

/** How much the client uses, in all slots. */
apr_uint64_t vault_clients_has(vault_clients_t *clients, vault_client_id_t id, vault_client_kind_t kind);

/** The same for a row, without a lock. If the row is not in use: 0, or what its next client uses. */
apr_uint64_t vault_clients_row_has(const vault_clients_t *clients, vault_client_row_t row, vault_client_kind_t kind);

/** How many clients use something of that kind. Reads all rows without a lock. */
apr_uint32_t vault_clients_having(const vault_clients_t *clients, vault_client_kind_t kind);

/** The number of rows in use. */
apr_uint32_t vault_clients_count(const vault_clients_t *clients);

/** Compare chains, lists and sums. For tests and `vault-status?check`: other processes may use the table meanwhile.
 * @return NULL, or the first inconsistency */
const char *vault_clients_check(vault_clients_t *clients);

#endif
