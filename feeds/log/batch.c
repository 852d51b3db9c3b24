/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the tailer's statement and reads its result: see batch.h. */
#include "log/batch.h"

#include <limits.h>

#include "apr_strings.h"

#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* The most changes that one statement reads. */
#define AT_ONCE 500

/* ------------------------------------------------------------ the statement */

/* One row of the result is the state of the database; the others are changes. */
static const char *const names[] = {"now",    "watchings", "pruned", "tbl", "op",      "key", "id",
                                    "number", "order",     "old",    "new", "altered", NULL};
enum { OF_STATE = 3, OF_CHANGE = 9 };

static void append_nulls(sql_statement_t *sql, int count)
{
    for (int i = 0; i < count; i++) {
        sql_raw(sql, ",NULL");
    }
}

static void append_own(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    sql_raw(sql, ",");
    sql_own_cell_of(sql, expression, kind);
}

static void append_state(sql_statement_t *sql, const log_dialect_t *dialect)
{
    sql_raw(sql, sql->driver->select);
    sql_raw(sql, " ");
    sql_own_cell_of(sql, dialect->now_of_all, SQL_TEXT);
    append_own(sql, dialect->watchings, SQL_TEXT);
    append_own(sql, dialect->pruned, SQL_TEXT);
    append_nulls(sql, OF_CHANGE);
}

static void append_image(sql_statement_t *sql, const log_dialect_t *dialect, const apr_array_header_t *images,
                         const char *column)
{
    sql_raw(sql, ",");
    if (dialect->append_images != NULL) {
        dialect->append_images(sql, images, column);
    }
    else {
        dialect->append_image(sql, NULL, column);
    }
}

static void append_images(sql_statement_t *sql, const log_dialect_t *dialect, const apr_array_header_t *images)
{
    if (images == NULL) {
        append_nulls(sql, 3);
        return;
    }
    append_image(sql, dialect, images, "old_row");
    append_image(sql, dialect, images, "new_row");
    if (dialect->append_altered != NULL) {
        sql_raw(sql, ",");
        dialect->append_altered(sql, images);
    }
    else {
        append_nulls(sql, 1);
    }
}

static void append_change(sql_statement_t *sql, const log_dialect_t *dialect, const apr_array_header_t *images)
{
    sql_raw(sql, sql->driver->select);
    sql_raw(sql, " NULL");
    append_nulls(sql, OF_STATE - 1);
    append_own(sql, "c.tbl", SQL_TEXT);
    append_own(sql, "c.op", SQL_TEXT);
    sql_raw(sql, ",");
    sql_cell(sql, "c", "row_key", SQL_TEXT); /* a key that is text may contain a NUL */
    append_own(sql, "c.id", SQL_INTEGER);
    append_own(sql, dialect->number, SQL_INTEGER);
    append_own(sql, dialect->order, SQL_INTEGER);
    append_images(sql, dialect, images);
}

/* For databases that find changes by their table. */
static void append_tables(sql_statement_t *sql, const json_t *tables)
{
    for (size_t i = 0; i < json_array_size(tables); i++) {
        sql_raw(sql, i == 0 ? "c.tbl IN(" : ",");
        sql_constant(sql, json_string_value(json_object_get(json_array_get(tables, i), "tbl")));
    }
    sql_raw(sql, json_array_size(tables) > 0 ? ") AND " : "c.tbl='' AND ");
}

static void append_changes(sql_statement_t *sql, const sql_call_t *c, const char *since, const json_t *tables,
                           const apr_array_header_t *images)
{
    const log_dialect_t *dialect = log_dialect_of(c->db);

    append_change(sql, dialect, images);
    sql_add(sql, " FROM %t AS c WHERE ", "vault_changes");
    if (dialect->is_by_table) {
        append_tables(sql, tables);
    }
    else {
        sql_add(sql, "%r AND ", log_dialect_has(c, "c.tbl"));
    }
    if (dialect->is_tailed != NULL) {
        sql_add(sql, "%r AND ", dialect->is_tailed);
    }
    dialect->position->append_since(sql, since);
    sql_add(sql, " ORDER BY %r LIMIT %d", dialect->order, (apr_int64_t)AT_ONCE + 1);
}

static sql_statement_t *make_statement(sql_call_t *c, const char *since, const json_t *tables,
                                       const apr_array_header_t *images)
{
    const log_dialect_t *dialect = log_dialect_of(c->db);
    sql_statement_t *sql = sql_statement_make(c);
    int is_server = c->db->driver->is_server;

    append_state(sql, dialect);
    if (since != NULL) {
        sql_raw(sql, " UNION ALL ");
        if (!is_server) { /* SQLite does not allow brackets there */
            sql_raw(sql, sql->driver->select);
            sql_raw(sql, " * FROM ");
        }
        sql_raw(sql, "(");
        append_changes(sql, c, since, tables, images);
        sql_raw(sql, is_server ? ")" : ") AS y");
    }
    return sql;
}

/* ------------------------------------------------------------ what it has read */

static const char *copy_of(const json_t *row, const char *name, apr_pool_t *pool)
{
    const char *text = json_string_value(json_object_get(row, name));

    return apr_pstrdup(pool, text != NULL ? text : "");
}

/* Removes the row with the state from the others. */
static apr_status_t take_state(sql_call_t *c, log_batch_t *batch)
{
    const log_dialect_t *dialect = log_dialect_of(c->db);

    for (size_t i = 0; i < json_array_size(batch->rows); i++) {
        const json_t *row = json_array_get(batch->rows, i);

        if (json_is_string(json_object_get(row, "now"))) {
            batch->told = copy_of(row, "now", c->pool);
            batch->watchings = copy_of(row, "watchings", c->pool);
            batch->pruned = copy_of(row, "pruned", c->pool);
            json_array_remove(batch->rows, i);
            break;
        }
    }
    if (batch->told == NULL) {
        return sql_fail(c, APR_EGENERAL, "the database has returned no state");
    }
    batch->now = dialect->position_of != NULL ? dialect->position_of(batch->told, c->pool) : batch->told;
    return APR_SUCCESS;
}

/* The statement reads one change more than a batch has. */
static void cut(log_batch_t *batch, apr_pool_t *pool)
{
    if (json_array_size(batch->rows) > AT_ONCE) {
        const json_t *last = json_array_get(batch->rows, AT_ONCE - 1);

        batch->last =
            apr_psprintf(pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(json_object_get(last, "order")));
        json_array_remove(batch->rows, AT_ONCE);
    }
}

apr_status_t log_batch_read(sql_call_t *c, log_batch_t *batch, const char *since, const json_t *tables,
                            const apr_array_header_t *images)
{
    apr_status_t rv;

    *batch = (log_batch_t){0};
    rv = sql_fetch(c, make_statement(c, since, tables, images), names, INT_MAX, &batch->rows);
    if (rv == APR_SUCCESS) {
        rv = take_state(c, batch);
    }
    if (rv == APR_SUCCESS) {
        cut(batch, c->pool);
    }
    return rv;
}

void log_batch_free(log_batch_t *batch)
{
    json_decref(batch->rows);
    *batch = (log_batch_t){0};
}
