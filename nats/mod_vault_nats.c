/* SPDX-License-Identifier: Apache-2.0 */
/* NATS as the notification engine of mod_vault: `LoadModule vault_nats_module modules/mod_vault_nats.so`, and then
 * `VaultCluster nats://host:4222`.
 *
 * This module does not let libnats reconnect by itself: what was sent before a connection was lost may have been lost
 * with it, and the callbacks do not say exactly when a new connection began. mod_vault closes the link and opens
 * another one.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <nats/nats.h>
#include <netinet/in.h>
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
/* Without this, a write to an engine that reads nothing blocks until TCP gives up, and so do the pings, as a write
 * holds the lock of its connection. */
#define WRITE_WITHIN_MS 2000
/* A notify takes about 100 bytes. If more messages than this wait for the thread of the callbacks, libnats drops
 * them, and the link reports it by `dropped`. */
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
    unsigned number;  /* of its entry */
    unsigned is_lost; /* atomic; `lost` was called */
};

/* libnats does not say when the last callback of a connection has returned. So callbacks do not get the address of a
 * link, but a key that is valid until the link ends. A late callback then finds no link. */
#define LINKS_MOST 64
static struct entry_t {
    pthread_rwlock_t lock;     /* an event reads, the end writes: so no event comes after the end */
    vault_engine_link_t *link; /* lock; NULL: the entry is free */
    apr_uintptr_t uses;        /* lock; how many links it has had */
} entries[LINKS_MOST];

/* ------------------------------------------------------------------------ keys */

/* @return 0: all entries are in use */
static int add_entry(vault_engine_link_t *link)
{
    unsigned i;
    int is_free = 0;

    for (i = 0; i < LINKS_MOST && !is_free; i++) {
        struct entry_t *e = &entries[i];
        if (pthread_rwlock_trywrlock(&e->lock)) {
            continue; /* a callback uses it */
        }
        if (!e->link) {
            e->link = link;
            link->number = i;
            is_free = 1;
        }
        pthread_rwlock_unlock(&e->lock);
    }
    return is_free;
}

static void remove_entry(const vault_engine_link_t *link)
{
    struct entry_t *e = &entries[link->number];

    pthread_rwlock_wrlock(&e->lock);
    e->link = NULL;
    e->uses++;
    pthread_rwlock_unlock(&e->lock);
}

/* For the thread of the link. */
static void *key_of(const vault_engine_link_t *link)
{
    return (void *)(entries[link->number].uses * LINKS_MOST + link->number);
}

/* @return NULL: the link has ended. Otherwise leave() must follow */
static vault_engine_link_t *enter(void *key)
{
    struct entry_t *e = &entries[(apr_uintptr_t)key % LINKS_MOST];

    pthread_rwlock_rdlock(&e->lock);
    if (!e->link || e->uses != (apr_uintptr_t)key / LINKS_MOST) {
        pthread_rwlock_unlock(&e->lock);
        return NULL;
    }
    return e->link;
}

static void leave(const vault_engine_link_t *link)
{
    pthread_rwlock_unlock(&entries[link->number].lock);
}

/* ---------------------------------------------------------------------- events */

static void lose(void *key, const char *why)
{
    vault_engine_link_t *link = enter(key);

    if (link) {
        if (!__atomic_exchange_n(&link->is_lost, 1, __ATOMIC_SEQ_CST)) {
            link->events->lost(link->baton, why);
        }
        leave(link);
    }
}

static void on_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *key)
{
    vault_engine_link_t *link = enter(key);

    if (link) {
        link->events->message(link->baton, natsMsg_GetSubject(message), natsMsg_GetData(message),
                              (apr_size_t)natsMsg_GetDataLength(message));
        leave(link);
    }
    natsMsg_Destroy(message);
}

static void on_end(natsConnection *connection, void *key)
{
    const char *why = NULL;
    natsStatus status = natsConnection_GetLastError(connection, &why);

    lose(key, why && *why ? why : status != NATS_OK ? natsStatus_GetText(status) : "the engine has closed it");
}

static void on_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *key)
{
    vault_engine_link_t *link;

    if (status != NATS_SLOW_CONSUMER) {
        lose(key, natsStatus_GetText(status));
    }
    else if ((link = enter(key)) != NULL) {
        link->events->dropped(link->baton);
        leave(link);
    }
}

#define ROUTED "it belongs to a routed NATS cluster, in which a notify may overtake a subscription"

/* A server of a routed cluster names the others. */
static void on_discovered(natsConnection *connection, void *key)
{
    lose(key, ROUTED);
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

static natsStatus set_options(natsOptions *o, const vault_engine_options_t *options, void *key)
{
    natsStatus s = natsOptions_SetURL(o, options->url);

#define SET(call) s = s == NATS_OK ? (call) : s
    SET(natsOptions_SetName(o, options->name));
    SET(natsOptions_SetTimeout(o, CONNECT_WITHIN_MS));
    SET(natsOptions_SetAllowReconnect(o, false));
    SET(natsOptions_SetNoEcho(o, true));
    SET(natsOptions_SetWriteDeadline(o, WRITE_WITHIN_MS));
    SET(natsOptions_SetPingInterval(o, PING_EVERY_MS));
    SET(natsOptions_SetMaxPingsOut(o, PINGS_OUT));
    SET(natsOptions_SetMaxPendingMsgs(o, PENDING_MSGS));
    SET(natsOptions_UseGlobalMessageDelivery(o, true)); /* otherwise each subscription has a thread */
    SET(natsOptions_SetErrorHandler(o, on_error, key));
    SET(natsOptions_SetDisconnectedCB(o, on_end, key));
    SET(natsOptions_SetClosedCB(o, on_end, key));
    SET(natsOptions_SetDiscoveredServersCB(o, options->accepts_routed ? NULL : on_discovered, key));
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

static int is_at(int fd, const char *ip, int port)
{
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t size = sizeof(address);
    char text[INET6_ADDRSTRLEN];

    if (getsockname(fd, &address.any, &size)) {
        return 0;
    }
    switch (address.any.sa_family) {
    case AF_INET:
        return ntohs(address.v4.sin_port) == port && inet_ntop(AF_INET, &address.v4.sin_addr, text, sizeof(text)) &&
               !strcmp(text, ip);
    case AF_INET6:
        return ntohs(address.v6.sin6_port) == port && inet_ntop(AF_INET6, &address.v6.sin6_addr, text, sizeof(text)) &&
               !strcmp(text, ip);
    default:
        return 0;
    }
}

/* libnats leaves its sockets open in the programs that a process starts, such as those of mod_cgi, and it does not tell
 * their numbers. So the socket with the address of this connection is searched for. */
static void close_on_exec(natsConnection *connection)
{
    DIR *fds = opendir("/proc/self/fd");
    struct dirent *entry;
    char *ip = NULL;
    int port = 0;

    if (fds && natsConnection_GetLocalIPAndPort(connection, &ip, &port) == NATS_OK) {
        while ((entry = readdir(fds)) != NULL) {
            int fd = atoi(entry->d_name);
            if (is_at(fd, ip, port)) {
                fcntl(fd, F_SETFD, FD_CLOEXEC);
            }
        }
    }
    free(ip);
    if (fds) {
        closedir(fds);
    }
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
    remove_entry(link);
    natsConnection_Close(link->connection); /* otherwise each subscription is taken back at the engine */
    while (link->subs) {
        drop_sub(link->subs);
    }
    natsConnection_Destroy(link->connection);
    free(link);
}

static natsStatus connect_to(vault_engine_link_t *link, const vault_engine_options_t *options)
{
    natsOptions *o = NULL;
    natsStatus s = natsOptions_Create(&o);

    if (s == NATS_OK) {
        s = set_options(o, options, key_of(link));
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
    if (!add_entry(link)) {
        free(link);
        return APR_ENOSPC;
    }
    s = connect_to(link, options);
    if (s != NATS_OK) {
        const char *detail = nats_GetLastError(NULL);
        *why = apr_psprintf(pool, "%s%s%s", natsStatus_GetText(s), detail && *detail ? ": " : "", detail ? detail : "");
        end(link);
        return APR_EGENERAL;
    }
    if (!options->accepts_routed && is_routed(link->connection)) {
        *why = ROUTED;
        end(link);
        return APR_ENOTIMPL;
    }
    close_on_exec(link->connection);
    *made = link;
    return APR_SUCCESS;
}

/* ------------------------------------------------------------------------ link */

/* If the connection is closed, its callback says why. */
static apr_status_t result(vault_engine_link_t *link, natsStatus s)
{
    if (s == NATS_OK) {
        return APR_SUCCESS;
    }
    if (s != NATS_CONNECTION_CLOSED && s != NATS_CONNECTION_DISCONNECTED) {
        lose(key_of(link), s == NATS_TIMEOUT ? "it reads nothing any more" : natsStatus_GetText(s));
    }
    return APR_EGENERAL;
}

static apr_status_t nats_subscribe(vault_engine_link_t *link, const char *subject, void **subscription)
{
    sub_t *sub = calloc(1, sizeof(*sub));
    natsStatus s;

    if (!sub) {
        return result(link, NATS_NO_MEMORY);
    }
    s = natsConnection_Subscribe(&sub->subscription, link->connection, subject, on_message, key_of(link));
    if (s != NATS_OK) {
        free(sub);
        return result(link, s);
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
    return result(link, natsConnection_Publish(link->connection, subject, data, (int)size));
}

static apr_status_t nats_flush(vault_engine_link_t *link, apr_interval_time_t most)
{
    natsStatus s = natsConnection_FlushTimeout(link->connection, apr_time_as_msec(most));

    return s == NATS_TIMEOUT ? APR_TIMEUP : result(link, s);
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
    unsigned i;

    for (i = 0; i < LINKS_MOST; i++) {
        pthread_rwlock_init(&entries[i].lock, NULL);
    }
    ap_register_provider(p, VAULT_ENGINE_GROUP, "nats", VAULT_ENGINE_VERSION, &engine);
    ap_register_provider(p, VAULT_ENGINE_GROUP, "tls", VAULT_ENGINE_VERSION, &engine); /* as libnats reads URLs */
}

AP_DECLARE_MODULE(vault_nats) = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks, 0};
