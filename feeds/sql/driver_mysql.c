/* SPDX-License-Identifier: Apache-2.0 */
/*
 * MariaDB, by libdbi's mysql driver.
 *
 * libdbi's driver does not parse statements: it passes them on. It changes values: numbers become C types, dates become
 * seconds, texts end at their first NUL, and values in the character set "binary" are not strings to it. libdbi uses
 * the same option name for different things, so options that the administrator did not give are not passed on.
 * Therefore
 *
 *   - each cell is text in the character set of the connection, made by an expression for the type of its column
 *     (driver.h);
 *   - each text is sent as hexadecimal digits with their character set, which means the same under all SQL modes, also
 *     under NO_BACKSLASH_ESCAPES and ANSI_QUOTES. Such a literal is text wherever it is used. If MariaDB compares a
 *     text with a number, it converts the text ("7 dwarfs" is 7, "dwarfs" is 0): see `reads_numbers`.
 */
#include "sql/driver.h"

#include <string.h>

#include "apr_strings.h"

#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/forms.h"
#include "sql/native_mysql.h"
#include "sql/statement.h"

#define CELL "v"
#define TLS_HOST_MAX 8192

static const struct {
    int error;
    sql_fault_e fault;
} faults[] = {
    {0, SQL_FAULT_GONE},       /* the library has no connection any more */
    {1040, SQL_FAULT_GONE},    /* too many connections */
    {1048, SQL_FAULT_REFUSED}, /* NULL */
    {1053, SQL_FAULT_GONE},    /* shutting down */
    {1054, SQL_FAULT_CHANGED}, /* no such column */
    {1062, SQL_FAULT_REFUSED}, /* there already */
    {1146, SQL_FAULT_CHANGED}, /* no such table */
    {1153, SQL_FAULT_REFUSED}, /* larger than max_allowed_packet */
    {1158, SQL_FAULT_GONE},    /* the network, to 1161 */
    {1159, SQL_FAULT_GONE},    {1160, SQL_FAULT_GONE},    {1161, SQL_FAULT_GONE},
    {1205, SQL_FAULT_BUSY},                               /* a lock */
    {1213, SQL_FAULT_BUSY},                               /* a deadlock */
    {1264, SQL_FAULT_REFUSED},                            /* out of range */
    {1265, SQL_FAULT_REFUSED},                            /* cut */
    {1267, SQL_FAULT_REFUSED},                            /* collations that cannot be compared */
    {1290, SQL_FAULT_GONE},                               /* read only */
    {1292, SQL_FAULT_REFUSED},                            /* no such date, no such number */
    {1300, SQL_FAULT_REFUSED},                            /* not of the character set */
    {1317, SQL_FAULT_SLOW},                               /* interrupted */
    {1364, SQL_FAULT_REFUSED},                            /* a column without value and default */
    {1366, SQL_FAULT_REFUSED},                            /* not of the type */
    {1406, SQL_FAULT_REFUSED},                            /* too long */
    {1412, SQL_FAULT_CHANGED},                            /* the definition of the table */
    {1416, SQL_FAULT_REFUSED},                            /* no geometry */
    {1451, SQL_FAULT_REFUSED},                            /* foreign keys */
    {1452, SQL_FAULT_REFUSED}, {1526, SQL_FAULT_REFUSED}, /* no partition for it */
    {1644, SQL_FAULT_REFUSED},                            /* what a trigger signals */
    {1690, SQL_FAULT_REFUSED},                            /* out of range while computing */
    {1906, SQL_FAULT_REFUSED},                            /* a generated column */
    {1927, SQL_FAULT_GONE},                               /* killed */
    {1969, SQL_FAULT_SLOW},                               /* max_statement_time */
    {2002, SQL_FAULT_GONE},                               /* the library's own */
    {2003, SQL_FAULT_GONE},    {2006, SQL_FAULT_GONE},    {2013, SQL_FAULT_GONE},
    {2014, SQL_FAULT_GONE},    /* out of step */
    {2020, SQL_FAULT_REFUSED}, /* larger than max_allowed_packet */
    {2027, SQL_FAULT_GONE},    {2055, SQL_FAULT_GONE},    {4025, SQL_FAULT_REFUSED}, /* a constraint */
};

static sql_fault_e fault(int error)
{
    for (apr_size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (faults[i].error == error) {
            return faults[i].fault;
        }
    }
    return SQL_FAULT_OTHER;
}

static void set_text(dbi_conn dbi, const char *option, const char *value)
{
    if (value != NULL) {
        dbi_conn_set_option(dbi, option, value);
    }
}

/* libdbi's driver does not set up TLS. MariaDB's library accepts options in place of a host. */
static const char *over_tls(const sql_database_t *db, char *host)
{
    apr_snprintf(host, TLS_HOST_MAX, "host=%s;ssl-ca=%s;ssl-verify-server-cert=1",
                 db->server != NULL ? db->server : "localhost", db->tls_ca);
    return host;
}

static void set_options(const sql_database_t *db, dbi_conn dbi)
{
    int is_socket = db->server != NULL && db->server[0] == '/';
    char host[TLS_HOST_MAX];

    set_text(dbi, "dbname", db->database);
    set_text(dbi, is_socket ? "mysql_unix_socket" : "host", db->tls_ca != NULL ? over_tls(db, host) : db->server);
    set_text(dbi, "port", db->port);
    set_text(dbi, "username", db->user);
    set_text(dbi, "password", db->password);
    dbi_conn_set_option_numeric(dbi, "timeout", db->timeout);
}

/* Transactions that write lock rows and not the gaps between them, and read what others have committed so far. The
 * time-out for a lock is shorter than that of a statement, so that it is reported as a lock. GROUP_CONCAT never
 * truncates. */
static apr_status_t prepare(sql_call_t *c)
{
    apr_status_t rv = sql_conn_query(c, "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", NULL);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    return sql_conn_query(
        c,
        apr_psprintf(
            c->pool,
            "SET NAMES utf8mb4,SESSION sql_mode='STRICT_ALL_TABLES,"
            "ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION',autocommit=1,"
            "group_concat_max_len=1048576,innodb_lock_wait_timeout=%d,lock_wait_timeout=%d,max_statement_time=%d.5",
            c->db->timeout, c->db->timeout, c->db->timeout),
        NULL);
}

/* ------------------------------------------------------------ statements */

static void append_name(sql_statement_t *sql, const char *name)
{
    sql_quoted_name(sql, name, '`');
}

static void append_text(sql_statement_t *sql, const char *text, apr_size_t length)
{
    sql_raw(sql, "_utf8mb4 X'");
    sql_hex(sql, text, length);
    sql_raw(sql, "'");
}

/* Without a character set: the bytes need not be text. */
static void append_blob(sql_statement_t *sql, const char *bytes, apr_size_t length)
{
    sql_raw(sql, "X'");
    sql_hex(sql, bytes, length);
    sql_raw(sql, "'");
}

static void append_cell(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    static const char *const formats[] = {
        /* A text that contains a zero byte is sent in hexadecimal digits. So are some other texts in UCS-2, which does
         * no harm. */
        [SQL_TEXT] = "IF(INSTR(CAST(%r AS BINARY),X'00')>0,CONCAT('H',HEX(CONVERT(%r USING utf8mb4))),CONCAT('T',%r))",
        [SQL_INTEGER] = "CONCAT('I',%r+0)", /* +0: without it a BIT would be bytes */
        [SQL_REAL] = "CONCAT('R',%r)",
        [SQL_BLOB] = "CONCAT('B',HEX(%r))",
        [SQL_BOOLEAN] = "CONCAT('L',IF(%r,'true','false'))",
    };

    sql_add(sql, formats[kind], expression, expression, expression);
}

/* The search for a NUL needs the expression twice; MariaDB would optimize each copy of a subquery, and run two of
 * three. */
static void append_own_cell(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    sql_add(sql, kind == SQL_TEXT ? "CONCAT('T',%r)" : "CONCAT('I',%r)", expression);
}

/* ------------------------------------------------------------ the catalogue */

static void read_type(sql_column_t *column, const char *type)
{
    static const struct {
        const char *type;
        sql_kind_e kind;
        int reads_numbers;
    } kinds[] = {
        {"tinyint", SQL_INTEGER, 1},      {"smallint", SQL_INTEGER, 1},  {"mediumint", SQL_INTEGER, 1},
        {"int", SQL_INTEGER, 1},          {"bigint", SQL_INTEGER, 1},    {"year", SQL_INTEGER, 1},
        {"bit", SQL_INTEGER, 1},          {"float", SQL_REAL, 1},        {"double", SQL_REAL, 1},
        {"decimal", SQL_TEXT, 1},         {"binary", SQL_BLOB, 0},       {"varbinary", SQL_BLOB, 0},
        {"tinyblob", SQL_BLOB, 0},        {"blob", SQL_BLOB, 0},         {"mediumblob", SQL_BLOB, 0},
        {"longblob", SQL_BLOB, 0},        {"geometry", SQL_BLOB, 0},     {"point", SQL_BLOB, 0},
        {"linestring", SQL_BLOB, 0},      {"polygon", SQL_BLOB, 0},      {"multipoint", SQL_BLOB, 0},
        {"multilinestring", SQL_BLOB, 0}, {"multipolygon", SQL_BLOB, 0}, {"geometrycollection", SQL_BLOB, 0},
    };

    for (apr_size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].type, type) == 0) {
            column->kind = kinds[i].kind;
            /* a year is not: 24 is stored as 2024 */
            column->is_integer = column->kind == SQL_INTEGER && strcmp(type, "year") != 0;
            column->reads_numbers = kinds[i].reads_numbers;
            column->reads_bytes = strcmp(type, "bit") == 0;
        }
    }
}

/* Under collations other than these, "a" equals "A". Under some of them trailing blanks count: see select.c. */
static sql_spelling_e spelling_of(const sql_column_t *column, const char *type, const char *collation)
{
    apr_size_t length = collation != NULL ? strlen(collation) : 0;

    if (column->kind == SQL_BLOB || strcmp(type, "bit") == 0) { /* a text with its digits is not equal to a BIT */
        return SQL_SPELLING_UNFIT;
    }
    if (strcmp(type, "uuid") == 0) {
        return SQL_SPELLING_UUID;
    }
    return length > 4 && strcmp(collation + length - 4, "_bin") == 0 ? SQL_SPELLING_EXACT : SQL_SPELLING_ANY;
}

static sql_table_t *make_table(const char *name, const char *kind, apr_pool_t *pool)
{
    sql_table_t *table = apr_pcalloc(pool, sizeof(*table));

    table->name = apr_pstrdup(pool, name);
    table->columns = apr_array_make(pool, 8, sizeof(sql_column_t));
    table->keys = apr_array_make(pool, 2, sizeof(const char *));
    table->is_view = strcmp(kind, "VIEW") == 0;
    table->not_serial =
        "MariaDB numbers rows before they are committed, so a row may be committed after one with a larger key: "
        "watch the table (vaultctl watch), or use cursor=largest-key if there are never two writers at a time";
    return table;
}

/* Columns of the result: table, its type (NULL: it does not exist), column, its type, generated, key, collation. */
static void read_columns(dbi_result result, const char *name, sql_table_t **table, apr_pool_t *pool)
{
    while (dbi_result_next_row(result)) {
        sql_column_t *column;

        /* The catalogue compares names without regard to case. */
        if (strcmp(dbi_result_get_string_idx(result, 1), name) != 0 || dbi_result_field_is_null_idx(result, 2)) {
            continue;
        }
        if (*table == NULL) {
            *table = make_table(name, dbi_result_get_string_idx(result, 2), pool);
        }
        column = apr_array_push((*table)->columns);
        column->name = apr_pstrdup(pool, dbi_result_get_string_idx(result, 3));
        read_type(column, dbi_result_get_string_idx(result, 4));
        column->spelling =
            spelling_of(column, dbi_result_get_string_idx(result, 4), dbi_result_get_string_idx(result, 7));
        column->generated = strcmp(dbi_result_get_string_idx(result, 5), "ALWAYS") == 0;
        if (strcmp(dbi_result_get_string_idx(result, 6), "PRI") == 0) {
            sql_table_set_key(*table, column->name, (*table)->keys->nelts);
        }
    }
}

/* The columns of the primary key have an order of their own. */
static apr_status_t order_keys(sql_call_t *c, sql_table_t *table, apr_pool_t *pool)
{
    const sql_statement_t *sql = sql_statement(
        c,
        "SELECT COLUMN_NAME AS " CELL " FROM information_schema.STATISTICS WHERE TABLE_SCHEMA=DATABASE() AND "
        "INDEX_NAME='PRIMARY' AND TABLE_NAME=%s AND CAST(TABLE_NAME AS BINARY)=%s ORDER BY SEQ_IN_INDEX",
        table->name, table->name);
    dbi_result result;
    apr_status_t rv = sql_conn_query(c, sql->text, &result);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (int i = 0; dbi_result_next_row(result); i++) {
        sql_table_set_key(table, apr_pstrdup(pool, dbi_result_get_string_idx(result, 1)), i);
    }
    dbi_result_free(result);
    return APR_SUCCESS;
}

/* No join: for a join MariaDB would read the columns of all tables of all databases, a file for each. */
static apr_status_t load_table(sql_call_t *c, const char *name, sql_table_t **table, apr_pool_t *pool)
{
    const sql_statement_t *sql = sql_statement(
        c,
        "SELECT c.TABLE_NAME AS " CELL ",(SELECT t.TABLE_TYPE FROM information_schema.TABLES AS t"
        " WHERE t.TABLE_TYPE<>'SEQUENCE' AND t.TABLE_SCHEMA=DATABASE() AND t.TABLE_NAME=%s AND CAST(t.TABLE_NAME AS "
        "BINARY)=%s) AS " CELL ",c.COLUMN_NAME AS " CELL ",c.DATA_TYPE AS " CELL ",c.IS_GENERATED AS " CELL
        ",c.COLUMN_KEY AS " CELL ",COALESCE(c.COLLATION_NAME,'') AS " CELL
        " FROM information_schema.COLUMNS AS c WHERE c.TABLE_SCHEMA=DATABASE() AND c.TABLE_NAME=%s ORDER BY "
        "c.ORDINAL_POSITION",
        name, name, name);
    dbi_result result;
    apr_status_t rv = sql_conn_query(c, sql->text, &result);

    *table = NULL;
    if (rv == APR_SUCCESS) {
        read_columns(result, name, table, pool);
        dbi_result_free(result);
    }
    if (rv == APR_SUCCESS && *table != NULL && (*table)->keys->nelts > 1) {
        rv = order_keys(c, *table, pool);
    }
    return rv;
}

/* The text without the next AUTO_INCREMENT. */
static const char *define(sql_call_t *c, const char *name)
{
    static const char number[] = " AUTO_INCREMENT=";
    char *text = sql_conn_ask(c, sql_statement(c, "SHOW CREATE TABLE %t", name)->text, 2);
    char *options, *at;

    /* The statement that creates a view does not say which columns its tables have. */
    if (text == NULL || strncmp(text, "CREATE TABLE ", strlen("CREATE TABLE ")) != 0) {
        return NULL;
    }
    options = strstr(text, "\n) ");
    at = options != NULL ? strstr(options, number) : NULL;
    if (at != NULL) {
        char *rest = at + strlen(number);

        rest += strspn(rest, "0123456789");
        memmove(at, rest, strlen(rest) + 1);
    }
    return text;
}

/* The next AUTO_INCREMENT is kept over deletes and restarts. Of keys that the application makes there is none. */
static apr_status_t largest_key(sql_call_t *c, apr_int64_t *key)
{
    const sql_statement_t *sql =
        sql_statement(c,
                      "SELECT CONCAT('',AUTO_INCREMENT-1) AS " CELL " FROM information_schema.TABLES WHERE "
                      "TABLE_SCHEMA=DATABASE() AND TABLE_NAME=%s AND BINARY TABLE_NAME=%s",
                      c->table->name, c->table->name);
    const char *cell;
    apr_status_t rv = sql_conn_cell(c, sql->text, &cell);

    *key = cell == NULL ? APR_INT64_MAX : strcmp(cell, "0") == 0 ? -1 : apr_strtoi64(cell, NULL, 10);
    return rv;
}

const sql_driver_t sql_driver_mysql = {
    .name = "mysql",
    .socket_host = "localhost",
    .package = "libdbd-mysql",
    .is_server = 1,
    .guard = "",
    .select = "SELECT",
    .cell_alias = CELL,
    .begin_write = "START TRANSACTION",
    .before_read = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
    .begin_read = "START TRANSACTION WITH CONSISTENT SNAPSHOT,READ ONLY",
    .number_quote = "",
    .sorts_cut_only = 1,
    .pads = 1,
    .like_escape = "",
    .true_ = "1",
    .false_ = "0",
    .any_table = "SELECT TABLE_NAME AS " CELL
                 " FROM information_schema.TABLES WHERE TABLE_SCHEMA=DATABASE() AND TABLE_TYPE='BASE TABLE' LIMIT 1",
    /* The connection is closed after the script, which releases the lock. The lock belongs to the whole server, so its
     * name contains the database. */
    .init_lock = "SELECT CONCAT('',COALESCE(GET_LOCK(CONCAT('mod_vault init ',MD5(DATABASE())),5),0)) AS " CELL,
    .one_by_one = 1,
    .start = sql_native_mysql_start,
    .run = sql_native_mysql_run,
    .forget = sql_forms_forget,
    .set_options = set_options,
    .prepare = prepare,
    .load_table = load_table,
    .define = define,
    .largest_key = largest_key,
    .append_name = append_name,
    .append_table = append_name,
    .append_text = append_text,
    .append_blob = append_blob,
    .append_cell = append_cell,
    .append_own_cell = append_own_cell,
    .fault = fault,
};
