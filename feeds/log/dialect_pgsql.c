/* SPDX-License-Identifier: Apache-2.0 */
/* Watching tables of PostgreSQL: the change table, its trigger, notifications, and images. position_pgsql.c has the
 * positions.
 *
 * One trigger function serves all tables: it stores rows as JSON, whatever their columns. When an image is read, it is
 * decoded with the type that the table has then. */
#include "log/dialect.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "log/image.h"
#include "log/position_pgsql.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/native_pgsql.h"

/* The key of a row in JSON, as text (catalogue.h). The arguments of a trigger are the table, and for each column of the
 * key its name and the trailing characters that its JSON has and its text does not. */
#define KEY_OF(row) "CASE WHEN TG_NARGS<4 THEN pg_catalog.rtrim(" row "->>k,p) ELSE vault_key(" row ",TG_ARGV) END"
#define OLD_KEY KEY_OF("o")
#define NEW_KEY KEY_OF("n")

static const char *const tables[] = {
    /* Until the end of the transaction. IF NOT EXISTS fails if vaultctl and a messages feed create the same table at
     * once. */
    "Select pg_advisory_xact_lock(7760757)",
    "CREATE TABLE IF NOT EXISTS vault_changes(id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "xid XID8 NOT NULL DEFAULT pg_current_xact_id(), tbl TEXT NOT NULL, op TEXT NOT NULL, row_key TEXT, old_row JSONB, "
    "new_row JSONB, at BIGINT NOT NULL DEFAULT extract(epoch FROM clock_timestamp())::bigint)",
    "CREATE INDEX IF NOT EXISTS vault_changes_tbl ON vault_changes(tbl, xid)",
    "CREATE INDEX IF NOT EXISTS vault_changes_row ON vault_changes(tbl, row_key, xid)",
    "CREATE TABLE IF NOT EXISTS vault_watched(tbl TEXT NOT NULL PRIMARY KEY, epoch TEXT NOT NULL, pruned TEXT NOT "
    "NULL, "
    "columns TEXT NOT NULL)",
    "CREATE TABLE IF NOT EXISTS vault_results(digest TEXT NOT NULL PRIMARY KEY, result TEXT NOT NULL, used BIGINT NOT "
    "NULL)",
    "CREATE TABLE IF NOT EXISTS vault_subscriptions(subscription TEXT NOT NULL PRIMARY KEY, place TEXT NOT NULL, "
    "reached BIGINT NOT NULL, used BIGINT NOT NULL)",
    /* For keys of several columns. It calls no function that another user may have created. */
    "CREATE OR REPLACE FUNCTION vault_key(r jsonb, a text[]) RETURNS text LANGUAGE sql IMMUTABLE AS $vault$"
    "SELECT pg_catalog.string_agg(pg_catalog.replace(pg_catalog.replace(pg_catalog.rtrim(r->>a[i],a[i+1]),"
    "E'\\\\',E'\\\\\\\\'),',',E'\\\\,'),',' ORDER BY i) FROM pg_catalog.generate_series("
    "pg_catalog.array_lower(a,1)+1,pg_catalog.array_upper(a,1),2) AS i$vault$",
    /* It runs with the rights of its owner, so a user who writes the table need not be able to write these tables. So
     * it uses nothing that another user may have created: no temporary table, which would be found first, no function
     * that matches the arguments better. No trigger of another table calls it. */
    "CREATE OR REPLACE FUNCTION vault_record() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $vault$\n"
    "DECLARE o jsonb; n jsonb; ok text; nk text; t text := TG_ARGV[0]; k text := TG_ARGV[1]; p text := "
    "coalesce(TG_ARGV[2],'');\n"
    "BEGIN\n"
    /* Once: see position_pgsql.c. */
    "  IF pg_catalog.current_setting('synchronous_commit') = 'off' AND "
    "NOT EXISTS(SELECT FROM vault_changes WHERE tbl='') THEN\n"
    "    INSERT INTO vault_changes(tbl,op) VALUES('','A');\n"
    "  END IF;\n"
    "  IF TG_OP = 'INSERT' THEN\n"
    "    n := pg_catalog.to_jsonb(NEW);\n"
    "    INSERT INTO vault_changes(tbl,op,row_key,new_row) VALUES(t,'I'," NEW_KEY ",n);\n"
    "  ELSIF TG_OP = 'TRUNCATE' THEN\n"
    "    EXECUTE pg_catalog.format('INSERT INTO vault_changes(tbl,op,row_key,old_row) SELECT "
    "$1,''D'',CASE WHEN $4 THEN pg_catalog.rtrim(pg_catalog.to_jsonb(r)->>$2,$3) ELSE "
    "vault_key(pg_catalog.to_jsonb(r),$5) END,pg_catalog.to_jsonb(r) FROM "
    "%I.%I AS r', TG_TABLE_SCHEMA, TG_TABLE_NAME) USING t, k, p, TG_NARGS < 4, TG_ARGV;\n"
    "  ELSE\n"
    "    o := pg_catalog.to_jsonb(OLD); ok := " OLD_KEY ";\n"
    "    IF TG_OP = 'UPDATE' THEN n := pg_catalog.to_jsonb(NEW); nk := " NEW_KEY "; END IF;\n"
    "    IF o::text = n::text THEN RETURN NULL; END IF;\n"
    "    IF TG_OP = 'UPDATE' AND ok IS DISTINCT FROM nk THEN\n"
    "      INSERT INTO vault_changes(tbl,op,row_key,old_row) VALUES(t,'D',ok,o);\n"
    "      INSERT INTO vault_changes(tbl,op,row_key,new_row) VALUES(t,'I',nk,n);\n"
    "    ELSE\n"
    "      INSERT INTO vault_changes(tbl,op,row_key,old_row,new_row) "
    "VALUES(t,pg_catalog.\"left\"(TG_OP,1),ok,o,n);\n"
    "    END IF;\n"
    "  END IF;\n"
    "  PERFORM pg_catalog.pg_notify('vault_changes',pg_catalog.pg_current_xact_id()::text);\n"
    "  RETURN NULL;\n"
    "END $vault$",
    "DO $vault$BEGIN EXECUTE 'ALTER FUNCTION vault_record() SET search_path TO "
    "'||current_setting('search_path')||',pg_temp'; END$vault$",
    "REVOKE ALL ON FUNCTION vault_record() FROM PUBLIC",
    NULL,
};

/* ------------------------------------------------------------ crashes */

/* The statistics start again when the server has recovered from a crash, also from that of a single backend, which the
 * postmaster survives. */
#define INCARNATION                                                                                                    \
    "pg_catalog.concat(extract(epoch FROM pg_catalog.pg_postmaster_start_time()),'.',"                                 \
    "extract(epoch FROM pg_catalog.pg_stat_get_bgwriter_stat_reset_time()))"

/* The largest recorded transaction of the table that this snapshot sees, and the snapshot. Pruned changes count. */
static const char *now_of(const sql_statement_t *sql, const sql_table_t *table)
{
    sql_statement_t *made = sql_expression_make(sql);

    sql_add(
        made,
        "(SELECT pg_catalog.pg_current_snapshot()::text||'/'||greatest((SELECT l.xid::text::bigint FROM %t AS l WHERE "
        "l.tbl=%q ORDER BY l.xid DESC LIMIT 1),(SELECT nullif(p.pruned,'')::bigint FROM %t AS p WHERE "
        "p.tbl=%q),0)::text)",
        "vault_changes", table->name, "vault_watched", table->name);
    return made->text;
}

/* ------------------------------------------------------------ triggers */

typedef struct trigger_t {
    const char *name, *when, *each;
} trigger_t;

static const trigger_t triggers[] = {{"vault_change", "AFTER INSERT OR UPDATE OR DELETE", "ROW"},
                                     {"vault_truncate", "BEFORE TRUNCATE", "STATEMENT"}};

#define TRIGGERS (sizeof(triggers) / sizeof(triggers[0]))

static void push_trigger(sql_call_t *c, const sql_table_t *table, const trigger_t *trigger,
                         apr_array_header_t *statements)
{
    sql_statement_t *sql = sql_statement(c, "CREATE TRIGGER %r %r ON %t FOR EACH %r EXECUTE FUNCTION vault_record(",
                                         trigger->name, trigger->when, table->name, trigger->each);

    sql_quoted_name(sql, table->name, '\'');
    for (int i = 0; i < table->keys->nelts; i++) {
        const char *column = sql_table_key_column(table, i);

        sql_raw(sql, ",");
        sql_quoted_name(sql, column, '\'');
        sql_raw(sql, sql_table_column_named(table, column)->spelling == SQL_SPELLING_PADDED ? ",' '" : ",''");
    }
    sql_raw(sql, ")");
    log_dialect_push(statements, sql);
}

static void unwatch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    for (apr_size_t i = 0; i < TRIGGERS; i++) {
        log_dialect_push(statements,
                         sql_statement(c, "DROP TRIGGER IF EXISTS %r ON %t", triggers[i].name, table->name));
    }
}

static void watch(sql_call_t *c, const sql_table_t *table, apr_array_header_t *statements)
{
    unwatch(c, table, statements);
    for (apr_size_t i = 0; i < TRIGGERS; i++) {
        push_trigger(c, table, &triggers[i], statements);
        /* Fires also for writes of logical replication. */
        log_dialect_push(statements,
                         sql_statement(c, "ALTER TABLE %t ENABLE ALWAYS TRIGGER %r", table->name, triggers[i].name));
    }
}

/* ------------------------------------------------------------ listening */

static apr_status_t listen_(sql_call_t *c)
{
    return sql_conn_query(c, "LISTEN vault_changes", NULL);
}

/* The content of notifications. */
typedef struct told_t {
    log_position_t position; /* the position of the receiver */
    int is_set;              /* `position` is valid */
    int is_new;
} told_t;

/* A trigger sends its transaction. Triggers of an older vaultctl, and `notify`, send nothing. */
static void take_cb(void *data, const char *payload)
{
    const log_change_id_t change = {.number = apr_strtoi64(payload, NULL, 10)};
    told_t *told = data;

    told->is_new |= !told->is_set || change.number <= 0 || !log_position_pgsql.contains(&told->position, &change);
}

/* The changes of all notifications are committed: the next snapshot has them. */
static int take_notifications(const sql_conn_t *conn, const char *position)
{
    told_t told = {.is_new = 0};

    told.is_set = log_position_pgsql.read(&told.position, position);
    return !sql_native_pgsql_take_notifications(conn, take_cb, &told) || told.is_new;
}

/* ------------------------------------------------------------ images */

/* The table itself, as a value. */
static void append_class(sql_statement_t *sql, const sql_table_t *table)
{
    sql_statement_t *name = sql_expression_make(sql);

    sql_table(name, table->name);
    sql_constant(sql, name->text);
    sql_raw(sql, "::pg_catalog.regclass");
}

/* The condition that the table has the columns that it had when it was read. */
static void append_is_same(sql_statement_t *sql, const sql_table_t *table)
{
    sql_raw(sql, "ARRAY(SELECT " SQL_PGSQL_SHAPE " FROM pg_catalog.pg_attribute AS a WHERE a.attrelid=");
    append_class(sql, table);
    sql_raw(sql, " AND a.attnum>0 AND NOT a.attisdropped ORDER BY a.attnum)=");
    sql_constant(sql, table->shape);
}

/* A table is cached for a second, and triggers store all columns. */
static const char *columns(const sql_statement_t *sql, const sql_table_t *table)
{
    sql_statement_t *made = sql_expression_make(sql);

    sql_raw(made, "CASE WHEN ");
    append_is_same(made, table);
    sql_raw(made, " THEN w.columns ELSE '' END");
    return made->text;
}

/* A prepared statement is planned again when a table in it was altered or created again. The row type of a table does
 * not count as the table, so the statement contains the table once more. */
static void append_image_of(sql_statement_t *sql, const sql_table_t *table, const char *column)
{
    sql_add(sql, "CASE WHEN c.%r IS NOT NULL AND ", column);
    append_class(sql, table);
    sql_raw(sql, " IS NOT NULL THEN (SELECT 'T{");
    for (int i = 0; i < table->columns->nelts; i++) {
        const sql_column_t *of = sql_table_column(table, i);
        sql_statement_t *name = sql_expression_make(sql);

        sql_add(name, "t.%n", of->name);
        sql_add(sql, "%rto_json(%q::text)::text||':'||coalesce(to_json(", i == 0 ? "'||" : "||','||", of->name);
        sql->driver->append_cell(sql, name->text, of->kind);
        sql_raw(sql, ")::text,'null')");
    }
    sql_add(sql, "||'}' FROM pg_catalog.jsonb_populate_record(NULL::%t,c.%r) AS t) END", table->name, column);
}

static void append_image(sql_statement_t *sql, const sql_table_t *table, const char *column)
{
    append_image_of(sql, table, column);
    sql_raw(sql, " AS v");
}

/* The type of an image is the row type of its table. */
static void append_images(sql_statement_t *sql, const apr_array_header_t *of, const char *column)
{
    sql_raw(sql, of->nelts > 0 ? "CASE c.tbl" : "NULL");
    for (int i = 0; i < of->nelts; i++) {
        const sql_table_t *table = APR_ARRAY_IDX(of, i, const sql_table_t *);

        sql_add(sql, " WHEN %q THEN ", table->name);
        append_image_of(sql, table, column);
    }
    sql_raw(sql, of->nelts > 0 ? " END AS v" : " AS v");
}

/* Checked once for each table that has changes. */
static void append_altered(sql_statement_t *sql, const apr_array_header_t *of)
{
    sql_raw(sql, of->nelts > 0 ? "CASE c.tbl" : "NULL");
    for (int i = 0; i < of->nelts; i++) {
        const sql_table_t *table = APR_ARRAY_IDX(of, i, const sql_table_t *);

        sql_add(sql, " WHEN %q THEN CASE WHEN ", table->name);
        append_is_same(sql, table);
        sql_raw(sql, " THEN NULL ELSE 'T' END");
    }
    sql_raw(sql, of->nelts > 0 ? " END AS v" : " AS v");
}

static void append_has(sql_statement_t *sql, const char *row, const sql_column_t *column, const char *value)
{
    sql_add(sql, "coalesce(%r(c.%r->>%q)=%s,false)", column->spelling == SQL_SPELLING_PADDED ? "pg_catalog.rtrim" : "",
            row, column->name, value);
}

#define WATCH_ID                                                                                                       \
    "(w.epoch||CASE WHEN pg_catalog.current_setting('synchronous_commit')='off' OR EXISTS(SELECT FROM "                \
    "vault_changes AS a WHERE a.tbl='') THEN '.'||" INCARNATION " ELSE '' END)"
/* The largest recorded transaction of all watched tables that this snapshot sees, and the snapshot: as now_of. */
#define NOW_OF_ALL                                                                                                     \
    "(SELECT pg_catalog.pg_current_snapshot()::text||'/'||coalesce(max(greatest(nullif(p.pruned,'')::bigint,"          \
    "(SELECT l.xid::text::bigint FROM vault_changes AS l WHERE l.tbl=p.tbl ORDER BY l.xid DESC LIMIT 1))),0)::text "   \
    "FROM vault_watched AS p)"

const log_dialect_t log_dialect_pgsql = {
    .name = "pgsql",
    .position = &log_position_pgsql,
    .tables = tables,
    /* "+0": otherwise a planner may read rows by the index of ids, and skip all those that were seen */
    .order = "c.id+0",
    .adapts = 1,
    .unless_there = " ON CONFLICT DO NOTHING",
    .watch = watch,
    .unwatch = unwatch,
    .now_of = now_of,
    .watch_id = WATCH_ID,
    .incarnation = "SELECT " INCARNATION " AS v",
    .position_of = log_position_pgsql_of,
    .now_of_all = NOW_OF_ALL,
    .pruned = "(SELECT max(nullif(w.pruned,'')::bigint)::text FROM vault_watched AS w)",
    .watchings = "(SELECT pg_catalog.string_agg(w.tbl||' '||" WATCH_ID ",',' ORDER BY w.tbl) FROM vault_watched AS w)",
    .is_by_table = 1,
    .number = "c.xid",
    .prune = log_position_pgsql_prune,
    .notify = "NOTIFY vault_changes",
    .listen = listen_,
    .take_notifications = take_notifications,
    .columns = columns,
    .append_image = append_image,
    .append_images = append_images,
    .append_altered = append_altered,
    .append_has = append_has,
};
