/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies above the rate are gathered by name, in a pool that is destroyed when they have been sent. */
#include "announce/notify_limit.h"

#include <pthread.h>

#include "apr_hash.h"
#include "apr_strings.h"
#include "http_log.h"

#include "announce/announce_conf.h"
#include "base/now.h"
#include "mod_vault/vault.h"
#include "request/client.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

/* The most names that can be gathered in one child. */
#define NAMES_MAX 1024

static struct gathered_t {
    pthread_mutex_t lock;
    apr_pool_t *pool;  /* lock; NULL: no notify is pending */
    apr_hash_t *names; /* lock; of const char *, each its own key */
    int telling;       /* atomic; a thread is sending what was gathered */
} gathered = {.lock = PTHREAD_MUTEX_INITIALIZER};

static apr_status_t gather_locked(const char *interest)
{
    if (!gathered.pool) {
        apr_pool_create(&gathered.pool, vault_server->scratch);
        gathered.names = apr_hash_make(gathered.pool);
    }
    if (apr_hash_get(gathered.names, interest, APR_HASH_KEY_STRING)) {
        return APR_EAGAIN;
    }
    if (apr_hash_count(gathered.names) >= NAMES_MAX) {
        return APR_ENOSPC;
    }
    interest = apr_pstrdup(gathered.pool, interest);
    apr_hash_set(gathered.names, interest, APR_HASH_KEY_STRING, interest);
    return APR_EAGAIN;
}

/* In a process without waiters no thread would send gathered notifies, so none are gathered there. */
static int is_admitted(request_rec *r)
{
    return !vault_announce_conf_rate() || !vault_server->waiters ||
           vault_clients_admit(vault_server->clients, vault_client_of(r), (unsigned)vault_announce_conf_rate(),
                               vault_now());
}

/* Logged once a minute in each child, since a client that exceeds the rate does it often. */
static void say_gathered(request_rec *r)
{
    static apr_time_t said; /* atomic */
    apr_time_t now = vault_now(), last = __atomic_load_n(&said, __ATOMIC_RELAXED);

    if ((!last || now - last > apr_time_from_sec(60)) &&
        __atomic_compare_exchange_n(&said, &last, now, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        ap_log_rerror(APLOG_MARK, APLOG_NOTICE, 0, r,
                      VLTNO(00231) "a client notifies more often than VaultNotifyRate %d a second: the other notifies "
                                   "are gathered and sent within a second",
                      vault_announce_conf_rate());
    }
}

apr_status_t vault_notify_limit_send(request_rec *r, const char *interest)
{
    apr_size_t length = strlen(interest);
    apr_status_t rv;

    if (!length || length > VAULT_INTEREST_MAX || is_admitted(r)) {
        return vault_server_notify(interest);
    }
    pthread_mutex_lock(&gathered.lock);
    rv = gather_locked(interest);
    pthread_mutex_unlock(&gathered.lock);
    if (rv == APR_EAGAIN) {
        vault_tally(delayed, 1);
    }
    say_gathered(r);
    return rv;
}

void vault_notify_limit_flush(void)
{
    apr_pool_t *pool;
    apr_hash_t *names;
    apr_hash_index_t *i;

    pthread_mutex_lock(&gathered.lock);
    pool = gathered.pool;
    names = gathered.names;
    if (pool) {
        __atomic_store_n(&gathered.telling, 1, __ATOMIC_SEQ_CST);
        __atomic_store_n(&gathered.pool, NULL, __ATOMIC_SEQ_CST);
    }
    pthread_mutex_unlock(&gathered.lock);
    if (!pool) {
        return;
    }
    for (i = apr_hash_first(pool, names); i; i = apr_hash_next(i)) {
        vault_server_notify(apr_hash_this_val(i));
    }
    __atomic_store_n(&gathered.telling, 0, __ATOMIC_SEQ_CST);
    apr_pool_destroy(pool);
}

int vault_notify_limit_is_pending(void)
{
    return __atomic_load_n(&gathered.pool, __ATOMIC_SEQ_CST) || __atomic_load_n(&gathered.telling, __ATOMIC_SEQ_CST);
}
