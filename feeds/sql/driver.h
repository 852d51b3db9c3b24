/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file driver.h
 * One row per kind of database: everything in which they differ.
 *
 * A cell of a result is one string (or NULL), made by the database itself, so that a value arrives whole whatever
 * libdbi thinks its type is. Its first byte says what follows:
 *
 *   I  an integer, in digits          T  text, as it is
 *   R  a real number                  H  text in hexadecimal digits (it has a NUL in it)
 *   L  true or false                  B  a blob in hexadecimal digits
 */
#ifndef SQL_DRIVER_H
#define SQL_DRIVER_H

#include "sql/sql.h"
#include "sql/statement.h"

/** What an error number of the database means for the caller. */
typedef enum sql_fault_e {
    SQL_FAULT_OTHER,   /**< the statement failed */
    SQL_FAULT_REFUSED, /**< the database refuses the values: a constraint, a type, a size */
    SQL_FAULT_BUSY,    /**< locked: may work later on this connection */
    SQL_FAULT_SLOW,    /**< stopped, because it took too long */
    SQL_FAULT_CHANGED, /**< a table or column is there no more */
    SQL_FAULT_GONE     /**< the connection is of no use any more */
} sql_fault_e;

/** What tells one database from another that has taken its place. */
typedef struct sql_identity_t {
    apr_uint64_t device;
    apr_uint64_t inode;
} sql_identity_t;

/** How a statement was run by the database's own library. */
typedef enum sql_ran_e {
    SQL_RAN,        /**< done */
    SQL_RAN_NOT,    /**< it was not begun: libdbi is to run it */
    SQL_RAN_FAILED, /**< libdbi knows why, as if it had run it */
    SQL_RAN_UNSURE, /**< it was not begun: whether the tables are still what they were has to be asked first */
    SQL_RAN_STALE   /**< it did nothing: they are not */
} sql_ran_e;

/** Takes a row: a text or NULL for each column, valid during the call. @return 0: no more rows are wanted */
typedef int (*sql_row_fn)(void *data, const char *const *cells);

struct sql_driver_t {
    const char *name;         /**< value of `driver`, and libdbi's name of it */
    const char *socket_host;  /**< a host that is no other machine, but a socket; NULL: none */
    const char *package;      /**< what to install when libdbi has it not */
    int is_server;            /**< reached by host, port, user and password; else `database` is a path */
    const char *guard;        /**< what every statement begins with; see the row's file */
    const char *select;       /**< the keyword; see the row's file */
    const char *cell_alias;   /**< the name of every cell of a result */
    const char *begin_write;  /**< begin a transaction that will write */
    const char *before_read;  /**< comes before begin_read; NULL: nothing */
    const char *begin_read;   /**< begin one that only reads, and sees one state of the database throughout */
    const char *number_quote; /**< around a number that is a value: makes it as untyped as a text is */
    int shapes;               /**< load_table sets sql_table_t::shape */
    int sorts_cut_only; /**< of a query that another one selects from, ORDER BY counts only where it has a LIMIT */
    int pads; /**< texts that differ in blanks at their end only are equal, though they differ otherwise in the least */
    const char
        *like_escape; /**< after the pattern of a LIKE, has a backslash escape what follows it; "": it does by itself */
    const char *true_;
    const char *false_;
    const char *generation; /**< a statement with one cell that changes whenever the schema does; NULL: there is none */
    const char *generation_number; /**< a statement for read_number that answers a number for the same purpose */
    const char *version_number;    /**< for read_number: what changes whenever another connection commits */
    /** Run a statement that answers a number, for less than a statement costs otherwise. @return 0: it has to be
     * run as any other. NULL: the same */
    int (*read_number)(sql_call_t *c, const char *statement, apr_int64_t *number);
    /** Run a statement that gives cells or nothing, its values bound, and keep it prepared: libdbi prepares none.
     * SQL_RAN_UNSURE and SQL_RAN_STALE come where conn->assumes only.
     * @param row  for each row; NULL: rows are of no interest */
    sql_ran_e (*run)(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);
    /** Before a connection is closed: drop what `run` keeps for it. NULL: nothing. */
    void (*forget)(sql_conn_t *conn);
    const char *any_table; /**< a statement with a row if there is a table */
    const char
        *init_lock; /**< a statement whose cell is "1" when this connection alone may make tables; NULL: no need */
    const char *init_end; /**< appended to the script of `init` */
    int one_by_one;       /**< the statements of a script come one by one */

    /** Check that the feed and libdbi's module use the same client library; make it fit for threads, while there is one
     * thread.
     * @return NULL, or what is wrong: a sentence without its end */
    const char *(*start)(dbi_driver driver);

    /** Which file a connection made now would reach; not of servers.
     * @return APR_SUCCESS; APR_ENOENT there is none; other: errno */
    apr_status_t (*identify)(const sql_database_t *db, sql_identity_t *identity);
    /** Set libdbi's options before it connects. */
    void (*set_options)(const sql_database_t *db, dbi_conn dbi);
    /** Make a new connection ready. @return APR_SUCCESS, or what sql_conn_query returned */
    apr_status_t (*prepare)(sql_call_t *c);
    /** Read a table from the catalogue.
     * @param table  NULL: there is none of this very name
     * @return APR_SUCCESS, or what sql_conn_query returned */
    apr_status_t (*load_table)(sql_call_t *c, const char *name, sql_table_t **table, apr_pool_t *pool);
    /** What a table is, in words that are others whenever load_table would find something else; for far less than
     * load_table costs. Says nothing if it fails. NULL: unknown, as of a view. In c->pool. The slot NULL:
     * there are no such words. */
    const char *(*define)(sql_call_t *c, const char *name);
    /** The largest key ever given to a row of c->table; -1 when no row was ever given one, APR_INT64_MAX when
     * unknown. */
    apr_status_t (*largest_key)(sql_call_t *c, apr_int64_t *key);

    /** Can libdbi carry this name? Names come from the catalogue. NULL: it can. */
    int (*name_is_safe)(const char *name);
    void (*append_name)(sql_statement_t *sql, const char *name);
    void (*append_table)(sql_statement_t *sql, const char *name);
    void (*append_text)(sql_statement_t *sql, const char *text, apr_size_t length);
    /** A text as the bytes of a blob. NULL: as append_text. */
    void (*append_blob)(sql_statement_t *sql, const char *text, apr_size_t length);
    /** The expression that makes a cell of `expression`, in any program's connection. */
    void (*append_cell)(sql_statement_t *sql, const char *expression, sql_kind_e kind);
    /** The same for connections made here only, and cheaper. NULL: append_cell is used. */
    void (*append_cell_here)(sql_statement_t *sql, const char *expression, sql_kind_e kind);
    /** The same where nothing but text (without NUL), or nothing but integers, can be: SQLite spends more on a
     * statement than on its rows. NULL: append_cell does. */
    void (*append_own_cell)(sql_statement_t *sql, const char *expression, sql_kind_e kind);

    sql_fault_e (*fault)(int error);
    /** Where in libdbi's message the words begin that say something. NULL: at its beginning. */
    const char *(*tidy)(const char *message);
};

extern const sql_driver_t sql_driver_mysql;
extern const sql_driver_t sql_driver_pgsql;
extern const sql_driver_t sql_driver_sqlite3;

typedef void (*sql_function_fn)(void);

/** Check that libdbi's module is linked with the client library that the feed is linked with: it works on libdbi's
 * connections.
 * @param name      a function of it that libdbi's module hands out
 * @param function  the same, as the feed is linked with it
 * @return NULL: it is; else a sentence without its end */
const char *sql_driver_check_library(dbi_driver driver, const char *name, sql_function_fn function);

/** The connection as the client library has it: a `sqlite3`, a `PGconn` or a `MYSQL`. NULL: there is none. */
void *sql_driver_connection(const sql_conn_t *conn);

/** The row of this name, or NULL. */
const sql_driver_t *sql_driver_find(const char *name);
/** "sqlite3, …": for a sentence. */
const char *sql_driver_names(apr_pool_t *pool);
/** The names of those that are servers. */
const char *sql_driver_servers(apr_pool_t *pool);

#endif
