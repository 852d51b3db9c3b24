/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which tables a query of SQLite reads: those whose pages its program opens.
 *
 * EXPLAIN returns the program. It has placeholders for values, so it is the program for all values. A table that the
 * program does not open cannot change the result: SQLite omits an outer join that contributes neither columns nor rows.
 * No registered function reads tables. */
#include "database/query/reads.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "database/query/query_sql.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* Columns of EXPLAIN, from 1. */
enum { OPCODE = 2, P2 = 4, P3 = 5 };

/* Collects the root pages of the tables and indexes that the program opens. */
static apr_status_t find_roots(sql_call_t *c, const json_t *query, apr_array_header_t *roots, int *is_virtual,
                               database_reads_t *reads)
{
    sql_statement_t *sql = sql_statement(c, "EXPLAIN ");
    dbi_result result;
    apr_status_t rv;

    database_query_append_form(c, query, sql);
    rv = sql_conn_query(c, sql->text, &result);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    while (dbi_result_next_row(result)) {
        const char *opcode = dbi_result_get_string_idx(result, OPCODE);

        *is_virtual |= strcmp(opcode, "VOpen") == 0;
        if (strcmp(opcode, "OpenRead") != 0 && strcmp(opcode, "ReopenIdx") != 0) {
            continue;
        }
        if (strcmp(dbi_result_get_string_idx(result, P3), "0") != 0) {
            database_reads_doubt(reads, "it reads another database than the feed's");
        }
        APR_ARRAY_PUSH(roots, apr_int64_t) = apr_strtoi64(dbi_result_get_string_idx(result, P2), NULL, 10);
    }
    dbi_result_free(result);
    return APR_SUCCESS;
}

/* The names of some tables of the schema. */
static apr_status_t list(sql_call_t *c, const char *condition, json_t **rows)
{
    return sql_fetch(c, sql_statement(c, "Select {$m.tbl_name name} FROM main.sqlite_master AS m WHERE %r", condition),
                     NULL, 100000, rows);
}

static const char *name_in(const json_t *rows, size_t i)
{
    return json_string_value(json_object_get(json_array_get(rows, i), "name"));
}

/* An index has a root page of its own. */
static apr_status_t add_tables(sql_call_t *c, const apr_array_header_t *roots, database_reads_t *reads)
{
    sql_statement_t *condition = sql_expression_make(sql_statement_make(c));
    json_t *rows = NULL;
    apr_status_t rv;

    sql_raw(condition, "m.rootpage IN(0");
    for (int i = 0; i < roots->nelts; i++) {
        sql_add(condition, ",%d", APR_ARRAY_IDX(roots, i, apr_int64_t));
    }
    sql_raw(condition, ") AND m.rootpage>0");
    rv = list(c, condition->text, &rows);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        if (strncmp(name_in(rows, i), "sqlite_", strlen("sqlite_")) == 0) {
            database_reads_doubt(reads, "it reads a table of SQLite's own");
        }
        else {
            database_reads_add(reads, name_in(rows, i), c->pool);
        }
    }
    json_decref(rows);
    return rv;
}

static apr_status_t count_virtual(sql_call_t *c, size_t *count)
{
    json_t *rows = NULL;
    apr_status_t rv = list(c, "m.sql LIKE 'CREATE VIRTUAL %'", &rows);

    *count = json_array_size(rows);
    json_decref(rows);
    return rv;
}

/* If the schema has no virtual table, a virtual table that the program opens is made by SQLite from its arguments, like
 * json_each. The virtual tables are counted first: EXPLAIN uses the schema that the connection has cached, and does not
 * check whether it has changed. A statement that runs does. */
static apr_status_t find_in_snapshot(sql_call_t *c, const json_t *query, database_reads_t *reads)
{
    apr_array_header_t *roots = apr_array_make(c->pool, 8, sizeof(apr_int64_t));
    int is_virtual = 0;
    size_t count;
    apr_status_t rv = count_virtual(c, &count);

    if (rv == APR_SUCCESS) {
        rv = find_roots(c, query, roots, &is_virtual, reads);
    }
    if (rv == APR_SUCCESS) {
        rv = add_tables(c, roots, reads);
    }
    if (is_virtual && count > 0) {
        database_reads_doubt(reads, "it may read a virtual table, whose changes are not recorded");
    }
    return rv;
}

static apr_status_t find(sql_call_t *c, const json_t *query, database_reads_t *reads, const char **schema)
{
    apr_status_t rv = sql_conn_begin_read(c);

    return rv == APR_SUCCESS ? sql_conn_end(c, find_in_snapshot(c, query, reads)) : rv;
}

const database_reader_t database_reader_sqlite3 = {.name = "sqlite3", .find = find};
