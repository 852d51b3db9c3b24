/* SPDX-License-Identifier: Apache-2.0 */
/* Bids selected by hand: see bids_rows.h. */
#include "bids_rows.h"

#include <limits.h>
#include <stdarg.h>
#include <string.h>

#include "apr_strings.h"
#include "http_log.h"
#include "http_main.h"

#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"
#include "sql/sql.h"
#include "sql/statement.h"

APLOG_USE_MODULE(vault_bids);

static sql_database_t database;

/* ------------------------------------------------------------ the host of the SQL layer: a call is a request */

static apr_pool_t *host_pool(vault_call_t *call)
{
    return ((request_rec *)call)->pool;
}

static apr_status_t host_fail(vault_call_t *call, apr_status_t status, const char *fmt, ...)
{
    request_rec *r = (request_rec *)call;
    va_list args;

    va_start(args, fmt);
    ap_log_rerror(APLOG_MARK, APLOG_ERR, status, r, "%s", apr_pvsprintf(r->pool, fmt, args));
    va_end(args);
    return status;
}

static void host_log(int level, const char *fmt, ...)
{
    char said[512];
    va_list args;

    va_start(args, fmt);
    apr_vsnprintf(said, sizeof(said), fmt, args);
    va_end(args);
    ap_log_error(APLOG_MARK, level, 0, ap_server_conf, "%s", said);
}

static const vault_host_t host = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_host_t),
    .pool = host_pool,
    .fail = host_fail,
    .log = host_log,
};

/* ------------------------------------------------------------ the database */

const char *bids_rows_open(const char *words, apr_pool_t *pconf)
{
    static const vault_feed_param_t params[] = {SQL_PARAMS, {NULL, NULL, NULL, 0}};
    apr_table_t *given = apr_table_make(pconf, 8);

    for (int i = 0; params[i].name != NULL; i++) {
        if (params[i].fallback != NULL) {
            apr_table_setn(given, params[i].name, params[i].fallback);
        }
    }
    while (*words != '\0') {
        char *word = ap_getword_conf(pconf, &words);
        char *equals = strchr(word, '=');

        if (equals == NULL) {
            return apr_pstrcat(pconf, word, ": key=value is accepted", NULL);
        }
        *equals = '\0';
        apr_table_setn(given, word, equals + 1);
    }
    memset(&database, 0, sizeof(database));
    return sql_database_open(&database, &host, given, pconf);
}

const char *bids_rows_start(apr_pool_t *pchild)
{
    return database.driver != NULL ? sql_pool_start(&database, pchild) : NULL;
}

/* ------------------------------------------------------------ the statement */

static apr_status_t fetch(sql_call_t *c, apr_int64_t item, apr_int64_t after, json_t **rows)
{
    static const char *const names[] = {"id", "bidder", "amount", NULL};
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, c->db->driver->select);
    sql_raw(sql, " ");
    sql_cell(sql, "t", "id", SQL_INTEGER);
    sql_raw(sql, ",");
    sql_cell(sql, "t", "bidder", SQL_TEXT);
    sql_raw(sql, ",");
    sql_cell(sql, "t", "amount", SQL_INTEGER);
    sql_raw(sql, " FROM ");
    sql_table(sql, "bids");
    sql_raw(sql, " AS t WHERE t.item_id=");
    sql_integer(sql, item);
    sql_raw(sql, " AND t.id>");
    sql_integer(sql, after);
    sql_order(sql, "id", 0);
    return sql_fetch(c, sql, names, INT_MAX, rows);
}

apr_status_t bids_rows_newer(request_rec *r, apr_int64_t item, apr_int64_t after, json_t **answer, apr_int64_t *last)
{
    json_t *rows = NULL;
    sql_call_t c;
    apr_status_t rv = sql_call_begin(&c, &database, (vault_call_t *)r, NULL);

    *answer = NULL;
    *last = after;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = sql_conn_take(&c);
    if (rv == APR_SUCCESS) {
        rv = fetch(&c, item, after, &rows);
    }
    sql_call_end(&c);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (json_array_size(rows) > 0) {
        const json_t *newest = json_array_get(rows, json_array_size(rows) - 1);

        *last = json_integer_value(json_object_get(newest, "id"));
        *answer = json_pack("{s:O}", "added", rows);
    }
    json_decref(rows);
    return APR_SUCCESS;
}
