/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file names_mysql.h
 * What a query of MariaDB may read, by the names in its text. No database here.
 *
 * MariaDB does not tell what a statement refers to: EXPLAIN has aliases for names, and leaves out what conditions
 * rule out, or what it has read already. So every name in the text that is the name of a table counts as that
 * table, unless it stands behind a dot, as a column does. The text of a view is read in the same way.
 */
#ifndef DATABASE_NAMES_MYSQL_H
#define DATABASE_NAMES_MYSQL_H

#include "database/query/reads.h"

typedef enum database_thing_e {
    DATABASE_THING_TABLE = 'T',
    DATABASE_THING_VIEW = 'V',
    DATABASE_THING_FUNCTION = 'F', /**< a stored one */
    DATABASE_THING_OTHER = 'O',    /**< a sequence: it can be read, and its changes are not recorded */
    DATABASE_THING_SCHEMA = 'S'    /**< another database than the connection's */
} database_thing_e;

/** What there is in the database. */
typedef struct database_thing_t {
    database_thing_e kind;
    const char *name;
    const char *definition; /**< of a view: its SELECT as MariaDB writes it; "" if this user may not see it */
    int met;                /**< set here */
} database_thing_t;

/** Add what `text` may read.
 * @param database  the connection's
 * @param things    of database_thing_t */
void database_names_mysql(const char *text, const char *database, apr_array_header_t *things, database_reads_t *reads,
                          apr_pool_t *pool);

#endif
