/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ring.h
 * A ring buffer of the changes that the tailer has read last, in memory that the children share. A page whose cursor is
 * in the ring needs no SQL.
 *
 * One process writes to the ring, the tailer (tailer.h). Any thread of any child reads it without a lock. An entry is
 * identified by its offset: how many words were appended before it since the ring was created. Offsets only increase,
 * while the memory is used again and again.
 *
 * The *head* says up to where entries may be read, and which position (position.h) of the database they lead to. It is
 * in one of two slots, and one store of a counter makes the other slot the current one. So a tailer that is killed
 * leaves either the old head or the new one. Its successor continues from there, and overwrites entries behind the
 * head.
 *
 * The *tail* is the offset of the oldest complete entry. The tailer moves it before it overwrites an entry. A reader
 * copies an entry and then checks whether the tail has passed it: such a copy may be a mixture of two entries, and is
 * discarded.
 *
 * `boot` is the generation of the ring: a later one has a larger number. A new boot begins when it is unknown whether
 * the entries are still valid: after a new connection, when the database was restored, when tables were watched or
 * altered. A cursor of another boot is void: its page queries the database.
 */
#ifndef LOG_RING_H
#define LOG_RING_H

#include "apr_pools.h"
#include "apr_time.h"

#include "log/position.h"

typedef struct log_ring_t log_ring_t;

/** A change, as it is stored in the ring. */
typedef struct log_entry_t {
    log_change_id_t change;
    apr_uint64_t shape; /**< identifies the columns of the images (log_dialect_shape); 0: the images are not stored */
    apr_time_t at;      /**< when it was appended, by vault_now() */
    const char *table;
    const char *op;  /**< "I", "U", "D", "W" */
    const char *key; /**< as text; NULL: none */
    const char *old; /**< images; NULL: none */
    const char *new;
} log_entry_t;

typedef struct log_head_t {
    apr_uint64_t boot; /**< 0: there never was an entry in the ring */
    /** since cursors of earlier boots were made, the database has lost changes */
    apr_uint64_t oldest;
    apr_uint64_t end;                     /**< the offset behind the last entry */
    apr_uint64_t tables;                  /**< identifies the watched tables and their columns */
    char position[LOG_POSITION_TEXT + 8]; /**< contains all entries before `end` */
} log_head_t;

/** The size of the memory for a ring of `bytes` bytes of entries. */
apr_size_t log_ring_memory(apr_size_t bytes);
/** Create a ring in memory that is all zero, or find an existing one. */
log_ring_t *log_ring_of(void *memory, apr_size_t bytes);

/* ------------------------------------------------------------ the tailer's */

/** The first call of a process that has become the tailer: continue behind the head. */
void log_ring_take_over(log_ring_t *ring);
/** Append an entry behind the head. If it is too large, it is appended without its images. */
void log_ring_append(log_ring_t *ring, const log_entry_t *entry);
/** Publish what was appended. @param head  `end` is set here; a `boot` other than before begins a new generation */
void log_ring_publish(log_ring_t *ring, log_head_t *head);

/** The number of the next boot. */
apr_uint64_t log_ring_next_boot(const log_head_t *head);

/* ------------------------------------------------------------ readers' */

/** Was `boot` a generation of this ring, and has the database lost changes since? */
int log_ring_has_lost(const log_head_t *head, apr_uint64_t boot);

void log_ring_head(const log_ring_t *ring, log_head_t *head);
/** Read the entry at `*offset`, which is before the end of a head, and advance the offset to the next entry.
 * @param entry  its texts are in `pool`
 * @return 0: it was overwritten */
int log_ring_read(const log_ring_t *ring, apr_uint64_t *offset, log_entry_t *entry, apr_pool_t *pool);
/** When the oldest entry was appended; 0: there is none. */
apr_time_t log_ring_oldest(const log_ring_t *ring);

#endif
