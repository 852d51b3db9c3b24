/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * The wire protocol of a browser's client: reads a page's id, polls, and reads the number of an answer.
 */
#ifndef VAULT_BENCH_CLIENT_H
#define VAULT_BENCH_CLIENT_H

#include <stdint.h>

#include "wire.h"

#define CLIENT_ID_SIZE 66

/** The page id in the answer to a request for a page. Exits if there is none. */
void client_page_id(char id[CLIENT_ID_SIZE], const wire_answer_t *answer);

/** The page id, as above. @return 0: there is none */
int client_find_page_id(char id[CLIENT_ID_SIZE], const wire_answer_t *answer);

/** Poll, and acknowledge the answer `seq`; 0: none yet. */
void client_poll(wire_conn_t *conn, const char *id, uint64_t seq);

/** Wait for the next message of a channel, at a server that is not ours (bench/run --case rivals). */
void client_subscribe(wire_conn_t *conn, const char *channel);

/** Poll for a stream of events. */
void client_stream(wire_conn_t *conn, const char *id, uint64_t seq);

/** Acknowledge the answer `seq` without a poll. */
void client_acknowledge(wire_conn_t *conn, const char *id, uint64_t seq);

/** The number of an answer to a poll or of an event. Exits if there is none. */
uint64_t client_seq(const char *body);

#endif
