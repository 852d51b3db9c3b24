/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file control.h
 * A second client of the server under load: requests its status, notifies, and fetches a plain file for
 * comparison.
 *
 * Each call runs the event loop until its own answer has arrived, so answers to polls are handled meanwhile.
 */
#ifndef VAULT_BENCH_CONTROL_H
#define VAULT_BENCH_CONTROL_H

#include <stdint.h>

#include "gauge.h"

/** The values of /vault/status?auto, summed over the children. */
typedef struct control_status_t {
    long waiting;
    long in_threads;
    long answers;
    long wakeups;
    long idle_wakeups;
    long runs;
} control_status_t;

void control_status(control_status_t *status);

/** The body of a GET that must succeed; valid until the next call. */
const char *control_get(const char *path);

/** The number after `name` in lines "name: number", as in /vault/status?auto. Exits if there is none. */
long control_number(const char *text, const char *name);

/** Wait until the server reports as many waiting polls as `expected` returns. Exits after 30 s. */
void control_await_waiting(long (*expected)(void));

/** The server is not ours: the number that waits is in /nchan_stub_status, and a message is posted to /pub. */
void control_pubsub(void);

/** Pause this long between two requests of the status while polls are awaited; 0: a short time. */
void control_status_pause(int milliseconds);

/** How to trigger an event: by POST /vault/notify, or by a GET of `path`. NULL: notify. */
void control_trigger(const char *path);

/** Send notifies to the server at this port; 0: the server under load. */
void control_notify_at(int port);

/** Trigger an event. @return the time just before the request was sent; its answer is pending */
uint64_t control_notify(const char *interest);

/** Run the event loop until the last request is answered. */
void control_await(void);

/** The number of requests that were sent twice because the server had closed the connection. */
int control_repeated(void);

/** GET /plain.txt `count` times on 8 keep-alive connections. @return CPU time of the server for a request, in ns */
double control_plain(const gauge_t *gauge, int count);

/** Notify an interest that no page holds, `count` times. @return CPU time of the server for a request, in ns */
double control_unheld(const gauge_t *gauge, int count);

#endif
