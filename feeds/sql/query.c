/* SPDX-License-Identifier: Apache-2.0 */
/* Runs statements on a connection, and classifies their errors. */
#include <string.h>

#include "apr_strings.h"

#include "sql/catalogue.h"
#include "sql/connect.h"
#include "sql/connection.h"

#define MESSAGE_MAX 300

const char *sql_conn_message(sql_call_t *c)
{
    const char *message = NULL;
    apr_size_t length;

    dbi_conn_error(c->conn->dbi, &message);
    if (message == NULL || message[0] == '\0') {
        return "no reason given";
    }
    if (c->db->driver->tidy != NULL) {
        message = c->db->driver->tidy(message);
    }
    /* The lines after the first one repeat the statement. */
    length = strcspn(message, "\r\n");
    return apr_pstrndup(c->pool, message, length < MESSAGE_MAX ? length : MESSAGE_MAX);
}

static sql_fault_e fault_of(sql_call_t *c)
{
    return c->db->driver->fault(dbi_conn_error(c->conn->dbi, NULL));
}

static apr_status_t explain(sql_call_t *c)
{
    const char *name = c->db->database;
    const char *message = sql_conn_message(c);

    switch (fault_of(c)) {
    case SQL_FAULT_BUSY:
        return sql_fail(c, APR_EAGAIN, "the database is locked: waited %d s for \"%s\"", c->db->timeout, name);
    case SQL_FAULT_SLOW:
        return sql_fail(c, APR_EAGAIN, "the database \"%s\" took longer than %d s for a statement", name,
                        c->db->timeout);
    case SQL_FAULT_GONE:
        c->conn->broken = 1;
        return sql_fail(c, APR_EAGAIN, "the database \"%s\" cannot be used now: error %s", name,
                        c->db->driver->is_server ? message : sql_file_why(c, message));
    case SQL_FAULT_CHANGED:
        c->conn->tables = NULL;
        return sql_fail(c, APR_EAGAIN, "the tables of \"%s\" were altered meanwhile: error %s", name, message);
    case SQL_FAULT_REFUSED:
        return sql_fail(c, APR_EINVAL, "the database refuses the values: error %s", message);
    default:
        return sql_fail(c, APR_EGENERAL, "the database \"%s\" answers with error %s", name, message);
    }
}

/* A server ends its statements itself. If it cannot, the guard (guard.h) ends them this many seconds later. */
#define GRACE 3

static dbi_result ask(sql_call_t *c, const char *statement)
{
    sql_guard_t *guard = c->db->guard;
    dbi_result answer;

    if (guard != NULL) {
        sql_guard_begin(guard, &c->conn->guarded, c->db->timeout + GRACE);
    }
    answer = dbi_conn_query(c->conn->dbi, statement);
    if (guard != NULL) {
        sql_guard_end(guard, &c->conn->guarded);
    }
    return answer;
}

/* The connection may have died since its last use, and nothing has been lost with it yet. */
static int may_ask_again(const sql_call_t *c)
{
    return c->db->driver->is_server && c->statements == 1 && !c->conn->is_new;
}

static apr_status_t connect_again(sql_call_t *c)
{
    sql_conn_close(c->conn);
    return sql_connect(c);
}

apr_status_t sql_conn_query(sql_call_t *c, const char *statement, dbi_result *result)
{
    dbi_result answer = ask(c, statement);

    c->statements++;
    if (result != NULL) {
        *result = NULL;
    }
    if (answer == NULL && may_ask_again(c) && fault_of(c) == SQL_FAULT_GONE) {
        apr_status_t rv = connect_again(c);

        if (rv != APR_SUCCESS) {
            return rv;
        }
        answer = ask(c, statement);
    }
    if (answer == NULL) {
        return explain(c);
    }
    if (result != NULL) {
        *result = answer;
    }
    else {
        dbi_result_free(answer);
    }
    return APR_SUCCESS;
}

void sql_result_rows(dbi_result result, apr_pool_t *pool, sql_row_fn row, void *data)
{
    unsigned columns = dbi_result_get_numfields(result);
    const char **cells = apr_palloc(pool, (columns + 1) * sizeof(*cells));
    int wanted = 1;

    while (wanted && dbi_result_next_row(result)) {
        for (unsigned i = 0; i < columns; i++) {
            cells[i] = dbi_result_get_string_idx(result, i + 1);
        }
        wanted = row(data, cells);
    }
}

/* Runs a statement by the client library. If the cached tables may be out of date, it is run only if it is certain to
 * notice that. */
static sql_ran_e run_past(sql_call_t *c, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    sql_guard_t *guard = c->db->guard;
    sql_ran_e ran;

    if (c->db->driver->run == NULL) {
        return SQL_RAN_NOT;
    }
    if (guard != NULL) {
        sql_guard_begin(guard, &c->conn->guarded, c->db->timeout + GRACE);
    }
    c->conn->assumes = c->assumes && !c->catalogue_is_fresh;
    ran = c->db->driver->run(c->conn, sql, row, data);
    c->conn->assumes = 0;
    if (guard != NULL) {
        sql_guard_end(guard, &c->conn->guarded);
    }
    return ran;
}

apr_status_t sql_conn_run(sql_call_t *c, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    sql_ran_e ran = run_past(c, sql, row, data);
    dbi_result result;
    apr_status_t rv;

    if (ran == SQL_RAN_UNSURE) {
        rv = sql_catalogue_check(c);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        ran = run_past(c, sql, row, data);
    }
    if (ran == SQL_RAN_STALE) {
        c->conn->tables = NULL;
        return SQL_STALE;
    }
    if (ran != SQL_RAN_NOT) {
        c->statements++;
    }
    if (ran == SQL_RAN_FAILED && may_ask_again(c) && fault_of(c) == SQL_FAULT_GONE) {
        rv = connect_again(c);
        if (rv != APR_SUCCESS) {
            return rv;
        }
        ran = SQL_RAN_NOT;
    }
    if (ran != SQL_RAN_NOT) {
        return ran == SQL_RAN ? APR_SUCCESS : explain(c);
    }
    rv = sql_conn_query(c, sql->text, &result);
    if (rv == APR_SUCCESS) {
        if (row != NULL) {
            sql_result_rows(result, c->pool, row, data);
        }
        dbi_result_free(result);
    }
    return rv;
}

apr_status_t sql_execute(sql_call_t *c, const char *format, ...)
{
    const sql_statement_t *sql;
    va_list values;

    va_start(values, format);
    sql = sql_statement_of_list(c, format, values);
    va_end(values);
    return sql_conn_query(c, sql->text, NULL);
}

apr_status_t sql_conn_cell(sql_call_t *c, const char *statement, const char **cell)
{
    dbi_result result;
    apr_status_t rv = sql_conn_query(c, statement, &result);

    *cell = NULL;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (dbi_result_next_row(result)) {
        *cell = apr_pstrdup(c->pool, dbi_result_get_string_idx(result, 1));
    }
    dbi_result_free(result);
    return APR_SUCCESS;
}

int sql_conn_try(sql_call_t *c, const char *statement)
{
    dbi_result result = ask(c, statement);

    if (result != NULL) {
        dbi_result_free(result);
    }
    return result != NULL;
}

char *sql_conn_ask(sql_call_t *c, const char *statement, unsigned column)
{
    dbi_result result = ask(c, statement);
    char *cell = NULL;

    if (result != NULL) {
        cell = dbi_result_next_row(result) ? apr_pstrdup(c->pool, dbi_result_get_string_idx(result, column)) : NULL;
        dbi_result_free(result);
    }
    return cell;
}

/* A statement without values. */
static apr_status_t run_constant(sql_call_t *c, const char *text)
{
    const sql_statement_t sql = sql_statement_of(c, text);

    return sql_conn_run(c, &sql, NULL, NULL);
}

apr_status_t sql_conn_begin_write(sql_call_t *c)
{
    return run_constant(c, c->db->driver->begin_write);
}

apr_status_t sql_conn_begin_read(sql_call_t *c)
{
    const sql_driver_t *driver = c->db->driver;
    apr_status_t rv = driver->before_read != NULL ? sql_conn_query(c, driver->before_read, NULL) : APR_SUCCESS;

    return rv == APR_SUCCESS ? run_constant(c, driver->begin_read) : rv;
}

apr_status_t sql_conn_commit(sql_call_t *c)
{
    return run_constant(c, "COMMIT");
}

void sql_conn_rollback(sql_call_t *c)
{
    dbi_result answer = c->conn->dbi != NULL ? ask(c, "ROLLBACK") : NULL;

    if (answer == NULL) {
        /* No transaction is open any more, or the connection is lost: closing it is right for both. */
        c->conn->broken = 1;
        return;
    }
    dbi_result_free(answer);
}

apr_status_t sql_conn_end(sql_call_t *c, apr_status_t rv)
{
    if (rv == APR_SUCCESS) {
        rv = sql_conn_commit(c);
    }
    if (rv != APR_SUCCESS) {
        sql_conn_rollback(c);
    }
    return rv;
}
