/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file senders.h
 * Whether messages of other servers were lost. Each sender numbers its messages, 1 and up, and says from time to time
 * how many it has sent. A sender is one link of a server; its next link has another name.
 *
 * Threads: any; one lock.
 */
#ifndef VAULT_GATEWAY_SENDERS_H
#define VAULT_GATEWAY_SENDERS_H

#include <pthread.h>

#include "apr_time.h"

/** Of a sender: 16 digits and a NUL. */
#define VAULT_SENDER_NAME 17
#define VAULT_SENDERS_MAX 256

typedef struct vault_sender_t {
    char name[VAULT_SENDER_NAME];
    apr_uint64_t last; /* the number of its last message */
    apr_time_t heard;
} vault_sender_t;

typedef struct vault_senders_t {
    pthread_mutex_t lock;
    unsigned count;                            /* lock */
    vault_sender_t senders[VAULT_SENDERS_MAX]; /* lock */
} vault_senders_t;

void vault_senders_init(vault_senders_t *s);

/** A message of the sender `name` has come at `now`.
 * @param number  of the message or, if it is none of those that are numbered, how many there were before it
 * @return 1: earlier messages may have been lost, as with a sender that was not heard before */
int vault_senders_hear(vault_senders_t *s, const char *name, apr_uint64_t number, int is_numbered, apr_time_t now);

/** Forget the senders that were not heard since `before`: when they are heard again, messages may have been lost. */
void vault_senders_forget(vault_senders_t *s, apr_time_t before);

#endif
