/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file engine.h
 * What mod_vault needs of a notification engine such as NATS, to pass notifications between servers (VaultCluster).
 *
 * A module registers an engine with httpd's providers, under the scheme of its URLs:
 *
 *     ap_register_provider(pool, VAULT_ENGINE_GROUP, "nats", VAULT_ENGINE_VERSION, &engine);
 *
 * An engine delivers a message that is published under a subject to all links that have subscribed to it, or it says
 * that it did not (`dropped`). It need not keep messages. Two promises matter:
 *
 *   - When flush() returns APR_SUCCESS, the engine has taken every subscription and message that this link sent before.
 *   - A message that another link of the same engine publishes after that is delivered, or `dropped` is called, or
 *     `lost` is called.
 *
 * A link is one connection. When it is lost, it is closed, and another one is opened.
 *
 * Subjects have up to VAULT_ENGINE_SUBJECT_MAX bytes: letters, digits, `-`, `_`, `=`, and `.` between tokens.
 *
 * Threads: only the thread that has opened a link calls the functions of this link. It is a thread of a child process.
 * They return within a few seconds, also when the engine reads nothing and answers nothing.
 * The engine may call the events from any thread, several at once, until close() returns. An event does not block.
 */
#ifndef VAULT_ENGINE_H
#define VAULT_ENGINE_H

#include "apr_pools.h"
#include "apr_time.h"

/** For ap_lookup_provider() and ap_register_provider(). */
#define VAULT_ENGINE_GROUP "vault-engine"
#define VAULT_ENGINE_VERSION "0"

#define VAULT_ENGINE_SUBJECT_MAX 700

typedef struct vault_engine_link_t vault_engine_link_t; /**< one connection; defined by the engine */

/** How to connect. Strings stay valid as long as the link; NULL: not configured. */
typedef struct vault_engine_options_t {
    const char *url;         /* as in VaultCluster, with its scheme; may contain user and password */
    const char *name;        /* of this server, for the engine's own log and monitoring */
    const char *credentials; /* file with a user's JWT and nkey */
    const char *nkey;        /* public nkey of a user */
    const char *nkey_seed;   /* file with its seed */
    const char *ca;          /* file with the certificates that sign the engine's; the link is by TLS */
    const char *certificate; /* file of the client's certificate */
    const char *key;         /* file of its private key */
    int accepts_routed;      /* the engine may be one of several that pass messages to each other: then flush() need
                                not mean that the others have taken anything. 0: open() fails then */
} vault_engine_options_t;

/** What happens to a link. `baton` is that of open(). */
typedef struct vault_engine_events_t {
    /** A message of a subject that the link has subscribed to. Those that one link has published under one subject come
     * in the order in which it did so, one after the other. */
    void (*message)(void *baton, const char *subject, const void *data, apr_size_t size);
    /** The connection is lost. Called at most once. @param why  half a sentence, valid during the call */
    void (*lost)(void *baton, const char *why);
    /** Messages for this link were not delivered. */
    void (*dropped)(void *baton);
} vault_engine_events_t;

typedef struct vault_engine_t {
    apr_size_t size; /* of this struct, as the module was compiled */

    /** Connect; waits for a few seconds at most.
     * @param why  set on failure: half a sentence, in the pool
     * @return APR_SUCCESS; or any other value: there is no link. The caller may try again later */
    apr_status_t (*open)(vault_engine_link_t **link, const vault_engine_options_t *options,
                         const vault_engine_events_t *events, void *baton, const char **why, apr_pool_t *pool);

    /** Subscribe.
     * @param subscription  for unsubscribe()
     * @return APR_SUCCESS; any other value: the link is lost, and `lost` is called if it was not */
    apr_status_t (*subscribe)(vault_engine_link_t *link, const char *subject, void **subscription);
    void (*unsubscribe)(vault_engine_link_t *link, void *subscription);

    /** Publish. The link's own subscriptions do not get the message.
     * @return APR_SUCCESS; any other value: it was not sent, the link is lost, and `lost` is called if it was not */
    apr_status_t (*publish)(vault_engine_link_t *link, const char *subject, const void *data, apr_size_t size);

    /** Wait until the engine has taken everything. @return APR_SUCCESS; APR_TIMEUP; any other value: the link is
     * lost */
    apr_status_t (*flush)(vault_engine_link_t *link, apr_interval_time_t most);

    /** Disconnect. No event comes after it has returned. */
    void (*close)(vault_engine_link_t *link);
} vault_engine_t;

#endif
