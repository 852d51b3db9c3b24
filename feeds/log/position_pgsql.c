/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of PostgreSQL: which transactions a reader has seen.
 *
 * Ids are taken before a transaction commits, in any order, so a position is a snapshot: it says exactly which
 * transactions a reader has seen. A change carries its transaction. New is what the reader's snapshot did not see and
 * the present one does. Where a batch was cut the text is `OLD|NEW|ID`: between the two snapshots, and beyond that id.
 *
 * A crash of PostgreSQL: an id that a transaction took and rolled back, or had not committed yet, may be in no log on
 * disk. After the crash the server gives it to another transaction. A snapshot counts such an id as seen as soon as the
 * transaction has ended. So what the database tells a reader has the largest id of a recorded change that the snapshot
 * sees, `XMIN:XMAX:LIST/LAST`, and the position that is made of it ends there: it claims no id above LAST. LAST was
 * committed, so it is on disk, and PostgreSQL gives neither it nor a smaller id again. Nothing comes twice: the
 * position contains each recorded change that the snapshot saw, and excepts each transaction below LAST that was in
 * progress.
 *
 * With synchronous_commit=off a commit is seen before it is on disk, so a crash can take LAST itself back. The trigger
 * function leaves a change A, of no table, when a transaction does that. From then on the epoch of each watching ends
 * with the incarnation of the server (database_dialect_t::epoch), and a position from before a crash is of another
 * watching: its page is shown everything anew.
 */
#include "position_pgsql.h"

#include <string.h>

#include "apr_strings.h"

#include "connection.h"
#include "dialect.h"

/* How long the list of transactions in progress may be in a position: two of them are to fit into a cursor. */
#define IN_PROGRESS_MAX 1850

/* Parts of a position. `until` is NULL when no batch was cut. */
typedef struct bounds_t {
    const char *since, *until, *id;
} bounds_t;

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
static int parse(bounds_t *bounds, const char *text, apr_pool_t *pool)
{
    char *copy = apr_pstrdup(pool, text);
    char *rest = copy; /* apr_strtok leaves it alone where there is nothing */

    memset(bounds, 0, sizeof(*bounds));
    if (text[strspn(text, "0123456789:.|")] != '\0') {
        return 0;
    }
    bounds->since = apr_strtok(copy, "|", &rest);
    bounds->until = apr_strtok(NULL, "|", &rest);
    bounds->id = apr_strtok(NULL, "|", &rest);
    return bounds->since != NULL && is_snapshot(bounds->since) && (bounds->until == NULL) == (bounds->id == NULL) &&
           (bounds->until == NULL || is_snapshot(bounds->until));
}

static apr_int64_t xmin(const char *snapshot)
{
    return apr_strtoi64(snapshot, NULL, 10);
}

static apr_int64_t xmax(const char *snapshot)
{
    return apr_strtoi64(strchr(snapshot, ':') + 1, NULL, 10);
}

/* The end of a position that is made of `told`: none of the ids that a crash can have given again is before it. */
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

/* A snapshot has each transaction that is in progress, in order. A position has those before its end, each as the
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

const char *database_position_pgsql_of(const char *told, apr_pool_t *pool)
{
    return compact(told, pool);
}

static void append_snapshot(sql_statement_t *sql, const char *snapshot)
{
    append_whole(sql, snapshot);
    sql_raw(sql, "::pg_catalog.pg_snapshot");
}

/* Nothing that is seen is as large as the end of the snapshot: said so that a planner who knows no values takes this
 * for a short range, however large the table is, and reads it by its index. */
static void append_since(sql_statement_t *sql, const char *since)
{
    bounds_t bounds;

    (void)parse(&bounds, since, sql->pool);
    sql_raw(sql, "c.xid>=pg_catalog.pg_snapshot_xmin(");
    append_snapshot(sql, bounds.since);
    sql_raw(sql, ") AND c.xid<pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) AND NOT "
                 "pg_catalog.pg_visible_in_snapshot(c.xid,");
    append_snapshot(sql, bounds.since);
    sql_raw(sql, ")");
    if (bounds.until != NULL) {
        sql_raw(sql, " AND pg_catalog.pg_visible_in_snapshot(c.xid,");
        append_snapshot(sql, bounds.until);
        sql_raw(sql, ") AND c.id>");
        sql_integer(sql, apr_strtoi64(bounds.id, NULL, 10));
    }
}

static const char *next(apr_pool_t *pool, const database_span_t *span, const char *last, int *again)
{
    bounds_t bounds;

    (void)parse(&bounds, span->since, pool);
    *again = last != NULL || bounds.until != NULL;
    if (last == NULL) {
        return bounds.until != NULL ? bounds.until : span->now;
    }
    return apr_pstrcat(pool, bounds.since, "|", bounds.until != NULL ? bounds.until : span->now, "|", last, NULL);
}

/* ------------------------------------------------------------ sets */

/* Only what was seen up to `last`, a transaction. */
static void cut(database_position_t *position, apr_int64_t last)
{
    position->end = last < position->end ? last + 1 : position->end;
    while (position->count > 0 && position->exceptions[position->count - 1] >= position->end) {
        position->count--;
    }
}

/* A list of distances as a position has it, or of transactions as PostgreSQL tells it. With `/LAST` after it the set
 * ends there. */
static int read_position(database_position_t *position, const char *text)
{
    char *at;
    apr_int64_t last = apr_strtoi64(text, &at, 10);

    position->count = 0;
    position->end = *at == ':' ? apr_strtoi64(at + 1, &at, 10) : 0;
    if (*at != ':' || last < 1 || position->end < last) {
        return 0;
    }
    at++;
    while (*at != '\0' && *at != '/' && position->count < DATABASE_POSITION_MAX) {
        int is_distance = *at == '.';
        const char *digits = at + (is_distance || *at == ',');
        apr_int64_t value = apr_strtoi64(digits, &at, 10);

        if (value < 0 || (is_distance && value > position->end - last)) {
            return 0; /* the sum is beyond the end, and perhaps beyond the largest number */
        }
        last = is_distance ? last + value : value;
        if (at == digits || last >= position->end ||
            (position->count > 0 && last <= position->exceptions[position->count - 1])) {
            return 0;
        }
        position->exceptions[position->count++] = last;
    }
    if (*at == '/') {
        cut(position, apr_strtoi64(at + 1, &at, 10));
    }
    return *at == '\0';
}

static const char *text_of(const database_position_t *position, apr_pool_t *pool)
{
    apr_int64_t last = position->count > 0 ? position->exceptions[0] : position->end;
    const apr_size_t space = DATABASE_POSITION_TEXT + 64;
    char *text = apr_palloc(pool, space);
    apr_size_t length =
        (apr_size_t)apr_snprintf(text, space, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":", last, position->end);

    for (int i = 0; i < position->count && length <= DATABASE_POSITION_TEXT; i++) {
        length += (apr_size_t)apr_snprintf(text + length, space - length, ".%" APR_INT64_T_FMT,
                                           position->exceptions[i] - last);
        last = position->exceptions[i];
    }
    return length <= DATABASE_POSITION_TEXT ? text : NULL;
}

static int has(const database_position_t *position, apr_int64_t xid)
{
    return xid < position->end && !database_position_excepts(position, xid);
}

static int contains(const database_position_t *position, const database_change_id_t *change)
{
    return has(position, change->number);
}

/* What the set with the larger end excepts, and the other one does not contain either. */
static int merge(database_position_t *position, const database_position_t *other)
{
    database_position_t merged = position->end >= other->end ? *position : *other;
    const database_position_t *smaller = position->end >= other->end ? other : position;
    int count = 0;

    for (int i = 0; i < merged.count; i++) {
        if (!has(smaller, merged.exceptions[i])) {
            merged.exceptions[count++] = merged.exceptions[i];
        }
    }
    merged.count = count;
    *position = merged;
    return 1;
}

/* ------------------------------------------------------------ what is gone */

/* May changes be pruned that `since` does not contain? Those of transactions that are still in progress are not. */
static int is_pruned(const char *since, const char *now, apr_int64_t pruned)
{
    database_position_t seen, present;

    if (xmin(since) > pruned) {
        return 0;
    }
    if (!read_position(&seen, since) || !read_position(&present, now) || seen.end <= pruned) {
        return 1;
    }
    for (int i = 0; i < seen.count && seen.exceptions[i] <= pruned; i++) {
        if (has(&present, seen.exceptions[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_lost(apr_pool_t *pool, const database_span_t *span)
{
    const char *now = span->told != NULL ? span->told : span->now;
    bounds_t bounds;

    if (!parse(&bounds, span->since, pool)) {
        return 1;
    }
    return xmax(bounds.since) > xmax(now) ||
           (span->pruned[0] != '\0' && is_pruned(bounds.since, now, apr_strtoi64(span->pruned, NULL, 10)));
}

const database_position_type_t database_position_pgsql = {
    .read = read_position,
    .text = text_of,
    .contains = contains,
    .merge = merge,
    .append_since = append_since,
    .is_lost = is_lost,
    .next = next,
};

/* ------------------------------------------------------------ pruning */

apr_status_t database_position_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    sql_statement_t *sql = sql_statement_make(c);

    /* One statement: what is removed is what `pruned` tells of. */
    sql_raw(sql, "WITH gone AS (DELETE FROM vault_changes WHERE pg_catalog.pg_visible_in_snapshot(xid,");
    append_snapshot(sql, seen);
    sql_raw(sql, ") AND tbl<>'' AND ");
    sql_raw(sql, database_dialect_has(c, "tbl"));
    sql_raw(sql, " AND (at<");
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
