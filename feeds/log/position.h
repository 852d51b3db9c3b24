/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file position.h
 * A position is the set of changes that a reader of vault_changes has seen.
 *
 * A change gets its id when it is recorded. It becomes visible when its transaction commits, so ids become visible in
 * any order, and "all up to an id" is not enough where there is more than one writer. Each kind of database has its own
 * kind of set, a log_position_type_t. A position is kept, in cursors and in shared memory, as a text that only its
 * type understands.
 *
 *   SQLite      `ID`: there is one writer at a time, so all changes up to an id
 *   PostgreSQL  `XMIN:XMAX:.D.D`: all transactions before XMAX but some. Each `.D` is one that is missing, as the
 * distance from the one before it, the first from XMIN MariaDB     `NUMBER;ID,ID`: all changes up to a number
 * (numbering_mysql.h), and some that had no number yet
 *
 * Where a batch was cut the text has more to it: it names two snapshots and an id, or a list that begins with 0. Only
 * append_since and next understand that; it is no set.
 *
 * Pure functions over memory of the caller. No database, no locks.
 */
#ifndef LOG_POSITION_H
#define LOG_POSITION_H

#include "apr_pools.h"

#include "sql/statement.h"

/** Exceptions in one set. A position with more of them is no set: its reader asks the database. */
#define LOG_POSITION_MAX 1024
/** The longest text of a set, without its NUL. Two are to fit into a cursor. */
#define LOG_POSITION_TEXT 1900

/** A change, as positions tell it from others. */
typedef struct log_change_id_t {
    apr_int64_t id;     /**< vault_changes.id */
    apr_int64_t number; /**< PostgreSQL: its transaction; MariaDB: its number, 0: it has none yet; SQLite: 0 */
} log_change_id_t;

typedef struct log_position_t {
    apr_int64_t end;                          /**< SQLite: the last id; PostgreSQL: XMAX; MariaDB: the last number */
    int count;                                /**< of `exceptions` */
    apr_int64_t exceptions[LOG_POSITION_MAX]; /**< in their order. PostgreSQL: transactions before `end` that were
                                                      not seen; MariaDB: ids that were seen, and have a number above
                                                      `end`, or none */
} log_position_t;

/** Where a reader is, and where the database is, in one snapshot. */
typedef struct log_span_t {
    const char *since;  /**< the reader's position */
    const char *now;    /**< the position of this snapshot */
    const char *told;   /**< what the database said of it, if `now` claims less than that; else NULL */
    const char *pruned; /**< up to where changes are gone */
} log_span_t;

typedef struct log_position_type_t {
    /** Read a text that is a set. @return 0: it is not, or it has too many exceptions */
    int (*read)(log_position_t *position, const char *text);
    /** The text of a set. @return in `pool`; NULL: it is longer than LOG_POSITION_TEXT */
    const char *(*text)(const log_position_t *position, apr_pool_t *pool);
    int (*contains)(const log_position_t *position, const log_change_id_t *change);
    /** Add all that `other` contains. @return 0: there is no room for the exceptions */
    int (*merge)(log_position_t *position, const log_position_t *other);
    /** The reader has come to know what number a change has: it need not be an exception any more. NULL: nothing to do
     */
    void (*learn)(log_position_t *position, const log_change_id_t *change);

    /** Append the condition on vault_changes AS c for the changes that a position, set or not, does not contain. */
    void (*append_since)(sql_statement_t *sql, const char *since);
    /** Are there changes that this reader can no longer see? Also true for a text that is no position, or one that lies
     * ahead. */
    int (*is_lost)(apr_pool_t *pool, const log_span_t *span);
    /** The position after a batch.
     * @param last  the order (log_dialect_t::order) of its last change if there are more, else NULL
     * @param again  set to 1: there may be changes that this position does not contain already
     * @return in `pool` */
    const char *(*next)(apr_pool_t *pool, const log_span_t *span, const char *last, int *again);
} log_position_type_t;

extern const log_position_type_t log_position_mysql;
extern const log_position_type_t log_position_pgsql;
extern const log_position_type_t log_position_sqlite3;

/** Is `value` among the exceptions? */
int log_position_excepts(const log_position_t *position, apr_int64_t value);
/** Make it one. @return 0: there is no room */
int log_position_except(log_position_t *position, apr_int64_t value);
/** Make it none. */
void log_position_accept(log_position_t *position, apr_int64_t value);

#endif
