/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_facts.h
 * What the output store keeps with an output (output_store.h) so that its user can decide whether the output is what
 * rendering it again would give, and what using it means for a page.
 *
 * Pure functions; the caller owns the memory.
 */
#ifndef VAULT_OUTPUT_FACTS_H
#define VAULT_OUTPUT_FACTS_H

#include "apr_file_info.h"

#include "page/page_txn.h"

/** A file whose content is part of the output. Zero in all four numbers: there was no such file. Each write sets the
 * time of change (ctime), which no program can set back, unlike the time of modification. */
typedef struct vault_output_file_t {
    const char *path;
    apr_uint64_t device, inode, changed, size;
} vault_output_file_t;

typedef struct vault_output_facts_t {
    const char *type;               /* media type */
    const char *format;             /* of a method: the value of Vault-Update; NULL: none */
    apr_uint32_t status;            /* of HTTP */
    apr_uint32_t flags;             /* VAULT_FACTS_… */
    apr_array_header_t *properties; /* of vault_property_t: the properties of the page that were read; NULL: not set */
    apr_array_header_t *cursors;    /* of vault_property_t: the cursors that were read, see vault_facts_cursor(); the
                                     * key "" stands for whether the method has run before: NULL, it has */
    apr_array_header_t *answers;    /* of vault_txn_answer_t: which interests had moved for the page */
    apr_array_header_t *headers;    /* of vault_property_t: headers of the response */
    apr_array_header_t *request;    /* of vault_property_t: headers of the request that were read (Vary) */
    apr_array_header_t *polls;      /* of vault_property_t: the long-poll methods of a view's page, the URLs as keys */
    apr_array_header_t *files;      /* of vault_output_file_t */
    apr_array_header_t
        *includes;             /* of vault_property_t: the paths that the output includes, and what httpd made of each
                                     * (recording/includes.h) */
    apr_array_header_t *holes; /* of apr_uint32_t: where in the body the id of the page goes, ascending */
    const vault_state_t *made; /* what the run did for its page, as vault_page_txn_made(); NULL: no page */
} vault_output_facts_t;

/** Of a view: the script element is in the HTML; another client than vault.js takes the stream. */
#define VAULT_FACTS_SCRIPT 1
#define VAULT_FACTS_STREAM 2

/** What to ask apr_stat() for. */
#define VAULT_FACTS_STAT (APR_FINFO_DEV | APR_FINFO_INODE | APR_FINFO_CTIME | APR_FINFO_SIZE)

/** Empty lists. */
void vault_facts_init(vault_output_facts_t *facts, apr_pool_t *pool);

/** Facts as one block, in `pool`. */
const void *vault_facts_encode(const vault_output_facts_t *facts, apr_size_t *size, apr_pool_t *pool);

/** Read a block. The strings of the result point into it, so it must live as long as `facts`.
 * @return 1; 0: it is not valid. Nothing in it is trusted */
int vault_facts_decode(vault_output_facts_t *facts, const void *block, apr_size_t size, apr_pool_t *pool);

/** Note that a property of the page was read, once for each key. */
void vault_facts_read(apr_array_header_t *list, const char *key, const char *value);

/** Everything in the properties of a page, as a text that two pages share only if all properties are equal. It is the
 * value of the pseudo property "", which stands for a handler that was told all of them. */
const char *vault_facts_all(const vault_state_t *base, apr_pool_t *pool);

/** A cursor as text: NULL: the page does not have it; "": it has no value; "=" and the value. */
const char *vault_facts_cursor(const vault_cursor_t *cursor, apr_pool_t *pool);

/** Note that the output depends on a file. @param finfo  NULL: there is no such file */
void vault_facts_add_file(vault_output_facts_t *facts, const char *path, const apr_finfo_t *finfo, apr_pool_t *pool);

/** Can a file change once more without a trace in its times, because it has changed in the present tick of the file
 * system's clock?
 * @param changed  the time of its last change (ctime)
 * @param looked   a time before that was read */
int vault_facts_may_change_unseen(apr_time_t changed, apr_time_t looked);

/** Would the current method of the transaction read the same? */
int vault_facts_fit(const vault_output_facts_t *facts, const vault_page_txn_t *txn, apr_pool_t *pool);

/** Are all files as they were? Calls stat() for each. */
int vault_facts_files_hold(const vault_output_facts_t *facts, apr_pool_t *pool);

/** A hash of request headers, for the variants of one key.
 * @param list  of vault_property_t: the headers of a request by which an output varies
 * @param seed  secret: a client can choose its headers
 * @return 0: the list is empty */
apr_uint64_t vault_facts_vary(const apr_array_header_t *list, apr_uint64_t seed);

/** A hash of everything in the base of the transaction that its current method could read.
 * @param seed  secret: a client can choose properties of its page */
apr_uint64_t vault_facts_variant(const vault_page_txn_t *txn, apr_uint64_t seed);

#endif
