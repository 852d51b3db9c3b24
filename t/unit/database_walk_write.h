/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_walk_write.h
 * Writes of a random walk, by the feed and by another program, and changes of its tables.
 */
#ifndef DATABASE_WALK_WRITE_H
#define DATABASE_WALK_WRITE_H

#include "database_walk.h"

/* ------------------------------------------------------------ writes */

static int is_in_key(int table, const char *column)
{
    const char *const *key = tables[table].key;

    return strcmp(column, key[0]) == 0 || (key[1] != NULL && strcmp(column, key[1]) == 0);
}

/* A row with a null in its key has no key. Among those of several columns it may be where an answer of few rows
 * is cut. */
static int has_no_null(const walk_t *w, int table)
{
    return w->is_plain || (tables[table].key[1] != NULL && w->rows < 1000);
}

static json_t *draw_value(walk_t *w, int table, const char *column)
{
    int is_text = is_of_text(table, column);

    if (draw(w, 8) == 0 && !(has_no_null(w, table) && is_in_key(table, column))) {
        return json_null();
    }
    if (!is_text && (draw(w, 12) != 0 || w->is_plain)) {
        const char *number = DRAW(w, numbers);

        return draw(w, 2) ? json_string(number) : json_integer(apr_strtoi64(number, NULL, 10));
    }
    if (strcmp(column, "body") == 0 && draw(w, 20) == 0) {
        return json_string(apr_psprintf(w->pool, "%02500d", (int)draw(w, 9)));
    }
    return json_string(texts[draw(w, COUNT(texts) - 1)]);
}

static json_t *draw_values(walk_t *w, int table, int with_key)
{
    json_t *values = json_object();

    for (int i = 0; i < COUNT(tables[table].columns) && tables[table].columns[i] != NULL; i++) {
        const char *column = tables[table].columns[i];
        int is_key = is_in_key(table, column);

        if (is_key ? with_key : draw(w, 3) != 0) {
            json_object_set_new(values, column,
                                is_key && !is_of_text(table, column) && draw(w, 10) ? json_integer(draw(w, 12))
                                                                                    : draw_value(w, table, column));
        }
    }
    if (json_object_size(values) == 0) {
        const char *column = tables[table].columns[2];

        json_object_set_new(values, column, draw_value(w, table, column));
    }
    return values;
}

static json_t *draw_condition(walk_t *w, int table)
{
    int i = (int)draw(w, table == POSTS ? 5 : 3);

    return json_pack("{s:o}", tables[table].columns[i], draw_value(w, table, tables[table].columns[i]));
}

/* By the feed. */
static void write_by_feed(walk_t *w)
{
    static const char *const verbs[] = {"save", "save", "save", "update", "update", "delete"};
    const char *verb = DRAW(w, verbs);
    int table = (int)draw(w, TABLES);
    json_t *args = json_pack("{s:s}", "table", tables[table].name);
    char sentence[1024];
    apr_status_t rv;

    if (verb[0] != 'd') {
        json_object_set_new(args, "values", draw_values(w, table, verb[0] == 's' || draw(w, 6) == 0));
    }
    if (verb[0] != 's' && draw(w, 2)) {
        int is_odd;

        json_object_set_new(args, "key", json_string(draw_pair(w, table, tables[table].key, &is_odd)));
    }
    else if (verb[0] != 's') {
        json_object_set_new(args, "where", draw_condition(w, table));
    }
    json_decref(call(w, NULL, verb, args, &rv, sentence));
    json_decref(args);
}

static void append_value(sql_statement_t *sql, const json_t *value)
{
    if (json_is_string(value)) {
        sql_text(sql, json_string_value(value));
    }
    else if (json_is_integer(value)) {
        sql_integer(sql, json_integer_value(value));
    }
    else {
        sql_raw(sql, "NULL");
    }
}

static void take_stranger(walk_t *w)
{
    if (sql_conn_take(&w->stranger) != APR_SUCCESS) {
        fprintf(stderr, "no connection: %s\n", w->stranger.said);
        abort();
    }
}

static apr_status_t run(walk_t *w, const char *statement)
{
    apr_status_t rv = sql_conn_query(&w->stranger, statement, NULL);

    say(w, rv == APR_SUCCESS ? "stranger" : "stranger REFUSED", statement);
    return rv;
}

static void append_where(walk_t *w, sql_statement_t *sql, int table)
{
    json_t *where = draw_condition(w, table);
    const char *column;
    json_t *value;

    json_object_foreach(where, column, value)
    {
        sql_raw(sql, " WHERE ");
        sql_name(sql, column);
        sql_raw(sql, json_is_null(value) ? " IS " : "=");
        append_value(sql, value);
    }
    json_decref(where);
}

static apr_status_t insert_row(walk_t *w, int table)
{
    sql_statement_t *sql = sql_statement_make(&w->stranger);
    json_t *values = draw_values(w, table, 1);
    const char *column, *separator = "(";
    json_t *value;

    sql_raw(sql, "INSERT INTO ");
    sql_table(sql, tables[table].name);
    json_object_foreach(values, column, value)
    {
        sql_raw(sql, separator);
        sql_name(sql, column);
        separator = ",";
    }
    separator = ")VALUES(";
    json_object_foreach(values, column, value)
    {
        sql_raw(sql, separator);
        append_value(sql, value);
        separator = ",";
    }
    sql_raw(sql, ")");
    json_decref(values);
    return run(w, sql->text);
}

static apr_status_t change_rows(walk_t *w, int table)
{
    sql_statement_t *sql = sql_statement_make(&w->stranger);
    int column = (int)draw(w, 3);
    json_t *value = draw_value(w, table, tables[table].columns[column]);

    sql_raw(sql, "UPDATE ");
    sql_table(sql, tables[table].name);
    sql_raw(sql, " SET ");
    sql_name(sql, tables[table].columns[column]);
    sql_raw(sql, "=");
    append_value(sql, value);
    append_where(w, sql, table);
    json_decref(value);
    return run(w, sql->text);
}

static apr_status_t delete_rows(walk_t *w, int table)
{
    sql_statement_t *sql = sql_statement_make(&w->stranger);

    sql_raw(sql, "DELETE FROM ");
    sql_table(sql, tables[table].name);
    append_where(w, sql, table);
    return run(w, sql->text);
}

static apr_status_t write_some(walk_t *w)
{
    int table = (int)draw(w, TABLES);
    unsigned what = draw(w, 6);

    return what < 3 ? insert_row(w, table) : what < 5 ? change_rows(w, table) : delete_rows(w, table);
}

/* The tailer has read all that was committed. */
static void await_tailer(walk_t *w)
{
    apr_time_t end = apr_time_now() + apr_time_from_sec(30);

    while (w->looks != 0 && !w->is_bare && !log_shared_ask(w->feed.self)) {
        if (apr_time_now() > end) {
            is_wrong(w, "the tailer has not read for 30 s", NULL, NULL, NULL);
            return;
        }
        apr_sleep(1000);
    }
}

/* Whoever has something to be told is told. */
static void announce(walk_t *w)
{
    w->is_stale = 0;
    await_tailer(w);
    if (w->looks == 0) {
        host_notify_all();
    }
}

/* By another program. */
static void write_by_stranger(walk_t *w)
{
    int in_transaction = draw(w, 2) == 0, ends_well = draw(w, 4) != 0;
    apr_status_t rv = APR_SUCCESS;

    take_stranger(w);
    if (in_transaction) {
        rv = sql_conn_begin_write(&w->stranger);
    }
    for (int i = 1 + (int)draw(w, 3); i > 0 && rv == APR_SUCCESS; i--) {
        rv = write_some(w);
    }
    if (in_transaction && (rv != APR_SUCCESS || !ends_well)) {
        sql_conn_rollback(&w->stranger);
    }
    else if (in_transaction) {
        (void)sql_conn_commit(&w->stranger);
    }
    sql_conn_give_back(&w->stranger);
    if (w->is_crowd) {
        host_notify_all();
        return;
    }
    w->is_stale = 1;
    if (draw(w, 4) != 0) {
        announce(w);
    }
}

/* ------------------------------------------------------------ tables */

static void must(walk_t *w, const char *statement)
{
    take_stranger(w);
    if (run(w, statement) != APR_SUCCESS) {
        is_wrong(w, statement, NULL, NULL, NULL);
    }
    sql_conn_give_back(&w->stranger);
}

static const char *types_of(const walk_t *w, int table)
{
    return w->is_server ? tables[table].server : tables[table].sqlite3;
}

/* Text is compared as it is, byte for byte, wherever it is. */
static const char *ending(const walk_t *w)
{
    return strstr(w->given, "driver=mysql") != NULL ? " CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin" : "";
}

enum { AS_EVER, WITHOUT_A_KEY, AS_A_VIEW };

static const char *view_of(walk_t *w, int table)
{
    const char *text = apr_psprintf(w->pool, "CREATE VIEW %s AS SELECT ", tables[table].name);

    for (int i = 0; i < COUNT(tables[table].columns) && tables[table].columns[i] != NULL; i++) {
        text = apr_pstrcat(w->pool, text, i == 0 ? "" : ",",
                           is_of_text(table, tables[table].columns[i]) ? "'1' AS " : "1 AS ", tables[table].columns[i],
                           NULL);
    }
    return text;
}

static void make_anew(walk_t *w, int table, int how)
{
    const char *name = tables[table].name, *types = types_of(w, table);
    const char *key = strstr(types, " PRIMARY KEY");

    must(w, apr_pstrcat(w->pool, w->is_view[table] ? "DROP VIEW " : "DROP TABLE IF EXISTS ", name, NULL));
    w->is_view[table] = how == AS_A_VIEW;
    w->is_keyless[table] = how == WITHOUT_A_KEY;
    if (how == AS_A_VIEW) {
        must(w, view_of(w, table));
        return;
    }
    if (how == WITHOUT_A_KEY) {
        int is_last = key[-1] == ',';

        types = apr_pstrcat(w->pool, apr_pstrndup(w->pool, types, (apr_size_t)(key - types - is_last)),
                            is_last ? "" : key + strlen(" PRIMARY KEY"), NULL);
    }
    must(w, apr_pstrcat(w->pool, "CREATE TABLE ", name, "(", types, ")", ending(w), NULL));
}

static void watch(walk_t *w, int table)
{
    say(w, "watch", tables[table].name);
    with_statements(&w->reader, tables[table].name, log_dialect_watch);
    w->state[table] = WATCHED;
    w->life[table]++;
    w->is_bare = 0;
}

/* The feed's own tables are gone. */
static void forget_watching(walk_t *w, int all)
{
    static const char *const own[] = {"vault_watched", "vault_results", "vault_subscriptions", "vault_changes"};

    for (int i = 0; i < (all ? 4 : 3); i++) {
        must(w, apr_pstrcat(w->pool, "DROP TABLE IF EXISTS ", own[i], NULL));
    }
    w->is_bare = 1;
    for (int i = 0; i < TABLES; i++) {
        w->state[i] = w->state[i] == WATCHED ? UNWATCHED : w->state[i];
    }
    for (int i = 0; i < PAGES; i++) {
        json_decref(w->pages[i].acked);
        w->pages[i].acked = NULL;
    }
}

static void mend_tables(walk_t *w)
{
    for (int i = 0; i < TABLES; i++) {
        if (w->state[i] == ALTERED) {
            make_anew(w, i, AS_EVER);
        }
        if (w->state[i] != WATCHED) {
            watch(w, i);
        }
    }
}

static void open_reader(walk_t *w)
{
    feed_open(&w->reader, w->given);
    CU_ASSERT_PTR_NULL_FATAL(w->reader.wrong);
    CU_ASSERT_EQUAL_FATAL(sql_background_begin(&w->stranger, w->reader.self), APR_SUCCESS);
}

static void close_reader(walk_t *w)
{
    sql_background_end(&w->stranger);
    feed_close(&w->reader);
}

static void change_tables(walk_t *w)
{
    int table = (int)draw(w, TABLES);
    unsigned what = draw(w, 13);

    say(w, "tables", apr_psprintf(w->pool, "%u of %s", what, tables[table].name));
    if (what < 4) {
        mend_tables(w);
    }
    else if (what == 4 && w->state[table] == WATCHED) {
        watch(w, table);
    }
    else if (what == 5 && w->state[table] == WATCHED) {
        with_statements(&w->reader, tables[table].name, log_dialect_unwatch);
        w->state[table] = UNWATCHED;
    }
    else if (what == 6 && !w->is_view[table]) {
        must(w, apr_psprintf(w->pool, "ALTER TABLE %s ADD COLUMN extra%d VARCHAR(20)", tables[table].name, ++w->extra));
        w->state[table] = ALTERED;
    }
    else if (what == 7) {
        must(w, apr_psprintf(w->pool, "CREATE TABLE unrelated%d(a INTEGER)", ++w->extra));
        must(w, apr_psprintf(w->pool, "DROP TABLE unrelated%d", w->extra));
    }
    else if (what == 12) {
        forget_watching(w, draw(w, 2) && w->looks == 0);
    }
    else if (what >= 8) {
        make_anew(w, table, what == 8 ? WITHOUT_A_KEY : what == 9 ? AS_A_VIEW : AS_EVER);
        w->state[table] = ALTERED;
        if (what >= 10 && draw(w, 2)) {
            watch(w, table);
        }
    }
    if (w->is_server) {
        /* What this one reads is believed. */
        close_reader(w);
        open_reader(w);
    }
    w->changed_at = vault_now();
    if (draw(w, 2) || getenv("VAULT_WALK_PLAIN") != NULL) {
        seconds_ahead += 3;
    }
    announce(w);
}

#endif
