/* SPDX-License-Identifier: Apache-2.0 */
/* Watching tables of MariaDB.
 *
 * Ids are taken before a transaction commits, in any order, and there is no snapshot to be asked for. So committed changes
 * are numbered afterwards, in `pos`, by who watches, or looks and finds many, and gets the lock: a plain read finds those that are
 * committed and have none, an update by primary key numbers them. No writer waits for that, and none is waited for.
 *
 * A place is `POS;IDS`: all up to that number were seen, and those ids, which the reader's snapshot had before they were
 * numbered. The last number given stands in vault_watched, in a row of no table.
 */
#include "dialect.h"

#include <stdlib.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "catalogue.h"
#include "connection.h"
#include "driver.h"
#include "interests.h"
#include "joined.h"
#include "joins.h"

/* Changes that are numbered by one statement, and how many such statements at once. */
#define AT_ONCE "1000"
#define ROUNDS 50
/* The longest list of ids in a place; two are to fit into a cursor. */
#define IDS_MAX 1800
/* The longest one that pages do not mind. */
#define IDS_ENOUGH 500
/* Changes without a number that who watches may let be; and for how many looks, and milliseconds. */
#define FEW 32
#define LOOKS 50
#define LET_BE_MAX 10000
/* How the ids in a place within a batch begin: some of them may have numbers that it has, too. */
#define WITHIN "0,"
/* What is not yet numbered comes after all that is. */
#define UNNUMBERED (APR_INT64_C(1) << 62)
#define LOCK "CONCAT('mod_vault place ',MD5(DATABASE()))"
#define TRIGGER_NAME_MAX 64
/* A place in parts: of the row of no table, one for each change without a number. */
#define PART "CONCAT('',c.id)"
#define PARTS " LEFT JOIN vault_changes AS c FORCE INDEX(pos) ON c.pos IS NULL AND w.tbl=''"
#define NOW                                                                                                            \
    "CONCAT(COALESCE((SELECT pruned FROM vault_watched WHERE tbl=''),'0'),';',"                                        \
    "COALESCE((SELECT GROUP_CONCAT(id ORDER BY id) FROM vault_changes WHERE pos IS NULL),''))"

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
    /* What is numbered already has smaller numbers, and places have no larger ones, also where somebody has dropped this table alone. */
    "INSERT IGNORE INTO vault_watched(tbl,epoch,pruned,columns) SELECT '','',COALESCE(MAX(pos)+" AT_ONCE ",0),'[]' FROM "
    "vault_changes",
    NULL,
};

/* ------------------------------------------------------------ triggers */

/* For somebody to read, where that is possible. */
static void append_plain(sql_statement_t *sql, const char *text)
{
    for (const char *at = text; *at != '\0'; at++) {
        if (!apr_isalnum(*at) && *at != '_') {
            sql_text(sql, text);
            return;
        }
    }
    sql_quoted_name(sql, text, '\'');
}

static const char *column_of(const sql_statement_t *sql, const char *row, const char *column)
{
    sql_statement_t *name = sql_expression_make(sql);

    sql_raw(name, row);
    sql_raw(name, ".");
    sql_name(name, column);
    return name->text;
}

static void append_row(sql_statement_t *sql, const sql_table_t *table, const char *row)
{
    sql_raw(sql, "JSON_OBJECT(");
    for (int i = 0; i < table->columns->nelts; i++) {
        const sql_column_t *column = sql_table_column(table, i);

        sql_raw(sql, i == 0 ? "" : ",");
        append_plain(sql, column->name);
        /* Columns may have different character sets, which JSON_OBJECT refuses to mix. */
        sql_raw(sql, ",CONVERT(");
        sql->driver->append_cell(sql, column_of(sql, row, column->name), column->kind);
        sql_raw(sql, " USING utf8mb4)");
    }
    sql_raw(sql, ")");
}

/* As cells are (driver_mysql.c): without the zeros of ZEROFILL, a BIT as a number, bytes in base64, which MariaDB breaks into lines. */
static void append_key(sql_statement_t *sql, const sql_column_t *key, const char *row)
{
    sql_raw(sql, key->kind == SQL_BLOB ? "REPLACE(TO_BASE64(" : "CONCAT('',");
    sql_raw(sql, column_of(sql, row, key->name));
    sql_raw(sql, key->kind == SQL_BLOB ? "),'\\n','')" : key->is_integer ? "+0)" : ")");
}

static void append_record(sql_statement_t *sql, const sql_table_t *table, const char *op, int old, int new)
{
    sql_raw(sql, " INSERT INTO vault_changes(tbl,op,row_key,old_row,new_row) VALUES(");
    append_plain(sql, table->name);
    sql_raw(sql, ",'");
    sql_raw(sql, op);
    sql_raw(sql, "',");
    append_key(sql, sql_table_column_named(table, table->key), new ? "NEW" : "OLD");
    sql_raw(sql, ",");
    if (old) {
        append_row(sql, table, "OLD");
    }
    sql_raw(sql, old ? "," : "NULL,");
    if (new) {
        append_row(sql, table, "NEW");
    }
    sql_raw(sql, new ? ");" : "NULL);");
}

/* Also a change of case is one. */
static void append_differs(sql_statement_t *sql, const char *column)
{
    sql_raw(sql, "NOT(CAST(");
    sql_raw(sql, column_of(sql, "OLD", column));
    sql_raw(sql, " AS BINARY)<=>CAST(");
    sql_raw(sql, column_of(sql, "NEW", column));
    sql_raw(sql, " AS BINARY))");
}

static const char *const triggers[] = {"insert", "update", "delete"};

/* A name has 64 characters at most. */
static const char *trigger_name(const sql_table_t *table, const char *what, apr_pool_t *pool)
{
    const char *name = apr_pstrcat(pool, "vault_", table->name, "_", what, NULL);

    return strlen(name) <= TRIGGER_NAME_MAX
               ? name
               : apr_pstrcat(pool, "vault_", database_digest(table->name, pool), "_", what, NULL);
}

static void append_trigger(sql_statement_t *sql, const sql_table_t *table, const char *what)
{
    sql_name(sql, trigger_name(table, what, sql->pool));
}

/* A table that was dropped and made again has lost its triggers. Until it has all of them nobody can tell what is done to it: pages are not to take what
 * the first of them records for all that has happened since they looked at the table before. */
static void forget_another(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    sql_statement_t *sql = sql_statement_make(c);

    sql_raw(sql, "DELETE FROM vault_watched WHERE tbl=");
    append_plain(sql, table->name);
    sql_raw(sql, " AND(SELECT COUNT(*) FROM information_schema.TRIGGERS WHERE EVENT_OBJECT_SCHEMA=DATABASE() AND "
                 "EVENT_OBJECT_TABLE=");
    append_plain(sql, table->name);
    for (apr_size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++) {
        sql_raw(sql, i == 0 ? " AND TRIGGER_NAME IN(" : ",");
        append_plain(sql, trigger_name(table, triggers[i], sql->pool));
    }
    sql_raw(sql, "))<3");
    database_dialect_push(statements, sql);
}

static sql_statement_t *begin_trigger(sql_call_t *c, const sql_table_t *table, const char *what, const char *event)
{
    sql_statement_t *sql = sql_statement_make(c);

    /* There is no moment without it, since no transaction would take its end back. */
    sql_raw(sql, "CREATE OR REPLACE TRIGGER ");
    append_trigger(sql, table, what);
    sql_raw(sql, " AFTER ");
    sql_raw(sql, event);
    sql_raw(sql, " ON ");
    sql_table(sql, table->name);
    sql_raw(sql, " FOR EACH ROW BEGIN");
    return sql;
}

static void watch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    sql_statement_t *sql;

    forget_another(c, table, statements);
    sql = begin_trigger(c, table, "insert", "INSERT");
    append_record(sql, table, "I", 0, 1);
    sql_raw(sql, " END");
    database_dialect_push(statements, sql);

    sql = begin_trigger(c, table, "update", "UPDATE");
    sql_raw(sql, " IF ");
    append_differs(sql, table->key);
    sql_raw(sql, " THEN");
    append_record(sql, table, "D", 1, 0);
    append_record(sql, table, "I", 0, 1);
    for (int i = 0; i < table->columns->nelts; i++) {
        sql_raw(sql, i == 0 ? " ELSEIF " : " OR ");
        append_differs(sql, sql_table_column(table, i)->name);
    }
    sql_raw(sql, " THEN");
    append_record(sql, table, "U", 1, 1);
    sql_raw(sql, " END IF; END");
    database_dialect_push(statements, sql);

    sql = begin_trigger(c, table, "delete", "DELETE");
    append_record(sql, table, "D", 1, 0);
    sql_raw(sql, " END");
    database_dialect_push(statements, sql);
}

static void unwatch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    for (apr_size_t i = 0; i < sizeof(triggers) / sizeof(triggers[0]); i++) {
        sql_statement_t *sql = sql_statement_make(c);

        sql_raw(sql, "DROP TRIGGER IF EXISTS ");
        append_trigger(sql, table, triggers[i]);
        database_dialect_push(statements, sql);
    }
}

/* ------------------------------------------------------------ numbering */

static int count_of(const char *ids)
{
    int count = 1;

    for (const char *at = strchr(ids, ','); at != NULL; at = strchr(at + 1, ',')) {
        count++;
    }
    return count;
}

/* Numbers have no gaps, so that looks without the database know what is between two of them (listed.h). */
static apr_status_t give_numbers(sql_call_t *c, const char *ids, int count, const char **last)
{
    apr_status_t rv = sql_conn_begin_write(c);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = sql_conn_cell(c, "SELECT pruned AS v FROM vault_watched WHERE tbl='' FOR UPDATE", last);
    *last = *last != NULL ? *last : "0";
    if (rv == APR_SUCCESS) {
        rv =
            sql_conn_query(c,
                           apr_psprintf(c->pool, "UPDATE vault_changes SET pos=%s+FIND_IN_SET(id,'%s') WHERE id IN(%s)",
                                        *last, ids, ids),
                           NULL);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(
            c, apr_psprintf(c->pool, "UPDATE vault_watched SET pruned=CONCAT('',pruned+%d) WHERE tbl=''", count), NULL);
    }
    return sql_conn_end(c, rv);
}

/* Number what is committed. @param more  there may be more */
static apr_status_t number_some(sql_call_t *c, int *more)
{
    const database_t *feed = (const database_t *)c->db;
    database_numbering_t numbering = {0};
    const char *ids, *last;
    apr_status_t rv;
    int count;

    *more = 0;
    if (c->own != NULL) {
        database_joined_number(feed, &numbering);
    }
    rv = sql_conn_cell(c,
                       "SELECT GROUP_CONCAT(x.id ORDER BY x.id) AS v FROM (SELECT id FROM vault_changes "
                       "WHERE pos IS NULL ORDER BY id LIMIT " AT_ONCE ") AS x",
                       &ids);
    if (rv != APR_SUCCESS || ids == NULL) {
        return rv;
    }
    count = count_of(ids);
    *more = count == atoi(AT_ONCE);
    rv = give_numbers(c, ids, count, &last);
    if (rv == APR_SUCCESS && c->own != NULL) {
        database_joined_numbered(feed, &numbering, apr_strtoi64(last, NULL, 10), ids, !*more);
    }
    return rv;
}

/* Whoever has the lock does it for all; nobody waits as long as a place can hold what is not yet numbered. */
static apr_status_t settle(sql_call_t *c, int patience)
{
    const char *cell;
    int more = 1;
    apr_status_t rv;

    if (c->own == NULL) { /* who watches comes when there are some */
        rv = sql_conn_cell(c, "SELECT '1' AS v FROM vault_changes WHERE pos IS NULL LIMIT 1", &cell);
        if (rv != APR_SUCCESS || cell == NULL) {
            return rv;
        }
    }
    rv = sql_conn_cell(c, apr_psprintf(c->pool, "SELECT CONCAT('',GET_LOCK(" LOCK ",%d)) AS v", patience), &cell);
    if (rv != APR_SUCCESS || cell == NULL || strcmp(cell, "1") != 0) {
        return rv;
    }
    for (int i = 0; i < ROUNDS && more && rv == APR_SUCCESS; i++) {
        rv = number_some(c, &more);
    }
    if (sql_conn_cell(c, "SELECT CONCAT('',RELEASE_LOCK(" LOCK ")) AS v", &cell) != APR_SUCCESS) {
        /* The lock goes with the connection. */
        c->conn->broken = 1;
    }
    return rv;
}

/* ------------------------------------------------------------ places */

typedef struct parts_t {
    sql_call_t *c;
    const char *told;
} parts_t;

static int take_part_cb(void *data, const char *const *cells)
{
    parts_t *parts = data;

    parts->told = database_part_add(parts->told, cells[0], cells[1], parts->c->pool);
    return 1;
}

/* A join of two tables costs half as much as two subqueries, one of which makes a list. */
static apr_status_t where(sql_call_t *c, const char **told)
{
    parts_t parts = {.c = c};
    sql_statement_t *sql = sql_statement_make(c);
    apr_status_t rv;

    sql_raw(sql, "SELECT w.pruned AS v," PART " AS v FROM vault_watched AS w" PARTS " WHERE w.tbl=''");
    rv = sql_conn_run(c, sql, take_part_cb, &parts);
    *told = parts.told;
    /* Somebody has dropped vault_watched alone: there is no such row until a table is watched again. */
    return rv == APR_SUCCESS && *told == NULL ? sql_conn_cell(c, "SELECT " NOW, told) : rv;
}

static apr_int64_t number(const char *place)
{
    return apr_isdigit(place[0]) ? apr_strtoi64(place, NULL, 10) : -1;
}

/* The ids in a place, "" if there are none. */
static const char *ids_of(const char *place)
{
    const char *semicolon = strchr(place, ';');

    return semicolon != NULL ? semicolon + 1 : "";
}

static int is_long(const char *told)
{
    apr_size_t length = strlen(ids_of(told));

    return length > IDS_MAX ? 2 : length > IDS_ENOUGH;
}

/* Numbers cost more than all else that a watcher does where only this server writes. But a place without them is long, and before its time for
 * pruning: both counts are far below what is kept at least (`changes`, `keep`). */
static int is_due(const char *told, apr_int64_t age, int look)
{
    const char *ids = ids_of(told);
    apr_int64_t most = (apr_int64_t)LOOKS * look;

    return ids[0] != '\0' && (age < 0 || age >= (most < LET_BE_MAX ? most : LET_BE_MAX) || count_of(ids) >= FEW);
}

static apr_status_t place(sql_call_t *c, const char *told, const char **now)
{
    *now = told;
    return strlen(ids_of(told)) <= IDS_MAX
               ? APR_SUCCESS
               : sql_fail(c, APR_EAGAIN, "more changes were committed at once than a place can hold");
}

/* Ids that are gone have got numbers, each one of its own: are there more of them? Then the database is one that was put back, or has lost in a crash
 * what was committed last. */
static int has_gone(const database_span_t *span)
{
    database_listed_t since, now;
    apr_int64_t gone = 0;

    if (!database_listed_read(&since, span->since) || !database_listed_read(&now, span->now) ||
        database_listed_lists(&since, 0)) {
        return 0;
    }
    for (int i = 0; i < since.count; i++) {
        gone += !database_listed_lists(&now, since.ids[i]);
    }
    return gone > now.last - since.last;
}

static int is_lost(sql_call_t *c, const database_span_t *span)
{
    apr_int64_t since = number(span->since);

    return since < 0 || span->since[strspn(span->since, "0123456789;,")] != '\0' || since > number(span->now) ||
           since < number(span->pruned) || has_gone(span);
}

static void append_since(sql_statement_t *sql, const char *since)
{
    sql_raw(sql, "(c.pos>");
    sql_integer(sql, number(since));
    sql_raw(sql, " OR c.pos IS NULL) AND FIND_IN_SET(c.id,");
    sql_text(sql, ids_of(since)); /* a value, so that the statement is always the same */
    sql_raw(sql, ")=0");
}

/* What is not yet numbered may have been committed by others, too. Those that the watcher has are not read again: a writer whose id is lower than one
 * of them has taken longer than another one, and finds nothing. */
static void append_own(sql_statement_t *sql, apr_int64_t floor)
{
    sql_raw(sql, "c.pos IS NULL AND c.id>");
    sql_integer(sql, floor);
}

static apr_int64_t floor_of(const char *place)
{
    apr_int64_t floor = 0;
    char *at;

    for (const char *ids = ids_of(place); apr_isdigit(*ids); ids = *at == ',' ? at + 1 : at) {
        apr_int64_t id = apr_strtoi64(ids, &at, 10);

        floor = id > floor ? id : floor;
    }
    return floor;
}

/* What a transaction has recorded beside this is told by its place. */
static const char *alone(const sql_statement_t *sql, const sql_table_t *table, const char *columns)
{
    sql_statement_t *made = sql_expression_make(sql);

    sql_raw(made, "CASE WHEN w.columns=");
    sql_constant(made, columns);
    sql_raw(made, " THEN 1 ELSE 0 END");
    return made->text;
}

/* Those of `ids` up to `most`, after what is in `seen`. */
static const char *add_ids(const char *seen, const char *ids, apr_int64_t most, apr_pool_t *pool)
{
    char *rest;
    char *list = apr_pstrdup(pool, ids);

    for (char *id = apr_strtok(list, ",", &rest); id != NULL; id = apr_strtok(NULL, ",", &rest)) {
        if (apr_strtoi64(id, NULL, 10) <= most) {
            seen = apr_pstrcat(pool, seen, seen[0] != '\0' ? "," : "", id, NULL);
        }
    }
    return seen;
}

static const char *next(sql_call_t *c, const database_span_t *span, const char *last, int *again)
{
    apr_int64_t order = last != NULL ? apr_strtoi64(last, NULL, 10) : 0;
    const char *seen = ids_of(span->since);

    *again = last != NULL;
    if (last == NULL) {
        return span->now;
    }
    if (seen[0] != '\0' && strncmp(seen, WITHIN, strlen(WITHIN)) != 0) {
        seen = apr_pstrcat(c->pool, WITHIN, seen, NULL);
    }
    if (order < UNNUMBERED) {
        return apr_psprintf(c->pool, "%" APR_INT64_T_FMT ";%s", order, seen);
    }
    return apr_psprintf(c->pool, "%" APR_INT64_T_FMT ";%s", number(span->now),
                        add_ids(seen, ids_of(span->now), order - UNNUMBERED, c->pool));
}

/* ------------------------------------------------------------ pruning */

static apr_status_t remove_up_to(sql_call_t *c, const char *horizon)
{
    apr_status_t rv =
        sql_conn_query(c,
                       apr_psprintf(c->pool,
                                    "UPDATE vault_watched AS w SET w.pruned=COALESCE((SELECT MAX(c.pos) FROM "
                                    "vault_changes AS c WHERE c.tbl=w.tbl AND c.pos<=%s),w.pruned) WHERE w.tbl<>''",
                                    horizon),
                       NULL);

    if (rv == APR_SUCCESS) {
        rv = sql_conn_query(c, apr_psprintf(c->pool, "DELETE FROM vault_changes WHERE pos<=%s", horizon), NULL);
    }
    return rv;
}

static apr_status_t prune(sql_call_t *c, apr_int64_t before, int most, const char *seen)
{
    const char *horizon;
    apr_status_t rv = sql_conn_cell(c,
                                    apr_psprintf(c->pool,
                                                 "SELECT CONCAT('',LEAST(MAX(h.pos),%" APR_INT64_T_FMT
                                                 ")) AS v FROM ((SELECT MAX(pos) AS pos FROM vault_changes WHERE "
                                                 "at<%" APR_INT64_T_FMT
                                                 ") UNION ALL (SELECT pos FROM vault_changes WHERE pos IS NOT NULL "
                                                 "ORDER BY pos DESC LIMIT %d,1)) AS h",
                                                 number(seen), before, most),
                                    &horizon);

    if (rv != APR_SUCCESS || horizon == NULL) {
        return rv;
    }
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

/* As JSON_OBJECT writes it. */
static int images_of(const char *images[2], const sql_column_t *column, const char *value, apr_pool_t *pool)
{
    static const char *const types[] = {
        [SQL_TEXT] = "T", [SQL_INTEGER] = "I", [SQL_REAL] = "R", [SQL_BLOB] = "B", [SQL_BOOLEAN] = "L"};

    if (!is_plain(value) || !is_plain(column->name)) {
        return 0;
    }
    images[0] = apr_pstrcat(pool, "\"", column->name, "\": \"", types[column->kind], value, "\"", NULL);
    return 1;
}

static void append_has(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value)
{
    const char *images[2];

    if (images_of(images, column, value, sql->pool) == 0) {
        sql_raw(sql, "1=1");
        return;
    }
    sql_raw(sql, "LOCATE(");
    sql_text(sql, images[0]);
    sql_raw(sql, ",c.");
    sql_raw(sql, row);
    sql_raw(sql, ")>0");
}

const database_dialect_t database_dialect_mysql = {
    .name = "mysql",
    .tables = tables,
    .lock_rows = " FOR UPDATE",
    .order = "COALESCE(c.pos,4611686018427387904+c.id)",
    .unites = 1,
    .insert_new = " IGNORE",
    .insert_new_end = "",
    .replace = "REPLACE INTO ",
    .watch = watch,
    .unwatch = unwatch,
    .settle = settle,
    .is_long = is_long,
    .is_due = is_due,
    .now = NOW,
    .part = PART,
    /* The few rows that there are cost less to read than to plan for. */
    .parts = " IGNORE INDEX(PRIMARY)" PARTS,
    .where = where,
    .place = place,
    .is_lost = is_lost,
    .append_since = append_since,
    .append_own = append_own,
    .floor_of = floor_of,
    .joins = &database_joins_lists,
    .number = "c.id",
    .alone = alone,
    .next = next,
    .prune = prune,
    .append_image = append_image,
    .images_of = images_of,
    .append_has = append_has,
};
