/* SPDX-License-Identifier: Apache-2.0 */
/* Queries the MPM and the process, reads the directives that the MPM does not expose, and reports settings that
 * do not fit together. */
#include "server/mpm_limits.h"

#include <sys/resource.h>

#include "ap_mpm.h"
#include "apr_strings.h"
#include "http_config.h"

#include "base/now.h"
#include "page/page.h"
#include "qos/qos.h"
#include "server/server.h"
#include "server/settings.h"
#include "server/thread_quota.h"
#include "shm/heap.h"

#define SPARE_DESCRIPTORS 256
#define FEW 256
/* Enough for a browser with several tabs, and a second browser. */
#define CLIENT_LEAST 16
/* A table counts as nearly full above this part of it. */
#define NEARLY_FULL 0.9
#define REMEMBERED apr_time_from_sec(3600)

/* The value of a directive that the MPM does not expose; 0: it is not configured. */
static double mpm_number(const char *directive)
{
    const ap_directive_t *d;
    double number = 0;

    for (d = ap_conftree; d; d = d->next) {
        if (!ap_cstr_casecmp(d->directive, directive)) {
            number = atof(d->args);
        }
    }
    return number;
}

/* A child accepts ThreadsPerChild + idle threads * AsyncRequestWorkerFactor connections. When all children have
 * that many, the site stops accepting. So polls may take nine tenths of the second term, and the threads
 * themselves stay for other requests. */
static unsigned connections_allow(int threads)
{
    double factor = mpm_number("AsyncRequestWorkerFactor"), most = threads * (factor > 0 ? factor : 2) * 0.9;

    return most < 1 ? 1 : most > 1e6 ? 1000000 : (unsigned)most;
}

/* A waiting poll has two descriptors: its connection and the eventfd that wakes it. */
static unsigned descriptors_allow(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur == RLIM_INFINITY) {
        return 1000000;
    }
    return limit.rlim_cur > SPARE_DESCRIPTORS + 2 ? (unsigned)((limit.rlim_cur - SPARE_DESCRIPTORS) / 2) : 1;
}

void vault_mpm_limits_of_child(vault_mpm_limits_t *mpm)
{
    int threads = 1;

    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    mpm->connections = vault_server->can_park ? connections_allow(threads) : (unsigned)(threads > 0 ? threads : 1);
    mpm->descriptors = descriptors_allow();
    mpm->waiting = mpm->connections < mpm->descriptors ? mpm->connections : mpm->descriptors;
    if (vault_settings()->max_waiting) {
        mpm->waiting = (unsigned)vault_settings()->max_waiting;
    }
}

unsigned vault_mpm_limits_of_client(const vault_mpm_limits_t *mpm)
{
    apr_uint64_t quarter;
    int servers = 1;

    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &servers);
    quarter = (apr_uint64_t)mpm->waiting * (unsigned)(servers > 0 ? servers : 1) / 4;
    return vault_settings()->max_client_waiting ? (unsigned)vault_settings()->max_client_waiting
           : quarter < CLIENT_LEAST             ? CLIENT_LEAST
           : quarter > 1000000                  ? 1000000
                                                : (unsigned)quarter;
}

int vault_mpm_limits_are_small(const vault_mpm_limits_t *mpm)
{
    return vault_server->can_park && mpm->waiting < FEW;
}

int vault_mpm_limits_are_exceeded(const vault_mpm_limits_t *mpm)
{
    return mpm->waiting > mpm->connections || mpm->waiting > mpm->descriptors;
}

const char *vault_mpm_limits_prefork(apr_pool_t *pool)
{
    int servers = 0;

    if (!vault_thread_quota_is_shared()) {
        return NULL;
    }
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &servers);
    return apr_psprintf(pool,
                        "with the prefork MPM each poll that waits holds one of %d processes: VaultLongPollThreads %d "
                        "may wait in all, the others are told to retry; the event MPM needs none, see "
                        "docs/operating.md",
                        servers, vault_settings()->threads);
}

unsigned vault_mpm_limits_slots(void)
{
    int servers = 0;

    ap_mpm_query(AP_MPMQ_HARD_LIMIT_DAEMONS, &servers);
    return servers > 0 ? 2u * (unsigned)servers : 2;
}

int vault_mpm_limits_have_changed(const vault_limits_t *made_for)
{
    const vault_limits_t *l = &vault_settings()->limits;

    return l->size != made_for->size || l->interests != made_for->interests || l->pages != made_for->pages ||
           vault_mpm_limits_slots() > made_for->slots;
}

/* ----------------------------------------------------------------- sentences */

static void warn(apr_array_header_t *warnings, const char *sentence)
{
    APR_ARRAY_PUSH(warnings, const char *) = sentence;
}

static void look_at_waiting(apr_array_header_t *warnings)
{
    const char *prefork = vault_mpm_limits_prefork(warnings->pool);
    vault_mpm_limits_t mpm;

    vault_mpm_limits_of_child(&mpm);
    if (!vault_server->waiters) {
        warn(warnings, "no poll can wait in the child that answers: its error log says why (VLT00007)");
    }
    if (prefork) {
        warn(warnings, apr_pstrcat(warnings->pool, prefork, " (VLT00330)", NULL));
    }
    if (vault_mpm_limits_are_small(&mpm)) {
        warn(warnings, apr_psprintf(warnings->pool,
                                    "only %u polls can wait in each child, by ThreadsPerChild and "
                                    "AsyncRequestWorkerFactor or VaultMaxWaiting (VLT00008)",
                                    mpm.waiting));
    }
    if (vault_mpm_limits_are_exceeded(&mpm)) {
        warn(warnings, apr_psprintf(warnings->pool,
                                    "VaultMaxWaiting %u is more than a child can hold: %u by ThreadsPerChild and "
                                    "AsyncRequestWorkerFactor, %u by its open files (VLT00005)",
                                    mpm.waiting, mpm.connections, mpm.descriptors));
    }
}

/* httpd retires children whose threads are idle, although they hold polls. */
static void look_at_mpm(apr_array_header_t *warnings)
{
    int spare = 0, threads = 0, servers = 0;

    ap_mpm_query(AP_MPMQ_MAX_SPARE_THREADS, &spare);
    ap_mpm_query(AP_MPMQ_MAX_THREADS, &threads);
    ap_mpm_query(AP_MPMQ_MAX_DAEMONS, &servers);
    if (vault_server->can_park && spare > 0 && spare < threads * servers) {
        warn(warnings, apr_psprintf(warnings->pool,
                                    "MaxSpareThreads %d is less than MaxRequestWorkers %d: httpd retires children that "
                                    "look idle while they hold polls",
                                    spare, threads * servers));
    }
}

static void look_at_room(apr_array_header_t *warnings, const char *what, apr_uint64_t used, apr_uint64_t most)
{
    if ((double)used > NEARLY_FULL * (double)most) {
        warn(warnings, apr_psprintf(warnings->pool, "%s is nearly full: %" APR_UINT64_T_FMT " of %" APR_UINT64_T_FMT,
                                    what, used, most));
    }
}

/* A shortage of passes lasts only a moment, so it is reported for an hour. */
static void look_at_passes(apr_array_header_t *warnings)
{
    vault_qos_usage_t usage;
    apr_time_t ago;

    vault_qos_usage(vault_server->qos, &usage);
    look_at_room(warnings, "the table of requests at all VaultQosLimit (VaultSharedMemory)", usage.used, usage.passes);
    ago = vault_now() - usage.short_at;
    if (usage.short_at && ago < REMEMBERED) {
        warn(warnings, apr_psprintf(warnings->pool,
                                    "a VaultQosLimit had no room in the shared memory for a request %d s ago, the "
                                    "last of %" APR_UINT64_T_FMT
                                    " since the start: a larger VaultSharedMemory or a shorter VaultQosQueue is needed "
                                    "(VLT00256)",
                                    (int)apr_time_sec(ago), usage.shortages));
    }
}

apr_array_header_t *vault_mpm_limits_warnings(request_rec *r)
{
    apr_array_header_t *warnings = apr_array_make(r->pool, 4, sizeof(const char *));
    const vault_limits_t *limits = vault_segment_limits(vault_server->segment);

    look_at_waiting(warnings);
    look_at_mpm(warnings);
    if (vault_mpm_limits_have_changed(limits)) {
        warn(warnings, "VaultSharedMemory, VaultMaxInterests, VaultMaxPages or ServerLimit were changed, which counts "
                       "from the next stop and start on (VLT00003)");
    }
    look_at_room(warnings, "the table of pages (VaultMaxPages)",
                 vault_pages_count(vault_server->pages) + vault_sessions_count(vault_server->pages), limits->pages);
    look_at_room(warnings, "the table of interests (VaultMaxInterests)", vault_interest_count(vault_server->notifier),
                 limits->interests);
    look_at_room(warnings, "the shared memory for states (VaultSharedMemory, bytes)",
                 vault_heap_used(vault_server->heap), vault_heap_size(vault_server->heap));
    look_at_passes(warnings);
    return warnings;
}
