/* SPDX-License-Identifier: Apache-2.0 */
/* Named queries: what came in, what went out, what changed.
 *
 * A query may join, group and limit as it likes, so its changes cannot be told from those of its tables. The cursor is the
 * digest of the result that the page has; the result itself is kept once, for all pages that have the same.
 */
#include "objects.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "apr_hash.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "arguments.h"
#include "catalogue.h"
#include "connection.h"
#include "digest.h"
#include "dialect.h"
#include "driver.h"
#include "fold.h"
#include "interests.h"
#include "look.h"
#include "query_text.h"
#include "results.h"
#include "rows.h"
#include "subscription.h"

#define CURSOR_MARK "q"

/* One run of a query. */
typedef struct query_t {
    sql_call_t *c;
    const char *name;
    const json_t *query;
    json_t *rows;             /* a reference: the result, in the order of the query */
    const char *text;         /* the result, in the order of its keys */
    const char *digest;       /* of `text` */
    const char *before;       /* of what the page has; "": nobody knows what that is; NULL: nothing */
    const char *subscription; /* names the user's position; NULL: only the page has one */
    int is_back;              /* `before` is of the user's last visit */
} query_t;

/* ------------------------------------------------------------ the statement */

static sql_kind_e kind_of(const char *type)
{
    return strcmp(type, "integer") == 0   ? SQL_INTEGER
           : strcmp(type, "real") == 0    ? SQL_REAL
           : strcmp(type, "boolean") == 0 ? SQL_BOOLEAN
           : strcmp(type, "blob") == 0    ? SQL_BLOB
                                          : SQL_TEXT;
}

/* A value from a page is a string, whatever the parameter's type. NULL: it does not fit. */
static json_t *value_of(const json_t *given, const char *type)
{
    json_t *value;
    int fits;

    if (json_is_null(given) || strcmp(type, "text") == 0) {
        return json_is_null(given) || json_is_string(given) ? json_incref((json_t *)(uintptr_t)given) : NULL;
    }
    value = json_is_string(given) ? json_loads(json_string_value(given), JSON_DECODE_ANY, NULL)
                                  : json_incref((json_t *)(uintptr_t)given);
    fits = strcmp(type, "integer") == 0   ? json_is_integer(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
                                          : json_is_number(value);
    if (!fits) {
        json_decref(value);
        value = NULL;
    }
    return value;
}

static apr_status_t append_parameter(const query_t *q, sql_statement_t *sql, const database_piece_t *piece)
{
    sql_call_t *c = q->c;
    const char *name = apr_pstrmemdup(c->pool, piece->text, piece->length);
    const char *type = json_string_value(json_object_get(json_object_get(q->query, "parameters"), name));
    const json_t *given = json_object_get(json_object_get(c->args, "parameters"), name);
    json_t *value;
    const char *wrong;

    if (given == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"parameters.%s\" is missing", name);
    }
    value = value_of(given, type);
    wrong = value != NULL ? sql_value(sql, value) : apr_psprintf(c->pool, "is not of the type %s", type);
    json_decref(value);
    return wrong == NULL ? APR_SUCCESS : sql_fail(c, APR_EINVAL, "argument \"parameters.%s\" %s", name, wrong);
}

/* Is the query itself cut, not only one within its brackets? Both words are reserved where this is asked. */
static int is_cut(const char *at)
{
    database_piece_t piece;
    database_piece_e kind;
    int depth = 0;

    while ((kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        if (kind != DATABASE_PIECE_SQL) {
            continue;
        }
        depth += (piece.text[0] == '(') - (piece.text[0] == ')');
        if (depth == 0 && piece.length == 5 &&
            (strncasecmp(piece.text, "limit", 5) == 0 || strncasecmp(piece.text, "fetch", 5) == 0)) {
            return 1;
        }
    }
    return 0;
}

static apr_status_t append_query(const query_t *q, sql_statement_t *sql)
{
    const char *text = json_string_value(json_object_get(q->query, "sql"));
    const char *at = text;
    database_piece_t piece;
    database_piece_e kind;
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && (kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        if (kind == DATABASE_PIECE_PARAMETER) {
            rv = append_parameter(q, sql, &piece);
        }
        else if (kind == DATABASE_PIECE_SELECT) {
            /* As libdbi's modules like it best; driver.h. */
            sql_raw(sql, q->c->db->driver->select);
        }
        else if (kind == DATABASE_PIECE_QUOTED &&
                 !sql_catalogue_is_safe(q->c, apr_pstrmemdup(sql->pool, piece.text, piece.length))) {
            rv = sql_fail(q->c, APR_EINVAL, "query \"%s\": libdbi cannot carry the word \"select\" between quotes",
                          q->name);
        }
        else {
            sql_bytes(sql, piece.text, piece.length);
        }
    }
    /* Should the query end with a comment. */
    sql_raw(sql, "\n");
    if (q->c->db->driver->sorts_cut_only && !is_cut(text)) {
        sql_limit(sql, q->c->db->rows + 1);
    }
    return rv;
}

/* The names of the result's columns, ending with NULL. */
static const char *const *append_columns(const query_t *q, sql_statement_t *sql)
{
    const json_t *columns = json_object_get(q->query, "columns");
    const char **names = apr_pcalloc(sql->pool, (json_object_size(columns) + 1) * sizeof(*names));
    const char *name;
    json_t *type;
    int i = 0;

    sql_raw(sql, sql->driver->select);
    json_object_foreach((json_t *)(uintptr_t)columns, name, type)
    {
        sql_raw(sql, i == 0 ? " " : ",");
        sql_cell(sql, "q", name, kind_of(json_string_value(type)));
        names[i++] = name;
    }
    return names;
}

/* ------------------------------------------------------------ the result */

static const char *key_of(const query_t *q, const json_t *row)
{
    const json_t *key = json_object_get(q->query, "key");
    const char *text = "";

    for (size_t i = 0; i < json_array_size(key); i++) {
        const char *part =
            database_text_of(json_object_get(row, json_string_value(json_array_get(key, i))), q->c->pool);

        /* A length before each part, since a part may have any character. */
        text = apr_psprintf(q->c->pool, "%s%" APR_SIZE_T_FMT ":%s", text, part != NULL ? strlen(part) : 0,
                            part != NULL ? part : "");
    }
    return text;
}

static apr_hash_t *by_key(const query_t *q, const json_t *rows)
{
    apr_hash_t *hash = apr_hash_make(q->c->pool);

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);

        apr_hash_set(hash, key_of(q, row), APR_HASH_KEY_STRING, row);
    }
    return hash;
}

/* A row and its key. */
typedef struct keyed_t {
    const char *key;
    json_t *row;
} keyed_t;

static int by_key_cb(const void *one, const void *two)
{
    return strcmp(((const keyed_t *)one)->key, ((const keyed_t *)two)->key);
}

/* One text for one set of rows, whatever order they came in. */
static apr_status_t digest(query_t *q)
{
    size_t count = json_array_size(q->rows);
    keyed_t *keyed = apr_palloc(q->c->pool, (count + 1) * sizeof(*keyed));
    json_t *set = json_object();
    char *text;

    for (size_t i = 0; i < count; i++) {
        keyed[i].row = json_array_get(q->rows, i);
        keyed[i].key = key_of(q, keyed[i].row);
    }
    qsort(keyed, count, sizeof(*keyed), by_key_cb);
    for (size_t i = 0; i < count; i++) {
        json_object_set(set, keyed[i].key, keyed[i].row);
    }
    if (json_object_size(set) < json_array_size(q->rows)) {
        json_decref(set);
        return sql_fail(q->c, APR_EGENERAL, "two rows have the same key");
    }
    text = json_dumps(set, JSON_COMPACT);
    q->text = text != NULL ? apr_pstrdup(q->c->pool, text) : NULL;
    free(text);
    json_decref(set);
    if (q->text == NULL) {
        return sql_fail(q->c, APR_ENOMEM, "out of memory for its rows");
    }
    q->digest = database_digest(q->text, q->c->pool);
    return APR_SUCCESS;
}

/* From here on sentences are about the query, not about the arguments of the call. */
static void begin_about(const query_t *q)
{
    q->c->about.kind = "query";
    q->c->about.name = q->name;
}

static apr_status_t fetch(query_t *q)
{
    sql_call_t *c = q->c;
    sql_statement_t *sql = sql_statement_make(c);
    const char *const *names = append_columns(q, sql);
    apr_status_t rv;

    sql->varies = 1;
    sql_raw(sql, " FROM (");
    rv = append_query(q, sql);
    sql_raw(sql, ") AS q");
    sql_limit(sql, c->db->rows + 1);
    if (rv == APR_SUCCESS) {
        begin_about(q);
        rv = sql_fetch(c, sql, names, c->db->rows + 1, &q->rows);
    }
    if (rv == APR_SUCCESS && json_array_size(q->rows) > (size_t)c->db->rows) {
        rv = sql_fail(c, APR_EGENERAL, "it gives more than %d rows: let it have a LIMIT, or raise rows=", c->db->rows);
    }
    return rv == APR_SUCCESS ? digest(q) : rv;
}

/* ------------------------------------------------------------ the answer */

static void compare(const query_t *q, const char *before, database_delta_t *delta)
{
    json_t *set = json_loads(before, 0, NULL);
    apr_hash_t *new = by_key(q, q->rows);
    const char *key;
    json_t *old;

    for (size_t i = 0; i < json_array_size(q->rows); i++) {
        json_t *row = json_array_get(q->rows, i);

        old = json_object_get(set, key_of(q, row));
        if (old == NULL || !json_equal(old, row)) {
            json_array_append(old == NULL ? delta->added : delta->changed, row);
        }
    }
    json_object_foreach(set, key, old)
    {
        if (apr_hash_get(new, key, APR_HASH_KEY_STRING) == NULL) {
            json_array_append(delta->removed, old);
        }
    }
    json_decref(set);
}

/* The position of a user has the epoch as well: what is said of another watching is never behind. */
static apr_status_t keep_user(const query_t *q, const database_where_t *where)
{
    apr_pool_t *pool = q->c->pool;

    return database_subscription_keep(
        q->c, q->subscription, apr_pstrcat(pool, CURSOR_MARK, where->epoch, ":", q->digest, NULL), where->position);
}

static apr_status_t keep_positions(const query_t *q, const database_where_t *where)
{
    sql_call_t *c = q->c;

    if (c->db->host->cursor_set(c->call, apr_pstrcat(c->pool, CURSOR_MARK, q->digest, NULL)) != APR_SUCCESS) {
        return sql_fail(c, APR_EGENERAL, "the page's position cannot be kept");
    }
    return q->subscription != NULL ? keep_user(q, where) : APR_SUCCESS;
}

/* What the user had at the last visit is what a page has that has nothing yet. */
static apr_status_t recall_user(query_t *q)
{
    const char *cursor, *colon;
    apr_status_t rv = database_subscription_recall(q->c, q->subscription, &cursor);

    colon = cursor != NULL && cursor[0] == CURSOR_MARK[0] ? strchr(cursor, ':') : NULL;
    if (colon != NULL) {
        q->before = apr_pstrdup(q->c->pool, colon + 1);
        q->is_back = 1;
    }
    return rv;
}

/* In a snapshot. @param has, had  the result that there is, and that of the page, as they are kept; NULL: it is not */
static apr_status_t see(query_t *q, const char **had, const char **has, int *stale, database_where_t *where)
{
    sql_call_t *c = q->c;
    apr_status_t rv = fetch(q);

    if (rv == APR_SUCCESS && q->subscription != NULL) {
        rv = q->before == NULL ? recall_user(q) : APR_SUCCESS;
        rv = rv == APR_SUCCESS ? database_look_where(c, where) : rv;
    }
    if (rv == APR_SUCCESS && q->before != NULL) {
        rv = database_result_recall(c, q->before, had, stale);
    }
    return rv == APR_SUCCESS ? database_result_recall(c, q->digest, has, stale) : rv;
}

static void answer(const query_t *q, const char *had, json_t **rows)
{
    int is_reset = q->before != NULL && had == NULL && !q->is_back;
    database_delta_t delta;

    database_delta_make(&delta);
    if (had != NULL) {
        compare(q, had, &delta);
    }
    else {
        json_array_extend(delta.added, q->rows);
    }
    *rows = database_delta_answer(&delta, had == NULL, is_reset);
    if (is_reset) {
        database_call_reset(q->c);
    }
}

static apr_status_t see_and_answer(query_t *q, json_t **rows)
{
    sql_call_t *c = q->c;
    const char *had = NULL, *has = NULL;
    database_where_t where = {0};
    int stale = 0;
    apr_status_t rv = sql_conn_begin_read(c);

    if (rv == APR_SUCCESS) {
        rv = sql_conn_end(c, see(q, &had, &has, &stale, &where));
    }
    if (rv == APR_SUCCESS && (has == NULL || stale)) {
        rv = has == NULL ? database_result_keep(c, q->digest, q->text) : database_result_use(c, q->digest);
    }
    if (rv == APR_SUCCESS) {
        rv = keep_positions(q, &where);
    }
    if (rv == APR_SUCCESS) {
        answer(q, had, rows);
    }
    return rv;
}

/* The digest in the page's cursor; NULL: a first view. */
static const char *page_digest(const sql_call_t *c)
{
    const char *cursor = c->db->host->cursor_get(c->call);

    return cursor == NULL ? NULL : cursor[0] == CURSOR_MARK[0] ? apr_pstrdup(c->pool, cursor + 1) : "";
}

static apr_status_t check_parameters(sql_call_t *c, const query_t *q)
{
    json_t *given = json_object_get(c->args, "parameters");
    const char *name;
    json_t *value;

    if (given != NULL && !json_is_object(given)) {
        return sql_fail(c, APR_EINVAL, "argument \"parameters\" takes parameters.NAME");
    }
    json_object_foreach(given, name, value)
    {
        if (json_object_get(json_object_get(q->query, "parameters"), name) == NULL) {
            return sql_fail(c, APR_EINVAL, "argument \"parameters.%s\": the query \"%s\" has no such parameter",
                            sql_shown(c, name), q->name);
        }
    }
    return APR_SUCCESS;
}

/* An interest in each table first. @param needed  something may have happened in one of them */
static apr_status_t create_interests(sql_call_t *c, const query_t *q, int *needed)
{
    const json_t *tables = json_object_get(q->query, "tables");
    apr_status_t rv = APR_SUCCESS;

    *needed = 0;
    for (size_t i = 0; i < json_array_size(tables) && rv == APR_SUCCESS; i++) {
        int moved = 0;

        rv = database_interest_create(c, database_interest_table(json_string_value(json_array_get(tables, i)), c->pool),
                                      &moved);
        *needed |= moved;
    }
    return rv;
}

/* Writers of a table that is not watched would be seen now and then only. */
static apr_status_t check_watched(sql_call_t *c, const char *table)
{
    int is_watched = 0;
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS) {
        rv = database_dialect_is_watched(c, &is_watched);
    }
    return rv != APR_SUCCESS || is_watched ? rv : database_look_not_watched(c, table);
}

/* A connection, and the tables that are read and written. */
static apr_status_t reach(sql_call_t *c, const query_t *q)
{
    const json_t *tables = json_object_get(q->query, "tables");
    apr_status_t rv = sql_conn_take(c);
    int has = 1;

    begin_about(q);
    for (size_t i = 0; i < json_array_size(tables) && rv == APR_SUCCESS && has; i++) {
        rv = sql_catalogue_has(c, json_string_value(json_array_get(tables, i)), &has);
        if (rv == APR_SUCCESS && !has) {
            rv = sql_fail(c, APR_EINVAL, "there is no table \"%s\"",
                          json_string_value(json_array_get(tables, i)));
        }
    }
    if (rv == APR_SUCCESS) {
        rv = sql_catalogue_has(c, "vault_results", &has);
    }
    if (rv == APR_SUCCESS && !has) {
        rv = sql_fail(c, APR_EINVAL, "its tables are not watched: vaultctl watch %s",
                      json_string_value(json_array_get(tables, 0)));
    }
    for (size_t i = 0; i < json_array_size(tables) && rv == APR_SUCCESS; i++) {
        rv = check_watched(c, json_string_value(json_array_get(tables, i)));
    }
    c->about.kind = NULL;
    return rv;
}

apr_status_t database_query_changes_body(sql_call_t *c, const char *query, json_t **rows)
{
    const database_model_t *model = ((const database_t *)c->db)->model;
    query_t q = {.c = c, .name = query};
    int needed;
    apr_status_t rv;

    q.query = model != NULL ? json_object_get(model->queries, query) : NULL;
    if (q.query == NULL) {
        return sql_fail(c, APR_EINVAL, "%s query \"%s\"",
                        model != NULL ? "the model has no" : "this feed has no model=FILE, so no", sql_shown(c, query));
    }
    rv = check_parameters(c, &q);
    if (rv == APR_SUCCESS) {
        rv = database_subscription_id(c, &q.subscription);
    }
    if (rv == APR_SUCCESS) {
        rv = create_interests(c, &q, &needed);
    }
    if (rv != APR_SUCCESS || !needed) {
        return rv;
    }
    q.before = page_digest(c);
    rv = reach(c, &q);
    if (rv == APR_SUCCESS) {
        rv = see_and_answer(&q, rows);
    }
    json_decref(q.rows);
    return rv;
}
