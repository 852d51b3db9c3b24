/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mustache.h
 * Mustache templates over JSON values, compiled once into static spans and dynamic calls (SAW's "compilation").
 *
 * Follows the public Mustache specification: comments, delimiters, interpolation with dotted names and the
 * implicit iterator, inverted sections, sections, partials with indentation. `{{name}}` escapes & < > " ' for
 * HTML; `{{{name}}}` and `{{&name}}` do not. A compiled template is read-only: any number of threads may render
 * it.
 */
#ifndef VAULT_MUSTACHE_H
#define VAULT_MUSTACHE_H

#include <jansson.h>

#include "apr_pools.h"

/** The deepest nesting of sections, and of partials. */
#define VAULT_MUSTACHE_DEPTH_MAX 32
/** The most operations of one rendering: spans, values, iterations of sections, and partials. It bounds the time
 * that nested loops over lists can take. */
#ifndef VAULT_MUSTACHE_STEPS_MAX
#define VAULT_MUSTACHE_STEPS_MAX 20000000
#endif

typedef struct vault_mustache_t vault_mustache_t;

/** Look up a partial while rendering.
 * @return a compiled template that stays valid until the rendering ends; NULL: there is none, and nothing is
 *         rendered for it */
typedef const vault_mustache_t *(*vault_mustache_partial_fn)(void *baton, const char *name);

/** Receives the output in pieces. A result other than APR_SUCCESS ends the rendering, which returns it. */
typedef apr_status_t (*vault_mustache_write_fn)(void *baton, const char *text, apr_size_t len);

/** Compile.
 * @param text   UTF-8, `len` bytes, no NUL; copied into `pool`
 * @param error  on failure a sentence with the line: "line 3: section \"rows\" is not closed"
 * @return APR_SUCCESS; APR_EINVAL a syntax error */
apr_status_t vault_mustache_compile(vault_mustache_t **template, const char *text, apr_size_t len, const char **error,
                                    apr_pool_t *pool);

/** Render.
 * @param context  borrowed; strings, numbers, true/false/null, arrays and objects. As a
 *                 section, null, false, 0, "", [] and what is not there are false; as a value, an object or
 *                 array is written as JSON
 * @param partial  may be NULL: no partials
 * @param scratch  for what is needed while rendering
 * @return APR_SUCCESS; APR_EGENERAL nested deeper than VAULT_MUSTACHE_DEPTH_MAX (a partial that
 *         includes itself on the same data for ever); APR_TIMEUP more than VAULT_MUSTACHE_STEPS_MAX steps; or
 *         what `write` returned */
apr_status_t vault_mustache_render(const vault_mustache_t *template, const json_t *context,
                                   vault_mustache_partial_fn partial, void *partial_baton,
                                   vault_mustache_write_fn write, void *write_baton, apr_pool_t *scratch);

#endif
