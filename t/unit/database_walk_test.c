/* SPDX-License-Identifier: Apache-2.0 */
/* Random walks: calls, writes and changes of tables in any order, and after each of them pages have what the
 * database holds.
 *
 * What a page was shown, one answer applied after the other, is compared with what another feed reads. A walk
 * is told by its seed, which is printed when something is wrong:
 *
 *     VAULT_WALK_SEED=17 t/unit/unit database_walk                  that walk only; VAULT_WALK_SAYS=1: with all
 *     that it does
 *     VAULT_WALK_SECONDS=600 t/unit/unit database_walk              walks of one seed after the other, for ten minutes
 *     VAULT_WALK_FEED="driver=pgsql database=… host=… user=…" …     in that database of a server, which loses
 *     its tables
 *     VAULT_WALK_PLAIN=1 …                                          only what is the same on all databases, and
 *     nobody watches
 *
 * These are on SQLite; t/feed/37-random-walks-on-servers.t has some on servers.
 */
#include <CUnit/CUnit.h>

#include "apr_thread_proc.h"
#include "apr_time.h"

#include "database_walk.h"
#include "database_walk_read.h"
#include "database_walk_write.h"
#include "unit.h"

void vault_database_walk_suite(void);

/* ------------------------------------------------------------ a walk */

static void step(walk_t *w)
{
    watching_t *at = &DRAW(w, w->pages);
    unsigned what = draw(w, 100);

    w->tolerant = w->is_server && vault_now() - w->changed_at < apr_time_from_sec(3);

    if (what < 55) {
        look_at(w, at);
    }
    else if (what < 60) {
        draw_page(w, at);
    }
    else if (what < 64) {
        renew_page(w, at);
    }
    else if (what < 80 || (w->looks == 60000 && what < 99)) {
        write_by_feed(w);
        await_tailer(w); /* a machine that is busy may have let it wait for longer than a writer does */
    }
    else if (what < 96) {
        write_by_stranger(w);
    }
    else {
        change_tables(w);
        await_tailer(w);
    }
}

static void open_feed(walk_t *w)
{
    feed_open(&w->feed, apr_psprintf(w->pool, "%s connections=%d rows=%d poll=%d", w->given, 1 + (int)draw(w, 2),
                                     w->rows, w->looks));
    CU_ASSERT_PTR_NULL_FATAL(w->feed.wrong);
    while (w->looks != 0 && !log_shared_ask(w->feed.self)) {
        apr_sleep(1000); /* until somebody reads */
    }
    announce(w);
}

static void close_feeds(walk_t *w)
{
    close_reader(w);
    feed_close(&w->feed);
}

static const char *parameters_of(walk_t *w)
{
    const char *feed = getenv("VAULT_WALK_FEED");
    /* All walks have one file, since a feed keeps its shared memory, by its parameters, until the process ends. */
    const char *name = "walk.db", *path = path_of(name);

    w->is_server = feed != NULL;
    w->is_plain = feed != NULL || getenv("VAULT_WALK_PLAIN") != NULL;
    (void)write_file(name, "");
    w->rows = draw(w, 3) == 0 ? 7 : 1000;
    w->looks = draw(w, 2) == 0 || getenv("VAULT_WALK_PLAIN") != NULL ? 0 : feed == NULL && draw(w, 2) ? 60000 : 10;
    return apr_psprintf(w->pool, "%s model=%s", feed != NULL ? feed : apr_pstrcat(w->pool, "database=", path, NULL),
                        write_file("walk.json", walk_model));
}

static void make_tables(walk_t *w)
{
    take_stranger(w);
    for (int i = 0; i < TABLES && w->is_server; i++) {
        (void)run(w, apr_pstrcat(w->pool, "DROP VIEW IF EXISTS ", tables[i].name, NULL));
    }
    sql_conn_give_back(&w->stranger);
    for (int i = 0; i < TABLES; i++) {
        make_anew(w, i, AS_EVER);
        watch(w, i);
    }
}

static void free_pages(walk_t *w)
{
    for (int i = 0; i < PAGES; i++) {
        json_decref(w->pages[i].args);
        json_decref(w->pages[i].shown);
        json_decref(w->pages[i].rows);
        json_decref(w->pages[i].acked);
    }
}

static int walk(apr_uint64_t seed)
{
    walk_t w = {.seed = seed, .random = seed, .says = getenv("VAULT_WALK_SAYS") != NULL, .began_at = apr_time_now()};

    apr_pool_create(&w.pool, suite_pool);
    w.given = parameters_of(&w);
    open_reader(&w);
    make_tables(&w);
    open_feed(&w);
    for (int i = 0; i < PAGES; i++) {
        draw_page(&w, &w.pages[i]);
    }
    for (w.step = 0; w.step < STEPS && w.wrong == 0; w.step++) {
        step(&w);
    }
    free_pages(&w);
    close_feeds(&w);
    apr_pool_destroy(w.pool);
    return w.wrong;
}

/* ------------------------------------------------------------ several at once */

#define THREADS 3

/* Where each statement that makes a table or a trigger is for good, half of them would leave a table that is
 * not watched: each until it succeeds. */
static apr_status_t run_surely(walk_t *w, const char *statement)
{
    apr_time_t end = apr_time_now() + apr_time_from_sec(30);
    apr_status_t rv = run(w, statement);

    while (rv != APR_SUCCESS && apr_time_now() < end) {
        rv = run(w, statement);
    }
    return rv;
}

/* In one transaction, where tables can be made in one. */
static void make_anew_at_once(walk_t *w, int table)
{
    sql_call_t *c = &w->stranger;
    apr_array_header_t *statements = apr_array_make(w->pool, 32, sizeof(const char *));
    const char *name = tables[table].name;
    int is_one = log_dialect_of(c->db)->replace == NULL;
    apr_status_t (*one)(walk_t *, const char *) = is_one ? run : run_surely;
    apr_status_t rv;

    take_stranger(w);
    rv = is_one ? sql_conn_begin_write(c) : APR_SUCCESS;
    rv = rv == APR_SUCCESS ? one(w, apr_pstrcat(w->pool, "DROP TABLE ", name, NULL)) : rv;
    rv = rv == APR_SUCCESS
             ? one(w, apr_pstrcat(w->pool, "CREATE TABLE ", name, "(", types_of(w, table), ")", ending(w), NULL))
             : rv;
    rv = rv == APR_SUCCESS ? sql_catalogue_find(c, name) : rv;
    if (rv == APR_SUCCESS) {
        log_dialect_watch(c, statements);
    }
    for (int i = 0; i < statements->nelts && rv == APR_SUCCESS; i++) {
        rv = one(w, APR_ARRAY_IDX(statements, i, const char *));
    }
    if (is_one && (rv != APR_SUCCESS || sql_conn_commit(c) != APR_SUCCESS)) {
        sql_conn_rollback(c); /* it waited for others, who waited for it */
    }
    else if (rv != APR_SUCCESS) {
        is_wrong(w, "a table cannot be made anew", NULL, NULL, NULL);
    }
    sql_conn_give_back(c);
}

static void *APR_THREAD_FUNC walk_beside(apr_thread_t *thread, void *data)
{
    walk_t *w = data;

    for (w->step = 0; w->step < STEPS && w->wrong == 0; w->step++) {
        watching_t *at = &DRAW(w, w->pages);
        unsigned what = draw(w, 100);

        if (what < 50) {
            look_at(w, at);
        }
        else if (what < 60) {
            what < 55 ? draw_page(w, at) : renew_page(w, at);
        }
        else if (what < 98 || w->seed % THREADS != 0) {
            what % 2 ? write_by_feed(w) : write_by_stranger(w);
        }
        else {
            make_anew_at_once(w, (int)draw(w, TABLES));
            host_notify_all();
        }
    }
    return NULL;
}

/* What others write meanwhile is not known, but an answer fits to those before. In the end there is nothing
 * more to come. */
static void end_beside(walk_t *w)
{
    for (int i = 0; i < PAGES; i++) {
        w->pages[i].begun = 0;
        host_notify_all();
        w->pages[i].begun = w->pages[i].page.has_cursor;
        look_at(w, &w->pages[i]);
    }
    free_pages(w);
    sql_background_end(&w->stranger);
    apr_pool_destroy(w->pool);
}

static int walk_together(apr_uint64_t seed)
{
    walk_t w = {.seed = seed, .random = seed, .began_at = apr_time_now(), .is_crowd = 1}, all[THREADS];
    apr_thread_t *threads[THREADS];
    apr_status_t ended;

    apr_pool_create(&w.pool, suite_pool);
    w.given = parameters_of(&w);
    open_reader(&w);
    make_tables(&w);
    open_feed(&w);
    for (int i = 0; i < THREADS; i++) {
        all[i] = w;
        all[i].seed = all[i].random = THREADS * seed + (apr_uint64_t)i;
        all[i].is_stale = all[i].tolerant = 1;
        apr_pool_create_ex(&all[i].pool, NULL, NULL, NULL);
        CU_ASSERT_EQUAL_FATAL(sql_background_begin(&all[i].stranger, w.reader.self), APR_SUCCESS);
        for (int k = 0; k < PAGES; k++) {
            draw_page(&all[i], &all[i].pages[k]);
        }
    }
    for (int i = 0; i < THREADS; i++) {
        CU_ASSERT_EQUAL_FATAL(apr_thread_create(&threads[i], NULL, walk_beside, &all[i], w.pool), APR_SUCCESS);
    }
    for (int i = 0; i < THREADS; i++) {
        apr_thread_join(&ended, threads[i]);
    }
    seconds_ahead += 3;
    announce(&w); /* what strangers wrote last may not be found in memory before */
    for (int i = 0; i < THREADS; i++) {
        all[i].is_stale = all[i].tolerant = 0;
        end_beside(&all[i]);
        w.wrong += all[i].wrong;
    }
    close_feeds(&w);
    apr_pool_destroy(w.pool);
    return w.wrong;
}

/* ------------------------------------------------------------ seeds */

static void run_walks(int (*one)(apr_uint64_t seed))
{
    const char *seed = getenv("VAULT_WALK_SEED"), *seconds = getenv("VAULT_WALK_SECONDS");
    apr_time_t end = apr_time_now() + apr_time_from_sec(seconds != NULL ? atoi(seconds) : 2);
    apr_uint64_t next = seed != NULL ? (apr_uint64_t)apr_strtoi64(seed, NULL, 10) : 1;
    int wrong = 0, walks = 0;

    do {
        wrong += one(next++) != 0;
        walks++;
    } while ((seed == NULL || seconds != NULL) && apr_time_now() < end);
    fprintf(stderr, "\n  %d walks, %d wrong\n", walks, wrong);
    CU_ASSERT_EQUAL(wrong, 0);
}

static void test_walks(void)
{
    run_walks(walk);
}

static void test_together(void)
{
    run_walks(walk_together);
}

void vault_database_walk_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_walk", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "random walks", test_walks);
    CU_add_test(suite, "several at once", test_together);
}
