/* SPDX-License-Identifier: Apache-2.0 */
/* In the parent: creates the segment, which is kept over graceful restarts, and recovers what a killed child had. In a
 * child: claims the slot, starts the waiters, sets the limits. */
#include "child.h"

#include <signal.h>
#include <unistd.h>

#include "ap_mpm.h"
#include "apr_allocator.h"
#include "apr_strings.h"
#include "http_core.h"
#include "mpm_common.h"
#include "scoreboard.h"

#include "announce/notify_limit.h"
#include "base/now.h"
#include "cluster/cluster.h"
#include "feed/feed_report.h"
#include "feed/feeds.h"
#include "feed/render.h"
#include "page/page.h"
#include "server/mpm_limits.h"
#include "server/log.h"
#include "server/outputs.h"
#include "server/server.h"
#include "server/settings.h"
#include "shm/heap.h"
#include "suspend/park.h"
#include "suspend/suspend.h"
#include "throttle/throttle.h"
#include "throttle/throttle_conf.h"

APLOG_USE_MODULE(vault);

/* Increase this number with every change of the layout of the segment. A server that is upgraded by a graceful restart
 * then creates a new segment. */
#define RETAINED "mod_vault segment 14"
#define HEAP_MIN (256 * 1024)
#define SCRATCH_KEPT (1024 * 1024)
/* A child that must end at once has this much time to do so by itself. */
#define ENDS_WITHIN apr_time_from_msec(500)

/* Plain data in the pool of the process: it outlives the code of the module, which is unloaded at each restart. */
typedef struct retained_t {
    vault_segment_t *segment;
    vault_heap_t *heap;
    vault_notifier_t *notifier;
    vault_pages_t *pages;
    vault_clients_t *clients;
    vault_qos_t *qos;
    vault_outputs_t *outputs;
    vault_exchange_t *exchange;
    vault_limits_t limits;
} retained_t;

/* ------------------------------------------------------------------- parent */

static apr_uint64_t tables_take(const vault_limits_t *limits)
{
    return vault_notifier_space(limits) + vault_qos_space(limits) + vault_pages_space(limits) +
           vault_clients_space(limits) + HEAP_MIN;
}

/* A larger segment has larger tables, so the size that the error message recommends is computed until it suffices. */
static apr_uint64_t tables_need(const vault_limits_t *limits)
{
    vault_limits_t enough = *limits;
    apr_uint64_t need;

    while ((need = tables_take(&enough)) > enough.size) {
        enough.size = ((need >> 10) + 1) << 10; /* as the message prints it, in K: the table of passes grows in steps */
    }
    return need;
}

static apr_status_t make_tables(retained_t *t, apr_pool_t *pool)
{
    apr_status_t rv;

    if ((rv = vault_segment_create(&t->segment, &t->limits, pool)) != APR_SUCCESS ||
        (rv = vault_notifier_create(&t->notifier, t->segment, pool)) != APR_SUCCESS ||
        (rv = vault_clients_create(&t->clients, t->segment, pool)) != APR_SUCCESS ||
        (rv = vault_qos_create(&t->qos, t->segment, t->notifier, pool)) != APR_SUCCESS ||
        (rv = vault_heap_create(&t->heap, t->segment,
                                vault_segment_left(t->segment) - vault_pages_space(&t->limits) - t->limits.others,
                                pool)) != APR_SUCCESS) {
        return rv;
    }
    return vault_pages_create(&t->pages, t->segment, &(vault_page_tables_t){t->heap, t->notifier, t->clients}, pool);
}

static int make_segment(retained_t *t, server_rec *s)
{
    apr_uint64_t need;
    apr_status_t rv;

    t->limits = vault_settings()->limits;
    t->limits.slots = vault_mpm_limits_slots();
    t->limits.others = vault_server_outputs_space() + vault_cluster_space();
    need = tables_need(&t->limits);
    if (need > t->limits.size) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                     VLTNO(00001) "VaultSharedMemory %" APR_UINT64_T_FMT
                                  "K is too small: VaultMaxInterests %u and VaultMaxPages "
                                  "%u with %u children need at least %" APR_UINT64_T_FMT "K",
                     t->limits.size >> 10, t->limits.interests, t->limits.pages, t->limits.slots, (need >> 10) + 1);
        return 0;
    }
    if ((rv = make_tables(t, s->process->pool)) != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, rv, s,
                     VLTNO(00002) "VaultSharedMemory %" APR_UINT64_T_FMT "K: the shared memory cannot be made",
                     t->limits.size >> 10);
        t->segment = NULL;
        return 0;
    }
    return 1;
}

/* A restart keeps the segment with all pages. So settings that determine its layout change only with a stop and
 * start. */
static void compare_limits(const retained_t *t, server_rec *s)
{
    if (vault_mpm_limits_have_changed(&t->limits)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     VLTNO(00003) "VaultSharedMemory, VaultMaxInterests, VaultMaxPages and a larger ServerLimit count "
                                  "from the next "
                                  "stop and start on; the shared memory of %" APR_UINT64_T_FMT
                                  "K with its pages is kept",
                     t->limits.size >> 10);
    }
}

static void set_page_limits(const retained_t *t)
{
    const vault_settings_t *s = vault_settings();
    vault_page_limits_t limits = {.sessions = (apr_uint32_t)s->max_sessions,
                                  .interests = (apr_uint32_t)s->max_page_interests};

    limits.of_client[VAULT_CLIENT_PAGES] = (apr_uint64_t)s->max_client_pages;
    limits.of_client[VAULT_CLIENT_BYTES] = (apr_uint64_t)s->max_client_memory;
    limits.of_client[VAULT_CLIENT_INTERESTS] = (apr_uint64_t)s->max_client_interests;
    vault_pages_default_limits(t->pages, &limits);
    vault_pages_set_limits(t->pages, &limits);
}

static void warn_of_prefork(server_rec *s, apr_pool_t *pool)
{
    const char *prefork = vault_mpm_limits_prefork(pool);

    if (prefork) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, VLTNO(00330) "%s", prefork);
    }
}

static int make_server(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    vault_server_t *server = vault_server_set();
    retained_t *t;

    if (ap_state_query(AP_SQ_MAIN_STATE) == AP_SQ_MS_CREATE_PRE_CONFIG) {
        return OK;
    }
    t = ap_retained_data_get(RETAINED);
    if (!t) {
        t = ap_retained_data_create(RETAINED, sizeof(*t));
    }
    if (t->segment) {
        compare_limits(t, s);
        vault_server_outputs_restart(t->outputs, s);
    }
    else if (!make_segment(t, s) || !vault_server_outputs_make(&t->outputs, t->segment, t->notifier, s) ||
             !vault_cluster_make(&t->exchange, t->segment, t->notifier, s)) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    if (!vault_cluster_configure(t->exchange, s)) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    server->segment = t->segment;
    server->heap = t->heap;
    server->notifier = t->notifier;
    server->pages = t->pages;
    server->clients = t->clients;
    set_page_limits(t);
    server->qos = t->qos;
    server->outputs = t->outputs;
    server->exchange = t->exchange;
    server->counters = vault_slot_counters(t->notifier, 0);
    server->s = s;
    warn_of_prefork(s, ptemp);
    return vault_throttle_conf_open(s, pconf) ? OK : HTTP_INTERNAL_SERVER_ERROR;
}

/* What a dead process had at the gates of VaultQos, in queues, and of the limits of its clients is void. This is
 * cleared while the slot still belongs to the dead process: its next owner may soon have resources of its own. It is
 * also done for a process that left in order, because prefork's children end without ending their requests. */
static void void_shares(pid_t pid)
{
    unsigned slot = vault_slot_of(vault_server->notifier, pid);

    if (slot) {
        vault_qos_slot_gone(vault_server->qos, slot);
        vault_clients_slot_gone(vault_server->clients, slot);
    }
}

/* httpd does not say how a child ended. A child that did not leave its mark may have died between a write and its
 * notify. (At MPM_CHILD_LOST_SLOT a child has only lost its slot in the scoreboard. It still runs, and its EXITED
 * follows.) */
static void child_status(server_rec *s, pid_t pid, ap_generation_t gen, int slot, mpm_child_status status)
{
    unsigned dead = 0;

    if (status != MPM_CHILD_EXITED || !vault_server->notifier) {
        return;
    }
    void_shares(pid);
    if (vault_slot_exited(vault_server->notifier, pid, &dead)) {
        ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, s,
                     VLTNO(00004) "child %" APR_PID_T_FMT
                                  " (slot %u) ended without cleaning up: every page checks for changes",
                     pid, dead);
        if (vault_server->exchange) {
            vault_exchange_notified_all(vault_server->exchange);
        }
    }
}

/* --------------------------------------------------------------------- child */

/* The prefork MPM calls child_stopping only when the current request of the child has ended, and that may be a poll
 * that waits. */
static void notice_stop(vault_waiters_t *waiters)
{
    int state;

    if (ap_mpm_query(AP_MPMQ_MPM_STATE, &state) == APR_SUCCESS && state == AP_MPMQ_STOPPING) {
        vault_waiters_stop(waiters);
    }
}

/* Does this child accept no connections? The event MPM says so while all of its threads are busy. */
static int is_closed(void)
{
    static process_score *own;
    int i, most = 0;

    if (!own || own->pid != getpid()) {
        own = NULL;
        ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &most);
        for (i = 0; i < most && !own; i++) {
            process_score *ps = ap_get_scoreboard_process(i);
            own = ps && ps->pid == getpid() ? ps : NULL;
        }
    }
    return own && own->not_accepting;
}

/* When all threads are busy, the listener of httpd 2.4.71's event MPM closes its listening sockets. It may do that
 * after the last thread has checked whether they must be opened again. Then nothing wakes the listener until something
 * happens on a connection. With thousands of polls that wait, and no new request that could notify them, this can take
 * minutes. Any event makes the listener check again. */
static void keep_open(vault_waiters_t *waiters)
{
    if (vault_server->can_park && is_closed()) {
        vault_waiters_nudge(waiters);
    }
}

/* Once a minute in each child: a server that is full, or a client at its limit, causes evictions again and again. */
static void say_evicted(apr_time_t now)
{
    static apr_uint64_t told;
    static apr_time_t said;
    apr_uint64_t evicted = __atomic_load_n(&vault_server->counters->pages_evicted, __ATOMIC_RELAXED);

    if (evicted == told || (said && now - said < apr_time_from_sec(60))) {
        return;
    }
    ap_log_error(APLOG_MARK, APLOG_NOTICE, 0, vault_server->s,
                 VLTNO(00280) "%" APR_UINT64_T_FMT
                              " pages were evicted to make room for others: VaultSharedMemory, VaultMaxPages or "
                              "VaultMaxInterests is full, or a client is at its limit",
                 evicted - told);
    told = evicted;
    said = now;
}

/* At most once for each child that is killed. */
static void say_lost(void)
{
    if (vault_pages_count_lost(vault_server->pages)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, vault_server->s,
                     VLTNO(00376) "%" APR_UINT64_T_FMT "K of the %" APR_UINT64_T_FMT
                                  "K that VaultSharedMemory has for the states of pages were lost with children that "
                                  "were killed: stop and start the server to get them back",
                     vault_pages_lost(vault_server->pages) >> 10, vault_heap_size(vault_server->heap) >> 10);
    }
}

/* This child must end at once, and the main thread of the event MPM waits for the listener. The listener of httpd
 * 2.4.71 may have more connections to hand out than there were threads. It waits for an idle thread for each of them,
 * even when all threads have ended. The main thread wakes it for one connection after the other, ten times, and sleeps
 * for half a second before each; then it continues without the listener. SIGTERM ends such a sleep and has no other
 * effect by then: httpd also sends it when it has waited for three seconds. */
static void hasten_end(void)
{
    static apr_time_t began;
    apr_time_t now = vault_now();

    began = began ? began : now;
    if (vault_server->can_park && now - began >= ENDS_WITHIN) {
        kill(getpid(), SIGTERM);
    }
}

/* The waker calls this once a second, and more often when this child must end at once. */
static void tick(void *baton)
{
    vault_waiters_t *waiters = vault_server->waiters;
    apr_time_t now = vault_now();
    unsigned n;

    if (!waiters) {
        return; /* this process is about to end */
    }
    vault_notify_limit_flush();
    notice_stop(waiters);
    if (vault_waiters_halted(waiters)) {
        hasten_end();
        return;
    }
    if (vault_waiters_stopping(waiters)) {
        vault_park_close_idle();
        vault_cluster_ask_stop();
        return;
    }
    keep_open(waiters);
    vault_cluster_tick();
    say_evicted(now);
    vault_server_outputs_sweep(now);
    if (!vault_pages_claim_sweep(vault_server->pages, now)) {
        return;
    }
    n = vault_pages_sweep(vault_server->pages, now, vault_page_idle());
    say_lost();
    vault_clients_sweep(vault_server->clients, now);

    if (n) {
        vault_tally(pages_dropped, n);
        ap_log_error(APLOG_MARK, APLOG_DEBUG, 0, vault_server->s, VLTNO(00006) "%u pages expired", n);
    }
}

/* In prefork's children a signal handler calls this; in those of the other MPMs it is called when their threads have
 * ended. */
static apr_status_t stop_waiting(void *data)
{
    vault_server_t *server = vault_server_set();
    int threaded = AP_MPMQ_NOT_SUPPORTED;

    if (!vault_server->waiters) {
        return APR_SUCCESS;
    }
    ap_mpm_query(AP_MPMQ_IS_THREADED, &threaded);
    server->ends = threaded == AP_MPMQ_NOT_SUPPORTED;
    vault_waiters_destroy(vault_server->waiters);
    if (!vault_server->ends) {
        vault_notify_limit_flush();
        vault_cluster_stop();
        vault_suspension_end_all();
    }
    server->waiters = NULL;
    return APR_SUCCESS;
}

static apr_status_t leave(void *data)
{
    /* Something was committed and will not be notified any more. Without the mark of a clean end, every page checks for
     * changes. */
    if (vault_server->slot && !vault_notify_limit_is_pending() && !vault_server_in_handlers()) {
        vault_slot_leave(vault_server->notifier, vault_server->slot);
    }
    return APR_SUCCESS;
}

static apr_status_t start_waiting(apr_pool_t *pchild)
{
    vault_server_t *server = vault_server_set();
    int threads = 1;
    unsigned runs = (unsigned)vault_settings()->runs, ring_limit;
    apr_status_t rv;

    void_shares(getpid()); /* of an earlier process with the same process id, whose end was not reported */
    rv = vault_slot_claim(vault_server->notifier, getpid(), &server->slot);

    if (rv != APR_SUCCESS) {
        server->slot = 0;
        return rv;
    }
    apr_pool_cleanup_register(pchild, NULL, leave, apr_pool_cleanup_null);
    server->counters = vault_slot_counters(vault_server->notifier, vault_server->slot);
    ap_mpm_query(AP_MPMQ_GENERATION, &server->generation);
    vault_pages_set_slot(vault_server->pages, vault_server->slot);
    vault_server_outputs_start();
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    ring_limit = threads > 2 ? (unsigned)threads / 2 : 1;
    if (!runs) {
        runs = ring_limit;
    }
    rv = vault_waiters_create(&server->waiters, vault_server->notifier, vault_server->slot, runs, ring_limit, tick,
                              pchild, pchild);
    if (rv != APR_SUCCESS) {
        server->waiters = NULL;
        return rv;
    }
    apr_pool_pre_cleanup_register(pchild, NULL, stop_waiting);
    return APR_SUCCESS;
}

/* The memory in which polls run methods. Any thread uses it; what one large output took is returned to the system. */
static apr_pool_t *make_scratch(apr_pool_t *pchild)
{
    apr_allocator_t *allocator;
    apr_thread_mutex_t *mutex;
    apr_pool_t *pool = NULL;

    if (apr_allocator_create(&allocator) == APR_SUCCESS &&
        apr_pool_create_ex(&pool, pchild, NULL, allocator) == APR_SUCCESS &&
        apr_thread_mutex_create(&mutex, APR_THREAD_MUTEX_DEFAULT, pool) == APR_SUCCESS) {
        apr_allocator_mutex_set(allocator, mutex);
        apr_allocator_owner_set(allocator, pool);
        apr_allocator_max_free_set(allocator, SCRATCH_KEPT);
    }
    return pool;
}

/* The first child reports combinations of settings that do not fit, once: by then the MPM has reported its sizes. */
static void set_limits(server_rec *s, int first)
{
    vault_server_t *server = vault_server_set();
    vault_mpm_limits_t mpm;

    vault_mpm_limits_of_child(&mpm);
    server->max_waiting = mpm.waiting;
    server->max_client_waiting = vault_mpm_limits_of_client(&mpm);
    if (first && vault_mpm_limits_are_small(&mpm)) {
        ap_log_error(
            APLOG_MARK, APLOG_WARNING, 0, s,
            VLTNO(00008) "only %u polls can wait in each child, by ThreadsPerChild and AsyncRequestWorkerFactor or "
                         "VaultMaxWaiting: the others are told to retry; see docs/operating.md",
            mpm.waiting);
    }
    if (first && vault_mpm_limits_are_exceeded(&mpm)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     VLTNO(00005) "VaultMaxWaiting %u is more than a child can hold: %u by ThreadsPerChild and "
                                  "AsyncRequestWorkerFactor, "
                                  "%u by its open files; past these the site stops accepting connections",
                     mpm.waiting, mpm.connections, mpm.descriptors);
    }
}

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    vault_server_t *server = vault_server_set();
    apr_status_t rv;

    server->scratch = make_scratch(pchild);
    rv = start_waiting(pchild);
    server->s = s;
    server->can_park = vault_park_available();
    set_limits(s, vault_server->slot == 1);
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_ERR, rv, s,
                     VLTNO(00007) "no poll can wait in this child: polls are answered at once");
    }
    vault_throttle_start(pchild);
    vault_render_start(pchild);
    vault_feeds_start(pchild, s);
    vault_feed_reports_start(pchild);
}

/* This may run in the main thread, in the listener, in a worker thread or in a signal handler. */
static void child_stopping(apr_pool_t *pchild, int graceful)
{
    if (vault_server->waiters) {
        if (!graceful) {
            vault_waiters_halt(vault_server->waiters); /* before the stop, which wakes all waiters */
        }
        vault_waiters_stop(vault_server->waiters);
    }
}

void vault_child_hooks(void)
{
    ap_hook_post_config(make_server, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_status(child_status, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_stopping(child_stopping, NULL, NULL, APR_HOOK_MIDDLE);
}
