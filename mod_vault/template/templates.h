/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file templates.h
 * Template files, compiled once a process and again when the file changes.
 *
 * A file counts as changed when its inode, size or modification time (nanoseconds) differ; it is looked at with one stat() a use.
 * A template that is being rendered while its file changes stays alive until the last rendering of it ends.
 * Partials are files beside the template: {{> row}} in /a/list.html is /a/row.html (the extension of the including file); names
 * with a slash or a leading dot are refused, so that data can never reach another folder.
 */
#ifndef VAULT_TEMPLATES_H
#define VAULT_TEMPLATES_H

#include "template/mustache.h"

/** The largest template file, in bytes. */
#define VAULT_TEMPLATE_MAX (1024 * 1024)
/** So many files are kept compiled; then the one that was not used for longest goes. */
#define VAULT_TEMPLATE_FILES_MAX 1000

typedef struct vault_templates_t vault_templates_t;

/** Make an empty cache. Its memory does not come from `pool` (pools only grow); only its end does. */
apr_status_t vault_templates_create(vault_templates_t **cache, apr_pool_t *pool);

/** Render the file.
 * @param path   absolute
 * @param error  on failure a sentence that begins with the path
 * @return APR_SUCCESS
 *         APR_ENOENT or another of the system's  the file cannot be read
 *         APR_EINVAL  a syntax error in it or in a partial
 *         APR_EGENERAL, or what `write` returned
 * Any thread; blocks for the file only. On a failure some of the output may have been written already. */
apr_status_t vault_templates_render(vault_templates_t *cache, const char *path, const json_t *context,
                                    vault_mustache_write_fn write, void *baton, const char **error,
                                    apr_pool_t *scratch);

/** How many files are kept compiled now. Any thread. */
apr_size_t vault_templates_count(vault_templates_t *cache);

#endif
