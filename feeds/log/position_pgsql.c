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
 * function leaves a change A, of no table, when a transaction does that. From then on the id of each watching ends
 * with the incarnation of the server (log_dialect_t::watch_id), and a position from before a crash is of another
 * watching: its page is shown everything anew.
 */
#include "log/position_pgsql.h"

#include <string.h>

#include "apr_strings.h"

#include "log/dialect.h"
#include "sql/connection.h"

/* ------------------------------------------------------------ sets */

/* Only what was seen up to `last`, a transaction. */
static void cut(log_position_t *position, apr_int64_t last)
{
    position->end = last < position->end ? last + 1 : position->end;
    while (position->count > 0 && position->exceptions[position->count - 1] >= position->end) {
        position->count--;
    }
}

/* A list of distances as a position has it, or of transactions as PostgreSQL tells it, in order. With `/LAST` after it
 * the set ends there. One with too many exceptions ends at the first for which there is no room.
 * @param is_whole  0: it does */
static int read_some(log_position_t *position, const char *text, int *is_whole)
{
    const char *slash = strchr(text, '/');
    char *at;
    apr_int64_t last = apr_strtoi64(text, &at, 10);

    *is_whole = 1;
    position->count = 0;
    position->end = *at == ':' ? apr_strtoi64(at + 1, &at, 10) : 0;
    if (*at != ':' || last < 1 || position->end < last) {
        return 0;
    }
    at++;
    while (*is_whole && *at != '\0' && at != slash) {
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
        *is_whole = position->count < LOG_POSITION_MAX;
        if (*is_whole) {
            position->exceptions[position->count++] = last;
        }
        else {
            position->end = last;
        }
    }
    if (slash != NULL) {
        cut(position, apr_strtoi64(slash + 1, &at, 10));
    }
    return *at == '\0' || !*is_whole;
}

static int read_position(log_position_t *position, const char *text)
{
    int is_whole;

    return read_some(position, text, &is_whole) && is_whole;
}

static apr_int64_t first_of(const log_position_t *position)
{
    return position->count > 0 ? position->exceptions[0] : position->end;
}

/* @param fit  so many exceptions are in the text */
static const char *write_some(const log_position_t *position, int *fit, apr_pool_t *pool)
{
    apr_int64_t last = first_of(position);
    const apr_size_t space = LOG_POSITION_TEXT + 64;
    char *text = apr_palloc(pool, space);
    apr_size_t length =
        (apr_size_t)apr_snprintf(text, space, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":", last, position->end);

    for (*fit = 0; *fit < position->count; ++*fit) {
        length += (apr_size_t)apr_snprintf(text + length, space - length, ".%" APR_INT64_T_FMT,
                                           position->exceptions[*fit] - last);
        last = position->exceptions[*fit];
        if (length > LOG_POSITION_TEXT) {
            break;
        }
    }
    return text;
}

static const char *text_of(const log_position_t *position, apr_pool_t *pool)
{
    int fit;
    const char *text = write_some(position, &fit, pool);

    return fit == position->count ? text : NULL;
}

/* A snapshot has each transaction that is in progress. A position has those before its end, each as the distance from
 * the one before: `.0.1.1.17`, two or three bytes for each. Where they do not fit all the same it ends at one of them:
 * what has committed beyond is seen again then, and none is lost. */
const char *log_position_pgsql_of(const char *told, apr_pool_t *pool)
{
    log_position_t position;
    const char *text;
    int fit;

    if (!read_some(&position, told, &fit)) {
        return ""; /* no position */
    }
    text = write_some(&position, &fit, pool);
    if (fit == position.count) {
        return text;
    }
    position.end = position.exceptions[fit];
    position.count = fit;
    return write_some(&position, &fit, pool);
}

static int has(const log_position_t *position, apr_int64_t xid)
{
    return xid < position->end && !log_position_excepts(position, xid);
}

static int contains(const log_position_t *position, const log_change_id_t *change)
{
    return has(position, change->number);
}

/* What the set with the larger end excepts, and the other one does not contain either. */
static int merge(log_position_t *position, const log_position_t *other)
{
    log_position_t merged = position->end >= other->end ? *position : *other;
    const log_position_t *smaller = position->end >= other->end ? other : position;
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

/* ------------------------------------------------------------ asking */

#define SNAPSHOT "::pg_catalog.pg_snapshot"

/* Parts of a position. `until` is NULL when no batch was cut. */
typedef struct bounds_t {
    const char *since, *until, *id;
} bounds_t;

/* 0: it is none. */
static int parse(bounds_t *bounds, const char *text, apr_pool_t *pool)
{
    log_position_t position;
    char *copy = apr_pstrdup(pool, text);
    char *rest = copy; /* apr_strtok leaves it alone where there is nothing */

    memset(bounds, 0, sizeof(*bounds));
    if (text[strspn(text, "0123456789:.|")] != '\0') {
        return 0;
    }
    bounds->since = apr_strtok(copy, "|", &rest);
    bounds->until = apr_strtok(NULL, "|", &rest);
    bounds->id = apr_strtok(NULL, "|", &rest);
    return bounds->since != NULL && read_position(&position, bounds->since) &&
           (bounds->until == NULL) == (bounds->id == NULL) &&
           (bounds->until == NULL || read_position(&position, bounds->until));
}

static apr_int64_t xmax(const char *snapshot)
{
    return apr_strtoi64(strchr(snapshot, ':') + 1, NULL, 10);
}

/* As PostgreSQL reads it. */
static const char *snapshot_of(const char *text, apr_pool_t *pool)
{
    log_position_t position;
    apr_array_header_t *list;

    (void)read_position(&position, text);
    list = apr_array_make(pool, position.count, sizeof(const char *));
    for (int i = 0; i < position.count; i++) {
        APR_ARRAY_PUSH(list, const char *) = apr_psprintf(pool, "%" APR_INT64_T_FMT, position.exceptions[i]);
    }
    return apr_psprintf(pool, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":%s", first_of(&position), position.end,
                        apr_array_pstrcat(pool, list, ','));
}

/* Nothing that is seen is as large as the end of the snapshot: said so that a planner who knows no values takes this
 * for a short range, however large the table is, and reads it by its index. */
static void append_since(sql_statement_t *sql, const char *since)
{
    bounds_t bounds;
    const char *seen;

    (void)parse(&bounds, since, sql->pool);
    seen = snapshot_of(bounds.since, sql->pool);
    sql_add(sql,
            "c.xid>=pg_catalog.pg_snapshot_xmin(%s" SNAPSHOT
            ") AND c.xid<pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot()) AND NOT "
            "pg_catalog.pg_visible_in_snapshot(c.xid,%s" SNAPSHOT ")",
            seen, seen);
    if (bounds.until != NULL) {
        sql_add(sql, " AND pg_catalog.pg_visible_in_snapshot(c.xid,%s" SNAPSHOT ") AND c.id>%d",
                snapshot_of(bounds.until, sql->pool), apr_strtoi64(bounds.id, NULL, 10));
    }
}

static const char *next(apr_pool_t *pool, const log_span_t *span, const char *last, int *again)
{
    bounds_t bounds;

    (void)parse(&bounds, span->since, pool);
    *again = last != NULL || bounds.until != NULL;
    if (last == NULL) {
        return bounds.until != NULL ? bounds.until : span->now;
    }
    return apr_pstrcat(pool, bounds.since, "|", bounds.until != NULL ? bounds.until : span->now, "|", last, NULL);
}

/* ------------------------------------------------------------ what is gone */

/* May changes be pruned that `since` does not contain? Those of transactions that are still in progress are not. */
static int is_pruned(const char *since, const char *now, apr_int64_t pruned)
{
    log_position_t seen, present;

    if (!read_position(&seen, since) || seen.end <= pruned) {
        return 1;
    }
    if (first_of(&seen) <= pruned && !read_position(&present, now)) {
        return 1;
    }
    for (int i = 0; i < seen.count && seen.exceptions[i] <= pruned; i++) {
        if (has(&present, seen.exceptions[i])) {
            return 1;
        }
    }
    return 0;
}

static int is_lost(apr_pool_t *pool, const log_span_t *span)
{
    const char *now = span->told != NULL ? span->told : span->now;
    bounds_t bounds;

    if (!parse(&bounds, span->since, pool)) {
        return 1;
    }
    return xmax(bounds.since) > xmax(now) ||
           (span->pruned[0] != '\0' && is_pruned(bounds.since, now, apr_strtoi64(span->pruned, NULL, 10)));
}

const log_position_type_t log_position_pgsql = {
    .read = read_position,
    .text = text_of,
    .contains = contains,
    .merge = merge,
    .append_since = append_since,
    .is_lost = is_lost,
    .next = next,
};

/* ------------------------------------------------------------ pruning */

apr_status_t log_position_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    /* One statement: what is removed is what `pruned` tells of. */
    return sql_execute(
        c,
        "WITH gone AS (DELETE FROM vault_changes WHERE pg_catalog.pg_visible_in_snapshot(xid,%s" SNAPSHOT
        ") AND tbl<>'' AND %r AND (at<%d OR id<=(SELECT max(id)-%d FROM vault_changes)) RETURNING tbl,xid),last AS "
        "(SELECT "
        "tbl,max(xid::text::bigint) AS xid FROM gone GROUP BY tbl) "
        "UPDATE vault_watched AS w SET pruned=greatest(last.xid,coalesce(nullif(w.pruned,''),'0')::bigint)::text "
        "FROM last WHERE last.tbl=w.tbl",
        snapshot_of(seen, c->pool), log_dialect_has(c, "tbl"), before, (apr_int64_t)most);
}
