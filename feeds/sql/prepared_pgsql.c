/* SPDX-License-Identifier: Apache-2.0 */
/* Statements of PostgreSQL that stay prepared: see prepared_pgsql.h. */
#include "prepared_pgsql.h"

#include <stdlib.h>
#include <string.h>

#include <dbi/dbi-dev.h>

#include "apr_strings.h"

#include "base/now.h"
#include "connection.h"
#include "forms.h"

/* Of libpq-fe.h and postgres_ext.h: states of results and of a transaction, a field of an error. */
enum { RESULT_DONE = 1, RESULT_ROWS = 2, TRANSACTION_NONE = 0, FIELD_STATE = 'C' };

/* The result of a prepared statement has other types than when it was prepared. */
#define STATE_OTHER_RESULT "0A000"
/* What SQLSTATEs of values that are refused begin with. Values have the types of the columns that there were when the statement was
 * prepared: others may take them now. */
#define STATE_VALUE "22"

#define NAME_LENGTH 32

/* A statement is prepared anew after that: what is the best plan for a table that has no rows is none for one that has many. PostgreSQL does so
 * itself when it has analyzed the table, which may be never. What could not be prepared is tried again, too: a table may have been locked. */
#define PLAN_LIFE apr_time_from_sec(60)

/* By name, in the order of `functions`. */
static const char *const names[] = {"PQexec",
                                    "PQprepare",
                                    "PQexecPrepared",
                                    "PQresultStatus",
                                    "PQresultErrorField",
                                    "PQresultErrorMessage",
                                    "PQnfields",
                                    "PQntuples",
                                    "PQgetvalue",
                                    "PQgetisnull",
                                    "PQclear",
                                    "PQerrorMessage",
                                    "PQtransactionStatus"};

#define FUNCTIONS (sizeof(names) / sizeof(names[0]))

/* const after start, as long as a feed of the process is at work */
static union {
    void *found[FUNCTIONS];
    struct {
        void *(*exec)(void *db, const char *statement);
        void *(*prepare)(void *db, const char *name, const char *statement, int count, const unsigned *types);
        void *(*exec_prepared)(void *db, const char *name, int count, const char *const *values, const int *lengths,
                               const int *formats, int format);
        int (*result_status)(const void *result);
        char *(*result_error_field)(const void *result, int field);
        char *(*result_error_message)(const void *result);
        int (*nfields)(const void *result);
        int (*ntuples)(const void *result);
        char *(*getvalue)(const void *result, int row, int column);
        int (*getisnull)(const void *result, int row, int column);
        void (*clear)(void *result);
        char *(*error_message)(const void *db);
        int (*transaction_status)(const void *db);
    } of;
} functions;

static int works; /* likewise */

/* libdbi's module has no names for them, but is linked with them. */
void sql_prepared_pgsql_start(dbi_driver driver)
{
    int all = sql_driver_find_functions(driver, names, functions.found, FUNCTIONS);

    if (works != all) {
        works = all;
    }
}

/* ------------------------------------------------------------ results */

static int is_good(const void *result)
{
    int status = result != NULL ? functions.of.result_status(result) : -1;

    return status == RESULT_DONE || status == RESULT_ROWS;
}

/* NULL: libpq has none, as when the connection failed. */
static const char *state_of(const void *result)
{
    return result != NULL ? functions.of.result_error_field(result, FIELD_STATE) : NULL;
}

/* As libdbi's module would tell it. */
static void keep_error(sql_conn_t *conn, const void *db, const void *result)
{
    const char *state = state_of(result);
    const char *message = result != NULL ? functions.of.result_error_message(result) : functions.of.error_message(db);

    dbi_conn_set_error(conn->dbi, state != NULL ? (int)strtol(state, NULL, 36) : 0, "%s", message);
}

static int may_be_of_other_types(const void *result)
{
    const char *state = state_of(result);

    return state != NULL &&
           (strcmp(state, STATE_OTHER_RESULT) == 0 || strncmp(state, STATE_VALUE, strlen(STATE_VALUE)) == 0);
}

static void give_rows(const void *result, apr_pool_t *pool, sql_row_fn row, void *data)
{
    int rows = functions.of.ntuples(result);
    int columns = functions.of.nfields(result);
    const char **cells = apr_pcalloc(pool, ((apr_size_t)columns + 1) * sizeof(*cells));
    int wanted = 1;

    for (int i = 0; i < rows && wanted; i++) {
        for (int j = 0; j < columns; j++) {
            cells[j] = functions.of.getisnull(result, i, j) ? NULL : functions.of.getvalue(result, i, j);
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

/* A query of the model may have dollars of its own, which are quotes, or would be taken for values. */
static int has_dollars(const sql_form_t *form, const sql_statement_t *sql)
{
    int count = sql->values != NULL ? sql->values->nelts : 0;

    for (const char *at = form->text; (at = strchr(at, '$')) != NULL; at++) {
        count--;
    }
    return count != 0;
}

/* One of each place, so that no more are on the server than there are places. */
static const char *name_of(char name[NAME_LENGTH], const sql_forms_t *forms, const sql_form_t *form)
{
    apr_snprintf(name, NAME_LENGTH, "mod_vault_%d", (int)(form - forms->at));
    return name;
}

/* form->statement tells that something is on the server by its name. */
static void prepare(void *db, const sql_forms_t *forms, sql_form_t *form)
{
    char name[NAME_LENGTH], deallocate[2 * NAME_LENGTH];
    void *result;

    name_of(name, forms, form);
    if (form->statement != NULL) {
        apr_snprintf(deallocate, sizeof(deallocate), "DEALLOCATE %s", name);
        functions.of.clear(functions.of.exec(db, deallocate));
        form->statement = NULL;
    }
    result = functions.of.prepare(db, name, form->text, 0, NULL);
    form->state = is_good(result) ? SQL_FORM_READY : SQL_FORM_UNFIT;
    form->asked_at = vault_now();
    form->statement = is_good(result) ? form : NULL;
    functions.of.clear(result);
}

static void prepare_wanted(void *db, sql_forms_t *forms)
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

static void *exec_prepared(sql_conn_t *conn, void *db, const sql_form_t *form, const sql_statement_t *sql)
{
    const int count = sql->values != NULL ? sql->values->nelts : 0;
    const char **values = apr_palloc(sql->pool, ((apr_size_t)count + 1) * sizeof(*values));
    char name[NAME_LENGTH];

    for (int i = 0; i < count; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        values[i] = value->text != NULL ? value->text : apr_psprintf(sql->pool, "%" APR_INT64_T_FMT, value->number);
    }
    return functions.of.exec_prepared(db, name_of(name, conn->prepared, form), count, values, NULL, NULL, 0);
}

/* Begins and ends transactions: has no form, and no rows. */
static int is_command(const sql_statement_t *sql)
{
    return sql->values == NULL && (strncmp(sql->text, "BEGIN", 5) == 0 || strcmp(sql->text, "COMMIT") == 0);
}

static sql_ran_e run_form(sql_conn_t *conn, void *db, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    int between = functions.of.transaction_status(db) == TRANSACTION_NONE;
    sql_form_t *form = meet(conn, sql);
    void *result;
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
    functions.of.clear(result);
    return ran;
}

static sql_ran_e run_command(sql_conn_t *conn, void *db, const sql_statement_t *sql)
{
    sql_ran_e ran = SQL_RAN;
    void *result;

    if (conn->prepared != NULL && functions.of.transaction_status(db) == TRANSACTION_NONE) {
        prepare_wanted(db, conn->prepared);
    }
    result = functions.of.exec(db, sql->text);
    if (!is_good(result)) {
        keep_error(conn, db, result);
        ran = SQL_RAN_FAILED;
    }
    functions.of.clear(result);
    return ran;
}

sql_ran_e sql_prepared_pgsql_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    void *db = works && conn->dbi != NULL ? ((dbi_conn_t *)conn->dbi)->connection : NULL;

    if (db == NULL || sql->varies) {
        return SQL_RAN_NOT;
    }
    return is_command(sql) ? run_command(conn, db, sql) : run_form(conn, db, sql, row, data);
}
