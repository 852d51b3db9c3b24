/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of the tailer, and when it reads: see tailer.h. */
#include "log/tailer.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "apr_thread_proc.h"

#include "base/now.h"
#include "log/file_notify.h"
#include "log/pruning.h"
#include "log/tail.h"
#include "sql/catalogue.h"
#include "sql/connection.h"

/* A tailer that is notified of commits also reads without a notification, at this interval or at `poll` if that is
 * longer, in milliseconds: the connection may be dead, or the kernel may have sent no notification. */
#define ASK_ANYHOW 2000
/* The kernel reports a write before it can be read. In milliseconds. */
#define AFTER_TOLD 3
/* If a read after a notification finds nothing, it is repeated after so many milliseconds, and then after intervals
 * that grow by this factor. */
#define DOUBT 8
/* The interval in milliseconds at which a database without a watched table is asked for one, and at which a process
 * that is not the tailer tries to become it. */
#define ASK_SELDOM 1000
/* The same for a process that is notified when the process of the tailer ends: the tailer may have stopped in another
 * way. */
#define TRY_SELDOM 10000

struct log_tailer_t {
    change_log_t *feed;           /* const */
    const log_dialect_t *dialect; /* const */
    apr_thread_t *thread;         /* const after start */
    int stop;                     /* const after start: an eventfd */
    int holds;                    /* thread: this process is the tailer */
    int holder;                   /* thread: a descriptor, readable when the process of the tailer ends; -1: none */
    sql_call_t c;                 /* thread */
    /* thread: the current connection has subscribed to notifications; a read that fails may have replaced it */
    int listens;
    int is_told; /* thread: `file_notify` has reported a write */
    /* thread: before this read `file_notify` had reported a write, and no writer had taken a ticket */
    int was_told;
    /* thread: milliseconds until the read that is repeated because the kernel reported a write; 0: none is due */
    int doubt;
    log_file_notify_t file_notify; /* thread */
    log_tail_t tail;               /* thread */
    log_pruning_t pruning;         /* thread */
};

/* ------------------------------------------------------------ reading */

/* For each new connection, also the first one. */
static apr_status_t listen_again(log_tailer_t *t)
{
    const char *incarnation = NULL;
    apr_status_t rv = APR_SUCCESS;

    if (t->dialect->incarnation != NULL) {
        rv = sql_conn_cell(&t->c, t->dialect->incarnation, &incarnation);
    }
    if (rv == APR_SUCCESS) {
        log_tail_connect(&t->tail, incarnation);
        rv = t->dialect->listen != NULL ? t->dialect->listen(&t->c) : APR_SUCCESS;
    }
    t->listens = rv == APR_SUCCESS;
    return rv;
}

/* The database notifies of each commit, also of those that were read before the notification came, such as those of
 * this server's writers. */
static int has_news(const log_tailer_t *t)
{
    return t->dialect->take_notifications != NULL && t->dialect->take_notifications(t->c.own, t->tail.head.position);
}

static int seldom(const log_tailer_t *t)
{
    return t->feed->poll > ASK_SELDOM ? t->feed->poll : ASK_SELDOM;
}

/* The kernel reports the write to the journal, but not when the commit becomes readable, which may be later than
 * AFTER_TOLD. So a read that finds nothing is repeated, each time after a longer interval.
 * @param is_new  this read has found changes
 * @param wait    the time until the next read, otherwise */
static void doubt(log_tailer_t *t, int is_new, int *wait)
{
    t->doubt = is_new ? 0 : t->was_told ? DOUBT : t->doubt * DOUBT;
    if (t->doubt >= *wait) {
        t->doubt = 0;
    }
    *wait = t->doubt != 0 ? t->doubt : *wait;
}

/* Reads, with a connection.
 * @param wait   milliseconds until the next read
 * @param again  1: a new boot of the ring has begun, and changes since the last read must be read next */
static log_reading_t read_now(log_tailer_t *t, int *wait, int *again)
{
    sql_call_t *c = &t->c;
    int was_new = c->conn->is_new, watched = 0;
    apr_int64_t version = t->tail.version;
    apr_status_t rv;

    t->listens &= !was_new;
    rv = t->listens ? APR_SUCCESS : listen_again(t);
    if (rv == APR_SUCCESS) {
        rv = log_tail_read(&t->tail, c, &watched, again);
    }
    t->listens &= was_new || !c->conn->is_new; /* the read may have found the old connection dead */
    if (rv == APR_SUCCESS && watched) {
        rv = log_prune(&t->pruning, c, t->tail.head.position);
    }
    *wait = rv != APR_SUCCESS                          ? t->feed->poll
            : !watched                                 ? seldom(t)
            : *again || !t->listens                    ? 0
            : t->is_told || t->dialect->listen != NULL ? (t->feed->poll > ASK_ANYHOW ? t->feed->poll : ASK_ANYHOW)
                                                       : t->feed->poll;
    if (rv == APR_SUCCESS && t->is_told) {
        doubt(t, t->tail.version != version, wait);
    }
    if (rv == APR_SUCCESS && has_news(t)) {
        *wait = 0; /* notifications that came together with results do not make the socket readable */
    }
    return rv != APR_SUCCESS ? LOG_READING_UNREACHABLE : watched ? LOG_READING_DONE : LOG_READING_UNWATCHED;
}

/* Reads once, and serves the tickets that were taken before. @return milliseconds until the next read */
static int read_and_serve(log_tailer_t *t)
{
    int wait = t->feed->poll, again = 0;
    log_reading_t reading = LOG_READING_UNREACHABLE;
    apr_uint32_t ticket;

    t->is_told = t->feed->journal != NULL && log_file_notify_listen(&t->file_notify, t->feed->journal);
    ticket = log_shared_take(t->feed);
    if (sql_conn_take(&t->c) == APR_SUCCESS) {
        reading = read_now(t, &wait, &again);
        sql_conn_give_back(&t->c);
    }
    if (!again || reading != LOG_READING_DONE) {
        log_shared_set_reading(t->feed, reading);
        log_shared_serve(t->feed, ticket); /* also writers whose change could not be read: they wait no longer */
    }
    return wait;
}

/* ------------------------------------------------------------ the thread */

static void forget_holder(log_tailer_t *t)
{
    if (t->holder >= 0) {
        close(t->holder);
    }
    t->holder = -1;
}

static void take_over(log_tailer_t *t)
{
    log_tail_take_over(&t->tail);
    t->feed->sql.host->log(7, "this child reads the changes of \"%s\"", t->feed->sql.database);
}

/* Becomes the tailer, or waits for the process that is. @return milliseconds until the next attempt */
static int try_to_hold(log_tailer_t *t)
{
    forget_holder(t);
    t->holds = log_shared_lock(t->feed);
    if (t->holds) {
        take_over(t);
        return 0;
    }
    t->holder = log_shared_await(t->feed);
    return t->holder >= 0 && seldom(t) < TRY_SELDOM ? TRY_SELDOM : seldom(t);
}

/* The descriptor that reports changes of the database, or the end of the tailer; -1: none. */
static int teller(const log_tailer_t *t)
{
    if (!t->holds) {
        return t->holder;
    }
    if (t->is_told) {
        return t->file_notify.fd;
    }
    return t->dialect->listen != NULL && t->c.own->dbi != NULL ? dbi_conn_get_socket(t->c.own->dbi) : -1;
}

/* Waits for that time, or until a writer takes a ticket, the child stops, or the database notifies. @return 0: stop */
static int wait_for(log_tailer_t *t, int milliseconds)
{
    int found;
    struct pollfd waits[] = {{.fd = t->stop, .events = POLLIN},
                             {.fd = t->holds ? t->feed->poke : -1, .events = POLLIN},
                             {.fd = teller(t), .events = POLLIN}};

    do {
        found = poll(waits, 3, milliseconds);
    } while (found == 1 && waits[2].revents == POLLIN && t->holds && !t->is_told && !has_news(t));
    if (found > 0 && waits[0].revents == 0 && waits[1].revents == 0 && t->is_told) {
        (void)poll(waits, 2, AFTER_TOLD);
    }
    t->was_told = t->is_told && waits[2].revents != 0;
    return waits[0].revents == 0;
}

static void *APR_THREAD_FUNC run(apr_thread_t *thread, void *data)
{
    log_tailer_t *t = data;
    int wait = 0;

    log_file_notify_open(&t->file_notify);
    while (wait_for(t, wait)) {
        if (!t->holds) {
            wait = try_to_hold(t);
        }
        if (t->holds) {
            wait = read_and_serve(t);
        }
    }
    if (t->holds) {
        log_shared_set_reading(t->feed, LOG_READING_NOT);
        log_shared_serve(t->feed, log_shared_take(t->feed));
        log_shared_unlock(t->feed);
    }
    forget_holder(t);
    log_file_notify_close(&t->file_notify);
    log_tail_end(&t->tail);
    sql_background_end(&t->c);
    return NULL;
}

const char *log_tailer_start(change_log_t *feed, apr_pool_t *pchild)
{
    log_tailer_t *t = apr_pcalloc(pchild, sizeof(*t));

    t->feed = feed;
    t->holder = -1;
    t->dialect = log_dialect_of(&feed->sql);
    if (t->dialect == NULL || feed->poll == 0) {
        return NULL;
    }
    t->tail.feed = feed;
    t->tail.dialect = t->dialect;
    t->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (t->stop < 0 || sql_background_begin(&t->c, &feed->sql) != APR_SUCCESS) {
        return "the tailer has no memory";
    }
    if (apr_thread_create(&t->thread, NULL, run, t, pchild) != APR_SUCCESS) {
        sql_background_end(&t->c);
        return "the tailer's thread cannot be made";
    }
    feed->tailer = t;
    return NULL;
}

void log_tailer_stop(change_log_t *feed)
{
    log_tailer_t *t = feed->tailer;
    const apr_uint64_t one = 1;
    apr_status_t ended;

    if (t == NULL) {
        return;
    }
    (void)!write(t->stop, &one, sizeof(one));
    apr_thread_join(&ended, t->thread);
    close(t->stop);
    feed->tailer = NULL;
}
