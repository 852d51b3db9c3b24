/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that looks at the change table. */
#include "watcher.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "apr_strings.h"
#include "apr_thread_proc.h"
#include "apr_time.h"

#include "catalogue.h"
#include "changes.h"
#include "connection.h"
#include "dialect.h"
#include "driver.h"
#include "interests.h"
#include "now.h"
#include "rows.h"

/* The longest place; what is beyond is no place. */
#define PLACE_BYTES VAULT_PROPERTY_VALUE_MAX
/* Changes that are read at once. */
#define AT_ONCE 500
/* A database that tells of commits is asked all the same, this often, in milliseconds: the connection may be dead. */
#define ASK_ANYHOW 2000
#define PRUNE_EVERY apr_time_from_sec(60)

struct database_watcher_t {
    database_t *feed;                  /* const */
    const database_dialect_t *dialect; /* const */
    apr_thread_t *thread;              /* const after start */
    int stop;                          /* const after start: an eventfd */
    int holds;                         /* thread: this process looks */
    apr_time_t pruned_at;              /* thread */
    sql_call_t c;                      /* thread */
    char place[PLACE_BYTES];           /* thread: "" none */
    char complained[256];              /* thread: tables with other columns than when they were watched */
};

/* ------------------------------------------------------------ the lock, and the place beside it */

/* The pool of the whole process: its data outlive restarts. */
static apr_pool_t *lasting_pool(apr_pool_t *pool)
{
    apr_pool_t *parent = apr_pool_parent_get(pool);

    while (parent != NULL && apr_pool_parent_get(parent) != NULL) {
        pool = parent;
        parent = apr_pool_parent_get(pool);
    }
    return pool;
}

/* Names a VaultFeed over restarts: as long as its parameters stay, so does its place. */
static const char *key_of(const apr_table_t *given, apr_pool_t *pool)
{
    const apr_array_header_t *list = apr_table_elts(given);
    const char *all = "";

    for (int i = 0; i < list->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(list, i, apr_table_entry_t);

        all = apr_pstrcat(pool, all, entry->key, "=", entry->val, "\n", NULL);
    }
    return apr_pstrcat(pool, "vault_feed_database ", database_digest(all, pool), NULL);
}

const char *database_watcher_open(database_t *feed, const apr_table_t *given, apr_pool_t *pconf)
{
    apr_pool_t *pool = lasting_pool(pconf);
    const char *key = key_of(given, pconf);
    void *found = NULL;

    apr_pool_userdata_get(&found, key, pool);
    if (found == NULL) {
        int fd = memfd_create("vault-watch", MFD_CLOEXEC);

        if (fd < 0 || ftruncate(fd, PLACE_BYTES) != 0) {
            return apr_psprintf(pconf, "no memory for the place of the watcher: %s", strerror(errno));
        }
        /* A number, so that nothing of this object has to stay when it is unloaded. */
        found = (void *)(apr_uintptr_t)(fd + 1);
        apr_pool_userdata_set(found, key, NULL, pool);
    }
    feed->watcher_fd = (int)(apr_uintptr_t)found - 1;
    return NULL;
}

/* Of the process, not of the descriptor that children inherit: it goes when the process does. */
static int try_lock(int fd)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    return fcntl(fd, F_SETLK, &lock) == 0;
}

static void unlock(int fd)
{
    struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET, .l_len = 1};

    (void)fcntl(fd, F_SETLK, &lock);
}

static void take_over(database_watcher_t *w)
{
    memset(w->place, 0, sizeof(w->place));
    if (pread(w->feed->watcher_fd, w->place, sizeof(w->place) - 1, 0) < 0) {
        w->place[0] = '\0';
    }
    w->feed->sql.host->log(7, "this child watches \"%s\"", w->feed->sql.database);
}

/* After the announcements: who takes over repeats some rather than skip any. */
static void remember(database_watcher_t *w, const char *place)
{
    apr_cpystrn(w->place, place, sizeof(w->place));
    (void)pwrite(w->feed->watcher_fd, w->place, sizeof(w->place), 0);
}

/* ------------------------------------------------------------ looking */

/* The names of the watched tables, and with which columns. */
static apr_status_t list_tables(sql_call_t *c, json_t **tables)
{
    static const char *const names[] = {"tbl", "columns", "pruned", NULL};
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

static void touch(database_touched_t *touched, const char *table, const json_t *changes)
{
    for (size_t i = 0; i < json_array_size(changes); i++) {
        const json_t *change = json_array_get(changes, i);
        const json_t *old = json_object_get(change, "old");
        const json_t *new = json_object_get(change, "new");

        database_touched_row(touched, table, json_string_value(json_object_get(change, "key")),
                             json_is_object(old) ? old : NULL, json_is_object(new) ? new : NULL);
    }
}

/* All that is new in c->table, in parts. */
static apr_status_t look_at_table(database_watcher_t *w, database_look_t *look, database_touched_t *touched)
{
    database_wanted_t wanted = {.most = AT_ONCE};
    database_look_t part = *look;
    apr_status_t rv = APR_SUCCESS;

    do {
        json_t *changes;

        rv = database_look_changes(&w->c, &part, &wanted, 1, &changes);
        if (rv == APR_SUCCESS) {
            touch(touched, w->c.table->name, changes);
        }
        json_decref(changes);
        part.span.since = part.next;
    } while (rv == APR_SUCCESS && part.again);
    return rv;
}

/* Nobody knows what was announced: the interests of rows that are to be told of have no end. */
static void give_up(database_touched_t *touched, const char *table)
{
    database_touched_table(touched, table);
    database_touched_all(touched);
}

/* In a snapshot. */
static apr_status_t look_at_all(database_watcher_t *w, database_touched_t *touched, const char **now)
{
    sql_call_t *c = &w->c;
    database_look_t look = {.dialect = w->dialect};
    json_t *tables = NULL;
    apr_status_t rv = w->dialect->place(c, &look.span.now);

    *now = look.span.now;
    if (rv != APR_SUCCESS || strcmp(w->place, look.span.now) == 0) {
        return rv;
    }
    rv = list_tables(c, &tables);
    for (size_t i = 0; i < json_array_size(tables) && rv == APR_SUCCESS; i++) {
        const json_t *watched = json_array_get(tables, i);
        int usable = 0;

        rv = find_table(w, watched, &usable);
        look.span.since = w->place;
        look.span.pruned = json_string_value(json_object_get(watched, "pruned"));
        if (rv == APR_SUCCESS && usable) {
            if (w->place[0] == '\0' || w->dialect->is_lost(c, &look.span)) {
                give_up(touched, c->table->name);
            }
            else {
                rv = look_at_table(w, &look, touched);
            }
        }
    }
    json_decref(tables);
    return rv;
}

static apr_status_t look_in_snapshot(database_watcher_t *w)
{
    sql_call_t *c = &w->c;
    database_touched_t *touched = database_touched_make(w->feed, c->pool);
    const char *now = NULL;
    apr_status_t rv = w->dialect->settle != NULL ? w->dialect->settle(c) : APR_SUCCESS;

    if (rv == APR_SUCCESS) {
        rv = sql_conn_begin_read(c);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (w->dialect->hush != NULL) {
        (void)w->dialect->hush(c); /* of what this snapshot will show */
    }
    rv = database_look_end(c, look_at_all(w, touched, &now));
    if (rv == APR_SUCCESS) {
        database_touched_notify(touched);
        if (strcmp(w->place, now) != 0) {
            remember(w, now);
        }
    }
    return rv;
}

static apr_status_t forget_results(database_watcher_t *w, apr_int64_t before)
{
    sql_statement_t *sql = sql_statement_make(&w->c);

    sql_raw(sql, "DELETE FROM ");
    sql_table(sql, "vault_results");
    sql_raw(sql, " WHERE used<");
    sql_integer(sql, before);
    return sql_conn_query(&w->c, sql->text, NULL);
}

static apr_status_t prune(database_watcher_t *w)
{
    apr_time_t now = vault_now();
    apr_int64_t before = apr_time_sec(apr_time_now()) - w->feed->keep;
    apr_status_t rv;

    if (now < w->pruned_at + PRUNE_EVERY) {
        return APR_SUCCESS;
    }
    w->pruned_at = now;
    rv = w->dialect->prune(&w->c, before, w->feed->changes);
    return rv == APR_SUCCESS ? forget_results(w, before) : rv;
}

/* One look. @return how many milliseconds until the next */
static int look(database_watcher_t *w)
{
    sql_call_t *c = &w->c;
    int wait = w->feed->look;
    int has = 0;

    if (sql_conn_take(c) != APR_SUCCESS) {
        return wait;
    }
    if (sql_catalogue_has(c, "vault_watched", &has) == APR_SUCCESS && has) {
        int listens = c->conn->is_new;
        apr_status_t rv = w->dialect->listen != NULL && listens ? w->dialect->listen(c) : APR_SUCCESS;

        if (rv == APR_SUCCESS) {
            rv = look_in_snapshot(w);
        }
        if (rv == APR_SUCCESS && w->dialect->hush != NULL) {
            /* What came with the answers of this look the socket tells no more. */
            wait = w->dialect->hush(c) ? 0 : ASK_ANYHOW;
        }
        if (rv == APR_SUCCESS && w->dialect->listen != NULL && c->conn->is_new && !listens) {
            rv = w->dialect->listen(
                c); /* the look has found the old connection dead: look again, now that this one listens */
            wait = 0;
        }
        if (rv == APR_SUCCESS) {
            rv = prune(w);
        }
        wait = rv == APR_SUCCESS ? wait : w->feed->look;
    }
    sql_conn_give_back(c);
    return wait;
}

/* ------------------------------------------------------------ the thread */

/* Until then, or until the child stops, or until the database has something to say. @return 0: stop */
static int wait_for(database_watcher_t *w, int milliseconds)
{
    int socket =
        w->holds && w->dialect->listen != NULL && w->c.own->dbi != NULL ? dbi_conn_get_socket(w->c.own->dbi) : -1;
    struct pollfd waits[] = {{.fd = w->stop, .events = POLLIN}, {.fd = socket, .events = POLLIN}};

    (void)poll(waits, 2, milliseconds);
    return waits[0].revents == 0;
}

static void *APR_THREAD_FUNC watch(apr_thread_t *thread, void *data)
{
    database_watcher_t *w = data;
    int wait = 0;

    while (wait_for(w, wait)) {
        wait = w->feed->look;
        if (!w->holds && try_lock(w->feed->watcher_fd)) {
            w->holds = 1;
            take_over(w);
        }
        if (w->holds) {
            wait = look(w);
        }
    }
    if (w->holds) {
        unlock(w->feed->watcher_fd);
    }
    sql_background_end(&w->c);
    return NULL;
}

const char *database_watcher_start(database_t *feed, apr_pool_t *pchild)
{
    database_watcher_t *w = apr_pcalloc(pchild, sizeof(*w));

    w->feed = feed;
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
