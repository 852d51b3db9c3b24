/* SPDX-License-Identifier: Apache-2.0 */
/*
 * SQLite, by libdbi's sqlite3 driver.
 *
 * libdbi's driver reads each statement that has a result with a small parser of its own, to guess the types of columns.
 * The parser knows neither strings nor quoted names. A value with " select " and an open bracket in it ends the
 * process; one with " from a, b, c, ..." writes beyond an array, and a column name of 128 bytes writes beyond another
 * one. The driver also changes values: reals have 15 digits, dates become seconds, blobs and texts end at their first
 * NUL. Therefore
 *
 *   - each statement begins with a comment that satisfies the parser: a column with the name "v" is an expression,
 *     which
 *     the parser takes for text, and it reads no further. Without the comment the parser would read the whole statement
 *     for each cell, and query the columns of the table for each. It finds columns with other names (the result of a
 *     pragma) in sqlite_master. Only the whole word "select" or "SELECT" makes the parser begin again. So the keyword
 *     is written "Select", and a name that contains that word is refused;
 *   - each cell is an expression that returns type and value as one string (driver.h), and is called "v";
 *   - each text is sent as hexadecimal digits, unless it is a word.
 */
#include "sql/driver.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "base/now.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/native_sqlite3.h"
#include "sql/script.h"
#include "sql/statement.h"

#define CELL "v" /* also in GUARD */
#define GUARD "/* () as " CELL " from sqlite_master limit */"
#define WORD_MAX 64

/* The result codes of SQLite that the feed distinguishes. All others are SQL_FAULT_OTHER. */
enum {
    CODE_BUSY = 5,
    CODE_LOCKED = 6,
    CODE_READONLY = 8, /* also if the file was moved while the connection was open */
    CODE_IOERR = 10,
    CODE_CORRUPT = 11,
    CODE_CANTOPEN = 14,
    CODE_PROTOCOL = 15,
    CODE_TOOBIG = 18,
    CODE_CONSTRAINT = 19,
    CODE_MISMATCH = 20,
    CODE_NOTADB = 26
};

static sql_fault_e fault(int error)
{
    switch (error & 0xff) {
    case CODE_BUSY:
    case CODE_LOCKED:
    case CODE_PROTOCOL:
        return SQL_FAULT_BUSY;
    case CODE_READONLY:
    case CODE_IOERR:
    case CODE_CORRUPT:
    case CODE_CANTOPEN:
    case CODE_NOTADB:
        return SQL_FAULT_GONE;
    case CODE_TOOBIG:
    case CODE_CONSTRAINT:
    case CODE_MISMATCH:
        return SQL_FAULT_REFUSED;
    default:
        return SQL_FAULT_OTHER;
    }
}

/* By stat, not by open: closing any descriptor of the file would drop all locks that this process holds on it. */
static apr_status_t identify(const sql_database_t *db, sql_identity_t *identity)
{
    struct stat found;

    if (stat(db->database, &found) != 0) {
        return errno;
    }
    if (!S_ISREG(found.st_mode)) {
        return EISDIR;
    }
    identity->device = (apr_uint64_t)found.st_dev;
    identity->inode = (apr_uint64_t)found.st_ino;
    return APR_SUCCESS;
}

static void set_options(const sql_database_t *db, dbi_conn dbi)
{
    dbi_conn_set_option(dbi, "sqlite3_dbdir", db->directory);
    dbi_conn_set_option(dbi, "dbname", db->file);
    dbi_conn_set_option_numeric(dbi, "sqlite3_timeout", db->timeout * 1000);
}

/* If two connections do this at the same time, neither waits for the other: SQLite reports at once that the file is
 * locked. */
static apr_status_t write_ahead(sql_call_t *c, const char **mode)
{
    apr_time_t begin = vault_now();
    apr_status_t rv = sql_conn_cell(c, GUARD "PRAGMA journal_mode=WAL", mode);

    while (APR_STATUS_IS_EAGAIN(rv) && !c->conn->broken && vault_now() - begin < apr_time_from_sec(c->db->timeout)) {
        apr_sleep(apr_time_from_msec(10));
        rv = sql_conn_cell(c, GUARD "PRAGMA journal_mode=WAL", mode);
    }
    return rv;
}

static apr_status_t prepare(sql_call_t *c)
{
    const char *mode;
    apr_status_t rv;

    if (!sql_native_sqlite3_register(c->conn)) {
        return sql_fail(c, APR_EAGAIN, "SQLite has no memory for a function");
    }
    rv = write_ahead(c, &mode);
    if (rv == APR_SUCCESS && (mode == NULL || strcmp(mode, "wal") != 0)) {
        c->db->host->log(4,
                         "the database \"%s\" cannot be put into WAL mode: its readers and writers wait for each other",
                         c->db->database);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(c, GUARD "PRAGMA synchronous=NORMAL", NULL);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(c, GUARD "PRAGMA foreign_keys=ON", NULL);
    }
    return rv;
}

/* ------------------------------------------------------------ statements */

/* To libdbi's parser a word ends at a blank, comma or semicolon, and begins after one of these or after a dot. */
static int has_word(const char *name, const char *word)
{
    apr_size_t length = strlen(word);

    for (const char *at = name; (at = strstr(at, word)) != NULL; at++) {
        if (at > name && strchr(" ,;.(", at[-1]) != NULL && at[length] != '\0' && strchr(" ,;", at[length]) != NULL) {
            return 1;
        }
    }
    return 0;
}

static int name_is_safe(const char *name)
{
    return !has_word(name, "select") && !has_word(name, "SELECT");
}

static void append_name(sql_statement_t *sql, const char *name)
{
    sql_quoted_name(sql, name, '"');
}

static void append_table(sql_statement_t *sql, const char *name)
{
    sql_raw(sql, "main.");
    append_name(sql, name);
}

/* Letters, digits and a few other characters, and short, as most texts are. Hexadecimal digits take SQLite longer to
 * read. */
static int is_word(const char *text, apr_size_t length)
{
    for (apr_size_t i = 0; i < length; i++) {
        if (!apr_isalnum(text[i]) && strchr("_-:@\"", text[i]) == NULL) {
            return 0;
        }
    }
    return length <= WORD_MAX;
}

/* libdbi's parser recognises the word "select" only after a blank, a comma, a dot or a bracket. */
static void append_text(sql_statement_t *sql, const char *text, apr_size_t length)
{
    if (is_word(text, length)) {
        sql_raw(sql, "'");
        sql_bytes(sql, text, length);
        sql_raw(sql, "'");
        return;
    }
    sql_raw(sql, "CAST(X'");
    sql_hex(sql, text, length);
    sql_raw(sql, "' AS TEXT)");
}

/* Values of SQLite have types of their own, whatever the type of the column. */
static void append_cell(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    const char *e = expression;

    sql_add(
        sql,
        "CASE typeof(%r) WHEN 'integer' THEN 'I'||%r WHEN 'text' THEN CASE instr(%r,char(0)) WHEN 0 THEN 'T'||%r ELSE "
        "'H'||hex(%r) END WHEN 'real' THEN 'R'||quote(%r) WHEN 'blob' THEN 'B'||hex(%r) END",
        e, e, e, e, e, e, e);
}

static void append_cell_here(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    sql_add(sql, SQL_NATIVE_SQLITE3_CELL "(%r)", expression);
}

static void append_own_cell(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    sql_add(sql, kind == SQL_INTEGER ? "'I'||%r" : "'T'||%r", expression);
}

/* ------------------------------------------------------------ the catalogue */

static int declares(const char *create, const char *keyword)
{
    apr_size_t length = strlen(keyword);
    int in_word = 0;

    while (*create != '\0') {
        const char *next = sql_script_skip(create, 0);

        if (next != create) {
            create = next;
            in_word = 0;
        }
        else if (!in_word && strncasecmp(create, keyword, length) == 0 && !apr_isalnum(create[length]) &&
                 create[length] != '_') {
            return 1;
        }
        else {
            in_word = apr_isalnum(*create) || *create == '_' || (*create & 0x80) != 0;
            create++;
        }
    }
    return 0;
}

/* SQLite's rules ("Determination Of Column Affinity"): parts of the name of the type decide. */
static void set_affinity(sql_column_t *column, const char *type)
{
    column->is_integer = strcasestr(type, "INT") != NULL;
    column->keeps_types = !column->is_integer && strcasestr(type, "CHAR") == NULL && strcasestr(type, "CLOB") == NULL &&
                          strcasestr(type, "TEXT") == NULL && (*type == '\0' || strcasestr(type, "BLOB") != NULL);
}

/* Columns of the result: name, position in the primary key, kind (1 hidden; 2, 3 generated), type. */
static void read_columns(dbi_result result, sql_table_t *table, apr_pool_t *pool)
{
    while (dbi_result_next_row(result)) {
        const char *in_key = dbi_result_get_string_idx(result, 2);
        const char *kind = dbi_result_get_string_idx(result, 3);
        sql_column_t *column;

        if (strcmp(kind, "1") == 0) {
            continue;
        }
        column = apr_array_push(table->columns);
        column->name = apr_pstrdup(pool, dbi_result_get_string_idx(result, 1));
        column->generated = strcmp(kind, "0") != 0;
        set_affinity(column, dbi_result_get_string_idx(result, 4));
        if (strcmp(in_key, "0") != 0) {
            sql_table_set_key(table, column->name, atoi(in_key) - 1);
        }
    }
}

static sql_table_t *make_table(const char *name, const char *kind, const char *create, apr_pool_t *pool)
{
    sql_table_t *table = apr_pcalloc(pool, sizeof(*table));

    table->name = apr_pstrdup(pool, name);
    table->columns = apr_array_make(pool, 8, sizeof(sql_column_t));
    table->keys = apr_array_make(pool, 2, sizeof(const char *));
    table->is_view = strcmp(kind, "view") == 0;
    table->key_is_serial = create != NULL && declares(create, "AUTOINCREMENT");
    if (!table->key_is_serial) {
        table->not_serial =
            "watch the table (vaultctl watch), or declare its key as \"id INTEGER PRIMARY KEY AUTOINCREMENT\": "
            "otherwise SQLite gives the key of a deleted last row to a new row, which a page would never see";
    }
    return table;
}

static apr_status_t load_table(sql_call_t *c, const char *name, sql_table_t **table, apr_pool_t *pool)
{
    const sql_statement_t *sql = sql_statement(c,
                                               "Select type AS " CELL ",sql AS " CELL " FROM main.sqlite_master WHERE "
                                               "type IN('table','view') AND substr(name,1,7)<>'sqlite_' AND name=%s",
                                               name);
    dbi_result result;
    apr_status_t rv;

    *table = NULL;
    rv = sql_conn_query(c, sql->text, &result);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (dbi_result_next_row(result)) {
        *table = make_table(name, dbi_result_get_string_idx(result, 1), dbi_result_get_string_idx(result, 2), pool);
    }
    dbi_result_free(result);
    if (*table == NULL) {
        return APR_SUCCESS;
    }
    sql = sql_statement(c,
                        "Select name AS " CELL ",pk AS " CELL ",hidden AS " CELL ",coalesce(type,'')AS " CELL
                        " FROM pragma_table_xinfo(%s,'main') ORDER BY cid",
                        name);
    rv = sql_conn_query(c, sql->text, &result);
    if (rv == APR_SUCCESS) {
        read_columns(result, *table, pool);
        dbi_result_free(result);
    }
    return rv;
}

static apr_status_t largest_key(sql_call_t *c, apr_int64_t *key)
{
    const sql_statement_t *sql =
        sql_statement(c, "Select seq AS " CELL " FROM main.sqlite_sequence WHERE name=%s", c->table->name);
    const char *cell;
    apr_status_t rv = sql_conn_cell(c, sql->text, &cell);

    *key = cell != NULL ? apr_strtoi64(cell, NULL, 10) : -1;
    return rv;
}

const sql_driver_t sql_driver_sqlite3 = {
    .name = "sqlite3",
    .number_quote = "",
    .like_escape = " ESCAPE '\\'",
    .true_ = "1",
    .false_ = "0",
    .package = "libdbd-sqlite3",
    .guard = GUARD,
    .select = "Select",
    .cell_alias = CELL,
    .begin_write = "BEGIN IMMEDIATE",
    .begin_read = "BEGIN",
    .generation = GUARD "Select schema_version AS " CELL " FROM pragma_schema_version",
    .generation_number = "PRAGMA schema_version",
    .version_number = "PRAGMA data_version",
    .read_number = sql_native_sqlite3_number,
    .any_table = GUARD "Select name AS " CELL " FROM main.sqlite_master WHERE type='table' LIMIT 1",
    /* These statements have no result. If a script leaves a statement with rows, they fail, before libdbi's parser sees
     * it. */
    .init_end = "\n;SAVEPOINT vault_init;RELEASE vault_init",
    .run = sql_native_sqlite3_run,
    .forget = sql_native_sqlite3_forget,
    .start = sql_native_sqlite3_start,
    .identify = identify,
    .set_options = set_options,
    .prepare = prepare,
    .load_table = load_table,
    .largest_key = largest_key,
    .name_is_safe = name_is_safe,
    .append_name = append_name,
    .append_table = append_table,
    .append_text = append_text,
    .append_cell = append_cell,
    .append_cell_here = append_cell_here,
    .append_own_cell = append_own_cell,
    .fault = fault,
};
