/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the methods of a poll, and delays those that failed or that run without end. */
#include "poll/method_retry.h"

#include "apr_strings.h"
#include "http_log.h"

#include "base/now.h"
#include "page/page_name.h"
#include "poll/method.h"
#include "poll/method_reuse.h"
#include "poll/poll_conf.h"
#include "poll/poll_request.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/feed_key.h"
#include "view/recorded.h"

APLOG_USE_MODULE(vault);

/* The first delay after a failure; each further failure doubles it, up to the maximum. */
#define DELAY_FIRST apr_time_from_sec(1)
#define DELAY_MAX apr_time_from_sec(30)
/* A method that notifies its own interest, or waits for another interest each time, would run without end.
 * After so many rounds without updates it is delayed for DELAY_FIRST, or until another request notifies. */
#define ROUNDS_MAX 32
/* How long a poll waits for another request that runs the method: less than the poll itself lasts, since the next one
 * would begin to wait again. */
#define WAITS_MOST apr_time_from_sec(10)

static int is_listed(const vault_method_retry_t *retry, const char *url)
{
    int i;

    for (i = 0; retry->delayed && i < retry->delayed->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(retry->delayed, i, const char *), url)) {
            return 1;
        }
    }
    return 0;
}

int vault_method_retry_is_delayed(const vault_method_retry_t *retry, const char *url)
{
    return retry->retry_at > vault_now() && is_listed(retry, url);
}

static void list_delayed(vault_method_retry_t *retry, const char *url)
{
    if (!retry->delayed) {
        retry->delayed = apr_array_make(retry->r->pool, 1, sizeof(const char *));
    }
    if (!is_listed(retry, url)) {
        APR_ARRAY_PUSH(retry->delayed, const char *) = apr_pstrdup(retry->r->pool, url);
    }
}

int vault_method_retry_too_many(vault_method_retry_t *retry, const apr_array_header_t *moved)
{
    int i;

    if (++retry->in_sequence <= ROUNDS_MAX) {
        return 0;
    }
    retry->in_sequence = 0;
    retry->retry_at = vault_now() + DELAY_FIRST;
    for (i = 0; i < moved->nelts; i++) {
        list_delayed(retry, APR_ARRAY_IDX(moved, i, const char *));
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, retry->r,
                      VLTNO(00065) "method %s runs repeatedly without output: it is delayed for a second",
                      vault_page_shorten(APR_ARRAY_IDX(moved, i, const char *), retry->r->pool));
    }
    return 1;
}

/* ------------------------------------------------------------------- running */

static apr_interval_time_t next_delay(const vault_method_retry_t *retry)
{
    return !retry->delay ? DELAY_FIRST : retry->delay * 2 < DELAY_MAX ? retry->delay * 2 : DELAY_MAX;
}

/* A broken method fails for every page that has it, so the error is logged once a second, and otherwise at
 * debug. */
static void report_failure(const vault_method_retry_t *retry, const char *url, const char *why)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);

    vault_tally(failures, 1);
    ap_log_rerror(APLOG_MARK, level, 0, retry->r, VLTNO(00030) "method %s failed: %s; it is tried again in %d s",
                  vault_page_shorten(url, retry->r->pool), why, (int)apr_time_sec(next_delay(retry)));
}

/* At level info, because a visitor who signs out is not an error of the site. */
static void report_refusal(const vault_method_retry_t *retry, const char *url, int status)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_INFO);

    ap_log_rerror(APLOG_MARK, level, 0, retry->r,
                  VLTNO(00333) "method %s is refused with status %d, for instance because the visitor has signed out: "
                               "the page is notified, and the method is tried again later",
                  vault_page_shorten(url, retry->r->pool), status);
}

/* The result of running a method. */
typedef enum end_t { COUNTS, FAILED, REFUSED, LEFT_OUT, BUSY } end_t;

static end_t fail(vault_method_retry_t *retry, const vault_page_txn_t *txn, const char *url)
{
    list_delayed(retry, url);
    report_failure(retry, url, vault_page_txn_failed(txn));
    return FAILED;
}

/* Reports the refusal to the page once, and discards the method's output. */
static end_t refuse(vault_method_retry_t *retry, vault_context_t *x, const vault_output_t *output,
                    vault_method_round_t *round)
{
    vault_refused_t refused = {.url = output->url,
                               .status = output->status,
                               .error = apr_psprintf(x->pool, "its status is %d", output->status)};

    if (!vault_page_txn_is_refused(x->txn, (unsigned)output->status)) {
        if (!vault_updates_refuse(round->updates, &refused, round->budget)) {
            return LEFT_OUT;
        }
        report_refusal(retry, output->url, output->status);
    }
    vault_page_txn_refuse(x->txn, (unsigned)output->status, round->began);
    vault_tally(method_refusals, 1);
    return REFUSED;
}

/* ------------------------------------------------------ external calls (page_calls.h) */

static int place_of(const vault_state_t *s, const char *url)
{
    const vault_method_t *m = vault_state_method(s, url);

    return (int)(m - (const vault_method_t *)s->methods->elts);
}

/* @return 0: the round has become void, so stop it */
static int open_calls(const vault_method_retry_t *retry, vault_context_t *x, const char *url,
                      const vault_method_round_t *round)
{
    const vault_feed_key_t *key = vault_feed_key_of(retry->r);

    x->calls.run = 0;
    if (!key) {
        return 1;
    }
    x->calls.key = key->id;
    return vault_page_calls_open(vault_server->pages, &x->calls, round->ticket,
                                 place_of(vault_page_txn_base(x->txn), url)) == APR_SUCCESS;
}

/* Takes over the results of the application's external calls into the method. @return as open_calls() */
static int close_calls(vault_context_t *x, const vault_method_round_t *round)
{
    vault_state_t *made;
    apr_status_t rv;

    if (!x->calls.run) {
        return 1;
    }
    rv = vault_page_calls_close(vault_server->pages, &x->calls, &made, round->moved->pool);
    if (rv == APR_EGENERAL) {
        vault_page_txn_fail(x->txn, "a call of a feed by the application failed");
    }
    else if (rv == APR_SUCCESS && made) {
        vault_recording_personal(x->recording, VAULT_PERSONAL_PAGE, "its application calls a feed for the page");
        vault_page_txn_take(x->txn, made);
    }
    return rv == APR_SUCCESS || rv == APR_EGENERAL;
}

static end_t wait_for_other(const vault_method_retry_t *retry, vault_context_t *x, const vault_output_t *output,
                            const vault_method_round_t *round)
{
    apr_interval_time_t half = vault_poll_request_hold(retry->r) / 2;

    vault_page_txn_end(x->txn, 0);
    vault_busy_note(round->busy, output->url, &output->busy, vault_now() + (half < WAITS_MOST ? half : WAITS_MOST),
                    retry->r->pool);
    return BUSY;
}

static void count_run(const vault_output_t *output)
{
    if (output->reused) {
        vault_tally(shared, 1);
    }
    else {
        vault_tally(runs, 1); /* counted last, so that the count of failures is never behind that of runs */
    }
}

static end_t run_method(vault_method_retry_t *retry, vault_context_t *x, const char *url, vault_method_round_t *round)
{
    vault_output_t output;
    const char *failed;
    end_t end = COUNTS;
    int valid;

    x->results = NULL;
    x->waits_for_none = vault_busy_has_waited(round->busy, url);
    vault_page_txn_begin(x->txn, url);
    if (!open_calls(retry, x, url, round)) {
        return LEFT_OUT;
    }
    failed = vault_method_run(retry->r, url, vault_poll_conf_max_output(retry->location), &output, x->pool);
    if (failed) {
        vault_page_txn_fail(x->txn, failed);
    }
    valid = close_calls(x, round);
    vault_method_reuse_end(retry->r, x, &output, valid && !failed);
    if (output.busy.ref.index) {
        return wait_for_other(retry, x, &output, round);
    }
    vault_page_txn_share(x->txn, output.reused, output.personal);
    if (!valid) {
        vault_page_txn_end(x->txn, 0);
        end = LEFT_OUT;
    }
    else if (vault_method_is_refusal(output.status)) {
        end = refuse(retry, x, &output, round);
    }
    else if (!vault_page_txn_failed(x->txn) && output.body &&
             !vault_updates_add(round->updates, &output, round->budget)) {
        vault_page_txn_end(x->txn, 0);
        end = LEFT_OUT;
    }
    else if (!vault_page_txn_end(x->txn, 1)) {
        end = fail(retry, x->txn, url);
    }
    count_run(&output);
    return end;
}

/* The memory of each method is freed when it has ended, so a round needs no more memory than its largest method
 * and the answer. */
static void run_methods(vault_method_retry_t *retry, vault_context_t *x, vault_method_round_t *round)
{
    const apr_array_header_t *moved = round->moved;
    int i;

    for (i = 0; i < moved->nelts; i++) {
        const char *url = APR_ARRAY_IDX(moved, i, const char *);
        end_t end = vault_answer_budget_allows(round->budget, 1) ? run_method(retry, x, url, round) : LEFT_OUT;
        apr_pool_clear(x->pool);
        if (end == LEFT_OUT) {
            vault_page_txn_begin_with(x->txn, url);
            break;
        }
        round->ran += end != BUSY;
        round->failed += end == FAILED;
    }
}

void vault_method_retry_run(vault_method_retry_t *retry, vault_page_txn_t *txn, vault_method_round_t *round)
{
    apr_pool_t *pool = NULL;
    vault_context_t *x;

    apr_pool_create(&pool, round->moved->pool);
    x = vault_context_begin(retry->r, txn, &round->ticket->page, round->moved->pool);
    x->pool = pool;
    round->began = vault_now();
    if (retry->delayed && retry->retry_at <= vault_now()) {
        retry->delayed->nelts = 0;
    }
    run_methods(retry, x, round);
    vault_context_end(retry->r);
    apr_pool_destroy(pool);
    if (round->failed) {
        retry->delay = next_delay(retry);
        retry->retry_at = vault_now() + retry->delay;
    }
}
