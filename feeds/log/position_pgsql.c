/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of PostgreSQL: which transactions a reader has seen.
 *
 * PostgreSQL assigns ids before a transaction commits, so they become visible in any order. So a position is a
 * snapshot, which says exactly which transactions a reader has seen. Each change contains its transaction. A change is
 * new if the reader's snapshot did not see its transaction and the current one does. If a batch was cut, the text is
 * `OLD|NEW|ID`: between the two snapshots, and beyond that id.
 *
 * A crash of PostgreSQL: if a transaction was rolled back or not yet committed, its id may not be on disk. After the
 * crash the server assigns this id to another transaction. But a snapshot counts an id as seen as soon as its
 * transaction has ended. So the database returns, with a snapshot, the largest id of a recorded change that the
 * snapshot sees, `XMIN:XMAX:LIST/LAST`. The position that is made of it ends there: it contains no id above LAST. LAST
 * was committed, so it is on disk, and PostgreSQL assigns neither it nor a smaller id again. No change is read twice:
 * the position contains each recorded change that the snapshot saw, and its exceptions are the transactions below LAST
 * that were in progress.
 *
 * With synchronous_commit=off a commit is visible before it is on disk, so a crash can revoke LAST itself. If a
 * transaction does that, the trigger function records a change A, which belongs to no table. From then on the id of
 * each watching ends with the incarnation of the server (log_dialect_t::watch_id). A position from before a crash then
 * belongs to another watching, and its page gets a first view again. */
#include "log/position_pgsql.h"

#include <string.h>

#include "apr_strings.h"

#include "log/dialect.h"
#include "sql/connection.h"

/* ------------------------------------------------------------ sets */

/* Keeps only what was seen up to the transaction `last`. */
static void cut(log_position_t *position, apr_int64_t last)
{
    position->end = last < position->end ? last + 1 : position->end;
    while (position->count > 0 && position->exceptions[position->count - 1] >= position->end) {
        position->count--;
    }
}

/* Reads a sorted list: of distances, as in a position, or of transactions, as PostgreSQL returns them. A `/LAST` behind
 * it is the end of the set. A set with too many exceptions ends at the first one for which there is no room.
 * @param is_whole  0: the set was cut for want of room */
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

/* @param fit  how many exceptions are in the text */
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

/* A snapshot lists each transaction in progress. A position has those before its end, each as the distance from the
 * previous one: `.0.1.1.17`, two or three bytes for each. If they do not fit, the position ends at one of them: changes
 * that were committed beyond it are read again, and none is lost. */
const char *log_position_pgsql_of(const char *told, apr_pool_t *pool)
{
    log_position_t position;
    const char *text;
    int fit;

    if (!read_some(&position, told, &fit)) {
        return ""; /* not a position */
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

/* Keeps the exceptions of the set with the larger end that are not in the other set. */
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

/* The parts of a position. `until` is NULL if no batch was cut. */
typedef struct bounds_t {
    const char *since, *until, *id;
} bounds_t;

/* @return 0: it is not a position */
static int parse(bounds_t *bounds, const char *text, apr_pool_t *pool)
{
    log_position_t position;
    char *copy = apr_pstrdup(pool, text);
    char *rest = copy; /* apr_strtok does not set it if the text is empty */

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

/* In the form that PostgreSQL reads. */
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

/* A transaction that was seen is smaller than the end of the snapshot. The condition says so, because then a planner
 * that does not know the values assumes a short range, however large the table is, and uses the index. */
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

/* May changes that are not in `since` have been pruned? Changes of transactions in progress are not pruned. */
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
    /* One statement, so that `pruned` covers exactly what is removed. */
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
