/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the changes of MariaDB: see places_mysql.h. */
#include "places_mysql.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "connection.h"
#include "listed.h"

/* The longest list of ids in a place; two are to fit into a cursor. */
#define IDS_MAX 1800
/* The longest one that pages do not mind. */
#define IDS_ENOUGH 500
/* How the ids in a place within a batch begin: some of them may have numbers that it has, too. */
#define WITHIN "0,"
/* What is not yet numbered comes after all that is. */
#define UNNUMBERED (APR_INT64_C(1) << 62)

typedef struct parts_t {
    sql_call_t *c;
    const char *told;
} parts_t;

static int take_part_cb(void *data, const char *const *cells)
{
    parts_t *parts = data;

    parts->told = database_part_add(parts->told, cells[0], cells[1], parts->c->pool);
    return 1;
}

/* A join of two tables costs half as much as two subqueries, one of which makes a list. */
apr_status_t database_places_mysql_where(sql_call_t *c, const char **told)
{
    parts_t parts = {.c = c};
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    sql_raw(sql, "SELECT w.pruned AS v," DATABASE_PLACES_MYSQL_PART
                 " AS v FROM vault_watched AS w" DATABASE_PLACES_MYSQL_PARTS " WHERE w.tbl=''");
    rv = sql_conn_run(c, sql, take_part_cb, &parts);
    *told = parts.told;
    /* Somebody has dropped vault_watched alone: there is no such row until a table is watched again. */
    return rv == APR_SUCCESS && *told == NULL ? sql_conn_cell(c, "SELECT " DATABASE_PLACES_MYSQL_NOW, told) : rv;
}

static apr_int64_t number(const char *place)
{
    return apr_isdigit(place[0]) ? apr_strtoi64(place, NULL, 10) : -1;
}

int database_places_mysql_is_long(const char *told)
{
    apr_size_t length = strlen(database_places_mysql_ids(told));

    return length > IDS_MAX ? 2 : length > IDS_ENOUGH;
}

apr_status_t database_places_mysql_place(sql_call_t *c, const char *told, const char **now)
{
    *now = told;
    return strlen(database_places_mysql_ids(told)) <= IDS_MAX
               ? APR_SUCCESS
               : sql_fail(c, APR_EAGAIN, "more changes were committed at once than a place can hold");
}

/* Ids that are gone have got numbers, each one of its own: are there more of them? Then the database is one that was put back, or has lost in a crash
 * what was committed last. */
static int has_gone(const database_span_t *span)
{
    database_listed_t since, now;
    apr_int64_t gone = 0;

    if (!database_listed_read(&since, span->since) || !database_listed_read(&now, span->now) ||
        database_listed_lists(&since, 0)) {
        return 0;
    }
    for (int i = 0; i < since.count; i++) {
        gone += !database_listed_lists(&now, since.ids[i]);
    }
    return gone > now.last - since.last;
}

int database_places_mysql_is_lost(sql_call_t *c, const database_span_t *span)
{
    apr_int64_t since = number(span->since);

    return since < 0 || span->since[strspn(span->since, "0123456789;,")] != '\0' || since > number(span->now) ||
           since < number(span->pruned) || has_gone(span);
}

void database_places_mysql_append_since(sql_statement_t *sql, const char *since)
{
    sql_raw(sql, "(c.pos>");
    sql_integer(sql, number(since));
    sql_raw(sql, " OR c.pos IS NULL) AND FIND_IN_SET(c.id,");
    sql_text(sql, database_places_mysql_ids(since)); /* a value, so that the statement is always the same */
    sql_raw(sql, ")=0");
}

/* What is not yet numbered may have been committed by others, too. Those that the watcher has are not read again: a writer whose id is lower than one
 * of them has taken longer than another one, and finds nothing. */
void database_places_mysql_append_own(sql_statement_t *sql, apr_int64_t floor)
{
    sql_raw(sql, "c.pos IS NULL AND c.id>");
    sql_integer(sql, floor);
}

apr_int64_t database_places_mysql_floor_of(const char *place)
{
    apr_int64_t floor = 0;
    char *at;

    for (const char *ids = database_places_mysql_ids(place); apr_isdigit(*ids); ids = *at == ',' ? at + 1 : at) {
        apr_int64_t id = apr_strtoi64(ids, &at, 10);

        floor = id > floor ? id : floor;
    }
    return floor;
}

/* Those of `ids` up to `most`, after what is in `seen`. */
static const char *add_ids(const char *seen, const char *ids, apr_int64_t most, apr_pool_t *pool)
{
    char *rest;
    char *list = apr_pstrdup(pool, ids);

    for (char *id = apr_strtok(list, ",", &rest); id != NULL; id = apr_strtok(NULL, ",", &rest)) {
        if (apr_strtoi64(id, NULL, 10) <= most) {
            seen = apr_pstrcat(pool, seen, seen[0] != '\0' ? "," : "", id, NULL);
        }
    }
    return seen;
}

const char *database_places_mysql_next(sql_call_t *c, const database_span_t *span, const char *last, int *again)
{
    apr_int64_t order = last != NULL ? apr_strtoi64(last, NULL, 10) : 0;
    const char *seen = database_places_mysql_ids(span->since);

    *again = last != NULL;
    if (last == NULL) {
        return span->now;
    }
    if (seen[0] != '\0' && strncmp(seen, WITHIN, strlen(WITHIN)) != 0) {
        seen = apr_pstrcat(c->pool, WITHIN, seen, NULL);
    }
    if (order < UNNUMBERED) {
        return apr_psprintf(c->pool, "%" APR_INT64_T_FMT ";%s", order, seen);
    }
    return apr_psprintf(c->pool, "%" APR_INT64_T_FMT ";%s", number(span->now),
                        add_ids(seen, database_places_mysql_ids(span->now), order - UNNUMBERED, c->pool));
}

/* ------------------------------------------------------------ pruning */

static apr_status_t remove_up_to(sql_call_t *c, const char *horizon)
{
    apr_status_t rv =
        sql_conn_query(c,
                       apr_psprintf(c->pool,
                                    "UPDATE vault_watched AS w SET w.pruned=COALESCE((SELECT MAX(c.pos) FROM "
                                    "vault_changes AS c WHERE c.tbl=w.tbl AND c.pos<=%s),w.pruned) WHERE w.tbl<>''",
                                    horizon),
                       NULL);

    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(c, apr_psprintf(c->pool, "DELETE FROM vault_changes WHERE pos<=%s", horizon), NULL);
    }
    return rv;
}

apr_status_t database_places_mysql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    const char *horizon;
    apr_status_t rv = sql_conn_cell(c,
                                    apr_psprintf(c->pool,
                                                 "SELECT CONCAT('',LEAST(MAX(h.pos),%" APR_INT64_T_FMT
                                                 ")) AS v FROM ((SELECT MAX(pos) AS pos FROM vault_changes WHERE "
                                                 "at<%" APR_INT64_T_FMT
                                                 ") UNION ALL (SELECT pos FROM vault_changes WHERE pos IS NOT NULL "
                                                 "ORDER BY pos DESC LIMIT %d,1)) AS h",
                                                 number(seen), before, most),
                                    &horizon);

    if (rv != APR_SUCCESS || horizon == NULL) {
        return rv;
    }
    rv = sql_conn_begin_write(c);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = remove_up_to(c, horizon);
    return sql_conn_end(c, rv);
}

/* ------------------------------------------------------------ ids */

const char *database_places_mysql_ids(const char *place)
{
    const char *semicolon = strchr(place, ';');

    return semicolon != NULL ? semicolon + 1 : "";
}

int database_places_mysql_count(const char *ids)
{
    int count = 1;

    for (const char *at = strchr(ids, ','); at != NULL; at = strchr(at + 1, ',')) {
        count++;
    }
    return count;
}
