/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conf.h
 * What the directives of a section come to, in parts: each folder has one part, and its own rows in the table of directives.
 *
 * A folder with directives has a file FOLDER_conf.c. That exports its rows (`vault_FOLDER_directives`), how its part is made and
 * merged (`vault_FOLDER_conf`), and an accessor that gives the part for a request. directives.c collects all of them.
 */
#ifndef VAULT_CONF_H
#define VAULT_CONF_H

#include "httpd.h"
#include "http_config.h"

/** Whose part it is. */
typedef enum vault_conf_id_t {
    VAULT_CONF_REQUEST,
    VAULT_CONF_ANNOUNCE,
    VAULT_CONF_VIEW,
    VAULT_CONF_FEED,
    VAULT_CONF_POLL,
    VAULT_CONF_ENDPOINT,
    VAULT_CONF_THROTTLE,
    VAULT_CONF_COUNT
} vault_conf_id_t;

/** How a part is made and merged. */
typedef struct vault_conf_t {
    apr_size_t size;
    void (*init)(void *part); /* zeroed before; NULL: it stays so */
    /** Both sections hold, `inner` before `outer`; `part` is zeroed before. */
    void (*merge)(void *part, const void *outer, const void *inner);
} vault_conf_t;

/** Take a field from the inner section, unless no directive has set it there. */
#define VAULT_CONF_MERGE(part, outer, inner, field, unset)                                                             \
    ((part)->field = (inner)->field != (unset) ? (inner)->field : (outer)->field)

/** A section: httpd gives it to the functions of directives as `dir`, and merges it with others for each request. */
typedef struct vault_section_t {
    void *parts[VAULT_CONF_COUNT];
} vault_section_t;

/** The part of a section, for the function of a directive. */
static inline void *vault_conf_part(void *dir, vault_conf_id_t id)
{
    return ((vault_section_t *)dir)->parts[id];
}

/** What holds for a request; NULL: httpd has not looked for its sections. */
const void *vault_conf_of(const request_rec *r, vault_conf_id_t id);

/** A whole number from a directive.
 * @param other  what else the directive accepts, for the sentence: "; or Off"
 * @return NULL, or the sentence that stops the start */
const char *vault_conf_number(cmd_parms *cmd, const char *value, int min, int max, const char *other, int *number);

/** A number of bytes from a directive, with or without K, M or G. @return as vault_conf_number() */
const char *vault_conf_size(cmd_parms *cmd, const char *value, apr_off_t min, apr_off_t max, apr_off_t *size);

/** The range of a size that is a limit of one client. */
#define VAULT_CONF_CLIENT_BYTES_MIN (64 * 1024)
#define VAULT_CONF_CLIENT_BYTES_MAX ((apr_off_t)64 << 30)

/** Put a word at the end of a list (of const char *); NULL, that is Off, makes the list empty, whatever outer sections have given. */
void vault_conf_add_word(apr_array_header_t **list, const char *word, apr_pool_t *pool);

#endif
