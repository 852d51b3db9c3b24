/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables the tailer reads, on SQLite: tables are watched before, while and after it lists them. */
#include <CUnit/CUnit.h>

#include <fcntl.h>

#include "log/shared.h"
#include "database_tailer.h"
#include "unit.h"

void vault_database_tables_suite(void);

/* ------------------------------------------------------------ nothing is watched */

static void test_unwatched(void)
{
    host_page_t page = {0};
    int watched = 1, again = 1;
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tail_unwatched.db", "", "");
    tailer_begin(&t, &s.feed);
    CU_ASSERT_EQUAL(log_tail_read(&t.tail, &t.c, &watched, &again), APR_SUCCESS);
    CU_ASSERT_TRUE(!watched && !again && log_shared_boot(s.feed.self) == 0);
    ask(&s.feed, &page, "get_new_instances", ARGS);
    ask(&s.feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"a\"}}");
    check_told(&s.feed, &page, "a ", "the writer has notified");
    with_statements(&s.feed, "logs", log_dialect_watch);
    tailer_reads(&t);
    CU_ASSERT_NOT_EQUAL(log_shared_boot(s.feed.self), 0);
    host_notify("DB-logs");
    ask(&s.feed, &page, "get_new_instances", ARGS);
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('b')");
    tailer_reads(&t);
    check_told(&s.feed, &page, "b ", "the tailer has");
    tailer_end(&t);
    scene_end(&s);
}

/* A tailer that found no watched table sleeps for a minute; nothing tells it of a write to a file that a link
 * leads to. It reads when a writer asks. */
static void test_woken(void)
{
    feed_t owner, feed;
    apr_time_t end;
    int is_served = 0;

    feed_fresh(&owner, "tables_woken.db", "");
    ask(&owner, NULL, "all", "{\"table\":\"logs\"}"); /* makes the file */
    CU_ASSERT_EQUAL_FATAL(symlink(path_of("tables_woken.db"), path_of("tables_link.db")), 0);
    feed_open(&feed, apr_psprintf(suite_pool, "database=%s poll=60000", path_of("tables_link.db")));
    CU_ASSERT_PTR_NULL_FATAL(feed.wrong);
    while (log_shared_reading(feed.self) != LOG_READING_UNWATCHED) {
        apr_sleep(1000);
    }
    with_statements(&owner, "logs", log_dialect_watch);
    end = apr_time_now() + apr_time_from_sec(60);
    while (!is_served && apr_time_now() < end) {
        is_served = log_shared_ask(feed.self);
        apr_sleep(1000);
    }
    CU_ASSERT_TRUE(is_served);
    feed_close(&feed);
    feed_close(&owner);
}

/* ------------------------------------------------------------ watched meanwhile */

static void watch_logs(void *feed)
{
    with_statements(feed, "logs", log_dialect_watch);
}

/* The tailer logs that a table is gone after it has listed the watched tables. Then another one is watched: that one
 * is not in its list. */
static void test_watched_meanwhile(void)
{
    host_page_t page = {0};
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tables_meanwhile.db", "plain", "");
    stranger_does(s.other, "DROP TABLE plain");
    tailer_begin(&t, &s.feed);
    host_logged_data = &s.feed;
    host_logged = watch_logs;
    tailer_reads(&t);
    CU_ASSERT_PTR_NULL(host_logged);
    ask(&s.feed, &page, "get_new_instances", ARGS);
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('a')");
    tailer_reads(&t);
    check_told(&s.feed, &page, "a ", "the tailer has listed the tables again");
    tailer_end(&t);
    scene_end(&s);
}

/* ------------------------------------------------------------ many changes */

#define MANY 10500 /* more than one read takes */
#define ROW_ARGS "{\"table\":\"logs\",\"key\":\"1\"}"

/* The tailer leaves a large transaction to the pages, and takes what is written after it. */
static void test_many(void)
{
    host_page_t page = {0};
    apr_uint64_t boot;
    tailer_t t;
    scene_t s;

    scene_begin(&s, "tables_many.db", "logs", "");
    tailer_begin(&t, &s.feed);
    tailer_reads(&t);
    boot = log_shared_boot(s.feed.self);
    ask(&s.feed, &page, "get_modified_instance", ROW_ARGS);
    stranger_does(s.other, apr_psprintf(suite_pool,
                                        "BEGIN;UPDATE logs SET line='first' WHERE id=1;WITH RECURSIVE n(i) AS(SELECT 1 "
                                        "UNION ALL SELECT i+1 FROM n WHERE i<%d) INSERT INTO logs(line) SELECT i FROM "
                                        "n;COMMIT",
                                        MANY));
    tailer_reads(&t);
    CU_ASSERT_NOT_EQUAL(log_shared_boot(s.feed.self), boot);
    boot = log_shared_boot(s.feed.self);
    check(ask(&s.feed, &page, "get_modified_instance", ROW_ARGS), "\"line\":\"first\"", "many changes",
          "the page has asked the database");
    stranger_does(s.other, "UPDATE logs SET line='second' WHERE id=1");
    tailer_reads(&t);
    CU_ASSERT_EQUAL(log_shared_boot(s.feed.self), boot);
    check(ask(&s.feed, &page, "get_modified_instance", ROW_ARGS), "\"line\":\"second\"", "one change", "");
    tailer_end(&t);
    scene_end(&s);
}

/* ------------------------------------------------------------ tickets */

/* Another table is watched in the transaction of a change, so the tailer begins another life of the ring before
 * it reads on. */
static void test_served(void)
{
    scene_t s;

    scene_begin(&s, "tail_served.db", "logs", "poll=10");
    while (!log_shared_ask(s.feed.self)) {
        apr_sleep(1000); /* until the tailer reads */
    }
    for (int i = 0; i < 20; i++) {
        int before = host_notified("DB-logs");

        stranger_does(s.other, apr_psprintf(suite_pool,
                                            "BEGIN;INSERT INTO logs(line)VALUES('%d');"
                                            "CREATE TABLE served%d(id INTEGER PRIMARY KEY);"
                                            "INSERT INTO vault_watched(tbl,epoch,pruned,columns)"
                                            "VALUES('served%d','e','','id');COMMIT",
                                            i, i, i));
        while (!log_shared_ask(s.feed.self)) {
            apr_sleep(100);
        }
        CU_ASSERT(host_notified("DB-logs") > before);
    }
    scene_end(&s);
}

/* ------------------------------------------------------------ restarts */

static int count_descriptors(void)
{
    int count = 0;

    for (int fd = 0; fd < 1024; fd++) {
        count += fcntl(fd, F_GETFD) != -1;
    }
    return count;
}

static int shared_of(const feed_t *feed)
{
    return ((const change_log_t *)feed->self)->shared_fd;
}

/* What a feed shares outlives a restart with the same parameters, and not the second one after that with others. */
static void test_restarts(void)
{
    const char *same = apr_psprintf(suite_pool, "database=%s look=0", path_of("tables_restarts.db"));
    feed_t feed, other;
    int before, descriptor;

    feed_open(&other, apr_pstrcat(suite_pool, same, " keep=77", NULL));
    feed_open(&feed, same);
    descriptor = shared_of(&feed);
    feed_close(&feed);
    feed_open(&feed, same);
    CU_ASSERT_EQUAL(shared_of(&feed), descriptor);
    feed_close(&feed);
    before = count_descriptors();
    for (int i = 0; i < 20; i++) {
        feed_open(&feed, apr_psprintf(suite_pool, "%s keep=%d", same, 100 + i));
        feed_close(&feed);
    }
    CU_ASSERT(count_descriptors() <= before + 4);
    CU_ASSERT_NOT_EQUAL(fcntl(shared_of(&other), F_GETFD), -1);
    feed_close(&other);
}

void vault_database_tables_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_tables", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "no table is watched, and then one is", test_unwatched);
    CU_add_test(suite, "a tailer without a watched table is asked to read", test_woken);
    CU_add_test(suite, "a table is watched while the tailer lists them", test_watched_meanwhile);
    CU_add_test(suite, "more changes than one read takes", test_many);
    CU_add_test(suite, "a feed is opened with other parameters", test_restarts);
    CU_add_test(suite, "who has asked is served when all is told", test_served);
}
