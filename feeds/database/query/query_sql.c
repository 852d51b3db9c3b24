/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the statement that runs a query of the model: see query_sql.h. */
#include "database/query/query_sql.h"

#include <string.h>
#include <strings.h>

#include "apr_strings.h"

#include "database/model/query_text.h"
#include "sql/catalogue.h"
#include "sql/driver.h"

static sql_kind_e kind_of(const char *type)
{
    return strcmp(type, "integer") == 0   ? SQL_INTEGER
           : strcmp(type, "real") == 0    ? SQL_REAL
           : strcmp(type, "boolean") == 0 ? SQL_BOOLEAN
           : strcmp(type, "blob") == 0    ? SQL_BLOB
                                          : SQL_TEXT;
}

json_t *database_query_value(const json_t *given, const char *type)
{
    json_t *value;
    int fits;

    if (json_is_null(given) || strcmp(type, "text") == 0) {
        return json_is_null(given) || json_is_string(given) ? json_incref((json_t *)(uintptr_t)given) : NULL;
    }
    value = json_is_string(given) ? json_loads(json_string_value(given), JSON_DECODE_ANY, NULL)
                                  : json_incref((json_t *)(uintptr_t)given);
    fits = strcmp(type, "integer") == 0   ? json_is_integer(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
                                          : json_is_number(value);
    if (!fits) {
        json_decref(value);
        value = NULL;
    }
    return value;
}

static apr_status_t append_parameter(sql_call_t *c, const json_t *query, sql_statement_t *sql,
                                     const database_piece_t *piece)
{
    const char *name = apr_pstrmemdup(c->pool, piece->text, piece->length);
    const char *type = json_string_value(json_object_get(json_object_get(query, "parameters"), name));
    const json_t *given = json_object_get(json_object_get(c->args, "parameters"), name);
    json_t *value;
    const char *wrong;

    if (given == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"parameters.%s\" is missing", name);
    }
    value = database_query_value(given, type);
    wrong = value != NULL ? sql_value(sql, value) : apr_psprintf(c->pool, "is not of the type %s", type);
    json_decref(value);
    return wrong == NULL ? APR_SUCCESS : sql_fail(c, APR_EINVAL, "argument \"parameters.%s\" %s", name, wrong);
}

/* Is the query itself limited, and not only a query in its brackets? Both words are reserved in the databases
 * concerned. */
static int is_cut(const char *at)
{
    database_piece_t piece;
    database_piece_e kind;
    int depth = 0;

    while ((kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        if (kind != DATABASE_PIECE_SQL) {
            continue;
        }
        depth += (piece.text[0] == '(') - (piece.text[0] == ')');
        if (depth == 0 && piece.length == 5 &&
            (strncasecmp(piece.text, "limit", 5) == 0 || strncasecmp(piece.text, "fetch", 5) == 0)) {
            return 1;
        }
    }
    return 0;
}

/* Appends the text of the query. @param placeholder  is put for each value; NULL: the values of this call are */
static apr_status_t append_text(sql_call_t *c, const json_t *query, sql_statement_t *sql, const char *placeholder)
{
    const char *at = json_string_value(json_object_get(query, "sql"));
    database_piece_t piece;
    database_piece_e kind;
    apr_status_t rv = APR_SUCCESS;

    while (rv == APR_SUCCESS && (kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        if (kind == DATABASE_PIECE_PARAMETER && placeholder != NULL) {
            sql_raw(sql, placeholder);
        }
        else if (kind == DATABASE_PIECE_PARAMETER) {
            rv = append_parameter(c, query, sql, &piece);
        }
        else if (kind == DATABASE_PIECE_SELECT) {
            /* The form that libdbi's drivers need: see driver.h. */
            sql_raw(sql, c->db->driver->select);
        }
        else {
            sql_bytes(sql, piece.text, piece.length);
        }
    }
    /* The query may end with a comment. */
    sql_raw(sql, "\n");
    return rv;
}

apr_status_t database_query_check(sql_call_t *c, const json_t *query)
{
    const char *at = json_string_value(json_object_get(query, "sql"));
    database_piece_t piece;
    database_piece_e kind;

    while ((kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        if (kind == DATABASE_PIECE_QUOTED &&
            !sql_catalogue_is_safe(c, apr_pstrmemdup(c->pool, piece.text, piece.length))) {
            return sql_fail(c, APR_EINVAL, "libdbi cannot handle the word \"select\" between quotes");
        }
    }
    return APR_SUCCESS;
}

const char *const *database_query_columns(sql_call_t *c, const json_t *query)
{
    const json_t *columns = json_object_get(query, "columns");
    const char **names = apr_pcalloc(c->pool, (json_object_size(columns) + 1) * sizeof(*names));
    const char *name;
    json_t *type;
    int i = 0;

    json_object_foreach((json_t *)(uintptr_t)columns, name, type)
    {
        names[i++] = name;
    }
    return names;
}

static apr_status_t append_all(sql_call_t *c, const json_t *query, sql_statement_t *sql, const char *placeholder)
{
    const char *name, *separator = " ";
    json_t *type;
    apr_status_t rv;

    sql_raw(sql, sql->driver->select);
    json_object_foreach(json_object_get(query, "columns"), name, type)
    {
        sql_raw(sql, separator);
        sql_cell(sql, "q", name, kind_of(json_string_value(type)));
        separator = ",";
    }
    sql_raw(sql, " FROM (");
    rv = append_text(c, query, sql, placeholder);
    if (c->db->driver->sorts_cut_only && !is_cut(json_string_value(json_object_get(query, "sql")))) {
        sql_limit(sql, c->db->rows + 1);
    }
    sql_raw(sql, ") AS q");
    sql_limit(sql, c->db->rows + 1);
    return rv;
}

apr_status_t database_query_append(sql_call_t *c, const json_t *query, sql_statement_t *sql)
{
    sql->varies = 1;
    return append_all(c, query, sql, NULL);
}

/* PostgreSQL, which only parses the statement, takes NULL for an unknown value; SQLite, which also plans it, takes a
 * placeholder. */
void database_query_append_form(sql_call_t *c, const json_t *query, sql_statement_t *sql)
{
    (void)append_all(c, query, sql, c->db->driver->is_server ? "NULL" : "?");
}
