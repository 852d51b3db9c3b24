/* SPDX-License-Identifier: Apache-2.0 */
/*
 * views: requests one page many times, and prints what an answer costs the server; with --renew, writes a row before
 * each request, and prints how soon a view shows it.
 *
 * bench/run starts it for the case "cache", with servers of its own; bench/README.md explains the output.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gauge.h"
#include "option.h"
#include "wire.h"

#define CONNECTIONS_MAX 256
#define REQUESTS_MAX 1000000
#define MS 1000000ULL
#define PATIENCE (30000 * MS)

typedef struct request_t {
    char text[1024];
    size_t length;
} request_t;

static request_t view, write_row, plain;
static int port, parent, database_parent, connections = 8, requests = 5000, rate, every, renews;
static gauge_t server, database;

static wire_conn_t viewers[CONNECTIONS_MAX];
static int left, answered, reopened, writes;
static size_t length; /* of the last answer's body */

static double times[REQUESTS_MAX];

static void set_request(request_t *request, const char *path)
{
    int size = snprintf(request->text, sizeof request->text, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);

    if (size < 0 || (size_t)size >= sizeof request->text) {
        wire_die("the path is too long: %s", path);
    }
    request->length = (size_t)size;
}

static void send_request(wire_conn_t *conn, const request_t *request)
{
    wire_send(conn, request->text, request->length);
}

/* ------------------------------------------------------------------ many views */

static void view_next(wire_conn_t *conn)
{
    if (left > 0) {
        left--;
        send_request(conn, &view);
    }
}

/* With --rate, a connection is idle until a view is due. */
static void send_due(uint64_t elapsed)
{
    int64_t due = (int64_t)(elapsed * (uint64_t)rate / (1000 * MS)) - (requests - left);

    for (int i = 0; i < connections && due > 0; i++) {
        if (!viewers[i].under_way) {
            view_next(&viewers[i]);
            due--;
        }
    }
}

static void viewed(wire_conn_t *conn, const wire_answer_t *answer)
{
    if (answer->status != 200) {
        wire_die("%.*s was answered %d", (int)strcspn(view.text, "\r"), view.text, answer->status);
    }
    answered++;
    length = answer->length;
    if (!rate) {
        view_next(conn);
    }
}

static void view_closed(wire_conn_t *conn, int lost)
{
    left += lost;
    reopened += lost;
    view_next(conn);
}

static void wrote(wire_conn_t *conn, const wire_answer_t *answer)
{
    if (answer->status != 200) {
        wire_die("a write was answered %d: %.200s", answer->status, answer->body);
    }
    writes++;
}

static void write_closed(wire_conn_t *conn, int lost)
{
    if (lost) {
        send_request(conn, &write_row);
    }
}

static wire_conn_t writer = {.fd = -1, .answered = wrote, .closed = write_closed};

/* All views, with a write every `every` ms if that is not 0; the first one is half an interval after the start.
 * @return how long it took, in seconds */
static double run_views(void)
{
    uint64_t begin = wire_now(), next = begin + (uint64_t)every * MS / 2, now;

    left = requests;
    for (int i = 0; i < connections; i++) {
        viewers[i] = (wire_conn_t){.fd = -1, .answered = viewed, .closed = view_closed};
        if (!rate) {
            view_next(&viewers[i]);
        }
    }
    while (answered < requests) {
        now = wire_now();
        if (rate > 0) {
            send_due(now - begin);
        }
        if (every > 0 && now >= next && !writer.under_way) {
            next += (uint64_t)every * MS;
            send_request(&writer, &write_row);
        }
        if (now - begin > PATIENCE + (uint64_t)requests * MS * 10) {
            wire_die("%d of %d views have no answer", requests - answered, requests);
        }
        wire_step(rate > 0 ? 1 : every > 0 ? 5 : 100);
    }
    return (double)(wire_now() - begin) / 1e9;
}

static void print_views(double seconds, uint64_t cpu, uint64_t database_cpu)
{
    printf("Requests: %d\n", answered);
    printf("Bytes: %zu\n", length);
    printf("Writes: %d\n", writes);
    printf("Seconds: %.3f\n", seconds);
    printf("PerSecond: %.0f\n", answered / seconds);
    printf("CpuUs: %.2f\n", (double)cpu / 1e3 / answered);
    printf("DatabaseCpuUs: %.2f\n", (double)database_cpu / 1e3 / answered);
    printf("Reopened: %d\n", reopened);
}

/* ------------------------------------------------------------------- renewals */

static char last[65536];
static int is_new; /* the last answer differed from the one before */

static void took(wire_conn_t *conn, const wire_answer_t *answer)
{
    if (answer->status != 200 || answer->length >= sizeof last) {
        wire_die("a request was answered %d, with %zu bytes", answer->status, answer->length);
    }
    is_new = strcmp(last, answer->body) != 0;
    memcpy(last, answer->body, answer->length + 1);
}

static void ended(wire_conn_t *conn, int lost)
{
    if (lost) {
        wire_die("the server closed a connection without an answer");
    }
}

/* @return milliseconds from now until the whole answer is read */
static double ask(wire_conn_t *conn, const request_t *request)
{
    uint64_t begin;

    if (conn->fd < 0 || wire_is_stale(conn)) {
        wire_close(conn);
        wire_open(conn);
    }
    begin = wire_now();
    send_request(conn, request);
    while (conn->under_way) {
        wire_step(100);
        if (wire_now() - begin > PATIENCE) {
            wire_die("%.*s has no answer", (int)strcspn(request->text, "\r"), request->text);
        }
    }
    return (double)(wire_now() - begin) / MS;
}

/* Writes, and views at once. The same view again is kept already; the plain file shows how busy the machine is.
 * @return how many views did not show what was written before */
static int run_renewals(void)
{
    static double again[REQUESTS_MAX], file[REQUESTS_MAX], write[REQUESTS_MAX];
    wire_conn_t viewer = {.fd = -1, .answered = took, .closed = ended};
    int outdated = 0;

    writer.closed = ended;
    for (int i = 0; i < renews; i++) {
        ask(&viewer, &view);
        write[i] = ask(&writer, &write_row);
        times[i] = ask(&viewer, &view);
        outdated += !is_new;
        again[i] = ask(&viewer, &view);
        file[i] = ask(&viewer, &plain);
    }
    printf("Renewals: %d\nOutdated: %d\n", renews, outdated);
    for (int i = 0; i < 2; i++) {
        double part = i ? 0.99 : 0.5;
        const char *name = i ? "P99" : "P50";
        printf("Write%sMs: %.3f\nRenewed%sMs: %.3f\n", name, gauge_rank(write, (size_t)renews, part), name,
               gauge_rank(times, (size_t)renews, part));
        printf("Kept%sMs: %.3f\nPlain%sMs: %.3f\n", name, gauge_rank(again, (size_t)renews, part), name,
               gauge_rank(file, (size_t)renews, part));
    }
    return outdated;
}

/* ----------------------------------------------------------------------- main */

static void usage(void)
{
    fputs("usage: views --port N --parent PID --path PATH [--connections N] [--requests N] [--rate N]\n"
          "             [--write PATH [--every MS | --renew N]] [--database PID]\n"
          "  --path      what is requested, --requests times (5000) on --connections connections (8)\n"
          "  --write     what to GET to write a row\n"
          "  --every     write a row every so many milliseconds meanwhile (never)\n"
          "  --renew     instead of all that: N times write a row, and view the page as soon as the write is answered\n"
          "  --database  the parent process of a database server, whose CPU counts, too\n",
          stderr);
    exit(2);
}

static void read_option(int c)
{
    switch (c) {
    case 'p':
        port = option_whole("port", optarg, 1, 65535);
        break;
    case 'P':
        parent = option_whole("parent", optarg, 2, 1 << 30);
        break;
    case 'u':
        set_request(&view, optarg);
        break;
    case 'w':
        set_request(&write_row, optarg);
        break;
    case 'c':
        connections = option_whole("connections", optarg, 1, CONNECTIONS_MAX);
        break;
    case 'n':
        requests = option_whole("requests", optarg, 1, REQUESTS_MAX);
        break;
    case 'R':
        rate = option_whole("rate", optarg, 1, 1000000);
        break;
    case 'e':
        every = option_whole("every", optarg, 0, 60000);
        break;
    case 'r':
        renews = option_whole("renew", optarg, 1, REQUESTS_MAX);
        break;
    case 'd':
        database_parent = option_whole("database", optarg, 2, 1 << 30);
        break;
    default:
        usage();
    }
}

static void read_options(int argc, char **argv)
{
    static const struct option names[] = {{"port", required_argument, NULL, 'p'},
                                          {"parent", required_argument, NULL, 'P'},
                                          {"path", required_argument, NULL, 'u'},
                                          {"write", required_argument, NULL, 'w'},
                                          {"connections", required_argument, NULL, 'c'},
                                          {"requests", required_argument, NULL, 'n'},
                                          {"rate", required_argument, NULL, 'R'},
                                          {"every", required_argument, NULL, 'e'},
                                          {"renew", required_argument, NULL, 'r'},
                                          {"database", required_argument, NULL, 'd'},
                                          {NULL, 0, NULL, 0}};
    int c;

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        read_option(c);
    }
    if (optind != argc || port == 0 || parent == 0 || !view.length || ((every || renews) && !write_row.length)) {
        usage();
    }
}

int main(int argc, char **argv)
{
    uint64_t cpu, database_cpu = 0;
    double seconds;

    read_options(argc, argv);
    set_request(&plain, "/plain.txt");
    wire_start(port);
    if (renews) {
        return run_renewals() > 0;
    }
    gauge_open(&server, parent);
    if (database_parent) {
        gauge_open_any(&database, database_parent);
    }
    cpu = gauge_cpu(&server);
    seconds = run_views();
    cpu = gauge_cpu(&server) - cpu;
    if (database_parent) {
        database_cpu = gauge_cpu_since(&database);
    }
    if (!gauge_is_same(&server)) {
        wire_die("a process of the server ended or started during the run: the figures would be wrong");
    }
    print_views(seconds, cpu, database_cpu);
    return 0;
}
