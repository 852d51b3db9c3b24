/* SPDX-License-Identifier: Apache-2.0 */
/* Selects rows of one table. */
#include "database/rows/select.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "apr_base64.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "database/rows/fold.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

/* The most keys of one statement, which limits its length. */
#define KEYS_AT_ONCE 200
/* A double is exact below this. */
#define EXACT_MAX 9007199254740992.0

apr_status_t database_select(sql_call_t *c, const sql_statement_t *sql, json_t **rows)
{
    return sql_fetch_table(c, sql, INT_MAX, 0, rows);
}

apr_status_t database_select_newest(sql_call_t *c, int most, json_t **rows)
{
    sql_statement_t *sql = sql_statement_make(c);

    sql_select_table(sql, c->table);
    sql_order_by_key(sql, c->table, 1);
    sql_limit(sql, most);
    return sql_fetch_table(c, sql, most, 1, rows);
}

/* Appends a key in the form of rows: a blob is in base64. */
static void append_key(sql_statement_t *sql, const sql_column_t *column, const json_t *key)
{
    const char *text = column->kind == SQL_BLOB ? json_string_value(key) : NULL;

    if (text != NULL && sql->driver->append_blob != NULL) {
        char *bytes = apr_palloc(sql->pool, (apr_size_t)apr_base64_decode_len(text) + 1);
        int length = apr_base64_decode_binary((unsigned char *)bytes, text);

        sql->driver->append_blob(sql, bytes, (apr_size_t)length);
        return;
    }
    (void)sql_value_of(sql, column, key);
}

/* Of all forms of a condition for a list of pairs, this is the only one for which all three databases use an index. */
static void append_whole_key(sql_call_t *c, sql_statement_t *sql, const apr_array_header_t *columns, const json_t *key)
{
    for (int i = 0; i < columns->nelts; i++) {
        const sql_column_t *column = sql_table_column_named(c->table, database_key_column(columns, i));

        sql_add(sql, i == 0 ? "(%n=" : " AND %n=", column->name);
        append_key(sql, column, json_array_get(key, (size_t)i));
    }
    sql_raw(sql, ")");
}

size_t database_append_keys(sql_call_t *c, sql_statement_t *sql, const apr_array_header_t *columns, const json_t *keys,
                            size_t first)
{
    size_t count = json_array_size(keys) - first;
    const char *only = database_key_column(columns, 0);

    if (count > KEYS_AT_ONCE) {
        count = KEYS_AT_ONCE;
    }
    if (columns->nelts == 1) {
        sql_name(sql, only);
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *key = json_array_get(keys, first + i);

        if (columns->nelts == 1) {
            sql_raw(sql, i == 0 ? " IN(" : ",");
            append_key(sql, sql_table_column_named(c->table, only), json_array_get(key, 0));
        }
        else {
            sql_raw(sql, i == 0 ? "(" : " OR ");
            append_whole_key(c, sql, columns, key);
        }
    }
    sql_raw(sql, ")");
    return count;
}

apr_status_t database_select_keys(sql_call_t *c, const json_t *keys, const char *end, json_t **rows)
{
    apr_status_t rv = APR_SUCCESS;

    *rows = json_array();
    for (size_t i = 0; i < json_array_size(keys) && rv == APR_SUCCESS;) {
        sql_statement_t *sql = sql_statement_make(c);
        json_t *some;

        sql_select_table(sql, c->table);
        sql_raw(sql, " WHERE ");
        i += database_append_keys(c, sql, c->table->keys, keys, i);
        sql_raw(sql, end);
        rv = database_select(c, sql, &some);
        if (rv == APR_SUCCESS) {
            json_array_extend(*rows, some);
        }
        json_decref(some);
    }
    if (rv != APR_SUCCESS) {
        json_decref(*rows);
        *rows = NULL;
    }
    return rv;
}

/* A whole number in the form that databases write; NULL: the text is none. */
static const char *whole_number(const char *text, apr_pool_t *pool)
{
    char *end;
    double number;
    apr_int64_t exact;

    errno = 0;
    exact = apr_strtoi64(text, &end, 10);
    if (end > text && errno == 0 && end[strspn(end, " \t\r\n")] == '\0') {
        return apr_psprintf(pool, "%" APR_INT64_T_FMT, exact);
    }
    number = strtod(text, &end);
    if (end == text || end[strspn(end, " \t\r\n")] != '\0' || !(number > -EXACT_MAX && number < EXACT_MAX) ||
        number != (double)(apr_int64_t)number) {
        return NULL;
    }
    return apr_psprintf(pool, "%" APR_INT64_T_FMT, (apr_int64_t)number);
}

static apr_status_t not_as_written(sql_call_t *c, const char *value, const char *written)
{
    return sql_fail(c, APR_EINVAL, "the key \"%s\" must be given as the database writes it: \"%s\"",
                    sql_shown(c, value), written);
}

/* "007" would find row 7, but its page would wait for an interest that is never notified. */
static apr_status_t check_written(sql_call_t *c, const char *column, const char *value)
{
    const char *number = sql_table_column_named(c->table, column)->is_integer ? whole_number(value, c->pool) : NULL;

    return number == NULL || strcmp(number, value) == 0 ? APR_SUCCESS : not_as_written(c, value, number);
}

/* A UUID in the form that databases write; NULL: the text is none. Databases also accept capitals, braces, and dashes
 * in other places. */
static const char *uuid(const char *text, apr_pool_t *pool)
{
    static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
    char *written = apr_pstrdup(pool, form);
    char *at = written;

    for (; *text != '\0'; text++) {
        at += *at == '-';
        if (apr_isxdigit(*text) && *at != '\0') {
            *at++ = (char)apr_tolower(*text);
        }
        else if (strchr("{-} \t\r\n", *text) == NULL) {
            return NULL;
        }
    }
    return *at == '\0' ? written : NULL;
}

static apr_status_t check_name(sql_call_t *c, const char *column, const char *value)
{
    const sql_column_t *found = sql_table_column_named(c->table, column);
    const char *written = found->spelling == SQL_SPELLING_UUID ? uuid(value, c->pool) : NULL;

    if (found->spelling == SQL_SPELLING_UNFIT) {
        return sql_fail(c, APR_EINVAL,
                        "changes of rows of table \"%s\" cannot be notified by \"%s\": the recorded text of a column "
                        "of this type differs from that of a row",
                        sql_shown(c, c->table->name), sql_shown(c, column));
    }
    return written == NULL || strcmp(written, value) == 0 ? APR_SUCCESS : not_as_written(c, value, written);
}

apr_status_t database_check_name(sql_call_t *c, const database_key_t *key)
{
    apr_status_t rv = APR_SUCCESS;

    for (int i = 0; i < key->columns->nelts && rv == APR_SUCCESS; i++) {
        rv = check_name(c, database_key_column(key->columns, i), key->values[i]);
    }
    return rv;
}

static int has_spellings(const sql_call_t *c, const char *column, const char *value)
{
    const sql_column_t *found = sql_table_column_named(c->table, column);

    switch (found->spelling) {
    case SQL_SPELLING_EXACT:
        return value[0] != '\0' && value[strlen(value) - 1] == ' ' && c->db->driver->pads;
    case SQL_SPELLING_UUID:
        return 0;
    default:
        return !found->is_integer || whole_number(value, c->pool) == NULL;
    }
}

int database_has_spellings(const sql_call_t *c, const database_key_t *key)
{
    for (int i = 0; i < key->columns->nelts; i++) {
        if (has_spellings(c, database_key_column(key->columns, i), key->values[i])) {
            return 1;
        }
    }
    return 0;
}

/* Adds the number, if the text is a number: such a row is shown, and its interests are notified, with the same text. */
static void append_or_number(sql_statement_t *sql, const char *column, const char *value)
{
    const char *number = whole_number(value, sql->pool);

    if (number != NULL && strcmp(number, value) == 0) {
        json_t *integer = json_integer(apr_strtoi64(number, NULL, 10));

        sql_add(sql, " OR t.%n=", column);
        (void)sql_value(sql, integer);
        json_decref(integer);
    }
}

static apr_status_t append_equal(sql_call_t *c, sql_statement_t *sql, const char *column, const char *value)
{
    const sql_column_t *found = sql_table_column_named(c->table, column);
    json_t *string = json_string(value);
    const char *wrong;
    apr_status_t rv = check_written(c, column, value);

    if (rv != APR_SUCCESS) {
        json_decref(string);
        return rv;
    }
    sql_add(sql, "(t.%n=", column);
    wrong = sql_value_of(sql, found, string);
    json_decref(string);
    if (found->keeps_types) {
        append_or_number(sql, column, value);
    }
    sql_raw(sql, ")");
    return wrong == NULL ? APR_SUCCESS : sql_fail(c, APR_EINVAL, "the key \"%s\" %s", sql_shown(c, value), wrong);
}

apr_status_t database_append_equals(sql_call_t *c, sql_statement_t *sql, const database_key_t *key)
{
    apr_status_t rv = APR_SUCCESS;

    for (int i = 0; i < key->columns->nelts && rv == APR_SUCCESS; i++) {
        sql_raw(sql, i == 0 ? "" : " AND ");
        rv = append_equal(c, sql, database_key_column(key->columns, i), key->values[i]);
    }
    return rv;
}

apr_status_t database_select_row(sql_call_t *c, const database_key_t *key, json_t **row)
{
    sql_statement_t *sql = sql_statement_make(c);
    const char *text;
    json_t *rows;
    apr_status_t rv;

    *row = NULL;
    sql_select_table(sql, c->table);
    sql_raw(sql, " WHERE ");
    rv = database_append_equals(c, sql, key);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = database_select(c, sql, &rows);
    if (rv != APR_SUCCESS || json_array_size(rows) == 0) {
        json_decref(rows);
        return rv;
    }
    *row = json_incref(json_array_get(rows, 0));
    json_decref(rows);
    text = database_key_of(key->columns, *row, c->pool);
    if (text != NULL && strcmp(text, key->text) == 0) {
        return APR_SUCCESS;
    }
    json_decref(*row);
    *row = NULL;
    return not_as_written(c, key->text, text != NULL ? sql_shown(c, text) : "");
}
