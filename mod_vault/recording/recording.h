/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file recording.h
 * Records what the output of a request depends on while it is rendered, so that the output store can keep it.
 *
 * A recording begins before the handler runs and ends when the output is complete. It has the lead of its entry
 * (output_store.h). Everything that a run can read through the module reports it here: interests before their data are
 * read, properties and cursors of the page, files. judge.h looks at handlers and filters. What cannot be recorded makes
 * the output personal: it is not kept, and the store remembers the reason for a while.
 *
 * Recordings nest: a part of a page (cache/cache_part.h) has its own, and what is reported to it also counts for the
 * outer ones, since their outputs contain the part.
 *
 * All functions but vault_recording_end() accept NULL as the recording and do nothing then. Thread: the one that owns
 * the request.
 */
#ifndef VAULT_RECORDING_H
#define VAULT_RECORDING_H

#include "httpd.h"

#include "output/output_metadata.h"
#include "output/output_store.h"

/** An interest that is held for an entry. */
typedef struct vault_recording_held_t {
    const char *interest;
    int is_used; /* the output depends on it; 0: it was only expected, so far */
} vault_recording_held_t;

typedef struct vault_recording_t {
    vault_output_lead_t lead;
    apr_uint64_t variant; /* of the output, without the headers of the request */
    const char *key;      /* of the entry of a method; NULL: of another output */
    vault_output_metadata_t metadata;
    struct vault_recording_t *outer; /* NULL: none */
    apr_array_header_t *held;        /* of vault_recording_held_t: the interests held for the entry */
    apr_array_header_t *named;       /* of const char *: the interests that were named after their data were read */
    int missed;                      /* how many of these were not held */
    int has_part;                    /* it contains the output of another entry */
    vault_personal_t reason;     /* why the outputs of this key are personal; NOT: they are not, so far. After the end:
                                      * why this output was */
    const char *personal;        /* the same with its details */
    int is_part;                 /* its output is a part of a page, which other pages are to contain as well */
    int by_construction;         /* VaultCache is not set where it is, so an <If> there makes it personal */
    const char *dropped;         /* why this output is not kept, but the next one may be; NULL: it may be kept */
    vault_personal_t dropped_as; /* the reason, if this output is personal */
    int opaque;                  /* handlers that have not said (yet) that their output is shared */
    const char *opaque_why;      /* what makes the output personal as long as there are any */
    apr_interval_time_t stale_for; /* VaultCacheStale: how long it may be used when it is outdated */
    apr_time_t until;              /* the output may be used until then; 0: no limit */
    apr_pool_t *pool;
} vault_recording_t;

/** The variant of outputs that depend on the key and on headers of the request only. */
#define VAULT_RECORDING_PLAIN 1

/** Begin, with the variant VAULT_RECORDING_PLAIN.
 * @param lead  taken over: vault_recording_end() ends it */
vault_recording_t *vault_recording_begin(const vault_output_lead_t *lead, vault_recording_t *outer, apr_pool_t *pool);

/** End: keep the output, unless it is personal or was dropped. A personal output is counted.
 * @param body  NULL: the request failed, nothing is kept
 * @return NULL: it is kept; otherwise half a sentence why not */
const char *vault_recording_end(vault_recording_t *rec, const char *body, apr_size_t length);

/** An interest is about to be created, and then its data are read. */
void vault_recording_interest(vault_recording_t *rec, const char *interest);

/** An interest may be named after its data are read: hold it now. The output depends on it only if it is named. */
void vault_recording_expect(vault_recording_t *rec, const char *interest);

/** An interest was named after its data were read. Unless it was held before, the output is not kept. `named` lists
 * it, so that it can be held the next time. */
void vault_recording_late_interest(vault_recording_t *rec, const char *interest);

/** A property of the page was read. @param value  NULL: it is not set */
void vault_recording_property(vault_recording_t *rec, const char *key, const char *value);

/** A cursor of the page was read. */
void vault_recording_cursor(vault_recording_t *rec, const char *key, const vault_cursor_t *cursor);

/** It was asked whether the method has never run before. */
void vault_recording_first(vault_recording_t *rec, int first);

/** The output depends on a file. If the file has changed in the present tick of the file system's clock, a further
 * change may not show in its times, and the output is not kept.
 * @param finfo   NULL: there is no such file
 * @param checked_at  apr_time_now() before `finfo` was read */
void vault_recording_file(vault_recording_t *rec, const char *path, const apr_finfo_t *finfo, apr_time_t checked_at);

/** The same; looks the file up. */
void vault_recording_path(vault_recording_t *rec, const char *path);

/** All outputs of this key are personal, for every visitor. The store remembers it for a while.
 * @param why  the details: half a sentence that begins with "its", "it" or a noun; the first reason is kept */
void vault_recording_personal(vault_recording_t *rec, vault_personal_t reason, const char *why);

/** The output is a part that depends on the page around it, so that it can be no part of other pages. Outer recordings
 * are not concerned, and neither is one that is not of a part. @param why  as vault_recording_personal() */
void vault_recording_of_page(vault_recording_t *rec, const char *why);

/** The page has made this call of a feed before, so that the call is not made again: a part that has not made it itself
 * does not know what its rows depend on. @param cursor  names the call */
void vault_recording_recalled(vault_recording_t *rec, const char *cursor);

/** The output is not kept unless this handler says that its part is shared (vault_recording_share()). */
void vault_recording_opaque(vault_recording_t *rec, const char *why);

/** A handler of vault_recording_opaque() says that its output is the same for everyone who may see it. */
void vault_recording_share(vault_recording_t *rec);

/** This output is not kept. For what depends on the request: a client could cause it, and the store must not remember
 * it for the others.
 * @param reason  why this output is personal; NOT: it is not
 * @param why     as of vault_recording_personal() */
void vault_recording_drop(vault_recording_t *rec, vault_personal_t reason, const char *why);

/** The output varies by a header of the request. @param value  NULL: the request does not have it */
void vault_recording_header(vault_recording_t *rec, const char *name, const char *value);

/** Does something say when the output changes: an interest, a file or a time? Otherwise it would be kept for ever. */
int vault_recording_has_end(const vault_recording_t *rec);

/** The output includes that of a path of the site. @param made  what httpd has made of the path (includes.h) */
void vault_recording_include(vault_recording_t *rec, const char *path, const char *made);

/** The output contains that of another entry, with this metadata: it depends on the same. */
void vault_recording_part(vault_recording_t *rec, const vault_output_entry_t *part,
                          const vault_output_metadata_t *metadata);

/** The output must not be used when it is outdated. */
void vault_recording_never_stale(vault_recording_t *rec);

/** The output may be used until then. */
void vault_recording_until(vault_recording_t *rec, apr_time_t until);

#endif
