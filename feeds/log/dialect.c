/* SPDX-License-Identifier: Apache-2.0 */
/* The databases whose tables can be watched, and what is the same for all of them. */
#include "log/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "apr_general.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

static const log_dialect_t *const dialects[] = {
    &log_dialect_sqlite3,
    &log_dialect_pgsql,
    &log_dialect_mysql,
};

#define DIALECTS (sizeof(dialects) / sizeof(dialects[0]))

const log_dialect_t *log_dialect_of(const sql_database_t *db)
{
    for (apr_size_t i = 0; i < DIALECTS; i++) {
        if (strcmp(dialects[i]->name, db->driver->name) == 0) {
            return dialects[i];
        }
    }
    return NULL;
}

const char *log_dialect_now(const sql_statement_t *sql, const log_dialect_t *dialect, const sql_table_t *table)
{
    return dialect->now_of == NULL ? dialect->now : table != NULL ? dialect->now_of(sql, table) : dialect->now_of_all;
}

const char *log_dialect_watch_id_of(const log_dialect_t *dialect)
{
    return dialect->watch_id != NULL ? dialect->watch_id : "w.epoch";
}

const char *log_dialect_has(const sql_call_t *c, const char *column)
{
    const change_log_t *log = (const change_log_t *)c->db;

    return apr_pstrcat(c->pool, column, log->is_own ? "" : " NOT", " LIKE 'vault!_%' ESCAPE '!'", NULL);
}

int log_dialect_is_position(sql_call_t *c, const char *text)
{
    const log_span_t span = {.since = text, .now = text, .pruned = ""};

    return !log_dialect_of(c->db)->position->is_lost(c->pool, &span);
}

void log_dialect_push(apr_array_header_t *statements, const sql_statement_t *sql)
{
    APR_ARRAY_PUSH(statements, const char *) = sql->text + strlen(sql->driver->guard);
}

/* Databases and jansson differ in escapes and in the digits of reals. */
int log_dialect_is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (apr_iscntrl(*text) || strchr("\"\\.", *text) != NULL) {
            return 0;
        }
    }
    return 1;
}

/* At most fifteen digits: no database rounds such a number. */
int log_dialect_is_number(const sql_column_t *column, const char *value)
{
    apr_size_t digits = strspn(value, "0123456789");

    return column->is_integer && digits > 0 && digits <= 15 && value[digits] == '\0' &&
           (value[0] != '0' || digits == 1);
}

/* Identifies one watching of a table, so that positions become void when the table is watched again. */
static const char *make_watch_id(apr_pool_t *pool)
{
    unsigned char bytes[8];
    char *watch_id = apr_pcalloc(pool, 2 * sizeof(bytes) + 1);

    apr_generate_random_bytes(bytes, sizeof(bytes));
    for (apr_size_t i = 0; i < sizeof(bytes); i++) {
        apr_snprintf(watch_id + 2 * i, 3, "%02x", bytes[i]);
    }
    return watch_id;
}

static json_t *list_keys(const sql_table_t *table)
{
    json_t *names = json_array();

    for (int i = 0; i < table->keys->nelts; i++) {
        json_array_append_new(names, json_string(sql_table_key_column(table, i)));
    }
    return names;
}

static const char *list_columns(const sql_call_t *c, const sql_table_t *table)
{
    int adapts = log_dialect_of(c->db)->adapts;
    json_t *names = json_array();
    const char *columns;

    for (int i = 0; i < table->columns->nelts; i++) {
        const char *name = sql_table_column(table, i)->name;

        if (!adapts || (table->key != NULL && strcmp(name, table->key) == 0)) {
            json_array_append_new(names, json_string(name));
        }
    }
    if (table->key == NULL && table->keys->nelts > 0) {
        json_array_append_new(names, list_keys(table)); /* the same columns in another order are another key */
    }
    columns = sql_json_text(names, JSON_COMPACT, c->conn->pool);
    json_decref(names);
    return columns;
}

/* What a connection knows of a table. */
typedef struct note_t {
    const char *columns;      /* NULL: not read yet */
    const char *watched_with; /* the columns; NULL: not known yet */
    apr_time_t watched_at;    /* when the table was last found to be watched; 0: not known yet */
    apr_uint64_t shape;       /* 0: not computed yet */
} note_t;

/* How long that stays valid. */
#define WATCHED_FOR apr_time_from_sec(1)

static note_t *note_of(sql_call_t *c, const sql_table_t *table)
{
    if (*table->note == NULL) {
        *table->note = apr_pcalloc(c->conn->pool, sizeof(note_t));
    }
    return *table->note;
}

const char *log_dialect_columns(sql_call_t *c, const sql_table_t *table)
{
    note_t *note = note_of(c, table);

    if (note->columns == NULL) {
        note->columns = list_columns(c, table);
    }
    return note->columns;
}

apr_uint64_t log_dialect_shape(sql_call_t *c, const sql_table_t *table)
{
    note_t *note = note_of(c, table);
    const char *shape = table->shape != NULL ? table->shape : table->definition;
    apr_uint64_t sum = 1;

    if (note->shape == 0) {
        for (int i = 0; i < table->columns->nelts; i++) {
            sum = vault_hash_text(sum, sql_table_column(table, i)->name);
        }
        for (int i = 0; i < table->keys->nelts; i++) {
            sum = vault_hash_text(sum, sql_table_key_column(table, i));
        }
        sum = vault_hash_text(sum, shape != NULL ? shape : "");
        note->shape = sum != 0 ? sum : 1;
    }
    return note->shape;
}

int log_dialect_keep_watched(sql_call_t *c, const sql_table_t *table, const char *columns)
{
    note_t *note = note_of(c, table);
    int is_other = note->watched_with == NULL || strcmp(note->watched_with, columns) != 0;

    if (is_other) {
        note->watched_with = apr_pstrdup(c->conn->pool, columns);
    }
    return is_other;
}

apr_status_t log_dialect_is_watched(sql_call_t *c, int *is_watched)
{
    note_t *note = note_of(c, c->table);
    apr_time_t now = vault_now();
    const char *cell;
    apr_status_t rv;

    *is_watched = note->watched_at != 0 && now < note->watched_at + WATCHED_FOR;
    if (*is_watched) {
        return APR_SUCCESS;
    }
    rv = sql_conn_cell(c,
                       sql_statement(c, "%r {$w.epoch} FROM %t AS w WHERE w.tbl=%s", c->db->driver->select,
                                     "vault_watched", c->table->name)
                           ->text,
                       &cell);
    *is_watched = rv == APR_SUCCESS && cell != NULL;
    note->watched_at = *is_watched ? now : 0;
    return rv;
}

static void forget(sql_call_t *c, apr_array_header_t *statements)
{
    log_dialect_push(statements, sql_statement(c, "DELETE FROM vault_watched WHERE tbl=%s", c->table->name));
}

void log_dialect_watch(sql_call_t *c, apr_array_header_t *statements)
{
    const log_dialect_t *dialect = log_dialect_of(c->db);
    const char *name = c->table->name;

    for (int i = 0; dialect->tables[i] != NULL; i++) {
        APR_ARRAY_PUSH(statements, const char *) = dialect->tables[i];
    }
    dialect->watch(c, c->table, statements);
    if (dialect->replace == NULL) {
        forget(c, statements);
    }
    log_dialect_push(statements, sql_statement(c, "%r vault_watched(tbl,epoch,pruned,columns)VALUES(%s,'%r','',%s)",
                                               dialect->replace != NULL ? dialect->replace : "INSERT INTO", name,
                                               make_watch_id(c->pool), log_dialect_columns(c, c->table)));
    /* Pages have positions of the old watching: the tailer will notify them. */
    log_dialect_push(statements, sql_statement(c, "INSERT INTO vault_changes(tbl,op)VALUES(%s,'W')", name));
    if (dialect->notify != NULL) {
        APR_ARRAY_PUSH(statements, const char *) = dialect->notify;
    }
}

void log_dialect_unwatch(sql_call_t *c, apr_array_header_t *statements)
{
    /* This comes first: MariaDB commits after each of the others, and with only some of its triggers a table counts as
     * not watched. */
    forget(c, statements);
    log_dialect_of(c->db)->unwatch(c, c->table, statements);
    log_dialect_push(statements, sql_statement(c, "DELETE FROM vault_changes WHERE tbl=%s", c->table->name));
}

const char *log_dialect_literal(const sql_statement_t *sql, const char *text)
{
    sql_statement_t *literal = sql_expression_make(sql);
    const char *at = text;

    while (apr_isalnum(*at) || *at == '_') {
        at++;
    }
    if (*at == '\0') {
        sql_quoted_name(literal, text, '\'');
    }
    else {
        sql_constant(literal, text);
    }
    return literal->text;
}

void log_dialect_append_record(sql_statement_t *sql, const sql_table_t *table, const char *op, log_append_row_fn key,
                               log_append_row_fn row)
{
    sql_add(sql, " INSERT INTO vault_changes(tbl,op,row_key,old_row,new_row)VALUES(%r,'%r',",
            log_dialect_literal(sql, table->name), op);
    key(sql, table, op[0] == 'D' ? "OLD" : "NEW");
    sql_raw(sql, op[0] == 'I' ? ",NULL" : ",");
    if (op[0] != 'I') {
        row(sql, table, "OLD");
    }
    sql_raw(sql, op[0] == 'D' ? ",NULL);" : ",");
    if (op[0] != 'D') {
        row(sql, table, "NEW");
        sql_raw(sql, ");");
    }
}
