/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ring.h
 * The changes that the tailer has read lately, in memory that children share: a page that has a cursor in the ring
 * needs no SQL.
 *
 * One process writes, the tailer (tailer.h). Any thread of any child reads, without a lock. An entry is known by its
 * offset: how many words were appended before it since the ring was made. Offsets only grow; the memory is used over
 * and over.
 *
 * The *head* tells readers up to where entries may be read, and the position (position.h) of the database that they
 * lead to. It is in one of two slots, and one store of a counter makes the other slot the current one. So a tailer that
 * is killed leaves either the old head or the new one. Its successor goes on from there: what was appended behind the
 * head is written again.
 *
 * The *tail* is the offset of the oldest entry that is whole. The tailer moves it before it overwrites anything. A
 * reader copies an entry and then checks whether the tail has gone beyond it: such a copy may be of two entries, and
 * counts for nothing.
 *
 * `boot` numbers the generations of the ring: later ones have larger numbers. Another boot begins when it is
 * unknown whether the entries are still true: after a new connection, when the database was restored, when tables
 * were watched or altered. A cursor of another boot is of no use: its page asks the database.
 */
#ifndef LOG_RING_H
#define LOG_RING_H

#include "apr_pools.h"
#include "apr_time.h"

#include "log/position.h"

typedef struct log_ring_t log_ring_t;

/** A change, as it lies in the ring. */
typedef struct log_entry_t {
    log_change_id_t change;
    apr_uint64_t shape; /**< of the columns that the images have (log_dialect_shape); 0: the images are not here */
    apr_time_t at;      /**< when it was appended, by vault_now() */
    const char *table;
    const char *op;  /**< "I", "U", "D", "W" */
    const char *key; /**< as text; NULL: none */
    const char *old; /**< images; NULL: none */
    const char *new;
} log_entry_t;

typedef struct log_head_t {
    apr_uint64_t boot;                    /**< 0: there is nothing in the ring, and never was */
    apr_uint64_t oldest;                  /**< cursors of earlier boots are of what the database has lost */
    apr_uint64_t end;                     /**< the offset behind the last entry */
    apr_uint64_t tables;                  /**< stands for the watched tables and their columns */
    char position[LOG_POSITION_TEXT + 8]; /**< contains all entries before `end` */
} log_head_t;

/** How large the memory for a ring of `bytes` bytes of entries is. */
apr_size_t log_ring_memory(apr_size_t bytes);
/** Make a ring of memory that is all zero, or find it again. */
log_ring_t *log_ring_of(void *memory, apr_size_t bytes);

/* ------------------------------------------------------------ the tailer's */

/** The first call of a process that has become the tailer: go on behind the head. */
void log_ring_take_over(log_ring_t *ring);
/** Append an entry, behind the head. One that is too large is appended without its images. */
void log_ring_append(log_ring_t *ring, const log_entry_t *entry);
/** Publish what was appended. @param head  `end` is set here; another `boot` than before: a new generation */
void log_ring_publish(log_ring_t *ring, log_head_t *head);

/** The number of the next boot. */
apr_uint64_t log_ring_next_boot(const log_head_t *head);

/* ------------------------------------------------------------ readers' */

/** Was `boot` one of this ring, in a database that has lost since what it had then? */
int log_ring_has_lost(const log_head_t *head, apr_uint64_t boot);

void log_ring_head(const log_ring_t *ring, log_head_t *head);
/** Read the entry at `*offset`, which is before the end of a head, and go to the next.
 * @param entry  its texts are in `pool`
 * @return 0: it was overwritten; APR_ENOMEM does not happen */
int log_ring_read(const log_ring_t *ring, apr_uint64_t *offset, log_entry_t *entry, apr_pool_t *pool);
/** When the oldest entry was appended; 0: there is none. */
apr_time_t log_ring_oldest(const log_ring_t *ring);

#endif
