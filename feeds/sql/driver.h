/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file driver.h
 * One row for each kind of database: all the differences between them.
 *
 * A cell of a result is one string (or NULL) that the database itself makes. So a value arrives unchanged whatever type
 * libdbi takes it for. The first byte is the type of the rest:
 *
 *    I  an integer, in digits          T  text, as it is
 *    R  a real number                  H  text in hexadecimal digits (it has a NUL in it)
 *    L  true or false                  B  a blob in hexadecimal digits
 */
#ifndef SQL_DRIVER_H
#define SQL_DRIVER_H

#include "sql/sql.h"
#include "sql/statement.h"

/** What an error number of the database means to the caller. */
typedef enum sql_fault_e {
    SQL_FAULT_OTHER,   /**< the statement failed */
    SQL_FAULT_REFUSED, /**< the database refuses the values: a constraint, a type, a size */
    SQL_FAULT_BUSY,    /**< locked: a retry on this connection may succeed */
    SQL_FAULT_SLOW,    /**< stopped, because it took too long */
    SQL_FAULT_CHANGED, /**< a table or column does not exist any more */
    SQL_FAULT_GONE     /**< the connection cannot be used any more */
} sql_fault_e;

/** Identifies a file: tells a database from another one that has replaced it. */
typedef struct sql_identity_t {
    apr_uint64_t device;
    apr_uint64_t inode;
} sql_identity_t;

/** The result of running a statement by the client library. */
typedef enum sql_ran_e {
    SQL_RAN,        /**< done */
    SQL_RAN_NOT,    /**< it was not run: run it by libdbi */
    SQL_RAN_FAILED, /**< it failed; libdbi has the error, as if libdbi had run it */
    SQL_RAN_UNSURE, /**< it was not run: first ask whether the cached tables are up to date */
    SQL_RAN_STALE   /**< it was not run: the cached tables are out of date */
} sql_ran_e;

/** Takes a row: a text or NULL for each column, valid during the call. @return 0: no more rows are wanted */
typedef int (*sql_row_fn)(void *data, const char *const *cells);

struct sql_driver_t {
    const char *name;        /**< value of the parameter `driver`, and the name of libdbi's driver */
    const char *socket_host; /**< the value of `host` that stands for a local socket; NULL: none */
    const char *package;     /**< the package to install if libdbi does not find the driver */
    int is_server;           /**< reached by host, port, user and password; otherwise `database` is a path */
    const char *guard;       /**< what every statement begins with; explained in the file of the row */
    const char *select;      /**< the keyword SELECT; explained in the file of the row */
    const char *cell_alias;  /**< the column name of every cell of a result */
    const char *begin_write; /**< begins a transaction that will write */
    const char *before_read; /**< a statement before begin_read; NULL: none */
    /** begins a transaction that only reads, and that sees one state of the database throughout */
    const char *begin_read;
    const char *number_quote; /**< put around a number that is a value, so that it has no type, as a text literal */
    int shapes;               /**< load_table sets sql_table_t::shape */
    int sorts_cut_only;       /**< in a subquery, ORDER BY has an effect only together with LIMIT */
    /** texts that differ only in trailing blanks are equal, although they are compared byte by byte otherwise */
    int pads;
    const char *like_escape; /**< appended to the pattern of a LIKE, so that a backslash escapes; "": it does without */
    const char *true_;
    const char *false_;
    const char *generation; /**< a statement with one cell that changes whenever the schema does; NULL: there is none */
    const char *generation_number; /**< a statement for read_number: a number that changes whenever the schema does */
    /** a statement for read_number: a number that changes whenever another connection commits */
    const char *version_number;
    /** Run a statement that returns a number, for less than other statements cost. @return 0: run it as any other
     * statement. The slot NULL: the same */
    int (*read_number)(sql_call_t *c, const char *statement, apr_int64_t *number);
    /**
     * Run a statement that returns cells or nothing: its values are bound, and it stays prepared, which libdbi does not
     * do. SQL_RAN_UNSURE and SQL_RAN_STALE are returned only if conn->assumes is set.
     * @param row  called for each row; NULL: rows are ignored
     */
    sql_ran_e (*run)(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data);
    /** Free what `run` keeps for a connection that will be closed. NULL: nothing. */
    void (*forget)(sql_conn_t *conn);
    const char *any_table; /**< a statement that returns a row if the database has a table */
    const char
        *init_lock; /**< a statement whose cell is "1" when this connection alone may create tables; NULL: not needed */
    const char *init_end; /**< appended to the script of `init` */
    int one_by_one;       /**< each statement of a script is run by itself */

    /** Check that the feed and libdbi's driver use the same client library, and initialise it for threads. Called while
     * there is one thread.
     * @return NULL, or what is wrong: a sentence without its full stop */
    const char *(*start)(dbi_driver driver);

    /** Identify the file that a new connection would open; not for servers.
     * @return APR_SUCCESS; APR_ENOENT there is no file; other: errno */
    apr_status_t (*identify)(const sql_database_t *db, sql_identity_t *identity);
    /** Set the options of libdbi before it connects. */
    void (*set_options)(const sql_database_t *db, dbi_conn dbi);
    /** Prepare a new connection. @return APR_SUCCESS, or the status of sql_conn_query() */
    apr_status_t (*prepare)(sql_call_t *c);
    /** Read a table from the catalogue.
     * @param table  NULL: there is no table with exactly this name
     * @return APR_SUCCESS, or the status of sql_conn_query() */
    apr_status_t (*load_table)(sql_call_t *c, const char *name, sql_table_t **table, apr_pool_t *pool);
    /** A text that differs whenever load_table would return something else; much cheaper than load_table. Sets no
     * reason if it fails. NULL: unknown, as for a view. In c->pool. The slot NULL: there is no such text. */
    const char *(*define)(sql_call_t *c, const char *name);
    /** The largest key that a row of c->table ever had; -1 if there never was a row, APR_INT64_MAX if it is unknown. */
    apr_status_t (*largest_key)(sql_call_t *c, apr_int64_t *key);

    /** Can libdbi handle this name? Names come from the catalogue. The slot NULL: it can handle all names. */
    int (*name_is_safe)(const char *name);
    void (*append_name)(sql_statement_t *sql, const char *name);
    void (*append_table)(sql_statement_t *sql, const char *name);
    void (*append_text)(sql_statement_t *sql, const char *text, apr_size_t length);
    /** A text as the bytes of a blob. The slot NULL: append_text is used. */
    void (*append_blob)(sql_statement_t *sql, const char *text, apr_size_t length);
    /** The expression that makes a cell of `expression`, in connections of any program. */
    void (*append_cell)(sql_statement_t *sql, const char *expression, sql_kind_e kind);
    /** The same, cheaper, for connections that this feed has prepared. The slot NULL: append_cell is used. */
    void (*append_cell_here)(sql_statement_t *sql, const char *expression, sql_kind_e kind);
    /** The same for columns that hold nothing but text without NUL, or nothing but integers: SQLite spends more on
     * reading a statement than on its rows. The slot NULL: append_cell is used. */
    void (*append_own_cell)(sql_statement_t *sql, const char *expression, sql_kind_e kind);

    sql_fault_e (*fault)(int error);
    /** Where the useful part of libdbi's message begins. The slot NULL: at the beginning. */
    const char *(*tidy)(const char *message);
};

extern const sql_driver_t sql_driver_mysql;
extern const sql_driver_t sql_driver_pgsql;
extern const sql_driver_t sql_driver_sqlite3;

typedef void (*sql_function_fn)(void);

/** Check that libdbi's driver is linked with the same client library as the feed, which uses libdbi's connections.
 * @param name      a function of the library that libdbi's driver exports
 * @param function  the same function, as the feed is linked with it
 * @return NULL: it is; otherwise a sentence without its full stop */
const char *sql_driver_check_library(dbi_driver driver, const char *name, sql_function_fn function);

/** The connection as the client library knows it: a `sqlite3`, a `PGconn` or a `MYSQL`. NULL: there is none. */
void *sql_driver_connection(const sql_conn_t *conn);

/** The row with this name, or NULL. */
const sql_driver_t *sql_driver_find(const char *name);
/** "sqlite3, …", for a sentence. */
const char *sql_driver_names(apr_pool_t *pool);
/** The names of the drivers that are servers, for a sentence. */
const char *sql_driver_servers(apr_pool_t *pool);

#endif
