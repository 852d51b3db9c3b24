/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that watches, and when it looks: see watcher.h. */
#include "watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "apr_thread_proc.h"
#include "apr_time.h"

#include "board.h"
#include "catalogue.h"
#include "connection.h"
#include "dialect.h"
#include "footprint.h"
#include "glimpse.h"
#include "knock.h"
#include "listeners.h"
#include "news.h"
#include "now.h"
#include "pace.h"
#include "progress.h"
#include "pruning.h"
#include "survey.h"

/* A database that tells of commits is asked all the same, this often, or every `look` if that is less often, in milliseconds:
 * the connection may be dead. */
#define ASK_ANYHOW 2000
/* A database tells of commits of this server, too, before these were announced: a moment later there is nothing left to read. In
 * milliseconds. */
#define AFTER_TOLD 3
/* How often at most a database without a watched table is asked for one, and who does not watch tries to, in milliseconds. */
#define ASK_SELDOM 1000
/* Likewise who will be told when the process ends that watches: it may have left off in another way. */
#define TRY_SELDOM 10000

struct database_watcher_t {
    database_t *feed;                  /* const */
    const database_dialect_t *dialect; /* const */
    apr_thread_t *thread;              /* const after start */
    int stop;                          /* const after start: an eventfd */
    int holds;                         /* thread: this process looks */
    int holder;                        /* thread: tells when the process ends that holds; -1: nothing does */
    sql_call_t c;                      /* thread */
    int listens;                  /* thread: on the connection that there is; a look that fails may have made another */
    apr_time_t looked_at;         /* thread: when it last looked, and all went well; 0: it has not */
    int pace;                     /* thread: the milliseconds between two looks by the clock */
    apr_time_t paced_at;          /* thread: when it was set; */
    apr_uint32_t marked;          /* thread: and how many marks had been left by then */
    apr_time_t came_at;           /* thread: when it last had a reason to look, if only at a file */
    database_knock_t knock;       /* thread: its descriptor is of all children */
    int is_told;                  /* thread: by `knock`, of all that is done since the last look */
    database_progress_t progress; /* thread */
    database_survey_t survey;     /* thread */
    database_listeners_t listeners; /* thread */
    database_pruning_t pruning;     /* thread */
};

/* ------------------------------------------------------------ looking */

/* @param watched  0: there is no such table */
static apr_status_t look_if_changed(database_watcher_t *w, int *watched)
{
    int any;
    apr_status_t rv = database_news(&w->survey, &w->c, &any);

    *watched = 1;
    if (rv != APR_SUCCESS || !any) {
        return rv;
    }
    rv = sql_catalogue_has(&w->c, "vault_watched", watched);
    return rv == APR_SUCCESS && *watched ? database_survey(&w->survey, &w->c) : rv;
}

/* On a new connection, the first one too. */
static apr_status_t listen_again(database_watcher_t *w)
{
    const char *incarnation = NULL;
    apr_status_t rv = APR_SUCCESS;

    database_listeners_forget(&w->listeners);
    if (w->dialect->incarnation != NULL) {
        rv = sql_conn_cell(&w->c, w->dialect->incarnation, &incarnation);
    }
    if (rv == APR_SUCCESS) {
        database_progress_connect(&w->progress, incarnation);
        rv = w->dialect->listen != NULL ? w->dialect->listen(&w->c) : APR_SUCCESS;
    }
    w->listens = rv == APR_SUCCESS;
    return rv;
}

static int seldom(const database_watcher_t *w)
{
    return w->feed->look > ASK_SELDOM ? w->feed->look : ASK_SELDOM;
}

/* After a look at a database that has to be asked; for others there are better signs than the clock. */
static void set_pace(database_watcher_t *w)
{
    const database_progress_t *progress = &w->progress;
    apr_time_t now = vault_now();

    w->pace = w->feed->look;
    if (w->dialect->is_due != NULL) {
        w->pace = database_pace(w->feed->look, now - progress->others_at, progress->marks.next - w->marked,
                                now - w->paced_at);
    }
    w->paced_at = now;
    w->marked = progress->marks.next;
}

/* With a connection. @return how many milliseconds until the next look */
static int look_now(database_watcher_t *w)
{
    sql_call_t *c = &w->c;
    int was_new = c->conn->is_new;
    int watched = 0;
    apr_status_t rv;
    int wait;

    w->listens &= !was_new;
    rv = w->listens ? APR_SUCCESS : listen_again(w);
    if (rv == APR_SUCCESS) {
        rv = look_if_changed(w, &watched);
    }
    w->listens &= was_new || !c->conn->is_new;
    if (rv == APR_SUCCESS && !watched) {
        return seldom(w);
    }
    if (rv == APR_SUCCESS && w->listens) {
        rv = database_listeners_count(&w->listeners, c);
    }
    if (rv == APR_SUCCESS) {
        rv = database_prune(&w->pruning, c, w->progress.place);
    }
    set_pace(w);
    wait = w->pace;
    if (rv == APR_SUCCESS && w->dialect->hush != NULL) {
        /* What came with the answers to all of this the socket tells no more. */
        wait = w->dialect->hush(c) ? 0 : wait > ASK_ANYHOW ? wait : ASK_ANYHOW;
    }
    if (rv == APR_SUCCESS && !w->listens) {
        /* The look has found the old connection dead: look again, now that this one listens. */
        rv = listen_again(w);
        wait = 0;
    }
    if (rv == APR_SUCCESS) {
        w->looked_at = vault_now();
    }
    return rv == APR_SUCCESS ? wait : w->feed->look;
}

/* @return for how many milliseconds nobody needs to look; 0: look now */
static int may_rest(const database_watcher_t *w, apr_uint64_t footprint)
{
    const database_rest_t rest = {
        .footprint = footprint,
        .known = database_board_known(w->feed),
        .looked_at = w->looked_at,
        .now = vault_now(),
        .look = w->feed->look,
        .is_told = w->is_told,
    };

    return w->progress.told != NULL ? database_footprint_rest(&rest) : 0;
}

/* Likewise because of what a page has seen since the last look. */
static int may_rest_after_glimpse(const database_watcher_t *w)
{
    return w->progress.told != NULL && w->dialect->is_due != NULL
               ? database_glimpse_rest(database_board_seen(w->feed), w->looked_at, vault_now(), w->pace)
               : 0;
}

/* One look. @return how many milliseconds until the next */
static int look(database_watcher_t *w)
{
    int wait = w->feed->look;
    int settled = 0;
    apr_uint64_t footprint;
    int rest;

    w->came_at = vault_now();
    w->is_told = w->feed->journal != NULL && database_knock_listen(&w->knock, w->feed->journal);
    footprint = database_footprint(w->feed, &settled);
    rest = may_rest(w, footprint);
    rest = rest > 0 ? rest : may_rest_after_glimpse(w);
    if (rest > 0) {
        return rest;
    }
    w->looked_at = 0;
    if (sql_conn_take(&w->c) == APR_SUCCESS) {
        wait = look_now(w);
        sql_conn_give_back(&w->c);
    }
    if (w->looked_at == 0) {
        database_listeners_forget(&w->listeners);
    }
    if (w->looked_at != 0 && settled && w->progress.told != NULL) {
        database_board_know(w->feed, footprint);
    }
    rest = may_rest(w, footprint);
    w->is_told &= rest > 0; /* else it looks by the clock until it is sure that it has seen all */
    return rest > 0 ? rest : wait;
}

/* ------------------------------------------------------------ the thread */

static void forget_holder(database_watcher_t *w)
{
    if (w->holder >= 0) {
        close(w->holder);
    }
    w->holder = -1;
}

static void take_over(database_watcher_t *w)
{
    database_progress_take_over(&w->progress);
    database_board_set_quiet(w->feed, 0);
    w->feed->sql.host->log(7, "this child watches \"%s\"", w->feed->sql.database);
}

/* Watch, or wait for who does. @return how many milliseconds until the next attempt */
static int try_to_hold(database_watcher_t *w)
{
    forget_holder(w);
    w->holds = database_board_lock(w->feed);
    if (w->holds) {
        take_over(w);
        return 0;
    }
    w->holder = database_board_await(w->feed);
    return w->holder >= 0 && seldom(w) < TRY_SELDOM ? TRY_SELDOM : seldom(w);
}

/* What has something to say of the database, or of who holds; -1: nothing has. */
static int teller(const database_watcher_t *w)
{
    if (!w->holds) {
        return w->holder;
    }
    if (w->is_told) {
        return w->knock.fd;
    }
    return w->dialect->listen != NULL && w->c.own->dbi != NULL ? dbi_conn_get_socket(w->c.own->dbi) : -1;
}

/* Until then, or until the child stops, or until the database has something to say. @return 0: stop */
static int wait_for(database_watcher_t *w, int milliseconds)
{
    struct pollfd waits[] = {{.fd = w->stop, .events = POLLIN}, {.fd = teller(w), .events = POLLIN}};

    if (poll(waits, 2, milliseconds) > 0 && waits[0].revents == 0) {
        int pause = w->is_told ? database_footprint_pause(vault_now() - w->came_at, w->feed->look) : AFTER_TOLD;

        (void)poll(waits, 1, pause);
    }
    return waits[0].revents == 0;
}

static void *APR_THREAD_FUNC watch(apr_thread_t *thread, void *data)
{
    database_watcher_t *w = data;
    int wait = 0;

    while (wait_for(w, wait)) {
        if (!w->holds) {
            wait = try_to_hold(w);
        }
        if (w->holds) {
            wait = look(w);
        }
    }
    if (w->holds) {
        database_board_set_quiet(w->feed, 0);
        database_board_unlock(w->feed);
    }
    forget_holder(w);
    database_progress_forget_told(&w->progress);
    database_survey_end(&w->survey);
    sql_background_end(&w->c);
    return NULL;
}

const char *database_watcher_start(database_t *feed, apr_pool_t *pchild)
{
    database_watcher_t *w = apr_pcalloc(pchild, sizeof(*w));

    w->feed = feed;
    w->holder = -1;
    w->knock = (database_knock_t){.fd = feed->knock, .file = -1};
    w->dialect = database_dialect_of(&feed->sql);
    if (w->dialect == NULL || feed->look == 0) {
        return NULL;
    }
    w->progress.feed = w->listeners.feed = feed;
    w->progress.dialect = w->listeners.dialect = w->dialect;
    w->survey.progress = &w->progress;
    w->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (w->stop < 0 || sql_background_begin(&w->c, &feed->sql) != APR_SUCCESS) {
        return "the watcher has no memory";
    }
    if (apr_thread_create(&w->thread, NULL, watch, w, pchild) != APR_SUCCESS) {
        sql_background_end(&w->c);
        return "the watcher's thread cannot be made";
    }
    feed->watcher = w;
    return NULL;
}

void database_watcher_stop(database_t *feed)
{
    database_watcher_t *w = feed->watcher;
    apr_uint64_t one = 1;
    apr_status_t ended;

    if (w == NULL) {
        return;
    }
    (void)write(w->stop, &one, sizeof(one));
    apr_thread_join(&ended, w->thread);
    close(w->stop);
    feed->watcher = NULL;
}
