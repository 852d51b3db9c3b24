/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bids: N users of a bid history that is updated in one way; prints the server's usage, and the delay until
 * users saw each other's bids.
 *
 * bench/run starts it once for each way, each with a server of its own; bench/README.md explains the output.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bidders.h"
#include "control.h"
#include "gauge.h"
#include "option.h"
#include "wire.h"

#define PAGE "/bids/page?item=%d"
#define SSI_PAGE "/items/%d.shtml"

static gauge_t server, database;
static bidders_t bidders = {
    .users = 50, .items = 10, .first_item = 1, .seconds = 5, .think = 7, .writes = 0.2, .seed = 1};
static int port, parent, database_parent;

static void usage(void)
{
    fputs("usage: bids --port N --parent PID --way none|reload|poll|hand|feed|ssi|kept [--users N] [--items N] "
          "[--first-item N]\n"
          "            [--seconds S] [--think S] [--seed N] [--database PID]\n"
          "  --first-item  items FIRST to FIRST + N - 1 are looked at; no run before has bid for them\n"
          "  --think       mean time between two acts of a user (7); 4 of 5 look at another item, 1 bids\n"
          "  --database    the parent process of a database server, whose CPU counts, too\n",
          stderr);
    exit(2);
}

static bidders_news_t way_option(const char *text)
{
    static const struct {
        const char *name;
        bidders_news_t news;
        const char *page;
    } ways[] = {{"none", BIDDERS_NONE, PAGE},    {"reload", BIDDERS_RELOAD, PAGE}, {"poll", BIDDERS_ASK, PAGE},
                {"hand", BIDDERS_POLL, PAGE},    {"feed", BIDDERS_POLL, PAGE},     {"ssi", BIDDERS_POLL, SSI_PAGE},
                {"kept", BIDDERS_POLL, SSI_PAGE}};

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(text, ways[i].name) == 0) {
            bidders.page = ways[i].page;
            return ways[i].news;
        }
    }
    wire_die("--way %s: none, reload, poll, hand, feed, ssi or kept is expected", text);
}

static void read_options(int argc, char **argv)
{
    static const struct option names[] = {{"port", required_argument, NULL, 'p'},
                                          {"parent", required_argument, NULL, 'P'},
                                          {"way", required_argument, NULL, 'w'},
                                          {"users", required_argument, NULL, 'u'},
                                          {"items", required_argument, NULL, 'i'},
                                          {"first-item", required_argument, NULL, 'f'},
                                          {"seconds", required_argument, NULL, 's'},
                                          {"think", required_argument, NULL, 't'},
                                          {"seed", required_argument, NULL, 'r'},
                                          {"database", required_argument, NULL, 'd'},
                                          {NULL, 0, NULL, 0}};
    int c, have_way = 0;

    while ((c = getopt_long(argc, argv, "", names, NULL)) != -1) {
        switch (c) {
        case 'p':
            port = option_whole("port", optarg, 1, 65535);
            break;
        case 'P':
            parent = option_whole("parent", optarg, 2, 1 << 30);
            break;
        case 'w':
            bidders.news = way_option(optarg);
            have_way = 1;
            break;
        case 'u':
            bidders.users = option_whole("users", optarg, 1, 10000);
            break;
        case 'i':
            bidders.items = option_whole("items", optarg, 1, 10000);
            break;
        case 'f':
            bidders.first_item = option_whole("first-item", optarg, 1, 1 << 30);
            break;
        case 's':
            bidders.seconds = option_number("seconds", optarg, 0.1, 3600);
            break;
        case 't':
            bidders.think = option_number("think", optarg, 0.01, 3600);
            break;
        case 'r':
            bidders.seed = (unsigned)option_whole("seed", optarg, 0, 1 << 30);
            break;
        case 'd':
            database_parent = option_whole("database", optarg, 2, 1 << 30);
            break;
        default:
            usage();
        }
    }
    if (optind != argc || port == 0 || parent == 0 || !have_way) {
        usage();
    }
}

static double mean(const double *values, size_t count)
{
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        sum += values[i];
    }
    return count > 0 ? sum / (double)count : 0;
}

static void print_results(uint64_t cpu, uint64_t more_cpu, uint64_t own)
{
    double share = (double)own / 1e9 / bidders.seconds / (double)sysconf(_SC_NPROCESSORS_ONLN);

    printf("Users: %d\n", bidders.users);
    printf("Seconds: %g\n", bidders.seconds);
    printf("Views: %d\n", bidders.views);
    printf("Bids: %d\n", bidders.bids);
    printf("Asked: %d\n", bidders.asked);
    printf("Told: %d\n", bidders.told);
    printf("CpuMs: %.2f\n", (double)cpu / 1e6 / bidders.seconds);
    printf("DatabaseCpuMs: %.2f\n", (double)more_cpu / 1e6 / bidders.seconds);
    printf("Displays: %zu\n", bidders.delays);
    printf("DelayMeanMs: %.3f\n", mean(bidders.delay, bidders.delays));
    printf("DelayP99Ms: %.3f\n", gauge_rank(bidders.delay, bidders.delays, 0.99));
    printf("DelayMaxMs: %.3f\n", gauge_rank(bidders.delay, bidders.delays, 1));
    printf("Missed: %d\n", bidders.missed);
    printf("Doubled: %d\n", bidders.doubled);
    printf("Failed: %d\n", bidders.failed);
    printf("Reopened: %d\n", bidders.reopened);
    printf("OwnShare: %.2f\n", share);
}

int main(int argc, char **argv)
{
    uint64_t cpu, more_cpu = 0, own;

    read_options(argc, argv);
    wire_start(port);
    gauge_open(&server, parent);
    bidders_start(&bidders);
    if (database_parent != 0) {
        gauge_open_any(&database, database_parent);
    }
    cpu = gauge_cpu(&server);
    own = gauge_own_cpu();
    bidders_run(&bidders);
    cpu = gauge_cpu(&server) - cpu;
    if (database_parent != 0) {
        more_cpu = gauge_cpu_since(&database);
    }
    own = gauge_own_cpu() - own;
    bidders_settle(&bidders);
    bidders_leave(&bidders);
    if (!gauge_is_same(&server)) {
        wire_die("a process of the server ended or started during the run: the figures would be wrong");
    }
    print_results(cpu, more_cpu, own);
    return bidders.missed > 0 || bidders.doubled > 0 || bidders.failed > 0;
}
