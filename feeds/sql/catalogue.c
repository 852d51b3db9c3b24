/* SPDX-License-Identifier: Apache-2.0 */
/* Looks up tables in the catalogue of the database, and caches them until the schema changes. */
#include "sql/catalogue.h"

#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"
#include "sql/connection.h"
#include "sql/driver.h"

/* How long a cached table is used where the database does not report changes of the schema. */
#define LIFE apr_time_from_sec(1)

const sql_column_t *sql_table_column(const sql_table_t *table, int i)
{
    return &APR_ARRAY_IDX(table->columns, i, sql_column_t);
}

const sql_column_t *sql_table_column_named(const sql_table_t *table, const char *name)
{
    for (int i = 0; i < table->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column(table, i);

        if (strcmp(column->name, name) == 0) {
            return column;
        }
    }
    return NULL;
}

int sql_list_has(const apr_array_header_t *names, const char *name)
{
    for (int i = 0; i < names->nelts; i++) {
        if (strcmp(APR_ARRAY_IDX(names, i, const char *), name) == 0) {
            return 1;
        }
    }
    return 0;
}

const char *sql_table_key_column(const sql_table_t *table, int place)
{
    return APR_ARRAY_IDX(table->keys, place, const char *);
}

void sql_table_set_key(sql_table_t *table, const char *column, int place)
{
    while (table->keys->nelts <= place) {
        APR_ARRAY_PUSH(table->keys, const char *) = NULL;
    }
    APR_ARRAY_IDX(table->keys, place, const char *) = column;
    table->key = table->keys->nelts == 1 ? column : NULL;
}

static apr_status_t ask_generation(sql_call_t *c, const char **generation)
{
    const sql_driver_t *driver = c->db->driver;
    apr_int64_t number;

    if (driver->read_number != NULL && driver->read_number(c, driver->generation_number, &number)) {
        *generation = apr_psprintf(c->pool, "%" APR_INT64_T_FMT, number);
        return APR_SUCCESS;
    }
    *generation = NULL;
    return driver->generation != NULL ? sql_conn_cell(c, driver->generation, generation) : APR_SUCCESS;
}

static int is_young(apr_time_t read_at)
{
    apr_time_t age = vault_now() - read_at;

    return age >= 0 && age < LIFE;
}

static int is_old(const sql_conn_t *conn, const char *generation)
{
    if (conn->tables == NULL) {
        return 1;
    }
    if (conn->db->driver->define != NULL && !conn->has_worn) {
        return 0; /* each table is checked by itself, unless there is memory to be freed */
    }
    if (generation != NULL && conn->generation != NULL) {
        return strcmp(conn->generation, generation) != 0;
    }
    return !is_young(conn->read_at);
}

/* Drops what may be out of date, once for each call: the call relies on what it has found since. */
static apr_status_t refresh(sql_call_t *c)
{
    sql_conn_t *conn = c->conn;
    const char *generation;
    apr_status_t rv;

    if (c->catalogue_is_fresh && conn->tables != NULL) {
        return APR_SUCCESS;
    }
    rv = ask_generation(c, &generation);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    conn->asked++;
    if (is_old(conn, generation)) {
        apr_pool_clear(conn->pool);
        conn->tables = apr_hash_make(conn->pool);
        conn->generation = generation != NULL ? apr_pstrdup(conn->pool, generation) : NULL;
        conn->read_at = vault_now();
        conn->asked_first = conn->asked;
        conn->has_worn = 0;
    }
    c->catalogue_is_fresh = 1;
    return APR_SUCCESS;
}

void sql_catalogue_assume(sql_call_t *c, int compares)
{
    const sql_driver_t *driver = c->db->driver;
    int notices = driver->generation_number != NULL || (compares && driver->shapes);

    c->assumes = notices && c->conn->tables != NULL && !c->catalogue_is_fresh;
}

apr_status_t sql_catalogue_check(sql_call_t *c)
{
    apr_uint64_t first = c->conn->asked_first;
    apr_status_t rv = refresh(c);

    return rv == APR_SUCCESS && c->conn->asked_first != first ? SQL_STALE : rv;
}

apr_status_t sql_catalogue_assure(sql_call_t *c, apr_status_t rv)
{
    int assumed = c->assumes;

    c->assumes = 0;
    if (assumed && rv == APR_SUCCESS) {
        c->catalogue_is_fresh = 1;
    }
    else if (assumed && rv != SQL_STALE && !c->conn->broken && sql_catalogue_check(c) == SQL_STALE) {
        return SQL_STALE;
    }
    return rv;
}

/* A name that is not UTF-8 cannot be in JSON. */
static int is_utf8(const char *name)
{
    json_t *string = json_string(name);

    json_decref(string);
    return string != NULL;
}

int sql_catalogue_is_safe(const sql_call_t *c, const char *name)
{
    return c->db->driver->name_is_safe == NULL || c->db->driver->name_is_safe(name);
}

static apr_status_t check_names(sql_call_t *c, sql_table_t *table)
{
    if (table->is_checked) {
        return APR_SUCCESS;
    }
    for (int i = 0; i < table->columns->nelts; i++) {
        const char *name = sql_table_column(table, i)->name;

        if (!sql_catalogue_is_safe(c, name) || !is_utf8(name)) {
            return sql_fail(c, APR_EGENERAL,
                            "table \"%s\" cannot be used: libdbi's %s cannot handle the name of its column \"%s\"",
                            sql_shown(c, table->name), c->db->driver->name, sql_shown(c, name));
        }
    }
    table->is_checked = 1;
    return APR_SUCCESS;
}

static apr_uint64_t sum_of(const sql_table_t *table)
{
    return vault_hash_text(vault_hash_text(0, table->name), table->definition);
}

static apr_uint64_t check_of(apr_uint64_t of, apr_time_t at)
{
    return vault_hash(of, &at, sizeof(at));
}

/* Has another connection seen the same definition less than LIFE ago? Otherwise each connection would ask once in a
 * LIFE. */
static int was_seen(sql_call_t *c, sql_table_t *table)
{
    const apr_uint64_t of = sum_of(table);

    for (int i = 0; i < SQL_SIGHTS; i++) {
        const apr_time_t at = c->db->sights[i].at;

        if (at != 0 && c->db->sights[i].check == check_of(of, at) && is_young(at)) {
            table->read_at = at;
            return 1;
        }
    }
    return 0;
}

/* Overwrites the entry of the same table, or the oldest one. If two threads take the same entry, one table is checked
 * once more. */
static void keep_sight(sql_call_t *c, const sql_table_t *table)
{
    const apr_uint64_t of = sum_of(table);
    sql_sight_t *sights = c->db->sights;
    int place = 0;

    for (int i = 0; i < SQL_SIGHTS; i++) {
        if (sights[i].check == check_of(of, sights[i].at)) {
            place = i;
            break;
        }
        place = sights[i].at < sights[place].at ? i : place;
    }
    sights[place].at = table->read_at;
    sights[place].check = check_of(of, table->read_at);
}

/* Is a cached table still the same in the database? */
static int is_still(sql_call_t *c, sql_table_t *table)
{
    const sql_driver_t *driver = c->db->driver;
    apr_time_t now = vault_now();
    const char *definition;

    if (driver->define == NULL || is_young(table->read_at)) {
        return 1;
    }
    if (table->definition != NULL && was_seen(c, table)) {
        return 1;
    }
    definition = table->definition != NULL ? driver->define(c, table->name) : NULL;
    if (definition == NULL || strcmp(definition, table->definition) != 0) {
        return 0;
    }
    table->read_at = now;
    keep_sight(c, table);
    return 1;
}

static apr_status_t load(sql_call_t *c, const char *name, sql_table_t **table)
{
    const sql_driver_t *driver = c->db->driver;
    apr_pool_t *pool = c->conn->pool;
    /* This is read before the table: if the table changes in between, it is read again. */
    const char *definition = driver->define != NULL ? driver->define(c, name) : NULL;
    apr_status_t rv = driver->load_table(c, name, table, pool);

    if (rv == APR_SUCCESS && *table != NULL) {
        (*table)->note = apr_pcalloc(pool, sizeof(*(*table)->note));
        (*table)->definition = definition != NULL ? apr_pstrdup(pool, definition) : NULL;
        (*table)->read_at = vault_now();
        apr_hash_set(c->conn->tables, (*table)->name, APR_HASH_KEY_STRING, *table);
    }
    return rv;
}

/* NULL: there is no table with exactly this name. */
static apr_status_t look_up(sql_call_t *c, const char *name, sql_table_t **table)
{
    sql_conn_t *conn = c->conn;
    apr_uint64_t first = conn->asked_first;
    apr_status_t rv;

    *table = c->assumes && conn->tables != NULL ? apr_hash_get(conn->tables, name, APR_HASH_KEY_STRING) : NULL;
    if (*table != NULL) {
        return APR_SUCCESS;
    }
    rv = refresh(c);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (c->assumes && conn->asked_first != first) {
        return SQL_STALE; /* a table that was cached no longer exists */
    }
    *table = apr_hash_get(conn->tables, name, APR_HASH_KEY_STRING);
    if (*table != NULL && !is_still(c, *table)) {
        apr_hash_set(conn->tables, name, APR_HASH_KEY_STRING, NULL);
        conn->has_worn = 1;
        *table = NULL;
    }
    return *table == NULL && sql_catalogue_is_safe(c, name) ? load(c, name, table) : rv;
}

apr_status_t sql_catalogue_find(sql_call_t *c, const char *name)
{
    sql_table_t *table = NULL;
    apr_status_t rv = look_up(c, name, &table);

    if (rv == APR_SUCCESS && table == NULL) {
        return sql_fail(c, APR_EINVAL, "there is no table \"%s\"", sql_shown(c, name));
    }
    if (rv == APR_SUCCESS) {
        rv = check_names(c, table);
    }
    if (rv == APR_SUCCESS) {
        c->table = table;
    }
    return rv;
}

apr_status_t sql_catalogue_has(sql_call_t *c, const char *name, int *has)
{
    sql_table_t *table = NULL;
    apr_status_t rv = look_up(c, name, &table);

    *has = table != NULL;
    return rv;
}

int sql_catalogue_knows(const sql_call_t *c, const char *name)
{
    return c->conn->tables != NULL && apr_hash_get(c->conn->tables, name, APR_HASH_KEY_STRING) != NULL;
}
