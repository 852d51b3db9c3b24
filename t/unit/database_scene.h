/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file database_scene.h
 * A feed with watched tables, another program that writes into them, and steps in which both do something and a
 * page looks.
 */
#ifndef DATABASE_SCENE_H
#define DATABASE_SCENE_H

#include <ftw.h>
#include <stdlib.h>
#include <unistd.h>

#include "database_fixture.h"

#include "log/dialect.h"
#include "sql/catalogue.h"
#include "sql/connection.h"

/* As `vaultctl watch` does, or `unwatch`. */
__attribute__((unused)) static void with_statements(feed_t *feed, const char *table,
                                                    void (*make)(sql_call_t *, apr_array_header_t *))
{
    apr_array_header_t *statements = apr_array_make(suite_pool, 32, sizeof(const char *));
    sql_call_t c;

    CU_ASSERT_EQUAL_FATAL(sql_background_begin(&c, feed->self), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_conn_take(&c), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_catalogue_find(&c, table), APR_SUCCESS);
    make(&c, statements);
    for (int i = 0; i < statements->nelts; i++) {
        CU_ASSERT_EQUAL(sql_conn_query(&c, APR_ARRAY_IDX(statements, i, const char *), NULL), APR_SUCCESS);
    }
    sql_background_end(&c);
}

/* A feed with these tables watched, and another program's connection to the file. */
typedef struct scene_t {
    feed_t feed;
    dbi_inst instance;
    dbi_conn other;
} scene_t;

/* Watch `tables`, words with blanks between, by `maker`, and open the feed after that: a tailer that finds no
 * watched table does not read again before `poll` milliseconds have passed. */
static void scene_open(scene_t *s, feed_t *maker, const char *tables, const char *name, const char *given)
{
    char *rest;
    char *words = apr_pstrdup(suite_pool, tables);

    CU_ASSERT_PTR_NULL_FATAL(maker->wrong);
    for (char *word = apr_strtok(words, " ", &rest); word != NULL; word = apr_strtok(NULL, " ", &rest)) {
        with_statements(maker, word, log_dialect_watch);
    }
    feed_close(maker);
    feed_open(&s->feed, given);
    CU_ASSERT_PTR_NULL_FATAL(s->feed.wrong);
    s->other = stranger(&s->instance, name);
}

__attribute__((unused)) static void scene_begin(scene_t *s, const char *name, const char *tables, const char *more)
{
    feed_t maker;

    feed_fresh(&maker, name, "");
    ask(&maker, NULL, "all", "{\"table\":\"logs\"}");
    scene_open(s, &maker, tables, name, apr_psprintf(suite_pool, "database=%s %s", path_of(name), more));
}

/* A feed with a model, on tables that `sql` makes, of which `tables` are watched. */
typedef struct scene_model_t {
    const char *sql, *model, *tables;
} scene_model_t;

__attribute__((unused)) static void scene_of_model(scene_t *s, const char *name, const scene_model_t *with,
                                                   const char *more)
{
    const char *model = write_file(apr_pstrcat(suite_pool, name, ".json", NULL), with->model);
    const char *given = apr_psprintf(suite_pool, "database=%s model=%s", path_of(name), model);
    dbi_inst instance;
    dbi_conn other = stranger(&instance, name);
    feed_t maker;

    stranger_does(other, with->sql);
    stranger_leaves(instance, other);
    feed_open(&maker, given);
    scene_open(s, &maker, with->tables, name, apr_pstrcat(suite_pool, given, " ", more, NULL));
}

__attribute__((unused)) static void scene_end(scene_t *s)
{
    stranger_leaves(s->instance, s->other);
    feed_close(&s->feed);
}

/* What another program does, then what a page that is woken sees of it. */
typedef struct step_t {
    const char *does, *expected, *why;
} step_t;

__attribute__((unused)) static void run_steps(scene_t *s, const char *method, const char *args, const char *interest,
                                              const step_t *steps)
{
    host_page_t page = {0};

    for (; steps->expected != NULL; steps++) {
        if (steps->does[0] != '\0') {
            stranger_does(s->other, steps->does);
        }
        host_notify(interest);
        check(ask(&s->feed, &page, method, args), steps->expected, steps->does, steps->why);
    }
}

/* The folder of a suite, and its host. */
static int remove_cb(const char *path, const struct stat *info, int flag, struct FTW *at)
{
    return remove(path);
}

static int scene_suite_start(void)
{
    apr_pool_create(&suite_pool, NULL);
    strcpy(folder, "/tmp/vault-watch-XXXXXX");
    return mkdtemp(folder) == NULL || host_start() != 0;
}

static int scene_suite_stop(void)
{
    host_stop();
    nftw(folder, remove_cb, 16, FTW_DEPTH | FTW_PHYS);
    apr_pool_destroy(suite_pool);
    return 0;
}

#endif
