/* SPDX-License-Identifier: Apache-2.0 */
/* Finds changes that cannot concern a query: see query_ring.h. */
#include "database/query/query_ring.h"

#include <string.h>
#include <strings.h>

#include "apr_strings.h"

#include "database/query/query_conditions.h"
#include "database/query/query_sql.h"
#include "database/rows/fold.h"
#include "log/image.h"
#include "sql/catalogue.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* A value that a row of a table must have to concern the query. */
typedef struct must_t {
    const sql_column_t *column;
    const char *text; /* without trailing blanks, if the collation ignores them */
} must_t;

/* A table of the query, with one of its aliases. */
typedef struct source_t {
    const char *alias;
    const sql_table_t *table;
    apr_uint64_t shape;
    apr_array_header_t *musts; /* of must_t; empty: any row concerns the query */
} source_t;

/* ------------------------------------------------------------ tables */

static int is_source(const apr_array_header_t *sources, const char *table)
{
    for (int i = 0; i < sources->nelts; i++) {
        if (strcmp(APR_ARRAY_IDX(sources, i, source_t).table->name, table) == 0) {
            return 1;
        }
    }
    return 0;
}

/* Finds the table as it is now. It may have been dropped meanwhile. */
static int find_table(sql_call_t *c, const char *name)
{
    int has = 0;

    return sql_catalogue_has(c, name, &has) == APR_SUCCESS && has && sql_catalogue_find(c, name) == APR_SUCCESS &&
           !c->table->is_view;
}

/* The tables in FROM. If the query also reads others, by a view or a policy, the conditions do not cover these: then
 * NULL. */
static apr_array_header_t *sources_of(sql_call_t *c, const database_reads_t *reads,
                                      const database_conditions_t *conditions)
{
    apr_array_header_t *sources = apr_array_make(c->pool, 4, sizeof(source_t));

    for (int i = 0; i < conditions->sources->nelts; i++) {
        const database_source_t *source = &APR_ARRAY_IDX(conditions->sources, i, database_source_t);

        if (!sql_list_has(reads->tables, source->table)) {
            continue; /* no row of it can change the result */
        }
        if (!find_table(c, source->table)) {
            return NULL;
        }
        APR_ARRAY_PUSH(sources, source_t) = (source_t){
            .alias = source->alias,
            .table = c->table,
            .shape = log_dialect_shape(c, c->table),
            .musts = apr_array_make(c->pool, 2, sizeof(must_t)),
        };
    }
    for (int i = 0; i < reads->tables->nelts; i++) {
        if (!is_source(sources, APR_ARRAY_IDX(reads->tables, i, const char *))) {
            return NULL;
        }
    }
    return sources;
}

/* ------------------------------------------------------------ demands */

/* @param count  how many columns have this name, without regard to case */
static const sql_column_t *find_column(const sql_table_t *table, const char *name, int *count)
{
    const sql_column_t *found = NULL;

    for (int i = 0; i < table->columns->nelts; i++) {
        if (strcasecmp(sql_table_column(table, i)->name, name) == 0) {
            found = sql_table_column(table, i);
            *count += 1;
        }
    }
    return found;
}

/* The only table and column that the condition can refer to. NULL: there are several, or none. */
static source_t *find_source(const apr_array_header_t *sources, const database_demand_t *demand,
                             const sql_column_t **column)
{
    source_t *found = NULL;
    int count = 0, aliases = 0;

    for (int i = 0; i < sources->nelts; i++) {
        source_t *source = &APR_ARRAY_IDX(sources, i, source_t);
        int is_it = demand->alias == NULL || strcasecmp(source->alias, demand->alias) == 0;
        const sql_column_t *at = is_it ? find_column(source->table, demand->column, &count) : NULL;

        aliases += demand->alias != NULL && is_it;
        if (at != NULL) {
            found = source;
            *column = at;
        }
    }
    return count == 1 && aliases <= 1 ? found : NULL;
}

/* @param is_text  it is given as a text */
static const char *value_of(sql_call_t *c, const json_t *query, const database_demand_t *demand, int *is_text)
{
    const char *type, *text;
    json_t *value;

    *is_text = demand->kind == DATABASE_DEMAND_TEXT;
    if (demand->kind != DATABASE_DEMAND_PARAMETER) {
        return demand->value;
    }
    type = json_string_value(json_object_get(json_object_get(query, "parameters"), demand->value));
    value = type != NULL
                ? database_query_value(json_object_get(json_object_get(c->args, "parameters"), demand->value), type)
                : NULL;
    *is_text = json_is_string(value);
    text = json_is_string(value) || json_is_integer(value) ? sql_text_of(value, c->pool) : NULL;
    json_decref(value);
    return text;
}

/* Some collations of MariaDB ignore trailing blanks. */
static const char *trimmed(const sql_call_t *c, const char *text, apr_pool_t *pool)
{
    apr_size_t length = strlen(text);

    while (c->db->driver->pads && length > 0 && text[length - 1] == ' ') {
        length--;
    }
    return apr_pstrmemdup(pool, text, length);
}

/* Is this text the only one that is equal to the value, in the form of images? */
static int is_sure(const sql_column_t *column, const char *value, int is_text)
{
    return !column->generated && !column->reads_bytes &&
           (log_dialect_is_number(column, value) ||
            (is_text && column->kind == SQL_TEXT && column->spelling == SQL_SPELLING_EXACT));
}

static void add_demands(sql_call_t *c, const json_t *query, const apr_array_header_t *sources,
                        const database_conditions_t *conditions)
{
    for (int i = 0; i < conditions->demands->nelts; i++) {
        const database_demand_t *demand = &APR_ARRAY_IDX(conditions->demands, i, database_demand_t);
        const sql_column_t *column = NULL;
        source_t *source = find_source(sources, demand, &column);
        int is_text;
        const char *value = source != NULL ? value_of(c, query, demand, &is_text) : NULL;

        if (value != NULL && is_sure(column, value, is_text)) {
            APR_ARRAY_PUSH(source->musts, must_t) = (must_t){.column = column, .text = trimmed(c, value, c->pool)};
        }
    }
}

/* ------------------------------------------------------------ changes */

/* Reads the ring from the page's position to its head. */
typedef struct walk_t {
    sql_call_t *c;
    const apr_array_header_t *sources; /* of source_t */
    log_why_t why;
} walk_t;

/* @param image  NULL: there is no such row */
static int may_be_seen(const walk_t *walk, const source_t *source, const char *image, apr_pool_t *pool)
{
    json_t *row = image != NULL ? log_image_row(image) : NULL;
    int may = image != NULL;

    for (int i = 0; i < source->musts->nelts && may && row != NULL; i++) {
        const must_t *must = &APR_ARRAY_IDX(source->musts, i, must_t);
        const json_t *value = json_object_get(row, must->column->name);
        const char *text = sql_text_of(value, pool);

        may = value == NULL || (text != NULL && strcmp(trimmed(walk->c, text, pool), must->text) == 0);
    }
    json_decref(row);
    return may;
}

/* The entry of a table that is watched anew has no row. */
static int is_of_rows(const log_entry_t *entry)
{
    return strchr("IUD", entry->op[0]) != NULL && (entry->old != NULL || entry->new != NULL);
}

static int may_matter(walk_t *walk, const log_entry_t *entry, apr_pool_t *pool)
{
    for (int i = 0; i < walk->sources->nelts; i++) {
        const source_t *source = &APR_ARRAY_IDX(walk->sources, i, source_t);

        if (strcmp(source->table->name, entry->table) != 0) {
            continue;
        }
        if (entry->shape != source->shape || !is_of_rows(entry)) {
            walk->why = LOG_WHY_TOO_LARGE;
            return 1;
        }
        if (may_be_seen(walk, source, entry->old, pool) || may_be_seen(walk, source, entry->new, pool)) {
            walk->why = LOG_WHY_QUERY;
            return 1;
        }
    }
    return 0;
}

static int walk_through(walk_t *walk, apr_uint64_t offset, const log_head_t *head)
{
    const log_ring_t *ring = log_shared_ring((const change_log_t *)walk->c->db);
    apr_pool_t *pool;
    int is_same = 1;

    apr_pool_create(&pool, walk->c->pool);
    while (is_same && offset < head->end) {
        log_entry_t entry;

        apr_pool_clear(pool);
        walk->why = LOG_WHY_OVERWRITTEN;
        is_same = log_ring_read(ring, &offset, &entry, pool) && !may_matter(walk, &entry, pool);
    }
    apr_pool_destroy(pool);
    return is_same;
}

int database_query_is_same(sql_call_t *c, const json_t *query, const database_reads_t *reads,
                           const database_cursor_t *cursor, const log_head_t *head, log_why_t *why)
{
    const int is_pgsql = strcmp(c->db->driver->name, "pgsql") == 0,
              is_mysql = strcmp(c->db->driver->name, "mysql") == 0;
    walk_t walk = {.c = c};
    database_conditions_t conditions;
    apr_array_header_t *sources;

    *why = cursor->boot == 0 || head->boot == 0 ? LOG_WHY_NOT_IN_RING : LOG_WHY_BOOT;
    if (cursor->boot == 0 || cursor->boot != head->boot || cursor->offset > head->end) {
        return 0;
    }
    *why = LOG_WHY_QUERY;
    if (reads->unsure != NULL ||
        !database_conditions_read(&conditions, json_string_value(json_object_get(query, "sql")), is_mysql ? '`' : '"',
                                  is_pgsql, c->pool)) {
        return 0;
    }
    sources = sources_of(c, reads, &conditions);
    if (sources == NULL) {
        return 0;
    }
    add_demands(c, query, sources, &conditions);
    walk.sources = sources;
    if (walk_through(&walk, cursor->offset, head)) {
        return 1;
    }
    *why = walk.why;
    return 0;
}
