/* SPDX-License-Identifier: Apache-2.0 */
/* Idle connections are kept for the next call. If the store has closed one of them, as when it was restarted, it has
 * closed all of them. */
#include "store/store_link.h"

#include <pthread.h>
#include <string.h>

#include "httpd.h"

#include "base/pause.h"
#include "server/log.h"
#include "server/server.h"
#include "store/store_conf.h"

APLOG_USE_MODULE(vault);

#define WITHIN apr_time_from_sec(1)
#define PAUSE apr_time_from_sec(3)
#define IDLE_MAX 16

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static vault_store_link_t *idle[IDLE_MAX]; /* lock */
static unsigned count;                     /* lock */
static vault_pause_t outage;

static void report(apr_status_t rv)
{
    int level = vault_pause_begin(&outage, PAUSE) ? APLOG_WARNING : APLOG_DEBUG;

    ap_log_error(APLOG_MARK, level, rv, vault_server->s,
                 VLTNO(00455) "VaultPageStore %s does not answer: for %d s this server answers only polls of the pages "
                              "that it has itself",
                 vault_store_conf()->value, (int)apr_time_sec(PAUSE));
}

/* @return 0: no call is made now */
static int take_idle(vault_store_link_t **link)
{
    int may = vault_pause_is_over(&outage);

    pthread_mutex_lock(&lock);
    *link = may && count ? idle[--count] : NULL;
    pthread_mutex_unlock(&lock);
    return may;
}

static void keep_idle(vault_store_link_t *link)
{
    int kept;

    pthread_mutex_lock(&lock);
    if ((kept = count < IDLE_MAX)) {
        idle[count++] = link;
    }
    pthread_mutex_unlock(&lock);
    if (!kept) {
        vault_store_conf()->store->close(link);
    }
}

void vault_store_link_close_idle(void)
{
    vault_store_link_t *links[IDLE_MAX];
    unsigned n;

    pthread_mutex_lock(&lock);
    n = count;
    memcpy(links, idle, sizeof(links));
    count = 0;
    pthread_mutex_unlock(&lock);
    while (n) {
        vault_store_conf()->store->close(links[--n]);
    }
}

/* ----------------------------------------------------------------------- calls */

int vault_store_link_is_answer(apr_status_t rv)
{
    return rv == APR_SUCCESS || rv == APR_NOTFOUND || rv == APR_EEXIST || rv == APR_ECONNABORTED;
}

typedef apr_status_t call_t(vault_store_link_t *link, void *data);

static apr_status_t run(vault_store_link_t *link, call_t *call, void *data)
{
    apr_status_t rv = call(link, data);

    if (vault_store_link_is_answer(rv)) {
        keep_idle(link);
    }
    else {
        vault_store_conf()->store->close(link);
    }
    return rv;
}

apr_status_t vault_store_link_run(call_t *call, void *data)
{
    const vault_store_conf_t *conf = vault_store_conf();
    vault_store_link_t *link;
    apr_status_t rv = APR_EBUSY;

    if (!take_idle(&link)) {
        return rv;
    }
    if (link && (vault_store_link_is_answer(rv = run(link, call, data)))) {
        return rv;
    }
    vault_store_link_close_idle();
    if (rv != APR_TIMEUP && (rv = conf->store->open(&link, &conf->options, WITHIN)) == APR_SUCCESS) {
        rv = run(link, call, data);
    }
    if (!vault_store_link_is_answer(rv)) {
        report(rv);
    }
    return rv;
}
