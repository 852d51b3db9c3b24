/* SPDX-License-Identifier: Apache-2.0 */
/* A second client of the server under load: see control.h. */
#include "control.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "wire.h"

#define SECOND 1000000000u
#define PATIENCE (10 * (uint64_t)SECOND) /* nanoseconds until an answer counts as missing */
#define WAITING_PATIENCE (30 * (uint64_t)SECOND)
#define PLAIN_WIDTH 8

static char request[1024];
static size_t request_length;
static const char *trigger;
static control_status_t *wanted;
static char *kept; /* the last body of control_get() */
static int keeps;
static int repeated;
static int pubsub;
static uint64_t pause_given; /* nanoseconds between two requests of the status; 0: none was given */
static int plain_left; /* requests that still have to be sent */

long control_number(const char *text, const char *name)
{
    size_t length = strlen(name);
    const char *line = text;

    while (line != NULL) {
        if (strncmp(line, name, length) == 0 && strncmp(line + length, ": ", 2) == 0) {
            return atol(line + length + 2);
        }
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    wire_die("the status has no line \"%s: …\"", name);
}

static void answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    if (answer->status < 200 || answer->status >= 400) {
        wire_die("%.*s was answered %d: %.200s", (int)strcspn(request, "\r"), request, answer->status, answer->body);
    }
    if (keeps) {
        free(kept);
        kept = strdup(answer->body);
        keeps = 0;
    }
    if (wanted == NULL) {
        return;
    }
    if (pubsub) {
        *wanted = (control_status_t){.waiting = control_number(answer->body, "subscribers")};
        wanted = NULL;
        return;
    }
    wanted->waiting = control_number(answer->body, "Waiting");
    wanted->in_threads = control_number(answer->body, "WaitingInThreads");
    wanted->answers = control_number(answer->body, "Answers");
    wanted->wakeups = control_number(answer->body, "WakeUps");
    wanted->idle_wakeups = control_number(answer->body, "IdleWakeUps");
    wanted->runs = control_number(answer->body, "Runs");
    wanted = NULL;
}

static void closed(wire_conn_t *conn, int lost)
{
    if (lost) {
        repeated++;
        wire_send(conn, request, request_length);
    }
}

static wire_conn_t control = {.fd = -1, .answered = answered, .closed = closed};
static wire_conn_t other = {.fd = -1, .answered = answered, .closed = closed}; /* to the server that is notified */

/* A stale connection is replaced before the clock starts. The server may still close it in between, which
 * `repeated` counts. */
static uint64_t send_request_on(wire_conn_t *conn)
{
    uint64_t before;

    control_await();
    if (wire_is_stale(conn)) {
        wire_close(conn);
        wire_open(conn);
    }
    before = wire_now();
    wire_send(conn, request, request_length);
    return before;
}

static uint64_t send_request(void)
{
    return send_request_on(&control);
}

void control_await(void)
{
    uint64_t limit = wire_now() + PATIENCE;

    while (control.under_way || other.under_way) {
        wire_step(100);
        if (wire_now() > limit) {
            wire_die("%.*s got no answer within 10 s", (int)strcspn(request, "\r"), request);
        }
    }
}

static void set_get(const char *path)
{
    control_await();
    request_length = (size_t)snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    if (request_length >= sizeof request) {
        wire_die("the path is too long: %s", path);
    }
}

void control_status(control_status_t *status)
{
    set_get(pubsub ? "/nchan_stub_status" : "/vault/status?auto");
    wanted = status;
    send_request();
    control_await();
}

const char *control_get(const char *path)
{
    set_get(path);
    keeps = 1;
    send_request();
    control_await();
    return kept;
}

void control_pubsub(void)
{
    pubsub = 1;
}

void control_status_pause(int milliseconds)
{
    pause_given = (uint64_t)milliseconds * (SECOND / 1000);
}

void control_await_waiting(long (*expected)(void))
{
    uint64_t limit = wire_now() + WAITING_PATIENCE, pause;
    control_status_t status;
    long missing;

    for (;;) {
        control_status(&status);
        missing = labs(expected() - status.waiting);
        if (missing == 0) {
            return;
        }
        if (wire_now() > limit) {
            wire_die("after 30 s %ld polls wait, not %ld", status.waiting, expected());
        }
        /* The status costs the server as much as an answer, so it is requested rarely while many polls are
         * missing. */
        pause = wire_now() + (pause_given ? pause_given : missing > 100 ? SECOND / 100 : SECOND / 1000);
        while (wire_now() < pause) {
            wire_step(1);
        }
    }
}

void control_trigger(const char *path)
{
    trigger = path;
}

void control_notify_at(int port)
{
    other.port = port;
}

uint64_t control_notify(const char *interest)
{
    if (trigger != NULL) {
        set_get(trigger);
        return send_request();
    }
    control_await();
    if (pubsub) {
        request_length = (size_t)snprintf(request, sizeof request,
                                          "POST /pub?id=%s HTTP/1.1\r\nHost: localhost\r\n"
                                          "Content-Length: 120\r\n\r\n%0120d",
                                          interest, 0);
        if (request_length >= sizeof request) {
            wire_die("the channel is too long: %s", interest);
        }
        return send_request();
    }
    request_length = (size_t)snprintf(request, sizeof request,
                                      "POST /vault/notify HTTP/1.1\r\nHost: localhost\r\n"
                                      "Content-Type: application/x-www-form-urlencoded\r\n"
                                      "Content-Length: %zu\r\n\r\ninterest=%s",
                                      strlen("interest=") + strlen(interest), interest);
    if (request_length >= sizeof request) {
        wire_die("the interest is too long: %s", interest);
    }
    return send_request_on(other.port ? &other : &control);
}

int control_repeated(void)
{
    return repeated;
}

static const char plain_request[] = "GET /plain.txt HTTP/1.1\r\nHost: localhost\r\n\r\n";

static void plain_next(wire_conn_t *conn)
{
    if (plain_left > 0) {
        plain_left--;
        wire_send(conn, plain_request, sizeof plain_request - 1);
    }
}

static void plain_answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    if (answer->status != 200) {
        wire_die("GET /plain.txt was answered %d", answer->status);
    }
    plain_next(conn);
}

static void plain_closed(wire_conn_t *conn, int lost)
{
    plain_left += lost;
    plain_next(conn);
}

static int any_under_way(const wire_conn_t *conns)
{
    for (int i = 0; i < PLAIN_WIDTH; i++) {
        if (conns[i].under_way) {
            return 1;
        }
    }
    return 0;
}

double control_plain(const gauge_t *gauge, int count)
{
    wire_conn_t conns[PLAIN_WIDTH];
    uint64_t cpu = gauge_cpu(gauge), limit = wire_now() + PATIENCE + (uint64_t)count * 1000000u;

    plain_left = count;
    memset(conns, 0, sizeof conns);
    for (int i = 0; i < PLAIN_WIDTH; i++) {
        conns[i] = (wire_conn_t){.fd = -1, .answered = plain_answered, .closed = plain_closed};
        plain_next(&conns[i]);
    }
    while (any_under_way(conns)) {
        wire_step(100);
        if (wire_now() > limit) {
            wire_die("GET /plain.txt got no answer within 10 s");
        }
    }
    cpu = gauge_cpu(gauge) - cpu;
    for (int i = 0; i < PLAIN_WIDTH; i++) {
        wire_close(&conns[i]);
    }
    return (double)cpu / count;
}

double control_unheld(const gauge_t *gauge, int count)
{
    uint64_t cpu = gauge_cpu(gauge);

    for (int i = 0; i < count; i++) {
        control_notify("nobody-waits-for-this");
        control_await();
    }
    return (double)(gauge_cpu(gauge) - cpu) / count;
}
