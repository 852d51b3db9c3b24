/* SPDX-License-Identifier: Apache-2.0 */
/* The pages of a stress run: see readers.h. */
#include "readers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "dice.h"
#include "shown.h"
#include "wire.h"

#define LOADING_AT_ONCE 32
#define REQUEST_MAX 8000
#define MS 1000000u
#define SECOND (1000 * (uint64_t)MS)
#define TICK (5 * (uint64_t)MS)
#define STRANGE_PRINTED 20

typedef enum life_t {
    AWAY,    /* will load the page when it is due */
    LOADING, /* the page was requested */
    POLLING,
    RESTING /* will poll when it is due */
} life_t;

/* A request on a connection whose answer does not affect the page. */
typedef enum aside_t {
    OVERTAKEN, /* a poll that was superseded: any answer to a poll is right */
    ACKNOWLEDGED,
    STRANGER /* polls for pages that do not exist: 410 */
} aside_t;

typedef struct reader_t reader_t;

typedef struct line_t {
    wire_conn_t wire; /* first: a callback's connection is its line */
    reader_t *reader;
    aside_t aside;
} line_t;

struct reader_t {
    line_t line[2];
    int counts; /* the connection whose answers count for the page */
    life_t life;
    uint64_t due;      /* AWAY, RESTING */
    uint64_t reads_at; /* it does not read until then; 0: it reads */
    uint64_t seq;
    int lose;  /* the next answer is lost */
    int bound; /* the server knows the tab's nonce */
    shown_t shown;
    char id[CLIENT_ID_SIZE];
    char tab[33];
};

readers_counts_t readers_counts;

static const site_t *site;
static reader_t *readers;
static dice_t dice;
static uint64_t ticked;
static int next_load; /* the first page that was never loaded */
static int is_over;

static line_t *main_line(reader_t *reader)
{
    return &reader->line[reader->counts];
}

static line_t *other_line(reader_t *reader)
{
    return &reader->line[!reader->counts];
}

static void note_strange(const reader_t *reader, const char *what, const wire_answer_t *answer)
{
    if (readers_counts.strange++ < STRANGE_PRINTED) {
        printf("FAULT: page %d, %s is answered %d: %.200s\n", reader->shown.page, what, answer->status, answer->body);
    }
}

/* ------------------------------------------------------------ requests */

static void send_get(line_t *line, const char *path)
{
    static char request[REQUEST_MAX + 64];
    int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);

    wire_send(&line->wire, request, (size_t)length);
}

/* @param percent  how a percent sign is written in this part of the URL */
static int put_method(char *path, size_t size, int thing, int group, const char *percent, const char *amp)
{
    if (site_is_table(site, thing)) {
        return snprintf(path, size, "/vault/feed/database/get_new_instances?table=t%d%slimit=1", thing - site->keys,
                        amp);
    }
    return snprintf(path, size, "/test/rows?name=%s23%d%sinterest=i%d%sfail-as=fail%d", percent, thing, amp, thing, amp,
                    group);
}

static void send_load(reader_t *reader)
{
    static char path[REQUEST_MAX];
    size_t used = (size_t)snprintf(path, sizeof path, "/test/page?");
    int page = reader->shown.page;

    for (int i = 0; i < site_methods(site); i++) {
        int thing = site_thing(site, page, i);

        if (!site_is_table(site, thing)) {
            used += (size_t)snprintf(path + used, sizeof path - used, "view=%%23%d&interest=i%d&", thing, thing);
        }
        used += (size_t)snprintf(path + used, sizeof path - used, "poll=");
        used += (size_t)put_method(path + used, sizeof path - used, thing, page % SITE_GROUPS, "%25", "%26");
        used += (size_t)snprintf(path + used, sizeof path - used, "&");
        if (used + 512 > sizeof path) {
            wire_die("a page with %d methods has too long an address", site_methods(site));
        }
    }
    snprintf(reader->tab, sizeof reader->tab, "%016llx%016llx", (unsigned long long)dice_roll(&dice),
             (unsigned long long)dice_roll(&dice));
    reader->life = LOADING;
    reader->seq = 0;
    reader->bound = 0;
    reader->id[0] = '\0';
    readers_counts.loads++;
    send_get(main_line(reader), path);
}

static void send_poll_by(reader_t *reader, line_t *line, const char *tab, const char *more)
{
    char path[256];

    snprintf(path, sizeof path, "/vault/poll?page=%s&seq=%llu&tab=%s%s", reader->id, (unsigned long long)reader->seq,
             tab, more);
    send_get(line, path);
}

static void send_poll(reader_t *reader)
{
    reader->life = POLLING;
    readers_counts.polls++;
    send_poll_by(reader, main_line(reader), reader->tab, "");
}

static void rest(reader_t *reader, life_t life, unsigned ms)
{
    reader->life = life;
    reader->due = wire_now() + (uint64_t)ms * MS;
}

/* ------------------------------------------------------------ answers */

static void load_another(void)
{
    if (next_load < site->pages) {
        send_load(&readers[next_load++]);
    }
}

static void got_page(reader_t *reader, const wire_answer_t *answer)
{
    if (client_find_page_id(reader->id, answer) && shown_view(&reader->shown, site, answer->body)) {
        send_poll(reader);
        load_another();
        return;
    }
    if (answer->status == 503) {
        readers_counts.refused++;
    }
    else {
        note_strange(reader, "a page's request", answer);
    }
    rest(reader, AWAY, 200 + (unsigned)dice_below(&dice, 500));
}

static void got_update(reader_t *reader, const wire_answer_t *answer)
{
    uint64_t seq;

    if (reader->lose) {
        reader->lose = 0;
        readers_counts.lost++;
        wire_reset(&main_line(reader)->wire);
        send_poll(reader);
        return;
    }
    seq = shown_apply(&reader->shown, site, answer->body);
    if (seq != 0 && seq <= reader->seq) {
        note_strange(reader, "a poll with an old number", answer);
    }
    reader->seq = seq;
    send_poll(reader);
}

static void got_answer(reader_t *reader, const wire_answer_t *answer)
{
    reader->bound = 1;
    switch (answer->status) {
    case 200:
        got_update(reader, answer);
        return;
    case 204:
        readers_counts.no_news++;
        send_poll(reader);
        return;
    case 410:
        readers_counts.gone++;
        rest(reader, AWAY, (unsigned)dice_below(&dice, 100));
        return;
    case 503:
        readers_counts.refused++;
        break;
    default:
        note_strange(reader, "a poll", answer);
    }
    rest(reader, RESTING, 200 + (unsigned)dice_below(&dice, 500));
}

static void got_aside(const line_t *line, const wire_answer_t *answer)
{
    int status = answer->status, poll = status == 200 || status == 204 || status == 410 || status == 503;

    switch (line->aside) {
    case OVERTAKEN:
        readers_counts.superseded += strstr(answer->head, "Vault-Superseded") != NULL;
        if (!poll) {
            note_strange(line->reader, "an overtaken poll", answer);
        }
        break;
    case ACKNOWLEDGED:
        if (status != 204 && status != 410) {
            note_strange(line->reader, "an acknowledgement", answer);
        }
        break;
    case STRANGER:
        if (status != 410) {
            note_strange(line->reader, "a stranger's poll", answer);
        }
        break;
    }
}

static void answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    line_t *line = (line_t *)conn;
    reader_t *reader = line->reader;

    if (line != main_line(reader)) {
        got_aside(line, answer);
    }
    else if (reader->life == LOADING) {
        got_page(reader, answer);
    }
    else {
        got_answer(reader, answer);
    }
}

static void closed(wire_conn_t *conn, int lost)
{
    line_t *line = (line_t *)conn;
    reader_t *reader = line->reader;

    readers_counts.closed += lost;
    if (!lost || is_over || line != main_line(reader)) {
        return;
    }
    if (reader->life == LOADING) {
        readers_counts.orphans++;
        send_load(reader);
    }
    else if (reader->life == POLLING) {
        send_poll(reader);
    }
}

/* ------------------------------------------------------------ what happens to pages */

static void overtake(reader_t *reader, unsigned how)
{
    line_t *older = main_line(reader);

    if (reader->life != POLLING) {
        return;
    }
    wire_reset(&other_line(reader)->wire);
    older->aside = OVERTAKEN;
    reader->counts = !reader->counts;
    send_poll(reader);
    if (how % 3 == 0) {
        wire_reset(&older->wire);
    }
}

static void ask_aside(reader_t *reader, aside_t aside, const char *tab, const char *more)
{
    line_t *line = other_line(reader);

    if (line->wire.under_way) {
        wire_reset(&line->wire);
    }
    line->aside = aside;
    send_poll_by(reader, line, tab, more);
}

static void guess(reader_t *reader, unsigned how)
{
    char id[CLIENT_ID_SIZE];

    memcpy(id, reader->id, sizeof id);
    id[how % 40] = id[how % 40] == '0' ? '1' : '0';
    for (char *swap = reader->id, *with = id, c; *swap != '\0'; swap++, with++) {
        c = *swap;
        *swap = *with;
        *with = c;
    }
    ask_aside(reader, STRANGER, reader->tab, "");
    memcpy(reader->id, id, sizeof id);
}

static void come_back(reader_t *reader, unsigned how)
{
    if (reader->life != POLLING) {
        return;
    }
    if (how % 2) {
        wire_reset(&main_line(reader)->wire);
    }
    else {
        wire_close(&main_line(reader)->wire);
    }
    rest(reader, RESTING, how % 1500);
}

static void leave(reader_t *reader, unsigned how)
{
    readers_counts.orphans += reader->life == LOADING;
    readers_counts.left++;
    wire_reset(&reader->line[0].wire);
    wire_close(&reader->line[1].wire);
    rest(reader, AWAY, how % 1500);
}

static void vanish(unsigned how)
{
    static const char part[] = "POST /vault/poll HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\npage=1";
    wire_conn_t conn = {.fd = -1};

    wire_open(&conn);
    if (how % 4) {
        wire_send(&conn, part, how / 4 % sizeof part);
    }
    if (how % 2) {
        wire_reset(&conn);
    }
    else {
        wire_close(&conn);
    }
}

void readers_act(const plan_act_t *act)
{
    reader_t *reader = &readers[act->which % (unsigned)site->pages];
    int has_page = reader->life == POLLING || reader->life == RESTING;

    if (act->kind == PLAN_VANISH) {
        vanish(act->how);
    }
    else if (act->kind == PLAN_LEAVE) {
        leave(reader, act->how);
    }
    else if (!has_page) {
        return;
    }
    else if (act->kind == PLAN_LOSE) {
        reader->lose = 1;
    }
    else if (act->kind == PLAN_DROP && reader->life == POLLING) {
        wire_reset(&main_line(reader)->wire);
        send_poll(reader);
    }
    else if (act->kind == PLAN_SLEEP) {
        come_back(reader, act->how);
    }
    else if (act->kind == PLAN_OVERTAKE) {
        overtake(reader, act->how);
    }
    else if (act->kind == PLAN_ACK) {
        ask_aside(reader, ACKNOWLEDGED, reader->tab, "&ack=1");
    }
    else if (act->kind == PLAN_TAB && reader->bound) {
        ask_aside(reader, STRANGER, "0123456789abcdef0123456789abcdef", "");
    }
    else if (act->kind == PLAN_GUESS) {
        guess(reader, act->how);
    }
    else if (act->kind == PLAN_SLOW) {
        reader->reads_at = wire_now() + act->how % 1000 * MS;
        wire_pause(&main_line(reader)->wire, 1);
    }
}

/* ------------------------------------------------------------ from outside */

void readers_start(const site_t *of, uint64_t seed)
{
    site = of;
    dice = seed;
    readers = calloc((size_t)site->pages, sizeof *readers);
    if (readers == NULL) {
        wire_die("out of memory");
    }
    for (int i = 0; i < site->pages; i++) {
        for (int k = 0; k < 2; k++) {
            readers[i].line[k].wire = (wire_conn_t){.fd = -1, .answered = answered, .closed = closed};
            readers[i].line[k].reader = &readers[i];
        }
        readers[i].due = UINT64_MAX;
        shown_begin(&readers[i].shown, site, i);
    }
    for (int i = 0; i < LOADING_AT_ONCE; i++) {
        load_another();
    }
}

static void tick(reader_t *reader, uint64_t now)
{
    if (reader->reads_at != 0 && reader->reads_at <= now) {
        reader->reads_at = 0;
        wire_pause(&reader->line[0].wire, 0);
        wire_pause(&reader->line[1].wire, 0);
    }
    if (reader->life == AWAY && reader->due <= now) {
        send_load(reader);
    }
    else if (reader->life == RESTING && reader->due <= now) {
        send_poll(reader);
    }
}

void readers_tick(void)
{
    uint64_t now = wire_now();

    if (now < ticked + TICK) {
        return;
    }
    ticked = now;
    for (int i = 0; i < site->pages; i++) {
        tick(&readers[i], now);
    }
}

const char *readers_page_id(unsigned which)
{
    const reader_t *reader = &readers[which % (unsigned)site->pages];

    return reader->id[0] != '\0' ? reader->id : NULL;
}

int readers_behind(const long *truth, int print)
{
    int behind = 0;

    for (int i = 0; i < site->pages; i++) {
        behind += readers[i].life != POLLING || shown_differs(&readers[i].shown, site, truth, print) > 0;
    }
    return behind;
}

void readers_leave(void)
{
    is_over = 1;
    for (int i = 0; i < site->pages; i++) {
        wire_close(&readers[i].line[0].wire);
        wire_close(&readers[i].line[1].wire);
        readers[i].life = AWAY;
        readers[i].due = UINT64_MAX;
    }
}
