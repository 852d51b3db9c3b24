/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_fixture.h
 * The fixture of tests of the output store: a segment with a store and two children, and shorthands to make entries.
 */
#ifndef VAULT_OUTPUT_FIXTURE_H
#define VAULT_OUTPUT_FIXTURE_H

#include "fixture.h"
#include "output/output_store.h"

#define CHILD 4000 /* the pid of the first child; no process of ours: nothing asks the system whether it lives */

typedef struct store_t {
    fixture_t f;
    vault_outputs_t *o;
    vault_output_limits_t limits;
    char root[64];    /* an empty folder; "": none */
    unsigned slot[3]; /* of the children 1 and 2; this process is the first one */
} store_t;

/** Create it. A limit that is 0 has the default: 1 MB, 64 entries, 8 KB in memory. With bytes for files there is a
 * folder. */
void store_begin(store_t *s, const vault_output_limits_t *limits);

/** Check everything, drop all entries, check that nothing is held, stored, or on disk any more, and free everything. */
void store_end(store_t *s);

/** Remove the folder, which is empty. */
void store_remove_folder(store_t *s);

/** Check all invariants. */
void store_sound(store_t *s, unsigned line, const char *file);
#define CHECK_STORE(s) store_sound(s, __LINE__, __FILE__)

/** vault_output_lead() for the first child. */
apr_status_t store_lead(store_t *s, const char *key, apr_uint64_t variant, vault_output_lead_t *lead);

/** Keep a body with its length as metadata. */
apr_status_t store_keep(store_t *s, const vault_output_lead_t *lead, const char *body);

/** Lead, hold an interest (NULL: none), and keep. Ends the test when that fails. */
void store_make(store_t *s, const char *key, apr_uint64_t variant, const char *interest, const char *body);

/** The newest entry of the key. @return 0: there is none */
int store_find(store_t *s, const char *key, vault_output_entry_t *entry);

/** The body of the newest entry; NULL: there is none. Counts a use. */
const char *store_read(store_t *s, const char *key);

/** Is there an entry, and is it current? */
int store_is_current(store_t *s, const char *key);

/** The totals. */
vault_output_totals_t store_totals(store_t *s);

/** How many files there are in the folder, whatever their names. */
unsigned store_files(store_t *s);

/** A text of that many bytes, each `c`. */
char *store_text(store_t *s, apr_size_t size, char c);

#endif
