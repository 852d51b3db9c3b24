/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_store.h
 * The output store: what was rendered, kept in shared memory together with what it depends on.
 *
 * An entry has a key, metadata, a body, and dependencies. The key is any string of bytes; several entries may have
 * the same key (variants), and the caller chooses one by their metadata. The first line of a key is its name: one
 * word for the kind of the output, a space, and its URL. An administrator sees and names entries by it. What follows
 * is shown nowhere, since it may contain what a request has sent. The store does not read the metadata. The body is
 * kept as it was written and, if a caller adds them, in compressed forms. A body above a threshold is kept in a file.
 * The dependencies are interests, each with the stamp that was captured before the data were read, and optionally a
 * time. The store holds these interests as a page does, so a notify changes their stamps.
 *
 * The reader of an entry first holds the interests itself, then calls vault_output_is_current(), and continues from
 * the stamps of the entry, never from newer ones. Then an answer made from the entry can be outdated only if the
 * writer's notify had not taken its number yet. In this case the reader has the older stamp, so that notify wakes it
 * (docs/protocol.md, "What is guaranteed").
 *
 * Requests are coalesced: one request makes an entry, which is called to lead, and others with the same key and the
 * same variant wait for it. The lead is a lease of the child: if the child dies, the next request leads.
 *
 * The store is bounded by its memory, by its number of entries, and by the size of its files. It evicts the least
 * recently used entry first, but no entry that is being made.
 *
 * Interests are shared with pages: while the notifier's table is more than three quarters full, entries create no new
 * ones, and each sweep evicts some.
 *
 * A process that is killed in a function of the store loses at most the block or the hold that it was handling
 * (heap.h).
 *
 * All times are by vault_now() (base/now.h).
 *
 * Threads: the parent calls create before any fork. Any thread of any process may call all other functions. One
 * robust lock protects the table; it is held for some tens of instructions, and while a body is copied. Lock order:
 * outputs > heap; outputs > stripe. No page lock is held when a function of this file is called.
 */
#ifndef VAULT_OUTPUT_STORE_H
#define VAULT_OUTPUT_STORE_H

#include "apr_file_io.h"
#include "apr_time.h"

#include "notify/slot.h"
#include "output/output_forms.h"
#include "page/state.h"

/** The most interests of one entry. */
#define VAULT_OUTPUT_INTERESTS 32
/** The longest key, in bytes. */
#define VAULT_OUTPUT_KEY_MAX 8192
/** The most entries with one key. */
#define VAULT_OUTPUT_VARIANTS 8

typedef struct vault_outputs_t vault_outputs_t; /* handle, made before the fork, the same in every process */

/** The limits. Fixed until the server is stopped. */
typedef struct vault_output_limits_t {
    apr_uint64_t memory;     /* bytes in the segment, for blocks */
    apr_uint32_t entries;    /* at a time */
    apr_uint64_t memory_max; /* a body above this size is kept in a file; at most VAULT_HEAP_BLOCK_MAX */
    const char *root;        /* folder for these files; NULL: such a body is not kept */
    apr_uint64_t files;      /* bytes in these files */
} vault_output_limits_t;

/** Names an entry. The number is never used again, so the name of a removed entry finds nothing. */
typedef struct vault_output_ref_t {
    apr_uint32_t index; /* 1 and up; 0: none */
    apr_uint64_t number;
} vault_output_ref_t;

/** An upper bound of the bytes that the store needs in the segment. */
apr_uint64_t vault_outputs_space(const vault_output_limits_t *limits);

/** Make the store. Removes files that an earlier server left in `root`; no other server may use this folder.
 * @return APR_SUCCESS; APR_ENOSPC the segment has not so much left; APR_EINVAL no entries, or memory_max is too
 *         large; or why `root` cannot be read */
apr_status_t vault_outputs_create(vault_outputs_t **outputs, vault_segment_t *segment, vault_notifier_t *notifier,
                                  const vault_output_limits_t *limits, apr_pool_t *pool);

/** The limits given to vault_outputs_create(). */
const vault_output_limits_t *vault_outputs_limits(const vault_outputs_t *outputs);

/** The slot of this process, for vault_output_claim_form(). A child calls it once, before its first request. */
void vault_outputs_set_slot(vault_outputs_t *outputs, unsigned slot);

/** The configuration has changed: invalidate the entries of all children that run now, and those that they are still
 * making. The next sweep removes them. The parent calls this before it forks the new children. */
void vault_outputs_invalidate(vault_outputs_t *outputs);

/* ----------------------------------------------------------------- finding */

/** A copy of an entry. */
typedef struct vault_output_entry_t {
    vault_output_ref_t ref;
    const void *metadata;
    apr_size_t metadata_size;
    apr_size_t body_size;          /* of the plain form */
    unsigned forms;                /* a set: those that can be read */
    unsigned refused;              /* a set: those that cannot be made */
    apr_uint64_t etag;             /* a hash of the plain body, the same on all servers; never 0 */
    apr_time_t made, until;        /* until 0: no limit by time */
    apr_time_t current_at;         /* when it was last found to be current: about once a second */
    apr_interval_time_t stale_for; /* how long it may be used when it is outdated */
    vault_dep_t deps[VAULT_OUTPUT_INTERESTS];
    unsigned dep_count;
    vault_personal_t personal; /* set with VAULT_OUTPUT_PERSONAL: why */
} vault_output_entry_t;

/** What is known about a key. */
typedef enum vault_output_found_t {
    VAULT_OUTPUT_NONE,    /* no (further) entry has this key */
    VAULT_OUTPUT_ENTRY,   /* `entry` is set */
    VAULT_OUTPUT_PERSONAL /* less than VAULT_OUTPUT_PERSONAL_FOR ago an output of this key was personal: do not lead.
                             entry->personal says why */
} vault_output_found_t;

/** Find the next entry with this key, in descending order of creation. Outdated entries are found, too.
 * @param entry  zeroed before the first call; then the result of the last one */
vault_output_found_t vault_outputs_find(vault_outputs_t *outputs, const char *key, apr_size_t length,
                                        vault_output_entry_t *entry, apr_pool_t *pool);

/** Are all stamps unchanged, and is the time limit not reached? Takes no lock. */
int vault_output_is_current(vault_outputs_t *outputs, const vault_output_entry_t *entry, apr_time_t now);

/** May the entry be used although it is outdated? At most for `stale_for` after the store has last found it to be
 * current, so never longer than that after it was outdated. The caller must hold the interests before it calls
 * this, continue from the stamps of the entry, and read the body afterwards: a body that can be read proves that the
 * entry held the interests until then. */
int vault_output_may_be_stale(vault_outputs_t *outputs, const vault_output_entry_t *entry, apr_time_t now);

/** The body of an entry, in one form. */
typedef struct vault_output_body_t {
    const char *text; /* in the pool; NULL: it is in the file */
    apr_file_t *file; /* open for reading, closed with the pool; NULL: it is in `text` */
    apr_size_t size;
} vault_output_body_t;

/** Read the body and count a use.
 * @return APR_SUCCESS; APR_NOTFOUND the entry is gone, or it does not have this form; or why the file cannot be read */
apr_status_t vault_output_body(vault_outputs_t *outputs, const vault_output_entry_t *entry, vault_output_form_t form,
                               vault_output_body_t *body, apr_pool_t *pool);

/** Claim a form that was not made yet. At most one child has the claim; it ends when the child dies.
 * @return 1: the caller makes the form; 0: another child does, it was made, or it cannot
 * be made */
int vault_output_claim_form(vault_outputs_t *outputs, const vault_output_entry_t *entry, vault_output_form_t form);

/** Add the form that the caller has claimed. @param text NULL: it could not be made, or is not smaller than the plain
 * body */
void vault_output_add_form(vault_outputs_t *outputs, const vault_output_entry_t *entry, vault_output_form_t form,
                           const char *text, apr_size_t size);

/** Release the claim on a form that was not made, so that another request can make it. After
 * vault_output_add_form() this does nothing. */
void vault_output_abandon_form(vault_outputs_t *outputs, const vault_output_entry_t *entry, vault_output_form_t form);

/* ------------------------------------------------------------------ making */

/** The right to make an entry, and the duty to end it by vault_output_keep() or vault_output_abandon(). */
typedef struct vault_output_lead_t {
    vault_output_ref_t ref; /* of the entry to be */
    vault_interest_t
        waiters; /* notified when the lead ends; held by the store until then; 0 in the lead of the caller */
} vault_output_lead_t;

/** Lead for a key.
 * @param variant  a hash of all that the output may depend on beside the key: a request with the same key and
 *                 variant waits for this one, others do not
 * @param slot     of this process; 0: it cannot lead
 * @return APR_SUCCESS  the caller leads
 * APR_EBUSY another request leads: wait until `lead->waiters` is notified, and search again. Arm this interest
 *                      first, and then call vault_output_is_being_made()
 *         APR_ENOSPC   there is no room, the key is empty or too long, or its outputs are personal: render without the
 *                      store */
apr_status_t vault_output_lead(vault_outputs_t *outputs, const char *key, apr_size_t length, apr_uint64_t variant,
                               unsigned slot, vault_output_lead_t *lead);

/** The leader may hang: forget its lead, as `Forget` of Go's singleflight does. No further request waits for it, and
 * the next one with this key leads as well. What the first leader makes is still kept, if it is current then. */
void vault_output_forget_lead(vault_outputs_t *outputs, const vault_output_ref_t *ref);

/** Is the lead still open, in a child that lives? Takes no lock. */
int vault_output_is_being_made(vault_outputs_t *outputs, const vault_output_ref_t *ref);

/** Let the entry depend on an interest. Call it before the data are read. The first call for an interest captures its
 * stamp.
 * @return APR_SUCCESS; APR_ENOSPC too many, or the notifier's table is full: abandon the lead; APR_EINVAL as
 *         vault_interest_hold() */
apr_status_t vault_output_hold(vault_outputs_t *outputs, const vault_output_lead_t *lead, const char *interest);

/** Copy the interests that the entry depends on so far, with their stamps.
 * @return how many; 0 also if the lead has ended */
unsigned vault_output_deps(vault_outputs_t *outputs, const vault_output_lead_t *lead,
                           vault_dep_t deps[VAULT_OUTPUT_INTERESTS]);

/** Undo vault_output_hold(): the entry does not depend on this interest. Not after
 * vault_output_hold_deps(), whose interests may include this one. */
void vault_output_release(vault_outputs_t *outputs, const vault_output_lead_t *lead, const char *interest);

/** Let the entry depend on the interests and the time limit of `part`, whose output it contains, with the stamps of
 * `part`. If `part` has been removed meanwhile, vault_output_keep() returns APR_EAGAIN.
 * @return as vault_output_hold() */
apr_status_t vault_output_hold_deps(vault_outputs_t *outputs, const vault_output_lead_t *lead,
                                    const vault_output_entry_t *part);

/** What is to be kept. */
typedef struct vault_output_content_t {
    const void *metadata;
    apr_size_t metadata_size;
    const char *body;
    apr_size_t body_size;
    apr_uint64_t variant;          /* as of vault_output_lead(), now that the output is known; 0: that of the lead */
    apr_time_t until;              /* 0: no limit by time */
    apr_time_t made;               /* 0: now */
    apr_interval_time_t stale_for; /* how long it may be used when it is outdated */
} vault_output_content_t;

/** End the lead: keep the output, and notify the requests that wait. An older entry of the same variant is replaced.
 * @return APR_SUCCESS
 *         APR_EAGAIN  a dependency was notified meanwhile, or the entry was dropped: nothing is kept
 *         APR_ENOSPC  it does not fit, or the file cannot be written: nothing is kept */
apr_status_t vault_output_keep(vault_outputs_t *outputs, const vault_output_lead_t *lead,
                               const vault_output_content_t *content);

/** Why outputs of a key are personal. */
typedef struct vault_output_personal_t {
    vault_personal_t reason;
    const char *why; /* half a sentence with the details; at most 100 bytes are kept */
    int once;        /* of this output alone: requests go on to lead for this key */
} vault_output_personal_t;

/** End the lead without an entry, and notify the requests that wait.
 * @param personal  for VAULT_OUTPUT_PERSONAL_FOR it is listed, and no request leads for this key, unless it is `once`.
 *                  NULL: the output failed */
void vault_output_abandon(vault_outputs_t *outputs, const vault_output_lead_t *lead,
                          const vault_output_personal_t *personal);
#define VAULT_OUTPUT_PERSONAL_FOR apr_time_from_sec(60)

/* --------------------------------------------------------------- upkeep, status */

/** Remove entries that have not been current for VAULT_OUTPUT_STALE_FOR and for their `stale_for`, or were not used
 * for `idle` (0: no limit), end leads and claims of children that have died, and forget expired personal keys. Each
 * child calls it about once a second; one of them does the work, at most every half second.
 *
 * An outdated entry stays for a while so that vault_outputs_list() can say which interest invalidated it. */
#define VAULT_OUTPUT_STALE_FOR apr_time_from_sec(10)
void vault_outputs_sweep(vault_outputs_t *outputs, apr_time_t now, apr_interval_time_t idle);

/** Which entries, by the names of their keys. */
typedef struct vault_output_filter_t {
    const char *part; /* the name contains it; NULL: any name */
    const char *url;  /* the URL, with its query; or its path and query, on any host; NULL: any */
} vault_output_filter_t;

/** Remove entries. Those that are being made are removed when they are kept.
 * @param filter  NULL: all
 * @return how many */
unsigned vault_outputs_drop(vault_outputs_t *outputs, const vault_output_filter_t *filter);

/** Figures of the whole store. */
typedef struct vault_output_totals_t {
    apr_uint32_t entries, making;
    apr_uint64_t memory, files; /* bytes in use */
    apr_uint64_t kept;          /* entries, since the start, as all below */
    apr_uint64_t hits;          /* bodies that were read */
    apr_uint64_t misses;        /* leads */
    apr_uint64_t renewed;       /* entries that replaced one of the same key and variant */
    apr_uint64_t evicted;       /* entries that made room for others */
    apr_uint64_t personal;      /* leads that ended because the output is personal */
    apr_uint64_t waits;         /* requests that waited for another one */
    apr_uint64_t write_errors;  /* files that could not be written */
    apr_status_t write_error;   /* why, the last time; APR_SUCCESS: never */
} vault_output_totals_t;
void vault_outputs_totals(vault_outputs_t *outputs, vault_output_totals_t *totals);

/** How many files could not be written since the last call, in any process.
 * @param why  the last reason */
apr_uint64_t vault_outputs_write_errors(vault_outputs_t *outputs, apr_status_t *why);

/** One row of a listing. */
typedef struct vault_output_row_t {
    const char *name;                      /* of the key: its kind and its URL */
    int making;                            /* a request leads */
    apr_uint32_t waits;                    /* requests that waited for it */
    const char *personal;                  /* why; NULL: it is not */
    apr_uint64_t size[VAULT_OUTPUT_FORMS]; /* 0: there is no such form, or it is empty */
    int in_file[VAULT_OUTPUT_FORMS];       /* else in memory */
    apr_uint64_t hits, renewed;            /* also of the entries of the same variant that it has replaced */
    apr_time_t made, used, until;          /* until 0: no limit by time */
    int stale;                             /* a dependency was notified, or its time limit is reached */
    const char *renewed_by;                /* the interest that invalidated the previous entry; NULL: none, unknown */
} vault_output_row_t;

/** By what rows are ordered; the highest value comes first. */
typedef enum vault_output_order_t {
    VAULT_OUTPUT_BY_USE, /* the most recently used one first */
    VAULT_OUTPUT_BY_HITS,
    VAULT_OUTPUT_BY_SIZE, /* of all forms together */
    VAULT_OUTPUT_BY_RENEWALS,
    VAULT_OUTPUT_BY_AGE /* the oldest one first */
} vault_output_order_t;

/** List entries. The lock is released between every 64 entries, so the rows are not a snapshot.
 * @param filter  NULL: all
 * @param most    the most rows
 * @param total   how many there are; NULL: not needed
 * @return of vault_output_row_t, in `pool` */
apr_array_header_t *vault_outputs_list(vault_outputs_t *outputs, const vault_output_filter_t *filter,
                                       vault_output_order_t order, unsigned most, unsigned *total, apr_pool_t *pool);

/** Compare chains, counts, holds and blocks. For tests and `vault-status?check`.
 * @return NULL, or the first thing that is wrong */
const char *vault_outputs_check(vault_outputs_t *outputs);

#endif
