/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file position.h
 * A position is the set of changes that a reader of vault_changes has seen.
 *
 * A change gets its id when it is recorded, and becomes visible when its transaction commits. So ids become visible in
 * any order, and "all changes up to an id" does not describe such a set if there is more than one writer. Each kind of
 * database has its own kind of set, a log_position_type_t. In cursors and in shared memory a position is a text that
 * only its type understands.
 *
 *   SQLite      `ID`: all changes up to an id, since there is one writer at a time
 *   PostgreSQL  `XMIN:XMAX:.D.D`: all transactions before XMAX with exceptions. Each `.D` is an exception, as the
 *             distance from the previous one; the first is the distance from XMIN
 *   MariaDB     `NUMBER;ID,ID`: all changes up to a number (numbering_mysql.h), and some that had no number yet
 *
 * If a batch was cut, the text has more parts: two snapshots and an id, or a list that begins with 0. Such a text is
 * not a set, and only append_since and next can read it.
 *
 * These are pure functions on memory of the caller. They use no database and no locks.
 */
#ifndef LOG_POSITION_H
#define LOG_POSITION_H

#include "apr_pools.h"

#include "sql/statement.h"

/** The most exceptions of one set. A position with more of them is not a set: its reader queries the database. */
#define LOG_POSITION_MAX 1024
/** The longest text of a set, without its NUL. A cursor has room for two. */
#define LOG_POSITION_TEXT 1900

/** A change, as positions identify it. */
typedef struct log_change_id_t {
    apr_int64_t id;     /**< vault_changes.id */
    apr_int64_t number; /**< PostgreSQL: its transaction; MariaDB: its number, 0: it has none yet; SQLite: 0 */
} log_change_id_t;

typedef struct log_position_t {
    apr_int64_t end; /**< SQLite: the last id; PostgreSQL: XMAX; MariaDB: the last number */
    int count;       /**< number of `exceptions` */
    /** sorted. PostgreSQL: transactions before `end` that were not seen; MariaDB: ids that were seen and have a
     * number above `end`, or none */
    apr_int64_t exceptions[LOG_POSITION_MAX];
} log_position_t;

/** The positions of a reader and of the database, in one snapshot. */
typedef struct log_span_t {
    const char *since;  /**< the reader's position */
    const char *now;    /**< the position of this snapshot */
    const char *told;   /**< what the database returned for it, if `now` contains less than that; else NULL */
    const char *pruned; /**< the position up to which changes have been pruned */
} log_span_t;

typedef struct log_position_type_t {
    /** Read a text that is a set. @return 0: it is not a set, or it has too many exceptions */
    int (*read)(log_position_t *position, const char *text);
    /** The text of a set. @return in `pool`; NULL: it is longer than LOG_POSITION_TEXT */
    const char *(*text)(const log_position_t *position, apr_pool_t *pool);
    int (*contains)(const log_position_t *position, const log_change_id_t *change);
    /** Add all changes of `other`. @return 0: there is no room for the exceptions */
    int (*merge)(log_position_t *position, const log_position_t *other);
    /** The reader now knows the number of a change, which then need not be an exception any more. The slot NULL:
     * nothing to do */
    void (*learn)(log_position_t *position, const log_change_id_t *change);

    /** Append the condition on vault_changes AS c for the changes that are not in a position, which need not be a
     * set. */
    void (*append_since)(sql_statement_t *sql, const char *since);
    /** Are there changes that this reader cannot see any more? Also true for a text that is not a position, or for a
     * position that is ahead of the database. */
    int (*is_lost)(apr_pool_t *pool, const log_span_t *span);
    /** The position after a batch.
     * @param last  if there are more changes: the order (log_dialect_t::order) of the last one in the batch, else NULL
     * @param again  set to 1: there may be more changes that are not in this position
     * @return in `pool` */
    const char *(*next)(apr_pool_t *pool, const log_span_t *span, const char *last, int *again);
} log_position_type_t;

extern const log_position_type_t log_position_mysql;
extern const log_position_type_t log_position_pgsql;
extern const log_position_type_t log_position_sqlite3;

/** Is `value` among the exceptions? */
int log_position_excepts(const log_position_t *position, apr_int64_t value);
/** Add an exception. @return 0: there is no room */
int log_position_except(log_position_t *position, apr_int64_t value);
/** Remove an exception. */
void log_position_accept(log_position_t *position, apr_int64_t value);

#endif
