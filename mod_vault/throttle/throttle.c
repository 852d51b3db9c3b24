/* SPDX-License-Identifier: Apache-2.0 */
/* Leads requests through the gates, as throttle.h describes. The functions follow the path of a request: enter
 * -> (queue -> admitted, displaced, timed out, or client gone) -> run the handlers -> leave.
 */
#include "throttle/throttle.h"

#include <pthread.h>
#include <stdlib.h>

#include "apr_lib.h"
#include "apr_optional_hooks.h"
#include "apr_strings.h"
#include "http_core.h"
#include "http_protocol.h"
#include "http_request.h"

#include "base/now.h"
#include "mod_vault/vault.h"
#include "request/client.h"
#include "request/own_handlers.h"
#include "server/log.h"
#include "server/rules.h"
#include "server/server.h"
#include "server/settings.h"
#include "suspend/suspend.h"
#include "throttle/throttle_conf.h"

APLOG_USE_MODULE(vault);

/* Before the other hooks that run handlers themselves, and after those of the suspend folder. */
#define BEFORE_OTHERS (APR_HOOK_REALLY_FIRST - 5)
/* Retry-After for refused clients, in seconds. */
#define RETRY_AFTER "5"
#define ADMISSIONS "mod_vault admissions"

/* A request at one gate. In the request's pool. */
typedef struct admission_t {
    request_rec *r;
    const vault_throttle_t *throttle;
    vault_qos_pass_t pass;
    apr_time_t deadline;
    int queues;                       /* it has not been admitted yet */
    int running;                      /* its other handlers are running */
    struct admission_t *older;        /* the same request at other gates */
    struct admission_t *same;         /* lock; with the same pass: displaced requests that have not run again yet */
    int listed;                       /* lock */
    struct admission_t *next, **link; /* lock */
} admission_t;

/* The queued requests of this child, where the waker finds them. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static admission_t *listed;   /* lock */
static admission_t **by_pass; /* lock; [vault_qos_passes() + 1]; NULL: requests cannot wait in this process */

/* ---------------------------------------------------------------------- list */

static void list(admission_t *a)
{
    pthread_mutex_lock(&lock);
    a->listed = 1;
    a->next = listed;
    a->link = &listed;
    if (listed) {
        listed->link = &a->next;
    }
    listed = a;
    a->same = by_pass[a->pass.index];
    by_pass[a->pass.index] = a;
    pthread_mutex_unlock(&lock);
}

static void unlist_pass(admission_t *a)
{
    admission_t **link = &by_pass[a->pass.index];

    while (*link && *link != a) {
        link = &(*link)->same;
    }
    if (*link) {
        *link = a->same;
    }
}

static void unlist(admission_t *a)
{
    pthread_mutex_lock(&lock);
    if (a->listed) {
        a->listed = 0;
        *a->link = a->next;
        if (a->next) {
            a->next->link = a->link;
        }
        unlist_pass(a);
    }
    pthread_mutex_unlock(&lock);
}

static int is_decided(const admission_t *a)
{
    return vault_qos_is_in(vault_server->qos, &a->pass) || vault_qos_is_displaced(vault_server->qos, &a->pass);
}

static void call(const admission_t *a)
{
    if (is_decided(a)) {
        vault_request_resume(a->r); /* under the lock, so that the request cannot end meanwhile: vault.h */
    }
}

/* This pass was admitted or displaced. */
static void look_at(apr_uint32_t pass)
{
    const admission_t *a;

    for (a = by_pass[pass]; a; a = a->same) {
        call(a);
    }
}

/* Called by the waker. A request that is not listed yet checks itself. */
static void woken(int all)
{
    const admission_t *a;

    pthread_mutex_lock(&lock);
    vault_qos_collect(vault_server->qos, vault_server->slot, look_at);
    for (a = all ? listed : NULL; a; a = a->next) {
        call(a);
    }
    pthread_mutex_unlock(&lock);
}

/* ---------------------------------------------------------------- admissions */

static void end_admission(admission_t *a, vault_qos_leave_t why)
{
    unlist(a);
    a->queues = 0;
    vault_qos_leave(vault_server->qos, &a->pass, why);
}

/* A child of the prefork MPM ends in a signal handler, possibly while it holds the lock of a gate. In that case
 * the parent frees its passes. */
static apr_status_t pool_goes(void *data)
{
    if (!vault_server->ends) {
        end_admission(data, VAULT_QOS_GONE);
    }
    return APR_SUCCESS;
}

/* The requests of one chain of internal redirects share a pool. */
static admission_t *admissions_of(const request_rec *r)
{
    void *all = NULL;

    apr_pool_userdata_get(&all, ADMISSIONS, r->pool);
    return all;
}

static admission_t *find_admission(const request_rec *r, const vault_throttle_t *throttle)
{
    admission_t *a = admissions_of(r);

    while (a && a->throttle != throttle) {
        a = a->older;
    }
    return a;
}

static admission_t *make_admission(request_rec *r, const vault_throttle_t *throttle)
{
    admission_t *a = apr_pcalloc(r->pool, sizeof(*a));

    a->r = r;
    a->throttle = throttle;
    a->older = admissions_of(r);
    apr_pool_userdata_setn(a, ADMISSIONS, NULL, r->pool);
    apr_pool_pre_cleanup_register(r->pool, a, pool_goes);
    return a;
}

/* After this hook, no code may use the request: vault.h. Its handlers do not run again, so it leaves the gate
 * now, not when its client has read what was written. */
static void completed(request_rec *r)
{
    admission_t *a;

    for (a = admissions_of(r); a; a = a->older) {
        unlist(a);
        if (a->r == r && !a->running) {
            end_admission(a, VAULT_QOS_GONE);
        }
    }
}

/* -------------------------------------------------------------------- refusing */

/* A warning at most once a second, since a client that overloads a backend causes many. */
static int refused_level(void)
{
    static apr_time_t said;

    return vault_log_seldom(&said, vault_now(), APLOG_WARNING);
}

static int refuse(request_rec *r)
{
    apr_table_setn(r->err_headers_out, "Retry-After", RETRY_AFTER);
    return HTTP_SERVICE_UNAVAILABLE;
}

static int refuse_entry(request_rec *r, const vault_throttle_t *throttle, const vault_qos_entrant_t *who,
                        apr_status_t rv)
{
    int level = refused_level();

    if (rv == APR_EBUSY) {
        ap_log_rerror(APLOG_MARK, level, 0, r,
                      VLTNO(00301) "%s: its client has reached its share of %s (VaultQosLimit %d %d, "
                                   "VaultQosQueuePerClient %u): it is refused; if that client is a proxy of many, "
                                   "mod_remoteip tells them apart",
                      r->uri, throttle->name, throttle->limit, throttle->each, who->share);
    }
    else if (rv == APR_ENOSPC) {
        ap_log_rerror(APLOG_MARK, level, 0, r,
                      VLTNO(00255) "%s has VaultQosLimit %d requests, and VaultQosQueue %u wait for it: %s is refused",
                      throttle->name, throttle->limit, who->queue, r->uri);
    }
    else if (rv == APR_ENOMEM) {
        ap_log_rerror(
            APLOG_MARK, level, 0, r,
            VLTNO(00256) "the shared memory has room for %u requests that run or wait at all VaultQosLimit: %s "
                         "is refused; a larger VaultSharedMemory has room for more",
            vault_qos_passes(vault_server->qos), r->uri);
    }
    else {
        ap_log_rerror(APLOG_MARK, level, rv, r,
                      VLTNO(00257) "this child has no slot in the shared memory: %s is refused", r->uri);
    }
    return refuse(r);
}

static int refuse_late(admission_t *a, request_rec *r)
{
    int level = refused_level();

    end_admission(a, VAULT_QOS_LATE);
    ap_log_rerror(APLOG_MARK, level, 0, r,
                  VLTNO(00258) "%s was not let in to %s within VaultQosTimeout %d: it is refused", r->uri,
                  a->throttle->name, vault_throttle_conf_timeout(vault_throttle_conf_of(r)));
    return refuse(r);
}

static int refuse_displaced(admission_t *a, request_rec *r)
{
    int level = refused_level();

    end_admission(a, VAULT_QOS_REFUSED);
    ap_log_rerror(
        APLOG_MARK, level, 0, r,
        VLTNO(00300) "%s waited for %s, and a request of a higher VaultQosPriority, or of a client with fewer "
                     "requests there, took its place in the full queue: it is refused",
        r->uri, a->throttle->name);
    return refuse(r);
}

static int refuse_to_wait(admission_t *a, request_rec *r, apr_status_t rv)
{
    int level = refused_level();

    end_admission(a, VAULT_QOS_REFUSED);
    ap_log_rerror(APLOG_MARK, level, rv, r,
                  VLTNO(00259) "%s cannot wait for %s: this child holds as many as may wait (VaultMaxWaiting), or, "
                               "where they wait in threads, VaultLongPollThreads %d",
                  r->uri, a->throttle->name, vault_settings()->threads);
    return refuse(r);
}

/* -------------------------------------------------------------------- through */

/* The request has been admitted: runs the other handlers. */
static int run(admission_t *a, request_rec *r)
{
    int status;

    a->queues = 0;
    a->running = 1;
    status = ap_run_handler(r);
    a->running = 0;
    if (status != SUSPENDED) {
        end_admission(a, VAULT_QOS_DONE);
    }
    return status;
}

/* Lists the request first, and then checks its pass: a request that is admitted or displaced before it is
 * suspended finds out here. */
static int queue(admission_t *a, request_rec *r)
{
    apr_interval_time_t left = a->deadline - vault_now();
    apr_status_t rv;

    if (left <= 0) {
        return refuse_late(a, r);
    }
    if (!by_pass) {
        return refuse_to_wait(a, r, APR_SUCCESS);
    }
    list(a);
    rv = vault_suspension_outlast(r, left);
    if (rv != APR_SUCCESS) {
        return refuse_to_wait(a, r, rv);
    }
    if (is_decided(a)) {
        vault_request_resume(r);
    }
    return SUSPENDED;
}

/* The request has waited, and its handlers run again for any reason. */
static int look_again(admission_t *a, request_rec *r)
{
    unlist(a);
    if (vault_qos_is_displaced(vault_server->qos, &a->pass)) {
        return refuse_displaced(a, r);
    }
    if (!vault_qos_is_in(vault_server->qos, &a->pass)) {
        return queue(a, r);
    }
    vault_suspension_settle(r);
    return run(a, r);
}

/* The rank that an expression gives; -1: it is not a number from 0 to VAULT_QOS_RANK_MAX. */
static int rank_by(request_rec *r, const vault_rule_t *rule)
{
    const char *error, *text = vault_rule_value(r, rule, &error);

    if (error) {
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, VLTNO(00260) "VaultQosPriority: %s", error);
        return -1;
    }
    return text && apr_isdigit(text[0]) && !text[1] ? text[0] - '0' : -1;
}

_Static_assert(VAULT_QOS_RANK_MAX == 9, "a rank is one digit");

static unsigned rank_of(request_rec *r, const apr_array_header_t *rules)
{
    int i, rank = -1;

    for (i = 0; rules && i < rules->nelts && rank < 0; i++) {
        rank = rank_by(r, &APR_ARRAY_IDX(rules, i, vault_rule_t));
    }
    return rank < 0 ? 0 : (unsigned)rank;
}

static int enter(request_rec *r, const vault_throttle_conf_t *l)
{
    vault_qos_entrant_t who = {.slot = vault_server->slot,
                               .rank = rank_of(r, l->ranks),
                               .queue = (apr_uint32_t)vault_throttle_conf_queue(l),
                               .share = (apr_uint32_t)vault_throttle_conf_share(l),
                               .client = vault_client_of(r)};
    vault_qos_pass_t pass = {0, 0, 0};
    apr_status_t rv = vault_qos_enter(vault_server->qos, &l->throttle->gate, &who, &pass);
    admission_t *a;

    if (rv == APR_NOTFOUND) {
        return DECLINED; /* the configuration has changed since */
    }
    if (rv != APR_SUCCESS && rv != APR_EAGAIN) {
        return refuse_entry(r, l->throttle, &who, rv);
    }
    a = make_admission(r, l->throttle);
    a->pass = pass;
    if (rv == APR_SUCCESS) {
        return run(a, r);
    }
    a->queues = 1;
    a->deadline = vault_now() + apr_time_from_sec(vault_throttle_conf_timeout(l));
    return queue(a, r);
}

/* Polls wait for updates and do no work, and the administrator's requests must not wait. If the directive is in
 * a section for this very URL, it applies on purpose. */
static int is_exempt(const request_rec *r, const vault_throttle_t *throttle)
{
    const vault_own_handler_t *own = vault_own_handler(r);

    return own && own->skips_queue && !(throttle->path && !strcmp(throttle->path, r->uri));
}

static int answers_an_error(const request_rec *r)
{
    for (r = r->prev; r; r = r->prev) {
        if (ap_is_HTTP_ERROR(r->status)) {
            return 1;
        }
    }
    return 0;
}

static int before_others(request_rec *r)
{
    const vault_throttle_conf_t *l = vault_throttle_conf_of(r);
    admission_t *a;

    if (!l || !l->throttle || !l->throttle->gate.birth || r->main) {
        return DECLINED;
    }
    a = find_admission(r, l->throttle);
    if (!a) {
        return is_exempt(r, l->throttle) || answers_an_error(r) ? DECLINED : enter(r, l);
    }
    if (a->running || !a->pass.index) {
        return DECLINED; /* another handler's turn, or the request has been through */
    }
    return a->queues ? look_again(a, r) : run(a, r);
}

void vault_throttle_start(apr_pool_t *pchild)
{
    by_pass = NULL;
    listed = NULL;
    if (vault_server->waiters) {
        by_pass = apr_pcalloc(pchild, ((apr_size_t)vault_qos_passes(vault_server->qos) + 1) * sizeof(admission_t *));
        vault_waiters_on_wake(vault_server->waiters, woken);
    }
}

void vault_throttle_hooks(void)
{
    ap_hook_handler(before_others, NULL, NULL, BEFORE_OTHERS);
    APR_OPTIONAL_HOOK(vault, request_completed, completed, NULL, NULL, APR_HOOK_MIDDLE);
}
