/* SPDX-License-Identifier: Apache-2.0 */
/* The conditions of a filter: see filter.h. */
#include "database/rows/filter.h"

#include <string.h>

#include "apr_strings.h"

#include "database/rows/arguments.h"
#include "sql/catalogue.h"
#include "sql/driver.h"

/* Limits of one statement: conditions, values of one __in, bytes of a pattern. */
#define CONDITIONS_MAX 100
#define VALUES_MAX 200
#define PATTERN_MAX 1000

/* ------------------------------------------------------------ as SQL */

/* How a cell compares with a value: a set of these. */
enum { LESS = 1, EQUAL = 2, GREATER = 4, DIFFERENT = LESS | GREATER, UNKNOWN = LESS | EQUAL | GREATER };

/* An operator, `COLUMN__NAME`. */
typedef struct operator_t {
    const char *name;
    const char *text; /* in SQL */
    int holds;        /* the comparisons for which it is true; 0: only the database can evaluate it */
    /* Append what follows the column. @return NULL, or what is wrong with the value; then nothing was appended */
    const char *(*append)(sql_statement_t *sql, const char *text, const sql_column_t *column, const json_t *value);
} operator_t;

static const char *append_comparison(sql_statement_t *sql, const char *text, const sql_column_t *column,
                                     const json_t *value)
{
    if (json_is_null(value)) {
        return "takes a value; whether a column is NULL is asked by __isnull";
    }
    sql_raw(sql, text);
    return sql_value_of(sql, column, value);
}

static const char *append_equal(sql_statement_t *sql, const char *text, const sql_column_t *column, const json_t *value)
{
    if (json_is_null(value)) {
        sql_raw(sql, text[0] == '=' ? " IS NULL" : " IS NOT NULL");
        return NULL;
    }
    return append_comparison(sql, text, column, value);
}

static const char *append_list(sql_statement_t *sql, const char *text, const sql_column_t *column, const json_t *value)
{
    json_t *list = database_argument_list(value);
    const char *wrong =
        list == NULL || json_array_size(list) > VALUES_MAX
            ? "takes 1 to " APR_STRINGIFY(VALUES_MAX) " values: a list, or text with commas between them"
            : NULL;

    for (size_t i = 0; i < json_array_size(list) && wrong == NULL; i++) {
        sql_raw(sql, i == 0 ? text : ",");
        wrong = json_is_null(json_array_get(list, i)) ? "takes no null: whether a column is NULL is asked by __isnull"
                                                      : sql_value_of(sql, column, json_array_get(list, i));
    }
    sql_raw(sql, ")");
    json_decref(list);
    return wrong;
}

/* The databases differ in their treatment of a pattern that ends with an incomplete escape. */
static const char *append_pattern(sql_statement_t *sql, const char *text, const sql_column_t *column,
                                  const json_t *value)
{
    const char *pattern = json_string_value(value);
    apr_size_t length = json_string_length(value), escapes = 0;

    if (pattern == NULL || length == 0 || length > PATTERN_MAX) {
        return "takes a pattern: text of 1 to " APR_STRINGIFY(PATTERN_MAX) " bytes";
    }
    while (escapes < length && pattern[length - 1 - escapes] == '\\') {
        escapes++;
    }
    if (escapes % 2 != 0) {
        return "ends with a backslash that has nothing to escape";
    }
    sql_raw(sql, text);
    pattern = sql_value(sql, value);
    sql_raw(sql, sql->driver->like_escape);
    return pattern;
}

static int is_word(const json_t *value, const char *word)
{
    return json_is_string(value) && json_string_length(value) == strlen(word) &&
           strcmp(json_string_value(value), word) == 0;
}

static int is_true(const json_t *value)
{
    return json_is_true(value) || is_word(value, "true");
}

static const char *append_is_null(sql_statement_t *sql, const char *text, const sql_column_t *column,
                                  const json_t *value)
{
    int is_null = is_true(value);

    sql_raw(sql, is_null ? " IS NULL" : " IS NOT NULL");
    return is_null || json_is_false(value) || is_word(value, "false") ? NULL : "takes true or false";
}

typedef struct condition_t {
    const char *name; /* of the argument */
    const sql_column_t *column;
    const operator_t *op;
    const json_t *value; /* borrowed from the arguments */
} condition_t;

static const operator_t equals = {"", "=", EQUAL, append_equal};
static const operator_t operators[] = {
    {"gt", ">", GREATER, append_comparison}, {"gte", ">=", GREATER | EQUAL, append_comparison},
    {"lt", "<", LESS, append_comparison},    {"lte", "<=", LESS | EQUAL, append_comparison},
    {"ne", "<>", DIFFERENT, append_equal},   {"in", " IN(", EQUAL, append_list},
    {"like", " LIKE ", 0, append_pattern},   {"isnull", "", 0, append_is_null},
};
#define OPERATORS "gt, gte, lt, lte, ne, in, like, isnull"

static const operator_t *operator_named(const char *name)
{
    for (apr_size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++) {
        if (strcmp(operators[i].name, name) == 0) {
            return &operators[i];
        }
    }
    return NULL;
}

/* If a column has this very name, the name means that column, whatever it ends with. */
static apr_status_t find(sql_call_t *c, condition_t *condition)
{
    const char *name = condition->name, *end = name, *column;

    condition->op = &equals;
    condition->column = sql_table_column_named(c->table, name);
    if (condition->column != NULL) {
        return APR_SUCCESS;
    }
    for (const char *at = strstr(name, "__"); at != NULL; at = strstr(at + 1, "__")) {
        end = at;
    }
    column = apr_pstrmemdup(c->pool, name, (apr_size_t)(end - name));
    condition->op = end > name ? operator_named(end + 2) : NULL;
    condition->column = sql_table_column_named(c->table, column);
    if (condition->column == NULL) {
        return database_argument_no_column(c, "where", condition->op != NULL ? column : name);
    }
    return condition->op != NULL
               ? APR_SUCCESS
               : sql_fail(c, APR_EINVAL, "argument \"where.%s\": there is no operator \"%s\"; there are " OPERATORS,
                          sql_shown(c, name), sql_shown(c, end + 2));
}

apr_status_t database_filter_read(sql_call_t *c, database_filter_t *filter)
{
    json_t *where = json_object_get(c->args, "where");
    const char *name;
    json_t *value;

    filter->conditions = apr_array_make(c->pool, 4, sizeof(condition_t));
    if (where != NULL && !json_is_object(where)) {
        return sql_fail(c, APR_EINVAL, "argument \"where\" takes where.COLUMN");
    }
    if (json_object_size(where) > CONDITIONS_MAX) {
        return sql_fail(c, APR_EINVAL, "argument \"where\" has %d conditions; at most %d are accepted",
                        (int)json_object_size(where), CONDITIONS_MAX);
    }
    json_object_foreach(where, name, value)
    {
        condition_t *condition = apr_array_push(filter->conditions);
        apr_status_t rv;

        condition->name = name;
        condition->value = value;
        rv = find(c, condition);
        if (rv != APR_SUCCESS) {
            return rv;
        }
    }
    return APR_SUCCESS;
}

apr_status_t database_filter_append(sql_call_t *c, const database_filter_t *filter, sql_statement_t *sql)
{
    for (int i = 0; i < filter->conditions->nelts; i++) {
        const condition_t *condition = &APR_ARRAY_IDX(filter->conditions, i, condition_t);
        const char *wrong;

        sql_add(sql, i == 0 ? " WHERE t.%n" : " AND t.%n", condition->column->name);
        wrong = condition->op->append(sql, condition->op->text, condition->column, condition->value);
        if (wrong != NULL) {
            return sql_fail(c, APR_EINVAL, "argument \"where.%s\" %s", sql_shown(c, condition->name), wrong);
        }
        /* The best plan for a common value differs from that for a rare one. */
        sql->varies |=
            condition->op != &equals || c->table->key == NULL || strcmp(condition->column->name, c->table->key) != 0;
    }
    return APR_SUCCESS;
}

/* ------------------------------------------------------------ rows that are here */

/* At most fifteen digits: no database rounds such a number. */
static int read_whole(const json_t *value, json_int_t *number)
{
    const char *text = json_string_value(value), *digits;
    apr_size_t length;

    if (text == NULL) {
        *number = json_integer_value(value);
        return json_is_integer(value);
    }
    digits = text + (text[0] == '-');
    length = strspn(digits, "0123456789");
    *number = length <= 15 ? apr_strtoi64(text, NULL, 10) : 0;
    return length > 0 && length <= 15 && (apr_size_t)(digits - text) + length == json_string_length(value);
}

/* Some collations of MariaDB ignore trailing blanks. */
static int is_same_trimmed(const char *one, const char *two)
{
    apr_size_t common = 0;

    while (one[common] != '\0' && one[common] == two[common]) {
        common++;
    }
    return one[common + strspn(one + common, " ")] == '\0' && two[common + strspn(two + common, " ")] == '\0';
}

/* An image has a text also for a blob of SQLite. Bytes that are not UTF-8 are U+FFFD in images. */
static int compare_texts(const sql_call_t *c, const sql_column_t *column, const char *cell, const char *value)
{
    if (column->kind != SQL_TEXT || !c->db->driver->is_server || strstr(cell, "\xEF\xBF\xBD") != NULL) {
        return UNKNOWN;
    }
    if (strcmp(cell, value) == 0) {
        return EQUAL;
    }
    return column->spelling == SQL_SPELLING_EXACT && !(c->db->driver->pads && is_same_trimmed(cell, value)) ? DIFFERENT
                                                                                                            : UNKNOWN;
}

/* The possible results of comparing the cell with the value; neither is null. */
static int compare(const sql_call_t *c, const sql_column_t *column, const json_t *cell, const json_t *value)
{
    json_int_t number;

    if (column->generated || column->reads_bytes || column->spelling == SQL_SPELLING_UNFIT) {
        return UNKNOWN;
    }
    if (column->is_integer && json_is_integer(cell) && read_whole(value, &number)) {
        return json_integer_value(cell) < number ? LESS : json_integer_value(cell) > number ? GREATER : EQUAL;
    }
    if (json_is_boolean(cell) && json_is_boolean(value)) {
        return json_is_true(cell) == json_is_true(value) ? EQUAL : DIFFERENT;
    }
    return json_is_string(cell) && json_is_string(value)
               ? compare_texts(c, column, json_string_value(cell), json_string_value(value))
               : UNKNOWN;
}

static database_match_e match_value(const sql_call_t *c, const condition_t *condition, const json_t *cell,
                                    const json_t *value)
{
    int may_be = compare(c, condition->column, cell, value), holds = condition->op->holds;

    return holds == 0 || ((may_be & holds) != 0 && (may_be & holds) != may_be) ? DATABASE_MATCH_UNSURE
           : (may_be & holds) != 0                                             ? DATABASE_MATCH_YES
                                                                               : DATABASE_MATCH_NO;
}

static database_match_e match_one_of(const sql_call_t *c, const condition_t *condition, const json_t *cell)
{
    json_t *list = database_argument_list(condition->value);
    database_match_e matches = DATABASE_MATCH_NO;

    for (size_t i = 0; i < json_array_size(list) && matches != DATABASE_MATCH_YES; i++) {
        database_match_e one = match_value(c, condition, cell, json_array_get(list, i));

        matches = one != DATABASE_MATCH_NO ? one : matches;
    }
    json_decref(list);
    return matches;
}

static database_match_e match(const sql_call_t *c, const condition_t *condition, const json_t *cell)
{
    const operator_t *op = condition->op;

    if (cell == NULL) {
        return DATABASE_MATCH_UNSURE; /* the columns of the table were different then */
    }
    if (op->append == append_is_null) {
        return json_is_null(cell) == is_true(condition->value);
    }
    if (json_is_null(condition->value)) {
        return json_is_null(cell) == (op->holds == EQUAL);
    }
    if (json_is_null(cell)) {
        return DATABASE_MATCH_NO;
    }
    return op->append == append_list ? match_one_of(c, condition, cell)
                                     : match_value(c, condition, cell, condition->value);
}

database_match_e database_filter_match(const sql_call_t *c, const database_filter_t *filter, const json_t *row)
{
    database_match_e matches = DATABASE_MATCH_YES;

    for (int i = 0; i < filter->conditions->nelts; i++) {
        const condition_t *condition = &APR_ARRAY_IDX(filter->conditions, i, condition_t);
        database_match_e one = match(c, condition, json_object_get(row, condition->column->name));

        if (one == DATABASE_MATCH_NO) {
            return DATABASE_MATCH_NO;
        }
        matches = one == DATABASE_MATCH_UNSURE ? one : matches;
    }
    return matches;
}
