/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the changes of MariaDB: see numbering_mysql.h. */
#include "numbering_mysql.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "connection.h"

/* How many statements number changes at once. */
#define ROUNDS 50
#define LOCK "CONCAT('mod_vault place ',MD5(DATABASE()))"

/* Of ids with commas between. Not of "". */
static int count_of(const char *ids)
{
    int count = 1;

    for (const char *at = strchr(ids, ','); at != NULL; at = strchr(at + 1, ',')) {
        count++;
    }
    return count;
}

static apr_status_t give_numbers(sql_call_t *c, const char *ids, int count, const char **last)
{
    apr_status_t rv = sql_conn_begin_write(c);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = sql_conn_cell(c, "SELECT pruned AS v FROM vault_watched WHERE tbl='' FOR UPDATE", last);
    *last = *last != NULL ? *last : "0";
    if (rv == APR_SUCCESS) {
        rv =
            sql_conn_query(c,
                           apr_psprintf(c->pool, "UPDATE vault_changes SET pos=%s+FIND_IN_SET(id,'%s') WHERE id IN(%s)",
                                        *last, ids, ids),
                           NULL);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(
            c, apr_psprintf(c->pool, "UPDATE vault_watched SET pruned=CONCAT('',pruned+%d) WHERE tbl=''", count), NULL);
    }
    return sql_conn_end(c, rv);
}

/* Number what is committed. @param more  there may be more */
static apr_status_t number_some(sql_call_t *c, int *more)
{
    const char *ids, *last;
    apr_status_t rv;
    int count;

    *more = 0;
    rv = sql_conn_cell(c,
                       "SELECT GROUP_CONCAT(x.id ORDER BY x.id) AS v FROM (SELECT id FROM vault_changes "
                       "WHERE pos IS NULL ORDER BY id LIMIT " DATABASE_NUMBERING_MYSQL_AT_ONCE ") AS x",
                       &ids);
    if (rv != APR_SUCCESS || ids == NULL) {
        return rv;
    }
    count = count_of(ids);
    *more = count == atoi(DATABASE_NUMBERING_MYSQL_AT_ONCE);
    return give_numbers(c, ids, count, &last);
}

/* Whoever has the lock does it for all; nobody waits as long as a position can hold what is not yet numbered. */
apr_status_t database_numbering_mysql_settle(sql_call_t *c, int patience)
{
    const char *cell;
    int more = 1;
    apr_status_t rv;

    rv = sql_conn_cell(c, "SELECT '1' AS v FROM vault_changes WHERE pos IS NULL LIMIT 1", &cell);
    if (rv != APR_SUCCESS || cell == NULL) {
        return rv;
    }
    rv = sql_conn_cell(c, apr_psprintf(c->pool, "SELECT CONCAT('',GET_LOCK(" LOCK ",%d)) AS v", patience), &cell);
    if (rv != APR_SUCCESS || cell == NULL || strcmp(cell, "1") != 0) {
        return rv;
    }
    for (int i = 0; i < ROUNDS && more && rv == APR_SUCCESS; i++) {
        rv = number_some(c, &more);
    }
    if (sql_conn_cell(c, "SELECT CONCAT('',RELEASE_LOCK(" LOCK ")) AS v", &cell) != APR_SUCCESS) {
        /* The lock goes with the connection. */
        c->conn->broken = 1;
    }
    return rv;
}
