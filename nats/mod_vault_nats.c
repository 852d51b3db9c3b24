/* SPDX-License-Identifier: Apache-2.0 */
/* NATS as the notification engine of mod_vault: `LoadModule vault_nats_module modules/mod_vault_nats.so`, and then
 * `VaultCluster nats://host:4222`.
 *
 * This module does not let libnats reconnect by itself: what was sent before a connection was lost may have been lost
 * with it, and the callbacks do not say exactly when a new connection began. mod_vault closes the link and opens another
 * one.
 */
#include <nats/nats.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "httpd.h"
#include "ap_provider.h"
#include "apr_strings.h"
#include "http_config.h"

#include "mod_vault/engine.h"

#define CONNECT_WITHIN_MS 2000
/* A connection is given up if the engine has not answered two of these. */
#define PING_EVERY_MS 1000
#define PINGS_OUT 2
/* A notify takes about 100 bytes. If more messages than this wait for the thread of the callbacks, libnats drops them, and
 * the link reports it by `dropped`. */
#define PENDING_MSGS 1000000

/* libnats keeps a subscription, and its connection with it, until it is destroyed. */
typedef struct sub_t sub_t;
struct sub_t {
    natsSubscription *subscription;
    sub_t *next, **at; /* in the list of its link */
};

struct vault_engine_link_t {
    natsConnection *connection;
    sub_t *subs; /* the thread of the link only */
    const vault_engine_events_t *events;
    void *baton;
    pthread_rwlock_t lock; /* an event reads, the end writes: so no event comes after the end */
    int has_ended;         /* lock */
    unsigned is_lost;      /* atomic; `lost` was called */
};

/* libnats does not say when the last callback of a connection has returned. So a link is freed when ENDED_MOST others
 * have ended after it: that takes seconds, and a callback takes microseconds. */
#define ENDED_MOST 64
static struct ended_t {
    pthread_mutex_t lock;
    vault_engine_link_t *links[ENDED_MOST]; /* lock; a ring */
    unsigned next;                          /* lock */
} ended = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---------------------------------------------------------------------- events */

/* @return 0: the link has ended, or ends. Otherwise leave() must follow */
static int enter(vault_engine_link_t *link)
{
    pthread_rwlock_rdlock(&link->lock);
    if (link->has_ended) {
        pthread_rwlock_unlock(&link->lock);
        return 0;
    }
    return 1;
}

static void leave(vault_engine_link_t *link)
{
    pthread_rwlock_unlock(&link->lock);
}

static void lose(vault_engine_link_t *link, const char *why)
{
    if (enter(link)) {
        if (!__atomic_exchange_n(&link->is_lost, 1, __ATOMIC_SEQ_CST)) {
            link->events->lost(link->baton, why);
        }
        leave(link);
    }
}

static void on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure)
{
    vault_engine_link_t *link = closure;

    if (enter(link)) {
        link->events->message(link->baton, natsMsg_GetSubject(message), natsMsg_GetData(message),
                              (apr_size_t)natsMsg_GetDataLength(message));
        leave(link);
    }
    natsMsg_Destroy(message);
}

static void on_end(natsConnection *connection, void *closure)
{
    const char *why = NULL;
    natsStatus status = natsConnection_GetLastError(connection, &why);

    lose(closure, why && *why ? why : status != NATS_OK ? natsStatus_GetText(status) : "the engine has closed it");
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *closure)
{
    vault_engine_link_t *link = closure;

    if (status != NATS_SLOW_CONSUMER) {
        lose(link, natsStatus_GetText(status));
    }
    else if (enter(link)) {
        link->events->dropped(link->baton);
        leave(link);
    }
}

#define ROUTED "it belongs to a routed NATS cluster, in which a notify may overtake a subscription"

/* A server of a routed cluster names the others. */
static void on_discovered(natsConnection *connection, void *closure)
{
    lose(closure, ROUTED);
}

/* ------------------------------------------------------------------------ open */

static natsStatus set_credentials(natsOptions *o, const vault_engine_options_t *options)
{
    natsStatus s = NATS_OK;

    if (options->credentials) {
        s = natsOptions_SetUserCredentialsFromFiles(o, options->credentials, NULL);
    }
    if (s == NATS_OK && options->nkey) {
        s = natsOptions_SetNKeyFromSeed(o, options->nkey, options->nkey_seed);
    }
    if (s == NATS_OK && (options->ca || options->certificate)) {
        s = natsOptions_SetSecure(o, true);
    }
    if (s == NATS_OK && options->ca) {
        s = natsOptions_LoadCATrustedCertificates(o, options->ca);
    }
    if (s == NATS_OK && options->certificate) {
        s = natsOptions_LoadCertificatesChain(o, options->certificate, options->key);
    }
    return s;
}

static natsStatus set_options(natsOptions *o, const vault_engine_options_t *options, vault_engine_link_t *link)
{
    natsStatus s = natsOptions_SetURL(o, options->url);

#define SET(call) s = s == NATS_OK ? (call) : s
    SET(natsOptions_SetName(o, options->name));
    SET(natsOptions_SetTimeout(o, CONNECT_WITHIN_MS));
    SET(natsOptions_SetAllowReconnect(o, false));
    SET(natsOptions_SetNoEcho(o, true));
    SET(natsOptions_SetPingInterval(o, PING_EVERY_MS));
    SET(natsOptions_SetMaxPingsOut(o, PINGS_OUT));
    SET(natsOptions_SetMaxPendingMsgs(o, PENDING_MSGS));
    SET(natsOptions_UseGlobalMessageDelivery(o, true)); /* otherwise each subscription has a thread */
    SET(natsOptions_SetErrorHandler(o, on_error, link));
    SET(natsOptions_SetDisconnectedCB(o, on_end, link));
    SET(natsOptions_SetClosedCB(o, on_end, link));
    SET(natsOptions_SetDiscoveredServersCB(o, on_discovered, link));
    SET(set_credentials(o, options));
#undef SET
    return s;
}

static int is_routed(natsConnection *connection)
{
    char **servers = NULL;
    int count = 0, i;

    if (natsConnection_GetDiscoveredServers(connection, &servers, &count) != NATS_OK) {
        return 0;
    }
    for (i = 0; i < count; i++) {
        free(servers[i]);
    }
    free(servers);
    return count > 0;
}

static void free_later(vault_engine_link_t *link)
{
    vault_engine_link_t *oldest;

    pthread_mutex_lock(&ended.lock);
    oldest = ended.links[ended.next];
    ended.links[ended.next] = link;
    ended.next = (ended.next + 1) % ENDED_MOST;
    pthread_mutex_unlock(&ended.lock);
    free(oldest);
}

static void drop_sub(sub_t *sub)
{
    natsSubscription_Destroy(sub->subscription);
    *sub->at = sub->next;
    if (sub->next) {
        sub->next->at = sub->at;
    }
    free(sub);
}

static void end(vault_engine_link_t *link)
{
    pthread_rwlock_wrlock(&link->lock);
    link->has_ended = 1;
    pthread_rwlock_unlock(&link->lock);
    natsConnection_Close(link->connection); /* otherwise each subscription is taken back at the engine */
    while (link->subs) {
        drop_sub(link->subs);
    }
    natsConnection_Destroy(link->connection);
    free_later(link);
}

static natsStatus connect_to(vault_engine_link_t *link, const vault_engine_options_t *options)
{
    natsOptions *o = NULL;
    natsStatus s = natsOptions_Create(&o);

    if (s == NATS_OK) {
        s = set_options(o, options, link);
    }
    if (s == NATS_OK) {
        s = natsConnection_Connect(&link->connection, o);
    }
    natsOptions_Destroy(o);
    return s;
}

static apr_status_t nats_open(vault_engine_link_t **made, const vault_engine_options_t *options,
                              const vault_engine_events_t *events, void *baton, const char **why, apr_pool_t *pool)
{
    vault_engine_link_t *link = calloc(1, sizeof(*link));
    natsStatus s;

    if (!link) {
        return APR_ENOMEM;
    }
    link->events = events;
    link->baton = baton;
    pthread_rwlock_init(&link->lock, NULL);
    s = connect_to(link, options);
    if (s != NATS_OK) {
        const char *detail = nats_GetLastError(NULL);
        *why = apr_psprintf(pool, "%s%s%s", natsStatus_GetText(s), detail && *detail ? ": " : "", detail ? detail : "");
        end(link);
        return APR_EGENERAL;
    }
    if (is_routed(link->connection)) {
        *why = ROUTED;
        end(link);
        return APR_ENOTIMPL;
    }
    *made = link;
    return APR_SUCCESS;
}

/* ------------------------------------------------------------------------ link */

static apr_status_t nats_subscribe(vault_engine_link_t *link, const char *subject, void **subscription)
{
    sub_t *sub = calloc(1, sizeof(*sub));

    if (!sub) {
        return APR_ENOMEM;
    }
    if (natsConnection_Subscribe(&sub->subscription, link->connection, subject, on_message, link) != NATS_OK) {
        free(sub);
        return APR_EGENERAL;
    }
    sub->next = link->subs;
    sub->at = &link->subs;
    if (sub->next) {
        sub->next->at = &sub->next;
    }
    link->subs = sub;
    *subscription = sub;
    return APR_SUCCESS;
}

static void nats_unsubscribe(vault_engine_link_t *link, void *subscription)
{
    sub_t *sub = subscription;

    natsSubscription_Unsubscribe(sub->subscription);
    drop_sub(sub);
}

static apr_status_t nats_publish(vault_engine_link_t *link, const char *subject, const void *data, apr_size_t size)
{
    return natsConnection_Publish(link->connection, subject, data, (int)size) == NATS_OK ? APR_SUCCESS : APR_EGENERAL;
}

static apr_status_t nats_flush(vault_engine_link_t *link, apr_interval_time_t most)
{
    switch (natsConnection_FlushTimeout(link->connection, apr_time_as_msec(most))) {
    case NATS_OK:
        return APR_SUCCESS;
    case NATS_TIMEOUT:
        return APR_TIMEUP;
    default:
        return APR_EGENERAL;
    }
}

static void nats_close(vault_engine_link_t *link)
{
    end(link);
}

static const vault_engine_t engine = {
    .size = sizeof(vault_engine_t),
    .open = nats_open,
    .subscribe = nats_subscribe,
    .unsubscribe = nats_unsubscribe,
    .publish = nats_publish,
    .flush = nats_flush,
    .close = nats_close,
};

static void register_hooks(apr_pool_t *p)
{
    ap_register_provider(p, VAULT_ENGINE_GROUP, "nats", VAULT_ENGINE_VERSION, &engine);
    ap_register_provider(p, VAULT_ENGINE_GROUP, "tls", VAULT_ENGINE_VERSION, &engine); /* as libnats reads URLs */
}

AP_DECLARE_MODULE(vault_nats) = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks, 0};
