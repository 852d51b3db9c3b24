/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file server.h
 * The state of the server in this process, shared by all files that know httpd.
 */
#ifndef VAULT_SERVER_H
#define VAULT_SERVER_H

#include "httpd.h"
#include "http_config.h"

#include "notify/slot.h"

extern module AP_MODULE_DECLARE_DATA vault_module;

/* Files that use one of these tables include its header. */
typedef struct vault_clients_t vault_clients_t;
typedef struct vault_exchange_t vault_exchange_t;
typedef struct vault_heap_t vault_heap_t;
typedef struct vault_outputs_t vault_outputs_t;
typedef struct vault_pages_t vault_pages_t;
typedef struct vault_qos_t vault_qos_t;
typedef struct vault_waiters_t vault_waiters_t;

/** The shared tables, and what this child has. */
typedef struct vault_server_t {
    vault_segment_t *segment;    /* const after post_config */
    vault_heap_t *heap;          /* const after post_config */
    vault_notifier_t *notifier;  /* const after post_config */
    vault_pages_t *pages;        /* const after post_config */
    vault_clients_t *clients;    /* const after post_config */
    vault_qos_t *qos;            /* const after post_config */
    vault_outputs_t *outputs;    /* const after post_config; NULL: VaultCacheMemory is 0 */
    vault_exchange_t *exchange;  /* const after post_config; NULL: no cluster was configured at the start */
    vault_waiters_t *waiters;    /* const after child_init; NULL: nothing can wait in this process */
    vault_counters_t *counters;  /* const after child_init; never NULL after post_config */
    unsigned slot;               /* const after child_init; 0: none */
    int generation;              /* const after child_init: of httpd's configuration */
    unsigned max_waiting;        /* const after child_init */
    unsigned max_client_waiting; /* const after child_init; in all children */
    apr_pool_t *scratch;         /* const after child_init; parent of short-lived pools of any thread */
    int can_park;                /* const after child_init: the MPM supports parked connections */
    int ends;                    /* this child is ending in a signal handler: do not call other modules */
    server_rec *s;               /* const after post_config: for the log outside of requests */
} vault_server_t;

/** Read-only access, for any thread. */
extern const vault_server_t *const vault_server;

/** Write access, for child.c only. */
vault_server_t *vault_server_set(void);

/** Notify every page that holds the interest, on this server and on those of its cluster. Call it after the change
 * has been committed. Any thread.
 * @return as vault_notifier_notify() */
apr_status_t vault_server_notify(const char *interest);

/** Notify every page of this server that holds the interest. The other servers find the change by themselves, or it
 * does not concern them. Any thread.
 * @return as vault_notifier_notify() */
apr_status_t vault_server_notify_local(const char *interest);

/** Count threads that run handlers and would wait inside of them (prefork, HTTP/2). Any thread. */
void vault_server_enter_handlers(void);
void vault_server_leave_handlers(void);
int vault_server_in_handlers(void);

/** Add to one of this child's counters. */
#define vault_tally(field, by) vault_count(vault_server->counters, field, by)

#endif
