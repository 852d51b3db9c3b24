/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file filter_peers.h
 * The other servers of the strategy "filters": which interests each holds, as a Bloom filter, and which version of this
 * server's filter it knows. And the reports in which they tell each other.
 *
 * A report is a JSON object, a NUL, and the bits of the filter if they are in it:
 *
 *     {"link": "5f1c…", "server": "07ab…", "version": 12, "positions": 8352, "hashes": 6, "known": {"93d0…": [1, 7]}}
 *
 * A server is known by its link, which has another name after each connection. `known` has, by link of another server,
 * a number that changes when the sender has forgotten that link, and the version of its filter that the sender uses for
 * all later notifies; 0: none yet.
 *
 * Another server has joined when it is known to have a filter that this server has sent since it heard it first. What
 * it notified before may be lost: so all pages of this server check for changes then. When a server has forgotten this
 * one, or its link is another one, it joins again.
 *
 * There are at most VAULT_PEERS_MAX other servers: a client of the engine that invents servers does not take all memory.
 * If there is no room for one, its next report is treated as its first one: it joins when there is room again.
 *
 * Threads: any; one lock.
 */
#ifndef VAULT_GATEWAY_FILTER_PEERS_H
#define VAULT_GATEWAY_FILTER_PEERS_H

#include <pthread.h>

#include "apr_time.h"
#include "gateway/bloom.h"
#include "gateway/peers.h"

#define VAULT_FILTER_LINK 17
#define VAULT_FILTER_SERVER 40

typedef struct vault_filter_peer_t {
    char link[VAULT_FILTER_LINK], server[VAULT_FILTER_SERVER];
    apr_time_t heard;
    apr_uint64_t entry;      /* the number of this entry, for `known` */
    apr_uint64_t version;    /* of its filter; 0: none yet */
    vault_bloom_bits_t bits; /* its filter, if `version` */
    apr_uint64_t its_entry;  /* the number that it has for this server; 0: it has none */
    apr_uint64_t knows;      /* the version of this server's filter that it has */
    apr_uint64_t needs;      /* it has joined when it knows this version */
    int has_joined;
} vault_filter_peer_t;

typedef struct vault_filter_peers_t {
    pthread_mutex_t lock;
    char link[VAULT_FILTER_LINK]; /* of this server; lock */
    apr_uint64_t version;         /* of this server's filter, as sent last; lock */
    apr_uint64_t entries;         /* that there have been; lock */
    unsigned count, room;         /* of `peers`; lock */
    vault_filter_peer_t *peers;   /* lock */
} vault_filter_peers_t;

void vault_filter_peers_init(vault_filter_peers_t *p);
void vault_filter_peers_free(vault_filter_peers_t *p);

/** This server has a new link: nothing is known, and nothing was sent. */
void vault_filter_peers_begin(vault_filter_peers_t *p, const char *link);

/** Write a report.
 * @param filter  NULL: without the bits. Otherwise they are those of the next version, which is counted as sent
 * @param size    of the report
 * @return to be freed; NULL: there is no memory, and nothing has changed */
char *vault_filter_peers_report(vault_filter_peers_t *p, const char *server, const vault_bloom_t *filter,
                                apr_size_t *size);

/** What follows from a report, a set. */
#define VAULT_FILTER_TELL 1u   /* the sender does not know yet that its filter has arrived: send a report */
#define VAULT_FILTER_BITS 2u   /* the sender needs the bits: send a report with them */
#define VAULT_FILTER_JOINED 4u /* all pages check for changes */
#define VAULT_FILTER_KNOWN 8u  /* vault_filter_peers_known() may have grown */

/** A report has come. @param server  the name of this server: its own reports are ignored */
unsigned vault_filter_peers_hear(vault_filter_peers_t *p, const void *report, apr_size_t size, const char *server,
                                 apr_time_t now);

/** Forget the servers that were not heard since `before`. @return how many */
unsigned vault_filter_peers_forget(vault_filter_peers_t *p, apr_time_t before);

/** The version of this server's filter that all others know; without others, the version sent last. */
apr_uint64_t vault_filter_peers_known(vault_filter_peers_t *p);

typedef char vault_filter_link_t[VAULT_FILTER_LINK];

/** The links of the others whose filter has the name.
 * @param links  set; to be freed. NULL: there is none
 * @param count  of them, set
 * @return APR_ENOMEM: none was looked for */
apr_status_t vault_filter_peers_find(vault_filter_peers_t *p, apr_uint64_t hash, vault_filter_link_t **links,
                                     unsigned *count);

#endif
