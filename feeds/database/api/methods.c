/* SPDX-License-Identifier: Apache-2.0 */
/* The methods all, filter and get_new_instances, and the table of all methods. */
#include "database/api/methods.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "database/api/write.h"
#include "database/live/filter_changes.h"
#include "database/live/instances.h"
#include "database/live/objects.h"
#include "database/model/tables.h"
#include "database/query/queries.h"
#include "database/rows/arguments.h"
#include "sql/argument.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"
#include "sql/statement.h"

#define INTEREST_PREFIX "DB-"

/* `first`: the required argument; if it is the table, it is one that a call may name. */
typedef apr_status_t (*method_body_fn)(sql_call_t *c, const char *first, json_t **rows);

/* Runs any method: checks the arguments, runs the body, gives the connection back. */
static apr_status_t run(void *self, vault_call_t *call, const json_t *args, json_t **rows, const char *const *allowed,
                        method_body_fn body)
{
    database_t *feed = self;
    sql_call_t c;
    const char *first;
    apr_status_t rv = sql_call_begin(&c, &feed->log.sql, call, args);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    *rows = NULL;
    rv = database_arguments_check(&c, allowed, &first);
    if (rv == APR_SUCCESS && strcmp(allowed[0], "table") == 0) {
        rv = database_table_check(&c, first);
    }
    if (rv == APR_SUCCESS) {
        rv = body(&c, first, rows);
    }
    if (rv != APR_SUCCESS) {
        json_decref(*rows);
        *rows = NULL;
    }
    sql_call_end(&c);
    return rv;
}

/* Takes a connection and finds the table. */
static apr_status_t reach(sql_call_t *c, const char *table)
{
    apr_status_t rv = sql_conn_take(c);

    return rv != APR_SUCCESS ? rv : sql_catalogue_find(c, table);
}

/* ------------------------------------------------------------ all, filter */

static apr_status_t select_rows(sql_call_t *c, const char *table, int filtered, json_t **rows)
{
    sql_statement_t *sql;
    database_window_t window;
    apr_status_t rv = database_argument_window(c, &window);

    if (rv == APR_SUCCESS) {
        rv = reach(c, table);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql = sql_statement_make(c);
    sql_select_table(sql, c->table);
    if (filtered) {
        rv = database_argument_where(c, sql);
    }
    if (rv == APR_SUCCESS) {
        rv = database_argument_order(c, sql);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    database_append_window(c, sql, &window);
    return sql_fetch_table(c, sql, c->db->rows, 0, rows);
}

static apr_status_t all_body(sql_call_t *c, const char *table, json_t **rows)
{
    return select_rows(c, table, 0, rows);
}

static apr_status_t filter_body(sql_call_t *c, const char *table, json_t **rows)
{
    return select_rows(c, table, 1, rows);
}

/* ------------------------------------------------------------ get_new_instances */

/* The key in a cursor; -1: there is none, or it is not a cursor of this feed. */
static apr_int64_t cursor_key(sql_call_t *c)
{
    const char *cursor = c->db->host->cursor_get(c->call);
    apr_int64_t key;
    char *end;

    if (cursor == NULL || !apr_isdigit(cursor[0])) {
        return -1;
    }
    errno = 0;
    key = apr_strtoi64(cursor, &end, 10);
    return errno == 0 && *end == '\0' ? key : -1;
}

static apr_status_t set_cursor(sql_call_t *c, apr_int64_t key)
{
    apr_status_t rv = c->db->host->cursor_set(c->call, apr_psprintf(c->pool, "%" APR_INT64_T_FMT, key));

    return rv == APR_SUCCESS ? rv : sql_fail(c, APR_EGENERAL, "the page's position cannot be kept");
}

/* Selects rows in the order of their keys: the newest `most` if `after` is -1, otherwise the oldest `most` beyond it.
 * `more`: there are more rows beyond these. */
static apr_status_t fetch_new(sql_call_t *c, apr_int64_t after, int most, json_t **rows, int *more)
{
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    sql_select_table(sql, c->table);
    if (after >= 0) {
        sql_raw(sql, " WHERE t.");
        sql_name(sql, c->table->key);
        sql_raw(sql, ">");
        sql_integer(sql, after);
    }
    sql_order(sql, c->table->key, after < 0);
    sql_limit(sql, after < 0 ? most : most + 1);
    rv = sql_fetch_table(c, sql, most + 1, after < 0, rows);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    *more = json_array_size(*rows) > (size_t)most;
    if (*more) {
        json_array_remove(*rows, (size_t)most);
    }
    return APR_SUCCESS;
}

static apr_int64_t last_key(const sql_call_t *c, const json_t *rows)
{
    return json_integer_value(json_object_get(json_array_get(rows, json_array_size(rows) - 1), c->table->key));
}

/* If a page is beyond every key that was ever assigned, its position belongs to a table that has been replaced. */
static apr_status_t is_from_another_life(sql_call_t *c, apr_int64_t after, int *another)
{
    apr_int64_t largest;
    apr_status_t rv;

    *another = 0;
    if (after <= 0) {
        return APR_SUCCESS;
    }
    rv = c->db->driver->largest_key(c, &largest);
    *another = largest < after;
    return rv;
}

static apr_status_t read_new(sql_call_t *c, const char *interest, int limit, json_t **rows)
{
    apr_int64_t after = cursor_key(c);
    int first = after < 0;
    int more = 0;
    int another = 0;
    apr_status_t rv = fetch_new(c, after, first && limit != 0 ? limit : c->db->rows, rows, &more);

    if (rv == APR_SUCCESS && json_array_size(*rows) == 0) {
        rv = is_from_another_life(c, after, &another);
    }
    if (rv == APR_SUCCESS && another) {
        json_decref(*rows);
        *rows = NULL;
        first = 1;
        rv = fetch_new(c, -1, limit != 0 ? limit : c->db->rows, rows, &more);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (json_array_size(*rows) == 0) {
        json_decref(*rows);
        *rows = NULL;
        return first ? set_cursor(c, 0) : APR_SUCCESS;
    }
    rv = set_cursor(c, last_key(c, *rows));
    if (more) {
        /* Notify of the rows that were left out: the new stamp is later than that of this run, so the page reads
         * again. */
        (void)sql_notify_local(c->db, interest);
    }
    return rv;
}

/* A caller must ask for this mode, because it does not find rows that are committed after one with a larger key. */
static apr_status_t argument_cursor(sql_call_t *c, int *largest_key)
{
    const json_t *value = json_object_get(c->args, "cursor");

    *largest_key = value != NULL;
    if (value == NULL || (json_is_string(value) && strcmp(json_string_value(value), "largest-key") == 0)) {
        return APR_SUCCESS;
    }
    return sql_fail(c, APR_EINVAL, "argument \"cursor\" takes \"largest-key\" only");
}

static apr_status_t check_key(sql_call_t *c, int largest_key)
{
    const char *key = c->table->key;

    if (key != NULL &&
        (c->table->key_is_serial || (largest_key && sql_table_column_named(c->table, key)->kind == SQL_INTEGER))) {
        return APR_SUCCESS;
    }
    return sql_fail(c, APR_EINVAL, "new rows of table \"%s\" cannot be distinguished from old ones: %s",
                    sql_shown(c, c->table->name), c->table->not_serial);
}

static apr_status_t new_unwatched(sql_call_t *c, const char *interest, int limit, int largest_key, json_t **rows)
{
    apr_status_t rv = check_key(c, largest_key);

    return rv == APR_SUCCESS ? read_new(c, interest, limit, rows) : rv;
}

static apr_status_t get_new_instances_body(sql_call_t *c, const char *table, json_t **rows)
{
    const vault_host_t *host = c->db->host;
    const char *interest = apr_pstrcat(c->pool, INTEREST_PREFIX, table, NULL);
    const database_wanted_t wanted = {.op = "I", .most = c->db->rows, .cut = 1};
    database_change_read_t seen;
    int limit;
    int largest_key;
    apr_status_t rv = sql_argument_number(c, "limit", 1, c->db->rows, &limit);

    if (rv == APR_SUCCESS) {
        rv = argument_cursor(c, &largest_key);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (strlen(interest) > VAULT_INTEREST_MAX) {
        return sql_fail(c, APR_EINVAL, "argument \"table\": the name is too long for an interest");
    }
    /* This is done before the data is read: the page will be notified of what is committed from here on. A name that is
     * not a table does no harm, since a run that fails creates no interest. */
    if (!host->create_interest(c->call, interest)) {
        return APR_SUCCESS;
    }
    rv = database_change_read_begin(c, &seen, table, &wanted);
    if (rv == APR_SUCCESS) {
        rv = seen.watch_id != NULL       ? database_instances_new(c, &seen, limit, interest, rows)
             : seen.subscription != NULL ? database_change_read_not_watched(c, table)
                                         : new_unwatched(c, interest, limit, largest_key, rows);
        rv = database_change_read_end(c, &seen, rv);
    }
    return rv;
}

/* ------------------------------------------------------------ the table */

/* Name, flags, body, arguments. */
#define METHODS(METHOD)                                                                                                \
    METHOD(all, 0, all_body, "table", "order_by", "limit", "offset")                                                   \
    METHOD(filter, 0, filter_body, "table", "where", "order_by", "limit", "offset")                                    \
    METHOD(save, VAULT_METHOD_WRITES, database_save_body, "table", "values")                                           \
    METHOD(update, VAULT_METHOD_WRITES, database_update_body, "table", "key", "where", "values")                       \
    METHOD(delete, VAULT_METHOD_WRITES, database_delete_body, "table", "key", "where")                                 \
    METHOD(get_new_instances, 0, get_new_instances_body, "table", "limit", "cursor", "persistent")                     \
    METHOD(get_modified_instance, 0, database_modified_instance_body, "table", "key", "persistent")                    \
    METHOD(get_attribute_changes, 0, database_attribute_changes_body, "table", "key", "attribute", "limit",            \
           "persistent")                                                                                               \
    METHOD(get_filter_changes, 0, database_filter_changes_body, "table", "where", "order_by", "limit", "offset")       \
    METHOD(get_property_changes, 0, database_property_changes_body, "entity", "id", "property", "persistent")          \
    METHOD(get_collection_changes, 0, database_collection_changes_body, "entity", "id", "collection", "persistent")    \
    METHOD(get_query_changes, 0, database_query_changes_body, "query", "parameters", "persistent")

#define CALLBACK(name, flags, body, ...)                                                                               \
    static apr_status_t name##_cb(void *self, vault_call_t *call, const json_t *args, json_t **rows)                   \
    {                                                                                                                  \
        static const char *const allowed[] = {__VA_ARGS__, NULL};                                                      \
                                                                                                                       \
        return run(self, call, args, rows, allowed, body);                                                             \
    }
METHODS(CALLBACK)

#define ROW(name, flags, body, ...) {#name, flags, name##_cb},
const vault_feed_method_t database_methods[] = {METHODS(ROW){NULL, 0, NULL}};
