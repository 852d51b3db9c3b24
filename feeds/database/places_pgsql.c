/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the changes of PostgreSQL: see places_pgsql.h. */
#include "places_pgsql.h"

#include <string.h>

#include "apr_strings.h"

#include "connection.h"

/* How long the list of transactions in progress may be in a place: two of them are to fit into a cursor. */
#define IN_PROGRESS_MAX 1850

/* Parts of a place. `until` is NULL when no batch was cut. */
typedef struct place_t {
    const char *since, *until, *id;
} place_t;

/* XMIN:XMAX: and a list as compact() makes it, that PostgreSQL will read when it is whole. */
static int is_snapshot(const char *text)
{
    char *at;
    apr_int64_t xid = apr_strtoi64(text, &at, 10);
    apr_int64_t end = *at == ':' ? apr_strtoi64(at + 1, &at, 10) : 0;

    if (*at != ':' || xid < 1 || end < xid) {
        return 0;
    }
    at++;
    for (apr_int64_t least = 0; *at == '.'; least = 1) {
        apr_int64_t distance = apr_strtoi64(at + 1, &at, 10);

        if (distance < least || distance >= end - xid) {
            return 0;
        }
        xid += distance;
    }
    return *at == '\0';
}

/* 0: it is none. */
static int parse(place_t *place, const char *text, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, text);
    char *rest = copy; /* apr_strtok leaves it alone where there is nothing */

    memset(place, 0, sizeof(*place));
    if (text[strspn(text, "0123456789:.|")] != '\0') {
        return 0;
    }
    place->since = apr_strtok(copy, "|", &rest);
    place->until = apr_strtok(NULL, "|", &rest);
    place->id = apr_strtok(NULL, "|", &rest);
    return place->since != NULL && is_snapshot(place->since) && (place->until == NULL) == (place->id == NULL) &&
           (place->until == NULL || is_snapshot(place->until));
}

static apr_int64_t xmin(const char *snapshot)
{
    return apr_strtoi64(snapshot, NULL, 10);
}

static apr_int64_t xmax(const char *snapshot)
{
    return apr_strtoi64(strchr(snapshot, ':') + 1, NULL, 10);
}

/* The end of a place that is made of `told`: none of the ids that a crash can have given again is before it. */
static apr_int64_t surely_seen(const char *told)
{
    const char *slash = strchr(told, '/');
    apr_int64_t end = slash != NULL ? apr_strtoi64(slash + 1, NULL, 10) + 1 : xmax(told);

    return end < xmax(told) ? end : xmax(told);
}

/* After "XMIN:XMAX:", "" if there is none. */
static const char *in_progress(const char *snapshot)
{
    return strchr(strchr(snapshot, ':') + 1, ':') + 1;
}

/* A snapshot has each transaction that is in progress, in order. A place has those before its end, each as the
 * distance from the one before, the first one's from xmin: `.0.1.1.17`, two or three bytes for each. Where they do
 * not fit all the same it ends at one of them: what has committed beyond is seen again then, and none is lost. */
static const char *compact(const char *snapshot, apr_pool_t *pool)
{
    apr_int64_t end = surely_seen(snapshot), begin = xmin(snapshot) < end ? xmin(snapshot) : end, last = begin;
    char distances[IN_PROGRESS_MAX + 1] = "";
    apr_size_t length = 0;

    for (const char *at = in_progress(snapshot); *at != '\0'; at += strspn(at, ",")) {
        char *rest;
        apr_int64_t xid = apr_strtoi64(at, &rest, 10);
        const char *distance = apr_psprintf(pool, ".%" APR_INT64_T_FMT, xid - last);

        if (rest == at || xid >= end) {
            break;
        }
        if (length + strlen(distance) > IN_PROGRESS_MAX) {
            end = xid;
            break;
        }
        memcpy(distances + length, distance, strlen(distance) + 1);
        length += strlen(distance);
        last = xid;
        at = rest;
    }
    return apr_psprintf(pool, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":%s", begin, end, distances);
}

/* As PostgreSQL reads it. */
static void append_whole(sql_statement_t *sql, const char *snapshot)
{
    apr_int64_t xid = xmin(snapshot);
    const char *list = in_progress(snapshot);
    sql_statement_t *whole = sql_expression_make(sql);
    char *rest;

    sql_raw(whole, apr_psprintf(sql->pool, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":", xid, xmax(snapshot)));
    for (const char *at = list; *at == '.'; at = rest) {
        xid += apr_strtoi64(at + 1, &rest, 10);
        sql_raw(whole, apr_psprintf(sql->pool, "%s%" APR_INT64_T_FMT, at == list ? "" : ",", xid));
    }
    sql_text(sql, whole->text);
}

apr_status_t database_places_pgsql_place(sql_call_t *c, const char *told, const char **now)
{
    *now = compact(told, c->pool);
    return APR_SUCCESS;
}

/* All transactions before xmin were seen, so what is pruned is of no matter as long as it is before. */
int database_places_pgsql_is_lost(sql_call_t *c, const database_span_t *span)
{
    place_t place;

    if (!parse(&place, span->since, c->pool)) {
        return 1;
    }
    return xmax(place.since) > xmax(span->told != NULL ? span->told : span->now) ||
           (span->pruned[0] != '\0' && xmin(place.since) <= apr_strtoi64(span->pruned, NULL, 10));
}

static void append_snapshot(sql_statement_t *sql, const char *snapshot)
{
    append_whole(sql, snapshot);
    sql_raw(sql, "::pg_catalog.pg_snapshot");
}

/* Nothing that is seen is as large as the end of the snapshot: said so that a planner who knows no values takes this for a short range,
 * however large the table is, and reads it by its index. */
void database_places_pgsql_append_since(sql_statement_t *sql, const char *since)
{
    place_t place;

    (void)parse(&place, since, sql->pool);
    sql_raw(sql, "c.xid>=pg_catalog.pg_snapshot_xmin(");
    append_snapshot(sql, place.since);
    sql_raw(sql, ") AND c.xid<pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) AND NOT "
                 "pg_catalog.pg_visible_in_snapshot(c.xid,");
    append_snapshot(sql, place.since);
    sql_raw(sql, ")");
    if (place.until != NULL) {
        sql_raw(sql, " AND pg_catalog.pg_visible_in_snapshot(c.xid,");
        append_snapshot(sql, place.until);
        sql_raw(sql, ") AND c.id>");
        sql_integer(sql, apr_strtoi64(place.id, NULL, 10));
    }
}

void database_places_pgsql_append_own(sql_statement_t *sql, apr_int64_t floor)
{
    sql_raw(sql, "c.xid=pg_catalog.pg_current_xact_id()");
}

const char *database_places_pgsql_next(sql_call_t *c, const database_span_t *span, const char *last, int *again)
{
    place_t place;

    (void)parse(&place, span->since, c->pool);
    *again = last != NULL || place.until != NULL;
    if (last == NULL) {
        return place.until != NULL ? place.until : span->now;
    }
    return apr_pstrcat(c->pool, place.since, "|", place.until != NULL ? place.until : span->now, "|", last, NULL);
}

/* ------------------------------------------------------------ pruning */

apr_status_t database_places_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    sql_statement_t *sql = sql_statement_make(c);

    /* One statement: what is removed is what `pruned` tells of. */
    sql_raw(sql, "WITH gone AS (DELETE FROM vault_changes WHERE pg_catalog.pg_visible_in_snapshot(xid,");
    append_snapshot(sql, seen);
    sql_raw(sql, ") AND tbl<>'' AND (at<");
    sql_integer(sql, before);
    sql_raw(sql, " OR id<=(SELECT max(id)-");
    sql_integer(sql, most);
    sql_raw(
        sql,
        " FROM vault_changes)) RETURNING tbl,xid),last AS (SELECT tbl,max(xid::text::bigint) AS xid FROM gone GROUP "
        "BY tbl) "
        "UPDATE vault_watched AS w SET pruned=greatest(last.xid,coalesce(nullif(w.pruned,''),'0')::bigint)::text "
        "FROM last WHERE last.tbl=w.tbl");
    return sql_conn_query(c, sql->text, NULL);
}
