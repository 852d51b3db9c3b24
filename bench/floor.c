/* SPDX-License-Identifier: Apache-2.0 */
/*
 * floor: as little as a server of long polls can do, to compare with: one thread, epoll, one send a message, no HTTP
 * but four fixed requests. It forks one child, as the load program expects of a server.
 *
 *   GET /sub?id=NAME        waits for the next message of the channel
 *   POST /pub?id=NAME       sends its body, which must come in the same segment
 *   GET /nchan_stub_status  "subscribers: N"
 *   GET anything            320 bytes
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define FILES_MAX 65536
#define CHANNEL_MAX 28
#define EVENTS 512

static char waits[FILES_MAX][CHANNEL_MAX + 1]; /* by descriptor: the channel; "": none */
static int files_end, subscribers, set;

static void die(const char *what)
{
    perror(what);
    exit(2);
}

static void send_text(int fd, const char *body, size_t length)
{
    char answer[1024];
    int head = snprintf(answer, sizeof answer, "HTTP/1.1 200 OK\r\nContent-Length: %zu\r\n\r\n", length);

    if (head + length > sizeof answer) {
        length = sizeof answer - (size_t)head;
    }
    memcpy(answer + head, body, length);
    if (send(fd, answer, (size_t)head + length, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 && errno != EPIPE &&
        errno != ECONNRESET) {
        die("floor: send");
    }
}

static void unsubscribe(int fd)
{
    subscribers -= waits[fd][0] != '\0';
    waits[fd][0] = '\0';
}

static void publish(const char *channel, const char *body)
{
    for (int fd = 0; fd < files_end; fd++) {
        if (waits[fd][0] != '\0' && strcmp(waits[fd], channel) == 0) {
            unsubscribe(fd);
            send_text(fd, body, strlen(body));
        }
    }
}

static void serve(int fd, const char *request)
{
    char channel[CHANNEL_MAX + 1] = "", text[64], file[320];
    const char *body = strstr(request, "\r\n\r\n");

    if (sscanf(request, "GET /sub?id=%28s", channel) == 1) {
        unsubscribe(fd);
        memcpy(waits[fd], channel, sizeof channel);
        subscribers++;
    }
    else if (body != NULL && sscanf(request, "POST /pub?id=%28s", channel) == 1) {
        publish(channel, body + 4);
        send_text(fd, "", 0);
    }
    else if (strncmp(request, "GET /nchan_stub_status ", 23) == 0) {
        send_text(fd, text, (size_t)snprintf(text, sizeof text, "subscribers: %d\n", subscribers));
    }
    else {
        memset(file, 'x', sizeof file);
        send_text(fd, file, sizeof file);
    }
}

static void take(int fd)
{
    char request[2048];
    ssize_t got = recv(fd, request, sizeof request - 1, 0);

    if (got > 0) {
        request[got] = '\0';
        serve(fd, request);
    }
    else {
        unsubscribe(fd);
        close(fd);
    }
}

static void watch(int fd)
{
    struct epoll_event e = {.events = EPOLLIN, .data.fd = fd};

    if (epoll_ctl(set, EPOLL_CTL_ADD, fd, &e) != 0) {
        die("floor: epoll_ctl");
    }
}

static void admit(int listener)
{
    int fd = accept(listener, NULL, NULL), on = 1;

    if (fd < 0 || fd >= FILES_MAX) {
        die("floor: accept");
    }
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    files_end = fd < files_end ? files_end : fd + 1;
    watch(fd);
}

static void run(int listener)
{
    struct epoll_event events[EVENTS];

    set = epoll_create1(0);
    watch(listener);
    for (;;) {
        int n = epoll_wait(set, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            (events[i].data.fd == listener ? admit : take)(events[i].data.fd);
        }
    }
}

static int open_listener(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((unsigned short)port)};
    int fd = socket(AF_INET, SOCK_STREAM, 0), on = 1;

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (fd < 0 || bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 16384) != 0) {
        die("floor: listen");
    }
    return fd;
}

static pid_t child;

static void end(int number)
{
    (void)number;
    kill(child, SIGTERM);
    _exit(0);
}

int main(int argc, char **argv)
{
    struct rlimit files;
    int listener;

    if (argc != 2) {
        fputs("usage: floor PORT\n", stderr);
        return 2;
    }
    getrlimit(RLIMIT_NOFILE, &files);
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
    listener = open_listener(atoi(argv[1]));
    if ((child = fork()) == 0) {
        run(listener);
    }
    signal(SIGTERM, end);
    waitpid(child, NULL, 0);
    return 0;
}
