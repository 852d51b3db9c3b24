/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_metadata.h
 * The metadata of an entry of the output store (output_store.h): what the output depends on beside interests, the
 * headers of the response, and what the run changed on its page. With it the reader of an entry decides whether
 * rendering the output again would give the same, and gives the page the same changes.
 *
 * Pure functions; the caller owns the memory.
 */
#ifndef VAULT_OUTPUT_METADATA_H
#define VAULT_OUTPUT_METADATA_H

#include "apr_file_info.h"

#include "page/page_txn.h"

/** A file whose content is part of the output. All four numbers are 0 if there was no such file. Each write sets the
 * time of change (ctime), which no program can set back, unlike the time of modification. */
typedef struct vault_output_file_t {
    const char *path;
    apr_uint64_t device, inode, changed, size;
} vault_output_file_t;

typedef struct vault_output_metadata_t {
    const char *type;               /* media type */
    const char *format;             /* of a method: the value of Vault-Update; NULL: none */
    apr_uint32_t status;            /* of HTTP */
    apr_uint32_t flags;             /* VAULT_METADATA_SCRIPT, VAULT_METADATA_STREAM */
    apr_array_header_t *properties; /* of vault_property_t: the page properties that were read; NULL: not set */
    apr_array_header_t *cursors;    /* of vault_property_t: the cursors that were read, as vault_metadata_cursor(). The
                                     * key "" says whether the method had run before: NULL if it had */
    apr_array_header_t *answers;    /* of vault_txn_answer_t: the results of create_interest() in this run */
    apr_array_header_t *headers;    /* of vault_property_t: response headers */
    apr_array_header_t *request;    /* of vault_property_t: the request headers that Vary names */
    apr_array_header_t *polls;      /* of vault_property_t: the keys are the URLs that a view's page polls */
    apr_array_header_t *files;      /* of vault_output_file_t */
    apr_array_header_t *includes;   /* of vault_property_t: the included paths, and how httpd resolved each of them
                                     * (recording/includes.h) */
    apr_array_header_t *id_offsets; /* of apr_uint32_t: where the page id is inserted into the body, ascending */
    const vault_state_t *made;      /* what the run changed on its page, from vault_page_txn_made(); NULL: no page */
} vault_output_metadata_t;

/** Of a view: the script element is in the HTML; another client than vault.js takes the stream. */
#define VAULT_METADATA_SCRIPT 1
#define VAULT_METADATA_STREAM 2

/** What to ask apr_stat() for. */
#define VAULT_METADATA_STAT (APR_FINFO_DEV | APR_FINFO_INODE | APR_FINFO_CTIME | APR_FINFO_SIZE)

/** Empty lists. */
void vault_metadata_init(vault_output_metadata_t *metadata, apr_pool_t *pool);

/** Metadata as one block, in `pool`. */
const void *vault_metadata_encode(const vault_output_metadata_t *metadata, apr_size_t *size, apr_pool_t *pool);

/** Read a block. The strings of the result point into it, so it must live as long as `metadata`.
 * @return 1; 0: it is not valid. Nothing in it is trusted */
int vault_metadata_decode(vault_output_metadata_t *metadata, const void *block, apr_size_t size, apr_pool_t *pool);

/** Add a value that was read, once for each key. */
void vault_metadata_add_read(apr_array_header_t *list, const char *key, const char *value);

/** All properties of a page as one canonical text: two pages have the same text only if all of their properties are
 * equal. It is the value of the pseudo property "", which means that a handler was told all properties. */
const char *vault_metadata_all_properties(const vault_state_t *base, apr_pool_t *pool);

/** A cursor as text: NULL: the page does not have it; "": it has no value; "=" and the value. */
const char *vault_metadata_cursor(const vault_cursor_t *cursor, apr_pool_t *pool);

/** Note that the output depends on a file. @param finfo  NULL: there is no such file */
void vault_metadata_add_file(vault_output_metadata_t *metadata, const char *path, const apr_finfo_t *finfo,
                             apr_pool_t *pool);

/** Is the timestamp of a file "racy", as Git calls it? The last change was made in the current tick of the file
 * system's clock, so another change could leave the timestamp as it is.
 * @param changed     the time of the last change (ctime)
 * @param checked_at  a time before `changed` was read */
int vault_metadata_is_racy(apr_time_t changed, apr_time_t checked_at);

/** Would the current method of the transaction read the same properties, cursors and stamps? */
int vault_metadata_matches(const vault_output_metadata_t *metadata, const vault_page_txn_t *txn, apr_pool_t *pool);

/** Are all files unchanged? Calls stat() for each. */
int vault_metadata_files_match(const vault_output_metadata_t *metadata, apr_pool_t *pool);

/** A hash of request headers, which distinguishes the variants of one key.
 * @param list  of vault_property_t: the headers of a request by which an output varies
 * @param seed  secret: a client can choose its headers
 * @return 0: the list is empty */
apr_uint64_t vault_metadata_vary_hash(const apr_array_header_t *list, apr_uint64_t seed);

/** A hash of everything in the base of the transaction that its current method could read.
 * @param seed  secret: a client can choose properties of its page */
apr_uint64_t vault_metadata_page_hash(const vault_page_txn_t *txn, apr_uint64_t seed);

#endif
