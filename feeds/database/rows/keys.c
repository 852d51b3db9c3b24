/* SPDX-License-Identifier: Apache-2.0 */
/* Keys as text: see keys.h. */
#include "database/rows/keys.h"

#include <string.h>

#include "apr_strings.h"

#include "sql/rows.h"

const char *database_key_column(const apr_array_header_t *columns, int i)
{
    return APR_ARRAY_IDX(columns, i, const char *);
}

const char *database_key_missing(const apr_array_header_t *columns, const sql_table_t *table)
{
    for (int i = 0; i < columns->nelts; i++) {
        if (sql_table_column_named(table, database_key_column(columns, i)) == NULL) {
            return database_key_column(columns, i);
        }
    }
    return NULL;
}

/* ------------------------------------------------------------ made of values */

static const char *escape(const char *value, apr_pool_t *pool)
{
    char *escaped = apr_palloc(pool, 2 * strlen(value) + 1);
    char *to = escaped;

    for (; *value != '\0'; value++) {
        if (*value == ',' || *value == '\\') {
            *to++ = '\\';
        }
        *to++ = *value;
    }
    *to = '\0';
    return escaped;
}

const char *database_key_join(const json_t *values, apr_pool_t *pool)
{
    const char *key = "";

    if (json_array_size(values) == 1) {
        return sql_text_of(json_array_get(values, 0), pool);
    }
    for (size_t i = 0; i < json_array_size(values); i++) {
        const char *value = sql_text_of(json_array_get(values, i), pool);

        if (value == NULL) {
            return NULL;
        }
        key = apr_pstrcat(pool, key, i == 0 ? "" : ",", escape(value, pool), NULL);
    }
    return key;
}

json_t *database_key_values(const apr_array_header_t *columns, const json_t *row)
{
    json_t *values = json_array();

    for (int i = 0; i < columns->nelts; i++) {
        json_t *value = json_object_get(row, database_key_column(columns, i));

        if (value == NULL || json_is_null(value)) {
            json_decref(values);
            return NULL;
        }
        json_array_append(values, value);
    }
    return values;
}

const char *database_key_of(const apr_array_header_t *columns, const json_t *row, apr_pool_t *pool)
{
    json_t *values;
    const char *key;

    if (columns->nelts == 1) { /* most keys have one column */
        return sql_text_of(json_object_get(row, database_key_column(columns, 0)), pool);
    }
    values = database_key_values(columns, row);
    key = json_array_size(values) > 0 ? database_key_join(values, pool) : NULL;
    json_decref(values);
    return key;
}

json_t *database_key_shown(const sql_table_t *table, const json_t *row, apr_pool_t *pool)
{
    const char *text = table->key == NULL ? database_key_of(table->keys, row, pool) : NULL;
    json_t *shown = table->key != NULL ? json_incref(json_object_get(row, table->key)) : json_string(text);

    return shown != NULL ? shown : json_null();
}

int database_key_is_in(const database_key_t *key, const json_t *row, apr_pool_t *pool)
{
    const char *text = database_key_of(key->columns, row, pool);

    return text != NULL && strcmp(text, key->text) == 0;
}

/* ------------------------------------------------------------ taken to pieces */

/* The value that begins at `*at`, which moves behind the value and its comma, or becomes NULL. NULL: a backslash
 * precedes another character. */
static const char *take_value(const char **at, apr_pool_t *pool)
{
    char *value = apr_palloc(pool, strlen(*at) + 1);
    char *to = value;
    const char *from = *at;

    for (; *from != '\0' && *from != ','; from++) {
        if (*from == '\\' && *++from != ',' && *from != '\\') {
            return NULL;
        }
        *to++ = *from;
    }
    *to = '\0';
    *at = *from == ',' ? from + 1 : NULL;
    return value;
}

static const char *listed(const apr_array_header_t *columns, apr_pool_t *pool)
{
    return apr_array_pstrcat(pool, columns, ',');
}

apr_status_t database_key_parse(sql_call_t *c, const char *argument, const apr_array_header_t *columns,
                                const char *text, database_key_t *key)
{
    const char **values = apr_pcalloc(c->pool, ((apr_size_t)columns->nelts + 1) * sizeof(*values));
    const char *at = text;
    int count = 0;

    *key = (database_key_t){.columns = columns, .text = text, .values = values};
    if (columns->nelts == 1) {
        values[0] = text;
        return APR_SUCCESS;
    }
    while (at != NULL && count < columns->nelts && (values[count] = take_value(&at, c->pool)) != NULL) {
        count++;
    }
    return count == columns->nelts && at == NULL
               ? APR_SUCCESS
               : sql_fail(
                     c, APR_EINVAL,
                     "argument \"%s\": \"%s\" is not %d values (%s) separated by commas, with a backslash before each "
                     "comma and backslash in a value",
                     argument, sql_shown(c, text), columns->nelts, sql_shown(c, listed(columns, c->pool)));
}
