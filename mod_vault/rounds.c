/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the methods of a poll, and lets some rest. */
#include "rounds.h"

#include "apr_strings.h"
#include "http_log.h"

#include "context.h"
#include "log.h"
#include "method.h"
#include "mod_vault.h"
#include "now.h"

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
                      APR_ARRAY_IDX(moved, i, const char *));
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
    apr_time_t now = vault_now(), last = __atomic_load_n(&said, __ATOMIC_RELAXED);
    int level = now - last < APR_USEC_PER_SEC ? APLOG_DEBUG : APLOG_ERR;

    if (level == APLOG_ERR) {
        __atomic_store_n(&said, now, __ATOMIC_RELAXED);
    }
    vault_tally(failures, 1);
    ap_log_rerror(APLOG_MARK, level, 0, rounds->r, VLTNO(00030) "method %s failed: %s; it is tried again in %d s", url,
                  why, (int)apr_time_sec(next_rest(rounds)));
}

/* @return does what it did count? */
static int run_method(vault_rounds_t *rounds, vault_context_t *x, const char *url, vault_output_t *output)
{
    const char *failed;
    int counts;

    x->results = NULL;
    vault_run_begin(x->run, url);
    failed = vault_method_run(rounds->r, url, vault_location_max_output(rounds->location), output, x->pool);
    if (failed && !vault_run_failed(x->run)) {
        vault_run_fail(x->run, failed);
    }
    counts = vault_run_end(x->run, 1);
    if (!counts) {
        list_resting(rounds, url);
        report_failure(rounds, url, vault_run_failed(x->run));
    }
    vault_tally(runs, 1); /* last, so that whoever counts runs finds their failures counted */
    return counts;
}

int vault_rounds_run(vault_rounds_t *rounds, vault_run_t *run, const vault_page_t *page,
                     const apr_array_header_t *moved, apr_array_header_t *outputs)
{
    vault_context_t *x = vault_context_begin(rounds->r, run, page, moved->pool);
    int i, failed = 0;

    if (rounds->resting && rounds->rest_until <= vault_now()) {
        rounds->resting->nelts = 0;
    }
    for (i = 0; i < moved->nelts; i++) {
        vault_output_t output;
        if (!run_method(rounds, x, APR_ARRAY_IDX(moved, i, const char *), &output)) {
            failed++;
        }
        else if (output.body) {
            APR_ARRAY_PUSH(outputs, vault_output_t) = output;
        }
    }
    vault_context_end(rounds->r);
    if (failed) {
        rounds->rest = next_rest(rounds);
        rounds->rest_until = vault_now() + rounds->rest;
    }
    return failed;
}
