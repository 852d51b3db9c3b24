/* SPDX-License-Identifier: Apache-2.0 */
/* Which child is the gateway, and what it reports. */
#include "cluster/cluster.h"

#include "ap_provider.h"
#include "http_log.h"

#include "base/now.h"
#include "cluster/cluster_conf.h"
#include "cluster/cluster_facts.h"
#include "gateway/gateway.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

/* More than a connect, a write and a flush take at most. */
#define STOPS_WITHIN apr_time_from_sec(8)

static const vault_engine_t *engine; /* const after post_config; NULL: no cluster is configured */
/* Of this child; NULL: it is not the gateway. The waker's thread uses it, and after that thread has ended, the one that
 * ends the child. */
static vault_gateway_t *gateway;
static apr_pool_t *gateway_pool;        /* of `gateway`; NULL: there is none */
static vault_gateway_options_t options; /* of `gateway` */

apr_uint64_t vault_cluster_space(void)
{
    return vault_cluster_conf()->count ? vault_exchange_space() : 0;
}

int vault_cluster_make(vault_exchange_t **exchange, vault_segment_t *segment, vault_notifier_t *notifier, server_rec *s)
{
    unsigned count = vault_cluster_conf()->count;
    apr_status_t rv = APR_SUCCESS;

    *exchange = NULL;
    if (count) {
        rv = vault_exchange_create(exchange, segment, notifier, count, s->process->pool);
    }
    if (rv != APR_SUCCESS) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, rv, s, VLTNO(00490) "the shared memory of VaultCluster cannot be made");
    }
    return rv == APR_SUCCESS;
}

int vault_cluster_configure(const vault_exchange_t *exchange, server_rec *s)
{
    const vault_cluster_conf_t *conf = vault_cluster_conf();
    unsigned links = exchange ? vault_exchange_links(exchange) : 0;

    engine = NULL;
    if (links != conf->count) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s,
                     VLTNO(00491) "the number of engines in VaultCluster takes effect when the server is stopped and "
                                  "started: until then this server passes no notifies to others");
        return 1;
    }
    if (!links) {
        return 1;
    }
    engine = ap_lookup_provider(VAULT_ENGINE_GROUP, conf->scheme, VAULT_ENGINE_VERSION);
    if (!engine || engine->size < sizeof(*engine)) {
        ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                     VLTNO(00492) "VaultCluster %s://%s: no module is loaded for %s://; for nats:// that is "
                                  "LoadModule vault_nats_module modules/mod_vault_nats.so",
                     conf->scheme, conf->names[0], conf->scheme);
        return 0;
    }
    vault_cluster_conf_complete(vault_exchange_server(exchange));
    return 1;
}

/* -------------------------------------------------------------------- reports */

/* Any client that may publish at an engine can cause most of these, and very many notifies can. A link is opened once a
 * second at most. */
static int level_of(vault_gateway_event_t event)
{
    static apr_time_t said[VAULT_GATEWAY_EVENTS];

    switch (event) {
    case VAULT_GATEWAY_UP:
        return APLOG_NOTICE;
    case VAULT_GATEWAY_LOST:
        return APLOG_ERR;
    case VAULT_GATEWAY_SILENT:
        return vault_log_seldom(&said[event], vault_now(), APLOG_NOTICE);
    default:
        return vault_log_seldom(&said[event], vault_now(), APLOG_WARNING);
    }
}

static void say(vault_gateway_event_t event, const char *name, const char *why)
{
    server_rec *s = vault_server->s;
    int level = level_of(event);

    switch (event) {
    case VAULT_GATEWAY_UP:
        ap_log_error(APLOG_MARK, level, 0, s,
                     VLTNO(00493) "connected to the notification engine %s: every page checks for changes", name);
        break;
    case VAULT_GATEWAY_LOST:
        ap_log_error(APLOG_MARK, level, 0, s,
                     VLTNO(00494) "not connected to the notification engine %s: %s; pages of this server miss "
                                  "notifies of other servers until it is there again, and then check for changes",
                     name, why);
        break;
    case VAULT_GATEWAY_DROPPED:
        ap_log_error(APLOG_MARK, level, 0, s,
                     VLTNO(00495) "the notification engine %s dropped notifies for this server, which was too slow: "
                                  "every page checks for changes",
                     name);
        break;
    case VAULT_GATEWAY_OVERRUN:
        ap_log_error(APLOG_MARK, level, 0, s,
                     VLTNO(00496) "more was notified than the notification engine %s took: every page of all servers "
                                  "checks for changes",
                     name);
        break;
    case VAULT_GATEWAY_STRANGER:
        ap_log_error(
            APLOG_MARK, level, 0, s,
            VLTNO(00497) "server %s at the notification engine %s has another version of mod_vault, other engines in "
                         "VaultCluster or another VaultClusterStrategy: notifies may not reach it",
            why, name);
        break;
    case VAULT_GATEWAY_SILENT:
        ap_log_error(APLOG_MARK, level, 0, s,
                     VLTNO(00498) "server %s at the notification engine %s has ended or is cut off: every page checks "
                                  "for changes",
                     why, name);
        break;
    case VAULT_GATEWAY_EVENTS:
        break;
    }
}

/* ------------------------------------------------------------------- one child */

/* No pool of the child: those are destroyed while the gateway runs when a signal ends a child of prefork. */
static apr_status_t start_gateway(void)
{
    apr_status_t rv = apr_pool_create_unmanaged_ex(&gateway_pool, NULL, NULL);

    if (rv == APR_SUCCESS && (rv = vault_gateway_start(&gateway, &options, gateway_pool)) != APR_SUCCESS) {
        apr_pool_destroy(gateway_pool);
        gateway_pool = NULL;
    }
    return rv;
}

static void become_gateway(void)
{
    const vault_cluster_conf_t *conf = vault_cluster_conf();
    apr_status_t rv;

    options = (vault_gateway_options_t){.exchange = vault_server->exchange,
                                        .notifier = vault_server->notifier,
                                        .slot = vault_server->slot,
                                        .strategy = conf->strategy,
                                        .engine = engine,
                                        .links = conf->links,
                                        .names = conf->names,
                                        .count = conf->count,
                                        .space = conf->space,
                                        .server = vault_exchange_server(vault_server->exchange),
                                        .stops_within = STOPS_WITHIN,
                                        .look = vault_cluster_facts,
                                        .say = say};
    rv = start_gateway();
    if (rv != APR_SUCCESS) {
        static apr_time_t said;
        gateway = NULL;
        vault_exchange_yield(vault_server->exchange, vault_server->slot);
        ap_log_error(APLOG_MARK, vault_log_seldom(&said, vault_now(), APLOG_ERR), rv, vault_server->s,
                     VLTNO(00499) "this child cannot connect to the engines of VaultCluster");
    }
}

void vault_cluster_tick(void)
{
    if (engine && !gateway && vault_exchange_claim(vault_server->exchange, vault_server->slot)) {
        become_gateway();
    }
}

void vault_cluster_ask_stop(void)
{
    if (gateway) {
        vault_gateway_ask_stop(gateway);
    }
}

void vault_cluster_stop(void)
{
    if (!gateway) {
        return;
    }
    if (!vault_gateway_stop(gateway)) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, vault_server->s,
                     VLTNO(00450) "a notification engine holds this child up: it ends without closing the connection");
        return; /* the thread still uses the memory, and ends with the process */
    }
    apr_pool_destroy(gateway_pool);
    gateway = NULL;
    gateway_pool = NULL;
}
