/* SPDX-License-Identifier: Apache-2.0 */
/* Asks feeds for their reports, each in a thread of its own. */
#include "feed/feed_report.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

#include "ap_mpm.h"
#include "apr_strings.h"

#include "base/now.h"

/* The reports of one feed in this child. */
typedef struct reporter_t {
    const vault_loaded_feed_t *feed; /* const after start */
    pthread_t thread;                /* lock: the last thread, joined before the next is started */
    int has_thread;                  /* lock */
    apr_time_t asked;                /* lock: when the running report was begun; 0: none is running */
    unsigned ended;                  /* lock: how many reports have ended */
    json_t *said;                    /* lock: the last report; NULL: the feed could not report */
} reporter_t;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t report_ended; /* waits by the clock of vault_now() */
static apr_array_header_t
    *reporters; /* lock: of reporter_t; NULL: this child has not started its feeds yet, or is stopping them */

/* ------------------------------------------------------------------ asking */

static void *ask(void *data)
{
    reporter_t *r = data;
    json_t *said = r->feed->vtable->report(r->feed->self);

    pthread_mutex_lock(&lock);
    json_decref(r->said);
    r->said = said;
    r->asked = 0;
    r->ended++;
    pthread_cond_broadcast(&report_ended);
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Called under the lock. The thread inherits the signal mask, so that signals go to httpd's own threads. */
static int start_locked(reporter_t *r)
{
    sigset_t all, before;
    int failed;

    if (r->has_thread) {
        pthread_join(r->thread, NULL); /* it has released the lock already, so only a few instructions are left */
    }
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    failed = pthread_create(&r->thread, NULL, ask, r);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    r->has_thread = !failed;
    r->asked = failed ? 0 : vault_now();
    return failed;
}

/* A request for the status that waits for a report. */
typedef struct asked_t {
    reporter_t *r;
    unsigned before;  /* how many reports had ended when it asked */
    apr_time_t until; /* its deadline; 0: the feed could not be asked */
    int failed;       /* an error of the system: no thread could be created */
} asked_t;

static int may_ask(const reporter_t *r)
{
    return !r->feed->broken && vault_feed_figures_of(r->feed->vtable)->name;
}

/* Called under the lock. A report that is running already serves this request, too. */
static void ask_locked(asked_t *asked, reporter_t *r)
{
    *asked = (asked_t){.r = r, .before = r->ended};
    if (may_ask(r)) {
        asked->failed = r->asked ? 0 : start_locked(r);
        asked->until = r->asked ? r->asked + apr_time_from_msec(VAULT_FEED_REPORT_WAIT) : 0;
    }
}

/* Called under the lock, which it releases while it waits. @return 0: the deadline has passed */
static int await_locked(const asked_t *asked)
{
    struct timespec until = {.tv_sec = apr_time_sec(asked->until), .tv_nsec = apr_time_usec(asked->until) * 1000};
    int failed = 0;

    while (asked->r->ended == asked->before && !failed) {
        failed = pthread_cond_timedwait(&report_ended, &lock, &until);
    }
    return asked->r->ended != asked->before;
}

/* ------------------------------------------------------------------ reports */

/* Called under the lock, which it releases while it waits. @return NULL, or a sentence why there are no values */
static const char *error_locked(const asked_t *asked, apr_pool_t *pool)
{
    const reporter_t *r = asked->r;
    char reason[120];

    if (r->feed->broken) {
        return apr_pstrcat(pool, "it does not work in the child that answers: ", vault_feed_text(r->feed->broken, pool),
                           NULL);
    }
    if (asked->failed) {
        return apr_pstrcat(pool, "it cannot be asked, since there is no thread: ",
                           apr_strerror(asked->failed, reason, sizeof(reason)), NULL);
    }
    if (asked->until && !await_locked(asked)) {
        return apr_psprintf(pool, "it does not report: it was asked %d s ago",
                            (int)apr_time_sec(vault_now() - r->asked));
    }
    return NULL;
}

static void add_locked(apr_array_header_t *reports, const asked_t *asked, apr_pool_t *pool)
{
    const vault_loaded_feed_t *feed = asked->r->feed;
    const vault_feed_figure_t *figures = vault_feed_figures_of(feed->vtable);
    vault_feed_report_t *report = apr_array_push(reports);

    *report = (vault_feed_report_t){
        .name = vault_feed_text(feed->name, pool),
        .kind = vault_feed_text(feed->vtable->name ? feed->vtable->name : "", pool),
        .error = error_locked(asked, pool),
        .figures = figures,
    };
    report->values = vault_feed_values(&report->error, figures, asked->r->said, pool);
}

apr_array_header_t *vault_feed_reports(apr_pool_t *pool)
{
    apr_array_header_t *reports = apr_array_make(pool, 4, sizeof(vault_feed_report_t));
    asked_t *asked;
    int count, i;

    pthread_mutex_lock(&lock);
    count = reporters ? reporters->nelts : 0;
    asked = apr_palloc(pool, (apr_size_t)(count + 1) * sizeof(*asked));
    for (i = 0; i < count; i++) {
        ask_locked(&asked[i], &APR_ARRAY_IDX(reporters, i, reporter_t));
    }
    for (i = 0; i < count; i++) {
        add_locked(reports, &asked[i], pool);
    }
    pthread_mutex_unlock(&lock);
    return reports;
}

/* ------------------------------------------------------------------ the child */

/* With prefork this runs in a signal handler, possibly in the middle of a request for the status, so such a
 * child does not wait for its reports. */
static apr_status_t stop(void *data)
{
    int threaded = AP_MPMQ_NOT_SUPPORTED, i;
    apr_array_header_t *stopped = data;

    ap_mpm_query(AP_MPMQ_IS_THREADED, &threaded);
    if (threaded == AP_MPMQ_NOT_SUPPORTED) {
        return APR_SUCCESS;
    }
    pthread_mutex_lock(&lock);
    reporters = NULL;
    pthread_mutex_unlock(&lock);
    for (i = 0; i < stopped->nelts; i++) {
        reporter_t *r = &APR_ARRAY_IDX(stopped, i, reporter_t);

        if (r->has_thread) {
            pthread_join(r->thread, NULL);
        }
        json_decref(r->said);
    }
    return APR_SUCCESS;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const reporter_t *)a)->feed->name, ((const reporter_t *)b)->feed->name);
}

void vault_feed_reports_start(apr_pool_t *pchild)
{
    apr_array_header_t *feeds = vault_feeds_all(pchild);
    apr_array_header_t *all = apr_array_make(pchild, feeds->nelts, sizeof(reporter_t));
    pthread_condattr_t monotonic;
    int i;

    for (i = 0; i < feeds->nelts; i++) {
        APR_ARRAY_PUSH(all, reporter_t) = (reporter_t){.feed = APR_ARRAY_IDX(feeds, i, const vault_loaded_feed_t *)};
    }
    qsort(all->elts, (size_t)all->nelts, sizeof(reporter_t), by_name);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&report_ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    reporters = all;
    apr_pool_pre_cleanup_register(pchild, all, stop);
}
