/* SPDX-License-Identifier: Apache-2.0 */
/* What live pages see of a whole column, and of a filter, on SQLite; t/feed/48 has these on all databases. */
#include <CUnit/CUnit.h>

#include "log/shared.h"
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
    scene_begin(s, name, "logs", apr_pstrcat(suite_pool, "poll=60000 ", more, NULL));
    while (!log_shared_ask(s->feed.self)) {
        apr_sleep(1000); /* until the tailer reads */
    }
}

static log_figures_t figures_of(const scene_t *s)
{
    log_figures_t figures;

    log_shared_figures(s->feed.self, &figures);
    return figures;
}

static int by_sql(const log_figures_t *figures)
{
    apr_uint64_t sum = 0;

    for (int i = 0; i < LOG_WHYS; i++) {
        sum += figures->by_sql[i];
    }
    return (int)sum;
}

static void write_and_tell(const scene_t *s, const char *method, const char *args)
{
    CU_ASSERT_EQUAL(ask((feed_t *)(uintptr_t)&s->feed, NULL, method, args)[0], '[');
    while (!log_shared_ask(s->feed.self)) {
        sched_yield(); /* a machine that is busy may have let it wait for longer than a writer does */
    }
}

static void test_column_from_ring(void)
{
    host_page_t page = {0};
    log_figures_t before, after;
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

/* ------------------------------------------------------------ a filter */

#define NO_ROWS "{\"added\":[],\"removed\":[],\"changed\":[]}"
#define ROW(id, line, status) "{\"id\":" #id ",\"line\":\"" line "\",\"status\":" #status ",\"took\":null}"
#define ADDED(rows) "{\"added\":[" rows "],\"removed\":[],\"changed\":[]}"
#define REMOVED(rows) "{\"added\":[],\"removed\":[" rows "],\"changed\":[]}"
#define CHANGED(rows) "{\"added\":[],\"removed\":[],\"changed\":[" rows "]}"
#define ANEW(rows) "{\"added\":[" rows "],\"removed\":[],\"changed\":[],\"reset\":true}"

/* Whole numbers and NULL: told from the changes. */
static void test_filter(void)
{
    static const step_t steps[] = {
        {"DELETE FROM logs WHERE id<>2", ADDED(ROW(2, "two", 404)), "the first view"},
        {"", "nothing", "nothing happened"},
        {"INSERT INTO logs(line,status) VALUES('low',3)", "nothing", "a row that is none of them"},
        {"UPDATE logs SET line='lower' WHERE id=4", "nothing", "... nor when it changes"},
        {"UPDATE logs SET status=403 WHERE id=4", ADDED(ROW(4, "lower", 403)), "in by an update"},
        {"INSERT INTO logs(line,status) VALUES('new',499)", ADDED(ROW(5, "new", 499)), "in by an insert"},
        {"UPDATE logs SET line='x' WHERE id=5", CHANGED(ROW(5, "x", 499)), "changed"},
        {"UPDATE logs SET line='y' WHERE id=5;UPDATE logs SET line='x' WHERE id=5", "nothing", "there and back"},
        {"UPDATE logs SET status=500 WHERE id=5", REMOVED(ROW(5, "x", 499)), "out by an update"},
        {"UPDATE logs SET status=NULL WHERE id=4", REMOVED(ROW(4, "lower", 403)), "NULL is neither less nor more"},
        {"INSERT INTO logs(line,status) VALUES('w',450);DELETE FROM logs WHERE line='w'", "nothing", "came and went"},
        {"UPDATE logs SET id=20 WHERE id=2",
         "{\"added\":[" ROW(20, "two", 404) "],\"removed\":[" ROW(2, "two", 404) "],\"changed\":[]}",
         "another key is another row"},
        {"UPDATE logs SET status='words' WHERE id=20", ANEW(""), "a text where numbers are: only SQLite knows"},
        {"DELETE FROM logs WHERE id=20", "nothing", "... and the page has what there is already"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "live_filter.db", "logs", "");
    stranger_does(s.other, "UPDATE logs SET took=NULL");
    run_steps(&s, "get_filter_changes", "{\"table\":\"logs\",\"where\":{\"status__gte\":\"400\",\"status__lt\":500}}",
              "DB-logs", steps);
    scene_end(&s);
}

/* A window, and an order: whatever moves in it is shown anew. */
static void test_filter_window(void)
{
    static const step_t steps[] = {
        {"UPDATE logs SET took=NULL", ADDED(ROW(2, "two", 404) "," ROW(1, "one", 200)), "the first view"},
        {"INSERT INTO logs(line,status) VALUES('low',100)", "nothing", "beyond the window"},
        {"UPDATE logs SET line='lower' WHERE id=4", "nothing", "... and changed there"},
        {"INSERT INTO logs(line,status) VALUES('high',300)", ANEW(ROW(2, "two", 404) "," ROW(5, "high", 300)),
         "one moves in, another one out"},
        {"DELETE FROM logs WHERE id=2", ANEW(ROW(5, "high", 300) "," ROW(1, "one", 200)), "out, and the next one in"},
        {"UPDATE logs SET line='top' WHERE id=5", ANEW(ROW(5, "top", 300) "," ROW(1, "one", 200)), "changed in it"},
        {"UPDATE logs SET status=0 WHERE status>200", ANEW(ROW(1, "one", 200) "," ROW(3, "three", 200)),
         "another order"},
        {"INSERT INTO logs(line,status) VALUES('ex',999);DELETE FROM logs WHERE line='ex'", "nothing", "came and went"},
        {NULL, NULL, NULL},
    };
    static const step_t ordered[] = {
        {"", ADDED(ROW(1, "one", 200) "," ROW(3, "three", 200) "," ROW(4, "lower", 100) "," ROW(5, "top", 0)),
         "the first view"},
        {"UPDATE logs SET line='4' WHERE id=4", CHANGED(ROW(4, "4", 100)), "it stays where it is"},
        {"DELETE FROM logs WHERE id=3", REMOVED(ROW(3, "three", 200)), "what goes moves no other"},
        {"UPDATE logs SET status=300 WHERE id=4", ANEW(ROW(4, "4", 300) "," ROW(1, "one", 200) "," ROW(5, "top", 0)),
         "it has another place"},
        {"INSERT INTO logs(id,line,status) VALUES(9,'mid',250)",
         ANEW(ROW(4, "4", 300) "," ROW(9, "mid", 250) "," ROW(1, "one", 200) "," ROW(5, "top", 0)),
         "it has one between others"},
        {"DELETE FROM logs WHERE id>4", REMOVED(ROW(5, "top", 0) "," ROW(9, "mid", 250)), "two at once"},
        {"DELETE FROM logs", REMOVED(ROW(1, "one", 200) "," ROW(4, "4", 300)), "all are gone"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "live_window.db", "logs", "");
    run_steps(&s, "get_filter_changes", "{\"table\":\"logs\",\"order_by\":\"-status\",\"limit\":2}", "DB-logs", steps);
    run_steps(&s, "get_filter_changes",
              "{\"table\":\"logs\",\"where\":{\"line__isnull\":false},\"order_by\":\"-status,id\"}", "DB-logs",
              ordered);
    scene_end(&s);
}

/* A full answer is a window without a limit, too. */
static void test_filter_full(void)
{
    static const step_t steps[] = {
        {"UPDATE logs SET took=NULL", ADDED(ROW(1, "one", 200) "," ROW(2, "two", 404) "," ROW(3, "three", 200)),
         "the first view"},
        {"INSERT INTO logs(line,status) VALUES('four',4)", "nothing", "more than one answer holds"},
        {"DELETE FROM logs WHERE id=2", ANEW(ROW(1, "one", 200) "," ROW(3, "three", 200) "," ROW(4, "four", 4)),
         "... comes in"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "live_full.db", "logs", "rows=3");
    run_steps(&s, "get_filter_changes", "{\"table\":\"logs\"}", "DB-logs", steps);
    scene_end(&s);
}

/* What the feed decides by itself is what SQLite decides: row 1 goes over both sides of each value. */
static void test_filter_operators(void)
{
    static const char *const conditions[] = {
        "\"status\":200",         "\"status\":null",         "\"status__ne\":200",
        "\"status__ne\":null",    "\"status__gt\":200",      "\"status__gte\":\"200\"",
        "\"status__lt\":200",     "\"status__lte\":200",     "\"status__in\":\"7,200\"",
        "\"status__in\":[199,9]", "\"status__isnull\":true", "\"status__isnull\":\"false\",\"status__gte\":-200",
    };
    static const char *const values[] = {"199", "200", "NULL", "201", "200", "199", "201", "NULL", "-200", "-201"};
    scene_t s;

    scene_begin(&s, "live_operators.db", "logs", "");
    for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]); i++) {
        const char *args = apr_psprintf(suite_pool, "{\"table\":\"logs\",\"where\":{%s,\"id\":1}}", conditions[i]);
        host_page_t page = {0};
        int was = strstr(ask(&s.feed, &page, "get_filter_changes", args), "\"id\":1") != NULL;

        for (size_t k = 0; k < sizeof(values) / sizeof(values[0]); k++) {
            int is;

            stranger_does(s.other, apr_psprintf(suite_pool, "UPDATE logs SET status=%s WHERE id=1", values[k]));
            host_notify("DB-logs");
            is = strcmp(ask(&s.feed, NULL, "filter", args), "[]") != 0;
            check(ask(&s.feed, &page, "get_filter_changes", args),
                  was && is ? "\"changed\":[{"
                  : was     ? "\"removed\":[{"
                  : is      ? "\"added\":[{"
                            : "nothing",
                  values[k], args);
            was = is;
        }
        CU_ASSERT_EQUAL(page.resets, 0);
    }
    scene_end(&s);
}

/* What SQLite alone knows, and rows without a key. */
static void test_filter_unsure(void)
{
    static const step_t steps[] = {
        {"INSERT INTO strict_one VALUES(NULL),('b')", ADDED("{\"name\":\"b\"}"),
         "the first view: a row without a key belongs to no object"},
        {"INSERT INTO strict_one VALUES('c')", "nothing", "another name"},
        {"INSERT INTO strict_one VALUES('B')", ANEW("{\"name\":\"B\"},{\"name\":\"b\"}"),
         "LIKE of SQLite takes capitals, too"},
        {"UPDATE strict_one SET name='bb' WHERE name IS NULL",
         ANEW("{\"name\":\"B\"},{\"name\":\"b\"},{\"name\":\"bb\"}"), "a row gets a key"},
        {"DELETE FROM strict_one WHERE name='c'", "nothing", "another name is gone"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "live_unsure.db", "strict_one", "");
    run_steps(&s, "get_filter_changes", "{\"table\":\"strict_one\",\"where\":{\"name__like\":\"b%\"}}", "DB-strict_one",
              steps);
    scene_end(&s);
}

static void test_filter_arguments(void)
{
    static const struct {
        const char *args, *expected;
    } rows[] = {
        {"{\"table\":\"logs\",\"where\":{\"id\":1}}",
         "{\"added\":[{\"id\":1,\"line\":\"one\",\"status\":200,\"took\":0.5}],\"removed\":[],\"changed\":[]}"},
        {"{\"table\":\"logs\",\"where\":{\"id\":7}}", NO_ROWS},
        {"{\"table\":\"logs\",\"where\":\"id\"}", "EINVAL: argument \"where\" takes where.COLUMN"},
        {"{\"table\":\"logs\",\"where\":{\"id__foo\":1}}",
         "EINVAL: argument \"where.id__foo\": there is no operator \"foo\""},
        {"{\"table\":\"logs\",\"where\":{\"id__in\":\"\"}}", "EINVAL: argument \"where.id__in\" takes 1 to 200 values"},
        {"{\"table\":\"logs\",\"where\":{\"id__isnull\":2}}",
         "EINVAL: argument \"where.id__isnull\" takes true or false"},
        {"{\"table\":\"logs\",\"limit\":0}", "EINVAL: argument \"limit\" takes a whole number from 1 to 1000"},
        {"{\"table\":\"logs\",\"offset\":-1}", "EINVAL: argument \"offset\" takes a whole number from 0 to 1000000"},
        {"{\"table\":\"logs\",\"order_by\":\"no\"}",
         "EINVAL: argument \"order_by\": table \"logs\" has no column \"no\""},
        {"{\"table\":\"logs\",\"persistent\":\"yes\"}", "EINVAL: argument \"persistent\" is unknown"},
        {"{\"table\":\"plain\"}", "EINVAL: table \"plain\" is not watched"},
        {"{\"table\":\"seen\"}", "EINVAL: table \"seen\" is not watched"},
    };
    host_page_t garbled = {.has_cursor = 1};
    scene_t s;

    scene_begin(&s, "live_filter_arguments.db", "logs", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(ask(&s.feed, NULL, "get_filter_changes", rows[i].args), rows[i].expected, rows[i].args, "");
    }
    for (size_t i = 0; i < 4; i++) {
        static const char *const cursors[] = {"n:", "nt:w", "n", "nvw"};

        apr_cpystrn(garbled.cursor, cursors[i], sizeof(garbled.cursor));
        garbled.stamp = 0;
        check(ask(&s.feed, &garbled, "get_filter_changes", rows[0].args), "\"reset\":true", cursors[i],
              "a cursor of something else");
    }
    scene_end(&s);
}

static const char filter_model[] = "{\"entities\":{\"Log\":{\"table\":\"logs\",\"properties\":{\"l\":\"line\"},"
                                   "\"collections\":{\"same\":{\"entity\":\"Log\",\"column\":\"status\"}}}}}";

/* Of a column by which rows are announced a page waits for those of its value only; of others, for the table. */
static void test_filter_interests(void)
{
    static const struct {
        const char *where, *why;
        int of_value;
    } rows[] = {
        {"{\"status\":404}", "a whole number", 1},
        {"{\"status\":\"404\",\"line__ne\":\"x\"}", "beside another condition", 1},
        {"{\"status\":\"0404\"}", "of which there is another spelling", 0},
        {"{\"status__gte\":404}", "a range", 0},
        {"{\"line\":\"two\"}", "a column that no collection is found by", 0},
    };
    host_page_t page;
    scene_t s;

    scene_begin(&s, "live_interests.db", "logs",
                apr_pstrcat(suite_pool, "model=", write_file("filter.json", filter_model), NULL));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *args = apr_psprintf(suite_pool, "{\"table\":\"logs\",\"where\":%s}", rows[i].where);
        int looks;

        memset(&page, 0, sizeof(page));
        check(ask(&s.feed, &page, "get_filter_changes", args), "\"line\":\"two\"", args, rows[i].why);
        host_notify("DB-logs");
        ask(&s.feed, &page, "get_filter_changes", args); /* at first it waits for both */
        looks = page.looks;
        host_notify("DB-logs");
        ask(&s.feed, &page, "get_filter_changes", args);
        CU_ASSERT_EQUAL(page.looks, looks + !rows[i].of_value);
        looks = page.looks;
        host_notify("DB-logs.status=404");
        ask(&s.feed, &page, "get_filter_changes", args);
        CU_ASSERT_EQUAL(page.looks, looks + rows[i].of_value);
    }
    scene_end(&s);
}

static void test_filter_from_ring(void)
{
    const char *args = "{\"table\":\"logs\",\"where\":{\"status__in\":\"200,500\"}}";
    host_page_t page = {0};
    log_figures_t before, after;
    scene_t s;

    begin_with_ring(&s, "live_filter_ring.db", "");
    ask(&s.feed, &page, "get_filter_changes", args);
    before = figures_of(&s);
    write_and_tell(&s, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"four\",\"status\":4}}");
    check(ask(&s.feed, &page, "get_filter_changes", args), "nothing", "another row", "seen, and passed over");
    write_and_tell(&s, "update", "{\"table\":\"logs\",\"key\":\"2\",\"values\":{\"status\":500}}");
    write_and_tell(&s, "delete", "{\"table\":\"logs\",\"where\":{\"id__gt\":\"2\"}}");
    check(ask(&s.feed, &page, "get_filter_changes", args),
          "{\"added\":[{\"id\":2,\"line\":\"two\",\"status\":500,\"took\":null}],"
          "\"removed\":[{\"id\":3,\"line\":\"three\",\"status\":200,\"took\":2.0}],\"changed\":[]}",
          "in and out", "from the ring");
    after = figures_of(&s);
    CU_ASSERT_EQUAL(after.from_ring, before.from_ring + 2);
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
    CU_add_test(suite, "the rows of a filter", test_filter);
    CU_add_test(suite, "each operator of a filter", test_filter_operators);
    CU_add_test(suite, "a filter with an order and a window", test_filter_window);
    CU_add_test(suite, "a filter that fills an answer", test_filter_full);
    CU_add_test(suite, "a filter that only the database can decide", test_filter_unsure);
    CU_add_test(suite, "arguments of a live filter", test_filter_arguments);
    CU_add_test(suite, "what a live filter waits for", test_filter_interests);
    CU_add_test(suite, "a filter from the ring", test_filter_from_ring);
}
