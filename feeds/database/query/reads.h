/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reads.h
 * Finds out which tables a query of the model reads, by asking the database, once for each query and child.
 *
 * The result must contain all tables that the query can read, with any values of its parameters: a page is notified of
 * changes of these tables only. So the database is not asked for a plan with values, in which it may have omitted
 * tables. If the result is uncertain, the model has to name the tables.
 *
 * The result is valid as long as the ring has the same boot, and as long as a text from the database is the same: it
 * differs when tables, views, functions or rules have changed (schema, below). A server is asked for this text once a
 * second. There is one entry for each query of the model: a client cannot add any.
 */
#ifndef DATABASE_READS_H
#define DATABASE_READS_H

#include "apr_tables.h"

#include "database/model/database.h"

typedef struct database_reads_t {
    apr_array_header_t *tables; /**< of const char *: the tables that the database reports, by its names, each once */
    /** NULL: these are all. Otherwise why there may be more, as in "it calls the function \"f\"" */
    const char *unsure;
} database_reads_t;

/** For database_reader_t::find: add a table, unless it is in the list; and say why there may be others. */
void database_reads_add(database_reads_t *reads, const char *table, apr_pool_t *pool);
void database_reads_doubt(database_reads_t *reads, const char *why);

/** In a child, before all other functions of this file. @return NULL, or a sentence that says what failed */
const char *database_reads_start(database_t *feed, apr_pool_t *pchild);

/** Without a connection: the tables whose changes make the query run again, which are those of the model, or those that
 * were found last.
 * @return of const char *, in c->pool; NULL: they are not known yet */
const apr_array_header_t *database_reads_known(sql_call_t *c, const char *name, const json_t *query);

/** With a connection: the same, but the database is asked if necessary.
 * @param boot    the boot of the ring
 * @param reads   what the query reads
 * @param tables  tables whose changes make it run again
 * @return APR_SUCCESS
 *         APR_EINVAL  the model lacks one of them, or has to name them; the reason is set
 *         other       as sql_conn_query() */
apr_status_t database_reads_find(sql_call_t *c, const char *name, const json_t *query, apr_uint64_t boot,
                                 database_reads_t *reads, const apr_array_header_t **tables);

/** How a kind of database is asked. */
typedef struct database_reader_t {
    const char *name; /**< of the driver */
    /** Find the tables that a query of the model reads.
     * @param schema  what `schema` told before. Set to another text where the result is of another schema; to "": the
     *                database could not be asked now, and the result is uncertain
     * @return as sql_conn_query() */
    apr_status_t (*find)(sql_call_t *c, const json_t *query, database_reads_t *reads, const char **schema);
    /** A statement that returns a text, which differs if the result of `find` may differ. NULL: the catalogue has
     * one. */
    const char *schema;
} database_reader_t;

extern const database_reader_t database_reader_mysql;
extern const database_reader_t database_reader_pgsql;
extern const database_reader_t database_reader_sqlite3;

#endif
