/* SPDX-License-Identifier: Apache-2.0 */
/* Collections by a link table: see links.h. */
#include "database/live/links.h"

#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

#include "database/rows/select.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/statement.h"

apr_status_t database_links_check(sql_call_t *c, const database_links_t *links)
{
    const char *missing = database_key_missing(links->owner->columns, links->table);

    missing = missing != NULL ? missing : database_key_missing(links->element, links->table);
    if (missing != NULL) {
        return sql_fail(c, APR_EINVAL, "table \"%s\" has no column \"%s\"", sql_shown(c, links->table->name), missing);
    }
    if (links->element->nelts == links->elements->keys->nelts) {
        return APR_SUCCESS;
    }
    return sql_fail(c, APR_EINVAL, "\"element\" names %d columns, and the key of table \"%s\" has %d",
                    links->element->nelts, sql_shown(c, links->elements->name), links->elements->keys->nelts);
}

/* ------------------------------------------------------------ all */

static void append_columns(sql_statement_t *sql, const apr_array_header_t *columns)
{
    for (int i = 0; i < columns->nelts; i++) {
        sql_add(sql, i == 0 ? "t.%n" : ",t.%n", database_key_column(columns, i));
    }
}

/* Selects the links of the object AS t, from c->table, which is the link table. */
static apr_status_t append_links(sql_call_t *c, sql_statement_t *sql, const database_links_t *links)
{
    sql_raw(sql, " WHERE ");
    return database_append_equals(c, sql, links->owner);
}

/* Compares the key of the object in a link with the one that was asked for. If the database treats them as equal but
 * writes another text, the interest has that text in its name. */
static apr_status_t compare_spelling(sql_call_t *c, const database_links_t *links, const char **odd)
{
    sql_statement_t *sql = sql_statement_make(c);
    json_t *rows = NULL;
    const char *written;
    apr_status_t rv;

    if (!database_has_spellings(c, links->owner)) {
        return APR_SUCCESS;
    }
    sql_select_table(sql, links->table);
    rv = append_links(c, sql, links);
    sql_limit(sql, 1);
    rv = rv == APR_SUCCESS ? database_select(c, sql, &rows) : rv;
    written = database_key_of(links->owner->columns, json_array_get(rows, 0), c->pool);
    if (written != NULL && strcmp(written, links->owner->text) != 0) {
        *odd = written;
    }
    json_decref(rows);
    return rv;
}

apr_status_t database_links_all(sql_call_t *c, const database_links_t *links, int most, json_t **rows, const char **odd)
{
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    c->table = links->table;
    rv = compare_spelling(c, links, odd);
    sql_select_table(sql, links->elements);
    sql_raw(sql, " WHERE (");
    append_columns(sql, links->elements->keys);
    sql_add(sql, ") IN (%r ", c->db->driver->select);
    append_columns(sql, links->element);
    sql_add(sql, " FROM %t AS t", links->table->name);
    rv = rv == APR_SUCCESS ? append_links(c, sql, links) : rv;
    sql_raw(sql, ")");
    sql_order_by_key(sql, links->elements, 0);
    sql_limit(sql, most);
    c->table = links->elements;
    return rv == APR_SUCCESS ? database_select(c, sql, rows) : rv;
}

/* ------------------------------------------------------------ what changed */

/* An element that may have become a member, left the collection, or changed. */
typedef struct mark_t {
    const char *key;
    json_t *values;  /* the values of the key; fold_t::held owns the reference */
    int came, went;  /* links that were inserted and deleted between two reads */
    int links;       /* number of links now */
    int has_changed; /* its row has changed from `old` to `new` */
    const json_t *old, *new;
} mark_t;

typedef struct fold_t {
    sql_call_t *c;
    const database_links_t *links;
    apr_array_header_t *marks; /* of mark_t *, in the order in which they first changed */
    apr_hash_t *by_key;
    json_t *held; /* a list that owns the references of marks */
} fold_t;

/* @return NULL: one of the columns is null, or there is no row */
static mark_t *mark_of(fold_t *fold, const apr_array_header_t *columns, const json_t *row)
{
    json_t *values = row != NULL ? database_key_values(columns, row) : NULL;
    const char *key = values != NULL ? database_key_join(values, fold->c->pool) : NULL;
    mark_t *mark = key != NULL ? apr_hash_get(fold->by_key, key, APR_HASH_KEY_STRING) : NULL;

    if (key != NULL && mark == NULL) {
        mark = apr_pcalloc(fold->c->pool, sizeof(*mark));
        mark->key = key;
        mark->values = values;
        json_array_append(fold->held, values);
        apr_hash_set(fold->by_key, key, APR_HASH_KEY_STRING, mark);
        APR_ARRAY_PUSH(fold->marks, mark_t *) = mark;
    }
    json_decref(values);
    return mark;
}

static void mark_links(fold_t *fold, const json_t *changes)
{
    const apr_array_header_t *folded = database_fold_members(changes, fold->links->owner, fold->c->pool);

    for (int i = 0; i < folded->nelts; i++) {
        const database_fold_t *row = &APR_ARRAY_IDX(folded, i, database_fold_t);
        mark_t *old = mark_of(fold, fold->links->element, row->old);
        mark_t *new = mark_of(fold, fold->links->element, row->new);

        if (old != NULL) {
            old->went++;
        }
        if (new != NULL) {
            new->came++;
        }
    }
}

static void mark_elements(fold_t *fold, const json_t *changes)
{
    const apr_array_header_t *folded = database_fold(changes, fold->c->pool);

    for (int i = 0; i < folded->nelts; i++) {
        const database_fold_t *row = &APR_ARRAY_IDX(folded, i, database_fold_t);
        mark_t *mark = mark_of(fold, fold->links->elements->keys, row->new != NULL ? row->new : row->old);

        if (mark != NULL) {
            mark->has_changed = 1;
            mark->old = row->old;
            mark->new = row->new;
        }
    }
}

/* The keys of the marks that `is_wanted` accepts. */
static json_t *keys_of(const fold_t *fold, int (*is_wanted)(const mark_t *mark))
{
    json_t *keys = json_array();

    for (int i = 0; i < fold->marks->nelts; i++) {
        const mark_t *mark = APR_ARRAY_IDX(fold->marks, i, const mark_t *);

        if (is_wanted(mark)) {
            json_array_append(keys, mark->values);
        }
    }
    return keys;
}

static int any(const mark_t *mark)
{
    return 1;
}

/* Is the element in the collection now or before, and is its row not in the changes? */
static int is_unknown(const mark_t *mark)
{
    return !mark->has_changed && (mark->links > 0 || mark->went > 0);
}

static mark_t *mark_at(const fold_t *fold, const apr_array_header_t *columns, const json_t *row)
{
    const char *key = database_key_of(columns, row, fold->c->pool);

    return key != NULL ? apr_hash_get(fold->by_key, key, APR_HASH_KEY_STRING) : NULL;
}

/* Counts the links that each of them has now. */
static apr_status_t count_links(fold_t *fold)
{
    sql_call_t *c = fold->c;
    json_t *keys = keys_of(fold, any);
    apr_status_t rv = APR_SUCCESS;

    c->table = fold->links->table;
    for (size_t i = 0; i < json_array_size(keys) && rv == APR_SUCCESS;) {
        sql_statement_t *sql = sql_statement_make(c);
        json_t *rows = NULL;

        sql_select_table(sql, c->table);
        rv = append_links(c, sql, fold->links);
        sql_raw(sql, " AND (");
        i += database_append_keys(c, sql, fold->links->element, keys, i);
        sql_raw(sql, ")");
        rv = rv == APR_SUCCESS ? database_select(c, sql, &rows) : rv;
        for (size_t k = 0; k < json_array_size(rows); k++) {
            mark_t *mark = mark_at(fold, fold->links->element, json_array_get(rows, k));

            if (mark != NULL) {
                mark->links++;
            }
        }
        json_decref(rows);
    }
    json_decref(keys);
    return rv;
}

/* Reads the rows that are not in the changes, and so have not changed. */
static apr_status_t read_rows(fold_t *fold)
{
    sql_call_t *c = fold->c;
    json_t *keys = keys_of(fold, is_unknown);
    json_t *rows = NULL;
    apr_status_t rv;

    c->table = fold->links->elements;
    rv = database_select_keys(c, keys, "", &rows);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        mark_t *mark = mark_at(fold, c->table->keys, row);

        if (mark != NULL) {
            mark->old = mark->new = row;
        }
    }
    json_array_append(fold->held, rows);
    json_decref(rows);
    json_decref(keys);
    return rv;
}

static void compare(const fold_t *fold, apr_array_header_t *folded)
{
    for (int i = 0; i < fold->marks->nelts; i++) {
        const mark_t *mark = APR_ARRAY_IDX(fold->marks, i, const mark_t *);
        const database_fold_t row = {
            .key = mark->key,
            .old = mark->links - mark->came + mark->went > 0 ? mark->old : NULL,
            .new = mark->links > 0 ? mark->new : NULL,
        };

        if (row.old != NULL || row.new != NULL) {
            APR_ARRAY_PUSH(folded, database_fold_t) = row;
        }
    }
}

apr_status_t database_links_fold(sql_call_t *c, const database_links_t *links, const json_t *link_changes,
                                 const json_t *element_changes, apr_array_header_t **folded, json_t **held)
{
    fold_t fold = {
        .c = c,
        .links = links,
        .marks = apr_array_make(c->pool, 16, sizeof(mark_t *)),
        .by_key = apr_hash_make(c->pool),
        .held = json_array(),
    };
    apr_status_t rv = APR_SUCCESS;

    mark_links(&fold, link_changes);
    mark_elements(&fold, element_changes);
    if (fold.marks->nelts > 0) {
        rv = count_links(&fold);
        rv = rv == APR_SUCCESS ? read_rows(&fold) : rv;
    }
    *folded = apr_array_make(c->pool, 16, sizeof(database_fold_t));
    compare(&fold, *folded);
    *held = fold.held;
    return rv;
}
