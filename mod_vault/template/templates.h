/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file templates.h
 * Template files, compiled once in each process and again when the file changes.
 *
 * A file has changed when its inode, size or modification time (in nanoseconds) differs; each use costs one
 * stat(). A rendering keeps the version that it began with until it ends.
 *
 * Partials are files in the same folder: {{> row}} in /a/list.html is /a/row.html, with the extension of the
 * including file. Names that contain a slash or begin with a dot are refused, so that data can never name a
 * file in another folder.
 */
#ifndef VAULT_TEMPLATES_H
#define VAULT_TEMPLATES_H

#include "template/mustache.h"

/** The largest template file, in bytes. */
#define VAULT_TEMPLATE_MAX (1024 * 1024)
/** The most files that are kept compiled. Beyond that, the least recently used one is removed. */
#define VAULT_TEMPLATE_FILES_MAX 1000

typedef struct vault_templates_t vault_templates_t;

/** Create an empty cache. Its memory does not come from `pool`, because pools only grow; the cleanup of `pool`
 * destroys it. */
apr_status_t vault_templates_create(vault_templates_t **cache, apr_pool_t *pool);

/** Where a rendering goes. */
typedef struct vault_template_sink_t {
    vault_mustache_write_fn write;
    void (*uses)(void *baton, const char *path); /* told of each file before it is read, the partials that do not exist
                                                  * included; NULL: the caller does not ask */
    void *baton;                                 /* for both */
} vault_template_sink_t;

/** Render a template file.
 * @param path   absolute
 * @param error  on failure a sentence that begins with the path
 * @return APR_SUCCESS
 *         APR_ENOENT or another system error: the file cannot be read
 *         APR_EINVAL: a syntax error in the file or in a partial
 *         APR_EGENERAL, or a result of `sink->write`
 * Any thread; blocks only to read files. After a failure, a part of the output may have been written. */
apr_status_t vault_templates_render(vault_templates_t *cache, const char *path, const json_t *context,
                                    const vault_template_sink_t *sink, const char **error, apr_pool_t *scratch);

#endif
