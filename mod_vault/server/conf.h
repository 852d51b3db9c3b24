/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file conf.h
 * The per-directory configuration, in parts: each folder owns one part, and has its own rows in the table of
 * directives.
 *
 * A folder with directives has a file FOLDER_conf.c, which exports its rows (`vault_FOLDER_directives`), the
 * functions that create and merge its part (`vault_FOLDER_conf`), and an accessor that returns the part for a
 * request. directives.c collects all of them.
 */
#ifndef VAULT_CONF_H
#define VAULT_CONF_H

#include "httpd.h"
#include "http_config.h"

/** The folder that a part belongs to. */
typedef enum vault_conf_id_t {
    VAULT_CONF_REQUEST,
    VAULT_CONF_ANNOUNCE,
    VAULT_CONF_BUNDLE,
    VAULT_CONF_SESSION,
    VAULT_CONF_VIEW,
    VAULT_CONF_FEED,
    VAULT_CONF_POLL,
    VAULT_CONF_ENDPOINT,
    VAULT_CONF_THROTTLE,
    VAULT_CONF_CACHE,
    VAULT_CONF_COUNT
} vault_conf_id_t;

/** How a part is created and merged. */
typedef struct vault_conf_t {
    apr_size_t size;
    void (*init)(void *part); /* initializes a part, which is all zeros; NULL: zeros are its defaults */
    /** Merge the sections: `inner` takes precedence over `outer`. `part` is all zeros before. */
    void (*merge)(void *part, const void *outer, const void *inner);
} vault_conf_t;

/** Take a field from the inner section if a directive has set it there, otherwise from the outer one. */
#define VAULT_CONF_MERGE(part, outer, inner, field, unset)                                                             \
    ((part)->field = (inner)->field != (unset) ? (inner)->field : (outer)->field)

/** One section of the configuration. httpd passes it to the functions of directives as `dir`, and merges the
 * sections that apply to a request. */
typedef struct vault_section_t {
    void *parts[VAULT_CONF_COUNT];
} vault_section_t;

/** The part of a section, for the functions of directives. */
static inline void *vault_conf_part(void *dir, vault_conf_id_t id)
{
    return ((vault_section_t *)dir)->parts[id];
}

/** The merged part for a request; NULL: httpd has not merged the sections of the request yet. */
const void *vault_conf_of(const request_rec *r, vault_conf_id_t id);

/** Parse a whole number from a directive.
 * @param other  what else the directive accepts, for the error sentence: "; or Off"
 * @return NULL, or the sentence that stops the start */
const char *vault_conf_number(cmd_parms *cmd, const char *value, int min, int max, const char *other, int *number);

/** Parse a number of bytes from a directive, with or without K, M or G. @return as vault_conf_number() */
const char *vault_conf_size(cmd_parms *cmd, const char *value, apr_off_t min, apr_off_t max, apr_off_t *size);

/** The range of a size that limits one client. */
#define VAULT_CONF_CLIENT_BYTES_MIN (64 * 1024)
#define VAULT_CONF_CLIENT_BYTES_MAX ((apr_off_t)64 << 30)

#define VAULT_CONF_SECRET_MAX 512

/** Read a secret from a file that other users can neither read nor write, and that has nothing else in it but white
 * space at the end.
 * @param what   for the error sentence: "key"
 * @param least  how many characters it has at least, printable ASCII without a blank
 * @return as vault_conf_number() */
const char *vault_conf_secret(cmd_parms *cmd, const char **secret, const char *path, const char *what, apr_size_t least);

/** A URL or address for messages: *** in place of a user and a password before its last @. */
const char *vault_conf_masked(const char *value, apr_pool_t *pool);

/** Append a word to a list (of const char *). NULL stands for Off: it empties the list, and so overrides outer
 * sections. */
void vault_conf_add_word(apr_array_header_t **list, const char *word, apr_pool_t *pool);

#endif
