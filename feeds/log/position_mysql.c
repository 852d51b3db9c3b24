/* SPDX-License-Identifier: Apache-2.0 */
/* Positions of MariaDB: all changes up to a number, and some that had no number yet when the reader saw them
 * (numbering_mysql.h). */
#include "log/position_mysql.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "log/dialect.h"
#include "sql/connection.h"

/* The longest list of ids in a position. A cursor has room for two. */
#define IDS_MAX 1800
/* The list of ids in a position within a batch begins with this: some of these changes may also have numbers up to that
 * of the position. */
#define WITHIN "0,"
/* Changes without a number come after all that have one. */
#define UNNUMBERED (APR_INT64_C(1) << 62)

/* The list of ids, with commas; "" if there is none. */
static const char *ids_of(const char *text)
{
    const char *semicolon = strchr(text, ';');

    return semicolon != NULL ? semicolon + 1 : "";
}

int log_position_mysql_is_long(const char *told)
{
    return strlen(ids_of(told)) > IDS_MAX;
}

/* ------------------------------------------------------------ sets */

/* @return the text after the number; NULL: there is none, or it is too large */
static const char *read_number(const char *at, apr_int64_t *number)
{
    if (!apr_isdigit(*at)) {
        return NULL;
    }
    for (*number = 0; apr_isdigit(*at); at++) {
        int digit = *at - '0';

        if (*number > (APR_INT64_MAX - digit) / 10) {
            return NULL;
        }
        *number = *number * 10 + digit;
    }
    return at;
}

/* `NUMBER;ID,ID,...`: the ids in any order, some perhaps twice. */
static int read_any(log_position_t *position, const char *text)
{
    const char *at = read_number(text, &position->end);
    apr_int64_t id;

    position->count = 0;
    if (at == NULL || *at != ';') {
        return 0;
    }
    if (at[1] == '\0') {
        return 1;
    }
    while (*at != '\0') {
        at = read_number(at + 1, &id);
        if (at == NULL || (*at != ',' && *at != '\0') || !log_position_except(position, id)) {
            return 0;
        }
    }
    return 1;
}

static int read_position(log_position_t *position, const char *text)
{
    return read_any(position, text) && !log_position_excepts(position, 0); /* WITHIN */
}

static const char *text_of(const log_position_t *position, apr_pool_t *pool)
{
    const apr_size_t space = 24 + (apr_size_t)position->count * 21;
    char *text = apr_palloc(pool, space);
    apr_size_t length = (apr_size_t)apr_snprintf(text, space, "%" APR_INT64_T_FMT ";", position->end);

    for (int i = 0; i < position->count; i++) {
        length += (apr_size_t)apr_snprintf(text + length, space - length, "%s%" APR_INT64_T_FMT, i == 0 ? "" : ",",
                                           position->exceptions[i]);
    }
    return length <= LOG_POSITION_TEXT ? text : NULL;
}

static int contains(const log_position_t *position, const log_change_id_t *change)
{
    return (change->number > 0 && change->number <= position->end) || log_position_excepts(position, change->id);
}

/* An id of one position may have a number that the other one contains. The result is correct, and only longer. */
static int merge(log_position_t *position, const log_position_t *other)
{
    position->end = other->end > position->end ? other->end : position->end;
    for (int i = 0; i < other->count; i++) {
        if (!log_position_except(position, other->exceptions[i])) {
            return 0;
        }
    }
    return 1;
}

static void learn(log_position_t *position, const log_change_id_t *change)
{
    if (change->number > 0 && change->number <= position->end) {
        log_position_accept(position, change->id);
    }
}

/* ------------------------------------------------------------ asking */

static apr_int64_t number(const char *text)
{
    return apr_isdigit(text[0]) ? apr_strtoi64(text, NULL, 10) : -1;
}

/* Ids that are no longer in the list have got numbers, each one its own. Are there more such ids than new numbers? Then
 * the database was restored, or has lost its last commits in a crash. */
static int has_gone(const log_span_t *span)
{
    log_position_t since, now;
    apr_int64_t gone = 0;

    if (!read_position(&since, span->since) || !read_any(&now, span->now)) {
        return 0;
    }
    for (int i = 0; i < since.count; i++) {
        gone += !log_position_excepts(&now, since.exceptions[i]);
    }
    return gone > now.end - since.end;
}

static int is_lost(apr_pool_t *pool, const log_span_t *span)
{
    apr_int64_t since = number(span->since);

    return since < 0 || span->since[strspn(span->since, "0123456789;,")] != '\0' || since > number(span->now) ||
           since < number(span->pruned) || has_gone(span);
}

static void append_since(sql_statement_t *sql, const char *since)
{
    /* As values, so that the text of the statement is always the same. */
    sql_add(sql, "(c.pos>%d OR c.pos IS NULL) AND FIND_IN_SET(c.id,%s)=0", number(since), ids_of(since));
}

/* The position of a reader that has seen `seen`, all changes with a number, and of the other changes those up to
 * `most`. It contains only ids of `now`: an id that is only in `seen` has got a number since. So the list does not grow
 * from batch to batch. */
static const char *within_unnumbered(const log_position_t *seen, const char *now, apr_int64_t most, apr_pool_t *pool)
{
    char *text = apr_pstrdup(pool, now), *to = strchr(text, ';') + 1, *rest;
    char *list = apr_pstrdup(pool, to);

    *to = '\0';
    for (char *word = apr_strtok(list, ",", &rest); word != NULL; word = apr_strtok(NULL, ",", &rest)) {
        apr_int64_t id = apr_strtoi64(word, NULL, 10);

        if (id <= most || log_position_excepts(seen, id)) {
            to += apr_snprintf(to, strlen(word) + 2, "%s%s", to[-1] == ';' ? "" : ",", word);
        }
    }
    return text;
}

static const char *next(apr_pool_t *pool, const log_span_t *span, const char *last, int *again)
{
    apr_int64_t order = last != NULL ? apr_strtoi64(last, NULL, 10) : 0;
    const char *seen = ids_of(span->since);
    log_position_t since;

    *again = last != NULL;
    if (last == NULL) {
        return span->now;
    }
    if (order < UNNUMBERED) {
        return apr_psprintf(pool, "%" APR_INT64_T_FMT ";%s%s", order,
                            seen[0] != '\0' && strncmp(seen, WITHIN, strlen(WITHIN)) != 0 ? WITHIN : "", seen);
    }
    (void)read_any(&since, span->since);
    return within_unnumbered(&since, span->now, order - UNNUMBERED, pool);
}

const log_position_type_t log_position_mysql = {
    .read = read_position,
    .text = text_of,
    .contains = contains,
    .merge = merge,
    .learn = learn,
    .append_since = append_since,
    .is_lost = is_lost,
    .next = next,
};

/* ------------------------------------------------------------ pruning */

static apr_status_t remove_up_to(sql_call_t *c, const char *horizon)
{
    apr_status_t rv =
        sql_execute(c,
                    "UPDATE vault_watched AS w SET w.pruned=COALESCE((SELECT MAX(c.pos) FROM vault_changes "
                    "AS c WHERE c.tbl=w.tbl AND c.pos<=%r),w.pruned) WHERE w.tbl<>'' AND %r",
                    horizon, log_dialect_has(c, "w.tbl"));

    return rv == APR_SUCCESS
               ? sql_execute(c, "DELETE FROM vault_changes WHERE pos<=%r AND %r", horizon, log_dialect_has(c, "tbl"))
               : rv;
}

apr_status_t log_position_mysql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    const char *horizon;
    const sql_statement_t *sql = sql_statement(
        c,
        "SELECT CONCAT('',LEAST(MAX(h.pos),%d)) AS v FROM ((SELECT MAX(pos) AS pos FROM vault_changes WHERE "
        "at<%d) UNION ALL (SELECT pos FROM vault_changes WHERE pos IS NOT NULL ORDER BY pos DESC LIMIT "
        "%d,1)) AS h",
        number(seen), before, (apr_int64_t)most);
    apr_status_t rv = sql_conn_cell(c, sql->text, &horizon);

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
