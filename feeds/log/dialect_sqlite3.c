/* SPDX-License-Identifier: Apache-2.0 */
/* Watching tables of SQLite.
 *
 * Foreign key actions also fire triggers. A REPLACE that removes a row fires its delete trigger only under `PRAGMA
 * recursive_triggers=ON`, as the documentation says. */
#include "log/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS vault_changes(id INTEGER PRIMARY KEY AUTOINCREMENT, tbl TEXT NOT NULL, op TEXT NOT "
    "NULL, "
    "row_key TEXT, old_row TEXT, new_row TEXT, at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)))",
    "CREATE INDEX IF NOT EXISTS vault_changes_tbl ON vault_changes(tbl, id)",
    "CREATE INDEX IF NOT EXISTS vault_changes_row ON vault_changes(tbl, row_key, id)",
    "CREATE TABLE IF NOT EXISTS vault_watched(tbl TEXT NOT NULL PRIMARY KEY, epoch TEXT NOT NULL, pruned TEXT NOT "
    "NULL, "
    "columns TEXT NOT NULL)WITHOUT ROWID",
    "CREATE TABLE IF NOT EXISTS vault_results(digest TEXT NOT NULL PRIMARY KEY, result TEXT NOT NULL, used INTEGER NOT "
    "NULL)",
    "CREATE TABLE IF NOT EXISTS vault_subscriptions(subscription TEXT NOT NULL PRIMARY KEY, place TEXT NOT NULL, "
    "reached INTEGER NOT NULL, used INTEGER NOT NULL)",
    NULL,
};

/* ------------------------------------------------------------ triggers */

/* `name` as a JSON string. */
static const char *as_json(const char *name, apr_pool_t *pool)
{
    const char *at = name;
    const char *copy;
    json_t *string;

    while (apr_isalnum(*at) || *at == '_') {
        at++;
    }
    if (*at == '\0') {
        return apr_pstrcat(pool, "\"", name, "\"", NULL); /* most names need no escape */
    }
    string = json_string(name);
    copy = sql_json_text(string, JSON_ENCODE_ANY, pool);
    json_decref(string);
    return copy;
}

/* The image of OLD or NEW: a JSON object, built as text, since json_object takes at most 63 columns. */
static void append_row(sql_statement_t *sql, const sql_table_t *table, const char *row)
{
    for (int i = 0; i < table->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column(table, i);
        sql_statement_t *expression = sql_expression_make(sql);

        sql_add(expression, "%r.%n", row, column->name);
        sql_raw(sql, i == 0 ? "" : "||");
        sql_quoted_name(sql, apr_pstrcat(sql->pool, i == 0 ? "{" : ",", as_json(column->name, sql->pool), ":", NULL),
                        '\'');
        sql_raw(sql, "||json_quote(");
        sql->driver->append_cell(sql, expression->text, column->kind);
        sql_raw(sql, ")");
    }
    sql_raw(sql, "||'}'");
}

static void append_key_part(sql_statement_t *sql, const sql_table_t *table, int i, const char *row)
{
    sql_add(sql, "CAST(%r.%n AS TEXT)", row, sql_table_key_column(table, i));
}

/* The key as text: see catalogue.h. */
static void append_key(sql_statement_t *sql, const sql_table_t *table, const char *row)
{
    if (table->key != NULL) {
        append_key_part(sql, table, 0, row);
        return;
    }
    for (int i = 0; i < table->keys->nelts; i++) {
        sql_raw(sql, i == 0 ? "replace(replace(" : "||','||replace(replace(");
        append_key_part(sql, table, i, row);
        sql_raw(sql, ",'\\','\\\\'),',','\\,')");
    }
}

static void append_record(sql_statement_t *sql, const sql_table_t *table, const char *op)
{
    log_dialect_append_record(sql, table, op, append_key, append_row);
}

static const char *trigger_name(const sql_table_t *table, const char *what, apr_pool_t *pool)
{
    return apr_pstrcat(pool, "vault_", table->name, "_", what, NULL);
}

static sql_statement_t *begin_trigger(sql_call_t *c, const sql_table_t *table, const char *what, const char *event)
{
    return sql_statement(c, "CREATE TRIGGER main.%n AFTER %r ON %n", trigger_name(table, what, c->pool), event,
                         table->name);
}

static void end_trigger(sql_statement_t *sql, apr_array_header_t *statements)
{
    sql_raw(sql, " END");
    log_dialect_push(statements, sql);
}

/* A change of case is a change, and so is one from 1 to '1'. */
static void append_differs(sql_statement_t *sql, const char *column)
{
    sql_add(sql, "OLD.%n COLLATE BINARY IS NOT NEW.%n OR typeof(OLD.%n)<>typeof(NEW.%n)", column, column, column,
            column);
}

static void append_when_key_differs(sql_statement_t *sql, const sql_table_t *table, const char *when)
{
    for (int i = 0; i < table->keys->nelts; i++) {
        sql_raw(sql, i > 0 ? " OR " : when);
        append_differs(sql, sql_table_key_column(table, i));
    }
    sql_raw(sql, ")");
}

static void append_when_row_differs(sql_statement_t *sql, const sql_table_t *table)
{
    append_when_key_differs(sql, table, " WHEN NOT(");
    for (int i = 0; i < table->columns->nelts; i++) {
        sql_raw(sql, i == 0 ? " AND(" : " OR ");
        append_differs(sql, sql_table_column(table, i)->name);
    }
    sql_raw(sql, ")");
}

static void unwatch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    static const char *const whats[] = {"insert", "update", "rename", "delete"};

    for (apr_size_t i = 0; i < sizeof(whats) / sizeof(whats[0]); i++) {
        log_dialect_push(statements,
                         sql_statement(c, "DROP TRIGGER IF EXISTS main.%n", trigger_name(table, whats[i], c->pool)));
    }
}

static void watch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    sql_statement_t *sql = begin_trigger(c, table, "insert", "INSERT");

    unwatch(c, table, statements);
    sql_raw(sql, " BEGIN");
    append_record(sql, table, "I");
    end_trigger(sql, statements);

    sql = begin_trigger(c, table, "update", "UPDATE");
    append_when_row_differs(sql, table);
    sql_raw(sql, " BEGIN");
    append_record(sql, table, "U");
    end_trigger(sql, statements);

    sql = begin_trigger(c, table, "rename", "UPDATE");
    append_when_key_differs(sql, table, " WHEN(");
    sql_raw(sql, " BEGIN");
    append_record(sql, table, "D");
    append_record(sql, table, "I");
    end_trigger(sql, statements);

    sql = begin_trigger(c, table, "delete", "DELETE");
    sql_raw(sql, " BEGIN");
    append_record(sql, table, "D");
    end_trigger(sql, statements);
}

/* ------------------------------------------------------------ pruning */

/* The id up to which changes are removed; NULL: none are. Ids are in the order of time. */
static apr_status_t find_horizon(sql_call_t *c, apr_int64_t before, int most, const char **horizon)
{
    const sql_statement_t *sql =
        sql_statement(c,
                      "Select max(h) AS %n FROM (Select max(id)-%d AS h FROM vault_changes UNION ALL Select "
                      "coalesce((Select id-1 FROM vault_changes WHERE at>=%d ORDER BY id LIMIT 1),(Select max(id) FROM "
                      "vault_changes))) WHERE h>=(Select min(id) FROM vault_changes WHERE %r)",
                      c->db->driver->cell_alias, (apr_int64_t)most, before, log_dialect_has(c, "tbl"));

    return sql_conn_cell(c, sql->text, horizon);
}

static apr_status_t remove_up_to(sql_call_t *c, apr_int64_t horizon)
{
    const char *has = log_dialect_has(c, "tbl");
    apr_status_t rv = sql_execute(c,
                                  "UPDATE vault_watched SET pruned=coalesce((Select max(id) FROM vault_changes AS c "
                                  "WHERE c.tbl=vault_watched.tbl AND c.id<=%d),pruned) WHERE %r",
                                  horizon, has);

    return rv == APR_SUCCESS ? sql_execute(c, "DELETE FROM vault_changes WHERE id<=%d AND %r", horizon, has) : rv;
}

static apr_status_t prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    const char *found;
    apr_int64_t horizon;
    apr_status_t rv = find_horizon(c, before, most, &found);

    if (rv != APR_SUCCESS || found == NULL) {
        return rv;
    }
    horizon = apr_strtoi64(found, NULL, 10);
    horizon = horizon < apr_strtoi64(seen, NULL, 10) ? horizon : apr_strtoi64(seen, NULL, 10);
    rv = sql_conn_begin_write(c);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = remove_up_to(c, horizon);
    return sql_conn_end(c, rv);
}

/* ------------------------------------------------------------ images */

static void append_image(sql_statement_t *sql, const sql_table_t *table, const char *column)
{
    sql_own_cell(sql, "c", column, SQL_TEXT);
}

/* A column may contain values of any type, so the value may be stored as a number or as a text; but not as a text that
 * looks like a number if the column converts such texts. */
static void append_has(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value)
{
    const char *begin = apr_pstrcat(sql->pool, as_json(column->name, sql->pool), ":\"", NULL);
    int count = !log_dialect_is_plain(value) ? 0 : log_dialect_is_number(column, value) ? 1 : 2;

    for (int i = 0; i < count; i++) {
        sql_add(sql, "%rinstr(c.%n,%s)>0", i == 0 ? "(" : " OR ", row,
                apr_pstrcat(sql->pool, begin, i == 0 ? "I" : "T", value, "\"", NULL));
    }
    sql_raw(sql, count > 0 ? ")" : "1=1");
}

/* The sequence counts the ids of pruned changes. A statement that fails without a rollback (INSERT OR FAIL) may leave
 * the sequence behind the ids that it has assigned. */
#define NOW                                                                                                            \
    "max(coalesce((Select seq FROM main.sqlite_sequence WHERE name='vault_changes'),0),"                               \
    "coalesce((Select max(id) FROM main.vault_changes),0))"

const log_dialect_t log_dialect_sqlite3 = {
    .name = "sqlite3",
    .position = &log_position_sqlite3,
    .tables = tables,
    .order = "c.id",
    .unless_there = " ON CONFLICT DO NOTHING",
    .watch = watch,
    .unwatch = unwatch,
    .now = NOW,
    .now_of_all = NOW,
    .pruned = "(Select CAST(max(CAST(w.pruned AS INTEGER)) AS TEXT) FROM vault_watched AS w)",
    .watchings = "(Select group_concat(x.one) FROM (Select w.tbl||' '||w.epoch AS one FROM vault_watched AS w ORDER BY "
                 "w.tbl) AS x)",
    .number = "0",
    .journal = "-wal",
    .prune = prune,
    .append_image = append_image,
    .append_has = append_has,
};
