/* SPDX-License-Identifier: Apache-2.0 */
/* Assigns numbers to the changes of MariaDB: see numbering_mysql.h. */
#include "log/numbering_mysql.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "log/position.h"
#include "sql/connection.h"

/* The most statements of one call. */
#define ROUNDS 50
#define LOCK "CONCAT('mod_vault place ',MD5(DATABASE()))"

/* The number of ids in a list with commas, which is not empty. */
static int count_of(const char *ids)
{
    int count = 1;

    for (const char *at = strchr(ids, ','); at != NULL; at = strchr(at + 1, ',')) {
        count++;
    }
    return count;
}

/* The row with the last number is locked.
 * @param known  as in log_dialect_t::assign_numbers
 * @param count  how many changes were numbered */
static apr_status_t give_numbers(sql_call_t *c, const char *known, int *count)
{
    log_span_t span = {.since = known, .pruned = ""};
    const char *cell, *ids;
    apr_int64_t last;
    apr_status_t rv;

    rv = sql_conn_cell(c,
                       "SELECT CONCAT(w.pruned,';',COALESCE((SELECT GROUP_CONCAT(x.id ORDER BY x.id) FROM (SELECT id "
                       "FROM vault_changes WHERE pos IS NULL ORDER BY id LIMIT " LOG_NUMBERING_MYSQL_AT_ONCE
                       ") AS x),'')) AS v FROM vault_watched AS w WHERE w.tbl='' FOR UPDATE",
                       &cell);
    ids = rv == APR_SUCCESS && cell != NULL ? strchr(cell, ';') + 1 : "";
    if (ids[0] == '\0') {
        return rv;
    }
    span.now = apr_pstrmemdup(c->pool, cell, ids - cell);
    if (known != NULL && log_position_mysql.is_lost(c->pool, &span)) {
        return APR_EINCOMPLETE;
    }
    last = apr_strtoi64(cell, NULL, 10);
    *count = count_of(ids);
    rv = sql_conn_query(
        c,
        apr_psprintf(c->pool, "UPDATE vault_changes SET pos=%" APR_INT64_T_FMT "+FIND_IN_SET(id,'%s') WHERE id IN(%s)",
                     last, ids, ids),
        NULL);
    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(
            c,
            apr_psprintf(c->pool, "UPDATE vault_watched SET pruned='%" APR_INT64_T_FMT "' WHERE tbl=''", last + *count),
            NULL);
    }
    return rv;
}

/* Numbers changes that are committed. @param more  there may be more */
static apr_status_t number_some(sql_call_t *c, const char *known, int *more)
{
    int count = 0;
    apr_status_t rv = sql_conn_begin_write(c);

    if (rv == APR_SUCCESS) {
        rv = sql_conn_end(c, give_numbers(c, known, &count));
    }
    *more = count == atoi(LOG_NUMBERING_MYSQL_AT_ONCE);
    return rv;
}

/* The process that has the lock numbers the changes for all. No process waits as long as a position has room for the
 * changes without a number. The lock is taken only if there is a change without a number. */
apr_status_t log_numbering_mysql_assign(sql_call_t *c, int seconds, const char *known)
{
    const char *cell;
    int more = 1;
    apr_status_t rv;

    rv = sql_conn_cell(c,
                       apr_psprintf(c->pool,
                                    "SELECT CONCAT('',GET_LOCK(" LOCK ",%d)) AS v FROM (SELECT id FROM vault_changes "
                                    "WHERE pos IS NULL LIMIT 1) AS x",
                                    seconds),
                       &cell);
    if (rv != APR_SUCCESS || cell == NULL || strcmp(cell, "1") != 0) {
        return rv;
    }
    for (int i = 0; i < ROUNDS && more && rv == APR_SUCCESS; i++) {
        rv = number_some(c, known, &more);
    }
    if (sql_conn_cell(c, "SELECT CONCAT('',RELEASE_LOCK(" LOCK ")) AS v", &cell) != APR_SUCCESS) {
        /* The lock ends with the connection. */
        c->conn->broken = 1;
    }
    return rv;
}
