/* SPDX-License-Identifier: Apache-2.0 */
/* N users of an auction site: see bidders.h. */
#include "bidders.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "control.h"
#include "dice.h"
#include "wire.h"

#define LOADING_AT_ONCE 16
#define SECOND 1000000000u
#define ASK_EVERY (2 * (uint64_t)SECOND)
#define PATIENCE (10 * (uint64_t)SECOND)
#define FIRST_AMOUNT 100000 /* amounts of a run start here; those of earlier rows are smaller */
#define NONE (-1)

typedef struct bid_t {
    int item;
    uint64_t sent;
    int taken; /* 1: the server has confirmed the commit */
} bid_t;

typedef struct act_t {
    uint64_t at; /* since the beginning */
    int user;
    int item; /* the item to view; NONE: a bid */
    int next; /* of the same user, or NONE */
} act_t;

typedef struct user_t {
    wire_conn_t main, news;
    int item;
    int todo, last;  /* the next act and the last one; NONE */
    int bidding;     /* the bid that is pending on `main`, or NONE: a page is */
    int asking;      /* 1: the pending request asks whether that bid was committed */
    int loaded;      /* 1: the page has arrived */
    uint64_t since;  /* when it arrived */
    uint64_t ask_at; /* BIDDERS_ASK, BIDDERS_RELOAD: when to ask again; 0: an answer is pending */
    uint64_t seq;
    long last_id;
    unsigned char *shown; /* how often the page shows each bid of the run */
    char id[CLIENT_ID_SIZE];
} user_t;

static bidders_t *all;
static user_t *users;
static act_t *acts;
static bid_t *bids;
static int act_count, bid_count, bid_room, waiting_for_pages, next_load;
static uint64_t begin; /* 0: the users do not act yet */
static int is_over;    /* 1: the users no longer act */
static dice_t dice;

/* ------------------------------------------------------------ the schedule */

static void *make_room(void *list, int count, size_t size)
{
    void *more = realloc(list, (size_t)count * size);

    if (more == NULL) {
        wire_die("out of memory");
    }
    return more;
}

static void schedule(int user, uint64_t at)
{
    act_t *act;

    if (act_count % 1024 == 0) {
        acts = make_room(acts, act_count + 1024, sizeof *acts);
    }
    act = &acts[act_count];
    *act = (act_t){.at = at, .user = user, .item = NONE, .next = NONE};
    if (dice_part(&dice) > all->writes) {
        act->item = all->first_item + dice_below(&dice, all->items);
    }
    else {
        bid_room++;
    }
    if (users[user].todo == NONE) {
        users[user].todo = act_count;
    }
    else {
        acts[users[user].last].next = act_count;
    }
    users[user].last = act_count++;
}

/* The acts of all users together are a Poisson process, as those of many independent people are. */
static void draw_schedule(void)
{
    double mean = all->think / all->users, at = 0;

    dice = all->seed;
    for (int i = 0; i < all->users; i++) {
        users[i].item = all->first_item + i % all->items;
        users[i].todo = NONE;
    }
    for (;;) {
        at -= log(dice_part(&dice)) * mean;
        if (at >= all->seconds) {
            break;
        }
        schedule(dice_below(&dice, all->users), (uint64_t)(at * SECOND));
    }
    bids = make_room(NULL, bid_room + 1, sizeof *bids);
    for (int i = 0; i < all->users; i++) {
        users[i].shown = calloc((size_t)bid_room + 1, 1);
        if (users[i].shown == NULL) {
            wire_die("out of memory");
        }
    }
}

/* ------------------------------------------------------------ requests */

static void send_get(wire_conn_t *conn, const char *format, int item, long number)
{
    char path[128], request[256];
    int length;

    snprintf(path, sizeof path, format, item, number);
    length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
    wire_send(conn, request, (size_t)length);
}

static int asks_by_the_clock(void)
{
    return all->news == BIDDERS_ASK || all->news == BIDDERS_RELOAD;
}

static void ask(user_t *user)
{
    user->ask_at = 0;
    all->asked++;
    if (all->news == BIDDERS_POLL) {
        client_poll(&user->news, user->id, user->seq);
    }
    else if (all->news == BIDDERS_RELOAD) {
        send_get(&user->news, all->page, user->item, 0);
    }
    else {
        send_get(&user->news, "/bids/news?item=%d&after=%ld", user->item, user->last_id);
    }
}

static void send_page(user_t *user)
{
    user->bidding = NONE;
    send_get(&user->main, all->page, user->item, 0);
}

/* As in a browser: a pending request of the old page is given up, which closes its connection. */
static void look_at(user_t *user, int item)
{
    if (user->news.under_way) {
        wire_close(&user->news);
    }
    user->item = item;
    user->loaded = 0;
    user->ask_at = 0;
    user->seq = 0;
    user->last_id = 0;
    memset(user->shown, 0, (size_t)bid_room);
    send_page(user);
}

static void post_bid(user_t *user)
{
    char request[256];
    int length = snprintf(request, sizeof request,
                          "POST /bids/bid?item=%d&amount=%d HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n",
                          bids[user->bidding].item, FIRST_AMOUNT + user->bidding);

    wire_send(&user->main, request, (size_t)length);
}

static void send_bid(user_t *user)
{
    /* Avoids a connection that the server is known to have closed, as it does after long idling. */
    if (wire_is_stale(&user->main)) {
        wire_close(&user->main);
    }
    user->asking = 0;
    post_bid(user);
}

/* The server has closed the connection without an answer. By now it has committed the bid or not: the history
 * tells. */
static void ask_for_bid(user_t *user)
{
    user->asking = 1;
    send_get(&user->main, all->page, bids[user->bidding].item, 0);
}

static int has_bid(const user_t *user, const char *history)
{
    char amount[32];

    snprintf(amount, sizeof amount, " EUR %d<", FIRST_AMOUNT + user->bidding);
    return strstr(history, amount) != NULL;
}

static void act(user_t *user)
{
    const act_t *next;

    if (begin == 0 || is_over || user->todo == NONE || user->main.under_way ||
        acts[user->todo].at > wire_now() - begin) {
        return;
    }
    next = &acts[user->todo];
    user->todo = next->next;
    if (next->item != NONE) {
        all->views++;
        look_at(user, next->item);
        return;
    }
    all->bids++;
    user->bidding = bid_count++;
    bids[user->bidding] = (bid_t){.item = user->item, .sent = wire_now()};
    send_bid(user);
}

/* ------------------------------------------------------------ answers */

static void keep_delay(uint64_t sent)
{
    if (all->delays == all->room) {
        all->room += 4096;
        all->delay = make_room(all->delay, (int)all->room, sizeof *all->delay);
    }
    all->delay[all->delays++] = (double)(wire_now() - sent) / 1e6;
}

static void show(user_t *user, int bid)
{
    if (bid >= bid_count || bids[bid].item != user->item) {
        wire_die("the page of item %d was told of a bid that no user has made for it", user->item);
    }
    if (user->shown[bid]++ > 0) {
        all->doubled++;
    }
    else if (user->loaded && user->since <= bids[bid].sent) {
        keep_delay(bids[bid].sent);
    }
}

/* Parses rows of the template, "#ID EUR AMOUNT". Those up to `known` were read before. @return the number of
 * the others */
static int read_rows(user_t *user, const char *text, long known)
{
    static const char mark[] = " EUR ";
    const char *at = text, *id;
    int count = 0;

    while ((at = strstr(at, mark)) != NULL) {
        long amount = strtol(at + sizeof mark - 1, NULL, 10), number;

        for (id = at; id > text && id[-1] >= '0' && id[-1] <= '9'; id--) {
            continue;
        }
        number = strtol(id, NULL, 10);
        count += number > known;
        if (number > user->last_id) {
            user->last_id = number;
        }
        if (amount >= FIRST_AMOUNT && number > known) {
            show(user, (int)(amount - FIRST_AMOUNT));
        }
        at += sizeof mark - 1;
    }
    return count;
}

static void load_next(void)
{
    if (next_load < all->users) {
        send_page(&users[next_load++]);
    }
}

static void got_page(user_t *user, const wire_answer_t *answer)
{
    (void)read_rows(user, answer->body, 0);
    user->loaded = 1;
    user->since = wire_now();
    if (all->news == BIDDERS_POLL) {
        client_page_id(user->id, answer);
        ask(user);
    }
    else if (asks_by_the_clock()) {
        /* Spreads the first requests of pages that were opened at once. */
        user->ask_at = user->since + (begin == 0 ? dice_roll(&dice) % ASK_EVERY : ASK_EVERY);
    }
    if (begin == 0) {
        waiting_for_pages--;
        load_next();
    }
}

static void main_answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    user_t *user = (user_t *)conn;

    if (answer->status != 200) {
        wire_die("a %s was answered %d: %.200s", user->bidding == NONE ? "page" : "bid", answer->status, answer->body);
    }
    if (user->bidding == NONE) {
        got_page(user, answer);
    }
    else if (user->asking && !has_bid(user, answer->body)) {
        send_bid(user);
    }
    else {
        bids[user->bidding].taken = 1;
    }
    act(user);
}

static user_t *user_of_news(wire_conn_t *conn)
{
    return (user_t *)((char *)conn - offsetof(user_t, news));
}

static void news_answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    user_t *user = user_of_news(conn);

    if (answer->status == 200) {
        all->told += read_rows(user, answer->body, all->news == BIDDERS_RELOAD ? user->last_id : 0) > 0;
    }
    else if (answer->status != 204) {
        all->failed++;
        return;
    }
    if (asks_by_the_clock()) {
        user->ask_at = wire_now() + ASK_EVERY;
        return;
    }
    if (answer->status == 200) {
        user->seq = client_seq(answer->body);
    }
    ask(user);
}

static void count_reopened(void)
{
    if (++all->reopened > 10 * all->users + 100) {
        wire_die("the server closed %d connections without an answer", all->reopened);
    }
}

/* A bid is not sent again before the history was checked, since it may have been committed. */
static void main_closed(wire_conn_t *conn, int lost)
{
    if (lost) {
        count_reopened();
        (((user_t *)conn)->bidding != NONE ? ask_for_bid : send_page)((user_t *)conn);
    }
}

static void news_closed(wire_conn_t *conn, int lost)
{
    if (lost) {
        count_reopened();
        ask(user_of_news(conn));
    }
}

/* ------------------------------------------------------------ the run */

/* Sends the requests whose 2 s are over. @return when the next one is due, or `until` */
static uint64_t ask_where_due(uint64_t until)
{
    uint64_t now = wire_now(), soonest = until;

    for (int i = 0; asks_by_the_clock() && i < all->users; i++) {
        user_t *user = &users[i];

        if (user->ask_at != 0 && user->ask_at <= now && !user->news.under_way) {
            ask(user);
        }
        else if (user->ask_at != 0 && user->ask_at < soonest) {
            soonest = user->ask_at;
        }
    }
    return soonest;
}

static void step_until(uint64_t due)
{
    uint64_t now = wire_now();

    wire_step(due <= now ? 0 : (int)((due - now + 999999) / 1000000));
}

static long pages_open(void)
{
    return all->news == BIDDERS_POLL ? all->users : 0;
}

static long pages_gone(void)
{
    return 0;
}

void bidders_start(bidders_t *bidders)
{
    uint64_t limit = wire_now() + 3 * PATIENCE;

    all = bidders;
    users = calloc((size_t)bidders->users, sizeof *users);
    if (users == NULL) {
        wire_die("out of memory");
    }
    draw_schedule();
    for (int i = 0; i < bidders->users; i++) {
        users[i].main = (wire_conn_t){.fd = -1, .answered = main_answered, .closed = main_closed};
        users[i].news = (wire_conn_t){.fd = -1, .answered = news_answered, .closed = news_closed};
        users[i].bidding = NONE;
    }
    waiting_for_pages = bidders->users;
    for (int i = 0; i < LOADING_AT_ONCE; i++) {
        load_next();
    }
    while (waiting_for_pages > 0) {
        step_until(ask_where_due(limit));
        if (wire_now() > limit) {
            wire_die("%d of %d pages were not loaded within 30 s", waiting_for_pages, bidders->users);
        }
    }
    control_await_waiting(pages_open);
    bidders->asked = bidders->told = 0;
}

void bidders_run(bidders_t *bidders)
{
    uint64_t end;
    int next = 0;

    begin = wire_now();
    end = begin + (uint64_t)(bidders->seconds * SECOND);
    while (wire_now() < end) {
        uint64_t due = ask_where_due(end);

        while (next < act_count && acts[next].at <= wire_now() - begin) {
            act(&users[acts[next++].user]);
        }
        if (next < act_count && begin + acts[next].at < due) {
            due = begin + acts[next].at;
        }
        step_until(due);
    }
    is_over = 1;
}

/* The number of bids that the open pages do not show (yet). */
static int count_missing(void)
{
    int missing = 0;

    for (int i = 0; i < all->users; i++) {
        missing += users[i].main.under_way; /* its page or its bid */
        for (int bid = 0; bid < bid_count; bid++) {
            missing += bids[bid].taken && bids[bid].item == users[i].item && users[i].shown[bid] == 0;
        }
    }
    return missing;
}

void bidders_settle(bidders_t *bidders)
{
    uint64_t limit = wire_now() + PATIENCE;

    if (bidders->news == BIDDERS_NONE) {
        return;
    }
    while (count_missing() > 0 && wire_now() < limit) {
        step_until(ask_where_due(wire_now() + SECOND / 10));
    }
    bidders->missed = count_missing();
}

void bidders_leave(bidders_t *bidders)
{
    for (int i = 0; i < bidders->users; i++) {
        wire_close(&users[i].main);
        wire_close(&users[i].news);
    }
    control_await_waiting(pages_gone);
}
