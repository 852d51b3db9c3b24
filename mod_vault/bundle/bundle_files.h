/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bundle_files.h
 * The files of a bundle: what tells whether one has changed, and their joined text.
 *
 * A file has changed when its device, inode, modification time or size has. Files are read in the order of the
 * directive. Between two of them is a line end, and in JavaScript a semicolon as well.
 *
 * Any thread.
 */
#ifndef VAULT_BUNDLE_FILES_H
#define VAULT_BUNDLE_FILES_H

#include "apr_pools.h"
#include "apr_tables.h"
#include "apr_time.h"

typedef enum vault_bundle_kind_t {
    VAULT_BUNDLE_CSS,
    VAULT_BUNDLE_JS,
    VAULT_BUNDLE_HTML,
    VAULT_BUNDLE_KINDS
} vault_bundle_kind_t;

/** The most bytes of a bundle. */
#define VAULT_BUNDLE_MAX ((apr_size_t)64 << 20)

/** What tells that a file has changed. Compared with memcmp(). */
typedef struct vault_bundle_stat_t {
    apr_uint64_t device, inode, size;
    apr_time_t mtime;
} vault_bundle_stat_t;

/** The files of a bundle, and the hash of their text when it was last read in this process. */
typedef struct vault_bundle_files_t {
    vault_bundle_kind_t kind;
    apr_array_header_t *paths;        /* of const char *; absolute */
    struct vault_bundle_memo_t *memo; /* made with the list */
} vault_bundle_files_t;

/** Make room for the hash. Once, when the list is complete. */
void vault_bundle_files_init(vault_bundle_files_t *files, apr_pool_t *pool);

/** The joined text of a bundle. */
typedef struct vault_bundle_text_t {
    const char *text;
    apr_size_t size;
    const char *warning; /* a sentence on what a browser ignores in it; NULL: none */
} vault_bundle_text_t;

/** Ask the file system about all files.
 * @param stats  an array, one element for each file, in `pool`
 * @return NULL; or a sentence that names a file that is missing or not readable */
const char *vault_bundle_files_stat(const vault_bundle_files_t *files, vault_bundle_stat_t **stats, apr_pool_t *pool);

/** Read and join the files. Reads them again if one changes meanwhile, and waits for some milliseconds if one has
 * changed just now, since a second change could not be told from that by the time.
 * @param stats  as the files are now; replaced by what was read
 * @return NULL; or a sentence */
const char *vault_bundle_files_join(const vault_bundle_files_t *files, vault_bundle_stat_t **stats,
                                    vault_bundle_text_t *joined, apr_pool_t *pool);

/** The hash of the joined text. Reads the files only if they are not as they were when this was last called.
 * @return NULL; or a sentence */
const char *vault_bundle_files_hash(const vault_bundle_files_t *files, vault_bundle_stat_t **stats, apr_uint64_t *hash,
                                    apr_pool_t *pool);

/** The hash that was last computed in this process. @return 0: none */
apr_uint64_t vault_bundle_files_last_hash(const vault_bundle_files_t *files);

#endif
