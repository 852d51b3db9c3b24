/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a call, checked against the catalogue. */
#include "database/rows/arguments.h"

#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

#include "database/rows/filter.h"
#include "database/rows/select.h"
#include "sql/argument.h"
#include "sql/catalogue.h"

/* The largest offset. */
#define OFFSET_MAX 1000000

apr_status_t database_argument_text(sql_call_t *c, const char *name, const char **text)
{
    const json_t *given = json_object_get(c->args, name);

    if (json_is_integer(given)) {
        *text = apr_psprintf(c->pool, "%" APR_INT64_T_FMT, (apr_int64_t)json_integer_value(given));
        return APR_SUCCESS;
    }
    if (!json_is_string(given) || json_string_length(given) == 0) {
        return sql_fail(c, APR_EINVAL, "argument \"%s\" is missing", name);
    }
    *text = json_string_value(given);
    if (strlen(*text) != json_string_length(given)) {
        return sql_fail(c, APR_EINVAL, "argument \"%s\" has a NUL in it", name);
    }
    return APR_SUCCESS;
}

apr_status_t database_arguments_check(sql_call_t *c, const char *const *allowed, const char **first)
{
    const json_t *given = json_object_get(c->args, allowed[0]);
    apr_status_t rv = sql_arguments_known(c, allowed);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (!json_is_string(given) || json_string_length(given) == 0) {
        return sql_fail(c, APR_EINVAL, "argument \"%s\" is missing: the name of %s %s", allowed[0],
                        allowed[0][0] == 'e' ? "an" : "a", allowed[0]);
    }
    return database_argument_text(c, allowed[0], first);
}

apr_status_t database_argument_no_column(sql_call_t *c, const char *argument, const char *name)
{
    return sql_fail(c, APR_EINVAL, "argument \"%s\": table \"%s\" has no column \"%s\"", argument,
                    sql_shown(c, c->table->name), sql_shown(c, name));
}

/* ------------------------------------------------------------ order_by, limit, offset */

/* Collects the columns of an order. The key makes the order of otherwise equal rows definite. */
typedef struct order_t {
    sql_call_t *c;
    sql_statement_t *sql;
    apr_hash_t *given; /* names of columns that were given */
} order_t;

static void append_order(order_t *order, const char *column, int descending)
{
    sql_add(order->sql, "%r%n%r", apr_hash_count(order->given) == 0 ? " ORDER BY t." : ",t.", column,
            descending ? " DESC" : " ASC");
    apr_hash_set(order->given, column, APR_HASH_KEY_STRING, column);
}

/* @param name  a column, or a column after a minus sign */
static apr_status_t order_by(order_t *order, const char *name)
{
    int descending = name[0] == '-';
    const sql_column_t *column = sql_table_column_named(order->c->table, name + descending);

    if (column == NULL) {
        return database_argument_no_column(order->c, "order_by", name + descending);
    }
    if (apr_hash_get(order->given, column->name, APR_HASH_KEY_STRING) != NULL) {
        return sql_fail(order->c, APR_EINVAL, "argument \"order_by\": \"%s\" is given twice",
                        sql_shown(order->c, column->name));
    }
    append_order(order, column->name, descending);
    return APR_SUCCESS;
}

json_t *database_argument_list(const json_t *value)
{
    const char *text = json_string_value(value);
    json_t *list;

    if (text == NULL) {
        return json_is_array(value) && json_array_size(value) > 0 ? json_incref((json_t *)(uintptr_t)value) : NULL;
    }
    if (text[0] == '\0' || strlen(text) != json_string_length(value)) {
        return NULL;
    }
    list = json_array();
    while (text != NULL) {
        const char *end = strchr(text, ',');

        json_array_append_new(list, json_stringn(text, end != NULL ? (size_t)(end - text) : strlen(text)));
        text = end != NULL ? end + 1 : NULL;
    }
    return list;
}

static apr_status_t append_orders(order_t *order, const json_t *names)
{
    apr_status_t rv = APR_SUCCESS;

    for (size_t i = 0; i < json_array_size(names) && rv == APR_SUCCESS; i++) {
        const json_t *name = json_array_get(names, i);

        rv = json_is_string(name) && strlen(json_string_value(name)) == json_string_length(name)
                 ? order_by(order, json_string_value(name))
                 : sql_fail(order->c, APR_EINVAL, "argument \"order_by\" takes names of columns");
    }
    return rv;
}

apr_status_t database_argument_order(sql_call_t *c, sql_statement_t *sql)
{
    order_t order = {.c = c, .sql = sql, .given = apr_hash_make(c->pool)};
    const json_t *value = json_object_get(c->args, "order_by");
    json_t *names = database_argument_list(value);
    apr_status_t rv = append_orders(&order, names);

    json_decref(names);
    if (value != NULL && names == NULL) {
        return sql_fail(c, APR_EINVAL,
                        "argument \"order_by\" takes columns, with commas between them, each of them "
                        "after a minus sign where the order is descending");
    }
    for (int i = 0; i < c->table->keys->nelts && rv == APR_SUCCESS; i++) {
        const char *column = database_key_column(c->table->keys, i);

        if (apr_hash_get(order.given, column, APR_HASH_KEY_STRING) == NULL) {
            append_order(&order, column, 0);
        }
    }
    return rv;
}

apr_status_t database_argument_window(sql_call_t *c, database_window_t *window)
{
    apr_status_t rv = sql_argument_number(c, "limit", 1, c->db->rows, &window->limit);

    return rv == APR_SUCCESS ? sql_argument_number(c, "offset", 0, OFFSET_MAX, &window->offset) : rv;
}

void database_append_window(sql_call_t *c, sql_statement_t *sql, const database_window_t *window)
{
    sql_limit(sql, window->limit != 0 ? window->limit : c->db->rows);
    if (window->offset != 0) {
        sql_add(sql, " OFFSET %d", (apr_int64_t)window->offset);
    }
}

/* ------------------------------------------------------------ where */

/* The object of column names and values in `argument`; NULL: it is missing or empty. */
static json_t *columns_of(sql_call_t *c, const char *argument)
{
    json_t *object = json_object_get(c->args, argument);

    return json_is_object(object) && json_object_size(object) > 0 ? object : NULL;
}

static apr_status_t unfit_value(sql_call_t *c, const char *argument, const char *name, const char *wrong)
{
    return sql_fail(c, APR_EINVAL, "argument \"%s.%s\" %s", argument, sql_shown(c, name), wrong);
}

apr_status_t database_argument_where(sql_call_t *c, sql_statement_t *sql)
{
    database_filter_t filter;
    apr_status_t rv;

    if (columns_of(c, "where") == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"where.COLUMN\" is missing; for all rows there is \"all\"");
    }
    rv = database_filter_read(c, &filter);
    return rv == APR_SUCCESS ? database_filter_append(c, &filter, sql) : rv;
}

/* ------------------------------------------------------------ values */

static apr_status_t check_settable(sql_call_t *c, const char *name)
{
    const sql_column_t *column = sql_table_column_named(c->table, name);

    if (column == NULL) {
        return database_argument_no_column(c, "values", name);
    }
    if (column->generated) {
        return unfit_value(c, "values", name, "cannot be set: the database computes this column");
    }
    if (c->table->key_is_serial && c->table->key != NULL && strcmp(name, c->table->key) == 0) {
        return unfit_value(c, "values", name, "cannot be set: the database numbers the rows of this table");
    }
    return APR_SUCCESS;
}

/* @param what  the values, for the sentence that they are missing */
static apr_status_t take_values(sql_call_t *c, const char *what, json_t **values)
{
    *values = columns_of(c, "values");
    return *values != NULL ? APR_SUCCESS : sql_fail(c, APR_EINVAL, "argument \"values.COLUMN\" is missing: %s", what);
}

static apr_status_t append_value(sql_call_t *c, sql_statement_t *sql, const char *name, const json_t *value)
{
    const char *wrong = sql_value_of(sql, sql_table_column_named(c->table, name), value);

    return wrong == NULL ? APR_SUCCESS : unfit_value(c, "values", name, wrong);
}

apr_status_t database_argument_values(sql_call_t *c, sql_statement_t *sql)
{
    const char *separator = "(";
    const char *name;
    json_t *values;
    json_t *value;
    apr_status_t rv = take_values(c, "the row to be saved", &values);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    json_object_foreach(values, name, value)
    {
        rv = check_settable(c, name);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        sql_add(sql, "%r%n", separator, name);
        separator = ",";
    }
    separator = ")VALUES(";
    json_object_foreach(values, name, value)
    {
        sql_raw(sql, separator);
        rv = append_value(c, sql, name, value);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        separator = ",";
    }
    sql_raw(sql, ")");
    return APR_SUCCESS;
}

apr_status_t database_argument_set(sql_call_t *c, sql_statement_t *sql)
{
    const char *separator = " SET ";
    const char *name;
    json_t *values;
    json_t *value;
    apr_status_t rv = take_values(c, "the values to be set", &values);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    json_object_foreach(values, name, value)
    {
        rv = check_settable(c, name);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        sql_add(sql, "%r%n=", separator, name);
        rv = append_value(c, sql, name, value);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        separator = ",";
    }
    return APR_SUCCESS;
}

apr_status_t database_argument_which(sql_call_t *c, sql_statement_t *sql)
{
    const char *text;
    database_key_t key;
    apr_status_t rv;

    if ((json_object_get(c->args, "key") == NULL) == (columns_of(c, "where") == NULL)) {
        return sql_fail(c, APR_EINVAL, "either \"key\" or \"where.COLUMN\" says which rows are meant");
    }
    if (json_object_get(c->args, "key") == NULL) {
        return database_argument_where(c, sql);
    }
    rv = database_argument_text(c, "key", &text);
    rv = rv == APR_SUCCESS ? database_key_parse(c, "key", c->table->keys, text, &key) : rv;
    sql_raw(sql, " WHERE ");
    return rv == APR_SUCCESS ? database_append_equals(c, sql, &key) : rv;
}
