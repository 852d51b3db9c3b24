/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file server.h
 * The server as this process sees it, which all files that know httpd share.
 */
#ifndef VAULT_SERVER_H
#define VAULT_SERVER_H

#include "httpd.h"
#include "http_config.h"

#include "notify/slot.h"

extern module AP_MODULE_DECLARE_DATA vault_module;

/* Who uses a table includes its header. */
typedef struct vault_clients_t vault_clients_t;
typedef struct vault_heap_t vault_heap_t;
typedef struct vault_pages_t vault_pages_t;
typedef struct vault_qos_t vault_qos_t;
typedef struct vault_waiters_t vault_waiters_t;

/** The shared tables, and this child's place in them. */
typedef struct vault_server_t {
    vault_segment_t *segment;    /* const after post_config */
    vault_heap_t *heap;          /* const after post_config */
    vault_notifier_t *notifier;  /* const after post_config */
    vault_pages_t *pages;        /* const after post_config */
    vault_clients_t *clients;    /* const after post_config */
    vault_qos_t *qos;            /* const after post_config */
    vault_waiters_t *waiters;    /* const after child_init; NULL: nothing can wait in this process */
    vault_counters_t *counters;  /* const after child_init; never NULL after post_config */
    unsigned slot;               /* const after child_init; 0: none */
    unsigned max_waiting;        /* const after child_init */
    unsigned max_client_waiting; /* const after child_init; in all children */
    apr_pool_t *scratch;         /* const after child_init; parent of short-lived pools of any thread */
    int can_park;                /* const after child_init: the MPM can wait for us */
    int ends;                    /* this child ends in a signal handler: call nobody */
    server_rec *s;               /* const after post_config: for the log outside of requests */
} vault_server_t;

/** To be read, by any thread. */
extern const vault_server_t *const vault_server;

/** The same for child.c, which fills it in, and empties it. */
vault_server_t *vault_server_set(void);

/** Threads that run handlers and would wait in them (prefork, HTTP/2). Any thread. */
void vault_server_enter_handlers(void);
void vault_server_leave_handlers(void);
int vault_server_in_handlers(void);

/** Add to one of this child's counters. */
#define vault_tally(field, by) vault_count(vault_server->counters, field, by)

#endif
