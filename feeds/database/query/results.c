/* SPDX-License-Identifier: Apache-2.0 */
/* Stores results of queries that pages have: see results.h. */
#include "database/query/results.h"

#include "apr_strings.h"
#include "apr_time.h"

#include "log/dialect.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"
#include "sql/statement.h"

#define TABLE "vault_results"
/* A result that is still used is marked so again after this many seconds. */
#define MARK_AFTER 3600

apr_status_t database_result_recall(sql_call_t *c, const char *digest, const char **text, int *stale)
{
    json_t *rows;
    apr_status_t rv = sql_fetch(c,
                                sql_statement(c, "%r {$r.result},{r.used} FROM %t AS r WHERE r.digest=%s",
                                              c->db->driver->select, TABLE, digest),
                                NULL, 1, &rows);

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
    return sql_execute(c, "INSERT INTO %t(digest,result,used)VALUES(%s,%s,%d)%r", TABLE, digest, text,
                       (apr_int64_t)apr_time_sec(apr_time_now()), log_dialect_of(c->db)->unless_there);
}

apr_status_t database_result_use(sql_call_t *c, const char *digest)
{
    return sql_execute(c, "UPDATE %t SET used=%d WHERE digest=%s", TABLE, (apr_int64_t)apr_time_sec(apr_time_now()),
                       digest);
}
