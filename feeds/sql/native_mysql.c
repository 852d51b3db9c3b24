/* SPDX-License-Identifier: Apache-2.0 */
/* Uses MariaDB's client library on libdbi's connections: see native_mysql.h. */
#include "sql/native_mysql.h"

#include <stdlib.h>
#include <string.h>

#include <mysql.h>

#include "apr_strings.h"

#include "sql/connection.h"
#include "sql/forms.h"

/* Errors of an EXECUTE that did not begin: the number of values is not that of the placeholders, as a query of the
 * model may contain question marks; the server has lost the prepared statement; the tables are altered again and
 * again. */
enum { ERROR_ARGUMENTS = 1210, ERROR_UNKNOWN = 1243, ERROR_ALTERED = 1615 };

/* The library is not thread-safe before this has returned once. */
const char *sql_native_mysql_start(dbi_driver driver)
{
    const char *why = sql_driver_check_library(driver, "mysql_init", (sql_function_fn)mysql_init);

    return why == NULL && mysql_library_init(0, NULL, NULL) != 0 ? "MariaDB's library cannot start" : why;
}

/* ------------------------------------------------------------ the server */

/* @param result  the rows; NULL: there are none, or it failed. @return 0, or the number of the error; -1 if the library
 *         has none */
static int ask(MYSQL *db, const sql_statement_t *sql, MYSQL_RES **result)
{
    int failed = mysql_real_query(db, sql->text, sql->length);

    *result = failed == 0 ? mysql_store_result(db) : NULL;
    if (*result != NULL) {
        return 0;
    }
    /* Without rows this is an error, or the statement has no rows. */
    return mysql_errno(db) != 0 ? (int)mysql_errno(db) : -failed;
}

/* As libdbi's driver would report it. */
static void keep_error(sql_conn_t *conn, MYSQL *db)
{
    dbi_conn_set_error(conn->dbi, (int)mysql_errno(db), "%s", mysql_error(db));
}

/* A cell contains no NUL, and the library appends one. */
static void give_rows(MYSQL_RES *result, apr_pool_t *pool, sql_row_fn row, void *data)
{
    const apr_size_t columns = mysql_num_fields(result);
    const char **cells = apr_palloc(pool, (columns + 1) * sizeof(*cells));
    MYSQL_ROW found;
    int wanted = 1;

    while (wanted && (found = mysql_fetch_row(result)) != NULL) {
        for (apr_size_t i = 0; i < columns; i++) {
            cells[i] = found[i];
        }
        wanted = row(data, cells);
    }
}

static sql_ran_e run_text(sql_conn_t *conn, MYSQL *db, const sql_statement_t *sql)
{
    MYSQL_RES *result;

    if (ask(db, sql, &result) != 0) {
        keep_error(conn, db);
        return SQL_RAN_FAILED;
    }
    if (result != NULL) {
        mysql_free_result(result);
    }
    return SQL_RAN;
}

/* ------------------------------------------------------------ forms */

/* A number and a text make different forms: MariaDB takes the types of the values at the first EXECUTE for all later
 * ones. */
static void append_placeholder(sql_statement_t *form, const sql_statement_t *sql, int i)
{
    sql_raw(form, APR_ARRAY_IDX(sql->values, i, sql_value_t).text != NULL ? "?" : "? ");
}

/* The name is that of the entry, so a new form replaces the old one on the server, too. */
static void append_name(sql_statement_t *sql, const sql_forms_t *forms, const sql_form_t *form)
{
    sql_raw(sql, apr_psprintf(sql->pool, "mod_vault_%d", (int)(form - forms->at)));
}

/* An empty statement without a list of values to bind. */
static sql_statement_t empty(const sql_statement_t *like, apr_size_t space)
{
    sql_statement_t sql = {.driver = like->driver, .pool = like->pool, .space = space};

    sql.text = apr_palloc(sql.pool, space);
    sql.text[0] = '\0';
    return sql;
}

/* A form that cannot be prepared, because a table does not exist or a lock is held, runs as text, and is tried again at
 * its next use. */
static void prepare(sql_conn_t *conn, MYSQL *db, sql_form_t *form, const sql_statement_t *like)
{
    sql_statement_t sql = empty(like, 2 * form->length + 64);
    MYSQL_RES *result;
    int error;

    sql_raw(&sql, "PREPARE ");
    append_name(&sql, conn->prepared, form);
    sql_raw(&sql, " FROM ");
    sql.driver->append_text(&sql, form->text, form->length);
    error = ask(db, &sql, &result);
    if (error == 0) {
        form->state = SQL_FORM_READY;
    }
    else {
        form->state = sql.driver->fault(error) == SQL_FAULT_OTHER ? SQL_FORM_UNFIT : SQL_FORM_MET;
    }
}

static sql_form_t *meet(sql_conn_t *conn, const sql_statement_t *sql)
{
    if (conn->prepared == NULL) {
        conn->prepared = calloc(1, sizeof(sql_forms_t));
    }
    return conn->prepared != NULL ? sql_forms_meet(conn->prepared, sql, append_placeholder) : NULL;
}

/* ------------------------------------------------------------ run */

static void append_values(sql_statement_t *execute, const sql_statement_t *sql)
{
    for (int i = 0; sql->values != NULL && i < sql->values->nelts; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        sql_raw(execute, i == 0 ? " USING " : ",");
        sql_bytes(execute, sql->text + value->begin, value->end - value->begin);
    }
}

static sql_ran_e execute_form(sql_conn_t *conn, MYSQL *db, sql_form_t *form, const sql_statement_t *sql,
                              MYSQL_RES **result)
{
    sql_statement_t execute = empty(sql, 256);
    int error;

    sql_raw(&execute, "EXECUTE ");
    append_name(&execute, conn->prepared, form);
    append_values(&execute, sql);
    error = ask(db, &execute, result);
    if (error == 0) {
        return SQL_RAN;
    }
    if (error == ERROR_ARGUMENTS || error == ERROR_UNKNOWN || error == ERROR_ALTERED) {
        form->state = error == ERROR_ARGUMENTS ? SQL_FORM_UNFIT : SQL_FORM_MET;
        return SQL_RAN_NOT;
    }
    keep_error(conn, db);
    return SQL_RAN_FAILED;
}

static sql_ran_e run_form(sql_conn_t *conn, MYSQL *db, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    sql_form_t *form = meet(conn, sql);
    MYSQL_RES *result = NULL;
    sql_ran_e ran;

    if (form != NULL && form->state == SQL_FORM_WANTED) {
        prepare(conn, db, form, sql);
    }
    if (form == NULL || form->state != SQL_FORM_READY) {
        return SQL_RAN_NOT;
    }
    ran = execute_form(conn, db, form, sql, &result);
    if (result != NULL && row != NULL) {
        give_rows(result, sql->pool, row, data);
    }
    if (result != NULL) {
        mysql_free_result(result);
    }
    return ran;
}

/* Begins or ends a transaction: it has neither a form nor rows. */
static int is_command(const sql_statement_t *sql)
{
    return sql->values == NULL && (strncmp(sql->text, "START ", 6) == 0 || strcmp(sql->text, "COMMIT") == 0);
}

sql_ran_e sql_native_mysql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    MYSQL *db = sql_driver_connection(conn);

    if (db == NULL) {
        return SQL_RAN_NOT;
    }
    return is_command(sql) ? run_text(conn, db, sql) : run_form(conn, db, sql, row, data);
}
