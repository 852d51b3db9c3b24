/* SPDX-License-Identifier: Apache-2.0 */
/* Watching tables of MariaDB: the change table, its triggers, and images. Positions are made of the numbers of changes
 * (numbering_mysql.h). */
#include "log/dialect.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "log/digest.h"
#include "log/numbering_mysql.h"
#include "log/position_mysql.h"
#include "sql/catalogue.h"
#include "sql/driver.h"

#define TRIGGER_NAME_MAX 64

static const char *const tables[] = {
    "CREATE TABLE IF NOT EXISTS vault_changes(id BIGINT AUTO_INCREMENT PRIMARY KEY, pos BIGINT, tbl VARCHAR(64) NOT "
    "NULL, "
    "op CHAR(1) NOT NULL, row_key TEXT, old_row LONGTEXT, new_row LONGTEXT, at BIGINT NOT NULL DEFAULT "
    "(UNIX_TIMESTAMP()), "
    "KEY (pos), KEY (tbl,pos), KEY (tbl,row_key(191))) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS vault_watched(tbl VARCHAR(64) NOT NULL PRIMARY KEY, epoch VARCHAR(40) NOT NULL, "
    "pruned VARCHAR(40) NOT NULL, columns LONGTEXT NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS vault_results(digest VARCHAR(40) NOT NULL PRIMARY KEY, result LONGTEXT NOT NULL, "
    "used BIGINT NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    "CREATE TABLE IF NOT EXISTS vault_subscriptions(subscription VARCHAR(40) NOT NULL PRIMARY KEY, place TEXT NOT "
    "NULL, "
    "reached BIGINT NOT NULL, used BIGINT NOT NULL) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin",
    /* Numbered changes have smaller numbers, and no position has a larger one, also if only this table was dropped. */
    "INSERT IGNORE INTO vault_watched(tbl,epoch,pruned,columns) SELECT "
    "'','',COALESCE(MAX(pos)+" LOG_NUMBERING_MYSQL_AT_ONCE ",0),'[]' FROM "
    "vault_changes",
    NULL,
};

/* ------------------------------------------------------------ triggers */

static const char *column_of(const sql_statement_t *sql, const char *row, const char *column)
{
    sql_statement_t *name = sql_expression_make(sql);

    sql_add(name, "%r.%n", row, column);
    return name->text;
}

static void append_row(sql_statement_t *sql, const sql_table_t *table, const char *row)
{
    sql_raw(sql, "JSON_OBJECT(");
    for (int i = 0; i < table->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column(table, i);

        /* Columns may have different character sets, which JSON_OBJECT cannot combine. */
        sql_add(sql, i == 0 ? "%r,CONVERT(" : ",%r,CONVERT(", log_dialect_literal(sql, column->name));
        sql->driver->append_cell(sql, column_of(sql, row, column->name), column->kind);
        sql_raw(sql, " USING utf8mb4)");
    }
    sql_raw(sql, ")");
}

/* In the form of cells (driver_mysql.c): without the zeros of ZEROFILL, a BIT as a number, bytes in base64, which
 * MariaDB breaks into lines. */
static void append_key_part(sql_statement_t *sql, const sql_column_t *key, const char *row)
{
    sql_raw(sql, key->kind == SQL_BLOB ? "REPLACE(TO_BASE64(" : "CONCAT('',");
    sql_raw(sql, column_of(sql, row, key->name));
    sql_raw(sql, key->kind == SQL_BLOB ? "),'\\n','')" : key->is_integer ? "+0)" : ")");
}

/* The key as text: see catalogue.h. */
static void append_key(sql_statement_t *sql, const sql_table_t *table, const char *row)
{
    for (int i = 0; i < table->keys->nelts; i++) {
        const sql_column_t *column = sql_table_column_named(table, sql_table_key_column(table, i));

        if (table->key != NULL) {
            append_key_part(sql, column, row);
            return;
        }
        sql_raw(sql, i == 0 ? "CONCAT(" : ",',',");
        sql_raw(sql, "REPLACE(REPLACE(CONVERT(");
        append_key_part(sql, column, row);
        sql_raw(sql,
                " USING utf8mb4),CHAR(92 USING utf8mb4),CHAR(92,92 USING utf8mb4)),',',CHAR(92,44 USING utf8mb4))");
    }
    sql_raw(sql, ")");
}

static void append_record(sql_statement_t *sql, const sql_table_t *table, const char *op)
{
    log_dialect_append_record(sql, table, op, append_key, append_row);
}

/* A change of case is a change. */
static void append_differs(sql_statement_t *sql, const char *column)
{
    sql_add(sql, "NOT(CAST(OLD.%n AS BINARY)<=>CAST(NEW.%n AS BINARY))", column, column);
}

static const char *const triggers[] = {"insert", "update", "delete"};

/* A name has at most 64 characters. */
static const char *trigger_name(const sql_table_t *table, const char *what, apr_pool_t *pool)
{
    const char *name = apr_pstrcat(pool, "vault_", table->name, "_", what, NULL);

    return strlen(name) <= TRIGGER_NAME_MAX
               ? name
               : apr_pstrcat(pool, "vault_", log_digest(table->name, pool), "_", what, NULL);
}

/* A table that was dropped and created again has lost its triggers. While it has only some of them, not all writes are
 * recorded. Pages must not take the changes of that time for all that has happened since their last read. */
static void forget_another(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    sql_statement_t *sql = sql_statement_make(c);
    const char *name = log_dialect_literal(sql, table->name);

    sql_add(sql,
            "DELETE FROM vault_watched WHERE tbl=%r AND(SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE "
            "EVENT_OBJECT_SCHEMA=DATABASE() AND EVENT_OBJECT_TABLE=%r",
            name, name);
    for (apr_size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++) {
        sql_add(sql, i == 0 ? " AND TRIGGER_NAME IN(%r" : ",%r",
                log_dialect_literal(sql, trigger_name(table, triggers[i], sql->pool)));
    }
    sql_raw(sql, "))<3");
    log_dialect_push(statements, sql);
}

static sql_statement_t *begin_trigger(sql_call_t *c, const sql_table_t *table, const char *what, const char *event)
{
    /* The trigger is never absent: MariaDB could not roll back its removal. */
    return sql_statement(c, "CREATE OR REPLACE TRIGGER %n AFTER %r ON %t FOR EACH ROW BEGIN",
                         trigger_name(table, what, c->pool), event, table->name);
}

static void watch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    sql_statement_t *sql;

    forget_another(c, table, statements);
    sql = begin_trigger(c, table, "insert", "INSERT");
    append_record(sql, table, "I");
    sql_raw(sql, " END");
    log_dialect_push(statements, sql);

    sql = begin_trigger(c, table, "update", "UPDATE");
    for (int i = 0; i < table->keys->nelts; i++) {
        sql_raw(sql, i == 0 ? " IF " : " OR ");
        append_differs(sql, sql_table_key_column(table, i));
    }
    sql_raw(sql, " THEN");
    append_record(sql, table, "D");
    append_record(sql, table, "I");
    for (int i = 0; i < table->columns->nelts; i++) {
        sql_raw(sql, i == 0 ? " ELSEIF " : " OR ");
        append_differs(sql, sql_table_column(table, i)->name);
    }
    sql_raw(sql, " THEN");
    append_record(sql, table, "U");
    sql_raw(sql, " END IF; END");
    log_dialect_push(statements, sql);

    sql = begin_trigger(c, table, "delete", "DELETE");
    append_record(sql, table, "D");
    sql_raw(sql, " END");
    log_dialect_push(statements, sql);
}

static void unwatch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    for (apr_size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++) {
        log_dialect_push(statements,
                         sql_statement(c, "DROP TRIGGER IF EXISTS %n", trigger_name(table, triggers[i], c->pool)));
    }
}

/* ------------------------------------------------------------ images */

static void append_image(sql_statement_t *sql, const sql_table_t *table, const char *column)
{
    sql_own_cell(sql, "c", column, SQL_TEXT); /* JSON_OBJECT writes a NUL as other characters */
}

static int is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (apr_iscntrl(*text) || strchr("\"\\/", *text) != NULL) {
            return 0;
        }
    }
    return 1;
}

/* In the form that JSON_OBJECT writes. */
static void append_has(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value)
{
    static const char *const types[] = {
        [SQL_TEXT] = "T", [SQL_INTEGER] = "I", [SQL_REAL] = "R", [SQL_BLOB] = "B", [SQL_BOOLEAN] = "L"};

    if (!is_plain(value) || !is_plain(column->name)) {
        sql_raw(sql, "1=1");
        return;
    }
    sql_add(sql, "LOCATE(%s,c.%r)>0",
            apr_pstrcat(sql->pool, "\"", column->name, "\": \"", types[column->kind], value, "\"", NULL), row);
}

const log_dialect_t log_dialect_mysql = {
    .name = "mysql",
    .position = &log_position_mysql,
    .tables = tables,
    .order = "COALESCE(c.pos,4611686018427387904+c.id)",
    /* IGNORE would take a shared lock on an existing row. To write the row then could be a deadlock with another
     * transaction that does the same. */
    .unless_there = " ON DUPLICATE KEY UPDATE used=used",
    .replace = "REPLACE INTO",
    .watch = watch,
    .unwatch = unwatch,
    .assign_numbers = log_numbering_mysql_assign,
    .is_long = log_position_mysql_is_long,
    .now = LOG_POSITION_MYSQL_NOW,
    .now_of_all = "CONCAT(COALESCE((SELECT pruned FROM vault_watched WHERE tbl=''),'0'),';')",
    .pruned = "(SELECT MAX(CAST(w.pruned AS SIGNED)) FROM vault_watched AS w WHERE w.tbl<>'')",
    .watchings = "(SELECT GROUP_CONCAT(w.tbl,' ',w.epoch ORDER BY w.tbl) FROM vault_watched AS w WHERE w.tbl<>'')",
    .is_tailed = "c.pos IS NOT NULL",
    .number = "c.pos",
    .prune = log_position_mysql_prune,
    .append_image = append_image,
    .append_has = append_has,
};
