/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file client.h
 * What a browser's client does on the wire: reads a page's id, polls, reads the number of an answer.
 */
#ifndef VAULT_BENCH_CLIENT_H
#define VAULT_BENCH_CLIENT_H

#include <stdint.h>

#include "wire.h"

#define CLIENT_ID_SIZE 66

/** The page id in the answer to a page's request. Dies when there is none. */
void client_page_id(char id[CLIENT_ID_SIZE], const wire_answer_t *answer);

/** The same. @return 0: there is none */
int client_find_page_id(char id[CLIENT_ID_SIZE], const wire_answer_t *answer);

/** Ask for news, and acknowledge the answer `seq`; 0: none yet. */
void client_poll(wire_conn_t *conn, const char *id, uint64_t seq);

/** The same, for a stream of events. */
void client_stream(wire_conn_t *conn, const char *id, uint64_t seq);

/** Acknowledge the answer `seq` and no more. */
void client_acknowledge(wire_conn_t *conn, const char *id, uint64_t seq);

/** The number of an answer to a poll, or of an event. Dies when there is none. */
uint64_t client_seq(const char *body);

#endif
