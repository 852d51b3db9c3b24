/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file control.h
 * The other visitor of the server under load: asks its status, notifies, and fetches a plain file for comparison.
 *
 * Each call runs the event loop until its own answer is there, so answers to polls are taken meanwhile.
 */
#ifndef VAULT_BENCH_CONTROL_H
#define VAULT_BENCH_CONTROL_H

#include <stdint.h>

#include "gauge.h"

/** What /vault/status?auto says, summed over the children. */
typedef struct control_status_t {
    long waiting;
    long in_threads;
    long answers;
    long wakeups;
    long idle_wakeups;
    long runs;
} control_status_t;

void control_status(control_status_t *status);

/** The body of a GET that must succeed; valid until the next. */
const char *control_get(const char *path);

/** The number behind `name` in lines "name: number", as /vault/status?auto has them. Dies when there is none. */
long control_number(const char *text, const char *name);

/** Wait until the server says that as many polls wait as `expected` says. Dies after 30 s. */
void control_await_waiting(long (*expected)(void));

/** How to make an event: POST /vault/notify, or a GET of `path` in its place. NULL: notify. */
void control_trigger(const char *path);

/** Make an event. @return the time just before the request was sent; its answer is under way */
uint64_t control_notify(const char *interest);

/** Run the event loop until the answer to the last request is there. */
void control_await(void);

/** Requests that were sent twice because the server had closed the connection meanwhile. */
int control_repeated(void);

/** GET /plain.txt `count` times on 8 keep-alive connections. @return CPU time of the server a request, in ns */
double control_plain(const gauge_t *gauge, int count);

/** Notify an interest that nobody holds, `count` times. @return CPU time of the server a request, in ns */
double control_unheld(const gauge_t *gauge, int count);

#endif
