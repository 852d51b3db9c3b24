/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file templates_inside.h
 * What the files of the templates share: templates.c keeps compiled files, templates_render.c renders them. For these two only.
 */
#ifndef VAULT_TEMPLATES_INSIDE_H
#define VAULT_TEMPLATES_INSIDE_H

#include <sys/stat.h>

#include "apr_time.h"

#include "template/templates.h"

/** A file, compiled. */
typedef struct vault_template_file_t vault_template_file_t;

struct vault_template_file_t {
    vault_template_file_t *older, *newer; /* lock: by last use */
    vault_template_file_t *next_dead;     /* owner thread */
    apr_uint32_t holders;                 /* lock */
    apr_pool_t *pool;                     /* everything of this file, this struct too; const from here on */
    const char *path;
    struct stat state;
    apr_time_t read; /* when reading began */
    vault_mustache_t *template;
    const char *error; /* template NULL: why */
};

/** The compiled file as it is now, held for the caller until vault_templates_release.
 * @param error  on failure a sentence that begins with the path
 * @return APR_SUCCESS
 *         APR_EINVAL  it has a syntax error
 *         other       of the system's: it cannot be read
 * Any thread; blocks for the file only. */
apr_status_t vault_templates_acquire(vault_templates_t *cache, vault_template_file_t **acquired, const char *path,
                                     const char **error, apr_pool_t *scratch);

/** Any thread. */
void vault_templates_release(vault_templates_t *cache, vault_template_file_t *file);

#endif
