/* SPDX-License-Identifier: Apache-2.0 */
/* As in ORE: each server tells the others what it holds as a Bloom filter, and a notify is sent only to the servers
 * whose filter has its interest. Some of these do not hold it: that is an extraneous message, and no page wakes.
 *
 * An interest is settled when each other server that is heard knows a filter which has it. */
#include "gateway/strategy.h"

#include <stdlib.h>
#include <string.h>

#include "base/now.h"
#include "gateway/filter_peers.h"
#include "mod_vault/vault.h"

#define REPORTS "f"
/* The subject of notifies for one link. */
#define TO "s."
/* The shortest time between two reports. */
#define REPORT_EVERY apr_time_from_msec(200)
#define NAMES_MIN 1024

typedef struct filters_t {
    vault_filter_peers_t others;
    char link[VAULT_FILTER_LINK]; /* the name of this connection */
    vault_bloom_t held;           /* the interests that are held */
    apr_uint32_t count, room;     /* of these interests; for how many the filter is made */
    apr_uint64_t version;         /* of the filter that was sent last */
    int has_changed;              /* since then, or another server needs it again */
    int tells;                    /* another server waits for a report */
    apr_time_t reported_at;
    apr_time_t sent_at; /* when the filter was sent */
    unsigned follows;   /* atomic; of reports that have come */
} filters_t;

static int start(vault_link_t *l)
{
    filters_t *f = calloc(1, sizeof(*f));

    l->state = f;
    if (f) {
        vault_filter_peers_init(&f->others);
    }
    return f != NULL;
}

static void stop(vault_link_t *l)
{
    filters_t *f = l->state;

    vault_filter_peers_free(&f->others);
    vault_bloom_free(&f->held);
    free(f);
}

/* ------------------------------------------------------------------- what is held */

/* Make the filter for so many names, with those that are held. Without memory it stays as it is. */
static void make_room(vault_link_t *l, apr_uint32_t names)
{
    filters_t *f = l->state;
    vault_interest_t i, last = vault_notifier_interests(l->options->notifier);

    if (vault_bloom_make(&f->held, names) != APR_SUCCESS) {
        return;
    }
    f->room = names;
    f->has_changed = 1;
    for (i = 1; i <= last && f->count; i++) {
        if (l->interests[i].is_held) {
            vault_bloom_add(&f->held, l->interests[i].of.hash);
        }
    }
}

static void begin(vault_link_t *l)
{
    filters_t *f = l->state;
    char own[sizeof(TO) + VAULT_FILTER_LINK];

    vault_link_name(f->link);
    vault_filter_peers_begin(&f->others, f->link);
    __atomic_store_n(&f->follows, 0, __ATOMIC_SEQ_CST);
    f->count = 0;
    f->version = 0;
    f->reported_at = 0;
    f->has_changed = 1;
    make_room(l, NAMES_MIN);
    strcpy(own, TO);
    strcat(own, f->link);
    vault_link_subscribe(l, own);
    vault_link_subscribe(l, REPORTS);
}

static int held(vault_link_t *l, vault_link_interest_t *interest, const char *name, apr_uint64_t *mark)
{
    filters_t *f = l->state;

    if (f->count == f->room) {
        make_room(l, 2 * f->room);
    }
    if (!f->held.counts) {
        return 0;
    }
    interest->of.hash = vault_bloom_hash(name);
    vault_bloom_add(&f->held, interest->of.hash);
    f->count++;
    f->has_changed = 1;
    *mark = f->version + 1;
    return 1;
}

static void dropped(vault_link_t *l, vault_link_interest_t *interest)
{
    filters_t *f = l->state;

    vault_bloom_remove(&f->held, interest->of.hash);
    f->count--;
    f->has_changed = 1;
}

/* --------------------------------------------------------------------- notifies */

static int notify(vault_link_t *l, const char *name)
{
    filters_t *f = l->state;
    vault_filter_link_t *links;
    char subject[VAULT_ENGINE_SUBJECT_MAX];
    unsigned i, found;
    int is_sent = vault_filter_peers_find(&f->others, vault_bloom_hash(name), &links, &found) == APR_SUCCESS;

    for (i = 0; is_sent && i < found; i++) {
        vault_link_subject(l, subject, TO, NULL);
        strcat(subject, links[i]);
        is_sent = vault_link_send(l, subject, name, strlen(name));
    }
    free(links);
    return is_sent;
}

static void hear(vault_link_t *l, const void *data, apr_size_t size)
{
    filters_t *f = l->state;
    unsigned follows = vault_filter_peers_hear(&f->others, data, size, l->options->server, vault_now());

    if (follows & VAULT_FILTER_JOINED) {
        vault_link_check_all(l);
    }
    if (follows) {
        __atomic_fetch_or(&f->follows, follows, __ATOMIC_SEQ_CST);
        vault_link_wake(l);
    }
}

static void message(vault_link_t *l, const char *kind, const void *data, apr_size_t size)
{
    char name[VAULT_INTEREST_MAX + 1];

    if (!strcmp(kind, REPORTS)) {
        hear(l, data, size);
    }
    else if (!strncmp(kind, TO, strlen(TO)) && size && size < sizeof(name)) {
        memcpy(name, data, size);
        name[size] = '\0';
        vault_link_notified(l, name);
    }
}

/* ---------------------------------------------------------------------- reports */

/* If it is not sent, the link is lost. */
static void report(vault_link_t *l, apr_time_t now)
{
    filters_t *f = l->state;
    char subject[VAULT_ENGINE_SUBJECT_MAX];
    apr_size_t size;
    char *text = vault_filter_peers_report(&f->others, l->options->server, f->has_changed ? &f->held : NULL, &size);

    f->reported_at = now;
    if (!text) {
        return;
    }
    if (f->has_changed) {
        f->version++;
        f->sent_at = now;
    }
    f->has_changed = 0;
    f->tells = 0;
    vault_link_subject(l, subject, REPORTS, NULL);
    vault_link_publish(l, subject, text, size);
    free(text);
}

static apr_time_t due_at(const filters_t *f)
{
    return f->reported_at + (f->has_changed || f->tells ? REPORT_EVERY : VAULT_GATEWAY_HEARTBEAT);
}

/* A filter that was sent a while ago and is not known to all was perhaps lost: it is sent again. */
static void look_at_others(filters_t *f, apr_time_t now)
{
    unsigned follows = __atomic_exchange_n(&f->follows, 0, __ATOMIC_SEQ_CST);

    f->tells |= (follows & VAULT_FILTER_TELL) != 0;
    f->has_changed |= (follows & VAULT_FILTER_BITS) != 0;
    f->has_changed |= now >= f->sent_at + VAULT_GATEWAY_HEARTBEAT && vault_filter_peers_known(&f->others) < f->version;
}

static apr_time_t tick(vault_link_t *l, apr_time_t now)
{
    filters_t *f = l->state;

    vault_filter_peers_forget(&f->others, now - VAULT_GATEWAY_SILENCE);
    look_at_others(f, now);
    if (f->count < f->room / 8 && f->room > NAMES_MIN) {
        make_room(l, f->room / 2);
    }
    if (now >= due_at(f)) {
        report(l, now);
    }
    vault_link_settle_interests(l, vault_filter_peers_known(&f->others), 0);
    return due_at(f);
}

/* The engine has nothing to say on what others know. */
static void taken(vault_link_t *l, int is_notified)
{
}

const vault_strategy_t vault_strategy_filters = {
    .name = "filters",
    .start = start,
    .stop = stop,
    .begin = begin,
    .held = held,
    .dropped = dropped,
    .notify = notify,
    .message = message,
    .taken = taken,
    .tick = tick,
};
