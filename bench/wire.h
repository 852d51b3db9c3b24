/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file wire.h
 * Many keep-alive HTTP/1.1 connections to servers on loopback, in one thread, cheap enough to share their machine.
 *
 * One request is under way on a connection at a time. Callbacks run inside wire_step; they may send on their connection
 * or reopen it. What cannot go on (no descriptors left, a garbled answer) ends the program with a sentence.
 */
#ifndef VAULT_BENCH_WIRE_H
#define VAULT_BENCH_WIRE_H

#include <stddef.h>
#include <stdint.h>

typedef struct wire_conn_t wire_conn_t;

typedef struct wire_answer_t {
    int status;
    const char *head; /**< NUL-terminated; valid during the callback, as the body is */
    const char *body; /**< NUL-terminated, decoded from chunks */
    size_t length;    /**< of the body */
} wire_answer_t;

struct wire_conn_t {
    int fd;        /**< -1: closed. Set it so before the first wire_open */
    int port;      /**< of the server; 0: that of wire_start() */
    int under_way; /**< a request was sent, its answer is not complete */
    char *partial; /**< an unfinished answer; NULL in the usual case that it comes in one piece */
    size_t used;   /**< bytes of it */
    /** The answer is complete: the last byte was read just now. */
    void (*answered)(wire_conn_t *conn, const wire_answer_t *answer);
    /** If set, what arrives is given as it comes, in place of whole answers; `under_way` stays as it is. */
    void (*piece)(wire_conn_t *conn, const char *bytes, size_t length);
    /** The server closed the connection; `conn->fd` is -1 already. `lost`: a request was under way. May be NULL. */
    void (*closed)(wire_conn_t *conn, int lost);
};

/** Connections go to this port of 127.0.0.1, unless they have one of their own. Raises the limit of open files as
 * far as it goes. */
void wire_start(int port);

void wire_open(wire_conn_t *conn);
void wire_close(wire_conn_t *conn);

/** Gone without a word, as a machine that is switched off. */
void wire_reset(wire_conn_t *conn);

/** Read nothing from an open connection until `pause` is 0 again. */
void wire_pause(wire_conn_t *conn, int pause);

/** Whether the server has closed `conn` meanwhile: asks the kernel, so that no request is lost on it. */
int wire_is_stale(const wire_conn_t *conn);

/** Send one whole request; opens the connection if it is closed. */
void wire_send(wire_conn_t *conn, const char *request, size_t length);

/** Take what has arrived, waiting at most `milliseconds` for something. */
void wire_step(int milliseconds);

/** CLOCK_MONOTONIC in nanoseconds. */
uint64_t wire_now(void);

/** Print "PROGRAM: …" to stderr and exit with status 2. */
void wire_die(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
