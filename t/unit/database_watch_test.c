/* SPDX-License-Identifier: Apache-2.0 */
/* Watched tables of SQLite: whichever program writes, each page sees each change once. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "database/rows/fold.h"
#include "database/rows/interests.h"
#include "unit.h"

void vault_database_watch_suite(void);

static void test_new_instances(void)
{
    static const step_t steps[] = {
        {"",
         "[{\"id\":2,\"line\":\"two\",\"status\":404,\"took\":null},{\"id\":3,\"line\":\"three\",\"status\":200,"
         "\"took\":2.0}]",
         "first view: the newest"},
        {"", "nothing", "nothing happened"},
        {"INSERT INTO logs(line) VALUES('four')", "[{\"id\":4,\"line\":\"four\",\"status\":null,\"took\":null}]",
         "an outside writer"},
        {"UPDATE logs SET line='4' WHERE id=4", "nothing", "a change is no new row"},
        {"INSERT INTO logs(id,line) VALUES(-5,'low')", "[{\"id\":-5,\"line\":\"low\",\"status\":null,\"took\":null}]",
         "a key that is smaller than all"},
        {"INSERT INTO logs(line) VALUES('gone'); DELETE FROM logs WHERE line='gone'", "nothing", "came and went"},
        {"UPDATE logs SET id=90 WHERE id=1", "[{\"id\":90,\"line\":\"one\",\"status\":200,\"took\":0.5}]",
         "another key is another row"},
        {"DELETE FROM logs", "nothing", "what is gone is not new"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "watch_new.db", "logs", "");
    run_steps(&s, "get_new_instances", "{\"table\":\"logs\",\"limit\":\"2\"}", "DB-logs", steps);
    scene_end(&s);
}

/* SQLite takes NULL for a key that is not declared otherwise, and such a row is no page's. */
static void test_no_key(void)
{
    static const step_t steps[] = {
        {"", "nothing", "first view"},
        {"INSERT INTO strict_one VALUES(NULL)", "nothing", "a row without a key"},
        {"INSERT INTO strict_one VALUES(NULL); INSERT INTO strict_one VALUES('a')", "[{\"name\":\"a\"}]",
         "one that has a key beside it"},
        {"UPDATE strict_one SET name='b' WHERE rowid=1", "[{\"name\":\"b\"}]", "it gets one"},
        {"UPDATE strict_one SET name=NULL; DELETE FROM strict_one", "nothing", "and goes without"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "watch_no_key.db", "strict_one", "");
    run_steps(&s, "get_new_instances", "{\"table\":\"strict_one\"}", "DB-strict_one", steps);
    scene_end(&s);
}

/* Writes meet such rows by their other columns, and leave them alone. */
static void test_writes_without_a_key(void)
{
    static const struct {
        const char *method, *args, *expected;
    } rows[] = {
        {"update", "{\"table\":\"named\",\"where\":{\"n\":1},\"values\":{\"n\":2}}", "[{\"updated\":0}]"},
        {"update", "{\"table\":\"named\",\"where\":{\"n\":3},\"values\":{\"n\":1}}", "[{\"updated\":1}]"},
        {"update", "{\"table\":\"named\",\"where\":{\"n\":1},\"values\":{\"n\":4}}", "[{\"updated\":1}]"},
        {"delete", "{\"table\":\"named\",\"where\":{\"n\":1}}", "[{\"deleted\":0}]"},
        {"all", "{\"table\":\"named\",\"order_by\":\"n\"}", "[{\"name\":null,\"n\":1},{\"name\":\"a\",\"n\":4}]"},
    };
    scene_t s;

    scene_begin(&s, "keyless.db", "", "");
    stranger_does(s.other,
                  "CREATE TABLE named(name TEXT PRIMARY KEY,n INTEGER);INSERT INTO named VALUES(NULL,1),('a',3)");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(ask(&s.feed, NULL, rows[i].method, rows[i].args), rows[i].expected, rows[i].args, "a row without a key");
    }
    scene_end(&s);
}

/* A table that was watched, and is another one now, under the same name and with the same columns. */
static void test_key_is_gone(void)
{
    static const char *const others[] = {
        "CREATE TABLE kinds(id INTEGER,i,r,t,b,d,n,tiny)",
        "CREATE VIEW kinds AS Select 1 AS id,1 AS i,1 AS r,1 AS t,1 AS b,1 AS d,1 AS n,1 AS tiny"};
    static const char *const calls[][2] = {
        {"get_new_instances", "{\"table\":\"kinds\"}"},
        {"get_modified_instance", "{\"table\":\"kinds\",\"key\":\"1\"}"},
        {"get_attribute_changes", "{\"table\":\"kinds\",\"key\":\"1\",\"attribute\":\"t\"}"}};

    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        host_page_t pages[3];
        scene_t s;

        memset(pages, 0, sizeof(pages));
        scene_begin(&s, apr_psprintf(suite_pool, "gone%d.db", (int)i), "kinds", "");
        for (size_t k = 0; k < sizeof(calls) / sizeof(calls[0]); k++) {
            check(ask(&s.feed, &pages[k], calls[k][0], calls[k][1]), "é", calls[k][0], "before");
        }
        stranger_does(s.other, "DROP TABLE kinds");
        stranger_does(s.other, others[i]);
        for (size_t k = 0; k < 2 * sizeof(calls) / sizeof(calls[0]); k++) {
            host_notify_all();
            check(ask(&s.feed, k % 2 ? NULL : &pages[k / 2], calls[k / 2][0], calls[k / 2][1]),
                  "EGENERAL: the watched table \"kinds\" has no primary key any more", calls[k / 2][0], others[i]);
        }
        scene_end(&s);
    }
}

/* A watched table has no use for the cursor of one that is not, but takes no other either. */
static void test_cursor_argument(void)
{
    static const struct {
        const char *cursor, *expected, *why;
    } rows[] = {
        {"\"largest-key\"", "\"line\":\"three\"", "a tag may be older than the watching"},
        {"\"' OR 1=1 --\"", "EINVAL: argument \"cursor\" takes \"largest-key\" only", "SQL"},
        {"\"\"", "EINVAL: argument \"cursor\" takes \"largest-key\" only", "empty"},
        {"\"w1:0\"", "EINVAL: argument \"cursor\" takes \"largest-key\" only", "a position is the page's own"},
        {"7", "EINVAL: argument \"cursor\" takes \"largest-key\" only", "a number"},
        {"[\"largest-key\"]", "EINVAL: argument \"cursor\" takes \"largest-key\" only", "a list"},
    };
    scene_t s;

    scene_begin(&s, "watch_cursor.db", "logs", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(ask(&s.feed, NULL, "get_new_instances",
                  apr_psprintf(suite_pool, "{\"table\":\"logs\",\"limit\":1,\"cursor\":%s}", rows[i].cursor)),
              rows[i].expected, rows[i].cursor, rows[i].why);
    }
    scene_end(&s);
}

static void test_modified_instance(void)
{
    static const step_t steps[] = {
        {"", "[{\"id\":2,\"line\":\"two\",\"status\":404,\"took\":null}]", "first view"},
        {"UPDATE logs SET line='x' WHERE id=1", "nothing", "another row"},
        {"UPDATE logs SET line='zwei' WHERE id=2", "[{\"id\":2,\"line\":\"zwei\",\"status\":404,\"took\":null}]",
         "changed"},
        {"UPDATE logs SET line='ZWEI' WHERE id=2", "[{\"id\":2,\"line\":\"ZWEI\",\"status\":404,\"took\":null}]",
         "case counts"},
        {"UPDATE logs SET line='ZWEI'||'' WHERE id=2", "nothing", "an update that changes nothing"},
        {"UPDATE logs SET status=1 WHERE id=2; UPDATE logs SET status=404 WHERE id=2", "nothing", "there and back"},
        {"DELETE FROM logs WHERE id=2", "[]", "gone"},
        {"INSERT INTO logs(id,line) VALUES(2,'again')", "[{\"id\":2,\"line\":\"again\",\"status\":null,\"took\":null}]",
         "back"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "watch_modified.db", "logs", "");
    run_steps(&s, "get_modified_instance", "{\"table\":\"logs\",\"key\":\"2\"}", "DB-logs-2", steps);
    check(ask(&s.feed, NULL, "get_modified_instance", "{\"table\":\"logs\",\"key\":\"02\"}"),
          "EINVAL: the key \"02\" must be given as the database writes it: \"2\"", "02", "interests are names");
    check(ask(&s.feed, NULL, "get_modified_instance", "{\"table\":\"logs\",\"key\":\"007\"}"),
          "EINVAL: the key \"007\" must be given as the database writes it: \"7\"", "007",
          "also when there is no such row: one that comes later would not be announced");
    check(ask(&s.feed, NULL, "get_modified_instance", "{\"table\":\"logs\",\"key\":\"7.0\"}"), "\"7\"", "7.0",
          "the same for this key");
    check(ask(&s.feed, NULL, "get_modified_instance", "{\"table\":\"plain\",\"key\":\"1\"}"),
          "EINVAL: table \"plain\" is not watched, so its changes are not known: vaultctl watch plain", "plain",
          "unwatched");
    check(ask(&s.feed, NULL, "get_modified_instance", "{\"table\":\"logs\"}"), "EINVAL: argument \"key\" is missing",
          "no key", "needed");
    scene_end(&s);
}

static void test_attribute_changes(void)
{
    static const step_t steps[] = {
        {"", "[{\"attribute\":\"status\",\"old\":null,\"new\":404}]", "first view"},
        {"UPDATE logs SET line='zwei' WHERE id=2", "nothing", "another column"},
        {"UPDATE logs SET status=500 WHERE id=2; UPDATE logs SET status=200 WHERE id=2",
         "[{\"attribute\":\"status\",\"old\":404,\"new\":200}]", "two changes are one"},
        {"UPDATE logs SET status=NULL WHERE status=200", "[{\"attribute\":\"status\",\"old\":200,\"new\":null}]",
         "a bulk update, to NULL"},
        {"INSERT INTO vault_changes(tbl,op,row_key,old_row,new_row)"
         "VALUES('logs','U','2','{\"status\":\"\"}','{\"status\":\"I7\"}')",
         "nothing", "a change by hand: of a cell that is none nothing is known"},
        {"DELETE FROM logs", "[{\"attribute\":\"status\",\"old\":null,\"new\":null}]", "the row is gone"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    scene_begin(&s, "watch_attribute.db", "logs", "");
    run_steps(&s, "get_attribute_changes", "{\"table\":\"logs\",\"key\":\"2\",\"attribute\":\"status\"}", "DB-logs-2",
              steps);
    check(ask(&s.feed, NULL, "get_attribute_changes", "{\"table\":\"logs\",\"key\":\"2\",\"attribute\":\"no\"}"),
          "EINVAL: argument \"attribute\": table \"logs\" has no column \"no\"", "no", "unknown");
    scene_end(&s);
}

/* Every kind of value looks the same in a row and in the image of one. */
static void test_images(void)
{
    static const char *const columns[] = {"i", "r", "t", "b", "d", "n", "tiny"};
    scene_t s;

    scene_begin(&s, "watch_images.db", "kinds", "");
    for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
        for (int key = 1; key <= 3; key++) {
            const char *args =
                apr_psprintf(suite_pool, "{\"table\":\"kinds\",\"key\":\"%d\",\"attribute\":\"%s\"}", key, columns[i]);
            host_page_t page = {0};
            const char *before = strstr(ask(&s.feed, &page, "get_attribute_changes", args), "\"new\":") + 6;

            stranger_does(s.other,
                          apr_psprintf(suite_pool, "UPDATE kinds SET %s='changed' WHERE id=%d", columns[i], key));
            host_notify(apr_psprintf(suite_pool, "DB-kinds-%d", key));
            before = apr_pstrmemdup(suite_pool, before, strlen(before) - 2);
            check(ask(&s.feed, &page, "get_attribute_changes", args),
                  apr_psprintf(suite_pool, "\"old\":%s,\"new\":\"changed\"", before), columns[i], before);
        }
    }
    scene_end(&s);
}

/* More new rows than one answer may have come in parts, each once. */
static void test_parts(void)
{
    const char *args = "{\"table\":\"logs\"}";
    host_page_t page = {0};
    scene_t s;
    int seen = 0;

    scene_begin(&s, "watch_parts.db", "logs", "rows=7");
    ask(&s.feed, &page, "get_new_instances", args);
    stranger_does(s.other, "WITH RECURSIVE n(i) AS (VALUES(1) UNION ALL SELECT i+1 FROM n WHERE i<40)"
                           " INSERT INTO logs(line) SELECT 'n'||i FROM n");
    host_notify("DB-logs");
    for (;;) {
        const char *answer = ask(&s.feed, &page, "get_new_instances", args);

        if (strcmp(answer, "nothing") == 0) {
            break;
        }
        for (const char *at = answer; (at = strstr(at, "\"line\":\"n")) != NULL; at++) {
            CU_ASSERT_EQUAL(atoi(at + 9), ++seen);
        }
    }
    CU_ASSERT_EQUAL(seen, 40);
    scene_end(&s);
}

static void test_resets(void)
{
    const char *args = "{\"table\":\"logs\",\"limit\":1}";
    const char *first = "[{\"id\":3,\"line\":\"three\",\"status\":200,\"took\":2.0}]";
    host_page_t page = {0};
    host_page_t modified = {0};
    scene_t s;

    scene_begin(&s, "watch_reset.db", "", "rows=3");
    check(ask(&s.feed, &page, "get_new_instances", args), first, "unwatched", "AUTOINCREMENT");
    with_statements(&s.feed, "logs", log_dialect_watch);
    host_notify("DB-logs");
    check(ask(&s.feed, &page, "get_new_instances", args), first, "watched",
          "a position in the unwatched table is none");
    CU_ASSERT_EQUAL(page.resets, 1);
    host_notify("DB-logs");
    check(ask(&s.feed, &page, "get_new_instances", args), "nothing", "watched", "and then it is one");
    with_statements(&s.feed, "logs", log_dialect_unwatch);
    with_statements(&s.feed, "logs", log_dialect_watch);
    host_notify("DB-logs");
    check(ask(&s.feed, &page, "get_new_instances", args), first, "watched again", "changes in between are not known");
    stranger_does(s.other, "UPDATE vault_watched SET pruned=999");
    host_notify("DB-logs");
    check(ask(&s.feed, &page, "get_new_instances", args), first, "pruned", "what is pruned cannot be told");
    stranger_does(s.other, "UPDATE vault_watched SET pruned=''");
    ask(&s.feed, &modified, "get_modified_instance", "{\"table\":\"logs\",\"key\":\"1\"}");
    stranger_does(s.other, "UPDATE logs SET status=1 WHERE id=1;UPDATE logs SET status=2 WHERE id=1;"
                           "UPDATE logs SET status=3 WHERE id=1;UPDATE logs SET status=4 WHERE id=1");
    host_notify("DB-logs-1");
    check(ask(&s.feed, &modified, "get_modified_instance", "{\"table\":\"logs\",\"key\":\"1\"}"),
          "[{\"id\":1,\"line\":\"one\",\"status\":4,\"took\":0.5}]", "more changes than rows", "shown whole");
    CU_ASSERT_EQUAL(modified.resets, 1);
    scene_end(&s);
}

/* What happened while a user was away comes at the next visit; the position moves when the browser has the
 * answer, and never back. */
static void test_persistent(void)
{
    const char *args = "{\"table\":\"logs\",\"limit\":1,\"persistent\":\"yes\"}";
    const char *four = "[{\"id\":4,\"line\":\"four\",\"status\":null,\"took\":null}]";
    host_page_t pages[5];
    scene_t s;

    memset(pages, 0, sizeof(pages));
    scene_begin(&s, "watch_persistent.db", "logs", "");
    check(ask(&s.feed, &pages[0], "get_new_instances", args),
          "EINVAL: argument \"persistent\": it needs a user who has logged in", "nobody", "whose position?");
    host_user_name = "ann";
    check(ask(&s.feed, &pages[0], "get_new_instances", args), "\"line\":\"three\"", "first visit", "a first view");
    vault_feed.acked(s.feed.self, pages[0].ack);
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('four')");
    check(ask(&s.feed, &pages[1], "get_new_instances", args), four, "second visit", "what happened meanwhile");
    check(ask(&s.feed, &pages[2], "get_new_instances", args), four, "third visit", "the second was never acknowledged");
    vault_feed.acked(s.feed.self, pages[2].ack);
    vault_feed.acked(s.feed.self, pages[0].ack);
    check(ask(&s.feed, &pages[3], "get_new_instances", args), "nothing", "fourth visit",
          "an old acknowledgement moves nothing back");
    host_user_name = "bob";
    check(ask(&s.feed, &pages[4], "get_new_instances", args), four, "another user", "a first view: the newest row");
    host_user_name = NULL;
    check(ask(&s.feed, NULL, "get_new_instances", "{\"table\":\"logs\",\"persistent\":\"perhaps\"}"),
          "EINVAL: argument \"persistent\" takes yes or no", "perhaps", "a slip");
    stranger_does(s.other, "CREATE TABLE unwatched(id INTEGER PRIMARY KEY AUTOINCREMENT)");
    host_user_name = "ann";
    check(ask(&s.feed, NULL, "get_new_instances", "{\"table\":\"unwatched\",\"persistent\":\"yes\"}"),
          "EINVAL: table \"unwatched\" is not watched", "unwatched", "a position that could not be kept");
    host_user_name = NULL;
    scene_end(&s);
}

/* Columns that the triggers do not know are said, not passed over. */
static void test_altered(void)
{
    const char *args = "{\"table\":\"logs\",\"key\":\"1\"}";
    host_page_t page = {0};
    scene_t s;

    scene_begin(&s, "watch_altered.db", "logs", "");
    ask(&s.feed, &page, "get_modified_instance", args);
    stranger_does(s.other, "ALTER TABLE logs ADD COLUMN more TEXT");
    host_notify("DB-logs-1");
    check(ask(&s.feed, &page, "get_modified_instance", args),
          "EGENERAL: table \"logs\" has other columns than when it was watched: vaultctl watch logs", "ALTER",
          "a clear error");
    with_statements(&s.feed, "logs", log_dialect_watch);
    check(ask(&s.feed, &page, "get_modified_instance", args), "\"more\":null", "watched again", "everything anew");
    stranger_does(s.other, "UPDATE logs SET more='x' WHERE id=1");
    host_notify("DB-logs-1");
    check(ask(&s.feed, &page, "get_modified_instance", args), "\"more\":\"x\"", "watched again", "and live");
    scene_end(&s);
}

/* What is beyond age or number goes, and pages that would need it are shown everything anew; others are not. */
static void test_prune(void)
{
    const char *args = "{\"table\":\"logs\",\"limit\":1}";
    host_page_t old = {0}, new = {0}, other = {0}, seen = {0};
    sql_call_t c;
    scene_t s;

    scene_begin(&s, "watch_prune.db", "logs plain", "");
    ask(&s.feed, &old, "get_new_instances", args);
    ask(&s.feed, &other, "get_new_instances", "{\"table\":\"plain\"}");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('a'),('b'),('c')");
    host_notify("DB-logs");
    ask(&s.feed, &new, "get_new_instances", args);
    stranger_does(s.other, "UPDATE vault_changes SET at=at-1000");
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('d')");
    CU_ASSERT_EQUAL_FATAL(sql_background_begin(&c, s.feed.self), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_conn_take(&c), APR_SUCCESS);
    CU_ASSERT_EQUAL(log_dialect_sqlite3.prune(&c, apr_time_sec(apr_time_now()) - 500, 1000, "1000000"), APR_SUCCESS);
    host_notify("DB-logs");
    host_notify("DB-plain");
    check(ask(&s.feed, &new, "get_new_instances", args), "[{\"id\":7,\"line\":\"d\",\"status\":null,\"took\":null}]",
          "age", "what it needs is there");
    CU_ASSERT_EQUAL(new.resets, 0);
    ask(&s.feed, &old, "get_new_instances", args);
    CU_ASSERT_EQUAL(old.resets, 1);
    check(ask(&s.feed, &other, "get_new_instances", "{\"table\":\"plain\"}"), "nothing", "age",
          "nothing of this table went");
    CU_ASSERT_EQUAL(other.resets, 0);
    seen = new;
    stranger_does(s.other, "INSERT INTO logs(line) VALUES('e'),('f'),('g')");
    CU_ASSERT_EQUAL(log_dialect_sqlite3.prune(&c, 0, 2, "3"), APR_SUCCESS);
    host_notify("DB-logs");
    ask(&s.feed, &seen, "get_new_instances", args);
    CU_ASSERT_EQUAL(seen.resets, 0); /* what the tailer has not announced stays */
    CU_ASSERT_EQUAL(log_dialect_sqlite3.prune(&c, 0, 2, "1000000"), APR_SUCCESS);
    sql_background_end(&c);
    host_notify("DB-logs");
    ask(&s.feed, &new, "get_new_instances", args);
    CU_ASSERT_EQUAL(new.resets, 1);
    scene_end(&s);
}

/* ------------------------------------------------------------ writes */

static void test_writes(void)
{
    static const struct {
        const char *method, *args, *expected, *notified, *silent, *why;
    } rows[] = {
        {"update", "{\"table\":\"logs\",\"key\":\"2\",\"values\":{\"line\":\"zwei\"}}", "[{\"updated\":1}]",
         "DB-logs DB-logs-2 DB-logs.line", "DB-logs-1 DB-logs.status", "one row, by its key"},
        {"update", "{\"table\":\"logs\",\"where\":{\"status\":200},\"values\":{\"took\":9}}", "[{\"updated\":2}]",
         "DB-logs DB-logs-1 DB-logs-3 DB-logs.took", "DB-logs-2", "several, row by row"},
        {"update", "{\"table\":\"logs\",\"where\":{\"status\":200},\"values\":{\"took\":9}}", "[{\"updated\":2}]", "",
         "DB-logs DB-logs-1", "nothing became different"},
        {"update", "{\"table\":\"logs\",\"where\":{\"status\":7},\"values\":{\"took\":9}}", "[{\"updated\":0}]", "",
         "DB-logs", "no row is meant"},
        {"update", "{\"table\":\"plain\",\"key\":\"1\",\"values\":{\"id\":\"8\"}}", "[{\"updated\":1}]",
         "DB-plain DB-plain-1 DB-plain-8", "", "another key: both rows"},
        {"delete", "{\"table\":\"logs\",\"where\":{\"status\":200}}", "[{\"deleted\":2}]",
         "DB-logs DB-logs-1 DB-logs-3", "DB-logs-2", "row by row"},
        {"delete", "{\"table\":\"logs\",\"key\":\"77\"}", "[{\"deleted\":0}]", "", "DB-logs", "none"},
        {"save", "{\"table\":\"logs\",\"values\":{\"line\":\"n\"}}", "[{\"id\":4}]", "DB-logs DB-logs-4 DB-logs.line",
         "", "a new row"},
        {"delete", "{\"table\":\"logs\"}", "EINVAL: either \"key\" or \"where.COLUMN\" says which rows are meant", "",
         "DB-logs", "never all by mistake"},
        {"delete", "{\"table\":\"logs\",\"key\":\"1\",\"where\":{\"id\":1}}", "EINVAL: either", "", "DB-logs",
         "not both"},
        {"update", "{\"table\":\"logs\",\"key\":\"2\"}", "EINVAL: argument \"values.COLUMN\" is missing", "", "DB-logs",
         "what?"},
        {"update", "{\"table\":\"logs\",\"key\":\"2\",\"values\":{\"line\":null}}", "EINVAL: the database refuses", "",
         "DB-logs", "NOT NULL"},
        {"update", "{\"table\":\"seen\",\"key\":\"2\",\"values\":{\"line\":\"x\"}}", "EINVAL: \"seen\" is a view", "",
         "", "a view"},
        {"delete", "{\"table\":\"trap2\",\"where\":{\"a\":1}}", "EINVAL: table \"trap2\" has no primary key", "", "",
         "rows that cannot be told apart"},
        {"save", "{\"table\":\"pair\",\"values\":{\"a\":1,\"b\":2}}", "[{\"id\":\"1,2\"}]",
         "DB-pair DB-pair-1,2 DB-pair.a DB-pair.b", "DB-pair-1", "a key of two columns"},
        {"update", "{\"table\":\"pair\",\"key\":\"1,2\",\"values\":{\"b\":3}}", "[{\"updated\":1}]",
         "DB-pair DB-pair-1,2 DB-pair-1,3", "", "another key: both rows"},
        {"update", "{\"table\":\"pair\",\"key\":\"1,2\",\"values\":{\"b\":4}}", "[{\"updated\":0}]", "",
         "DB-pair DB-pair-1,3", "no row is meant"},
        {"delete", "{\"table\":\"pair\",\"key\":\"1\"}",
         "EINVAL: argument \"key\": \"1\" is not 2 values (a,b) separated by commas", "", "DB-pair", "half a key"},
        {"delete", "{\"table\":\"pair\",\"key\":\"1,3\"}", "[{\"deleted\":1}]", "DB-pair DB-pair-1,3", "DB-pair-1,2",
         "by its key"},
    };
    feed_t feed;

    feed_fresh(&feed, "writes.db", "");
    check(ask(&feed, NULL, "save", "{\"table\":\"plain\",\"values\":{\"id\":1,\"v\":\"x\"}}"), "[{\"id\":1}]", "save",
          "a row to begin with");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *names = apr_pstrcat(suite_pool, rows[i].notified, " ", rows[i].silent, NULL);
        int before[8], n = 0;
        char *rest;

        for (char *name = apr_strtok(names, " ", &rest); name != NULL; name = apr_strtok(NULL, " ", &rest)) {
            before[n++] = host_notified(name);
        }
        check(ask(&feed, NULL, rows[i].method, rows[i].args), rows[i].expected, rows[i].args, rows[i].why);
        names = apr_pstrcat(suite_pool, rows[i].notified, " ", rows[i].silent, NULL);
        n = 0;
        for (char *name = apr_strtok(names, " ", &rest); name != NULL; name = apr_strtok(NULL, " ", &rest)) {
            int wanted = (size_t)(name - names) < strlen(rows[i].notified);

            check(host_notified(name) - before[n++] == wanted ? "right" : "wrong", "right", name, rows[i].why);
        }
    }
    feed_close(&feed);
}

/* ------------------------------------------------------------ folding, names */

static void test_fold(void)
{
    static const struct {
        const char *changes, *value, *expected, *why;
    } rows[] = {
        {"I1: a1", NULL, "1:-a1", "inserted"},
        {"D1:a1 ", NULL, "1:a1-", "deleted"},
        {"U1:a1 b1", NULL, "1:a1-b1", "changed"},
        {"I1: a1,D1:a1 ", NULL, "", "came and went"},
        {"U1:a1 b1,U1:b1 a1", NULL, "", "there and back"},
        {"D1:a1 ,I1: a1", NULL, "", "went and came back as it was"},
        {"I1: a1,U1:a1 b1,I2: c1", NULL, "1:-b1 2:-c1", "inserted, then changed"},
        {"U1:a1 b1,D1:b1 ", NULL, "1:a1-", "changed, then deleted"},
        {"U1:a1 a2", "1", "1:a1-", "moved out"},
        {"U1:a2 a1", "1", "1:-a1", "moved in"},
        {"U1:a2 a3", "1", "", "moved elsewhere"},
        {"U1:a1 a2,U1:a2 a1", "1", "", "moved out and back"},
        {"U1:a1 a2,U1:a2 b1", "1", "1:a1-b1", "moved out and back, and changed"},
        {"U1:a2 a1,D1:a1 ", "1", "", "moved in, then deleted"},
    };
    apr_array_header_t *columns = apr_array_make(suite_pool, 1, sizeof(const char *));
    database_key_t members = {.columns = columns};

    APR_ARRAY_PUSH(columns, const char *) = "f";
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *changes = json_array();
        char *words = apr_pstrdup(suite_pool, rows[i].changes);
        const char *answer = "";
        const apr_array_header_t *folded;
        char *rest;

        /* "U1:a1 b2": row 1, whose columns v and f were a, 1 and are b, 2 */
        for (char *word = apr_strtok(words, ",", &rest); word != NULL; word = apr_strtok(NULL, ",", &rest)) {
            const char *space = strchr(word, ' ');
            json_t *old = space - word == 5
                              ? json_pack("{s:s%,s:s%}", "v", word + 3, (size_t)1, "f", word + 4, (size_t)1)
                              : json_null();
            json_t *new = strlen(space) == 3
                              ? json_pack("{s:s%,s:s%}", "v", space + 1, (size_t)1, "f", space + 2, (size_t)1)
                              : json_null();

            json_array_append_new(changes, json_pack("{s:s%,s:s%,s:o,s:o}", "op", word, (size_t)1, "key", word + 1,
                                                     (size_t)1, "old", old, "new", new));
        }
        members.text = rows[i].value;
        folded = database_fold_members(changes, rows[i].value != NULL ? &members : NULL, suite_pool);
        for (int k = 0; k < folded->nelts; k++) {
            const database_fold_t *row = &APR_ARRAY_IDX(folded, k, database_fold_t);
#define PART(of, name) (of != NULL ? json_string_value(json_object_get(of, name)) : "")
            answer = apr_pstrcat(suite_pool, answer, k > 0 ? " " : "", row->key, ":", PART(row->old, "v"),
                                 PART(row->old, "f"), "-", PART(row->new, "v"), PART(row->new, "f"), NULL);
        }
        if (strcmp(answer, rows[i].expected) != 0) {
            fprintf(stderr, "\n  %s (%s): %s, not %s\n", rows[i].changes, rows[i].why, answer, rows[i].expected);
        }
        CU_ASSERT_STRING_EQUAL(answer, rows[i].expected);
        json_decref(changes);
    }
}

static void test_interest_names(void)
{
    apr_array_header_t *columns = apr_array_make(suite_pool, 2, sizeof(const char *));
    char *longest = apr_pcalloc(suite_pool, 301);
    const char *name;

    memset(longest, 'x', 300);
    CU_ASSERT_STRING_EQUAL(database_interest_row("logs", "7", suite_pool), "DB-logs-7");
    APR_ARRAY_PUSH(columns, const char *) = "wall";
    CU_ASSERT_STRING_EQUAL(database_interest_members("posts", columns, "7", suite_pool), "DB-posts.wall=7");
    APR_ARRAY_PUSH(columns, const char *) = "side";
    CU_ASSERT_STRING_EQUAL(database_interest_members("posts", columns, "7,a\\,b", suite_pool),
                           "DB-posts.wall,side=7,a\\,b");
    name = database_interest_row("logs", longest, suite_pool);
    CU_ASSERT_TRUE(strlen(name) <= VAULT_INTEREST_MAX && strncmp(name, "DB-logs-#", 9) == 0);
    CU_ASSERT_STRING_EQUAL(name, database_interest_row("logs", longest, suite_pool));
    longest[299] = 'y';
    CU_ASSERT_STRING_NOT_EQUAL(name, database_interest_row("logs", longest, suite_pool));
    CU_ASSERT_PTR_NULL(database_interest_table(longest, suite_pool));
    CU_ASSERT_PTR_NULL(database_interest_row(longest, "1", suite_pool));
}

/* ------------------------------------------------------------ the suite */

void vault_database_watch_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_watch", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "changes of rows are folded", test_fold);
    CU_add_test(suite, "names of interests", test_interest_names);
    CU_add_test(suite, "new rows, written by any program", test_new_instances);
    CU_add_test(suite, "rows without a key", test_no_key);
    CU_add_test(suite, "writes to rows without a key", test_writes_without_a_key);
    CU_add_test(suite, "a watched table that has no key any more", test_key_is_gone);
    CU_add_test(suite, "an argument that a watched table has no use for", test_cursor_argument);
    CU_add_test(suite, "a row that changes", test_modified_instance);
    CU_add_test(suite, "an attribute that changes", test_attribute_changes);
    CU_add_test(suite, "images of every kind of value", test_images);
    CU_add_test(suite, "more than one answer holds", test_parts);
    CU_add_test(suite, "what cannot be told is shown anew", test_resets);
    CU_add_test(suite, "a position that outlives pages", test_persistent);
    CU_add_test(suite, "a table that is altered", test_altered);
    CU_add_test(suite, "changes are pruned by age and number", test_prune);
    CU_add_test(suite, "writes announce each row", test_writes);
}
