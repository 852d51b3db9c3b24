/* SPDX-License-Identifier: Apache-2.0 */
/* Named queries: rows that were added, were removed, and have changed.
 *
 * A query may join, group and limit, so its changes cannot be computed from those of its tables. The cursor contains
 * the digest of the result that the page has. The result itself is stored once for all pages with the same result. */
#include "database/query/queries.h"

#include <stdlib.h>
#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "database/changes/change_read.h"
#include "database/changes/subscription.h"
#include "database/query/query_ring.h"
#include "database/query/query_sql.h"
#include "database/query/reads.h"
#include "database/query/results.h"
#include "database/rows/arguments.h"
#include "database/rows/delta.h"
#include "database/rows/fold.h"
#include "database/rows/interests.h"
#include "log/dialect.h"
#include "log/digest.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/rows.h"

#define CURSOR_MARK "q"

/* One run of a query. */
typedef struct query_t {
    sql_call_t *c;
    const char *name;
    const json_t *query;
    json_t *rows;             /* a reference: the result, in the order of the query */
    const char *text;         /* the result, in the order of its keys */
    const char *digest;       /* of `text` */
    const char *before;       /* digest of the result that the page has; "": unknown; NULL: none */
    database_cursor_t cursor; /* of the page: `boot` and `offset` */
    log_head_t head;          /* of the ring, before anything was read */
    database_reads_t reads;
    /* of const char *: tables whose changes make the query run again; NULL: not known yet */
    const apr_array_header_t *tables;
    const char *waited_for;   /* number_of_tables() at the last read of the page; NULL: unknown */
    const char *subscription; /* identifies the user's stored position; NULL: there is none */
    int is_back;              /* `before` is from the user's last visit */
} query_t;

/* ------------------------------------------------------------ the result */

static const char *key_of(const query_t *q, const json_t *row)
{
    const json_t *key = json_object_get(q->query, "key");
    const char *text = "";

    for (size_t i = 0; i < json_array_size(key); i++) {
        const char *part = sql_text_of(json_object_get(row, json_string_value(json_array_get(key, i))), q->c->pool);

        /* Each part is preceded by its length, since a part may contain any character. */
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

/* The same text for the same rows, whatever their order. */
static apr_status_t digest(query_t *q)
{
    size_t count = json_array_size(q->rows);
    keyed_t *keyed = apr_palloc(q->c->pool, (count + 1) * sizeof(*keyed));
    json_t *set = json_object();

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
    q->text = sql_json_text(set, JSON_COMPACT, q->c->pool);
    json_decref(set);
    if (q->text[0] == '\0') {
        return sql_fail(q->c, APR_ENOMEM, "out of memory for its rows");
    }
    q->digest = log_digest(q->text, q->c->pool);
    return APR_SUCCESS;
}

/* From here on error sentences are about the query, and not about the arguments of the call. */
static void begin_about(const query_t *q)
{
    q->c->about.kind = "query";
    q->c->about.name = q->name;
}

static apr_status_t fetch(query_t *q)
{
    sql_call_t *c = q->c;
    sql_statement_t *sql = sql_statement_make(c);
    const char *const *names = database_query_columns(c, q->query);
    apr_status_t rv = database_query_append(c, q->query, sql);

    if (rv == APR_SUCCESS) {
        begin_about(q);
        rv = sql_fetch(c, sql, names, c->db->rows + 1, &q->rows);
    }
    if (rv == APR_SUCCESS && json_array_size(q->rows) > (size_t)c->db->rows) {
        rv = sql_fail(c, APR_EGENERAL, "it returns more than %d rows: add a LIMIT, or raise rows=", c->db->rows);
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

/* The stored position contains the id of the watching: positions of different watchings are not compared. */
static apr_status_t keep_user(const query_t *q, const database_watching_t *where)
{
    apr_pool_t *pool = q->c->pool;

    return database_subscription_keep(
        q->c, q->subscription, apr_pstrcat(pool, CURSOR_MARK, where->watch_id, ":", q->digest, NULL), where->position);
}

/* A number that identifies the tables of the query. */
static const char *number_of_tables(const query_t *q)
{
    apr_uint64_t sum = 1;

    for (int i = 0; i < q->tables->nelts; i++) {
        sum = vault_hash_text(sum, APR_ARRAY_IDX(q->tables, i, const char *));
    }
    return apr_psprintf(q->c->pool, "%x", (unsigned)sum);
}

/* Stores the page's offset in the ring, the tables that it waits for, and its result. */
static apr_status_t keep_page(const query_t *q, const char *digest)
{
    sql_call_t *c = q->c;
    const char *cursor = apr_pstrcat(c->pool, CURSOR_MARK, database_cursor_offset(&q->head, c->pool), ":",
                                     number_of_tables(q), ":", digest, NULL);

    return c->db->host->cursor_set(c->call, cursor) == APR_SUCCESS
               ? APR_SUCCESS
               : sql_fail(c, APR_EGENERAL, "the page's position cannot be kept");
}

static apr_status_t keep_positions(const query_t *q, const database_watching_t *where)
{
    apr_status_t rv = keep_page(q, q->digest);

    return rv == APR_SUCCESS && q->subscription != NULL ? keep_user(q, where) : rv;
}

/* A page without a result begins with the one that the user had at the last visit. */
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

/* Within a snapshot. @param has, had  the current result, and that of the page, as they are stored; NULL: it is not
 * stored */
static apr_status_t see(query_t *q, const char **had, const char **has, int *stale, database_watching_t *where)
{
    sql_call_t *c = q->c;
    apr_status_t rv = fetch(q);

    if (rv == APR_SUCCESS && q->subscription != NULL) {
        rv = q->before == NULL ? recall_user(q) : APR_SUCCESS;
        rv = rv == APR_SUCCESS ? database_watching_find(c, where) : rv;
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
    database_watching_t where = {0};
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

/* Reads the page's result and its offset in the ring from its cursor. */
static void recall_page(query_t *q)
{
    const char *cursor = q->c->db->host->cursor_get(q->c->call);
    const char *tables = cursor != NULL && cursor[0] == CURSOR_MARK[0] ? strchr(cursor, ':') : NULL;
    const char *digest = tables != NULL ? strchr(tables + 1, ':') : NULL;

    if (cursor != NULL) {
        q->before = digest != NULL ? apr_pstrdup(q->c->pool, digest + 1) : "";
    }
    if (digest != NULL) {
        database_cursor_read_offset(&q->cursor, cursor + 1);
        q->waited_for = apr_pstrmemdup(q->c->pool, tables + 1, (apr_size_t)(digest - tables) - 1);
    }
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

/* Creates an interest for each table, before anything is read.
 * @param needed  one of them was notified, or the page waited for other tables, or the tables are not known */
static apr_status_t create_interests(sql_call_t *c, const query_t *q, int *needed)
{
    apr_status_t rv = APR_SUCCESS;

    *needed = q->tables == NULL || q->waited_for == NULL || strcmp(q->waited_for, number_of_tables(q)) != 0;
    for (int i = 0; q->tables != NULL && i < q->tables->nelts && rv == APR_SUCCESS; i++) {
        int moved = 0;

        rv = database_interest_create(c, database_interest_table(APR_ARRAY_IDX(q->tables, i, const char *), c->pool),
                                      &moved);
        *needed |= moved;
    }
    return rv;
}

/* If a table is not watched, only writes by this feed would be noticed. */
static apr_status_t check_watched(sql_call_t *c, const char *table)
{
    int is_watched = 0;
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS) {
        rv = log_dialect_is_watched(c, &is_watched);
    }
    return rv != APR_SUCCESS || is_watched ? rv : database_change_read_not_watched(c, table);
}

/* Checks the tables that the query reads. */
static apr_status_t reach(sql_call_t *c, const query_t *q)
{
    apr_status_t rv = APR_SUCCESS;
    int has = 1;

    for (int i = 0; i < q->tables->nelts && rv == APR_SUCCESS && has; i++) {
        const char *table = APR_ARRAY_IDX(q->tables, i, const char *);

        rv = sql_catalogue_has(c, table, &has);
        if (rv == APR_SUCCESS && !has) {
            rv = sql_fail(c, APR_EINVAL, "there is no table \"%s\"", table);
        }
    }
    if (rv == APR_SUCCESS) {
        rv = sql_catalogue_has(c, "vault_results", &has);
    }
    if (rv == APR_SUCCESS && !has) {
        rv = sql_fail(c, APR_EINVAL, "its tables are not watched: vaultctl watch %s",
                      APR_ARRAY_IDX(q->tables, 0, const char *));
    }
    for (int i = 0; i < q->tables->nelts && rv == APR_SUCCESS; i++) {
        rv = check_watched(c, APR_ARRAY_IDX(q->tables, i, const char *));
    }
    return rv;
}

/* Takes a connection, and finds the tables of the query. If these are others than before, the page waits for them from
 * here on, and reads the ring from here on. */
static apr_status_t find_tables(sql_call_t *c, query_t *q)
{
    const apr_array_header_t *tables = NULL;
    int needed;
    apr_status_t rv = sql_conn_take(c);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    begin_about(q);
    log_ring_head(log_shared_ring((const change_log_t *)c->db), &q->head);
    rv = database_query_check(c, q->query);
    if (rv == APR_SUCCESS) {
        rv = database_reads_find(c, q->name, q->query, q->head.boot, &q->reads, &tables);
    }
    if (rv == APR_SUCCESS) {
        q->tables = tables;
        rv = create_interests(c, q, &needed);
        log_ring_head(log_shared_ring((const change_log_t *)c->db), &q->head);
    }
    return rv;
}

/* @return 1: no change since could have changed the page's result */
static int is_same(sql_call_t *c, const query_t *q)
{
    const change_log_t *feed = (const change_log_t *)c->db;
    log_why_t why = LOG_WHY_FIRST;

    if (q->before != NULL && q->waited_for != NULL && strcmp(q->waited_for, number_of_tables(q)) == 0 &&
        database_query_is_same(c, q->query, &q->reads, &q->cursor, &q->head, &why)) {
        log_shared_count_ring(feed);
        return 1;
    }
    log_shared_count_sql(feed, why);
    return 0;
}

static apr_status_t answer_query(sql_call_t *c, query_t *q, json_t **rows)
{
    apr_status_t rv = find_tables(c, q);

    if (rv == APR_SUCCESS && is_same(c, q)) {
        return keep_page(q, q->before);
    }
    rv = rv == APR_SUCCESS ? reach(c, q) : rv;
    c->about.kind = NULL;
    return rv == APR_SUCCESS ? see_and_answer(q, rows) : rv;
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
        recall_page(&q);
        q.tables = database_reads_known(c, query, q.query);
        rv = create_interests(c, &q, &needed);
    }
    if (rv != APR_SUCCESS || !needed) {
        return rv;
    }
    rv = answer_query(c, &q, rows);
    json_decref(q.rows);
    return rv;
}
