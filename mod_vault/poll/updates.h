/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file updates.h
 * The output of methods in the format that the browser gets, and a limit for the size of one answer.
 *
 * An answer is collected as text, JSON or the events of an HTML stream, method by method, so that the memory of
 * each method can be freed when it has ended. Output that does not fit into the answer is not written: the
 * method's state stays as if it had not run, and the next answer begins with it.
 */
#ifndef VAULT_UPDATES_H
#define VAULT_UPDATES_H

#include "apr_pools.h"

#include "base/json_text.h"
#include "poll/method.h"

/** The size of one answer, over all its methods and pages. */
typedef struct vault_answer_budget_t {
    apr_size_t most; /* the limit: VaultMaxAnswer, bytes of text */
    apr_size_t used;
    int full; /* 1: the output of a method did not fit */
} vault_answer_budget_t;

/** The updates of one page, and its methods that were refused. */
typedef struct vault_updates_t {
    vault_json_text_t text; /* {…},{…}; or events, the last without its final empty line */
    int events;
    unsigned count;
    vault_json_text_t refused; /* {…},{…} */
    unsigned refusals;
} vault_updates_t;

/** Begin an empty list.
 * @param pool    its cleanup frees the text, unless it has been taken before
 * @param events  1: collect events; 0: JSON */
void vault_updates_begin(vault_updates_t *u, apr_pool_t *pool, int events);

/** Do `length` more bytes fit? Any length fits into an empty answer, so a method with a long output is not left out
 * for ever.
 * @return 1; 0 they do not: from now on the budget is spent, for any length */
int vault_answer_budget_allows(vault_answer_budget_t *budget, apr_size_t length);

/** Add the output of a method: {method, type, body, format?}; or an event with the body as its data and `format`
 * as its type.
 * @param output  all its text is UTF-8
 * @return 0: it does not fit; nothing was added, and the budget is spent */
int vault_updates_add(vault_updates_t *u, const vault_output_t *output, vault_answer_budget_t *budget);

/** A method that was refused. */
typedef struct vault_refused_t {
    const char *url;
    int status;        /* of HTTP */
    const char *error; /* one sentence */
} vault_refused_t;

/** Add that a method was refused: {method, status, error}.
 * @param budget  NULL: no limit
 * @return as vault_updates_add() */
int vault_updates_refuse(vault_updates_t *u, const vault_refused_t *refused, vault_answer_budget_t *budget);

/** Write the updates as an array, and empty the list. */
void vault_updates_write(vault_json_text_t *t, vault_updates_t *u);

/** Write the refused methods in the same way. */
void vault_updates_write_refused(vault_json_text_t *t, vault_updates_t *u);

/** Write the events and empty the list. The last event has the id `seq`. Refused methods are one event of type
 * `vault-refused`, in JSON. */
void vault_updates_write_events(vault_json_text_t *t, vault_updates_t *u, apr_uint64_t seq);

#endif
