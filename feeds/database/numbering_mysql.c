/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers the changes of MariaDB: see numbering_mysql.h. */
#include "numbering_mysql.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "connection.h"
#include "joined.h"
#include "places_mysql.h"

/* How many statements number changes at once. */
#define ROUNDS 50
/* Changes without a number that who watches may let be; and for how many looks, and milliseconds. */
#define FEW 32
#define LOOKS 50
#define LET_BE_MAX 10000
#define LOCK "CONCAT('mod_vault place ',MD5(DATABASE()))"

/* Numbers have no gaps, so that looks without the database know what is between two of them (listed.h). */
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
    const database_t *feed = (const database_t *)c->db;
    database_numbering_t numbering = {0};
    const char *ids, *last;
    apr_status_t rv;
    int count;

    *more = 0;
    if (c->own != NULL) {
        database_joined_number(feed, &numbering);
    }
    rv = sql_conn_cell(c,
                       "SELECT GROUP_CONCAT(x.id ORDER BY x.id) AS v FROM (SELECT id FROM vault_changes "
                       "WHERE pos IS NULL ORDER BY id LIMIT " DATABASE_NUMBERING_MYSQL_AT_ONCE ") AS x",
                       &ids);
    if (rv != APR_SUCCESS || ids == NULL) {
        return rv;
    }
    count = database_places_mysql_count(ids);
    *more = count == atoi(DATABASE_NUMBERING_MYSQL_AT_ONCE);
    rv = give_numbers(c, ids, count, &last);
    if (rv == APR_SUCCESS && c->own != NULL) {
        database_joined_numbered(feed, &numbering, apr_strtoi64(last, NULL, 10), ids, !*more);
    }
    return rv;
}

/* Whoever has the lock does it for all; nobody waits as long as a place can hold what is not yet numbered. */
apr_status_t database_numbering_mysql_settle(sql_call_t *c, int patience)
{
    const char *cell;
    int more = 1;
    apr_status_t rv;

    if (c->own == NULL) { /* who watches comes when there are some */
        rv = sql_conn_cell(c, "SELECT '1' AS v FROM vault_changes WHERE pos IS NULL LIMIT 1", &cell);
        if (rv != APR_SUCCESS || cell == NULL) {
            return rv;
        }
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

/* Numbers cost more than all else that a watcher does where only this server writes. But a place without them is long, and before its time for
 * pruning: both counts are far below what is kept at least (`changes`, `keep`). */
int database_numbering_mysql_is_due(const char *told, apr_int64_t age, int look)
{
    const char *ids = database_places_mysql_ids(told);
    apr_int64_t most = (apr_int64_t)LOOKS * look;

    return ids[0] != '\0' &&
           (age < 0 || age >= (most < LET_BE_MAX ? most : LET_BE_MAX) || database_places_mysql_count(ids) >= FEW);
}
