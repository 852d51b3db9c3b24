/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the methods of a poll, and lets some rest. */
#include "poll/rounds.h"

#include "apr_strings.h"
#include "http_log.h"

#include "base/now.h"
#include "page/page_name.h"
#include "poll/method.h"
#include "poll/poll_conf.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/feed_key.h"

APLOG_USE_MODULE(vault);

/* A method that failed is tried again after this, then twice this, and so on. */
#define REST_FIRST apr_time_from_sec(1)
#define REST_MOST apr_time_from_sec(30)
/* A method that notifies what it waits for, or waits for something else each time, would run for ever: after so many rounds without
 * news it rests, for REST_FIRST or until somebody else notifies. */
#define ROUNDS_MOST 32

static int is_listed(const vault_rounds_t *rounds, const char *url)
{
    int i;

    for (i = 0; rounds->resting && i < rounds->resting->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(rounds->resting, i, const char *), url)) {
            return 1;
        }
    }
    return 0;
}

int vault_rounds_rests(const vault_rounds_t *rounds, const char *url)
{
    return rounds->rest_until > vault_now() && is_listed(rounds, url);
}

static void list_resting(vault_rounds_t *rounds, const char *url)
{
    if (!rounds->resting) {
        rounds->resting = apr_array_make(rounds->r->pool, 1, sizeof(const char *));
    }
    if (!is_listed(rounds, url)) {
        APR_ARRAY_PUSH(rounds->resting, const char *) = apr_pstrdup(rounds->r->pool, url);
    }
}

int vault_rounds_too_many(vault_rounds_t *rounds, const apr_array_header_t *moved)
{
    int i;

    if (++rounds->in_sequence <= ROUNDS_MOST) {
        return 0;
    }
    rounds->in_sequence = 0;
    rounds->rest_until = vault_now() + REST_FIRST;
    for (i = 0; i < moved->nelts; i++) {
        list_resting(rounds, APR_ARRAY_IDX(moved, i, const char *));
        ap_log_rerror(APLOG_MARK, APLOG_INFO, 0, rounds->r,
                      VLTNO(00065) "method %s runs again and again and has nothing to say: it rests for a second",
                      vault_page_shorten(APR_ARRAY_IDX(moved, i, const char *), rounds->r->pool));
    }
    return 1;
}

/* ------------------------------------------------------------------- running */

static apr_interval_time_t next_rest(const vault_rounds_t *rounds)
{
    return !rounds->rest ? REST_FIRST : rounds->rest * 2 < REST_MOST ? rounds->rest * 2 : REST_MOST;
}

/* A broken method fails for every page that has it: one line a second says so, the others are for who debugs. */
static void report_failure(const vault_rounds_t *rounds, const char *url, const char *why)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);

    vault_tally(failures, 1);
    ap_log_rerror(APLOG_MARK, level, 0, rounds->r, VLTNO(00030) "method %s failed: %s; it is tried again in %d s",
                  vault_page_shorten(url, rounds->r->pool), why, (int)apr_time_sec(next_rest(rounds)));
}

/* Level info: visitors who sign out are not an error of the site. */
static void report_refusal(const vault_rounds_t *rounds, const char *url, int status)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_INFO);

    ap_log_rerror(
        APLOG_MARK, level, 0, rounds->r,
        VLTNO(00333) "method %s is refused with status %d, as when the visitor has signed out: the page is told, "
                     "and it is tried again now and then",
        vault_page_shorten(url, rounds->r->pool), status);
}

/* What has become of a method. */
typedef enum end_t { COUNTS, FAILED, REFUSED, LEFT_OUT } end_t;

static end_t fail(vault_rounds_t *rounds, const vault_page_txn_t *txn, const char *url)
{
    list_resting(rounds, url);
    report_failure(rounds, url, vault_page_txn_failed(txn));
    return FAILED;
}

/* Report the refusal to the page once. The method's output is discarded. */
static end_t refuse(vault_rounds_t *rounds, vault_context_t *x, const vault_output_t *output, vault_round_t *round)
{
    vault_refused_t refused = {.url = output->url,
                               .status = output->status,
                               .error = apr_psprintf(x->pool, "its status is %d", output->status)};

    if (!vault_page_txn_is_refused(x->txn, (unsigned)output->status)) {
        if (!vault_updates_refuse(round->updates, &refused, round->budget)) {
            return LEFT_OUT;
        }
        report_refusal(rounds, output->url, output->status);
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
static int open_calls(const vault_rounds_t *rounds, vault_context_t *x, const char *url, const vault_round_t *round)
{
    const vault_feed_key_t *key = vault_feed_key_of(rounds->r);

    x->calls.run = 0;
    if (!key) {
        return 1;
    }
    x->calls.key = key->id;
    return vault_page_calls_open(vault_server->pages, &x->calls, round->ticket,
                                 place_of(vault_page_txn_base(x->txn), url)) == APR_SUCCESS;
}

/* Take over the results of the application's calls into the method. @return as open_calls() */
static int close_calls(vault_context_t *x, const vault_round_t *round)
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
        vault_page_txn_take(x->txn, made);
    }
    return rv == APR_SUCCESS || rv == APR_EGENERAL;
}

static end_t run_method(vault_rounds_t *rounds, vault_context_t *x, const char *url, vault_round_t *round)
{
    vault_output_t output;
    const char *failed;
    end_t end = COUNTS;

    x->results = NULL;
    vault_page_txn_begin(x->txn, url);
    if (!open_calls(rounds, x, url, round)) {
        return LEFT_OUT;
    }
    failed = vault_method_run(rounds->r, url, vault_poll_conf_max_output(rounds->location), &output, x->pool);
    if (failed) {
        vault_page_txn_fail(x->txn, failed);
    }
    if (!close_calls(x, round)) {
        vault_page_txn_end(x->txn, 0);
        end = LEFT_OUT;
    }
    else if (vault_method_is_refusal(output.status)) {
        end = refuse(rounds, x, &output, round);
    }
    else if (!vault_page_txn_failed(x->txn) && output.body &&
             !vault_updates_add(round->updates, &output, round->budget)) {
        vault_page_txn_end(x->txn, 0);
        end = LEFT_OUT;
    }
    else if (!vault_page_txn_end(x->txn, 1)) {
        end = fail(rounds, x->txn, url);
    }
    vault_tally(runs, 1); /* last, so that whoever counts runs finds their failures counted */
    return end;
}

/* Each method's memory goes when it has ended, so a round takes no more than its largest one and the answer. */
static void run_methods(vault_rounds_t *rounds, vault_context_t *x, vault_round_t *round)
{
    const apr_array_header_t *moved = round->moved;
    int i;

    for (i = 0; i < moved->nelts; i++) {
        const char *url = APR_ARRAY_IDX(moved, i, const char *);
        end_t end = vault_answer_budget_allows(round->budget, 1) ? run_method(rounds, x, url, round) : LEFT_OUT;
        apr_pool_clear(x->pool);
        if (end == LEFT_OUT) {
            vault_page_txn_begin_with(x->txn, url);
            break;
        }
        round->ran++;
        round->failed += end == FAILED;
    }
}

void vault_rounds_run(vault_rounds_t *rounds, vault_page_txn_t *txn, vault_round_t *round)
{
    apr_pool_t *pool = NULL;
    vault_context_t *x;

    apr_pool_create(&pool, round->moved->pool);
    x = vault_context_begin(rounds->r, txn, &round->ticket->page, round->moved->pool);
    x->pool = pool;
    round->began = vault_now();
    if (rounds->resting && rounds->rest_until <= vault_now()) {
        rounds->resting->nelts = 0;
    }
    run_methods(rounds, x, round);
    vault_context_end(rounds->r);
    apr_pool_destroy(pool);
    if (round->failed) {
        rounds->rest = next_rest(rounds);
        rounds->rest_until = vault_now() + rounds->rest;
    }
}
