/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that looks at the change table. */
#include "watcher.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "apr_strings.h"
#include "apr_thread_proc.h"
#include "apr_time.h"

#include "board.h"
#include "brief.h"
#include "catalogue.h"
#include "changes.h"
#include "connection.h"
#include "dialect.h"
#include "driver.h"
#include "footprint.h"
#include "glimpse.h"
#include "interests.h"
#include "joined.h"
#include "knock.h"
#include "now.h"
#include "pace.h"
#include "recent.h"
#include "rows.h"

/* Changes that are read at once. */
#define AT_ONCE 500
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
#define PRUNE_EVERY apr_time_from_sec(60)
/* How often whether others listen is asked while nobody does: until it is, one who begins to looks by the clock. */
#define COUNT_EVERY apr_time_from_sec(10)
/* How often at least all tables are read, where changes are numbered, if there is anything to number: one of them may have been altered. */
#define READ_ANYHOW apr_time_from_sec(60)

struct database_watcher_t {
    database_t *feed;                  /* const */
    const database_dialect_t *dialect; /* const */
    apr_thread_t *thread;              /* const after start */
    int stop;                          /* const after start: an eventfd */
    int holds;                         /* thread: this process looks */
    int holder;                        /* thread: tells when the process ends that holds; -1: nothing does */
    int has_connected;                 /* thread */
    int listens;          /* thread: on the connection that there is; a look that fails may have made another */
    apr_time_t pruned_at; /* thread */
    apr_time_t count_at;  /* thread: when it will ask whether others listen; 0: it has not, on this connection */
    sql_call_t c;         /* thread */
    char place[DATABASE_PLACE_BYTES]; /* thread: "" none */
    json_t *tables;                   /* thread: those that are watched, when they were read last; NULL: nobody knows */
    apr_time_t settled_at;            /* thread */
    int lets_be;        /* thread: a place was lost; the next look gives no numbers, unless there are many to give */
    apr_time_t read_at; /* thread: when all tables were read last; 0: they were not */
    char *told;         /* thread: what the database told at the last look, of which `place` was made; NULL: unknown */
    database_marks_t marks; /* thread: those that were there when this look began */
    apr_int64_t version;    /* thread: of the connection's, when the last look began; -1: unknown */
    apr_int64_t asked;      /* thread: likewise, of this look */
    apr_time_t looked_at;   /* thread: when it last looked, and all went well; 0: it has not */
    apr_time_t others_at;   /* thread: when something was last found that nobody had announced, or it began to watch */
    apr_time_t came_at;     /* thread: when it last had a reason to look, if only at a file */
    database_knock_t knock; /* thread: its descriptor is of all children */
    int is_told;            /* thread: by `knock`, of all that is done since the last look */
    json_t *unread;         /* thread: during a look, tables whose changes cannot be read, by name; NULL: none */
    char complained[256];   /* thread: tables with other columns than when they were watched */
};

static void take_over(database_watcher_t *w)
{
    database_board_read_place(w->feed, w->place);
    database_board_set_quiet(w->feed, 0);
    w->others_at = vault_now();
    w->feed->sql.host->log(7, "this child watches \"%s\"", w->feed->sql.database);
}

/* ------------------------------------------------------------ looking */

static void forget_told(database_watcher_t *w)
{
    free(w->told);
    w->told = NULL;
    w->version = -1;
}

/* What this connection reaches may have been restored to what it was before: then places and marks are of what never happened. */
static void forget_place(database_watcher_t *w)
{
    w->place[0] = '\0';
    database_board_keep_place(w->feed, w->place);
    database_board_end_era(w->feed);
    forget_told(w);
    w->lets_be = 1;
}

/* The names of the watched tables, and with which columns. */
static apr_status_t list_tables(sql_call_t *c, json_t **tables)
{
    static const char *const names[] = {"tbl", "columns", "pruned", "epoch", NULL};
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, c->db->driver->select);
    for (int i = 0; names[i] != NULL; i++) {
        sql_raw(sql, i == 0 ? " " : ",");
        sql_cell(sql, "w", names[i], SQL_TEXT);
    }
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w WHERE w.tbl<>'' ORDER BY w.tbl");
    return sql_fetch(c, sql, names, 100000, tables);
}

static void complain(database_watcher_t *w, const char *table, const char *what)
{
    const char *sentence = apr_psprintf(w->c.pool, "the watched table \"%s\" %s", table, what);

    if (strcmp(sentence, w->complained) != 0) {
        apr_cpystrn(w->complained, sentence, sizeof(w->complained));
        w->feed->sql.host->log(4, "%s", sentence);
    }
}

/* Is the table there, with the columns that its triggers know? Sets c->table. */
static apr_status_t find_table(database_watcher_t *w, const json_t *watched, int *usable)
{
    sql_call_t *c = &w->c;
    const char *name = json_string_value(json_object_get(watched, "tbl"));
    apr_status_t rv = sql_catalogue_has(c, name, usable);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!*usable) {
        complain(w, name, "is gone: vaultctl unwatch has what was recorded of it removed");
        return APR_SUCCESS;
    }
    rv = sql_catalogue_find(c, name);
    if (rv == APR_SUCCESS &&
        strcmp(database_dialect_columns(c, c->table), json_string_value(json_object_get(watched, "columns"))) != 0) {
        complain(w, name, "has other columns than when it was watched: run vaultctl watch again");
    }
    return rv;
}

/* What its writer has not announced. */
static void touch(database_watcher_t *w, database_touched_t *touched, const char *epoch, const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);
        database_mark_t mark =
            database_board_mark(w->feed, w->marks.era, epoch, json_integer_value(json_object_get(change, "id")));

        if (!database_marks_have(&w->marks, mark)) {
            w->others_at = vault_now();
            database_touched_change(touched, w->c.table->name, change);
        }
    }
}

/* All that is new in c->table, in parts. */
static apr_status_t look_at_table(database_watcher_t *w, const database_look_t *look, database_touched_t *touched)
{
    const database_wanted_t wanted = {.most = AT_ONCE, .cut = 1};
    database_look_t part = *look;
    apr_status_t rv = APR_SUCCESS;

    do {
        json_t *changes;

        rv = database_changes_read(&w->c, &part, &wanted, &changes);
        if (rv == APR_SUCCESS) {
            touch(w, touched, look->epoch, changes);
        }
        json_decref(changes);
        part.span.since = part.next;
    } while (rv == APR_SUCCESS && part.again);
    return rv;
}

/* Nobody knows what was announced: the interests of rows that are to be told of have no end. */
static void give_up(database_watcher_t *w, database_touched_t *touched, const char *table)
{
    w->others_at = vault_now();
    database_touched_table(touched, table);
    database_touched_all(touched);
}

/* What was recorded of c->table before it was altered may have no place in it: no other table's changes are to wait for that. */
static void note_unread(database_watcher_t *w, apr_status_t rv)
{
    if (rv != APR_EINVAL && rv != APR_EGENERAL) {
        return;
    }
    if (w->unread == NULL) {
        w->unread = json_object();
    }
    json_object_set_new(w->unread, w->c.table->name, json_true());
    complain(w, w->c.table->name, "has changes that cannot be read: its pages are shown everything anew");
}

/* In a snapshot, at `now`. */
static apr_status_t look_at_all(database_watcher_t *w, database_touched_t *touched, const char *now)
{
    sql_call_t *c = &w->c;
    database_look_t look = {.dialect = w->dialect, .span = {.since = w->place, .now = now}};
    json_t *tables = NULL;
    apr_status_t rv = list_tables(c, &tables);

    for (size_t i = 0; i < json_array_size(tables) && rv == APR_SUCCESS; i++) {
        const json_t *watched = json_array_get(tables, i);
        int usable = 0;

        rv = find_table(w, watched, &usable);
        look.epoch = json_string_value(json_object_get(watched, "epoch"));
        look.span.pruned = json_string_value(json_object_get(watched, "pruned"));
        if (rv == APR_SUCCESS && usable) {
            if (w->place[0] == '\0' || w->dialect->is_lost(c, &look.span) ||
                json_object_get(w->unread, c->table->name) != NULL) {
                give_up(w, touched, c->table->name);
            }
            else {
                rv = look_at_table(w, &look, touched);
                note_unread(w, rv);
            }
        }
    }
    json_decref(w->tables);
    w->tables = tables;
    return rv;
}

/* Is all as it was at the last look? */
static int is_as_told(const database_watcher_t *w, const char *told)
{
    return w->told != NULL && strcmp(told, w->told) == 0;
}

/* What looks without the database may rely on, before anything is announced. `life`: of the snapshot at `now` (recent.h). */
static void begin_recent(const database_watcher_t *w, apr_uint64_t life, const char *now, int strange)
{
    if (w->dialect->joins != NULL) {
        database_joined_begin(w->feed, life, now, strange);
    }
    else {
        database_recent_begin(w->feed, life, apr_strtoi64(now, NULL, 10));
    }
}

/* Announce, and only then go on: who takes over repeats some rather than skip any. */
static void announce(database_watcher_t *w, const database_touched_t *touched, const char *told, const char *now)
{
    (void)database_touched_notify(touched);
    apr_cpystrn(w->place, now, sizeof(w->place));
    database_board_keep_place(w->feed, now);
    database_board_clear(w->feed, &w->marks);
    forget_told(w);
    w->told = strdup(told);
    w->version = w->asked;
    w->lets_be = 0;
}

/* The database is one that was put back meanwhile, under a connection that has not noticed, or has lost its changes: marks are of what is no more, and so
 * is what looks find without the database. Who watches has no place either, so that all pages look, and then believe what is of this era. */
static void end_era_if_put_back(database_watcher_t *w, const char *now)
{
    const database_span_t span = {.since = w->place, .now = now, .pruned = "0"};

    if (w->place[0] != '\0' && w->dialect->is_lost(&w->c, &span)) {
        forget_place(w);
        database_board_copy(w->feed, &w->marks);
    }
}

/* In the snapshot: tables may be read there that were altered after the schema was last asked for. */
static apr_uint64_t life_of_snapshot(database_watcher_t *w)
{
    const sql_driver_t *driver = w->c.db->driver;
    apr_int64_t generation = -1;

    if (driver->read_number != NULL && !driver->read_number(&w->c, driver->generation_number, &generation)) {
        generation = -1;
    }
    return database_recent_life(&w->c, w->marks.era, generation);
}

/* Places are to be short. But after one was lost let pages look before: with as many numbers as are gone, what is new would be what they have seen. */
static apr_status_t settle_first(database_watcher_t *w)
{
    const char *told;
    apr_status_t rv;

    if (w->dialect->settle == NULL) {
        return APR_SUCCESS;
    }
    if (w->lets_be) {
        rv = w->dialect->where(&w->c, &told);
        if (rv != APR_SUCCESS || (told != NULL && !w->dialect->is_long(told))) {
            return rv;
        }
    }
    return w->dialect->settle(&w->c, 0);
}

static apr_status_t look_in_one_snapshot(database_watcher_t *w)
{
    sql_call_t *c = &w->c;
    database_touched_t *touched = database_touched_make(w->feed, c->pool);
    const char *told, *now;
    apr_uint64_t life = 0;
    apr_status_t rv = settle_first(w);

    w->settled_at = vault_now();
    database_board_copy(w->feed, &w->marks);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_begin_read(c);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = database_dialect_place(c, &told, &now);
    if (w->dialect->hush != NULL) {
        (void)w->dialect->hush(c); /* of what this snapshot will show */
    }
    if (rv == APR_SUCCESS && !is_as_told(w, told)) {
        end_era_if_put_back(w, now);
        rv = look_at_all(w, touched, now);
    }
    if (rv == APR_SUCCESS) {
        life = life_of_snapshot(w);
    }
    rv = sql_conn_end(c, rv);
    if (rv == APR_SUCCESS) {
        begin_recent(w, life, now, 1);
        announce(w, touched, told, now);
        w->read_at = vault_now();
    }
    return rv;
}

/* Again without those tables whose changes cannot be read. */
static apr_status_t look_in_snapshot(database_watcher_t *w)
{
    apr_status_t rv;
    size_t unread;

    do {
        unread = json_object_size(w->unread);
        rv = look_in_one_snapshot(w);
    } while (rv != APR_SUCCESS && json_object_size(w->unread) > unread);
    json_decref(w->unread);
    w->unread = NULL;
    return rv;
}

/* What was written and announced by this server needs no more than that. @param done  0: all that is new has to be read */
static apr_status_t look_briefly(database_watcher_t *w, int *done)
{
    sql_call_t *c = &w->c;
    database_brief_t brief = {.feed = w->feed, .place = w->place, .marks = &w->marks, .most = AT_ONCE};
    apr_status_t rv;

    database_board_copy(w->feed, &w->marks);
    if (w->dialect->hush != NULL) {
        (void)w->dialect->hush(c); /* of what this look will show */
    }
    rv = database_brief_look(c, &brief);
    *done = rv == APR_SUCCESS && brief.enough;
    if (brief.altered) {
        forget_told(w); /* all of them are to be read again, whether anything is new or not */
    }
    if (*done && !is_as_told(w, brief.told)) {
        begin_recent(w, database_recent_life_here(c, w->marks.era), brief.now, 0);
        announce(w, database_touched_make(w->feed, c->pool), brief.told, brief.now);
    }
    return rv;
}

/* Has nobody committed anything since the last look? 0: perhaps somebody has. Asked before the look begins. */
static int is_same_version(database_watcher_t *w)
{
    const sql_driver_t *driver = w->c.db->driver;

    w->asked = -1;
    if (driver->read_number == NULL || !driver->read_number(&w->c, driver->version_number, &w->asked)) {
        w->asked = -1;
    }
    return w->asked >= 0 && w->asked == w->version;
}

/* Of which table it is nobody knows. */
static int is_marked(void *data, apr_int64_t id)
{
    const database_watcher_t *w = data;
    size_t tables = json_array_size(w->tables);

    for (size_t i = 0; i < tables; i++) {
        const char *epoch = json_string_value(json_object_get(json_array_get(w->tables, i), "epoch"));

        if (epoch != NULL && database_marks_have(&w->marks, database_board_mark(w->feed, w->marks.era, epoch, id))) {
            return 1;
        }
    }
    return 0;
}

/* Has it been announced, all that `told` has and the last look had not? Then this was a look. Here it is found out that the database was put back:
 * once changes have got numbers it may be where it was. */
static apr_status_t look_at_told(database_watcher_t *w, const char *told, int *enough)
{
    sql_call_t *c = &w->c;
    apr_uint64_t life;
    const char *now;
    apr_status_t rv;

    end_era_if_put_back(w, told);
    life = database_recent_life_here(c, w->marks.era);
    *enough = w->place[0] != '\0' && database_joined_each_new(w->feed, life, w->place, told, is_marked, w);
    if (!*enough) {
        return APR_SUCCESS;
    }
    rv = w->dialect->place(c, told, &now);
    if (rv == APR_SUCCESS) {
        begin_recent(w, life, now, 0);
        announce(w, database_touched_make(w->feed, c->pool), told, now);
    }
    return rv;
}

/* Where changes are settled before they are read: the place has those that are not. */
static apr_status_t compare_told(database_watcher_t *w, int *same)
{
    sql_call_t *c = &w->c;
    const char *told;
    apr_status_t rv;

    database_board_copy(w->feed, &w->marks);
    rv = w->dialect->where(c, &told);
    *same = rv == APR_SUCCESS && told != NULL && is_as_told(w, told);
    if (rv == APR_SUCCESS && told != NULL && !*same) {
        rv = look_at_told(w, told, same);
    }
    return rv;
}

/* Give numbers to what was announced, without a look at any table: who gave them knows what the place has then, unless others were quicker. */
static apr_status_t settle_told(database_watcher_t *w, int *same)
{
    apr_time_t now = vault_now();
    apr_status_t rv;

    if (!w->dialect->is_due(w->told, apr_time_as_msec(now - w->settled_at), w->feed->look)) {
        return APR_SUCCESS;
    }
    if (now - w->read_at >= READ_ANYHOW) {
        *same = 0;
        return APR_SUCCESS;
    }
    rv = w->dialect->settle(&w->c, 0);
    w->settled_at = now;
    return rv == APR_SUCCESS ? compare_told(w, same) : rv;
}

static apr_status_t look_at_told_only(database_watcher_t *w, int *same)
{
    apr_status_t rv = compare_told(w, same);

    return rv == APR_SUCCESS && *same ? settle_told(w, same) : rv;
}

/* This is nearly all that a database costs in which nobody else writes: one short statement, or two. */
static apr_status_t is_unchanged(database_watcher_t *w, int *unchanged)
{
    apr_status_t rv = APR_SUCCESS;

    *unchanged = is_same_version(w) && w->told != NULL;
    if (!*unchanged && w->told != NULL) {
        rv = w->dialect->settle == NULL ? look_briefly(w, unchanged) : look_at_told_only(w, unchanged);
    }
    if (*unchanged) {
        w->version = w->asked;
    }
    if (rv != APR_SUCCESS) {
        forget_told(w); /* the tables may be gone, too, which only a whole look finds out */
    }
    return rv;
}

/* @param watched  0: there is no such table */
static apr_status_t look_if_changed(database_watcher_t *w, int *watched)
{
    int unchanged;
    apr_status_t rv = is_unchanged(w, &unchanged);

    *watched = 1;
    if (rv != APR_SUCCESS || unchanged) {
        return rv;
    }
    rv = sql_catalogue_has(&w->c, "vault_watched", watched);
    return rv == APR_SUCCESS && *watched ? look_in_snapshot(w) : rv;
}

static apr_status_t forget(database_watcher_t *w, const char *table, apr_int64_t before)
{
    sql_statement_t *sql = sql_statement_make(&w->c);

    sql_raw(sql, "DELETE FROM ");
    sql_table(sql, table);
    sql_raw(sql, " WHERE used<");
    sql_integer(sql, before);
    return sql_conn_query(&w->c, sql->text, NULL);
}

static apr_status_t prune(database_watcher_t *w)
{
    apr_time_t now = vault_now();
    apr_int64_t today = apr_time_sec(apr_time_now());
    apr_status_t rv;

    if (now < w->pruned_at + PRUNE_EVERY || w->place[0] == '\0') {
        return APR_SUCCESS;
    }
    w->pruned_at = now;
    rv = w->dialect->prune(&w->c, today - w->feed->keep, w->feed->changes, w->place);
    if (rv == APR_SUCCESS) {
        rv = forget(w, "vault_results", today - w->feed->keep);
    }
    return rv == APR_SUCCESS ? forget(w, "vault_subscriptions", today - w->feed->keep_places) : rv;
}

/* Nobody knows whether others are told by the database. */
static void forget_listeners(database_watcher_t *w)
{
    database_board_set_quiet(w->feed, 0);
    w->count_at = 0;
}

/* On a new connection, the first one too: that one goes on where the child before was. */
static apr_status_t listen_again(database_watcher_t *w)
{
    apr_status_t rv;

    forget_listeners(w);
    if (w->has_connected) {
        forget_place(w);
    }
    w->has_connected = 1;
    forget_told(w);
    rv = w->dialect->listen != NULL ? w->dialect->listen(&w->c) : APR_SUCCESS;
    w->listens = rv == APR_SUCCESS;
    return rv;
}

/* Where nobody else is told by the database, writers that announce what they write need not tell this watcher either. */
static apr_status_t count_listeners(database_watcher_t *w)
{
    apr_time_t now = vault_now();
    int alone = 0;
    apr_status_t rv;

    if (w->dialect->listens_alone == NULL || !w->listens || now < w->count_at) {
        return APR_SUCCESS;
    }
    rv = w->dialect->listens_alone(&w->c, &alone);
    database_board_set_quiet(w->feed, rv == APR_SUCCESS && alone);
    w->count_at = now + (alone ? COUNT_EVERY : apr_time_from_msec(ASK_SELDOM));
    return rv;
}

static int seldom(const database_watcher_t *w)
{
    return w->feed->look > ASK_SELDOM ? w->feed->look : ASK_SELDOM;
}

/* The milliseconds between two looks by the clock. At the file of a database without a server it looks for less than at a clock. */
static int pace(const database_watcher_t *w)
{
    return w->feed->journal == NULL ? database_pace(w->feed->look, vault_now() - w->others_at) : w->feed->look;
}

/* With a connection. @return how many milliseconds until the next look */
static int look_now(database_watcher_t *w)
{
    sql_call_t *c = &w->c;
    int wait = 0;
    int was_new = c->conn->is_new;
    int watched = 0;
    apr_status_t rv;

    w->listens &= !was_new;
    rv = w->listens ? APR_SUCCESS : listen_again(w);
    if (rv == APR_SUCCESS) {
        rv = look_if_changed(w, &watched);
    }
    w->listens &= was_new || !c->conn->is_new;
    if (rv == APR_SUCCESS && !watched) {
        return seldom(w);
    }
    if (rv == APR_SUCCESS) {
        rv = count_listeners(w);
    }
    if (rv == APR_SUCCESS) {
        rv = prune(w);
    }
    wait = pace(w);
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

    return w->told != NULL ? database_footprint_rest(&rest) : 0;
}

/* Likewise because of what a page has seen since the last look. */
static int may_rest_after_glimpse(const database_watcher_t *w)
{
    return w->told != NULL && w->dialect->is_due != NULL
               ? database_glimpse_rest(database_board_seen(w->feed), w->looked_at, vault_now(), pace(w))
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
        forget_listeners(w);
    }
    if (w->looked_at != 0 && settled && w->told != NULL) {
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
    forget_told(w);
    json_decref(w->tables);
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
