/* SPDX-License-Identifier: Apache-2.0 */
/* Many keep-alive HTTP/1.1 connections to one server on loopback, in one thread: see wire.h. */
#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define BUFFER_SIZE 65536
#define ANSWER_MAX (4 * 1024 * 1024)
#define EVENTS 256

static struct sockaddr_in server;
static int epoll_fd = -1;
static char buffer[BUFFER_SIZE + 1];

void wire_die(const char *fmt, ...)
{
    va_list ap;

    fflush(stdout);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    exit(2);
}

uint64_t wire_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void wire_start(int port)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    server.sin_family = AF_INET;
    server.sin_port = htons((uint16_t)port);
    server.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    if (epoll_fd < 0) {
        wire_die("no epoll: %s", strerror(errno));
    }
}

/* The connect may block; on loopback it is done at once while the server's backlog has room. */
void wire_open(wire_conn_t *conn)
{
    struct epoll_event event = {.events = EPOLLIN | EPOLLRDHUP, .data.ptr = conn};
    struct sockaddr_in to = server;
    struct timeval limit = {.tv_sec = 10};
    int one = 1;

    if (conn->port) {
        to.sin_port = htons((uint16_t)conn->port);
    }
    conn->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (conn->fd < 0) {
        wire_die("no socket: %s", strerror(errno));
    }
    setsockopt(conn->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(conn->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (connect(conn->fd, (struct sockaddr *)&to, sizeof to) != 0) {
        wire_die("no connection to port %d within 10 s: %s", ntohs(to.sin_port), strerror(errno));
    }
    conn->under_way = 0;
    if (epoll_ctl(epoll_fd, EPOLL_CTL_ADD, conn->fd, &event) != 0) {
        wire_die("epoll_ctl: %s", strerror(errno));
    }
}

void wire_reset(wire_conn_t *conn)
{
    struct linger at_once = {.l_onoff = 1};

    if (conn->fd >= 0) {
        setsockopt(conn->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    }
    wire_close(conn);
}

void wire_pause(wire_conn_t *conn, int pause)
{
    struct epoll_event event = {.events = pause ? 0 : EPOLLIN | EPOLLRDHUP, .data.ptr = conn};

    if (conn->fd >= 0) {
        epoll_ctl(epoll_fd, EPOLL_CTL_MOD, conn->fd, &event);
    }
}

void wire_close(wire_conn_t *conn)
{
    if (conn->fd >= 0) {
        close(conn->fd);
    }
    free(conn->partial);
    conn->partial = NULL;
    conn->used = 0;
    conn->fd = -1;
    conn->under_way = 0;
}

int wire_is_stale(const wire_conn_t *conn)
{
    char byte;
    ssize_t got;

    if (conn->fd < 0) {
        return 1;
    }
    got = recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    return !(got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK));
}

void wire_send(wire_conn_t *conn, const char *request, size_t length)
{
    if (conn->fd < 0) {
        wire_open(conn);
    }
    conn->under_way = 1;
    if (send(conn->fd, request, length, MSG_NOSIGNAL) == (ssize_t)length) {
        return;
    }
    /* Closed by the server: epoll says so, and `closed` is called from there, as for a request lost on its way. */
    if (errno != EPIPE && errno != ECONNRESET) {
        wire_die("a request could not be sent: %s", strerror(errno));
    }
}

/* The value of a header, or NULL. `head` starts with the status line. */
static const char *header(const char *head, const char *name)
{
    size_t length = strlen(name);
    const char *line = head;

    while ((line = strstr(line, "\r\n")) != NULL) {
        line += 2;
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            return line + length + 1 + strspn(line + length + 1, " \t");
        }
    }
    return NULL;
}

/* Join the chunks of a body in place, once all are there. 1: done; 0: more to come. */
static int join_chunks(char *body, size_t available, size_t *length)
{
    char *from = body, *to = body, *end = body + available, *line_end;
    unsigned long size;

    for (int pass = 0; pass < 2; pass++) { /* first look only: an incomplete body must stay as it is */
        for (from = to = body;; from = line_end + 2 + size + 2) {
            line_end = from < end ? memmem(from, (size_t)(end - from), "\r\n", 2) : NULL;
            if (line_end == NULL) {
                return 0;
            }
            size = strtoul(from, NULL, 16);
            if (size > ANSWER_MAX) {
                wire_die("a chunk of %lu bytes", size);
            }
            if ((size_t)(end - line_end) < 2 + size + 2) {
                return 0;
            }
            if (size == 0) {
                break;
            }
            if (pass == 1) {
                memmove(to, line_end + 2, size);
            }
            to += size;
        }
    }
    *to = '\0';
    *length = (size_t)(to - body);
    return 1;
}

/* Read one answer out of `text`. 1: complete; 0: more to come. `at_end`: nothing more will come. */
static int parse(char *text, size_t length, int at_end, wire_answer_t *answer)
{
    char *head_end = memmem(text, length, "\r\n\r\n", 4);
    const char *value;
    size_t available;
    int complete = 1;

    if (head_end == NULL) {
        return 0;
    }
    if (strncmp(text, "HTTP/1.", 7) != 0 || length < 12) {
        wire_die("not an HTTP answer: %.40s", text);
    }
    *head_end = '\0';
    answer->head = text;
    answer->status = atoi(text + 9);
    answer->body = head_end + 4;
    answer->length = 0;
    available = length - (size_t)(answer->body - text);
    if (answer->status == 204 || answer->status == 304) {
        return 1;
    }
    if ((value = header(text, "Transfer-Encoding")) != NULL && strncasecmp(value, "chunked", 7) == 0) {
        complete = join_chunks(head_end + 4, available, &answer->length);
    }
    else if ((value = header(text, "Content-Length")) != NULL) {
        answer->length = strtoul(value, NULL, 10);
        complete = available >= answer->length;
    }
    else {
        answer->length = available;
        complete = at_end;
    }
    if (!complete) {
        *head_end = '\r';
    }
    return complete;
}

static void keep_partial(wire_conn_t *conn, const char *text, size_t length)
{
    if (length > ANSWER_MAX) {
        wire_die("an answer of more than %d bytes", ANSWER_MAX);
    }
    if (conn->partial == NULL) {
        conn->used = 0;
    }
    conn->partial = realloc(conn->partial, conn->used + length + 1);
    if (conn->partial == NULL) {
        wire_die("out of memory");
    }
    memcpy(conn->partial + conn->used, text, length);
    conn->used += length;
    conn->partial[conn->used] = '\0';
}

/* The callback may send, reopen and receive again: nothing of `conn` is touched after it. */
static void deliver(wire_conn_t *conn, const wire_answer_t *answer, char *owned)
{
    conn->partial = NULL;
    conn->used = 0;
    conn->under_way = 0;
    conn->answered(conn, answer);
    free(owned);
}

static void take(wire_conn_t *conn, size_t got)
{
    wire_answer_t answer;

    if (!conn->under_way) {
        wire_die("%zu bytes that were not requested: %.60s", got, buffer);
    }
    if (conn->piece != NULL) {
        conn->piece(conn, buffer, got);
        return;
    }
    if (conn->partial == NULL && parse(buffer, got, 0, &answer)) {
        deliver(conn, &answer, NULL);
        return;
    }
    keep_partial(conn, buffer, got);
    if (conn->used > got && parse(conn->partial, conn->used, 0, &answer)) {
        deliver(conn, &answer, conn->partial);
    }
}

static void take_end(wire_conn_t *conn)
{
    int lost = conn->under_way;
    wire_answer_t answer;

    if (lost && conn->partial != NULL && parse(conn->partial, conn->used, 1, &answer)) {
        char *owned = conn->partial;

        conn->partial = NULL;
        wire_close(conn);
        deliver(conn, &answer, owned);
        return;
    }
    wire_close(conn);
    if (conn->closed != NULL) {
        conn->closed(conn, lost);
    }
}

static void receive(wire_conn_t *conn)
{
    ssize_t got = recv(conn->fd, buffer, BUFFER_SIZE, MSG_DONTWAIT);

    if (got > 0) {
        buffer[got] = '\0';
        take(conn, (size_t)got);
    }
    else if (got == 0 || errno == ECONNRESET || errno == EPIPE) {
        take_end(conn);
    }
    else if (errno != EAGAIN && errno != EINTR) {
        wire_die("recv: %s", strerror(errno));
    }
}

void wire_step(int milliseconds)
{
    struct epoll_event events[EVENTS];
    int n = epoll_wait(epoll_fd, events, EVENTS, milliseconds);

    if (n < 0 && errno != EINTR) {
        wire_die("epoll_wait: %s", strerror(errno));
    }
    for (int i = 0; i < n; i++) {
        wire_conn_t *conn = events[i].data.ptr;

        /* A callback of this batch may have closed it: then the event is of a descriptor that is gone. */
        if (conn->fd >= 0) {
            receive(conn);
        }
    }
}
