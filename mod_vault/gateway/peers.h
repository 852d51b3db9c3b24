/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file peers.h
 * The other servers that the engines reach: who they are, and when each was last heard by any engine. They are in
 * shared memory, so that the next gateway notices the end of a server that the last one has heard.
 *
 * Each server publishes a heartbeat once a second, a JSON object:
 *
 *     {"version": 1, "server": "5f1c…", "ring": "…", "address": "web1:80", "release": "0.3", "strategy": "broadcast",
 *      "figures": {"Pages": 212, …}}
 *
 * `version` is that of all messages, and changes when an older server would misunderstand them. `ring` identifies the
 * engines that the server knows. The rest is for the status page: any client of an engine can have sent it, so what is
 * kept of it is bounded and printable ASCII, and nothing depends on it. A server that does not send it has "" and 0.
 *
 * Threads: any of any process; one robust lock. A process that is killed inside may leave an entry with a wrong name.
 * It goes silent, which costs a check for changes.
 */
#ifndef VAULT_GATEWAY_PEERS_H
#define VAULT_GATEWAY_PEERS_H

#include "apr_time.h"

#include "shm/lock.h"

#define VAULT_PEERS_VERSION 1
/** The most servers that are watched for their heartbeats; further ones are ignored. */
#define VAULT_PEERS_MAX 256
/** With the final NUL. */
#define VAULT_PEER_NAME_MAX 40

/** With the final NUL. */
#define VAULT_FACTS_TEXT_MAX 64
/** No heartbeat is longer, with a final NUL. */
#define VAULT_PEERS_BEAT_MAX 1024

/** FIGURE(field, "Name", "meaning"): what a server says of itself. */
#define VAULT_FACTS_FIGURES(FIGURE)                                                                                    \
    FIGURE(pages, "Pages", "pages now")                                                                                \
    FIGURE(waiting, "Waiting", "polls and other suspended requests that wait now")                                     \
    FIGURE(interests, "Interests", "interests that are held now")                                                      \
    FIGURE(sent, "NotifiesSent", "notifies published for other servers")                                               \
    FIGURE(received, "NotifiesReceived", "notifies of other servers")                                                  \
    FIGURE(extraneous, "NotifiesExtraneous", "of these, for an interest that no page here holds")                      \
    FIGURE(engines, "Engines", "notification engines that it is connected to")                                         \
    FIGURE(engines_max, "EnginesMax", "the engines in VaultCluster")

typedef struct vault_facts_t {
    char address[VAULT_FACTS_TEXT_MAX];  /* HOST:PORT */
    char release[VAULT_FACTS_TEXT_MAX];  /* of mod_vault */
    char strategy[VAULT_FACTS_TEXT_MAX]; /* VaultClusterStrategy */
#define FIELD(field, name, meaning) apr_uint64_t field;
    VAULT_FACTS_FIGURES(FIELD)
#undef FIELD
} vault_facts_t;

typedef struct vault_peer_t {
    char name[VAULT_PEER_NAME_MAX];
    vault_facts_t facts;
    apr_time_t since; /* heard for the first time */
    apr_time_t heard;
    int is_stranger; /* of another version, or with other engines */
} vault_peer_t;

typedef struct vault_peers_t {
    vault_lock_t lock;
    unsigned count;                      /* lock */
    vault_peer_t peers[VAULT_PEERS_MAX]; /* lock */
} vault_peers_t;

/** @param p  zeroed. @return as vault_lock_init() */
apr_status_t vault_peers_init(vault_peers_t *p);

/** The text of a heartbeat, NUL-terminated.
 * @param text  has VAULT_PEERS_BEAT_MAX bytes */
void vault_peers_format(char *text, const char *server, apr_uint64_t ring, const vault_facts_t *facts);

/** Copy printable ASCII, cut to the room of the copy, with `?` in place of each other byte. @param text  NULL: "" */
void vault_facts_copy_text(char copy[VAULT_FACTS_TEXT_MAX], const char *text);

/** How many servers are heard. */
unsigned vault_peers_count(vault_peers_t *p);

/** Copy the servers that are heard. @param copy  has room for VAULT_PEERS_MAX. @return how many there are */
unsigned vault_peers_copy(vault_peers_t *p, vault_peer_t *copy);

typedef enum vault_peers_heard_t {
    VAULT_PEERS_KNOWN,   /* nothing new, or it is not a heartbeat of another server */
    VAULT_PEERS_JOINED,  /* it was heard for the first time */
    VAULT_PEERS_STRANGER /* the same, but it has another version or other engines */
} vault_peers_heard_t;

/** A heartbeat has arrived.
 * @param own   the name of this server
 * @param name  of the other one, for VAULT_PEERS_JOINED and VAULT_PEERS_STRANGER */
vault_peers_heard_t vault_peers_hear(vault_peers_t *p, const void *text, apr_size_t size, const char *own,
                                     apr_uint64_t ring, apr_time_t now, char name[VAULT_PEER_NAME_MAX]);

/** Forget one server that was not heard since `before`. @return 1: `name` is set; 0: there is none */
int vault_peers_drop_silent(vault_peers_t *p, apr_time_t before, char name[VAULT_PEER_NAME_MAX]);

#endif
