/* SPDX-License-Identifier: Apache-2.0 */
/* watch, unwatch, watched: use the database feed's own code, so that the triggers are defined once. */
#include "vaultctl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "apr_file_io.h"
#include "apr_strings.h"

#include "log/dialect.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "output.h"
#include "sql/rows.h"

extern const vault_feed_t vault_feed;

typedef void (*statements_fn)(sql_call_t *c, apr_array_header_t *statements);

/* ------------------------------------------------------------ the host of the SQL layer */

static void host_log(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void host_log(int level, const char *fmt, ...)
{
    va_list args;

    if (level > 4) {
        return;
    }
    va_start(args, fmt);
    vaultctl_vsay(fmt, args);
    va_end(args);
}

/* The functions that the SQL layer needs outside of a call. */
static const vault_host_t host = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_host_t),
    .log = host_log,
};

/* ------------------------------------------------------------ the database */

static const vault_feed_param_t *find_parameter(const char *name)
{
    for (const vault_feed_param_t *param = vault_feed.params; param->name != NULL; param++) {
        if (strcmp(param->name, name) == 0) {
            return param;
        }
    }
    return NULL;
}

/* All parameters, given or default. NULL: the error has been reported. */
static apr_table_t *complete(const vaultctl_options_t *options, apr_pool_t *pool)
{
    apr_table_t *all = apr_table_make(pool, 16);
    const apr_array_header_t *given = apr_table_elts(options->parameters);

    for (const vault_feed_param_t *param = vault_feed.params; param->name != NULL; param++) {
        if (param->fallback != NULL) {
            apr_table_set(all, param->name, param->fallback);
        }
    }
    for (int i = 0; i < given->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(given, i, apr_table_entry_t);

        if (find_parameter(entry->key) == NULL) {
            vaultctl_say(VAULTCTL_USAGE, "%s=%s: the database feed has no such parameter", entry->key, entry->val);
            return NULL;
        }
        apr_table_set(all, entry->key, entry->val);
    }
    if (apr_table_get(all, "database") == NULL) {
        vaultctl_say(VAULTCTL_USAGE, "which database? database=NAME or -f FILE says it");
        return NULL;
    }
    /* A script of a configuration file is for the feed, not for this program. */
    if (options->file != NULL) {
        apr_table_set(all, "init", "");
    }
    return all;
}

/* Relative paths start at the current folder. */
static void resolve(apr_table_t *all, const char *name, apr_pool_t *pool)
{
    const char *value = apr_table_get(all, name);
    char *path;

    if (value != NULL && value[0] != '\0' && apr_filepath_merge(&path, NULL, value, 0, pool) == APR_SUCCESS) {
        apr_table_set(all, name, path);
    }
}

static void resolve_all(apr_table_t *all, apr_pool_t *pool)
{
    const char *driver = apr_table_get(all, "driver");

    resolve(all, "init", pool);
    if (driver != NULL && strcmp(driver, "sqlite3") == 0) {
        resolve(all, "database", pool);
    }
}

static int open_database(sql_database_t *db, sql_call_t *c, const vaultctl_options_t *options, apr_pool_t *pool)
{
    apr_table_t *all = complete(options, pool);
    const char *wrong;

    if (all == NULL) {
        return VAULTCTL_USAGE;
    }
    resolve_all(all, pool);
    wrong = sql_database_open(db, &host, all, pool);
    if (wrong != NULL) {
        return vaultctl_say(VAULTCTL_USAGE, "%s", wrong);
    }
    wrong = sql_pool_start(db, pool);
    if (wrong != NULL) {
        return vaultctl_say(VAULTCTL_FAILED, "%s", wrong);
    }
    if (sql_background_begin(c, db) != APR_SUCCESS) {
        sql_pool_stop(db);
        return vaultctl_say(VAULTCTL_FAILED, "out of memory");
    }
    if (sql_conn_take(c) != APR_SUCCESS) {
        sql_background_end(c);
        sql_pool_stop(db);
        return VAULTCTL_FAILED;
    }
    return VAULTCTL_DONE;
}

static void close_database(sql_database_t *db, sql_call_t *c)
{
    sql_background_end(c);
    sql_pool_stop(db);
}

/* ------------------------------------------------------------ watch, unwatch */

/* Finds the table, and checks that it can be watched. */
static int find_table(sql_call_t *c, const char *name)
{
    if (strncmp(name, "vault_", 6) == 0) {
        return vaultctl_say(VAULTCTL_FAILED, "%s: tables whose names begin with vault_ are mod_vault's own", name);
    }
    if (sql_catalogue_find(c, name) != APR_SUCCESS) {
        return VAULTCTL_FAILED;
    }
    if (c->table->is_view) {
        return vaultctl_say(VAULTCTL_FAILED, "%s: a view has no rows of its own; watch the tables that it shows", name);
    }
    if (c->table->keys->nelts == 0) {
        return vaultctl_say(VAULTCTL_FAILED, "%s: the table needs a primary key", name);
    }
    return VAULTCTL_DONE;
}

static int not_watched(const char *name)
{
    return vaultctl_say(VAULTCTL_FAILED, "%s: the table is not watched", name);
}

/* A table that was dropped or renamed, or has lost its key, can still be unwatched by its name. */
static int find_watched(sql_call_t *c, const char *name)
{
    sql_table_t *table = apr_pcalloc(c->pool, sizeof(*table));
    int has;

    if (sql_catalogue_has(c, "vault_watched", &has) != APR_SUCCESS) {
        return VAULTCTL_FAILED;
    }
    if (!has || name[0] == '\0' || strncmp(name, "vault_", 6) == 0) {
        return not_watched(name);
    }
    table->name = name;
    table->note = apr_pcalloc(c->pool, sizeof(*table->note));
    c->table = table;
    if (log_dialect_is_watched(c, &has) != APR_SUCCESS) {
        return VAULTCTL_FAILED;
    }
    /* A table that is not watched may still have triggers, if an unwatch on MariaDB did not finish. */
    if (!has && sql_catalogue_has(c, name, &has) != APR_SUCCESS) {
        return VAULTCTL_FAILED;
    }
    return has ? VAULTCTL_DONE : not_watched(name);
}

static void show(const apr_array_header_t *statements)
{
    for (int i = 0; i < statements->nelts; i++) {
        vaultctl_print_sql(APR_ARRAY_IDX(statements, i, const char *));
    }
    fflush(stdout);
}

static int says_yes(void)
{
    char answer[16];

    fputs("Do this? [y/N] ", stderr);
    return fgets(answer, sizeof(answer), stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

static int run_all(sql_call_t *c, const apr_array_header_t *statements)
{
    apr_status_t rv = sql_conn_begin_write(c);

    for (int i = 0; i < statements->nelts && rv == APR_SUCCESS; i++) {
        rv = sql_conn_query(c, APR_ARRAY_IDX(statements, i, const char *), NULL);
    }
    return sql_conn_end(c, rv) == APR_SUCCESS ? VAULTCTL_DONE : VAULTCTL_FAILED;
}

static void say_done(char *const *tables, int count, statements_fn make)
{
    for (int i = 0; i < count; i++) {
        vaultctl_print("%s: %s\n", tables[i], make == log_dialect_watch ? "watched" : "watched no more");
    }
}

static int change(const vaultctl_options_t *options, char *const *tables, int count, statements_fn make,
                  apr_pool_t *pool)
{
    sql_database_t db = {0};
    apr_array_header_t *statements = apr_array_make(pool, 32, sizeof(const char *));
    sql_call_t c;
    int status;

    if (count == 0) {
        return vaultctl_say(VAULTCTL_USAGE, "which table?");
    }
    status = open_database(&db, &c, options, pool);
    if (status != VAULTCTL_DONE) {
        return status;
    }
    for (int i = 0; i < count && status == VAULTCTL_DONE; i++) {
        status = make == log_dialect_watch ? find_table(&c, tables[i]) : find_watched(&c, tables[i]);
        if (status == VAULTCTL_DONE) {
            make(&c, statements);
        }
    }
    if (status == VAULTCTL_DONE && (options->dry_run || !options->yes)) {
        show(statements);
    }
    if (status == VAULTCTL_DONE && !options->dry_run) {
        status =
            options->yes || says_yes() ? run_all(&c, statements) : vaultctl_say(VAULTCTL_FAILED, "nothing was done");
        if (status == VAULTCTL_DONE) {
            say_done(tables, count, make);
        }
    }
    close_database(&db, &c);
    return status;
}

int vaultctl_watch(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool)
{
    return change(options, tables, count, log_dialect_watch, pool);
}

int vaultctl_unwatch(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool)
{
    return change(options, tables, count, log_dialect_unwatch, pool);
}

/* ------------------------------------------------------------ watched */

static int list(sql_call_t *c)
{
    static const char *const names[] = {"tbl", NULL};
    sql_statement_t *sql = sql_statement_make(c);
    json_t *rows;
    int has;

    if (sql_catalogue_has(c, "vault_watched", &has) != APR_SUCCESS) {
        return VAULTCTL_FAILED;
    }
    if (!has) {
        return VAULTCTL_DONE;
    }
    sql_raw(sql, c->db->driver->select);
    sql_raw(sql, " ");
    sql_cell(sql, "w", "tbl", SQL_TEXT);
    sql_raw(sql, " FROM ");
    sql_table(sql, "vault_watched");
    sql_raw(sql, " AS w WHERE w.tbl<>'' ORDER BY w.tbl");
    if (sql_fetch(c, sql, names, 100000, &rows) != APR_SUCCESS) {
        return VAULTCTL_FAILED;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        vaultctl_print("%s\n", json_string_value(json_object_get(json_array_get(rows, i), "tbl")));
    }
    json_decref(rows);
    return VAULTCTL_DONE;
}

int vaultctl_watched(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool)
{
    sql_database_t db = {0};
    sql_call_t c;
    int status;

    if (count > 0) {
        return vaultctl_say(VAULTCTL_USAGE, "%s: watched takes no table", tables[0]);
    }
    status = open_database(&db, &c, options, pool);
    if (status == VAULTCTL_DONE) {
        status = list(&c);
        close_database(&db, &c);
    }
    return status;
}
