/* SPDX-License-Identifier: Apache-2.0 */
/* Uses SQLite's library on libdbi's connections: see native_sqlite3.h.
 *
 * If its tables were altered, a statement of sqlite3_prepare_v2 would be prepared again by SQLite, although what the
 * feed has read from the catalogue is out of date. So sqlite3_prepare is used: such a statement reports the change
 * before it does anything, and is prepared again here. The reason why a step failed is returned by sqlite3_reset. */
#include "sql/native_sqlite3.h"

#include <stdlib.h>
#include <string.h>

#include <jansson.h>
#include <sqlite3.h>

#include "apr_escape.h"
#include "apr_strings.h"

#include "sql/connection.h"

/* Statements that a connection keeps, about 10 KB each. */
#define KEPT 32
/* How often tables may be altered between preparing a statement and running it, before the feed gives up. */
#define TRIES 5

typedef struct kept_t {
    char *form; /* NULL: the entry is free */
    apr_size_t length;
    sqlite3_stmt *statement;
    apr_uint64_t used;     /* larger: later */
    apr_uint64_t ran_at;   /* sql_conn_t::asked when it first ran; 0: it has not run, or no call had asked */
    apr_uint64_t known_at; /* the same for its last run at a later value of `asked`; 0: there was none */
} kept_t;

typedef struct sql_prepared_t {
    kept_t at[KEPT];
    apr_uint64_t clock;
} sql_prepared_t;

const char *sql_native_sqlite3_start(dbi_driver driver)
{
    return sql_driver_check_library(driver, "sqlite3_prepare", (sql_function_fn)sqlite3_prepare);
}

/* ------------------------------------------------------------ cells */

/* Returns the cell `kind`, then `length` bytes without a NUL, which SQLite owns from here on. With a terminating NUL
 * and without a length, SQLite returns it unchanged; otherwise it would make a copy to append a NUL. */
static void answer(sqlite3_context *context, char kind, const char *bytes, size_t length)
{
    char *cell = malloc(length + 2);

    if (cell != NULL) {
        cell[0] = kind;
        memcpy(cell + 1, bytes, length);
        cell[length + 1] = '\0';
        sqlite3_result_text(context, cell, -1, free);
    }
}

static void answer_hex(sqlite3_context *context, char kind, const void *bytes, size_t length)
{
    char *digits = malloc(2 * length + 1);

    if (digits != NULL && apr_escape_hex(digits, bytes, length, 0, NULL) == APR_SUCCESS) {
        answer(context, kind, digits, 2 * length);
    }
    else if (length == 0) {
        answer(context, kind, "", 0);
    }
    free(digits);
}

/* jansson's writer does not depend on the locale, unlike printf. 17 digits restore every double. It does not write
 * infinity. */
static void answer_real(sqlite3_context *context, double number)
{
    json_t *real = json_real(number);
    char *digits = real != NULL ? json_dumps(real, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17)) : NULL;

    answer(context, 'R', digits != NULL ? digits : "", digits != NULL ? strlen(digits) : 0);
    free(digits);
    json_decref(real);
}

/* NULL stays NULL: that is the result of a function that sets no result. */
static void cell_cb(sqlite3_context *context, int count, sqlite3_value **values)
{
    sqlite3_value *value = values[0];
    const char *text;
    size_t length;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        text = (const char *)sqlite3_value_text(value);
        answer(context, 'I', text, strlen(text));
        break;
    case SQLITE_FLOAT:
        answer_real(context, sqlite3_value_double(value));
        break;
    case SQLITE_TEXT:
        text = (const char *)sqlite3_value_text(value);
        length = (size_t)sqlite3_value_bytes(value);
        if (memchr(text, 0, length) != NULL) {
            answer_hex(context, 'H', text, length);
        }
        else {
            answer(context, 'T', text, length);
        }
        break;
    case SQLITE_BLOB:
        text = sqlite3_value_blob(value);
        answer_hex(context, 'B', text, (size_t)sqlite3_value_bytes(value));
        break;
    }
}

int sql_native_sqlite3_register(const sql_conn_t *conn)
{
    sqlite3 *db = sql_driver_connection(conn);

    return sqlite3_create_function(db, SQL_NATIVE_SQLITE3_CELL, 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL, cell_cb,
                                   NULL, NULL) == SQLITE_OK;
}

/* ------------------------------------------------------------ kept */

/* The statement with a question mark for each value. A value has to compare as its literal does: as a word without a
 * type, or as an expression that is text. */
static const char *form_of(const sql_statement_t *sql)
{
    sql_statement_t form = {.driver = sql->driver, .pool = sql->pool, .space = sql->length + 1};
    apr_size_t at = 0;

    if (sql->values == NULL) {
        return sql->text;
    }
    form.text = apr_palloc(sql->pool, form.space);
    for (int i = 0; i < sql->values->nelts; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        sql_bytes(&form, sql->text + at, value->begin - at);
        sql_raw(&form, sql->text[value->begin] == 'C' ? "CAST(? AS TEXT)" : "?");
        at = value->end;
    }
    sql_bytes(&form, sql->text + at, sql->length - at);
    return form.text;
}

static void let_go(kept_t *kept)
{
    if (kept->statement != NULL) {
        sqlite3_finalize(kept->statement);
    }
    free(kept->form);
    memset(kept, 0, sizeof(*kept));
}

void sql_native_sqlite3_forget(sql_conn_t *conn)
{
    sql_prepared_t *prepared = conn->prepared;

    for (int i = 0; prepared != NULL && i < KEPT; i++) {
        let_go(&prepared->at[i]);
    }
    free(prepared);
    conn->prepared = NULL;
}

/* The entry of the statement, or the one that was used longest ago. */
static kept_t *find(sql_prepared_t *prepared, const char *form, apr_size_t length)
{
    kept_t *oldest = &prepared->at[0];

    for (int i = 0; i < KEPT; i++) {
        kept_t *kept = &prepared->at[i];

        if (kept->form != NULL && kept->length == length && memcmp(kept->form, form, length) == 0) {
            return kept;
        }
        if (kept->used < oldest->used) {
            oldest = kept;
        }
    }
    let_go(oldest);
    return oldest;
}

static kept_t *keep(sql_conn_t *conn, const char *form)
{
    apr_size_t length = strlen(form);
    sql_prepared_t *prepared = conn->prepared;
    kept_t *kept;

    if (prepared == NULL) {
        conn->prepared = prepared = calloc(1, sizeof(*prepared));
    }
    if (prepared == NULL) {
        return NULL;
    }
    kept = find(prepared, form, length);
    if (kept->form == NULL) {
        kept->form = strdup(form);
        kept->length = length;
    }
    kept->used = ++prepared->clock;
    return kept->form != NULL ? kept : NULL;
}

/* Was it prepared for the schema that conn->tables describe? It had one schema when it first ran and still has it, so
 * the file had this schema whenever it was asked in between: version numbers of schemas only increase. */
static int is_known(const sql_conn_t *conn, const kept_t *kept)
{
    return kept->known_at != 0 && kept->known_at >= conn->asked_first;
}

/* It ran, so its schema is that of the file. */
static void note_run(const sql_conn_t *conn, kept_t *kept)
{
    if (kept->ran_at == 0) {
        kept->ran_at = conn->asked;
    }
    else if (conn->asked > kept->ran_at) {
        kept->known_at = conn->asked;
    }
}

/* ------------------------------------------------------------ run */

static int bind_values(sqlite3_stmt *statement, const sql_statement_t *sql)
{
    int count = sql->values != NULL ? sql->values->nelts : 0;
    int rv = SQLITE_OK;

    /* A query of the model may contain question marks. */
    if (sqlite3_bind_parameter_count(statement) != count) {
        return -1;
    }
    for (int i = 0; i < count && rv == SQLITE_OK; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        rv = value->text != NULL ? sqlite3_bind_text(statement, i + 1, value->text, value->length, SQLITE_STATIC)
                                 : sqlite3_bind_int64(statement, i + 1, value->number);
    }
    return rv;
}

/* Steps through all rows, until there is an error or `row` wants no more. In all cases the statement holds no lock
 * afterwards. */
static int step_all(sqlite3_stmt *statement, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    int columns = row != NULL ? sqlite3_column_count(statement) : 0;
    const char **cells = apr_pcalloc(sql->pool, ((apr_size_t)columns + 1) * sizeof(*cells));
    int wanted = 1;
    int first = 0;
    int rv = SQLITE_ROW;

    while (wanted && (rv = sqlite3_step(statement)) == SQLITE_ROW) {
        for (int i = 0; i < columns; i++) {
            cells[i] = i < first ? NULL : (const char *)sqlite3_column_text(statement, i);
        }
        first = sql->once;
        wanted = row == NULL || row(data, cells);
    }
    rv = sqlite3_reset(statement);
    return wanted ? rv : SQLITE_OK;
}

/* One attempt. A statement that SQLite cannot even parse is run by libdbi, which reports the reason. */
static sql_ran_e run_once(kept_t *kept, sqlite3 *db, const sql_statement_t *sql, sql_row_fn row, void *data, int *code)
{
    if (kept->statement == NULL &&
        (sqlite3_prepare(db, kept->form, -1, &kept->statement, NULL) != SQLITE_OK || kept->statement == NULL)) {
        return SQL_RAN_NOT;
    }
    if (bind_values(kept->statement, sql) != SQLITE_OK) {
        return SQL_RAN_NOT;
    }
    *code = step_all(kept->statement, sql, row, data);
    return *code == SQLITE_OK ? SQL_RAN : SQL_RAN_FAILED;
}

/* With RETURNING, foreign keys are checked in the middle of a statement. A statement of the old sqlite3_prepare then
 * ends with SQLITE_ERROR, which gives no reason, where others end with SQLITE_CONSTRAINT. Its changes are rolled back,
 * so libdbi may run it again to learn the reason. If a value contains the word, it does no harm. */
static int tells_nothing(const sql_statement_t *sql, int code)
{
    return code == SQLITE_ERROR && strstr(sql->text, " RETURNING ") != NULL;
}

sql_ran_e sql_native_sqlite3_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    sqlite3 *db = sql_driver_connection(conn);
    kept_t *kept = db != NULL ? keep(conn, form_of(sql)) : NULL;
    sql_ran_e ran = SQL_RAN_NOT;
    int code = SQLITE_SCHEMA;

    if (conn->assumes && (kept == NULL || !is_known(conn, kept))) {
        return SQL_RAN_UNSURE;
    }
    for (int i = 0; kept != NULL && code == SQLITE_SCHEMA && i < TRIES; i++) {
        code = SQLITE_OK;
        ran = run_once(kept, db, sql, row, data, &code);
        if (code == SQLITE_SCHEMA) {
            sqlite3_finalize(kept->statement);
            kept->statement = NULL;
            kept->ran_at = kept->known_at = 0;
            ran = SQL_RAN_NOT;
            if (conn->assumes) {
                return SQL_RAN_STALE;
            }
        }
    }
    if (ran == SQL_RAN) {
        note_run(conn, kept);
    }
    if (ran == SQL_RAN_FAILED && tells_nothing(sql, code)) {
        ran = SQL_RAN_NOT;
    }
    if (ran == SQL_RAN_FAILED) {
        dbi_conn_set_error(conn->dbi, code, "%s", sqlite3_errmsg(db));
    }
    if (ran != SQL_RAN && kept != NULL) {
        let_go(kept);
    }
    return ran;
}

/* Reads the number from the first row. */
static int take_number_cb(void *data, const char *const *cells)
{
    *(apr_int64_t *)data = cells[0] != NULL ? apr_strtoi64(cells[0], NULL, 10) : -1;
    return 0;
}

int sql_native_sqlite3_number(sql_call_t *c, const char *statement, apr_int64_t *number)
{
    const sql_statement_t sql = sql_statement_of(c, statement);

    *number = -1;
    return sql_native_sqlite3_run(c->conn, &sql, take_number_cb, number) == SQL_RAN && *number >= 0;
}
