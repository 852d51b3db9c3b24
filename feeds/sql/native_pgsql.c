/* SPDX-License-Identifier: Apache-2.0 */
/* Uses libpq on libdbi's connections: see native_pgsql.h. */
#include "sql/native_pgsql.h"

#include <stdlib.h>
#include <string.h>

#include <libpq-fe.h>

#include "apr_strings.h"

#include "base/now.h"
#include "sql/connection.h"
#include "sql/forms.h"

/* The types of a prepared statement's result have changed since it was prepared. */
#define STATE_OTHER_RESULT "0A000"
/* The first characters of the SQLSTATEs of refused values. Values get the types that the columns had when the statement
 * was prepared. If the columns have other types now, they may accept them. */
#define STATE_VALUE "22"

#define NAME_LENGTH 32

/* After this time a statement is prepared again: the best plan for an empty table is not the best one for a large
 * table. PostgreSQL does this only after it has analyzed the table, which may never happen. A statement that could not
 * be prepared is tried again after this time too: its table may have been locked. */
#define PLAN_LIFE apr_time_from_sec(60)

const char *sql_native_pgsql_start(dbi_driver driver)
{
    return sql_driver_check_library(driver, "PQconsumeInput", (sql_function_fn)PQconsumeInput);
}

/* ------------------------------------------------------------ what the server says beside its answers */

/* As for the message of a server that ends an idle connection. libpq itself would write to httpd's standard error. */
static void notice_cb(void *data, const char *message)
{
    const sql_database_t *db = data;

    db->host->log(6, "the database \"%s\" says: %.*s", db->database, (int)strcspn(message, "\n"), message);
}

void sql_native_pgsql_log_notices(const sql_conn_t *conn)
{
    PQsetNoticeProcessor(sql_driver_connection(conn), notice_cb, conn->db);
}

int sql_native_pgsql_take_notifications(const sql_conn_t *conn, sql_payload_fn take, void *data)
{
    PGconn *db = sql_driver_connection(conn);
    int works = PQconsumeInput(db);
    PGnotify *notification;

    while ((notification = PQnotifies(db)) != NULL) {
        take(data, notification->extra);
        PQfreemem(notification);
    }
    return works;
}

/* ------------------------------------------------------------ results */

static int is_good(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result); /* NULL: a fatal error */

    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

/* NULL: libpq has none, for example if the connection failed. */
static const char *state_of(const PGresult *result)
{
    return result != NULL ? PQresultErrorField(result, PG_DIAG_SQLSTATE) : NULL;
}

/* As libdbi's driver would report it. */
static void keep_error(sql_conn_t *conn, const PGconn *db, const PGresult *result)
{
    const char *state = state_of(result);
    const char *message = result != NULL ? PQresultErrorMessage(result) : PQerrorMessage(db);

    dbi_conn_set_error(conn->dbi, state != NULL ? (int)strtol(state, NULL, 36) : 0, "%s", message);
}

static int may_be_of_other_types(const PGresult *result)
{
    const char *state = state_of(result);

    return state != NULL &&
           (strcmp(state, STATE_OTHER_RESULT) == 0 || strncmp(state, STATE_VALUE, strlen(STATE_VALUE)) == 0);
}

static void give_rows(const PGresult *result, apr_pool_t *pool, sql_row_fn row, void *data)
{
    int rows = PQntuples(result);
    int columns = PQnfields(result);
    const char **cells = apr_pcalloc(pool, ((apr_size_t)columns + 1) * sizeof(*cells));
    int wanted = 1;

    for (int i = 0; i < rows && wanted; i++) {
        for (int j = 0; j < columns; j++) {
            cells[j] = PQgetisnull(result, i, j) ? NULL : PQgetvalue(result, i, j);
        }
        wanted = row(data, cells);
    }
}

/* ------------------------------------------------------------ prepare */

static void append_placeholder(sql_statement_t *form, const sql_statement_t *sql, int i)
{
    const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);
    int is_typed = value->text == NULL && sql->text[value->begin] != '\'';

    sql_raw(form, apr_psprintf(form->pool, is_typed ? "$%d::pg_catalog.int8" : "$%d", i + 1));
}

/* A query of the model may contain dollars, which are quotes, or would be taken for placeholders. */
static int has_dollars(const sql_form_t *form, const sql_statement_t *sql)
{
    int count = sql->values != NULL ? sql->values->nelts : 0;

    for (const char *at = form->text; (at = strchr(at, '$')) != NULL; at++) {
        count--;
    }
    return count != 0;
}

/* The name is that of the entry, so the server has no more statements than there are entries. */
static const char *name_of(char name[NAME_LENGTH], const sql_forms_t *forms, const sql_form_t *form)
{
    apr_snprintf(name, NAME_LENGTH, "mod_vault_%d", (int)(form - forms->at));
    return name;
}

/* form->statement says whether the server has a statement with the name of the entry. */
static void prepare(PGconn *db, const sql_forms_t *forms, sql_form_t *form)
{
    char name[NAME_LENGTH], deallocate[2 * NAME_LENGTH];
    PGresult *result;

    name_of(name, forms, form);
    if (form->statement != NULL) {
        apr_snprintf(deallocate, sizeof(deallocate), "DEALLOCATE %s", name);
        PQclear(PQexec(db, deallocate));
        form->statement = NULL;
    }
    result = PQprepare(db, name, form->text, 0, NULL);
    form->state = is_good(result) ? SQL_FORM_READY : SQL_FORM_UNFIT;
    form->asked_at = vault_now();
    form->statement = is_good(result) ? form : NULL;
    PQclear(result);
}

static void prepare_wanted(PGconn *db, sql_forms_t *forms)
{
    for (int i = 0; i < SQL_FORMS; i++) {
        if (forms->at[i].text != NULL && forms->at[i].state == SQL_FORM_WANTED) {
            prepare(db, forms, &forms->at[i]);
        }
    }
}

static sql_form_t *meet(sql_conn_t *conn, const sql_statement_t *sql)
{
    sql_form_t *form;

    if (conn->prepared == NULL) {
        conn->prepared = calloc(1, sizeof(sql_forms_t));
    }
    form = conn->prepared != NULL ? sql_forms_meet(conn->prepared, sql, append_placeholder) : NULL;
    if (form != NULL && form->state != SQL_FORM_MET && vault_now() - form->asked_at > PLAN_LIFE) {
        form->state = SQL_FORM_WANTED;
    }
    if (form != NULL && form->state == SQL_FORM_WANTED && has_dollars(form, sql)) {
        form->state = SQL_FORM_UNFIT;
    }
    return form;
}

/* ------------------------------------------------------------ run */

static PGresult *exec_prepared(sql_conn_t *conn, PGconn *db, const sql_form_t *form, const sql_statement_t *sql)
{
    const int count = sql->values != NULL ? sql->values->nelts : 0;
    const char **values = apr_palloc(sql->pool, ((apr_size_t)count + 1) * sizeof(*values));
    char name[NAME_LENGTH];

    for (int i = 0; i < count; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        values[i] = value->text != NULL ? value->text : apr_psprintf(sql->pool, "%" APR_INT64_T_FMT, value->number);
    }
    return PQexecPrepared(db, name_of(name, conn->prepared, form), count, values, NULL, NULL, 0);
}

/* Begins or ends a transaction: it has neither a form nor rows. */
static int is_command(const sql_statement_t *sql)
{
    return sql->values == NULL && (strncmp(sql->text, "BEGIN", 5) == 0 || strcmp(sql->text, "COMMIT") == 0);
}

static sql_ran_e run_form(sql_conn_t *conn, PGconn *db, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    int between = PQtransactionStatus(db) == PQTRANS_IDLE;
    sql_form_t *form = meet(conn, sql);
    PGresult *result;
    sql_ran_e ran = SQL_RAN;

    if (form != NULL && form->state == SQL_FORM_WANTED && between) {
        prepare(db, conn->prepared, form);
    }
    if (form == NULL || form->state != SQL_FORM_READY) {
        return SQL_RAN_NOT;
    }
    result = exec_prepared(conn, db, form, sql);
    if (is_good(result)) {
        if (row != NULL) {
            give_rows(result, sql->pool, row, data);
        }
    }
    else if (may_be_of_other_types(result)) {
        form->state = SQL_FORM_MET;
        keep_error(conn, db, result);
        ran = between ? SQL_RAN_NOT : SQL_RAN_FAILED;
    }
    else {
        keep_error(conn, db, result);
        ran = SQL_RAN_FAILED;
    }
    PQclear(result);
    return ran;
}

static sql_ran_e run_command(sql_conn_t *conn, PGconn *db, const sql_statement_t *sql)
{
    sql_ran_e ran = SQL_RAN;
    PGresult *result;

    if (conn->prepared != NULL && PQtransactionStatus(db) == PQTRANS_IDLE) {
        prepare_wanted(db, conn->prepared);
    }
    result = PQexec(db, sql->text);
    if (!is_good(result)) {
        keep_error(conn, db, result);
        ran = SQL_RAN_FAILED;
    }
    PQclear(result);
    return ran;
}

sql_ran_e sql_native_pgsql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    PGconn *db = sql_driver_connection(conn);

    if (db == NULL || sql->varies) {
        return SQL_RAN_NOT;
    }
    return is_command(sql) ? run_command(conn, db, sql) : run_form(conn, db, sql, row, data);
}
