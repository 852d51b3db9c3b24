/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_host.h
 * A host for the database feed in unit tests: one page, interests with stamps, no server.
 *
 * Stamps live in memory that forked writers share, and every notify rings an eventfd, so that a test can wait for it.
 */
#ifndef DATABASE_HOST_H
#define DATABASE_HOST_H

#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

#define HOST_INTERESTS 2048

/* What pages and writers share. An interest is never removed; its place is found by name. */
typedef struct host_shared_t {
    _Atomic apr_uint64_t clock;
    _Atomic int lock;
    int used;
    struct {
        char name[VAULT_INTEREST_MAX + 1];
        apr_uint64_t stamp;
        int notified;
    } interests[HOST_INTERESTS];
} host_shared_t;

static host_shared_t *shared;
static int wakeup = -1;

/* What one page has committed. */
typedef struct host_page_t {
    char cursor[VAULT_PROPERTY_VALUE_MAX + 1];
    char ack[VAULT_PROPERTY_VALUE_MAX + 1]; /* what the feed wants to hear when the browser has the answer */
    int has_cursor;
    apr_uint64_t stamp;
    int looks;  /* how often create_interest answered true */
    int resets; /* how often everything was shown anew */
} host_page_t;

struct vault_call_t {
    apr_pool_t *pool;
    host_page_t *page; /* NULL: a plain view */
    host_page_t staged;
    char sentence[1024];
};

static int host_place(const char *name)
{
    int i = 0;

    while (i < shared->used && strcmp(shared->interests[i].name, name) != 0) {
        i++;
    }
    if (i == shared->used && i < HOST_INTERESTS) {
        apr_cpystrn(shared->interests[i].name, name, sizeof(shared->interests[i].name));
        shared->interests[i].stamp = ++shared->clock;
        shared->used++;
    }
    return i < HOST_INTERESTS ? i : 0;
}

static void host_lock(void)
{
    while (atomic_exchange(&shared->lock, 1)) {
        sched_yield();
    }
}

static void host_unlock(void)
{
    atomic_store(&shared->lock, 0);
}

static int host_create_interest(vault_call_t *call, const char *interest)
{
    apr_uint64_t stamp;

    host_lock();
    stamp = shared->interests[host_place(interest)].stamp;
    host_unlock();
    /* Of several interests the last one: who looks has created all of them before. */
    call->staged.stamp = call->staged.stamp > stamp ? call->staged.stamp : stamp;
    if (call->page != NULL && call->page->has_cursor && stamp <= call->page->stamp) {
        return 0;
    }
    call->staged.looks++;
    return 1;
}

static void host_remove_interest(vault_call_t *call, const char *interest)
{
}

static const char *host_cursor_get(vault_call_t *call)
{
    return call->page != NULL && call->page->has_cursor ? call->page->cursor : NULL;
}

static apr_status_t host_cursor_set(vault_call_t *call, const char *value)
{
    if (strlen(value) > VAULT_PROPERTY_VALUE_MAX) {
        return APR_EINVAL;
    }
    apr_cpystrn(call->staged.cursor, value, sizeof(call->staged.cursor));
    call->staged.has_cursor = 1;
    return APR_SUCCESS;
}

static const char *host_page_get(vault_call_t *call, const char *key)
{
    return NULL;
}

static apr_status_t host_page_set(vault_call_t *call, const char *key, const char *value)
{
    return APR_NOTFOUND;
}

/* What another program does between a commit of this thread and its notify, once; NULL: nothing. */
__attribute__((unused)) static __thread void (*host_meanwhile)(void *);
static __thread void *host_meanwhile_data;

static void let_somebody_else(void)
{
    void (*act)(void *) = host_meanwhile;

    host_meanwhile = NULL;
    if (act != NULL) {
        act(host_meanwhile_data);
    }
}

static apr_status_t host_notify(const char *interest)
{
    apr_uint64_t one = 1;
    int i;

    let_somebody_else();
    if (interest[0] == '\0' || strlen(interest) > VAULT_INTEREST_MAX) {
        return APR_EINVAL;
    }
    host_lock();
    i = host_place(interest);
    shared->interests[i].stamp = ++shared->clock;
    shared->interests[i].notified++;
    host_unlock();
    return write(wakeup, &one, sizeof(one)) == sizeof(one) ? APR_SUCCESS : APR_EGENERAL;
}

__attribute__((unused)) static int host_notified(const char *interest)
{
    int count;

    host_lock();
    count = shared->interests[host_place(interest)].notified;
    host_unlock();
    return count;
}

static void host_notify_all(void)
{
    apr_uint64_t one = 1;

    host_lock();
    for (int i = 0; i < shared->used; i++) {
        shared->interests[i].stamp = ++shared->clock;
        shared->interests[i].notified++;
    }
    host_unlock();
    (void)!write(wakeup, &one, sizeof(one));
}

static const char *host_user_name;

static const char *host_user(vault_call_t *call)
{
    return host_user_name;
}

static apr_pool_t *host_pool(vault_call_t *call)
{
    return call->pool;
}

static apr_status_t host_fail(vault_call_t *call, apr_status_t status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static apr_status_t host_fail(vault_call_t *call, apr_status_t status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(call->sentence, sizeof(call->sentence), fmt, args);
    va_end(args);
    return status;
}

static void host_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* What another program does when something is logged, once; NULL: nothing. */
__attribute__((unused)) static void (*host_logged)(void *);
static void *host_logged_data;

static void host_log(int level, const char *fmt, ...)
{
    void (*act)(void *) = __atomic_exchange_n(&host_logged, NULL, __ATOMIC_ACQ_REL);

    if (act != NULL) {
        act(host_logged_data);
    }
}

static apr_status_t host_on_ack(vault_call_t *call, const char *data)
{
    apr_cpystrn(call->staged.ack, data, sizeof(call->staged.ack));
    return call->page != NULL ? APR_SUCCESS : APR_NOTFOUND;
}

static void host_reset(vault_call_t *call)
{
    call->staged.resets++;
}

static const vault_host_t host = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_host_t),
    .create_interest = host_create_interest,
    .remove_interest = host_remove_interest,
    .cursor_get = host_cursor_get,
    .cursor_set = host_cursor_set,
    .page_get = host_page_get,
    .page_set = host_page_set,
    .notify = host_notify,
    .user = host_user,
    .pool = host_pool,
    .fail = host_fail,
    .log = host_log,
    .on_ack = host_on_ack,
    .reset = host_reset,
    .notify_all = host_notify_all,
};

/* Wait for the next notify. 0: none came for a minute, which is a failure wherever it is awaited. */
__attribute__((unused)) static int host_wait(void)
{
    struct pollfd descriptor = {.fd = wakeup, .events = POLLIN};
    apr_uint64_t count;

    return poll(&descriptor, 1, 60 * 1000) == 1 && read(wakeup, &count, sizeof(count)) == sizeof(count);
}

static int host_start(void)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    wakeup = eventfd(0, EFD_CLOEXEC);
    return shared == MAP_FAILED || wakeup < 0 ? -1 : 0;
}

static void host_stop(void)
{
    munmap(shared, sizeof(*shared));
    close(wakeup);
}

#endif
