/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file feed_figures.h
 * The figures that a feed declares, and the values that it reports of them, checked: a feed is foreign code.
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

/** What a feed declares; a list without a row if it has no figures, or was built before there were any. */
const vault_feed_figure_t *vault_feed_figures_of(const vault_feed_t *vtable);

/** Does the table keep to the rules of vault_feed_figure_t? @return NULL, or a sentence without its beginning */
const char *vault_feed_figures_check(const vault_feed_t *vtable, apr_pool_t *pool);

/** Take what a feed has reported.
 * @param error  a sentence, if not all can be taken; if there is one already nothing is taken
 * @param said   NULL or anything else; borrowed
 * @return one value for each figure, in `pool` */
const vault_feed_value_t *vault_feed_values(const char **error, const vault_feed_figure_t *figures, const json_t *said,
                                            apr_pool_t *pool);

/** A copy of a text from a feed or the configuration, as it may be shown. */
const char *vault_feed_text(const char *text, apr_pool_t *pool);

#endif
