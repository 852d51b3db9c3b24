/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_walk_filter.h
 * Filters of a random walk, and what a page is to have been shown.
 */
#ifndef DATABASE_WALK_FILTER_H
#define DATABASE_WALK_FILTER_H

#include "database_walk.h"

/* ------------------------------------------------------------ draws */

static json_t *draw_operand(walk_t *w, int table, const char *column)
{
    const char *number = DRAW(w, numbers);

    return is_of_text(table, column) ? json_string(texts[draw(w, COUNT(texts) - 1)])
           : draw(w, 2)              ? json_string(number)
                                     : json_integer(apr_strtoi64(number, NULL, 10));
}

static void draw_filter_condition(walk_t *w, int table, json_t *where)
{
    static const char *const operators[] = {"",      "",     "",     "__gt",     "__gte", "__lt",
                                            "__lte", "__ne", "__in", "__isnull", "__like"};
    static const char *const patterns[] = {"%a%", "_", "%1%", "%\\_%", "A%"};
    const char *column = tables[table].columns[draw(w, table == POSTS ? 5 : table == NOTES ? 4 : 3)];
    const char *operator= operators[draw(w, COUNT(operators) - !is_of_text(table, column))];
    json_t *value = strcmp(operator, "__in") == 0
                        ? json_pack("[o,o]", draw_operand(w, table, column), draw_operand(w, table, column))
                    : strcmp(operator, "__isnull") == 0 ? json_boolean(draw(w, 2))
                    : strcmp(operator, "__like") == 0   ? json_string(DRAW(w, patterns))
                    :
                    operator[0] == '\0' && draw(w, 6) == 0 ? json_null()
                                                           : draw_operand(w, table, column);

    json_object_set_new(where, apr_pstrcat(w->pool, column, operator, NULL), value);
}

/* @return arguments of filter and get_filter_changes */
static json_t *draw_filter(walk_t *w, int table)
{
    json_t *args = json_pack("{s:s}", "table", tables[table].name), *where = json_object();

    for (unsigned i = draw(w, 3); i > 0; i--) {
        draw_filter_condition(w, table, where);
    }
    if (json_object_size(where) > 0) {
        json_object_set(args, "where", where);
    }
    json_decref(where);
    if (draw(w, 3) == 0) {
        json_object_set_new(
            args, "order_by",
            json_string(apr_pstrcat(w->pool, draw(w, 2) ? "-" : "", tables[table].columns[draw(w, 3)], NULL)));
    }
    if (draw(w, 4) == 0) {
        json_object_set_new(args, "limit", json_integer(1 + draw(w, 4)));
        json_object_set_new(args, "offset", json_integer(draw(w, 3)));
    }
    return args;
}

/* ------------------------------------------------------------ numbers are compared here as well */

static int is_one_of(const json_t *list, json_int_t number)
{
    int is = 0;

    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *one = json_array_get(list, i);

        is |=
            number == (json_is_string(one) ? apr_strtoi64(json_string_value(one), NULL, 10) : json_integer_value(one));
    }
    return is;
}

/* @return -1: that is for the database to say */
static int holds(int table, const char *name, const json_t *value, const json_t *row)
{
    const char *operator= strstr(name, "__") != NULL ? strstr(name, "__") + 2 : "";
    char column[32];
    const json_t *cell;
    json_int_t is, with;

    apr_snprintf(column, sizeof(column), "%.*s", (int)(operator[0] != '\0' ? operator - 2 - name : (long)strlen(name)), name);
    cell = json_object_get(row, column);
    if (strcmp(operator, "isnull") == 0) {
        return json_is_null(cell) == json_is_true(value);
    }
    if (json_is_null(value) || json_is_null(cell)) {
        return json_is_null(value) && json_is_null(cell) && operator[0] == '\0';
    }
    if (is_of_text(table, column) || !json_is_integer(cell)) {
        return -1;
    }
    is = json_integer_value(cell);
    with = json_is_string(value) ? apr_strtoi64(json_string_value(value), NULL, 10) : json_integer_value(value);
    return strcmp(operator, "gt") == 0    ? is > with
           : strcmp(operator, "gte") == 0 ? is >= with
           : strcmp(operator, "lt") == 0  ? is < with
           : strcmp(operator, "lte") == 0 ? is <= with
           : strcmp(operator, "ne") == 0  ? is != with
           : strcmp(operator, "in") == 0  ? is_one_of(value, is)
                                          : is == with;
}

/* Are those rows found, of which it can be said here, and no others? */
static void check_found(walk_t *w, const watching_t *at, const json_t *args, const json_t *found)
{
    json_t *all = read_table(w, at->table);
    const char *key, *name;
    json_t *row, *value;

    json_object_foreach(all, key, row)
    {
        int expected = 1;

        json_object_foreach(json_object_get(args, "where"), name, value)
        {
            int one = expected == 0 ? 0 : holds(at->table, name, value, row);

            expected = one == 0 || expected == 0 ? 0 : one < 0 ? -1 : expected;
        }
        if (expected >= 0 && expected != (json_object_get(found, key) != NULL)) {
            is_wrong(w, expected ? "a filter does not find a row" : "a filter finds a row", args, row, found);
        }
    }
    json_decref(all);
}

/* The rows of a filter, by key, in their order. Of rows without a key no page is told. */
static json_t *rows_of_filter(walk_t *w, const watching_t *at)
{
    json_t *args = json_deep_copy(at->args), *where = json_object_get(args, "where");
    char sentence[1024];
    apr_status_t rv;
    json_t *answer, *found;

    if (where == NULL) {
        json_object_set_new(args, "where", where = json_object());
    }
    for (int i = 0; i < 2 && tables[at->table].key[i] != NULL; i++) {
        const char *without_key = apr_pstrcat(w->pool, tables[at->table].key[i], "__isnull", NULL);

        if (json_object_get(where, without_key) == NULL) {
            json_object_set_new(where, without_key, json_false());
        }
    }
    if (at->is_full) {
        json_object_set_new(args, "limit", json_integer(w->rows));
    }
    answer = call_of(w, &w->reader, NULL, "filter", args, &rv, sentence);
    if (rv != APR_SUCCESS) {
        is_wrong(w, sentence, args, NULL, NULL);
    }
    found = by_key(w, at, answer);
    if (json_object_get(args, "limit") == NULL) {
        check_found(w, at, args, found);
    }
    json_decref(args);
    json_decref(answer);
    return found;
}

/* ------------------------------------------------------------ what a page is to have been shown */

static json_t *truth(walk_t *w, const watching_t *at)
{
    return at->look == COLLECTION ? members(w, at)
           : at->look == QUERY    ? result(w, at)
           : at->look == FILTER   ? rows_of_filter(w, at)
           : at->look == COLUMN   ? values_of_column(w, at)
                                  : one_row(w, at);
}

/* Rows that were shown stay where they are; of a filter with an order this is the order. */
static int is_in_order(const watching_t *at, json_t *is)
{
    void *shown = json_object_iter(at->shown);

    if (at->look != FILTER || json_object_get(at->args, "order_by") == NULL) {
        return 1;
    }
    for (void *i = json_object_iter(is); i != NULL; i = json_object_iter_next(is, i)) {
        if (shown == NULL || strcmp(json_object_iter_key(shown), json_object_iter_key(i)) != 0) {
            return 0;
        }
        shown = json_object_iter_next(at->shown, shown);
    }
    return 1;
}

#endif
