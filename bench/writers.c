/* SPDX-License-Identifier: Apache-2.0 */
/* Those who change things during a stress run: see writers.h. */
#include "writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "readers.h"
#include "wire.h"

#define WRITERS 4
#define STRANGE_PRINTED 20
#define FAILS_FOR 300000000u /* ns */

typedef struct order_t {
    plan_kind_t kind;
    unsigned which;
    unsigned how;
} order_t;

typedef struct writer_t {
    wire_conn_t conn; /* first: a callback's connection is its writer */
    order_t *queue;
    int first, count, room; /* a ring */
} writer_t;

writers_counts_t writers_counts;

static writer_t writers[WRITERS];
static const site_t *site;
static uint64_t heals_at[SITE_GROUPS]; /* 0: not failing */

static int key_of(const order_t *order)
{
    if (order->kind == PLAN_WRITE_SHARED && site->shared > 0) {
        return site->keys - site->shared + (int)(order->which % (unsigned)site->shared);
    }
    return (int)(order->which % (unsigned)site->keys);
}

/* @return the length; 0: there is nothing to ask */
static int put_request(char *request, size_t size, const order_t *order)
{
    static const char get[] = "GET %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n";
    char path[256], header[128] = "";
    const char *id;

    switch (order->kind) {
    case PLAN_WRITE:
    case PLAN_WRITE_SHARED:
    case PLAN_DIE:
        snprintf(path, sizeof path, "/test/add?name=%%23%d&notify=i%d%s", key_of(order), key_of(order),
                 order->kind == PLAN_DIE ? "&die=1" : "");
        break;
    case PLAN_NOTIFY:
        snprintf(path, sizeof path, "/test/notify?interest=i%d", key_of(order));
        break;
    case PLAN_FAIL:
        snprintf(path, sizeof path, "/test/set?name=fail%u&value=%u", order->which % SITE_GROUPS, order->how);
        break;
    case PLAN_SET:
        if ((id = readers_page_id(order->which)) == NULL) {
            return 0;
        }
        snprintf(header, sizeof header, "X-Vault-Page: %s\r\n", id);
        snprintf(path, sizeof path, "/test/property?key=outside&value=%u", order->how);
        break;
    case PLAN_SAVE:
        snprintf(path, sizeof path, "values.n=%u&table=t%u", order->how, order->which % (unsigned)site->tables);
        return snprintf(request, size,
                        "POST /vault/feed/database/save HTTP/1.1\r\nHost: localhost\r\nContent-Length: %zu\r\n"
                        "Content-Type: application/x-www-form-urlencoded\r\n\r\n%s",
                        strlen(path), path);
    default:
        return 0;
    }
    return snprintf(request, size, get, path, header);
}

static void send_next(writer_t *writer)
{
    char request[512];
    int length = 0;

    while (length == 0 && writer->count > 0) {
        const order_t *order = &writer->queue[writer->first];

        length = put_request(request, sizeof request, order);
        writer->first = (writer->first + 1) % writer->room;
        writer->count--;
    }
    if (length > 0) {
        wire_send(&writer->conn, request, (size_t)length);
    }
}

static void answered(wire_conn_t *conn, const wire_answer_t *answer)
{
    if (answer->status == 200 || answer->status == 409) { /* 409: a property of a page that is gone by now */
        writers_counts.done++;
    }
    else if (answer->status == 503) {
        writers_counts.busy++;
    }
    else if (writers_counts.strange++ < STRANGE_PRINTED) {
        printf("FAULT: a writer's request is answered %d: %.200s\n", answer->status, answer->body);
    }
    send_next((writer_t *)conn);
}

static void closed(wire_conn_t *conn, int lost)
{
    writers_counts.lost += lost;
    if (lost) {
        send_next((writer_t *)conn);
    }
}

static void grow(writer_t *writer)
{
    int room = writer->room ? 2 * writer->room : 64;
    order_t *queue = calloc((size_t)room, sizeof *queue);

    if (queue == NULL) {
        wire_die("out of memory");
    }
    for (int i = 0; i < writer->count; i++) {
        queue[i] = writer->queue[(writer->first + i) % writer->room];
    }
    free(writer->queue);
    writer->queue = queue;
    writer->first = 0;
    writer->room = room;
}

static void queue_order(plan_kind_t kind, unsigned which, unsigned how)
{
    writer_t *writer = &writers[which % WRITERS];

    if (writer->count == writer->room) {
        grow(writer);
    }
    writer->queue[(writer->first + writer->count++) % writer->room] = (order_t){kind, which, how};
    if (!writer->conn.under_way) {
        send_next(writer);
    }
}

void writers_start(const site_t *of)
{
    site = of;
    for (int i = 0; i < WRITERS; i++) {
        writers[i].conn = (wire_conn_t){.fd = -1, .answered = answered, .closed = closed};
    }
}

void writers_act(const plan_act_t *act)
{
    if (act->kind == PLAN_SAVE && site->tables == 0) {
        return;
    }
    if (act->kind == PLAN_FAIL) {
        heals_at[act->which % SITE_GROUPS] = wire_now() + FAILS_FOR;
        queue_order(PLAN_FAIL, act->which % SITE_GROUPS, 500);
        return;
    }
    queue_order(act->kind, act->which, act->how);
}

void writers_add(int thing)
{
    if (site_is_table(site, thing)) {
        queue_order(PLAN_SAVE, (unsigned)(thing - site->keys), 0);
    }
    else {
        queue_order(PLAN_WRITE, (unsigned)thing, 0);
    }
}

void writers_tick(void)
{
    uint64_t now = wire_now();

    for (unsigned i = 0; i < SITE_GROUPS; i++) {
        if (heals_at[i] != 0 && heals_at[i] <= now) {
            heals_at[i] = 0;
            queue_order(PLAN_FAIL, i, 0);
        }
    }
}

int writers_pending(void)
{
    int pending = 0;

    for (int i = 0; i < WRITERS; i++) {
        pending += writers[i].count + writers[i].conn.under_way;
    }
    return pending;
}
