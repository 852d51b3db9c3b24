/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_fixture.h
 * Tables to test the database feed on, and short ways to open a feed, ask it, and disturb it from another connection.
 */
#ifndef DATABASE_FIXTURE_H
#define DATABASE_FIXTURE_H

#include <CUnit/CUnit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dbi/dbi.h>

#include "database_host.h"

/* A feed as a child of httpd has it. */
typedef struct feed_t {
    void *self;
    apr_pool_t *pool;
    const char *wrong;
} feed_t;

static apr_pool_t *suite_pool;
static char folder[64];

static const char fixture[] =
    "CREATE TABLE logs(id INTEGER PRIMARY KEY AUTOINCREMENT,line TEXT NOT NULL,status INTEGER,took REAL);"
    "INSERT INTO logs(line,status,took) VALUES('one',200,0.5),('two',404,NULL),('three',200,2);"
    "CREATE TABLE kinds(id INTEGER PRIMARY KEY,i INTEGER,r REAL,t TEXT,b BLOB,d DATE,n,tiny TINYINT);"
    "INSERT INTO kinds VALUES(1,9223372036854775807,0.1,'é',X'00ff00','2026-11-21',NULL,300),"
    "(2,-9223372036854775808,1e300,'',X'','no date',1.0,-1),"
    "(3,'words',9e999,CAST(X'61ff62c328ed' AS TEXT),'text',5,'a'||char(0)||'b',NULL);"
    "CREATE TABLE plain(id INTEGER PRIMARY KEY,v /* AUTOINCREMENT */ TEXT DEFAULT 'AUTOINCREMENT');"
    "CREATE TABLE \"odd \"\"name, (\"(\"we ir\"\"d, (as x\" TEXT PRIMARY KEY,\"AUTOINCREMENT\" INTEGER);"
    "INSERT INTO \"odd \"\"name, (\" VALUES('k',7);"
    "CREATE TABLE trap(\"a select b( c\" TEXT);"
    "CREATE TABLE pair(a INTEGER,b INTEGER,c INTEGER AS (a+b),PRIMARY KEY(a,b));"
    "CREATE TABLE trap2(a INTEGER,b INTEGER);"
    "CREATE TABLE strict_one(name TEXT PRIMARY KEY CHECK(length(name)<5));"
    "CREATE TABLE child(id INTEGER PRIMARY KEY,parent INTEGER REFERENCES logs(id));"
    "CREATE VIEW seen AS SELECT id,line FROM logs WHERE status=404;"
    "CREATE TABLE ops(id INTEGER PRIMARY KEY,a INTEGER,a__gt INTEGER);INSERT INTO ops VALUES(1,1,7),(2,2,8);"
    "CREATE TABLE empty(id INTEGER PRIMARY KEY AUTOINCREMENT,v);"
    "CREATE TABLE race(id INTEGER PRIMARY KEY AUTOINCREMENT,writer INTEGER,n INTEGER);";

static const char *path_of(const char *name)
{
    return apr_pstrcat(suite_pool, folder, "/", name, NULL);
}

static const char *write_file(const char *name, const char *text)
{
    const char *path = path_of(name);
    FILE *file = fopen(path, "w");

    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
    return path;
}

/* `given`: name=value words apart by blanks, over the fallbacks. */
static apr_table_t *parameters(const char *given, apr_pool_t *pool)
{
    apr_table_t *table = apr_table_make(pool, 8);
    char *rest;
    char *words = apr_pstrdup(pool, given);

    for (const vault_feed_param_t *param = vault_feed.params; param->name != NULL; param++) {
        if (param->fallback != NULL) {
            apr_table_set(table, param->name, param->fallback);
        }
    }
    /* Some tests fork, and a thread that holds a lock then would hold it for ever. */
    apr_table_set(table, "poll", "0");
    for (char *word = apr_strtok(words, " ", &rest); word != NULL; word = apr_strtok(NULL, " ", &rest)) {
        char *value = strchr(word, '=');

        *value++ = '\0';
        apr_table_set(table, word, value);
    }
    return table;
}

static void feed_open(feed_t *feed, const char *given)
{
    apr_pool_create(&feed->pool, suite_pool);
    feed->wrong = vault_feed.open(&feed->self, &host, parameters(given, feed->pool), feed->pool);
    if (feed->wrong == NULL) {
        feed->wrong = vault_feed.child_start(feed->self, feed->pool);
    }
}

static void feed_close(feed_t *feed)
{
    vault_feed.child_stop(feed->self);
    apr_pool_destroy(feed->pool);
}

/* A new database file with the fixture's tables, and a feed on it. */
static void feed_fresh(feed_t *feed, const char *name, const char *more)
{
    const char *init = write_file("fixture.sql", fixture);

    feed_open(feed, apr_psprintf(suite_pool, "database=%s init=%s %s", path_of(name), init, more));
    CU_ASSERT_PTR_NULL_FATAL(feed->wrong);
}

/* Call a method; on success what it did counts for the page. */
static apr_status_t ask_json(feed_t *feed, host_page_t *page, const char *method, const json_t *args, json_t **rows,
                             char *sentence)
{
    const vault_feed_method_t *found = vault_feed.methods;
    vault_call_t call = {.page = page};
    apr_status_t rv;

    while (strcmp(found->name, method) != 0) {
        found++;
    }
    /* Of its own allocator: writers call from several threads. */
    apr_pool_create_ex(&call.pool, NULL, NULL, NULL);
    if (page != NULL) {
        call.staged = *page;
    }
    rv = found->call(feed->self, &call, args, rows);
    if (rv == APR_SUCCESS && page != NULL) {
        *page = call.staged;
    }
    if (sentence != NULL) {
        memcpy(sentence, call.sentence, sizeof(call.sentence));
    }
    apr_pool_destroy(call.pool);
    return rv;
}

/* The answer as JSON text, "nothing", or status and sentence. In suite_pool. */
static const char *ask(feed_t *feed, host_page_t *page, const char *method, const char *args)
{
    json_t *object = json_loads(args, JSON_ALLOW_NUL, NULL);
    json_t *rows = NULL;
    char sentence[1024];
    const char *answer;
    apr_status_t rv;
    char *text;

    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    rv = ask_json(feed, page, method, object, &rows, sentence);
    json_decref(object);
    if (rv != APR_SUCCESS) {
        CU_ASSERT_PTR_NULL(rows);
        return apr_psprintf(suite_pool, "%s: %s",
                            rv == APR_EINVAL   ? "EINVAL"
                            : rv == APR_EAGAIN ? "EAGAIN"
                                               : "EGENERAL",
                            sentence);
    }
    if (rows == NULL) {
        return "nothing";
    }
    text = json_dumps(rows, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(rows);
    answer = apr_pstrdup(suite_pool, text);
    free(text);
    return answer;
}

/* Keeps the parser of libdbi's module away from a statement with a result; see driver_sqlite3.c. */
#define GUARD "/* from sqlite_master limit */"

/* The connection of another program to the same file, which waits for its turn to write. */
static dbi_conn stranger(dbi_inst *instance, const char *name)
{
    dbi_conn other;

    dbi_initialize_r(NULL, instance);
    other = dbi_conn_new_r("sqlite3", *instance);
    dbi_conn_set_option(other, "sqlite3_dbdir", folder);
    dbi_conn_set_option(other, "dbname", name);
    dbi_conn_set_option_numeric(other, "sqlite3_timeout", 20000);
    CU_ASSERT_EQUAL_FATAL(dbi_conn_connect(other), 0);
    return other;
}

static void stranger_does(dbi_conn other, const char *statement)
{
    dbi_result result = dbi_conn_query(other, statement);

    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    dbi_result_free(result);
}

static void stranger_leaves(dbi_inst instance, dbi_conn other)
{
    dbi_conn_close(other);
    dbi_shutdown_r(instance);
}

static int starts_or_holds(const char *answer, const char *expected)
{
    return expected[0] == '[' || expected[0] == '{' ? strcmp(answer, expected) == 0 : strstr(answer, expected) != NULL;
}

static void check(const char *answer, const char *expected, const char *what, const char *why)
{
    int good = starts_or_holds(answer, expected);

    if (!good) {
        fprintf(stderr, "\n  %s\n    why      %s\n    expected %s\n    answer   %s\n", what, why, expected, answer);
    }
    CU_ASSERT_TRUE(good);
}

#endif
