/* SPDX-License-Identifier: Apache-2.0 */
/* Statements that stay prepared: see prepared_sqlite3.h.
 *
 * libdbi's module hands out sqlite3_prepare, not its successor. So a statement whose tables were altered meanwhile is not
 * made anew by SQLite, but says so before it does anything, and is made anew here; and why a step failed is told by the reset.
 */
#include "prepared_sqlite3.h"

#include <stdlib.h>
#include <string.h>

#include <dbi/dbi-dev.h>

#include "apr_strings.h"

#include "connection.h"
#include "native_sqlite3.h"

/* Statements that a connection keeps: some 10 KB each. */
#define KEPT 32
/* How often in a row tables may be altered between the reading of a statement and its run. */
#define TRIES 5

/* Result codes of SQLite's. */
enum { CODE_OK = 0, CODE_ERROR = 1, CODE_SCHEMA = 17, CODE_ROW = 100, CODE_DONE = 101 };

/* By name, in the order of `functions`. */
static const char *const names[] = {
    "sqlite3_prepare", "sqlite3_finalize", "sqlite3_bind_parameter_count", "sqlite3_bind_int64",  "sqlite3_bind_text",
    "sqlite3_step",    "sqlite3_reset",    "sqlite3_column_count",         "sqlite3_column_text", "sqlite3_errmsg"};

#define FUNCTIONS (sizeof(names) / sizeof(names[0]))

/* const after start, as long as a feed of the process is at work */
static union {
    void *found[FUNCTIONS];
    struct {
        int (*prepare)(void *db, const char *text, int length, void **statement, const char **rest);
        int (*finalize)(void *statement);
        int (*bind_parameter_count)(void *statement);
        int (*bind_int64)(void *statement, int at, long long number);
        int (*bind_text)(void *statement, int at, const char *text, int length, void (*release)(void *));
        int (*step)(void *statement);
        int (*reset)(void *statement);
        int (*column_count)(void *statement);
        const char *(*column_text)(void *statement, int column);
        const char *(*errmsg)(void *db);
    } of;
} functions;

static int works; /* likewise */

typedef struct kept_t {
    char *form; /* NULL: none is here */
    apr_size_t length;
    void *statement;
    apr_uint64_t used;     /* the larger, the later */
    apr_uint64_t ran_at;   /* sql_conn_t::asked when it ran first; 0: it has not, or nobody had asked */
    apr_uint64_t known_at; /* likewise, of the last time that is later; 0: there is none */
} kept_t;

typedef struct sql_prepared_t {
    kept_t at[KEPT];
    apr_uint64_t clock;
} sql_prepared_t;

void sql_prepared_sqlite3_start(dbi_driver driver)
{
    int all = sql_native_sqlite3_find(driver, names, functions.found, FUNCTIONS);

    if (works != all) {
        works = all;
    }
}

/* ------------------------------------------------------------ kept */

/* The statement with a question mark for each value: as what the literal is to SQLite, a word without a type or an expression that
 * is text, so that it compares in the same way. */
const char *sql_prepared_sqlite3_form(const sql_statement_t *sql, apr_pool_t *pool)
{
    sql_statement_t form = {.driver = sql->driver, .pool = pool, .space = sql->length + 1};
    apr_size_t at = 0;

    form.text = apr_palloc(pool, form.space);
    for (int i = 0; i < sql->values->nelts; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        sql_bytes(&form, sql->text + at, value->begin - at);
        sql_raw(&form, sql->text[value->begin] == 'C' ? "CAST(? AS TEXT)" : "?");
        at = value->end;
    }
    sql_bytes(&form, sql->text + at, sql->length - at);
    return form.text;
}

static const char *form_of(const sql_statement_t *sql)
{
    return sql->form != NULL ? sql->form : sql->values == NULL ? sql->text : sql_prepared_sqlite3_form(sql, sql->pool);
}

static void let_go(kept_t *kept)
{
    if (kept->statement != NULL) {
        functions.of.finalize(kept->statement);
    }
    free(kept->form);
    memset(kept, 0, sizeof(*kept));
}

void sql_prepared_sqlite3_forget(sql_conn_t *conn)
{
    sql_prepared_t *prepared = conn->prepared;

    for (int i = 0; prepared != NULL && i < KEPT; i++) {
        let_go(&prepared->at[i]);
    }
    free(prepared);
    conn->prepared = NULL;
}

/* Where the statement is, or that which was used longest ago. */
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

/* Is it of the schema that conn->tables are of? It had one schema when it ran first and has it still, so the file had it, too, whenever it
 * was asked in between: numbers of schemas only grow. */
static int is_known(const sql_conn_t *conn, const kept_t *kept)
{
    return kept->known_at != 0 && kept->known_at >= conn->asked_first;
}

/* It ran, so its schema is the file's. */
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

static int bind_values(void *statement, const sql_statement_t *sql)
{
    int count = sql->values != NULL ? sql->values->nelts : 0;
    int rv = CODE_OK;

    /* A query of the model may have question marks of its own. */
    if (functions.of.bind_parameter_count(statement) != count) {
        return -1;
    }
    for (int i = 0; i < count && rv == CODE_OK; i++) {
        const sql_value_t *value = &APR_ARRAY_IDX(sql->values, i, sql_value_t);

        rv = value->text != NULL ? functions.of.bind_text(statement, i + 1, value->text, value->length, NULL)
                                 : functions.of.bind_int64(statement, i + 1, value->number);
    }
    return rv;
}

/* All rows, until there is an error or `row` wants no more. Whatever happens, the statement holds no lock afterwards. */
static int step_all(void *statement, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    int columns = row != NULL ? functions.of.column_count(statement) : 0;
    const char **cells = apr_pcalloc(sql->pool, ((apr_size_t)columns + 1) * sizeof(*cells));
    int wanted = 1;
    int first = 0;
    int rv = CODE_ROW;

    while (wanted && (rv = functions.of.step(statement)) == CODE_ROW) {
        for (int i = 0; i < columns; i++) {
            cells[i] = i < first ? NULL : functions.of.column_text(statement, i);
        }
        first = sql->once;
        wanted = row == NULL || row(data, cells);
    }
    rv = functions.of.reset(statement);
    return wanted ? rv : CODE_OK;
}

/* One try. A statement that SQLite cannot even read is libdbi's, which tells why. */
static sql_ran_e run_once(kept_t *kept, void *db, const sql_statement_t *sql, sql_row_fn row, void *data, int *code)
{
    if (kept->statement == NULL &&
        (functions.of.prepare(db, kept->form, -1, &kept->statement, NULL) != CODE_OK || kept->statement == NULL)) {
        return SQL_RAN_NOT;
    }
    if (bind_values(kept->statement, sql) != CODE_OK) {
        return SQL_RAN_NOT;
    }
    *code = step_all(kept->statement, sql, row, data);
    return *code == CODE_OK ? SQL_RAN : SQL_RAN_FAILED;
}

/* With RETURNING foreign keys are looked at in the middle of a statement, and one from the old prepare then ends with SQLITE_ERROR, which
 * says nothing, where others say SQLITE_CONSTRAINT. What it did is undone, so libdbi may run it again to learn why. The word in a value is no
 * harm. */
static int tells_nothing(const sql_statement_t *sql, int code)
{
    return code == CODE_ERROR && strstr(sql->text, " RETURNING ") != NULL;
}

sql_ran_e sql_prepared_sqlite3_run(sql_conn_t *conn, const sql_statement_t *sql, sql_row_fn row, void *data)
{
    void *db = works && conn->dbi != NULL ? ((dbi_conn_t *)conn->dbi)->connection : NULL;
    kept_t *kept = db != NULL ? keep(conn, form_of(sql)) : NULL;
    sql_ran_e ran = SQL_RAN_NOT;
    int code = CODE_SCHEMA;

    if (conn->assumes && (kept == NULL || !is_known(conn, kept))) {
        return SQL_RAN_UNSURE;
    }
    for (int i = 0; kept != NULL && code == CODE_SCHEMA && i < TRIES; i++) {
        code = CODE_OK;
        ran = run_once(kept, db, sql, row, data, &code);
        if (code == CODE_SCHEMA) {
            functions.of.finalize(kept->statement);
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
        dbi_conn_set_error(conn->dbi, code, "%s", functions.of.errmsg(db));
    }
    if (ran != SQL_RAN && kept != NULL) {
        let_go(kept);
    }
    return ran;
}

/* The first row says it. */
static int take_number_cb(void *data, const char *const *cells)
{
    *(apr_int64_t *)data = cells[0] != NULL ? apr_strtoi64(cells[0], NULL, 10) : -1;
    return 0;
}

int sql_prepared_sqlite3_number(sql_call_t *c, const char *statement, apr_int64_t *number)
{
    const sql_statement_t sql = sql_statement_of(c, statement);

    *number = -1;
    return sql_prepared_sqlite3_run(c->conn, &sql, take_number_cb, number) == SQL_RAN && *number >= 0;
}
