/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crowd: N clients of a slow page, each of whom asks again as soon as it has its answer or has lost patience,
 * and one reader of a plain page beside them; prints what they got.
 *
 * bench/run starts it, once with a limit and once without, each with a server of its own; bench/README.md says
 * what the lines mean.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gauge.h"
#include "option.h"
#include "wire.h"

#define CLIENTS_MAX 2000
#define SAMPLES_MAX 200000
#define MS 1000000ULL
/* Who was refused comes back after this; a browser would take Retry-After, 5 s, and there would be fewer. */
#define AGAIN_AFTER (500 * MS)
#define READ_EVERY (20 * MS)

static const char slow[] = "GET /backend HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char plain[] = "GET /plain.txt HTTP/1.1\r\nHost: localhost\r\n\r\n";

typedef struct client_t {
    wire_conn_t conn; /* first: callbacks get it back */
    const char *request;
    size_t length;
    uint64_t patience;       /* 0: for ever */
    uint64_t asked, next_at; /* when it asked; when it asks again */
    double *samples;         /* of what it got in time, ms */
    size_t *count;
} client_t;

static client_t clients[CLIENTS_MAX], reader;
static double served[SAMPLES_MAX], read_plain[SAMPLES_MAX];
static size_t served_count, read_count;
static long refused, gave_up, lost;
static int measures;

static void sample(client_t *c, double ms)
{
    if (measures && *c->count < SAMPLES_MAX) {
        c->samples[(*c->count)++] = ms;
    }
}

static void answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    client_t *c = (client_t *)conn;
    uint64_t now = wire_now();

    if (answer->status == 200) {
        sample(c, (double)(now - c->asked) / MS);
        c->next_at = c == &reader ? now + READ_EVERY : now;
    }
    else {
        refused += measures;
        c->next_at = now + AGAIN_AFTER;
    }
    c->asked = 0;
}

static void closed(wire_conn_t *conn, int was_asked)
{
    client_t *c = (client_t *)conn;

    lost += was_asked && measures;
    if (was_asked) {
        c->asked = 0;
        c->next_at = wire_now() + AGAIN_AFTER;
    }
}

static void act(client_t *c, uint64_t now)
{
    if (c->asked && c->patience && now - c->asked > c->patience) {
        gave_up += measures;
        wire_close(&c->conn);
        c->asked = 0;
        c->next_at = now;
    }
    if (!c->asked && now >= c->next_at) {
        c->asked = now;
        wire_send(&c->conn, c->request, c->length);
    }
}

static void run_until(int count, uint64_t end)
{
    uint64_t now;

    while ((now = wire_now()) < end) {
        for (int i = 0; i < count; i++) {
            act(&clients[i], now);
        }
        act(&reader, now);
        wire_step(2);
    }
}

static void set_up(client_t *c, const char *request, double *samples, size_t *count, uint64_t patience)
{
    *c = (client_t){.conn = {.fd = -1, .answered = answered, .closed = closed},
                    .request = request,
                    .length = strlen(request),
                    .samples = samples,
                    .count = count,
                    .patience = patience};
}

static void print(double seconds)
{
    printf("Served: %zu\nServedPerSecond: %.1f\n", served_count, (double)served_count / seconds);
    printf("ServedP50Ms: %.1f\nServedP99Ms: %.1f\n", gauge_rank(served, served_count, 0.5),
           gauge_rank(served, served_count, 0.99));
    printf("GaveUp: %ld\nRefused: %ld\nLost: %ld\n", gave_up, refused, lost);
    /* One that is still waited for counts as well: else a reader who never gets its page would look content. */
    if (reader.asked) {
        sample(&reader, (double)(wire_now() - reader.asked) / MS);
    }
    printf("PlainRead: %zu\nPlainP50Ms: %.1f\nPlainMaxMs: %.1f\n", read_count, gauge_rank(read_plain, read_count, 0.5),
           gauge_rank(read_plain, read_count, 1));
}

static void usage(void)
{
    fputs("usage: crowd --port N [--clients N] [--patience MS] [--before MS] [--measure MS]\n"
          "  --patience  after which a client hangs up and asks again (3000)\n"
          "  --before    how long they ask before it is measured (4000), and then how long it is (5000)\n",
          stderr);
    exit(2);
}

int main(int argc, char **argv)
{
    static const struct option options[] = {{"port", 1, NULL, 'p'},     {"clients", 1, NULL, 'c'},
                                            {"patience", 1, NULL, 'i'}, {"before", 1, NULL, 'b'},
                                            {"measure", 1, NULL, 'm'},  {NULL, 0, NULL, 0}};
    long port = 0, count = 50, patience = 3000, before = 4000, measure = 5000;
    uint64_t begin;
    int o;

    while ((o = getopt_long(argc, argv, "", options, NULL)) != -1) {
        switch (o) {
        case 'p':
            port = option_whole("port", optarg, 1, 65535);
            break;
        case 'c':
            count = option_whole("clients", optarg, 1, CLIENTS_MAX);
            break;
        case 'i':
            patience = option_whole("patience", optarg, 1, 600000);
            break;
        case 'b':
            before = option_whole("before", optarg, 0, 600000);
            break;
        case 'm':
            measure = option_whole("measure", optarg, 1, 600000);
            break;
        default:
            usage();
        }
    }
    if (!port || optind < argc) {
        usage();
    }
    wire_start((int)port);
    for (long i = 0; i < count; i++) {
        set_up(&clients[i], slow, served, &served_count, (uint64_t)patience * MS);
    }
    set_up(&reader, plain, read_plain, &read_count, 0);
    run_until((int)count, wire_now() + (uint64_t)before * MS);
    measures = 1;
    begin = wire_now();
    run_until((int)count, begin + (uint64_t)measure * MS);
    print((double)(wire_now() - begin) / 1e9);
    return 0;
}
