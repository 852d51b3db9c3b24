/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rounds.h
 * Rounds of a poll: the methods that have moved run one after the other, and those that failed, or run on and on, rest
 * for a while. Those that were refused rest as well, for longer, and the page's state remembers it
 * (vault_page_txn_refuse()).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_ROUNDS_H
#define VAULT_ROUNDS_H

#include "httpd.h"

#include "page/page_txn.h"
#include "poll/poll_conf.h"
#include "poll/updates.h"
#include "server/settings.h"

/** What a poll remembers of its rounds. Zeroed but for the first three. */
typedef struct vault_rounds_t {
    request_rec *r; /* the poll */
    const vault_poll_conf_t *location;
    apr_time_t came;             /* when the poll came */
    apr_time_t rest_until;       /* 0: no method rests; else when they run again. Whoever is notified sets it to 0 */
    apr_interval_time_t rest;    /* how long they rest after a failure */
    apr_array_header_t *resting; /* of const char *: their URLs; in r->pool, made at need */
    int in_sequence;             /* rounds since the poll last waited */
} vault_rounds_t;

/** Does the method of this URL rest now? */
int vault_rounds_rests(const vault_rounds_t *rounds, const char *url);

/** One more round is to come.
 * @param moved  of const char *: the URLs of its methods
 * @return 1 it must not: these methods rest from now on */
int vault_rounds_too_many(vault_rounds_t *rounds, const apr_array_header_t *moved);

/** One round. The first four are given. */
typedef struct vault_round_t {
    const vault_ticket_t *ticket; /* of the poll */
    const apr_array_header_t
        *moved;               /* of const char *: the URLs of its methods; what the round needs comes from its pool */
    vault_updates_t *updates; /* gets what they wrote */
    vault_answer_budget_t *budget; /* how much that may be */
    apr_time_t began;              /* by this clock refused methods rest: one request tries all of a round again */
    unsigned ran;                  /* how many ran */
    unsigned failed;               /* how many of these failed */
} vault_round_t;

/** Run the methods; those that fail rest from then on. A method whose output does not fit into the answer, and those after it, stay as they
 * are: they have moved, and run in the next round before the others. */
void vault_rounds_run(vault_rounds_t *rounds, vault_page_txn_t *txn, vault_round_t *round);

#endif
