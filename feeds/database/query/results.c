/* SPDX-License-Identifier: Apache-2.0 */
/* Results of queries that pages have: see results.h. */
#include "database/query/results.h"

#include "apr_strings.h"
#include "apr_time.h"

#include "log/dialect.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"
#include "sql/statement.h"

#define TABLE "vault_results"
/* A result that is still in use is marked so again after this many seconds. */
#define MARK_AFTER 3600

apr_status_t database_result_recall(sql_call_t *c, const char *digest, const char **text, int *stale)
{
    static const char *const names[] = {"result", "used", NULL};
    sql_statement_t *sql = sql_statement_make(c);
    json_t *rows;
    apr_status_t rv;

    sql_raw(sql, sql->driver->select);
    sql_raw(sql, " ");
    sql_cell(sql, "r", "result", SQL_TEXT);
    sql_raw(sql, ",");
    sql_cell(sql, "r", "used", SQL_INTEGER);
    sql_raw(sql, " FROM ");
    sql_table(sql, TABLE);
    sql_raw(sql, " AS r WHERE r.digest=");
    sql_text(sql, digest);
    rv = sql_fetch(c, sql, names, 1, &rows);
    *text = NULL;
    if (rv == APR_SUCCESS && json_array_size(rows) == 1) {
        const json_t *row = json_array_get(rows, 0);

        *text = apr_pstrdup(c->pool, json_string_value(json_object_get(row, "result")));
        *stale = json_integer_value(json_object_get(row, "used")) + MARK_AFTER < apr_time_sec(apr_time_now());
    }
    json_decref(rows);
    return rv;
}

apr_status_t database_result_keep(sql_call_t *c, const char *digest, const char *text)
{
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, "INSERT INTO ");
    sql_table(sql, TABLE);
    sql_raw(sql, "(digest,result,used)VALUES(");
    sql_text(sql, digest);
    sql_raw(sql, ",");
    sql_text(sql, text);
    sql_raw(sql, ",");
    sql_integer(sql, apr_time_sec(apr_time_now()));
    sql_raw(sql, ")");
    sql_raw(sql, log_dialect_of(c->db)->unless_there);
    return sql_conn_query(c, sql->text, NULL);
}

apr_status_t database_result_use(sql_call_t *c, const char *digest)
{
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, "UPDATE ");
    sql_table(sql, TABLE);
    sql_raw(sql, " SET used=");
    sql_integer(sql, apr_time_sec(apr_time_now()));
    sql_raw(sql, " WHERE digest=");
    sql_text(sql, digest);
    return sql_conn_query(c, sql->text, NULL);
}
