/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file sql.h
 * The SQL layer of those feeds that keep their data in a database: what its files share.
 *
 * sql.c         a use of the database: by a call of a method, or by a background thread
 * parameters.c  the parameters of VaultFeed that every such feed has
 * argument.c    arguments of a call that any such feed may have
 * connection.c  connections of one child: kept, taken, given back
 * connect.c     how one is made, and the tables of a database that has none
 * query.c       statements, and what their errors mean
 * guard.c       an end for statements of a server that is frozen
 * script.c      scripts of SQL, parted into statements
 * statement.c   the only place where a statement is put together
 * fair_semaphore.c  a limit on connections that is fair between clients
 * catalogue.c   the tables and columns that there are: no other name gets into a statement
 * rows.c        results to JSON
 * driver*.c     one row per kind of database
 * native_*.c    what the client library of a database does on libdbi's connections: statements that stay prepared,
 *               and what else libdbi lacks
 * forms.c       which statements of a server stay prepared
 *
 * In a method:
 *
 *     sql_call_t c;
 *     sql_statement_t *sql;
 *     apr_status_t rv = sql_call_begin(&c, db, call, args);
 *
 *     if (rv == APR_SUCCESS) {
 *         rv = sql_conn_take(&c);                        // connection.h; a sentence was given if this fails
 *     }
 *     if (rv == APR_SUCCESS) {
 *         sql = sql_statement_make(&c);                  // statement.h
 *         sql_raw(sql, c.db->driver->select);
 *         sql_cell(sql, "t", "body", SQL_TEXT);
 *         sql_raw(sql, " FROM ");
 *         sql_table(sql, "news");
 *         sql_raw(sql, " AS t WHERE t.");
 *         sql_name(sql, "title");
 *         sql_raw(sql, "=");
 *         sql_text(sql, title);
 *         rv = sql_fetch(&c, sql, (const char *const[]){"body", NULL}, most, rows);    // rows.h
 *     }
 *     sql_call_end(&c);
 *     return rv;
 */
#ifndef SQL_H
#define SQL_H

#include <dbi/dbi.h>
#include <jansson.h>

#include "apr_pools.h"
#include "apr_reslist.h"
#include "apr_thread_mutex.h"

#include "mod_vault/vault.h"

#define SQL_SAID_MAX 256

typedef struct sql_database_t sql_database_t;
typedef struct sql_call_t sql_call_t;
typedef struct sql_conn_t sql_conn_t;
typedef struct sql_driver_t sql_driver_t;
typedef struct sql_table_t sql_table_t;

/** An entry says that a table was found unchanged; see catalogue.c. An entry that is half written matches no table. */
typedef struct sql_sight_t {
    _Atomic apr_uint64_t check; /* atomic: a hash of the table's name, of its definition, and of `at` */
    _Atomic apr_time_t at;      /* atomic: a time before the definition was read; 0: the entry is free */
} sql_sight_t;

#define SQL_SIGHTS 16

/** The database of one VaultFeed. A feed has one of these in the object that its `open` creates. */
struct sql_database_t {
    const vault_host_t *host;   /* const after open */
    const sql_driver_t *driver; /* const after open */
    const char *database;       /* const after open: a path, or the name of a database on a server */
    const char *directory;      /* const after open: the part of `database` before its last slash */
    const char *file;           /* const after open: the part after it */
    const char *server;         /* const after open: host name or socket; NULL: the driver's default */
    const char *port;           /* const after open: NULL: the driver's default */
    const char *user;           /* const after open: NULL: the driver's default */
    const char *password;       /* const after open: NULL: none */
    const char *tls_ca;         /* const after open: NULL: no TLS */
    const char *init_path;      /* const after open: NULL: none */
    const char *init_sql;       /* const after open: the content of init_path */
    int timeout;                /* const after open: seconds */
    int connections;            /* const after open: the most connections of a child */
    int rows;                   /* const after open: the most rows of an answer */
    int makes_file;             /* const after open; set by the feed: create a missing file, as a new database */
    /* const after open: SQL_SIGHTS entries, of this process or, in memory of the feed, of all children: tables that
     * were found unchanged */
    sql_sight_t *sights;
    /* const after open; set by the feed: called for each new connection; NULL: none */
    apr_status_t (*connected)(sql_call_t *);

    dbi_inst dbi;                       /* const after sql_pool_start; `lock` guards its list of connections */
    struct sql_guard_t *guard;          /* const after sql_pool_start; NULL: not a server */
    apr_thread_mutex_t *lock;           /* held for dbi_conn_new_r and dbi_conn_close; guards the next three */
    char why[SQL_SAID_MAX];             /* lock: why the server could not be reached; "": it was reached */
    apr_time_t failed_at;               /* lock: when that was */
    int trying;                         /* lock: a call tries to connect again */
    sql_sight_t own_sights[SQL_SIGHTS]; /* `sights` points here at first */
    apr_reslist_t *free_connections;    /* const after sql_pool_start; has its own lock */
    struct sql_semaphore_t *semaphore;  /* const after sql_pool_start: one permit for each connection */
    apr_pool_t *pool;                   /* of the three above */
};

/** One use of the database, by one thread. */
struct sql_call_t {
    sql_database_t *db;
    vault_call_t *call; /**< NULL: a background thread */
    const json_t *args; /**< of `call`, borrowed */
    /** The beginning of error sentences while there is a connection, as in: query "bids"; NULL: none. */
    struct {
        const char *kind, *name; /* "query", and its name */
        const char *part;        /* of an entity: a collection; or NULL */
    } about;
    apr_pool_t
        *pool; /**< of the call: cleared when it ends; of a background thread: when it gives back its connection */
    sql_conn_t *conn;         /**< the connection that was taken */
    apr_uint64_t client;      /**< the client to which the permit was granted */
    const sql_table_t *table; /**< the last result of sql_catalogue_find(); valid while `conn` is taken */

    sql_conn_t *own;        /**< the connection of a background thread, which no other thread takes */
    int statements;         /**< statements that ran since `conn` was taken */
    int catalogue_is_fresh; /**< sql_catalogue_find() has checked for changes since then */
    int assumes;            /**< sql_catalogue_assume() was called: it need not check */
    int failed;             /**< sql_fail was called since `conn` was taken */
    /** the last sentence of a background thread, so that it is logged once; "": the last use succeeded */
    char said[SQL_SAID_MAX];
};

/** The rows of vault_feed_t::params for sql_database_open(). A feed may put its own rows before or after them. */
#define SQL_PARAMS                                                                                                     \
    {"driver", "sqlite3", "the kind of database: sqlite3, pgsql, mysql", 0},                                           \
        {"database", NULL, "the path of the database file; for pgsql and mysql the name of the database", 0},          \
        {"host", "", "where the server is: a host, or for pgsql the directory and for mysql the file of its socket",   \
         0},                                                                                                           \
        {"port", "", "the server's port, 1 to 65535", 0}, {"user", "", "who connects", 0},                             \
        {"password", "", "the password of that user", 0},                                                              \
        {"password-file", "", "a file with the password in its first line, not readable by all users",                 \
         VAULT_PARAM_PATH},                                                                                            \
        {"tls-ca", "", "a file with the certificate of the authority that has signed the server's: TLS only",          \
         VAULT_PARAM_PATH},                                                                                            \
        {"timeout", "5", "seconds that a statement may take or wait for a lock, 1 to 60", 0},                          \
        {"connections", "4", "connections of each child process, 1 to 64", 0},                                         \
        {"rows", "1000", "the most rows of one answer, 1 to 100000", 0},                                               \
    {                                                                                                                  \
        "init", "", "a file of SQL that creates the tables of a database without tables", VAULT_PARAM_PATH             \
    }

/** Check the parameters of SQL_PARAMS; for vault_feed_t::open. Sets every field that is const after open, except those
 * that the feed sets.
 * @param db    zeroed
 * @return NULL, or a sentence for the administrator */
const char *sql_database_open(sql_database_t *db, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool);

/** A parameter that is a whole number. */
typedef struct sql_number_t {
    const char *name;
    int *number;
    int least, most;
} sql_number_t;

/** Read such parameters. @param rows  ends with a row whose name is NULL @return NULL, or a sentence for the
 * administrator */
const char *sql_parameter_numbers(const sql_number_t *rows, const apr_table_t *given, apr_pool_t *pool);

/** Begin a use of `db` by a method call. It takes no connection yet. @return APR_SUCCESS; APR_ENOMEM */
apr_status_t sql_call_begin(sql_call_t *c, sql_database_t *db, vault_call_t *call, const json_t *args);
/** End it: gives its connection back and frees c->pool. */
void sql_call_end(sql_call_t *c);

/** Begin a use of `db` by a background thread of the feed, with a connection that does not count as one of
 * `connections`.
 *
 * As in a method, sql_conn_take() connects if necessary, and sql_conn_give_back() closes a broken connection. The
 * thread may hold the connection as long as it likes. A reason is logged, once until a use succeeds.
 * @return APR_SUCCESS; APR_ENOMEM. Call it after sql_pool_start; call sql_background_end on the same thread, before
 *         sql_pool_stop. */
apr_status_t sql_background_begin(sql_call_t *c, sql_database_t *db);
void sql_background_end(sql_call_t *c);

/** Set the reason of a failure: by vault_host_t::fail in a call, in the log in a background thread. @return status */
apr_status_t sql_fail(sql_call_t *c, apr_status_t status, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** `name` for use in a sentence: at most 60 bytes, with "?" for control characters. In c->pool. */
const char *sql_shown(sql_call_t *c, const char *name);

/** Notify the pages of this server only. On a server without notify_local() also those of other servers: an extraneous
 * notify does no harm. @return as vault_host_t::notify */
apr_status_t sql_notify_local(const sql_database_t *db, const char *interest);

#endif
