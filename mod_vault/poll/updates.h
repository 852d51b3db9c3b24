/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file updates.h
 * What methods wrote, as the browser gets it, and how much of it one answer may have.
 *
 * An answer is collected as text, JSON or events of an HTML stream, method by method, so that the memory which a method needs goes when the method has ended. What does
 * not fit into the answer is not written: the method stays as if it had not run, and the next answer begins with it.
 */
#ifndef VAULT_UPDATES_H
#define VAULT_UPDATES_H

#include "apr_pools.h"

#include "base/json_text.h"
#include "poll/method.h"

/** How much one answer may have, of all its methods and pages. */
typedef struct vault_answer_budget_t {
    apr_size_t most; /* bytes of that text: VaultMaxAnswer */
    apr_size_t used;
    int full; /* 1: the output of a method did not fit */
} vault_answer_budget_t;

/** The updates of one page, and which of its methods were refused. */
typedef struct vault_updates_t {
    vault_json_text_t text; /* {…},{…}; or events, the last without the empty line at its end */
    int events;
    unsigned count;
    vault_json_text_t refused; /* {…},{…} */
    unsigned refusals;
} vault_updates_t;

/** Begin, with none.
 * @param pool    frees the text, if it has not been taken by then
 * @param events  1: collect events, not JSON */
void vault_updates_begin(vault_updates_t *u, apr_pool_t *pool, int events);

/** Do `length` more bytes fit? Any length fits into an empty answer, so a method with a long output is not left out
 * for ever.
 * @return 1; 0 they do not: from now on the budget is spent, for any length */
int vault_answer_budget_allows(vault_answer_budget_t *budget, apr_size_t length);

/** Add what a method wrote: {method, type, body, format?}; or its body as the data of an event, of which `format` is the type.
 * @param output  all its text is UTF-8
 * @return 0 it does not fit: nothing was added, the budget is spent */
int vault_updates_add(vault_updates_t *u, const vault_output_t *output, vault_answer_budget_t *budget);

/** Why a method has no update. */
typedef struct vault_refused_t {
    const char *url;
    int status;        /* of HTTP */
    const char *error; /* one sentence */
} vault_refused_t;

/** Add that a method was refused: {method, status, error}.
 * @param budget  NULL: it may take any room
 * @return as vault_updates_add() */
int vault_updates_refuse(vault_updates_t *u, const vault_refused_t *refused, vault_answer_budget_t *budget);

/** Write the updates as an array, and take them. */
void vault_updates_write(vault_json_text_t *t, vault_updates_t *u);

/** The same with the refused methods. */
void vault_updates_write_refused(vault_json_text_t *t, vault_updates_t *u);

/** Write the events, of which the last has the id `seq`, and take them: there are none afterwards. Refused methods are an event of the type
 * `vault-refused`, in JSON. */
void vault_updates_write_events(vault_json_text_t *t, vault_updates_t *u, apr_uint64_t seq);

#endif
