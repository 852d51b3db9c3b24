/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file peers.h
 * The other servers that the engines reach: who they are, and when each was last heard by any engine. They are in
 * shared memory, so that the next gateway notices the end of a server that the last one has heard.
 *
 * Each server publishes a heartbeat once a second, a JSON object:
 *
 *     {"version": 1, "server": "5f1c…", "ring": "…"}
 *
 * `version` is that of all messages, and changes when an older server would misunderstand them. `ring` identifies the
 * engines that the server knows.
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

typedef struct vault_peer_t {
    char name[VAULT_PEER_NAME_MAX];
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

/** The text of a heartbeat, NUL-terminated. */
void vault_peers_format(char *text, apr_size_t room, const char *server, apr_uint64_t ring);

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
