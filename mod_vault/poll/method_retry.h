/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file method_retry.h
 * Runs the methods of a poll in rounds: one round runs all methods that have moved, one after the other. A
 * method that failed, or that runs without end, is delayed before it is tried again. A refused method is
 * delayed for longer, and the page's state records that (vault_page_txn_refuse()).
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_METHOD_RETRY_H
#define VAULT_METHOD_RETRY_H

#include "httpd.h"

#include "page/page_txn.h"
#include "poll/busy.h"
#include "poll/poll_conf.h"
#include "poll/updates.h"
#include "server/settings.h"

/** The rounds of one poll. Zeroed, except for the first three fields. */
typedef struct vault_method_retry_t {
    request_rec *r; /* the poll */
    const vault_poll_conf_t *location;
    apr_time_t came;     /* when the poll arrived */
    apr_time_t retry_at; /* 0: no method is delayed; otherwise when delayed methods run again. A notify sets it to 0 */
    apr_interval_time_t delay;   /* the length of the last delay after a failure */
    apr_array_header_t *delayed; /* the URLs of delayed methods, of const char *; in r->pool, NULL until the first */
    int in_sequence;             /* rounds since the poll last waited */
} vault_method_retry_t;

/** Is the method of this URL delayed now? */
int vault_method_retry_is_delayed(const vault_method_retry_t *retry, const char *url);

/** Count one more round.
 * @param moved  of const char *: the URLs of its methods
 * @return 1: there were too many without a wait; these methods are delayed, and must not run now */
int vault_method_retry_too_many(vault_method_retry_t *retry, const apr_array_header_t *moved);

/** One round. The caller sets the first five fields. */
typedef struct vault_method_round_t {
    const vault_ticket_t *ticket;    /* of the poll */
    const apr_array_header_t *moved; /* of const char *: the URLs of its methods; its pool is used for the round */
    vault_updates_t *updates;        /* receives the output of the methods */
    vault_answer_budget_t *budget;   /* limits that output */
    vault_busy_t *busy;              /* receives the methods that another request is running */
    apr_time_t began; /* refusals count from here, so that the methods refused in a round are tried again together */
    unsigned ran;     /* how many methods ran */
    unsigned failed;  /* how many of these failed */
} vault_method_round_t;

/** Run the methods, and delay those that fail. If the output of a method does not fit into the answer, this
 * method and those after it keep their state and run first in the next round. */
void vault_method_retry_run(vault_method_retry_t *retry, vault_page_txn_t *txn, vault_method_round_t *round);

#endif
