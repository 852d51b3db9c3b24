/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stress: many pages, writers that change what they show, and all that may go wrong in between, by a plan drawn from a seed. In the end
 * each page must show what a fresh view shows, each row exactly once.
 *
 *   load        every page is loaded and polls
 *   mayhem      the plan: writes, lost answers, hang-ups, strangers, killed children, restarts
 *   settle      no more writes and kills: every page comes to show the truth, by wake-ups alone (polls wait for longer than that)
 *   wake        one restart under all waiting polls, then one write to each thing, each of which must wake its pages
 *   leave       all clients go: no poll waits, no page and no interest is left, the shared memory is as empty as before, and its tables
 *               are sound
 *
 * The same seed and options give the same plan; how the machine interleaves it is the machine's. bench/README.md says more.
 */
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control.h"
#include "option.h"
#include "plan.h"
#include "readers.h"
#include "shown.h"
#include "violence.h"
#include "wire.h"
#include "writers.h"

#define MS 1000000u
#define SECOND (1000 * (uint64_t)MS)
#define WAKES_MAX 2000
#define WAKE_ROUNDS 5
#define LOOK_EVERY (50 * (uint64_t)MS)
#define POLL_TIMEOUT 60 /* longer than any patience here */
#define PAGE_TIMEOUT 300
#define LOST_WITH_A_CHILD 8192 /* bytes at most, on average; the pages here have small states */
#define UNPOLLED 62            /* seconds until the server has removed a page that was never polled */

typedef struct options_t {
    int port, parent;
    int list;
    int patience; /* seconds until what must happen counts as lost */
    int roomy;    /* no limit of the server is near: it has no reason to forget a page */
    double seconds;
    unsigned long long seed;
    double rates[PLAN_CLASSES];
    const char *varied;
    site_t site;
} options_t;

static options_t options = {
    .patience = 20, .seconds = 5, .rates = {200, 30, 2}, .site = {.pages = 100, .keys = 500, .shared = 20}};
static long *truth;
static long empty_heap;
static long lost_interests, lost_bytes; /* of the shared memory, with killed children */
static long shared_runs;                /* runs whose output another page has used */
static int faults;
static long waves;

/* ------------------------------------------------------------ the phases */

static void fault(const char *what, long number)
{
    printf("FAULT: %s: %ld\n", what, number);
    faults++;
}

static void step(void)
{
    readers_tick();
    writers_tick();
    wire_step(5);
}

static void do_act(const plan_act_t *act)
{
    switch (act->kind) {
    case PLAN_WRITE:
    case PLAN_WRITE_SHARED:
    case PLAN_SAVE:
    case PLAN_NOTIFY:
    case PLAN_SET:
    case PLAN_FAIL:
        writers_act(act);
        break;
    case PLAN_DIE:
        violence_counts.kills++;
        writers_act(act);
        break;
    case PLAN_KILL:
    case PLAN_RESTART:
    case PLAN_RELOAD:
        violence_act(act);
        break;
    default:
        readers_act(act);
    }
}

static void run_plan(const plan_t *plan)
{
    uint64_t begin = wire_now();
    int next = 0;

    while (next < plan->count) {
        while (next < plan->count && plan->acts[next].at <= wire_now() - begin) {
            do_act(&plan->acts[next++]);
        }
        step();
    }
}

/* Loads wait for their turn, so a page that is not there yet is no fault. */
static int count_absent(void)
{
    int absent = 0;

    for (int i = 0; i < options.site.pages; i++) {
        absent += readers_page_id((unsigned)i) == NULL;
    }
    return absent;
}

static void load(void)
{
    uint64_t limit = wire_now() + (uint64_t)options.patience * SECOND + (uint64_t)options.site.pages * 20 * MS;
    uint64_t look_at = 0;

    readers_start(&options.site, options.seed);
    for (;;) {
        step();
        if (wire_now() < look_at) {
            continue;
        }
        if (count_absent() == 0) {
            return;
        }
        if (wire_now() > limit) {
            wire_die("%d of %d pages could not be loaded", count_absent(), options.site.pages);
        }
        look_at = wire_now() + LOOK_EVERY;
    }
}

static void ask_truth(void)
{
    char path[128];
    const char *at;
    char *end;

    snprintf(path, sizeof path, "/test/numbers?count=%d", options.site.keys);
    at = control_get(path);
    for (int i = 0; i < options.site.keys; i++, at = end) {
        truth[i] = strtol(at, &end, 10);
    }
    for (int i = 0; i < options.site.tables; i++) {
        snprintf(path, sizeof path, "/vault/feed/database/get_new_instances?table=t%d&limit=1", i);
        at = strstr(control_get(path), "\"id\":");
        truth[options.site.keys + i] = at != NULL ? strtol(at + 5, NULL, 10) : 0;
    }
}

/* Until the writers are done and every page shows the truth. @return seconds that took */
static double await_truth(const char *phase)
{
    uint64_t begin = wire_now(), limit = begin + (uint64_t)options.patience * SECOND, look_at = 0;

    while (writers_pending() > 0) {
        step();
        if (wire_now() > limit) {
            wire_die("%s: %d requests of writers were not answered", phase, writers_pending());
        }
    }
    ask_truth();
    limit = wire_now() + (uint64_t)options.patience * SECOND;
    for (;;) {
        step();
        if (wire_now() < look_at) {
            continue;
        }
        if (readers_behind(truth, 0) == 0) {
            break;
        }
        if (wire_now() > limit) {
            printf("FAULT: %s: pages that do not show the truth after %d s: %d\n", phase, options.patience,
                   readers_behind(truth, 1));
            faults++;
            break;
        }
        look_at = wire_now() + LOOK_EVERY;
    }
    return (double)(wire_now() - begin) / (double)SECOND;
}

/* A number of the status must come to be what it should, or less. @return the number */
static long await_number(const char *name, long most)
{
    uint64_t limit = wire_now() + (uint64_t)options.patience * SECOND, look_at = 0;
    long number = 0;

    while (wire_now() < limit) {
        step();
        if (wire_now() < look_at) {
            continue;
        }
        number = control_number(control_get("/vault/status?auto"), name);
        if (number <= most) {
            return number;
        }
        look_at = wire_now() + LOOK_EVERY;
    }
    printf("FAULT: %s is %ld where it should be %ld\n%s", name, number, most, control_get("/vault/status?auto"));
    faults++;
    return number;
}

static long all_wait(void)
{
    return options.site.pages;
}

static double settle(void)
{
    char path[64];

    for (int i = 0; i < SITE_GROUPS; i++) {
        snprintf(path, sizeof path, "/test/set?name=fail%d&value=0", i);
        control_get(path);
    }
    return await_truth("settle");
}

/* Each notify must reach its pages after any earlier event: nothing else wakes them in time. */
static double wake(void)
{
    int things = site_things(&options.site), each = things / WAKES_MAX + 1;
    double seconds = 0;

    violence_settle(POLL_TIMEOUT, PAGE_TIMEOUT);
    await_truth("restart");
    control_await_waiting(all_wait);
    for (int round = 0; round < (each == 1 ? WAKE_ROUNDS : 1); round++) {
        for (int i = 0; i < things; i += i < things - options.site.tables ? each : 1) {
            writers_add(i);
            waves++;
        }
        seconds += await_truth("wake");
    }
    return seconds;
}

/* The server looks at its own tables, with all that has happened to them. */
static void check_tables(void)
{
    const char *said = control_get("/vault/status?check");
    const char *wrong = strstr(said, "\"Wrong\":");

    wrong = wrong != NULL ? strchr(wrong, '[') : NULL;
    if (wrong == NULL || wrong[1 + strspn(wrong + 1, " \n")] != ']') {
        printf("FAULT: the server finds that its tables are wrong: %s\n", said);
        faults++;
    }
}

/* A page whose HTML was lost on its way is forgotten after a minute. The hasty do not wait for that. */
static void leave(void)
{
    long orphans = options.patience > UNPOLLED ? 0 : readers_counts.orphans;

    shared_runs = control_number(control_get("/vault/status?auto"), "Shared");
    readers_leave();
    await_number("Waiting", 0);
    if (options.varied != NULL) {
        violence_settle(POLL_TIMEOUT, 1);
        await_number("Pages", orphans);
        if (control_number(control_get("/vault/status?auto"), "Pages") == 0) {
            lost_interests = await_number("Interests", violence_counts.kills);
            lost_bytes = await_number("HeapUsed", empty_heap + violence_counts.kills * LOST_WITH_A_CHILD) - empty_heap;
        }
    }
    check_tables();
}

/* ------------------------------------------------------------ the report */

static void judge(void)
{
    if (shown_counts.doubled > 0) {
        fault("rows that came twice", shown_counts.doubled);
    }
    if (shown_counts.lost > 0) {
        fault("rows before which others are missing", shown_counts.lost);
    }
    if (shown_counts.garbled > 0) {
        fault("answers that make no sense", shown_counts.garbled);
    }
    if (readers_counts.strange + writers_counts.strange > 0) {
        fault("answers that nothing explains", readers_counts.strange + writers_counts.strange);
    }
    if (options.roomy && readers_counts.gone > 0) {
        fault("pages that the server had forgotten for no reason", readers_counts.gone);
    }
}

static void print_counts(void)
{
    const struct {
        const char *name;
        long number;
    } rows[] = {{"Loads", readers_counts.loads},
                {"Polls", readers_counts.polls},
                {"Answers", shown_counts.answers},
                {"Updates", shown_counts.updates},
                {"Rows", shown_counts.rows},
                {"NoNews", readers_counts.no_news},
                {"Superseded", readers_counts.superseded},
                {"AnswersLost", readers_counts.lost},
                {"ConnectionsClosed", readers_counts.closed},
                {"PagesGone", readers_counts.gone},
                {"PagesOrphaned", readers_counts.orphans},
                {"Refused", readers_counts.refused},
                {"Writes", writers_counts.done},
                {"WritesLost", writers_counts.lost},
                {"WritesBusy", writers_counts.busy},
                {"Kills", violence_counts.kills},
                {"LostInterests", lost_interests},
                {"LostBytes", lost_bytes},
                {"Restarts", violence_counts.restarts},
                {"Reloads", violence_counts.reloads},
                {"Waves", waves},
                {"Shared", shared_runs},
                {"RowsDoubled", shown_counts.doubled},
                {"RowsLost", shown_counts.lost}};

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        printf("%s: %ld\n", rows[i].name, rows[i].number);
    }
}

/* ------------------------------------------------------------ options */

static void usage(void)
{
    fputs("usage: stress --port PORT --parent PID [options]\n"
          "  --seed N        the plan's and the pages' (1)\n"
          "  --seconds S     how long the mayhem lasts (5)\n"
          "  --pages N       (100)     --interests N  keys that pages show, each an interest (500)\n"
          "  --shared N      of these, shown by many pages (20)\n"
          "  --tables N      tables t0, t1 … of the feed `database` (0)\n"
          "  --writes R      writes a second (200)\n"
          "  --mischief R    acts of pages a second (30)\n"
          "  --violence R    kills and restarts a second (2)\n"
          "  --vary FILE     part of the configuration, rewritten for reloads\n"
          "  --patience S    until what must happen counts as lost (20)\n"
          "  --tight         the server's limits are near: it may forget pages\n"
          "  --list          print the plan, and do nothing\n",
          stderr);
    exit(2);
}

static void take_option(const char *name, const char *text)
{
    const struct {
        const char *name;
        int *place;
        int most;
    } whole[] = {{"port", &options.port, 65535},          {"parent", &options.parent, 1 << 30},
                 {"pages", &options.site.pages, 100000},  {"interests", &options.site.keys, 65536},
                 {"shared", &options.site.shared, 65536}, {"tables", &options.site.tables, 100},
                 {"patience", &options.patience, 3600}};
    static const char *const rates[] = {"writes", "mischief", "violence"};

    for (size_t i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (strcmp(name, whole[i].name) == 0) {
            *whole[i].place = option_whole(name, text, 0, whole[i].most);
        }
    }
    for (int i = 0; i < PLAN_CLASSES; i++) {
        if (strcmp(name, rates[i]) == 0) {
            options.rates[i] = option_number(name, text, 0, 1e6);
        }
    }
    if (strcmp(name, "seed") == 0) {
        options.seed = strtoull(text, NULL, 10);
    }
    else if (strcmp(name, "seconds") == 0) {
        options.seconds = option_number(name, text, 0, 86400);
    }
    else if (strcmp(name, "vary") == 0) {
        options.varied = text;
    }
}

static void read_options(int argc, char **argv)
{
    static const struct option names[] = {
        {"port", 1, NULL, 'v'},     {"parent", 1, NULL, 'v'},    {"seed", 1, NULL, 'v'},     {"seconds", 1, NULL, 'v'},
        {"pages", 1, NULL, 'v'},    {"interests", 1, NULL, 'v'}, {"shared", 1, NULL, 'v'},   {"tables", 1, NULL, 'v'},
        {"writes", 1, NULL, 'v'},   {"mischief", 1, NULL, 'v'},  {"violence", 1, NULL, 'v'}, {"vary", 1, NULL, 'v'},
        {"patience", 1, NULL, 'v'}, {"tight", 0, NULL, 't'},     {"list", 0, NULL, 'l'},     {NULL, 0, NULL, 0}};
    int c, which;

    options.seed = 1;
    options.roomy = 1;
    while ((c = getopt_long(argc, argv, "", names, &which)) != -1) {
        if (c == 'v') {
            take_option(names[which].name, optarg);
        }
        else if (c == 't') {
            options.roomy = 0;
        }
        else if (c == 'l') {
            options.list = 1;
        }
        else {
            usage();
        }
    }
    if (optind != argc || (!options.list && (options.port == 0 || options.parent == 0)) || options.site.pages == 0 ||
        options.site.keys < options.site.shared) {
        usage();
    }
    options.site.own = (options.site.keys - options.site.shared) / options.site.pages;
    options.site.keys = options.site.own * options.site.pages + options.site.shared;
}

int main(int argc, char **argv)
{
    plan_t plan;
    double settled, woken;

    read_options(argc, argv);
    setvbuf(stdout, NULL, _IOLBF, 0);
    plan_draw(&plan, options.seed, options.seconds, options.rates);
    if (options.list) {
        plan_print(&plan);
        return 0;
    }
    printf("Seed: %llu\nActs: %d\nPlan: %016llx\nPageCount: %d\nInterests: %d\nMethods: %d\n", options.seed, plan.count,
           (unsigned long long)plan.digest, options.site.pages, options.site.keys, site_methods(&options.site));
    truth = calloc((size_t)site_things(&options.site) + 1, sizeof *truth);
    if (truth == NULL) {
        wire_die("out of memory");
    }
    wire_start(options.port);
    empty_heap = control_number(control_get("/vault/status?auto"), "HeapUsed");
    violence_start(options.parent, options.varied);
    writers_start(&options.site);
    load();
    printf("Loaded: %d\n", options.site.pages);
    run_plan(&plan);
    settled = settle();
    woken = wake();
    leave();
    print_counts();
    printf("SettledIn: %.2f\nWokenIn: %.2f\n", settled, woken);
    judge();
    printf("Faults: %d\n", faults);
    return faults > 0;
}
