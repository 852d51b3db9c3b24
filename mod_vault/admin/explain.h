/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file explain.h
 * One page as JSON: its methods and what they wait for, its cursors and properties, what its polls last did, why it still waits.
 */
#ifndef VAULT_EXPLAIN_H
#define VAULT_EXPLAIN_H

#include "httpd.h"

#include "page/page_facts.h"

/** Answer what is known of the page with that name or id (page_name.h); 404 when there is none, 409 when there are several, 400 when it is
 * neither.
 * @return what the handler returns */
int vault_explain(request_rec *r, const char *name);

/** What the page is doing, in a few words: "polled", "between polls", "never polled", "its HTML is not complete". */
const char *vault_explain_state(const vault_page_facts_t *f, apr_time_t now);

/** `text` as it may be shown in JSON, itself or in `pool`: users' names, places and properties are bytes to httpd and to applications. Ids of
 * pages are cut to their names, wherever they come from. NULL stays NULL. */
const char *vault_explain_text(const char *text, apr_pool_t *pool);

/** The name of an interest as it may stand in JSON, in `pool`. */
const char *vault_explain_interest(vault_interest_t interest, apr_pool_t *pool);

#endif
