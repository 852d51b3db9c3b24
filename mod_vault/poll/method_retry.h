/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method_retry.h
 * Rounds of a poll: the methods that have moved run one after the other, and those that failed, or run on and on, rest
 * for a while. Those that were refused rest as well, for longer, and the page's state remembers it
 * (vault_page_txn_refuse()).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_METHOD_RETRY_H
#define VAULT_METHOD_RETRY_H

#include "httpd.h"

#include "page/page_txn.h"
#include "poll/poll_conf.h"
#include "poll/updates.h"
#include "server/settings.h"

/** What a poll remembers of its rounds. Zeroed but for the first three. */
typedef struct vault_method_retry_t {
    request_rec *r; /* the poll */
    const vault_poll_conf_t *location;
    apr_time_t came;             /* when the poll came */
    apr_time_t retry_at;         /* 0: no method rests; else when they run again. Whoever is notified sets it to 0 */
    apr_interval_time_t delay;   /* how long they rest after a failure */
    apr_array_header_t *delayed; /* of const char *: their URLs; in r->pool, made at need */
    int in_sequence;             /* rounds since the poll last waited */
} vault_method_retry_t;

/** Does the method of this URL rest now? */
int vault_method_retry_is_delayed(const vault_method_retry_t *retry, const char *url);

/** One more round is to come.
 * @param moved  of const char *: the URLs of its methods
 * @return 1 it must not: these methods rest from now on */
int vault_method_retry_too_many(vault_method_retry_t *retry, const apr_array_header_t *moved);

/** One round. The first four are given. */
typedef struct vault_method_round_t {
    const vault_ticket_t *ticket; /* of the poll */
    const apr_array_header_t
        *moved;               /* of const char *: the URLs of its methods; what the round needs comes from its pool */
    vault_updates_t *updates; /* gets what they wrote */
    vault_answer_budget_t *budget; /* how much that may be */
    apr_time_t began;              /* by this clock refused methods rest: one request tries all of a round again */
    unsigned ran;                  /* how many ran */
    unsigned failed;               /* how many of these failed */
} vault_method_round_t;

/** Run the methods; those that fail rest from then on. A method whose output does not fit into the answer, and those after it, stay as they
 * are: they have moved, and run in the next round before the others. */
void vault_method_retry_run(vault_method_retry_t *retry, vault_page_txn_t *txn, vault_method_round_t *round);

#endif
