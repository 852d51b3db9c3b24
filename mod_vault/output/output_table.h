/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_table.h
 * The layout of the output store in the segment. Internal: for the files of this folder and their tests.
 *
 * An array of records, which are found by a hash of their key, and a heap for keys, metadata, and bodies. The array is
 * type-stable: an index always means a record, and the number in it says of which entry. Words marked "truth" are
 * changed by one store each, so a process that is killed leaves the old value or the new one. Words marked "derived"
 * are rebuilt from them by output_lock() when the owner of the lock died.
 *
 * A record names a block or an interest before other words depend on it, and clears the name before it releases the
 * block or the interest. So a killed process leaks at most one of them, and releases none twice.
 */
#ifndef VAULT_OUTPUT_TABLE_H
#define VAULT_OUTPUT_TABLE_H

#include "output/output_store.h"
#include "shm/heap.h"
#include "shm/lock.h"

/** The state of a record. */
enum { OUTPUT_FREE, OUTPUT_MAKING, OUTPUT_KEPT, OUTPUT_PERSONAL };

/** How far a form of a body is. */
enum {
    OUTPUT_ABSENT,   /* not made */
    OUTPUT_CLAIMED,  /* the child of `lease` makes it */
    OUTPUT_RESERVED, /* the child of `lease` writes it: into the block, or into the file */
    OUTPUT_READY,
    OUTPUT_REFUSED /* it cannot be made */
};

typedef struct output_body_t {
    vault_lease_t lease; /* lock */
    apr_uint64_t size;   /* lock */
    vault_off_t block;   /* lock; truth; 0: none */
    apr_uint64_t disk;   /* lock; truth; bytes in the file, or reserved for it; 0: no file */
    apr_uint64_t state;  /* lock; truth */
} output_body_t;

typedef struct output_record_t {
    apr_uint64_t number_state; /* lock; atomic; truth; number << 2 | state */
    vault_lease_t lease;       /* lock; atomic; of the child that leads */
    apr_uint64_t hash;         /* lock; of the key */
    apr_uint64_t variant;      /* lock */
    vault_off_t key;           /* lock; truth */
    vault_off_t metadata;      /* lock; truth; 0: none */
    vault_off_t note; /* lock; truth; text: the personal reason, or the interest that invalidated the previous entry */
    apr_uint32_t key_length;       /* lock */
    apr_uint32_t metadata_size;    /* lock */
    vault_interest_t waiters;      /* lock; truth; 0: no request waits */
    apr_uint32_t dep_count;        /* lock; truth */
    apr_uint32_t has_lost_dep;     /* lock; a dependency was removed before the store could hold it: do not keep */
    apr_uint32_t dropped;          /* lock; an administrator dropped it: do not keep */
    apr_uint32_t waits;            /* lock; requests that waited for it */
    apr_uint32_t personal;         /* lock; why, if it is: vault_personal_t */
    apr_uint32_t once;             /* lock; only one output was personal, not the key */
    apr_uint64_t etag;             /* lock */
    apr_time_t made, until;        /* lock */
    apr_time_t stale_since;        /* lock; when a sweep first found it outdated; 0: it has not */
    apr_time_t current_at;         /* lock; when it was last found to be current */
    apr_interval_time_t stale_for; /* lock; how long it may be used when it is outdated */
    apr_time_t used;               /* lock */
    apr_uint64_t last_use;         /* lock; the number of the last use: a higher one is more recent */
    apr_uint64_t hits;             /* lock */
    apr_uint64_t renewed;          /* lock; how many entries of the same key and variant it replaced, in turn */
    apr_uint32_t next;             /* lock; derived; in its bucket, or in the free list */
    apr_uint32_t newer, older;     /* lock; derived; in its LRU list */
    apr_uint32_t epoch;            /* lock; of the child that leads or has led */
    output_body_t body[VAULT_OUTPUT_FORMS];
    vault_dep_t deps[VAULT_OUTPUT_INTERESTS]; /* lock; held by the store */
} output_record_t;

_Static_assert(sizeof(output_record_t) % 8 == 0, "the record is part of the layout: raise RETAINED in child.c with it");

/** A segmented LRU: new entries are on probation until their first hit, and then protected. So a client that requests
 * many URLs once, for instance with different queries, fills the probation list only (output_evict()). */
enum { OUTPUT_PROBATION, OUTPUT_PROTECTED, OUTPUT_LRU_LISTS };

typedef struct output_lru_t {
    apr_uint32_t newest; /* the most recently used record */
    apr_uint32_t oldest;
    apr_uint32_t length;
} output_lru_t;

typedef struct output_table_t {
    vault_lock_t lock;
    apr_uint64_t numbers;               /* lock; the last number given to an entry */
    apr_uint64_t uses;                  /* lock; the last number given to a use */
    apr_uint32_t high_water;            /* lock; atomic; truth; high-water mark: the highest index ever used */
    apr_uint32_t free;                  /* lock; derived; the first free record */
    output_lru_t lru[OUTPUT_LRU_LISTS]; /* lock; derived */
    apr_uint32_t count[4];              /* lock; derived; records by state, without the free ones */
    apr_uint64_t files;                 /* lock; derived; bytes in files */
    apr_uint64_t epoch;                 /* atomic; the number of times that all entries were invalidated */
    apr_uint64_t swept;                 /* atomic; when a child last swept */
    apr_uint32_t deaths;          /* atomic; children that had been killed when files were last compared with entries */
    apr_status_t write_error;     /* atomic; why a file could not be written, the last time */
    apr_uint64_t write_errors;    /* atomic; how often */
    apr_uint64_t errors_reported; /* atomic; of these, how many were reported */
    apr_uint64_t kept, hits, misses, renewed, evicted, personal, waits; /* lock; since the start */
} output_table_t;

/** The handle. `slot` and `epoch` belong to the process, the rest is the same in all of them. */
struct vault_outputs_t {
    vault_notifier_t *notifier;
    vault_heap_t *heap;
    output_table_t *table;
    output_record_t *records; /* 1..max; 0 is not used */
    apr_uint32_t *buckets;    /* lock; derived */
    apr_uint32_t max;
    apr_uint32_t mask; /* one less than there are buckets, a power of two */
    apr_uint64_t seed; /* of the hash of keys, secret: keys come from browsers too */
    vault_output_limits_t limits;
    unsigned slot;
    apr_uint32_t epoch; /* of the table, when the process began */
};

#define output_load(p) __atomic_load_n((p), __ATOMIC_SEQ_CST)
#define output_store(p, v) __atomic_store_n((p), (v), __ATOMIC_SEQ_CST)

static inline apr_uint64_t output_number_state(apr_uint64_t number, unsigned state)
{
    return number << 2 | state;
}

static inline unsigned output_state(const output_record_t *rec)
{
    return (unsigned)(output_load(&rec->number_state) & 3);
}

static inline apr_uint64_t output_number(const output_record_t *rec)
{
    return output_load(&rec->number_state) >> 2;
}

/** NULL for 0 and for indexes beyond the table. */
static inline output_record_t *output_at(const vault_outputs_t *o, apr_uint32_t index)
{
    return index >= 1 && index <= o->max ? &o->records[index] : NULL;
}

/** The record of an entry in that state; NULL: the entry is gone, or is in another one. */
static inline output_record_t *output_find(const vault_outputs_t *o, const vault_output_ref_t *ref, unsigned state)
{
    output_record_t *rec = output_at(o, ref->index);

    return rec && output_load(&rec->number_state) == output_number_state(ref->number, state) ? rec : NULL;
}

static inline apr_uint32_t output_index(const vault_outputs_t *o, const output_record_t *rec)
{
    return (apr_uint32_t)(rec - o->records);
}

/** How many stamps an entry has; a stray write does not lead beyond the array. */
static inline unsigned output_deps(const output_record_t *rec)
{
    return rec->dep_count <= VAULT_OUTPUT_INTERESTS ? rec->dep_count : VAULT_OUTPUT_INTERESTS;
}

/* -------------------------------------------------------------------- lock */

/** Work that output_unlock() does after it has released the lock: wake requests and remove files. The caller zeroes
 * it. */
#define OUTPUT_DEFERRED_MAX 16
typedef struct output_deferred_t {
    unsigned count;
    struct {
        vault_output_ref_t ref;
        vault_interest_t waiters; /* notify and release it; 0: none */
        unsigned files;           /* a bit for each form that has a file */
    } item[OUTPUT_DEFERRED_MAX];
} output_deferred_t;

/** Take the lock. If its last owner died, rebuild the derived words, free what it was freeing, and notify all. */
void output_lock(vault_outputs_t *o);

/** Release the lock, and do the deferred work, which empties `deferred`. NULL: there is none. */
void output_unlock(vault_outputs_t *o, output_deferred_t *deferred);

/* ----------------------------------------------------------------- records; all of these under the lock */

/** Is there a free record? */
int output_has_free(const vault_outputs_t *o);

/** A free record for this key, in its bucket, being made. @return NULL: there is none */
output_record_t *output_claim(vault_outputs_t *o, apr_uint64_t hash, vault_off_t key, apr_size_t length);

/** Free a record with its blocks, interests and files. `deferred` must have room. */
void output_free(vault_outputs_t *o, output_record_t *rec, output_deferred_t *deferred);

/** Change the state of a record that is in use, and defer the notify of its waiters. `deferred` must have room. */
void output_set_state(vault_outputs_t *o, output_record_t *rec, unsigned state, output_deferred_t *deferred);

/** Have output_unlock() notify the waiters and remove the files. `deferred` must have room. */
void output_defer(const vault_outputs_t *o, const output_record_t *rec, vault_interest_t waiters, unsigned files,
                  output_deferred_t *deferred);

/** Drop claims on forms whose child has ended. `deferred` must have room. */
void output_drop_expired_claims(vault_outputs_t *o, output_record_t *rec, output_deferred_t *deferred);

/** Release the interests that an entry depends on. */
void output_release_deps(vault_outputs_t *o, output_record_t *rec);

/** Free the block whose offset the record has at `place`, and clear the offset. */
void output_free_block(vault_outputs_t *o, vault_off_t *place);

/** Free a form's block, and subtract its bytes in files. @return 1: the caller must remove its file */
int output_free_body(vault_outputs_t *o, output_body_t *body);

/** The LRU list of the record. An entry inherits the hits of the one that it replaces. */
static inline unsigned output_lru(const output_record_t *rec)
{
    return rec->hits ? OUTPUT_PROTECTED : OUTPUT_PROBATION;
}

/** Add `hits`, of this entry or of the one that it replaces, and make the record the most recently used one of its
 * list. */
void output_touch(vault_outputs_t *o, output_record_t *rec, apr_uint64_t hits);

/** The hash of a key. */
apr_uint64_t output_hash(const vault_outputs_t *o, const char *key, apr_size_t length);

/** The next record with this key. @param rec  NULL: the first one. @return NULL: there are no more */
output_record_t *output_next(const vault_outputs_t *o, const output_record_t *rec, apr_uint64_t hash, const char *key,
                             apr_size_t length);

/** A dependency that was notified since its stamp was captured; NULL: none was. */
const vault_dep_t *output_moved(const vault_outputs_t *o, const output_record_t *rec);

/** Is it outdated, by its stamps or by its time? */
int output_is_stale(const vault_outputs_t *o, const output_record_t *rec, apr_time_t now);

/** Is the notifier's table more than three quarters full? Takes no lock. */
int output_is_low_on_interests(const vault_outputs_t *o);

/** How many records one step of a walk over all of them looks at: the lock is released in between. */
#define OUTPUT_STEP 64

/** Is the record in use, and does its key match? @param filter  NULL: all match */
int output_matches(const vault_outputs_t *o, const output_record_t *rec, const vault_output_filter_t *filter);

/** The name of a record's key, in shared memory. @param length  receives its length */
const char *output_name(const vault_outputs_t *o, const output_record_t *rec, apr_size_t *length);

/** Keep a string with the record, cut after `most` bytes. Without memory there is none. */
void output_note(vault_outputs_t *o, output_record_t *rec, const char *text, apr_size_t most);

/* ---------------------------------------------------------------- eviction; under the lock */

/** Evict the least recently used entry, of the probation list if it has more than a quarter of all entries, otherwise
 * of the protected list. Does not evict `except`, or an entry that is being made.
 * @param disk  only an entry that has a file
 * @return 0: there is none, or `deferred` is full */
int output_evict(vault_outputs_t *o, const output_record_t *except, int disk, output_deferred_t *deferred);

/** Copy `size` bytes into a block; evicts entries but `except`.
 * @param data  NULL: the caller fills the block
 * @return 0: there is no room */
vault_off_t output_alloc(vault_outputs_t *o, const void *data, apr_size_t size, const output_record_t *except,
                         output_deferred_t *deferred);

/** Reserve memory or bytes of a file for a form, which is then RESERVED; evicts other entries.
 * @return APR_SUCCESS; APR_ENOMEM there is no room (now, if `deferred` is full); APR_ENOSPC it does not fit */
apr_status_t output_reserve(vault_outputs_t *o, output_record_t *rec, vault_output_form_t form, apr_size_t size,
                            output_deferred_t *deferred);

/** Did APR_ENOMEM only mean that `deferred` was full? Then unlocking empties it, and another try may succeed. */
static inline int output_may_retry(apr_status_t rv, const output_deferred_t *deferred)
{
    return rv == APR_ENOMEM && deferred->count == OUTPUT_DEFERRED_MAX;
}

/* ------------------------------------------------------------------- files; without the lock */

#define OUTPUT_FILE_NAME 64

/** Write the file of a form: as a whole, or not at all. Errors are counted. */
apr_status_t output_file_write(vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form,
                               const char *text, apr_size_t size);

/** Open it for reading. @return APR_NOTFOUND it is gone, or has another size */
apr_status_t output_file_open(const vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form,
                              apr_uint64_t size, apr_file_t **file, apr_pool_t *pool);

/** Remove the files of these forms. */
void output_file_remove(const vault_outputs_t *o, const vault_output_ref_t *ref, unsigned forms);

/** Remove the files that belong to no entry: all at the start, later those that killed processes left behind.
 * @return APR_SUCCESS; or why the folder cannot be read */
apr_status_t output_files_remove_orphans(const vault_outputs_t *o);

#endif
