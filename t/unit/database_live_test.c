/* SPDX-License-Identifier: Apache-2.0 */
/* What live pages see of a whole column, on SQLite; t/feed/48 has it on all databases. */
#include <CUnit/CUnit.h>

#include "board.h"
#include "database_scene.h"
#include "unit.h"

void vault_database_live_suite(void);

/* ------------------------------------------------------------ a column */

#define COLUMN "{\"table\":\"logs\",\"attribute\":\"status\"}"

static void test_column(void)
{
    static const step_t steps[] = {
        {"",
         "[{\"id\":1,\"attribute\":\"status\",\"old\":null,\"new\":200,\"added\":true},"
         "{\"id\":2,\"attribute\":\"status\",\"old\":null,\"new\":404,\"added\":true},"
         "{\"id\":3,\"attribute\":\"status\",\"old\":null,\"new\":200,\"added\":true}]",
         "the first view has all rows"},
        {"", "nothing", "nothing happened"},
        {"UPDATE logs SET line='x'", "nothing", "another column"},
        {"UPDATE logs SET status=status", "nothing", "the same value"},
        {"UPDATE logs SET status=0 WHERE id=1;UPDATE logs SET status=200 WHERE id=1", "nothing", "there and back"},
        {"UPDATE logs SET status=NULL WHERE status=200",
         "[{\"id\":1,\"attribute\":\"status\",\"old\":200,\"new\":null},"
         "{\"id\":3,\"attribute\":\"status\",\"old\":200,\"new\":null}]",
         "a bulk update, to NULL"},
        {"UPDATE logs SET status=7 WHERE id=3;UPDATE logs SET status=8,line='y' WHERE id=3",
         "[{\"id\":3,\"attribute\":\"status\",\"old\":null,\"new\":8}]", "two changes are one"},
        {"INSERT INTO logs(line) VALUES('four')",
         "[{\"id\":4,\"attribute\":\"status\",\"old\":null,\"new\":null,\"added\":true}]",
         "a row that comes with NULL comes all the same"},
        {"DELETE FROM logs WHERE id IN(2,4)",
         "[{\"id\":2,\"attribute\":\"status\",\"old\":404,\"new\":null,\"removed\":true},"
         "{\"id\":4,\"attribute\":\"status\",\"old\":null,\"new\":null,\"removed\":true}]",
         "rows that go"},
        {"UPDATE logs SET id=30 WHERE id=3",
         "[{\"id\":3,\"attribute\":\"status\",\"old\":8,\"new\":null,\"removed\":true},"
         "{\"id\":30,\"attribute\":\"status\",\"old\":null,\"new\":8,\"added\":true}]",
         "another key is another row"},
        {"INSERT INTO logs(id,line) VALUES(50,'x');DELETE FROM logs WHERE id=50", "nothing", "came and went"},
        {"DELETE FROM logs WHERE id=30;INSERT INTO logs(id,line,status) VALUES(30,'again',8)", "nothing",
         "went and came with the same value"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "live_column.db", "logs", "");
    run_steps(&s, "get_attribute_changes", COLUMN, "DB-logs.status", steps);
    scene_end(&s);
}

static void test_column_arguments(void)
{
    static const struct {
        const char *args, *expected;
    } rows[] = {
        {"{\"table\":\"logs\",\"attribute\":\"status\",\"limit\":1}",
         "[{\"id\":3,\"attribute\":\"status\",\"old\":null,\"new\":200,\"added\":true}]"},
        {"{\"table\":\"logs\"}", "EINVAL: argument \"attribute\" is missing"},
        {"{\"table\":\"logs\",\"attribute\":\"no\"}",
         "EINVAL: argument \"attribute\": table \"logs\" has no column \"no\""},
        {"{\"table\":\"logs\",\"attribute\":\"status\\u0000\"}", "EINVAL: argument \"attribute\" has a NUL in it"},
        {"{\"table\":\"logs\",\"attribute\":\"status\",\"limit\":0}",
         "EINVAL: argument \"limit\" takes a whole number"},
        {"{\"table\":\"logs\",\"attribute\":\"status\",\"key\":\"1\",\"limit\":1}",
         "EINVAL: argument \"limit\" is for all rows: with \"key\" there is one"},
        {"{\"table\":\"logs\",\"attribute\":\"status\",\"key\":\"\"}", "EINVAL: argument \"key\" is missing"},
        {"{\"table\":\"plain\",\"attribute\":\"v\"}", "EINVAL: table \"plain\" is not watched"},
        {"{\"table\":\"strict_one\",\"attribute\":\"name\"}", "nothing"},
    };
    scene_t s;

    scene_begin(&s, "live_arguments.db", "logs strict_one", "");
    stranger_does(s.other, "INSERT INTO strict_one VALUES(NULL)");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(ask(&s.feed, NULL, "get_attribute_changes", rows[i].args), rows[i].expected, rows[i].args, "");
    }
    scene_end(&s);
}

/* More than one answer holds is a first view again; changes of other columns do not count where the ring has them. */
static void test_column_reset(void)
{
    host_page_t page = {0};
    scene_t s;

    scene_begin(&s, "live_reset.db", "logs", "rows=3");
    ask(&s.feed, &page, "get_attribute_changes", COLUMN);
    for (int i = 0; i < 4; i++) {
        stranger_does(s.other, apr_psprintf(suite_pool, "UPDATE logs SET status=%d WHERE id=1", i));
    }
    host_notify("DB-logs.status");
    check(ask(&s.feed, &page, "get_attribute_changes", COLUMN),
          "\"id\":1,\"attribute\":\"status\",\"old\":null,\"new\":3,\"added\":true", "four changes", "rows=3");
    CU_ASSERT_EQUAL(page.resets, 1);
    stranger_does(s.other, "DELETE FROM logs;DELETE FROM vault_changes;UPDATE vault_watched SET pruned=99");
    host_notify("DB-logs.status");
    check(ask(&s.feed, &page, "get_attribute_changes", COLUMN), "[]", "pruned", "anew, and there is none");
    CU_ASSERT_EQUAL(page.resets, 2);
    scene_end(&s);
}

/* A feed with a tailer, whose writes a page takes from the ring. */
static void begin_with_ring(scene_t *s, const char *name, const char *more)
{
    scene_begin(s, name, "logs", apr_pstrcat(suite_pool, "look=60000 ", more, NULL));
    while (!database_board_ask(s->feed.self)) {
        apr_sleep(1000); /* until the tailer reads */
    }
}

static database_figures_t figures_of(const scene_t *s)
{
    database_figures_t figures;

    database_board_figures(s->feed.self, &figures);
    return figures;
}

static int by_sql(const database_figures_t *figures)
{
    apr_uint64_t sum = 0;

    for (int i = 0; i < DATABASE_WHYS; i++) {
        sum += figures->by_sql[i];
    }
    return (int)sum;
}

static void write_and_tell(const scene_t *s, const char *method, const char *args)
{
    CU_ASSERT_EQUAL(ask((feed_t *)(uintptr_t)&s->feed, NULL, method, args)[0], '[');
    while (!database_board_ask(s->feed.self)) {
        sched_yield(); /* a machine that is busy may have let it wait for longer than a writer does */
    }
}

static void test_column_from_ring(void)
{
    host_page_t page = {0};
    database_figures_t before, after;
    scene_t s;

    begin_with_ring(&s, "live_ring.db", "rows=3");
    ask(&s.feed, &page, "get_attribute_changes", COLUMN);
    before = figures_of(&s);
    write_and_tell(&s, "update", "{\"table\":\"logs\",\"key\":\"1\",\"values\":{\"line\":\"x\"}}");
    check(ask(&s.feed, &page, "get_attribute_changes", COLUMN), "nothing", "another column", "is not even looked at");
    for (int i = 0; i < 9; i++) {
        write_and_tell(&s, "update",
                       apr_psprintf(suite_pool, "{\"table\":\"logs\",\"key\":\"1\",\"values\":{\"line\":\"%d\"}}", i));
    }
    write_and_tell(&s, "update", "{\"table\":\"logs\",\"key\":\"2\",\"values\":{\"status\":5,\"line\":\"z\"}}");
    write_and_tell(&s, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"four\",\"status\":4}}");
    write_and_tell(&s, "delete", "{\"table\":\"logs\",\"key\":\"3\"}");
    check(ask(&s.feed, &page, "get_attribute_changes", COLUMN),
          "[{\"id\":2,\"attribute\":\"status\",\"old\":404,\"new\":5},"
          "{\"id\":4,\"attribute\":\"status\",\"old\":null,\"new\":4,\"added\":true},"
          "{\"id\":3,\"attribute\":\"status\",\"old\":200,\"new\":null,\"removed\":true}]",
          "three changes of the column among others", "those of other columns fill no answer");
    after = figures_of(&s);
    CU_ASSERT_EQUAL(page.resets, 0);
    CU_ASSERT_EQUAL(after.from_ring, before.from_ring + 1);
    CU_ASSERT_EQUAL(by_sql(&after), by_sql(&before));
    scene_end(&s);
}

void vault_database_live_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_live", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "the changes of a column", test_column);
    CU_add_test(suite, "arguments of a column", test_column_arguments);
    CU_add_test(suite, "a column is shown anew", test_column_reset);
    CU_add_test(suite, "a column from the ring", test_column_from_ring);
}
