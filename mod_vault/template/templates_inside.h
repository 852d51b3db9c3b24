/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file templates_inside.h
 * Shared by templates.c, which keeps compiled files, and templates_render.c, which renders them. Private to
 * these two files.
 */
#ifndef VAULT_TEMPLATES_INSIDE_H
#define VAULT_TEMPLATES_INSIDE_H

#include <sys/stat.h>

#include "apr_time.h"

#include "template/templates.h"

/** A compiled file. */
typedef struct vault_template_file_t vault_template_file_t;

struct vault_template_file_t {
    vault_template_file_t *older, *newer; /* lock: by last use */
    vault_template_file_t *next_dead;     /* owner thread */
    apr_uint32_t holders;                 /* lock */
    apr_pool_t *pool;                     /* the memory of this file, this struct included; const from here on */
    const char *path;
    struct stat state;
    apr_time_t read; /* when reading began */
    vault_mustache_t *template;
    const char *error; /* if `template` is NULL: the reason */
};

/** The compiled current version of a file, held for the caller until vault_templates_release().
 * @param error  on failure a sentence that begins with the path
 * @return APR_SUCCESS
 *         APR_EINVAL: a syntax error
 *         other values: the system cannot read the file
 * Any thread; blocks only to read the file. */
apr_status_t vault_templates_acquire(vault_templates_t *cache, vault_template_file_t **acquired, const char *path,
                                     const char **error, apr_pool_t *scratch);

/** Release a file. Any thread. */
void vault_templates_release(vault_templates_t *cache, vault_template_file_t *file);

#endif
