/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hold: holds N polls on a running server, notifies, and prints what the server used and how long the answers took.
 *
 * bench/run starts it with a server of its own; bench/README.md says what each line means.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "gauge.h"
#include "option.h"
#include "pages.h"
#include "restart.h"
#include "wire.h"

#define ROUNDS_MAX 10000

typedef enum case_t { CASE_BROADCAST, CASE_SINGLE, CASE_EACH, CASE_RESTART } case_t;
static const char *const case_names[] = {"broadcast", "single", "each", "restart"};

typedef struct options_t {
    case_t which;
    int port;
    int parent;
    int count;
    int rounds;
    int apart;
    int eager;
    int streams;
    int pubsub;
    int plain; /* plain requests after each round; 0: none */
    const char *path;
    const char *trigger;
} options_t;

/* One value for each round; ranks are taken over the rounds, so that one disturbed round does not decide. */
typedef struct series_t {
    double value[ROUNDS_MAX];
    size_t count;
} series_t;

typedef struct results_t {
    uint64_t memory_empty, memory_loaded, memory_first, memory_answered, memory_last; /* bytes */
    int threads_empty, threads_held;
    series_t answer_cpu; /* us of server CPU for an answer, from the notify to the last byte */
    series_t cycle_cpu;  /* the same, until all pages poll again and wait */
    series_t plain_cpu;  /* us of server CPU for a plain request */
    series_t all_ms;     /* from the notify until all pages have the answer */
    series_t rate;       /* answers per second in that time */
    double unheld_cpu;   /* us of server CPU for a notify of an interest that no page holds; < 0: not measured */
    double own_share;    /* of the machine, used by this program while answers come */
    double own_cpu, own_wall;
    control_status_t before, after;
} results_t;

static results_t results;
static gauge_t gauge;
static pages_t pages;
static options_t options = {.which = CASE_BROADCAST, .count = 1000, .rounds = 5, .plain = 2000};

static void add(series_t *series, double value)
{
    if (series->count < ROUNDS_MAX) {
        series->value[series->count++] = value;
    }
}

static double median(series_t *series)
{
    return gauge_rank(series->value, series->count, 0.5);
}

/* Uses every thread before memory is compared: what a server needs without pages is not the cost of a poll. */
static void warm_up(void)
{
    control_status_t status;

    control_plain(&gauge, 2000);
    control_status(&status);
    results.memory_empty = gauge_memory(&gauge);
    results.threads_empty = gauge_threads(&gauge);
}

static void hold_all(void)
{
    pages_load(&pages);
    results.memory_loaded = gauge_memory(&gauge);
    pages_poll(&pages, 1);
    pages_await_waiting(&pages);
    results.memory_first = gauge_memory(&gauge);
    results.threads_held = gauge_threads(&gauge);
    control_status(&results.before);
}

/* Sequentially: the next notify is sent when the server has answered the last one. */
static void notify_each(void)
{
    for (int i = 0; i < pages.count; i++) {
        pages_notify(&pages, i);
        control_await();
    }
}

/* All pages get one answer. After round 0, memory is measured. */
static void round_of_all(int round)
{
    uint64_t cpu = gauge_cpu(&gauge), own = gauge_own_cpu(), start = wire_now(), cpu_answered;
    int held = pages.count - pages.dead;
    double seconds;

    if (options.which == CASE_EACH) {
        notify_each();
    }
    else {
        pages_notify(&pages, -1);
    }
    pages_await_answers(&pages);
    seconds = (double)(wire_now() - start) / 1e9;
    cpu_answered = gauge_cpu(&gauge);
    results.own_cpu += (double)(gauge_own_cpu() - own) / 1e9;
    results.own_wall += seconds;
    pages_poll(&pages, 0);
    pages_await_waiting(&pages);
    add(&results.cycle_cpu, (double)(gauge_cpu(&gauge) - cpu) / 1e3 / held);
    add(&results.answer_cpu, (double)(cpu_answered - cpu) / 1e3 / held);
    add(&results.all_ms, seconds * 1e3);
    add(&results.rate, held / seconds);
    if (round == 0) {
        results.memory_answered = gauge_memory(&gauge);
    }
    if (options.plain > 0) {
        add(&results.plain_cpu, control_plain(&gauge, options.plain) / 1e3);
    }
}

/* Notifies one page of many, which gets its answer and polls again. The stride reaches pages of every child. */
static void round_of_one(int round)
{
    uint64_t own = gauge_own_cpu(), start = wire_now();

    pages_notify(&pages, (int)(((long)round * 7919) % pages.count));
    pages_await_answers(&pages);
    results.own_cpu += (double)(gauge_own_cpu() - own) / 1e9;
    results.own_wall += (double)(wire_now() - start) / 1e9;
    pages_poll(&pages, 0);
    pages_await_waiting(&pages);
    if (round == 0) {
        results.memory_answered = gauge_memory(&gauge);
    }
}

static void run_rounds(void)
{
    pages_reserve(&pages, (size_t)options.rounds * (size_t)(options.which == CASE_SINGLE ? 1 : pages.count));
    results.unheld_cpu = -1;
    for (int round = 0; round < options.rounds; round++) {
        if (options.which == CASE_SINGLE) {
            round_of_one(round);
        }
        else {
            round_of_all(round);
        }
    }
    results.memory_last = gauge_memory(&gauge);
    control_status(&results.after);
    if (options.trigger == NULL && !options.pubsub && options.plain > 0) {
        results.unheld_cpu = control_unheld(&gauge, 500) / 1e3;
    }
    results.own_share = results.own_cpu / results.own_wall / (double)sysconf(_SC_NPROCESSORS_ONLN);
}

static double per_poll(uint64_t more, uint64_t less)
{
    return ((double)more - (double)less) / 1024 / pages.count;
}

static void print_memory(void)
{
    printf("ServerMB: %.1f\n", (double)results.memory_empty / 1048576);
    printf("HeldKB: %.2f\n", per_poll(results.memory_first, results.memory_empty));
    printf("HeldAnsweredKB: %.2f\n", per_poll(results.memory_answered, results.memory_empty));
    printf("HeldLastKB: %.2f\n", per_poll(results.memory_last, results.memory_empty));
    printf("OfThisLoadedPageKB: %.2f\n", per_poll(results.memory_loaded, results.memory_empty));
    printf("ThreadsEmpty: %d\n", results.threads_empty);
    printf("ThreadsHeld: %d\n", results.threads_held);
    printf("WaitingInThreads: %ld\n", results.before.in_threads);
}

static void print_speed(void)
{
    printf("Answers: %zu\n", pages.samples);
    printf("LatencyP50Ms: %.3f\n", gauge_rank(pages.latency, pages.samples, 0.5));
    printf("LatencyP99Ms: %.3f\n", gauge_rank(pages.latency, pages.samples, 0.99));
    printf("LatencyMaxMs: %.3f\n", gauge_rank(pages.latency, pages.samples, 1));
    if (options.which != CASE_SINGLE) {
        printf("AllAnsweredMs: %.1f\n", median(&results.all_ms));
        printf("AllAnsweredMaxMs: %.1f\n", gauge_rank(results.all_ms.value, results.all_ms.count, 1));
        printf("AnswersPerSecond: %.0f\n", median(&results.rate));
        printf("AnswerCpuUs: %.1f\n", median(&results.answer_cpu));
        printf("AnswerCpuMinUs: %.1f\n", gauge_rank(results.answer_cpu.value, results.answer_cpu.count, 0));
        printf("AnswerCpuMaxUs: %.1f\n", gauge_rank(results.answer_cpu.value, results.answer_cpu.count, 1));
        printf("CycleCpuUs: %.1f\n", median(&results.cycle_cpu));
    }
    if (results.plain_cpu.count > 0) {
        printf("PlainCpuUs: %.1f\n", median(&results.plain_cpu));
    }
    if (results.unheld_cpu >= 0) {
        printf("UnheldNotifyCpuUs: %.1f\n", results.unheld_cpu);
    }
    printf("OwnShare: %.2f\n", results.own_share);
}

static void print_counts(void)
{
    printf("Missed: %d\n", pages.missed);
    printf("NoNews: %d\n", pages.no_news);
    printf("Unexpected: %d\n", pages.unexpected);
    printf("Reopened: %d\n", pages.reopened);
    printf("NotifiesRepeated: %d\n", control_repeated());
    for (size_t i = 0; i < sizeof pages.other / sizeof pages.other[0]; i++) {
        if (pages.other[i] > 0) {
            printf("Status%zu: %d\n", i, pages.other[i]);
        }
    }
    printf("ServerAnswers: %ld\n", results.after.answers - results.before.answers);
    printf("ServerWakeUps: %ld\n", results.after.wakeups - results.before.wakeups);
    printf("ServerIdleWakeUps: %ld\n", results.after.idle_wakeups - results.before.idle_wakeups);
    printf("ServerRuns: %ld\n", results.after.runs - results.before.runs);
}

static void print_results(void)
{
    printf("Case: %s\n", case_names[options.which]);
    printf("Connections: %d\n", pages.count);
    printf("Interests: %d\n", pages.own ? pages.count : 1);
    printf("Children: %d\n", gauge.count - 1);
    printf("Rounds: %d\n", options.rounds);
    printf("Apart: %d\n", pages.apart);
    printf("Eager: %d\n", pages.eager);
    printf("Streams: %d\n", pages.streams);
    if (options.which == CASE_RESTART) {
        restart_print();
    }
    else {
        print_memory();
        print_speed();
    }
    print_counts();
}

static void usage(void)
{
    fputs("usage: hold --port N --parent PID [--case broadcast|single|each|restart] [--connections N] [--rounds N] "
          "[--apart]\n"
          "            [--eager] [--streams] [--plain N] [--page PATH] [--trigger PATH] [--notify-at PORT]\n"
          "            [--status-pause MS] [--pubsub]\n"
          "  broadcast  all pages hold one interest, and one notify answers all\n"
          "  single     each page holds its own; one page at a time is notified, --rounds times\n"
          "  each       each page holds its own; all are notified, one after the other\n"
          "  restart    all pages hold one interest while the server is restarted gracefully; then all are notified\n"
          "  --apart    load the page and poll on two connections, not on one\n"
          "  --eager    poll again at once after an answer, not when all have theirs\n"
          "  --streams  hold streams of events, not polls, and acknowledge each event\n"
          "  --plain    plain requests measured after each round (2000)\n"
          "  --page     the page to load; %s in it stands for the interest (/bench/page?interest=%s)\n"
          "  --trigger  a path to GET in place of the notify\n"
          "  --notify-at  the port of another server, which is notified\n"
          "  --pubsub   the server is not mod_vault: GET /sub?id=NAME, POST /pub?id=NAME\n"
          "  --status-pause  between two requests of the status while polls are awaited\n",
          stderr);
    exit(2);
}

static case_t case_option(const char *text)
{
    for (size_t i = 0; i < sizeof case_names / sizeof case_names[0]; i++) {
        if (strcmp(text, case_names[i]) == 0) {
            return (case_t)i;
        }
    }
    wire_die("--case %s: broadcast, single, each or restart is expected", text);
}

static void read_options(int argc, char **argv)
{
    static const struct option names[] = {{"port", required_argument, NULL, 'p'},
                                          {"parent", required_argument, NULL, 'P'},
                                          {"case", required_argument, NULL, 'c'},
                                          {"connections", required_argument, NULL, 'n'},
                                          {"rounds", required_argument, NULL, 'r'},
                                          {"eager", no_argument, NULL, 'e'},
                                          {"apart", no_argument, NULL, 'a'},
                                          {"streams", no_argument, NULL, 's'},
                                          {"plain", required_argument, NULL, 'l'},
                                          {"page", required_argument, NULL, 'u'},
                                          {"trigger", required_argument, NULL, 't'},
                                          {"notify-at", required_argument, NULL, 'o'},
                                          {"pubsub", no_argument, NULL, 'b'},
                                          {"status-pause", required_argument, NULL, 'w'},
                                          {NULL, 0, NULL, 0}};
    int c;

    options.path = "/bench/page?interest=%s";
    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'p':
            options.port = option_whole("port", optarg, 1, 65535);
            break;
        case 'P':
            options.parent = option_whole("parent", optarg, 2, 1 << 30);
            break;
        case 'c':
            options.which = case_option(optarg);
            break;
        case 'n':
            options.count = option_whole("connections", optarg, 1, 100000);
            break;
        case 'r':
            options.rounds = option_whole("rounds", optarg, 1, ROUNDS_MAX);
            break;
        case 'a':
            options.apart = 1;
            break;
        case 'e':
            options.eager = 1;
            break;
        case 's':
            options.streams = 1;
            break;
        case 'l':
            options.plain = option_whole("plain", optarg, 0, 1000000);
            break;
        case 'u':
            options.path = optarg;
            break;
        case 't':
            options.trigger = optarg;
            break;
        case 'o':
            control_notify_at(option_whole("notify-at", optarg, 1, 65535));
            break;
        case 'b':
            options.pubsub = 1;
            control_pubsub();
            break;
        case 'w':
            control_status_pause(option_whole("status-pause", optarg, 0, 60000));
            break;
        default:
            usage();
        }
    }
    if (optind != argc || options.port == 0 || options.parent == 0) {
        usage();
    }
}

int main(int argc, char **argv)
{
    read_options(argc, argv);
    wire_start(options.port);
    gauge_open(&gauge, options.parent);
    control_trigger(options.trigger);
    pages.path = options.path;
    pages.interest = "bench";
    pages.own = options.which == CASE_SINGLE || options.which == CASE_EACH;
    pages.apart = options.apart;
    pages.eager = options.eager;
    pages.streams = options.streams;
    pages.pubsub = options.pubsub;
    pages.count = options.count;
    warm_up();
    hold_all();
    if (options.which == CASE_RESTART) {
        restart_rounds(&pages, &gauge, options.rounds);
        control_status(&results.after);
    }
    else {
        run_rounds();
    }
    if (!gauge_is_same(&gauge)) {
        wire_die("a process of the server ended or started during the run: the figures would be wrong");
    }
    print_results();
    return pages.missed > 0 || pages.dead > 0;
}
