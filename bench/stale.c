/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stale: does the output store ever serve what is outdated? Many readers ask for outputs that are kept, one writer for
 * each thing changes what they show, and children are killed and replaced, by a seed.
 *
 *   A writer has its answer after its notify has returned. So a response that is asked for after that contains at least
 *   what the writer wrote.
 *   A page shows each row once, whatever its outputs were made for. In the end all pages show the last row.
 *
 * There are two things: the rows of the table t0, shown by a response of SSI and by live pages; and the number `stale`,
 * shown by a handler that says that its responses are shared, and by two responses that contain it as a cached part.
 * t/stress/04-nothing-stale-is-served.t makes the site. bench/README.md says more.
 */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "control.h"
#include "dice.h"
#include "option.h"
#include "violence.h"
#include "wire.h"

#define MS 1000000u
#define SECOND (1000 * (uint64_t)MS)
#define NEVER UINT64_MAX
#define FAULTS_PRINTED 20
#define POLLS_MOST 20 /* of a page, until it is loaded again */

enum { ROWS, NUMBER, THINGS };

typedef enum kind_t { RESPONSE, VALUE, PART, WHOLE, PAGE, KINDS } kind_t;

static const struct {
    const char *path;
    int thing;
} kinds[KINDS] = {{"/stale/response.shtml", ROWS},
                  {"/shared/value?name=stale&header=Vault-Shared:yes&header=Vault-Interest:stale", NUMBER},
                  {"/stale/parts/part.shtml", NUMBER},
                  {"/stale/whole.shtml", NUMBER},
                  {"/stale/page.shtml", ROWS}};

typedef struct reader_t {
    wire_conn_t wire; /* first: a callback's connection is its reader */
    kind_t kind;
    int polls;  /* how often a page polls before it is loaded again; 0: it is to be loaded, and other readers always */
    long asked; /* what was announced when the request was sent */
    long shown; /* the last row of the page; of other readers the last response */
    uint64_t seq;
    uint64_t due; /* NEVER: a request is under way */
    char id[CLIENT_ID_SIZE];
} reader_t;

typedef struct writer_t {
    wire_conn_t wire; /* first */
    int thing;
    uint64_t due;
} writer_t;

static struct {
    int port, parent, readers, patience;
    double seconds, writes, kills, restarts, leaves; /* a second */
    unsigned long long seed;
} options = {
    .readers = 300, .patience = 30, .seconds = 8, .writes = 40, .kills = 0.7, .restarts = 0.1, .leaves = 20, .seed = 1};

static struct {
    long responses, views, updates, no_news, closed, busy, gone, left, writes, writes_lost;
} counts;

static long told[THINGS]; /* what a writer has its answer for */
static reader_t *readers;
static writer_t writers[THINGS];
static dice_t dice;
static int faults, settling;

/* ------------------------------------------------------------------- faults */

static void fault(const reader_t *reader, const char *what, const char *body)
{
    if (faults++ < FAULTS_PRINTED) {
        printf("FAULT: reader %d, %s: %s; announced %ld, shown %ld: %.300s\n", (int)(reader - readers),
               kinds[reader->kind].path, what, reader->asked, reader->shown, body);
    }
}

/* Something announced while the answer was made may be in it, or not. */
static void see(reader_t *reader, long shown, const char *body)
{
    reader->shown = shown;
    if (shown < reader->asked) {
        fault(reader, "it is outdated", body);
    }
}

/* The next row "[n]" in a text. @return 0: there are no more */
static long next_row(const char **at)
{
    char *end;

    while ((*at = strchr(*at, '[')) != NULL) {
        long row = strtol(++*at, &end, 10);

        if (end != *at && *end == ']') {
            return row;
        }
    }
    return 0;
}

static long last_row(const char *text)
{
    long row, last = 0;

    while ((row = next_row(&text)) != 0) {
        last = row;
    }
    return last;
}

/* ----------------------------------------------------------------- requests */

static void ask(reader_t *reader)
{
    char request[256];
    int length;

    reader->asked = told[kinds[reader->kind].thing];
    reader->due = NEVER;
    if (reader->polls > 0) {
        client_poll(&reader->wire, reader->id, reader->seq);
        return;
    }
    length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", kinds[reader->kind].path);
    wire_send(&reader->wire, request, (size_t)length);
}

static void rest(reader_t *reader, int ms)
{
    reader->due = wire_now() + (uint64_t)ms * MS;
}

static void got_view(reader_t *reader, const wire_answer_t *answer)
{
    counts.views++;
    see(reader, last_row(answer->body), answer->body);
    if (!client_find_page_id(reader->id, answer)) {
        fault(reader, "it has no page", answer->body);
        return;
    }
    reader->seq = 0;
    reader->polls = 1 + dice_below(&dice, POLLS_MOST);
}

static void got_update(reader_t *reader, const wire_answer_t *answer)
{
    const char *at = answer->body;
    long row, shown = reader->shown;

    counts.updates++;
    while ((row = next_row(&at)) != 0) {
        if (row != shown + 1) {
            fault(reader, row > shown ? "rows are lost" : "a row comes twice", answer->body);
        }
        shown = row;
    }
    see(reader, shown, answer->body);
    reader->seq = client_seq(answer->body);
    if (!settling) {
        reader->polls--;
    }
}

static void got_response(reader_t *reader, const wire_answer_t *answer)
{
    counts.responses++;
    see(reader, reader->kind == VALUE ? atol(answer->body) : last_row(answer->body), answer->body);
}

static void answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    reader_t *reader = (reader_t *)conn;
    int polled = reader->polls > 0;

    if (answer->status == 200) {
        (polled ? got_update : reader->kind == PAGE ? got_view : got_response)(reader, answer);
    }
    else if (polled && answer->status == 204) {
        counts.no_news++;
    }
    else if (answer->status == 503) {
        counts.busy++;
        rest(reader, 200);
        return;
    }
    else if (polled && answer->status == 410) {
        counts.gone++;
        fault(reader, "the server has forgotten the page", answer->body);
        reader->polls = 0;
    }
    else {
        fault(reader, "a strange status", answer->head);
        rest(reader, 1000);
        return;
    }
    if (reader->kind == PAGE) {
        ask(reader);
    }
    else {
        rest(reader, dice_below(&dice, 100));
    }
}

/* A child was killed, or has closed an idle connection, because it ends or all of its threads are busy. If HTML was
 * lost, the page is another one when it is loaded again. */
static void closed(wire_conn_t *conn, int lost)
{
    counts.closed += lost;
    if (lost) {
        rest((reader_t *)conn, 1 + dice_below(&dice, 50));
    }
}

/* ------------------------------------------------------------------ writers */

static void write_next(writer_t *writer)
{
    static const char row[] = "table=t0&values.n=1";
    char request[256];
    int length = writer->thing == NUMBER
                     ? snprintf(request, sizeof request,
                                "GET /test/add?name=stale&notify=stale HTTP/1.1\r\nHost: localhost\r\n\r\n")
                     : snprintf(request, sizeof request,
                                "POST /vault/feed/database/save HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
                                "Content-Type: application/x-www-form-urlencoded\r\n\r\n%s",
                                strlen(row), row);

    writer->due = NEVER;
    wire_send(&writer->wire, request, (size_t)length);
}

static void rest_writer(writer_t *writer)
{
    writer->due = settling ? NEVER : wire_now() + (uint64_t)(dice_part(&dice) * 2 / options.writes * (double)SECOND);
}

static void written(wire_conn_t *conn, const wire_answer_t *answer)
{
    writer_t *writer = (writer_t *)conn;
    const char *id = strstr(answer->body, "\"id\":");
    long now = writer->thing == NUMBER ? atol(answer->body) : id != NULL ? atol(id + 5) : 0;

    if (answer->status == 200 && now > 0) {
        counts.writes++;
        told[writer->thing] = now;
    }
    else if (answer->status == 503) {
        counts.busy++;
    }
    else {
        wire_die("a writer is answered %d: %.200s", answer->status, answer->body);
    }
    rest_writer(writer);
}

/* Whether it was written is unknown: the next answer says so. */
static void write_lost(wire_conn_t *conn, int lost)
{
    counts.writes_lost += lost;
    if (lost) {
        rest_writer((writer_t *)conn);
    }
}

/* ------------------------------------------------------------------- phases */

static void step(void)
{
    uint64_t now = wire_now();

    for (int i = 0; i < options.readers; i++) {
        if (readers[i].due <= now) {
            ask(&readers[i]);
        }
    }
    for (int i = 0; i < THINGS; i++) {
        if (writers[i].due <= now) {
            write_next(&writers[i]);
        }
    }
    wire_step(2);
}

static void begin(void)
{
    readers = calloc((size_t)options.readers, sizeof *readers);
    if (readers == NULL) {
        wire_die("out of memory");
    }
    for (int i = 0; i < options.readers; i++) {
        readers[i].wire = (wire_conn_t){.fd = -1, .answered = answered, .closed = closed};
        readers[i].kind = (kind_t)(i % KINDS);
        rest(&readers[i], dice_below(&dice, 1000));
    }
    for (int i = 0; i < THINGS; i++) {
        writers[i].wire = (wire_conn_t){.fd = -1, .answered = written, .closed = write_lost};
        writers[i].thing = i;
    }
}

/* A client goes while the server works for it, and another one comes. */
static void leave_one(void)
{
    reader_t *reader = &readers[dice_below(&dice, options.readers)];

    if (reader->due == NEVER) {
        wire_reset(&reader->wire);
        counts.left++;
        reader->polls = dice_below(&dice, 2) ? reader->polls : 0;
        rest(reader, dice_below(&dice, 50));
    }
}

/* When it happens next, about `rate` times a second. */
static uint64_t next_time(double rate)
{
    return rate > 0 ? wire_now() + (uint64_t)(dice_part(&dice) * 2 / rate * (double)SECOND) : NEVER;
}

static void mayhem(void)
{
    uint64_t end = wire_now() + (uint64_t)(options.seconds * (double)SECOND);
    uint64_t kill = next_time(options.kills), restart = next_time(options.restarts), leaves = next_time(options.leaves);

    while (wire_now() < end) {
        uint64_t now = wire_now();

        if (kill <= now) {
            violence_act(&(plan_act_t){.kind = PLAN_KILL, .which = (unsigned)dice_roll(&dice)});
            kill = next_time(options.kills);
        }
        if (restart <= now) {
            violence_act(&(plan_act_t){.kind = PLAN_RESTART});
            restart = next_time(options.restarts);
        }
        if (leaves <= now) {
            leave_one();
            leaves = next_time(options.leaves);
        }
        step();
    }
}

static int behind(const long truth[THINGS])
{
    int n = 0;

    for (int i = 0; i < options.readers; i++) {
        n += readers[i].shown != truth[kinds[readers[i].kind].thing];
    }
    return n;
}

/* What lost writes have written is known from the data themselves. */
static void settle(void)
{
    uint64_t limit = wire_now() + (uint64_t)options.patience * SECOND;
    long truth[THINGS];
    const char *id;

    settling = 1;
    while (writers[ROWS].wire.under_way || writers[NUMBER].wire.under_way) {
        step();
        if (wire_now() > limit) {
            wire_die("writers are not answered");
        }
    }
    writers[ROWS].due = writers[NUMBER].due = NEVER;
    truth[NUMBER] = atol(control_get("/test/get?name=stale"));
    id = strstr(control_get("/vault/feed/database/get_new_instances?table=t0&limit=1"), "\"id\":");
    truth[ROWS] = id != NULL ? atol(id + 5) : 0;
    while (behind(truth) > 0 && wire_now() < limit) {
        step();
    }
    if (behind(truth) > 0) {
        printf("FAULT: after %d s there are readers that do not see the last row %ld or number %ld: %d\n",
               options.patience, truth[ROWS], truth[NUMBER], behind(truth));
        faults++;
    }
}

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

static void report(void)
{
    static const char *const asked[] = {"Cached", "Shared", "Parts", "Runs"};
    const char *status = control_get("/vault/status?auto");

    for (unsigned i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        printf("%s: %ld\n", asked[i], control_number(status, asked[i]));
    }
    printf("Responses: %ld\nViews: %ld\nUpdates: %ld\nNoNews: %ld\nClosed: %ld\nBusy: %ld\nGone: %ld\nLeft: %ld\n",
           counts.responses, counts.views, counts.updates, counts.no_news, counts.closed, counts.busy, counts.gone,
           counts.left);
    printf("Writes: %ld\nWritesLost: %ld\nKills: %ld\nRestarts: %ld\nFaults: %d\n", counts.writes, counts.writes_lost,
           violence_counts.kills, violence_counts.restarts, faults);
}

/* ------------------------------------------------------------------ options */

static void usage(void)
{
    fputs("usage: stale --port PORT --parent PID [options]\n"
          "  --seed N        (1)      --seconds S   how long readers, writers and kills go on (8)\n"
          "  --readers N     (300)    --patience S  until what must happen counts as lost (30)\n"
          "  --writes R      writes to each thing a second (40)\n"
          "  --kills R       kills of children a second (0.7)\n"
          "  --restarts R    graceful restarts a second (0.1)\n"
          "  --leaves R      clients that hang up in a request, a second (20)\n",
          stderr);
    exit(2);
}

static void take_option(const char *name, const char *text)
{
    const struct {
        const char *name;
        int *place;
        int most;
    } whole[] = {{"port", &options.port, 65535},
                 {"parent", &options.parent, 1 << 30},
                 {"readers", &options.readers, 100000},
                 {"patience", &options.patience, 3600}};
    const struct {
        const char *name;
        double *place;
    } part[] = {{"seconds", &options.seconds},
                {"writes", &options.writes},
                {"kills", &options.kills},
                {"restarts", &options.restarts},
                {"leaves", &options.leaves}};

    for (unsigned i = 0; i < sizeof whole / sizeof whole[0]; i++) {
        if (strcmp(name, whole[i].name) == 0) {
            *whole[i].place = option_whole(name, text, 1, whole[i].most);
        }
    }
    for (unsigned i = 0; i < sizeof part / sizeof part[0]; i++) {
        if (strcmp(name, part[i].name) == 0) {
            *part[i].place = option_number(name, text, 0, 86400);
        }
    }
    if (strcmp(name, "seed") == 0) {
        options.seed = strtoull(text, NULL, 10);
    }
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"port", 1, NULL, 'v'},     {"parent", 1, NULL, 'v'},   {"seed", 1, NULL, 'v'},   {"seconds", 1, NULL, 'v'},
        {"readers", 1, NULL, 'v'},  {"patience", 1, NULL, 'v'}, {"writes", 1, NULL, 'v'}, {"kills", 1, NULL, 'v'},
        {"restarts", 1, NULL, 'v'}, {"leaves", 1, NULL, 'v'},   {NULL, 0, NULL, 0}};
    int c, which;

    while ((c = getopt_long(argc, argv, "", names, &which)) != -1) {
        if (c != 'v') {
            usage();
        }
        take_option(names[which].name, optarg);
    }
    if (optind != argc || options.port == 0 || options.parent == 0 || options.writes <= 0) {
        usage();
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("Seed: %llu\nReaders: %d\n", options.seed, options.readers);
    dice = options.seed;
    wire_start(options.port);
    violence_start(options.parent, NULL);
    begin();
    mayhem();
    settle();
    check_tables();
    report();
    return faults > 0;
}
