/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_figures.h
 * Checks the figures that a feed declares and the values that it reports for them. A feed is foreign code, so
 * neither is trusted.
 *
 * Needs APR and jansson only. Any thread.
 */
#ifndef VAULT_FEED_FIGURES_H
#define VAULT_FEED_FIGURES_H

#include "mod_vault/vault.h"

/** The value of one figure. */
typedef struct vault_feed_value_t {
    enum { VAULT_FEED_VALUE_NONE, VAULT_FEED_VALUE_NUMBER, VAULT_FEED_VALUE_TEXT } type;
    apr_int64_t number;
    const char *text; /**< UTF-8 without control characters of ASCII */
} vault_feed_value_t;

/** The figures that a feed declares. The list is empty if the feed declares none, or was built for an ABI
 * without figures. */
const vault_feed_figure_t *vault_feed_figures_of(const vault_feed_t *vtable);

/** Check the declared figures against the rules of vault_feed_figure_t.
 * @return NULL: they are valid; otherwise a sentence without its subject */
const char *vault_feed_figures_check(const vault_feed_t *vtable, apr_pool_t *pool);

/** Convert the values that a feed has reported.
 * @param error  set to a sentence if a value is not valid. If it is set already, no value is converted
 * @param said   any JSON value, or NULL; borrowed
 * @return one value for each figure, in `pool` */
const vault_feed_value_t *vault_feed_values(const char **error, const vault_feed_figure_t *figures, const json_t *said,
                                            apr_pool_t *pool);

/** A copy of a text from a feed or from the configuration that is safe to show. */
const char *vault_feed_text(const char *text, apr_pool_t *pool);

#endif
