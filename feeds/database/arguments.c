/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a call, checked against the catalogue. */
#include "arguments.h"

#include <string.h>

#include "apr_strings.h"

#include "argument.h"
#include "catalogue.h"
#include "driver.h"
#include "select.h"

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

static apr_status_t no_column(sql_call_t *c, const char *argument, const char *name)
{
    return sql_fail(c, APR_EINVAL, "argument \"%s\": table \"%s\" has no column \"%s\"", argument,
                    sql_shown(c, c->table->name), sql_shown(c, name));
}

apr_status_t database_argument_order(sql_call_t *c, sql_statement_t *sql)
{
    const json_t *value = json_object_get(c->args, "order");
    const char *name = json_string_value(value);
    const sql_column_t *column;
    int descending;

    if (value == NULL) {
        if (c->table->key != NULL) {
            sql_order(sql, c->table->key, 0);
        }
        return APR_SUCCESS;
    }
    if (name == NULL || strlen(name) != json_string_length(value)) {
        return sql_fail(c, APR_EINVAL, "argument \"order\" takes a column, or a column after a minus sign");
    }
    descending = name[0] == '-';
    column = sql_table_column_named(c->table, name + descending);
    if (column == NULL) {
        return no_column(c, "order", name + descending);
    }
    sql_order(sql, column->name, descending);
    return APR_SUCCESS;
}

/* The object of column names and values under `argument`; NULL: there is none, or it is empty. */
static json_t *columns_of(sql_call_t *c, const char *argument)
{
    json_t *object = json_object_get(c->args, argument);

    return json_is_object(object) && json_object_size(object) > 0 ? object : NULL;
}

static apr_status_t unfit_value(sql_call_t *c, const char *argument, const char *name, const char *wrong)
{
    return sql_fail(c, APR_EINVAL, "argument \"%s.%s\" %s", argument, sql_shown(c, name), wrong);
}

static const char *append_condition(sql_statement_t *sql, const sql_column_t *column, const json_t *value)
{
    sql_raw(sql, "t.");
    sql_name(sql, column->name);
    if (json_is_null(value)) {
        sql_raw(sql, " IS NULL");
        return NULL;
    }
    sql_raw(sql, "=");
    return sql_value_of(sql, column, value);
}

apr_status_t database_argument_where(sql_call_t *c, sql_statement_t *sql)
{
    json_t *where = columns_of(c, "where");
    const char *separator = " WHERE ";
    const char *name;
    json_t *value;

    if (where == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"where.COLUMN\" is missing; for all rows there is \"all\"");
    }
    json_object_foreach(where, name, value)
    {
        const sql_column_t *column = sql_table_column_named(c->table, name);
        const char *wrong;

        if (column == NULL) {
            return no_column(c, "where", name);
        }
        sql_raw(sql, separator);
        wrong = append_condition(sql, column, value);
        if (wrong != NULL) {
            return unfit_value(c, "where", name, wrong);
        }
        separator = " AND ";
        /* Rows of a common value are found in another way than those of a rare one. */
        sql->varies |= c->table->key == NULL || strcmp(name, c->table->key) != 0;
    }
    return APR_SUCCESS;
}

static apr_status_t check_settable(sql_call_t *c, const char *name)
{
    const sql_column_t *column = sql_table_column_named(c->table, name);

    if (column == NULL) {
        return no_column(c, "values", name);
    }
    if (column->generated) {
        return unfit_value(c, "values", name, "cannot be set: the database computes this column");
    }
    if (c->table->key_is_serial && c->table->key != NULL && strcmp(name, c->table->key) == 0) {
        return unfit_value(c, "values", name, "cannot be set: the database numbers the rows of this table");
    }
    return APR_SUCCESS;
}

apr_status_t database_argument_values(sql_call_t *c, sql_statement_t *sql)
{
    json_t *values = columns_of(c, "values");
    const char *separator = "(";
    const char *name;
    json_t *value;

    if (values == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"values.COLUMN\" is missing: the row to be saved");
    }
    json_object_foreach(values, name, value)
    {
        apr_status_t rv = check_settable(c, name);

        if (rv != APR_SUCCESS) {
            return rv;
        }
        sql_raw(sql, separator);
        sql_name(sql, name);
        separator = ",";
    }
    separator = ")VALUES(";
    json_object_foreach(values, name, value)
    {
        const char *wrong;

        sql_raw(sql, separator);
        wrong = sql_value_of(sql, sql_table_column_named(c->table, name), value);
        if (wrong != NULL) {
            return unfit_value(c, "values", name, wrong);
        }
        separator = ",";
    }
    sql_raw(sql, ")");
    return APR_SUCCESS;
}

apr_status_t database_argument_set(sql_call_t *c, sql_statement_t *sql)
{
    json_t *values = columns_of(c, "values");
    const char *separator = " SET ";
    const char *name;
    json_t *value;

    if (values == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"values.COLUMN\" is missing: what is to be set");
    }
    json_object_foreach(values, name, value)
    {
        const char *wrong;
        apr_status_t rv = check_settable(c, name);

        if (rv != APR_SUCCESS) {
            return rv;
        }
        sql_raw(sql, separator);
        sql_name(sql, name);
        sql_raw(sql, "=");
        wrong = sql_value_of(sql, sql_table_column_named(c->table, name), value);
        if (wrong != NULL) {
            return unfit_value(c, "values", name, wrong);
        }
        separator = ",";
    }
    return APR_SUCCESS;
}

apr_status_t database_argument_which(sql_call_t *c, sql_statement_t *sql)
{
    const char *key;
    apr_status_t rv;

    if ((json_object_get(c->args, "key") == NULL) == (columns_of(c, "where") == NULL)) {
        return sql_fail(c, APR_EINVAL, "either \"key\" or \"where.COLUMN\" says which rows are meant");
    }
    if (json_object_get(c->args, "key") == NULL) {
        return database_argument_where(c, sql);
    }
    rv = database_argument_text(c, "key", &key);
    sql_raw(sql, " WHERE ");
    return rv == APR_SUCCESS ? database_append_equals(c, sql, c->table->key, key) : rv;
}
