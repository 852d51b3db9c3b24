/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of SQLite: the last id. SQLite has one writer at a time, so ids become visible in order, and AUTOINCREMENT
 * does not assign an id twice. */
#include "log/position.h"

#include "apr_strings.h"

/* @return -1: it is not a number */
static apr_int64_t number(const char *text)
{
    char *end;
    apr_int64_t id = apr_strtoi64(text, &end, 10);

    return end != text && *end == '\0' ? id : -1;
}

static int read_position(log_position_t *position, const char *text)
{
    position->end = number(text);
    position->count = 0;
    return position->end >= 0;
}

static const char *text_of(const log_position_t *position, apr_pool_t *pool)
{
    return apr_psprintf(pool, "%" APR_INT64_T_FMT, position->end);
}

static int contains(const log_position_t *position, const log_change_id_t *change)
{
    return change->id <= position->end;
}

static int merge(log_position_t *position, const log_position_t *other)
{
    position->end = other->end > position->end ? other->end : position->end;
    return 1;
}

static void append_since(sql_statement_t *sql, const char *since)
{
    sql_add(sql, "c.id>%d", number(since));
}

static int is_lost(apr_pool_t *pool, const log_span_t *span)
{
    apr_int64_t since = number(span->since);

    return since < 0 || since > number(span->now) || since < number(span->pruned);
}

static const char *next(apr_pool_t *pool, const log_span_t *span, const char *last, int *again)
{
    *again = last != NULL;
    return last != NULL ? last : span->now;
}

const log_position_type_t log_position_sqlite3 = {
    .read = read_position,
    .text = text_of,
    .contains = contains,
    .merge = merge,
    .append_since = append_since,
    .is_lost = is_lost,
    .next = next,
};
