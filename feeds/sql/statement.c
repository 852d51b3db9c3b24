/* SPDX-License-Identifier: Apache-2.0 */
/* Builds statements from constants, quoted names and quoted values. */
#include "sql/statement.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "sql/catalogue.h"
#include "sql/driver.h"

/* Enough for most statements, and for most names. */
#define FIRST_SPACE 1024
#define NAME_SPACE 64

static sql_statement_t *make_empty(const sql_driver_t *driver, apr_pool_t *pool, apr_size_t space)
{
    sql_statement_t *sql = apr_pcalloc(pool, sizeof(*sql));

    sql->driver = driver;
    sql->pool = pool;
    sql->space = space;
    sql->text = apr_palloc(sql->pool, sql->space);
    sql->text[0] = '\0';
    return sql;
}

sql_statement_t *sql_statement_make(sql_call_t *c)
{
    sql_statement_t *sql = make_empty(c->db->driver, c->pool, FIRST_SPACE);

    sql_raw(sql, sql->driver->guard);
    return sql;
}

sql_statement_t *sql_expression_make(const sql_statement_t *sql)
{
    return make_empty(sql->driver, sql->pool, NAME_SPACE);
}

sql_statement_t sql_statement_of(sql_call_t *c, const char *constant)
{
    sql_statement_t sql = {.driver = c->db->driver, .pool = c->pool, .length = strlen(constant)};

    sql.text = (char *)(uintptr_t)constant; /* nothing will be appended */
    return sql;
}

static void reserve(sql_statement_t *sql, apr_size_t more)
{
    char *larger;

    if (more < sql->space - sql->length) {
        return;
    }
    while (more >= sql->space - sql->length) {
        sql->space *= 2;
    }
    larger = apr_palloc(sql->pool, sql->space);
    memcpy(larger, sql->text, sql->length + 1);
    sql->text = larger;
}

void sql_bytes(sql_statement_t *sql, const char *bytes, apr_size_t length)
{
    reserve(sql, length);
    memcpy(sql->text + sql->length, bytes, length);
    sql->length += length;
    sql->text[sql->length] = '\0';
}

void sql_raw(sql_statement_t *sql, const char *constant)
{
    sql_bytes(sql, constant, strlen(constant));
}

void sql_hex(sql_statement_t *sql, const char *bytes, apr_size_t length)
{
    static const char digits[] = "0123456789ABCDEF";

    reserve(sql, 2 * length);
    for (apr_size_t i = 0; i < length; i++) {
        unsigned char byte = (unsigned char)bytes[i];

        sql->text[sql->length++] = digits[byte >> 4];
        sql->text[sql->length++] = digits[byte & 15];
    }
    sql->text[sql->length] = '\0';
}

/* The text from `begin` on is a value. NULL: the driver does not bind values. */
static sql_value_t *note_value(sql_statement_t *sql, apr_size_t begin)
{
    sql_value_t *value;

    if (sql->driver->run == NULL) {
        return NULL;
    }
    if (sql->values == NULL) {
        sql->values = apr_array_make(sql->pool, 8, sizeof(sql_value_t));
    }
    value = apr_array_push(sql->values);
    value->begin = begin;
    value->end = sql->length;
    return value;
}

static void append_integer(sql_statement_t *sql, const char *quote, apr_int64_t number)
{
    apr_size_t begin = sql->length;
    sql_value_t *value;
    char digits[32];

    apr_snprintf(digits, sizeof(digits), "%" APR_INT64_T_FMT, number);
    sql_raw(sql, quote);
    sql_raw(sql, digits);
    sql_raw(sql, quote);
    value = note_value(sql, begin);
    if (value != NULL) {
        value->number = number;
    }
}

static void note_text(sql_statement_t *sql, apr_size_t begin, const char *text, apr_size_t length)
{
    sql_value_t *value = note_value(sql, begin);

    if (value != NULL) {
        value->text = apr_pstrmemdup(sql->pool, text, length);
        value->length = (int)length;
    }
}

static void append_text(sql_statement_t *sql, const char *text, apr_size_t length)
{
    apr_size_t begin = sql->length;

    sql->driver->append_text(sql, text, length);
    note_text(sql, begin, text, length);
}

void sql_integer(sql_statement_t *sql, apr_int64_t number)
{
    append_integer(sql, "", number);
}

void sql_quoted_name(sql_statement_t *sql, const char *name, char quote)
{
    const char *inner;

    sql_bytes(sql, &quote, 1);
    while ((inner = strchr(name, quote)) != NULL) {
        sql_bytes(sql, name, (apr_size_t)(inner + 1 - name));
        sql_bytes(sql, &quote, 1);
        name = inner + 1;
    }
    sql_raw(sql, name);
    sql_bytes(sql, &quote, 1);
}

void sql_name(sql_statement_t *sql, const char *name)
{
    sql->driver->append_name(sql, name);
}

void sql_constant(sql_statement_t *sql, const char *text)
{
    sql->driver->append_text(sql, text, strlen(text));
}

void sql_text(sql_statement_t *sql, const char *text)
{
    append_text(sql, text, strlen(text));
}

void sql_table(sql_statement_t *sql, const char *name)
{
    sql->driver->append_table(sql, name);
}

void sql_cell_of(sql_statement_t *sql, const char *constant, sql_kind_e kind)
{
    if (sql->driver->append_cell_here != NULL) {
        sql->driver->append_cell_here(sql, constant, kind);
    }
    else {
        sql->driver->append_cell(sql, constant, kind);
    }
    sql_add(sql, " AS %n", sql->driver->cell_alias);
}

/* ------------------------------------------------------------ formats */

/* `at` points behind a "{". @return behind the "}" */
static const char *add_cell(sql_statement_t *sql, const char *at)
{
    const char *end = strchr(at, '}');
    sql_kind_e kind = *at == '$' ? SQL_TEXT : SQL_INTEGER;
    const char *begin = at + (kind == SQL_TEXT);
    char *expression = apr_pstrmemdup(sql->pool, begin, (apr_size_t)(end - begin));
    char *name = strrchr(expression, ' ');

    if (name != NULL) {
        *name = '\0';
    }
    else {
        name = strrchr(expression, '.');
    }
    if (sql->names == NULL) {
        sql->names = apr_array_make(sql->pool, 8, sizeof(const char *));
    }
    APR_ARRAY_PUSH(sql->names, const char *) = name + 1;
    APR_ARRAY_PUSH(sql->names, const char *) = NULL;
    sql->names->nelts--;
    sql_cell_of(sql, expression, kind);
    return end + 1;
}

static void add(sql_statement_t *sql, const char *format, va_list values)
{
    for (;;) {
        apr_size_t length = strcspn(format, "%{");

        sql_bytes(sql, format, length);
        format += length;
        if (*format == '\0') {
            return;
        }
        if (*format == '{') {
            format = add_cell(sql, format + 1);
            continue;
        }
        switch (format[1]) {
        case 'd':
            sql_integer(sql, va_arg(values, apr_int64_t));
            break;
        case 's':
            sql_text(sql, va_arg(values, const char *));
            break;
        case 'q':
            sql_constant(sql, va_arg(values, const char *));
            break;
        case 'n':
            sql_name(sql, va_arg(values, const char *));
            break;
        case 't':
            sql_table(sql, va_arg(values, const char *));
            break;
        case 'r':
            sql_raw(sql, va_arg(values, const char *));
            break;
        default:
            sql_raw(sql, "%");
        }
        format += 2;
    }
}

void sql_add(sql_statement_t *sql, const char *format, ...)
{
    va_list values;

    va_start(values, format);
    add(sql, format, values);
    va_end(values);
}

sql_statement_t *sql_statement_of_list(sql_call_t *c, const char *format, va_list values)
{
    sql_statement_t *sql = sql_statement_make(c);

    add(sql, format, values);
    return sql;
}

sql_statement_t *sql_statement(sql_call_t *c, const char *format, ...)
{
    sql_statement_t *sql;
    va_list values;

    va_start(values, format);
    sql = sql_statement_of_list(c, format, values);
    va_end(values);
    return sql;
}

/* ------------------------------------------------------------ cells */

static const char *column_of(const sql_statement_t *sql, const char *alias, const char *column)
{
    sql_statement_t *expression = sql_expression_make(sql);

    sql_add(expression, alias != NULL ? "%n.%n" : "%n", alias != NULL ? alias : column, column);
    return expression->text;
}

void sql_cell(sql_statement_t *sql, const char *alias, const char *column, sql_kind_e kind)
{
    sql_cell_of(sql, column_of(sql, alias, column), kind);
}

void sql_own_cell_of(sql_statement_t *sql, const char *constant, sql_kind_e kind)
{
    if (sql->driver->append_own_cell == NULL) {
        sql_cell_of(sql, constant, kind);
        return;
    }
    sql->driver->append_own_cell(sql, constant, kind);
    sql_add(sql, " AS %n", sql->driver->cell_alias);
}

void sql_bare_cell_of(sql_statement_t *sql, const char *constant)
{
    sql_raw(sql, constant);
    sql_add(sql, " AS %n", sql->driver->cell_alias);
}

void sql_own_cell(sql_statement_t *sql, const char *alias, const char *column, sql_kind_e kind)
{
    sql_own_cell_of(sql, column_of(sql, alias, column), kind);
}

/* ------------------------------------------------------------ values, tables */

static const char *append_real(sql_statement_t *sql, const json_t *value)
{
    /* By jansson's writer, since printf depends on the locale. 17 digits restore every double. */
    char *digits = json_dumps(value, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
    apr_size_t begin = sql->length;

    if (digits == NULL) {
        return "is not a number";
    }
    sql_raw(sql, sql->driver->number_quote);
    sql_raw(sql, digits);
    sql_raw(sql, sql->driver->number_quote);
    if (sql->driver->number_quote[0] != '\0') {
        note_text(sql, begin, digits, strlen(digits));
    }
    free(digits);
    return NULL;
}

const char *sql_value(sql_statement_t *sql, const json_t *value)
{
    switch (json_typeof(value)) {
    case JSON_STRING:
        if (strlen(json_string_value(value)) != json_string_length(value)) {
            return "has a NUL in it";
        }
        append_text(sql, json_string_value(value), json_string_length(value));
        return NULL;
    case JSON_INTEGER:
        append_integer(sql, sql->driver->number_quote, (apr_int64_t)json_integer_value(value));
        return NULL;
    case JSON_REAL:
        return append_real(sql, value);
    case JSON_TRUE:
        sql_raw(sql, sql->driver->true_);
        return NULL;
    case JSON_FALSE:
        sql_raw(sql, sql->driver->false_);
        return NULL;
    case JSON_NULL:
        sql_raw(sql, "NULL");
        return NULL;
    default:
        return "is a list or an object";
    }
}

static int is_number(const char *text)
{
    const char *at = text + strspn(text, "+-");

    if (at > text + 1 || !apr_isdigit(*at)) {
        return 0;
    }
    at += strspn(at, "0123456789");
    if (*at == '.') {
        at++;
        at += strspn(at, "0123456789");
    }
    if (*at == 'e' || *at == 'E') {
        at += at[1] == '-' || at[1] == '+' ? 2 : 1;
        if (!apr_isdigit(*at)) {
            return 0;
        }
        at += strspn(at, "0123456789");
    }
    return *at == '\0';
}

const char *sql_value_of(sql_statement_t *sql, const sql_column_t *column, const json_t *value)
{
    const char *text = json_string_value(value);

    if (text != NULL && strlen(text) == json_string_length(value)) {
        if (column->reads_numbers && !is_number(text)) {
            return "is not a number";
        }
        /* For such a column SQL would not take a number for its digits either. */
        if (column->reads_bytes && is_number(text)) {
            sql_bytes(sql, text, strlen(text));
            return NULL;
        }
        if (column->kind == SQL_BLOB && sql->driver->append_blob != NULL) {
            sql->driver->append_blob(sql, text, json_string_length(value));
            return NULL;
        }
    }
    return sql_value(sql, value);
}

void sql_select_table(sql_statement_t *sql, const sql_table_t *table)
{
    sql_raw(sql, sql->driver->select);
    for (int i = 0; i < table->columns->nelts; i++) {
        sql_raw(sql, i == 0 ? " " : ",");
        sql_cell(sql, "t", sql_table_column(table, i)->name, sql_table_column(table, i)->kind);
    }
    sql_add(sql, " FROM %t AS t", table->name);
}

void sql_order(sql_statement_t *sql, const char *column, int descending)
{
    sql_add(sql, " ORDER BY t.%n%r", column, descending ? " DESC" : " ASC");
}

void sql_order_by_key(sql_statement_t *sql, const sql_table_t *table, int descending)
{
    for (int i = 0; i < table->keys->nelts; i++) {
        sql_add(sql, "%r%n%r", i == 0 ? " ORDER BY t." : ",t.", sql_table_key_column(table, i),
                descending ? " DESC" : " ASC");
    }
}

void sql_limit(sql_statement_t *sql, int rows)
{
    sql_add(sql, " LIMIT %d", (apr_int64_t)rows);
}
