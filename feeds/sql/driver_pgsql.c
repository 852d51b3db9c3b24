/* SPDX-License-Identifier: Apache-2.0 */
/* PostgreSQL, by libdbi's pgsql driver.
 *
 * libdbi's driver does not parse statements: it passes them on. It reports SQLSTATEs. It changes values: numbers become
 * C types, so that numeric loses digits; dates become seconds; a bytea is decoded by its own rules. Therefore
 *
 *   - each cell is text, made by an expression for the type of its column (driver.h);
 *   - each value is a literal without a type, which takes the type of the column that it is used with. It is written as
 *     E'…' with quotes and backslashes doubled, which means the same for both values of standard_conforming_strings.
 *     In UTF-8, the encoding that `prepare` sets, no byte of a multibyte character is a quote or a backslash. */
#include "sql/driver.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/forms.h"
#include "sql/native_pgsql.h"
#include "sql/statement.h"

#define CELL "v"
#define OF_USERS " n.nspname NOT IN('pg_catalog','information_schema') AND pg_catalog.pg_table_is_visible(c.oid)"
/* Reads the columns of a table. It is prepared once for each connection: to plan it takes ten times as long as to run
 * it. The name is compared as text too: as type `name`, a long one would be truncated. */
#define TABLE "mod_vault_table"
/* For a domain, the base type. */
#define TYPE_NAME                                                                                                      \
    "CASE WHEN b.typtype<>'d' THEN b.typname::text ELSE (WITH RECURSIVE d(id) AS (SELECT b.typbasetype UNION ALL"      \
    " SELECT t.typbasetype FROM d JOIN pg_catalog.pg_type t ON t.oid=d.id WHERE t.typtype='d')"                        \
    " SELECT t.typname::text FROM d JOIN pg_catalog.pg_type t ON t.oid=d.id WHERE t.typtype<>'d') END"
#define PREPARE_TABLE                                                                                                  \
    "PREPARE " TABLE "(text) AS SELECT c.relkind::text AS " CELL ",a.attname::text AS " CELL "," TYPE_NAME " AS " CELL \
    ",(a.attgenerated<>'' OR a.attidentity='a')::text AS " CELL ",coalesce((SELECT k::text FROM"                       \
    " pg_catalog.generate_series(0,i.indnkeyatts-1) AS k WHERE i.indkey[k]=a.attnum),'') AS " CELL                     \
    ",coalesce(l.collisdeterministic,true)::text AS " CELL ",(" SQL_PGSQL_SHAPE ")::text AS " CELL                     \
    " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid=c.relnamespace"                               \
    " JOIN pg_catalog.pg_attribute a ON a.attrelid=c.oid AND a.attnum>0 AND NOT a.attisdropped"                        \
    " JOIN pg_catalog.pg_type b ON b.oid=a.atttypid"                                                                   \
    " LEFT JOIN pg_catalog.pg_collation l ON l.oid=a.attcollation"                                                     \
    " LEFT JOIN pg_catalog.pg_index i ON i.indrelid=c.oid AND i.indisprimary"                                          \
    " WHERE" OF_USERS " AND c.relkind IN('r','p','f','v','m') AND c.relname=$1::name AND c.relname::text=$1"           \
    " ORDER BY a.attnum"

/* Reads the part of a table's definition that is cheap to read, to find out whether the table has changed. */
#define DEFINE "mod_vault_define"
#define PREPARE_DEFINE                                                                                                 \
    ";PREPARE " DEFINE "(text) AS SELECT c.oid::text||c.relkind::text||coalesce((SELECT i.indexrelid::text||':'"       \
    "||i.indnkeyatts::text||':'||i.indkey::text FROM pg_catalog.pg_index i WHERE i.indrelid=c.oid AND "                \
    "i.indisprimary),'')"                                                                                              \
    "||ARRAY(SELECT ROW(a.attnum,a.attname,a.atttypid,a.attgenerated,a.attidentity,a.attcollation)::text"              \
    " FROM pg_catalog.pg_attribute a WHERE a.attrelid=c.oid AND a.attnum>0 AND NOT a.attisdropped ORDER BY a.attnum)"  \
    "::text AS " CELL " FROM pg_catalog.pg_class c"                                                                    \
    " WHERE c.oid=pg_catalog.to_regclass(pg_catalog.quote_ident($1))"

/* SQLSTATEs, or their first characters; the first entry that fits decides. */
static const struct {
    const char *state;
    sql_fault_e fault;
} faults[] = {
    {"00000", SQL_FAULT_GONE}, /* the connection failed: libpq has no SQLSTATE for this */
    {"08", SQL_FAULT_GONE},       {"21", SQL_FAULT_REFUSED},
    {"22", SQL_FAULT_REFUSED},    {"23", SQL_FAULT_REFUSED},
    {"25006", SQL_FAULT_GONE},                               /* a standby: the next connection may reach the primary */
    {"25P03", SQL_FAULT_GONE},    {"26000", SQL_FAULT_GONE}, /* a prepared statement does not exist any more */
    {"40", SQL_FAULT_BUSY},       {"42703", SQL_FAULT_CHANGED},
    {"42804", SQL_FAULT_REFUSED},                               /* the type of the value is not that of the column */
    {"42883", SQL_FAULT_REFUSED},                               /* a type that cannot be compared */
    {"42P01", SQL_FAULT_CHANGED}, {"428C9", SQL_FAULT_REFUSED}, /* a generated column */
    {"44", SQL_FAULT_REFUSED},    {"53", SQL_FAULT_GONE},
    {"54", SQL_FAULT_REFUSED},    {"55P03", SQL_FAULT_BUSY},
    {"57014", SQL_FAULT_SLOW},    {"57", SQL_FAULT_GONE},
    {"58", SQL_FAULT_GONE},       {"P0001", SQL_FAULT_REFUSED}, /* raised by a trigger */
};

/* libdbi's driver returns the five digits and letters as a number in base 36. */
static sql_fault_e fault(int error)
{
    char state[6] = "00000";

    for (int i = 4; i >= 0; i--) {
        state[i] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[error % 36];
        error /= 36;
    }
    for (apr_size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
        if (strncmp(state, faults[i].state, strlen(faults[i].state)) == 0) {
            return faults[i].fault;
        }
    }
    return SQL_FAULT_OTHER;
}

/* "83906754: ERROR:  text": the SQLSTATE as a number, then the severity in the language of the server. */
static const char *tidy(const char *message)
{
    const char *number = message + strspn(message, "0123456789");
    const char *words = strstr(message, ":  ");

    if (number > message && strncmp(number, ": ", 2) == 0) {
        message = number + 2;
    }
    return words != NULL && words > message && words < message + strcspn(message, " \n") ? words + 3 : message;
}

static void set_text(dbi_conn dbi, const char *option, const char *value)
{
    if (value != NULL) {
        dbi_conn_set_option(dbi, option, value);
    }
}

/* Options whose names begin with pgsql_ are passed to libpq. TCP notices within twice the time-out that the server does
 * not answer any more. */
static void set_options(const sql_database_t *db, dbi_conn dbi)
{
    set_text(dbi, "dbname", db->database);
    set_text(dbi, "host", db->server);
    set_text(dbi, "port", db->port);
    set_text(dbi, "username", db->user);
    set_text(dbi, "password", db->password);
    dbi_conn_set_option_numeric(dbi, "timeout", db->timeout);
    if (db->tls_ca != NULL) {
        dbi_conn_set_option(dbi, "pgsql_sslmode", "verify-full");
        dbi_conn_set_option(dbi, "pgsql_sslrootcert", db->tls_ca);
    }
    dbi_conn_set_option(dbi, "pgsql_application_name", "mod_vault");
    dbi_conn_set_option(dbi, "pgsql_client_encoding", "UTF8");
    dbi_conn_set_option_numeric(dbi, "pgsql_tcp_user_timeout", 2000 * db->timeout);
    dbi_conn_set_option_numeric(dbi, "pgsql_keepalives_idle", db->timeout);
    dbi_conn_set_option_numeric(dbi, "pgsql_keepalives_interval", 1 + db->timeout / 3);
    dbi_conn_set_option_numeric(dbi, "pgsql_keepalives_count", 3);
}

/* The server does not send messages below a warning. The time-out for a lock is shorter than that of a statement, so
 * that it is reported as a lock. A prepared statement is planned once: the best plan does not depend on the values,
 * except for sql_statement_t::varies. */
static apr_status_t prepare(sql_call_t *c)
{
    sql_native_pgsql_log_notices(c->conn);
    return sql_conn_query(c,
                          apr_psprintf(c->pool,
                                       "SET client_encoding='UTF8';SET client_min_messages=error;SET DateStyle='ISO';"
                                       "SET plan_cache_mode=force_generic_plan;"
                                       "SET lock_timeout=%d;SET statement_timeout=%d;" PREPARE_TABLE PREPARE_DEFINE,
                                       1000 * c->db->timeout, 1000 * c->db->timeout + 500),
                          NULL);
}

/* ------------------------------------------------------------ statements */

static void append_name(sql_statement_t *sql, const char *name)
{
    sql_quoted_name(sql, name, '"');
}

static void append_text(sql_statement_t *sql, const char *text, apr_size_t length)
{
    sql_raw(sql, "E'");
    for (apr_size_t i = 0; i < length; i++) {
        if (text[i] == '\'' || text[i] == '\\') {
            sql_bytes(sql, text + i, 1);
        }
        sql_bytes(sql, text + i, 1);
    }
    sql_raw(sql, "'");
}

static void append_blob(sql_statement_t *sql, const char *text, apr_size_t length)
{
    sql_raw(sql, "E'\\\\x");
    sql_hex(sql, text, length);
    sql_raw(sql, "'");
}

static void append_cell(sql_statement_t *sql, const char *expression, sql_kind_e kind)
{
    static const char *const formats[] = {
        [SQL_TEXT] = "'T'||(%r)::text",    [SQL_INTEGER] = "'I'||(%r)::text",
        [SQL_REAL] = "'R'||(%r)::text",    [SQL_BLOB] = "'B'||pg_catalog.encode(%r,'hex')",
        [SQL_BOOLEAN] = "'L'||(%r)::text",
    };

    sql_add(sql, formats[kind], expression);
}

/* ------------------------------------------------------------ the catalogue */

static sql_kind_e kind_of(const char *type)
{
    static const struct {
        const char *type;
        sql_kind_e kind;
    } kinds[] = {
        {"int2", SQL_INTEGER}, {"int4", SQL_INTEGER}, {"int8", SQL_INTEGER}, {"oid", SQL_INTEGER},
        {"float4", SQL_REAL},  {"float8", SQL_REAL},  {"bytea", SQL_BLOB},   {"bool", SQL_BOOLEAN},
    };

    for (apr_size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strcmp(kinds[i].type, type) == 0) {
            return kinds[i].kind;
        }
    }
    return SQL_TEXT;
}

/* In the server's JSON, times have a T, reals have no exponent, and arrays are lists of JSON. Some texts depend on the
 * writer's settings of IntervalStyle, DateStyle and TimeZone. */
static sql_spelling_e spelling_of(const char *type, int deterministic)
{
    static const struct {
        const char *type;
        sql_spelling_e spelling;
    } spellings[] = {
        {"text", SQL_SPELLING_EXACT},    {"varchar", SQL_SPELLING_EXACT},   {"uuid", SQL_SPELLING_UUID},
        {"bpchar", SQL_SPELLING_PADDED}, {"timestamp", SQL_SPELLING_UNFIT}, {"timestamptz", SQL_SPELLING_UNFIT},
        {"float4", SQL_SPELLING_UNFIT},  {"float8", SQL_SPELLING_UNFIT},    {"bytea", SQL_SPELLING_UNFIT},
        {"json", SQL_SPELLING_UNFIT},    {"jsonb", SQL_SPELLING_UNFIT},     {"interval", SQL_SPELLING_UNFIT},
        {"tsrange", SQL_SPELLING_UNFIT}, {"tstzrange", SQL_SPELLING_UNFIT}, {"daterange", SQL_SPELLING_UNFIT},
    };

    for (apr_size_t i = 0; i < sizeof(spellings) / sizeof(spellings[0]); i++) {
        if (strcmp(spellings[i].type, type) == 0) {
            return spellings[i].spelling == SQL_SPELLING_EXACT && !deterministic ? SQL_SPELLING_ANY
                                                                                 : spellings[i].spelling;
        }
    }
    return type[0] == '_' ? SQL_SPELLING_UNFIT : SQL_SPELLING_ANY; /* an array */
}

static sql_table_t *make_table(const char *name, const char *kind, apr_pool_t *pool)
{
    sql_table_t *table = apr_pcalloc(pool, sizeof(*table));

    table->name = apr_pstrdup(pool, name);
    table->columns = apr_array_make(pool, 8, sizeof(sql_column_t));
    table->keys = apr_array_make(pool, 2, sizeof(const char *));
    table->is_view = strchr("vm", kind[0]) != NULL;
    table->not_serial =
        "PostgreSQL numbers rows before they are committed, so a row may be committed after one with a larger key: "
        "watch the table (vaultctl watch), or use cursor=largest-key if there are never two writers at a time";
    return table;
}

static apr_status_t load_table(sql_call_t *c, const char *name, sql_table_t **table, apr_pool_t *pool)
{
    dbi_result result;
    apr_status_t rv = sql_conn_query(c, sql_statement(c, "EXECUTE " TABLE "(%s)", name)->text, &result);

    *table = NULL;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    while (dbi_result_next_row(result)) {
        sql_column_t *column;

        if (*table == NULL) {
            *table = make_table(name, dbi_result_get_string_idx(result, 1), pool);
        }
        (*table)->shape = apr_pstrcat(pool, (*table)->shape != NULL ? (*table)->shape : "{",
                                      (*table)->shape != NULL ? "," : "", dbi_result_get_string_idx(result, 7), NULL);
        column = apr_array_push((*table)->columns);
        column->name = apr_pstrdup(pool, dbi_result_get_string_idx(result, 2));
        column->kind = kind_of(dbi_result_get_string_idx(result, 3));
        column->is_integer = column->kind == SQL_INTEGER;
        column->spelling =
            spelling_of(dbi_result_get_string_idx(result, 3), dbi_result_get_string_idx(result, 6)[0] == 't');
        column->generated = dbi_result_get_string_idx(result, 4)[0] == 't';
        if (dbi_result_get_string_idx(result, 5)[0] != '\0') {
            sql_table_set_key(*table, column->name, atoi(dbi_result_get_string_idx(result, 5)));
        }
    }
    if (*table != NULL) {
        (*table)->shape = apr_pstrcat(pool, (*table)->shape, "}", NULL);
    }
    dbi_result_free(result);
    return APR_SUCCESS;
}

static const char *define(sql_call_t *c, const char *name)
{
    return sql_conn_ask(c, sql_statement(c, "EXECUTE " DEFINE "(%s)", name)->text, 1);
}

/* The last value of the sequence, if there is one that was used and that the user may read. Keys that the application
 * chose may be larger. */
static apr_status_t largest_key(sql_call_t *c, apr_int64_t *key)
{
    const char *table = c->table->name, *key_name = c->table->key;
    const sql_statement_t *sql =
        sql_statement(c,
                      "SELECT CASE WHEN l IS NOT NULL THEN greatest(l,m)::text END AS " CELL
                      " FROM (SELECT max(%n) AS m FROM %t) AS t,pg_catalog.pg_get_serial_sequence(%s,%s) AS "
                      "s,pg_catalog.pg_sequence_last_value(s::regclass) AS l",
                      key_name, table, sql_statement(c, "%t", table)->text, key_name);
    const char *cell;
    apr_status_t rv = sql_conn_cell(c, sql->text, &cell);

    *key = cell != NULL ? apr_strtoi64(cell, NULL, 10) : APR_INT64_MAX;
    return rv;
}

const sql_driver_t sql_driver_pgsql = {
    .name = "pgsql",
    .package = "libdbd-pgsql",
    .is_server = 1,
    .guard = "",
    .select = "SELECT",
    .cell_alias = CELL,
    .begin_write = "BEGIN ISOLATION LEVEL READ COMMITTED",
    .begin_read = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
    .number_quote = "'",
    .like_escape = "",
    .true_ = "'true'",
    .false_ = "'false'",
    .any_table = "SELECT c.relname::text AS " CELL " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n"
                 " ON n.oid=c.relnamespace WHERE" OF_USERS " AND c.relkind IN('r','p') LIMIT 1",
    /* The number is "vault" in ASCII. */
    .init_lock = "SELECT '1' AS " CELL " FROM pg_catalog.pg_advisory_xact_lock(508441226356)",
    .init_end = "",
    .start = sql_native_pgsql_start,
    .run = sql_native_pgsql_run,
    .forget = sql_forms_forget,
    .set_options = set_options,
    .prepare = prepare,
    .load_table = load_table,
    .define = define,
    .shapes = 1,
    .largest_key = largest_key,
    .append_name = append_name,
    .append_table = append_name,
    .append_text = append_text,
    .append_blob = append_blob,
    .append_cell = append_cell,
    .fault = fault,
    .tidy = tidy,
};
