/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of one link: connects, has the journals followed, and sees that nothing is lost. */
#include "gateway/link.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"
#include "gateway/strategy.h"
#include "mod_vault/vault.h"

/* An engine that answers later is treated as if it were not there. */
#define FLUSH_WITHIN apr_time_from_sec(1)
#define REOPEN_AFTER apr_time_from_sec(1)
/* At the end of the thread. */
#define FINISH_WITHIN apr_time_from_sec(1)

void vault_link_say(const vault_link_t *l, vault_gateway_event_t event, const char *why)
{
    l->options->say(event, l->options->names[l->number], why);
}

void vault_link_wake(vault_link_t *l)
{
    static const apr_uint64_t one = 1;

    while (write(l->wake_fd, &one, sizeof(one)) < 0 && errno == EINTR) {
    }
}

void vault_link_check_all(vault_link_t *l)
{
    vault_notifier_all(l->options->notifier, l->options->slot);
}

void vault_link_name(char *name)
{
    apr_uint64_t random = 0;

    apr_generate_random_bytes((unsigned char *)&random, sizeof(random));
    apr_snprintf(name, 17, "%016" APR_UINT64_T_HEX_FMT, random);
}

/* ------------------------------------------------------------ events, any thread */

void vault_link_notified(vault_link_t *l, const char *interest)
{
    vault_count(l->counters, notifies_received, 1);
    if (vault_notifier_notify(l->options->notifier, interest, l->options->slot) == APR_NOTFOUND) {
        vault_count(l->counters, notifies_extraneous, 1);
    }
}

static void on_message(void *baton, const char *subject, const void *data, apr_size_t size)
{
    vault_link_t *l = baton;

    if (strncmp(subject, l->prefix, strlen(l->prefix))) {
        return;
    }
    subject += strlen(l->prefix);
    if (!strcmp(subject, VAULT_LINK_BEATS)) {
        vault_link_hear(l, data, size);
    }
    else if (!strcmp(subject, VAULT_LINK_ALL)) {
        vault_link_check_all(l);
    }
    else {
        l->strategy->message(l, subject, data, size);
    }
}

static void on_lost(void *baton, const char *why)
{
    vault_link_t *l = baton;

    __atomic_store_n(&l->is_lost, 1, __ATOMIC_SEQ_CST);
    vault_link_say(l, VAULT_GATEWAY_LOST, why);
    vault_link_wake(l);
}

static void on_dropped(void *baton)
{
    vault_link_say(baton, VAULT_GATEWAY_DROPPED, NULL);
    vault_link_check_all(baton);
}

static const vault_engine_events_t events = {on_message, on_lost, on_dropped};

/* ----------------------------------------------------------------------- flush */

/* The engine has taken everything. */
static void settle(vault_link_t *l)
{
    int is_notified = l->owes_all;

    l->is_dirty = 0;
    l->owes_all = 0;
    vault_exchange_set_taken(l->options->exchange, l->number, l->sent_at);
    if (is_notified) {
        vault_link_check_all(l);
    }
    l->strategy->taken(l, is_notified);
}

static void flush(vault_link_t *l)
{
    if (!l->is_dirty && !l->owes_all) {
        return;
    }
    if (l->options->engine->flush(l->link, FLUSH_WITHIN) != APR_SUCCESS) {
        l->answers_since = 0;
        return;
    }
    l->answers_since = l->answers_since ? l->answers_since : vault_now();
    settle(l);
}

/* ----------------------------------------------------------------------- thread */

static int is_lost(const vault_link_t *l)
{
    return __atomic_load_n(&l->is_lost, __ATOMIC_SEQ_CST);
}

/* What was sent and not taken is sent again. What was missed meanwhile is not known. */
static void begin_anew(vault_link_t *l)
{
    l->reasons.count = 0;
    l->answers_since = l->beats_at = vault_now();
    l->sent_at = vault_exchange_taken(l->options->exchange, l->number);
    l->settling_count = 0;
    l->owes_all = 1;
    vault_link_subscribe(l, VAULT_LINK_ALL);
    vault_link_subscribe(l, VAULT_LINK_BEATS);
    l->strategy->begin(l);
    vault_link_look_at_all(l);
    vault_count(l->counters, engines, 1);
    vault_link_say(l, VAULT_GATEWAY_UP, NULL);
}

static void open_link(vault_link_t *l)
{
    const char *why = "it cannot be reached";
    apr_time_t now = vault_now();

    if (now < l->opens_at) {
        return;
    }
    l->opens_at = now + REOPEN_AFTER;
    apr_pool_clear(l->pool);
    __atomic_store_n(&l->is_lost, 0, __ATOMIC_SEQ_CST);
    if (l->options->engine->open(&l->link, &l->options->links[l->number], &events, l, &why, l->pool) == APR_SUCCESS) {
        begin_anew(l);
        return;
    }
    l->link = NULL;
    if (vault_reasons_add(&l->reasons, vault_hash_text(l->seed, why), now)) {
        vault_link_say(l, VAULT_GATEWAY_LOST, why);
    }
}

static void close_link(vault_link_t *l)
{
    l->options->engine->close(l->link);
    l->link = NULL;
    vault_link_forget_interests(l);
    vault_count(l->counters, engines, -1);
}

static void keep_up(vault_link_t *l)
{
    apr_time_t now = vault_now();

    if (now < l->beats_at) {
        return;
    }
    if (now - l->beats_at > VAULT_GATEWAY_HEARTBEAT) {
        l->answers_since = now;
    }
    l->beats_at = now + VAULT_GATEWAY_HEARTBEAT;
    vault_link_beat(l);
    vault_link_drop_silent(l, now);
}

/* @return 1: there is more to do */
static int work_once(vault_link_t *l)
{
    int more = vault_link_follow_interests(l);

    more |= vault_link_publish_outbox(l);
    if (l->strategy->tick) {
        l->ticks_at = l->strategy->tick(l, vault_now());
    }
    flush(l);
    return more && !is_lost(l);
}

static int must_stop(const vault_link_t *l)
{
    return __atomic_load_n(&l->stops, __ATOMIC_SEQ_CST);
}

/* The heartbeats go on while there is always more to do. */
static void work(vault_link_t *l)
{
    do {
        keep_up(l);
    } while (work_once(l) && !must_stop(l));
}

static int milliseconds_to_wait(const vault_link_t *l)
{
    apr_interval_time_t wait = VAULT_GATEWAY_HEARTBEAT;
    apr_time_t now = vault_now();

    if (l->link && l->ticks_at - now < wait) {
        wait = l->ticks_at > now ? l->ticks_at - now : 0;
    }
    return (int)((wait + 999) / 1000);
}

/* While there is no link, new entries can wait. */
static void wait_for_work(vault_link_t *l)
{
    vault_journal_t *held = vault_exchange_held(l->options->exchange);
    vault_journal_t *outbox = vault_exchange_outbox(l->options->exchange);
    struct pollfd fds[3] = {{.fd = l->wake_fd, .events = POLLIN},
                            {.fd = vault_journal_fd(held, l->number), .events = POLLIN},
                            {.fd = vault_journal_fd(outbox, l->number), .events = POLLIN}};
    apr_uint64_t wakes;

    poll(fds, l->link ? 3 : 1, milliseconds_to_wait(l));
    while (read(l->wake_fd, &wakes, sizeof(wakes)) < 0 && errno == EINTR) {
    }
    if (l->link) {
        vault_journal_hush(held, l->number);
        vault_journal_hush(outbox, l->number);
    }
}

/* What remains is published by the next gateway. */
static void leave(vault_link_t *l)
{
    apr_time_t until = vault_now() + FINISH_WITHIN;

    if (l->link && !is_lost(l)) {
        while (work_once(l) && vault_now() < until) {
        }
    }
    if (l->link) {
        close_link(l);
    }
    pthread_mutex_lock(&l->running->lock);
    if (--l->running->threads == 0) {
        vault_exchange_yield(l->options->exchange, l->options->slot);
        pthread_cond_broadcast(&l->running->ended);
    }
    pthread_mutex_unlock(&l->running->lock);
}

static void *run(void *data)
{
    vault_link_t *l = data;

    while (!must_stop(l)) {
        if (l->link && is_lost(l)) {
            close_link(l);
        }
        if (!l->link) {
            open_link(l);
        }
        if (l->link) {
            work(l);
        }
        wait_for_work(l);
    }
    leave(l);
    return NULL;
}

/* With an allocator of its own, as only the thread of the link uses it. */
static apr_status_t make_pool(apr_pool_t **pool, apr_pool_t *parent)
{
    apr_allocator_t *allocator;
    apr_status_t rv = apr_allocator_create(&allocator);

    if (rv == APR_SUCCESS && (rv = apr_pool_create_ex(pool, parent, NULL, allocator)) == APR_SUCCESS) {
        apr_allocator_owner_set(allocator, *pool);
    }
    return rv;
}

static apr_status_t start_thread(vault_link_t *l)
{
    vault_link_count_t *running = l->running;
    int error;

    pthread_mutex_lock(&running->lock);
    error = pthread_create(&l->thread, NULL, run, l);
    if (!error) {
        running->threads++;
    }
    pthread_mutex_unlock(&running->lock);
    return APR_FROM_OS_ERROR(error);
}

apr_status_t vault_link_start(vault_link_t *l, const vault_gateway_options_t *options, const vault_hash_ring_t *ring,
                              unsigned number, vault_link_count_t *running, apr_pool_t *pool)
{
    apr_status_t rv;

    l->options = options;
    l->ring = ring;
    l->number = number;
    l->running = running;
    l->counters = vault_slot_counters(options->notifier, options->slot);
    l->strategy = options->strategy;
    l->ticks_at = APR_INT64_MAX;
    l->interests = calloc((apr_size_t)vault_notifier_interests(options->notifier) + 1, sizeof(*l->interests));
    if (!l->interests || (l->strategy->start && !l->strategy->start(l))) {
        free(l->interests);
        return APR_ENOMEM;
    }
    apr_snprintf(l->prefix, sizeof(l->prefix), "%s.", options->space);
    if ((rv = apr_generate_random_bytes((unsigned char *)&l->seed, sizeof(l->seed))) != APR_SUCCESS ||
        (rv = make_pool(&l->pool, pool)) != APR_SUCCESS) {
        return rv;
    }
    l->wake_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    return l->wake_fd < 0 ? APR_FROM_OS_ERROR(errno) : start_thread(l);
}

void vault_link_ask_stop(vault_link_t *l)
{
    __atomic_store_n(&l->stops, 1, __ATOMIC_SEQ_CST);
    vault_link_wake(l);
}

void vault_link_join(vault_link_t *l)
{
    pthread_join(l->thread, NULL);
    close(l->wake_fd);
    if (l->strategy->stop) {
        l->strategy->stop(l);
    }
    free(l->interests);
    free(l->settling);
}
