/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file explain.h
 * One page as JSON: its methods with their interests, its cursors and properties, what its polls last did, and
 * why it still waits.
 */
#ifndef VAULT_EXPLAIN_H
#define VAULT_EXPLAIN_H

#include "httpd.h"

#include "page/page_facts.h"

/** Answer with the facts of the page of this name or id (page_name.h): 404 if there is none, 409 if there are
 * several, 400 if `name` is neither.
 * @return what the handler returns */
int vault_explain(request_rec *r, const char *name);

/** The state of the page in a few words: "polled", "between polls", "never polled", "its HTML is not complete". */
const char *vault_explain_state(const vault_page_facts_t *f, apr_time_t now);

/** `text` in a form that is safe in JSON, itself or in `pool`. Names of users, locations and properties can be
 * any bytes. Ids of pages are shortened to their names. NULL stays NULL. */
const char *vault_explain_text(const char *text, apr_pool_t *pool);

/** The name of an interest in a form that is safe in JSON, in `pool`. */
const char *vault_explain_interest(vault_interest_t interest, apr_pool_t *pool);

#endif
