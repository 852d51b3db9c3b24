/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reads.h
 * Which tables a query of the model reads: the database is asked, once for each query, by each child.
 *
 * What is found must not be less than what the query can read with any values of its parameters: a page is told
 * of changes of these tables only. So the database is not asked for a plan with values, from which it may have
 * left tables out. Where that is uncertain the model has to name the tables.
 *
 * What was found counts as long as the ring has the same boot, and a text that the database tells is the same: it is
 * another one when tables, views, functions or rules have changed (schema, below). A server is asked for it once a
 * second. There is room for each query of the model once: a client cannot add any.
 */
#ifndef DATABASE_READS_H
#define DATABASE_READS_H

#include "apr_tables.h"

#include "database/model/database.h"

typedef struct database_reads_t {
    apr_array_header_t *tables; /**< of const char *: those that the database tells, by their names there, each once */
    const char *unsure; /**< NULL: these are all. Else why there may be more, as "it calls the function \"f\"" */
} database_reads_t;

/** For database_reader_t::find: add a table, unless it is there; and say why there may be others. */
void database_reads_add(database_reads_t *reads, const char *table, apr_pool_t *pool);
void database_reads_doubt(database_reads_t *reads, const char *why);

/** In a child, before anything else here. @return NULL, or a sentence */
const char *database_reads_start(database_t *feed, apr_pool_t *pchild);

/** Without a connection: the tables whose changes make the query run again, those of the model or those that were
 * found last.
 * @return of const char *, in c->pool; NULL: they are not known yet */
const apr_array_header_t *database_reads_known(sql_call_t *c, const char *name, const json_t *query);

/** On a connection: the same, after the database was asked, if need be.
 * @param boot    the boot of the ring
 * @param reads   what the query reads
 * @param tables  whose changes make it run again
 * @return APR_SUCCESS
 *         APR_EINVAL  the model lacks one of them, or has to name them; a sentence was given
 *         other       as sql_conn_query */
apr_status_t database_reads_find(sql_call_t *c, const char *name, const json_t *query, apr_uint64_t boot,
                                 database_reads_t *reads, const apr_array_header_t **tables);

/** How a kind of database is asked. */
typedef struct database_reader_t {
    const char *name; /**< of the driver */
    /** Find the tables that a query of the model reads.
     * @param is_answer  set to 0: the database could not be asked, and may be a little later; then there is a doubt
     * @return as sql_conn_query */
    apr_status_t (*find)(sql_call_t *c, const json_t *query, database_reads_t *reads, int *is_answer);
    /** A statement with a text that is another one when `find` may find something else. NULL: the catalogue has one. */
    const char *schema;
} database_reader_t;

extern const database_reader_t database_reader_mysql;
extern const database_reader_t database_reader_pgsql;
extern const database_reader_t database_reader_sqlite3;

#endif
