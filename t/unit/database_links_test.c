/* SPDX-License-Identifier: Apache-2.0 */
/* Collections through a table of links. On SQLite; t/feed/57 has them on all databases. */
#include <CUnit/CUnit.h>

#include "log/shared.h"
#include "database_scene.h"
#include "unit.h"

void vault_database_links_suite(void);

static const char links_model[] =
    "{\"entities\":{"
    "\"Person\":{\"table\":\"people\",\"properties\":{\"name\":\"name\"},\"collections\":{"
    "\"groups\":{\"entity\":\"Group\",\"through\":{\"table\":\"members\",\"column\":\"person\",\"element\":\"grp\"}},"
    "\"rooms\":{\"entity\":\"Room\",\"through\":{\"table\":\"visits\",\"column\":\"person\","
    "\"element\":[\"house\",\"room\"]}},"
    "\"wrong\":{\"entity\":\"Room\",\"through\":{\"table\":\"members\",\"column\":\"person\",\"element\":\"grp\"}},"
    "\"lost\":{\"entity\":\"Group\",\"through\":{\"table\":\"members\",\"column\":\"nobody\",\"element\":\"grp\"}},"
    "\"blind\":{\"entity\":\"Group\",\"through\":{\"table\":\"unseen\",\"column\":\"person\",\"element\":\"grp\"}}}},"
    "\"Group\":{\"table\":\"groups\",\"properties\":{\"title\":\"title\"},\"collections\":{"
    "\"people\":{\"entity\":\"Person\",\"through\":{\"table\":\"members\",\"column\":\"grp\",\"element\":\"person\"}}}}"
    ","
    "\"Room\":{\"table\":\"rooms\",\"properties\":{\"use\":\"use\"}}}}";

static const char links_tables[] =
    "CREATE TABLE people(id INTEGER PRIMARY KEY,name TEXT);"
    "CREATE TABLE groups(id INTEGER PRIMARY KEY,title TEXT,secret TEXT);"
    "CREATE TABLE members(person INTEGER,grp INTEGER,since TEXT,PRIMARY KEY(person,grp));"
    "CREATE TABLE rooms(house TEXT,room INTEGER,use TEXT,PRIMARY KEY(house,room));"
    "CREATE TABLE visits(id INTEGER PRIMARY KEY,person INTEGER,house TEXT,room INTEGER);"
    "CREATE TABLE unseen(id INTEGER PRIMARY KEY,person INTEGER,grp INTEGER);"
    "INSERT INTO people VALUES(1,'Ann'),(2,'Bob');"
    "INSERT INTO groups VALUES(1,'chess',''),(2,'choir',''),(3,'chairs','');"
    "INSERT INTO members VALUES(1,2,''),(1,1,''),(2,3,''),(2,9,'');"
    "INSERT INTO rooms VALUES('a,b',1,'bath'),('a,b',2,'bed');";

static void links_begin(scene_t *s, const char *name, const char *more)
{
    static const scene_model_t with = {.sql = links_tables, .model = links_model, .tables = "people groups members rooms visits"};

    scene_of_model(s, name, &with, more);
}

#define GROUPS "{\"entity\":\"Person\",\"id\":\"1\",\"collection\":\"groups\"}"
#define ADDED(list) "{\"added\":[" list "],\"removed\":[],\"changed\":[]}"
#define REMOVED(list) "{\"added\":[],\"removed\":[" list "],\"changed\":[]}"
#define CHANGED(list) "{\"added\":[],\"removed\":[],\"changed\":[" list "]}"
#define GROUP(id, title) "{\"id\":" #id ",\"title\":\"" title "\"}"

static void test_links(void)
{
    static const step_t steps[] = {
        {"", ADDED(GROUP(1, "chess") "," GROUP(2, "choir")), "first view, in the order of the elements' keys"},
        {"", "nothing", "nothing happened"},
        {"INSERT INTO members VALUES(1,3,'')", ADDED(GROUP(3, "chairs")), "a link was added"},
        {"INSERT INTO members VALUES(2,1,'')", "nothing", "another's"},
        {"UPDATE members SET since='today' WHERE person=1", "nothing", "of the links themselves nothing is shown"},
        {"DELETE FROM members WHERE person=1 AND grp=3", REMOVED(GROUP(3, "chairs")), "a link was removed"},
        {"UPDATE members SET grp=3 WHERE person=1 AND grp=2",
         "{\"added\":[" GROUP(3, "chairs") "],\"removed\":[" GROUP(2, "choir") "],\"changed\":[]}",
         "a link was moved to another element"},
        {"UPDATE members SET person=1 WHERE person=2 AND grp=9", "nothing", "to an element that is not there"},
        {"INSERT INTO groups VALUES(9,'late','')", ADDED(GROUP(9, "late")), "which comes after its link"},
        {"DELETE FROM members WHERE person=2;UPDATE members SET person=2 WHERE grp=9", REMOVED(GROUP(9, "late")),
         "a link was moved to another object"},
        {"UPDATE groups SET title='CHESS' WHERE id=1", CHANGED(GROUP(1, "CHESS")), "an element changed"},
        {"UPDATE groups SET secret='x' WHERE id=1", "nothing", "no property"},
        {"UPDATE groups SET title='x' WHERE id IN(2,9)", "nothing", "elements of others"},
        {"UPDATE groups SET title='y' WHERE id=2;INSERT INTO members VALUES(1,2,'')", ADDED(GROUP(2, "y")),
         "changed, and added: as it is"},
        {"UPDATE groups SET title='z' WHERE id=2;DELETE FROM members WHERE grp=2", REMOVED(GROUP(2, "y")),
         "changed, and removed: as it was"},
        {"DELETE FROM members WHERE grp=1;INSERT INTO members VALUES(1,1,'again')", "nothing", "removed and added"},
        {"INSERT INTO members VALUES(1,2,'');DELETE FROM members WHERE grp=2", "nothing", "added and removed"},
        {"DELETE FROM groups WHERE id=3", REMOVED(GROUP(3, "chairs")), "an element was deleted, its link stays"},
        {"DELETE FROM members WHERE grp=3", "nothing", "and goes"},
        {"UPDATE groups SET id=7 WHERE id=1;UPDATE members SET grp=7 WHERE grp=1",
         "{\"added\":[" GROUP(7, "CHESS") "],\"removed\":[" GROUP(1, "CHESS") "],\"changed\":[]}", "another key"},
        {"DELETE FROM vault_changes;UPDATE vault_watched SET pruned=999 WHERE tbl='groups'",
         "{\"added\":[" GROUP(7, "CHESS") "],\"removed\":[],\"changed\":[],\"reset\":true}",
         "changes of elements were pruned"},
        {"UPDATE vault_watched SET epoch='other' WHERE tbl='groups'",
         "{\"added\":[" GROUP(7, "CHESS") "],\"removed\":[],\"changed\":[],\"reset\":true}",
         "elements are watched anew"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    links_begin(&s, "links.db", "");
    run_steps(&s, "get_collection_changes", GROUPS, "DB-members.person=1", steps);
    check(ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Group\",\"id\":\"7\",\"collection\":\"people\"}"),
          ADDED("{\"id\":1,\"name\":\"Ann\"}"), "people", "the other way round");
    scene_end(&s);
}

/* Several links to one element, whose key has two columns. */
static void test_several(void)
{
    static const step_t steps[] = {
        {"", "{\"added\":[],\"removed\":[],\"changed\":[]}", "none"},
        {"INSERT INTO visits VALUES(1,1,'a,b',1),(2,1,'a,b',1)", ADDED("{\"id\":\"a\\\\,b,1\",\"use\":\"bath\"}"),
         "two links, one element"},
        {"DELETE FROM visits WHERE id=1", "nothing", "one of them stays"},
        {"INSERT INTO visits VALUES(3,1,'a,b',1);DELETE FROM visits WHERE id=2", "nothing", "another one came"},
        {"UPDATE rooms SET use='BATH' WHERE room=1", CHANGED("{\"id\":\"a\\\\,b,1\",\"use\":\"BATH\"}"),
         "changed once"},
        {"UPDATE visits SET room=NULL", REMOVED("{\"id\":\"a\\\\,b,1\",\"use\":\"BATH\"}"), "a link to nothing"},
        {NULL, NULL, NULL},
    };
    scene_t s;

    links_begin(&s, "several.db", "");
    run_steps(&s, "get_collection_changes", "{\"entity\":\"Person\",\"id\":\"1\",\"collection\":\"rooms\"}",
              "DB-visits.person=1", steps);
    scene_end(&s);
}

static void test_refused(void)
{
    static const char *const rows[][2] = {
        {"wrong", "EINVAL: entity \"Person\", collection \"wrong\": \"element\" names 1 columns, and the key of table "
                  "\"rooms\" has 2"},
        {"lost", "EINVAL: entity \"Person\", collection \"lost\": table \"members\" has no column \"nobody\""},
        {"blind", "EINVAL: entity \"Person\", collection \"blind\": table \"unseen\" is not watched"},
    };
    scene_t s;

    links_begin(&s, "refused.db", "");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        check(ask(&s.feed, NULL, "get_collection_changes",
                  apr_psprintf(suite_pool, "{\"entity\":\"Person\",\"id\":\"1\",\"collection\":\"%s\"}", rows[i][0])),
              rows[i][1], rows[i][0], "the model is to be mended");
    }
    check(
        ask(&s.feed, NULL, "get_collection_changes", "{\"entity\":\"Person\",\"id\":\"01\",\"collection\":\"groups\"}"),
        "EINVAL: entity \"Person\", collection \"groups\": the key \"01\" must be given as the database writes it: "
        "\"1\"",
        "01", "interests are names");
    stranger_does(s.other, "DELETE FROM vault_watched WHERE tbl='groups'");
    check(ask(&s.feed, NULL, "get_collection_changes", GROUPS),
          "EINVAL: entity \"Person\", collection \"groups\": table \"groups\" is not watched", "groups",
          "nor is that of the elements");
    scene_end(&s);
}

/* By the feed, and the tailer has told it. */
static void write_and_tell(scene_t *s, const char *method, const char *args)
{
    CU_ASSERT_EQUAL(ask(&s->feed, NULL, method, args)[0], '[');
    while (!log_shared_ask(s->feed.self)) {
        sched_yield(); /* a machine that is busy may have let it wait for longer than a writer does */
    }
}

/* A writer of the feed announces both objects of a link that it moves, and a page with a tailer asks the database only
 * for what may be its own. */
static void test_announced(void)
{
    host_page_t page = {0};
    log_figures_t before, after;
    int here, there;
    scene_t s;

    links_begin(&s, "announced.db", "poll=60000");
    while (!log_shared_ask(s.feed.self)) {
        apr_sleep(1000); /* until the tailer reads */
    }
    ask(&s.feed, &page, "get_collection_changes", GROUPS);
    here = host_notified("DB-members.person=1");
    there = host_notified("DB-members.person=2");
    write_and_tell(&s, "update", "{\"table\":\"members\",\"key\":\"2,3\",\"values\":{\"person\":1}}");
    CU_ASSERT_EQUAL(host_notified("DB-members.person=1"), here + 1);
    CU_ASSERT_EQUAL(host_notified("DB-members.person=2"), there + 1);
    check(ask(&s.feed, &page, "get_collection_changes", GROUPS), ADDED(GROUP(3, "chairs")), "moved", "by the feed");
    log_shared_figures(s.feed.self, &before);
    write_and_tell(&s, "save", "{\"table\":\"members\",\"values\":{\"person\":2,\"grp\":1}}");
    host_notify("DB-members.person=1");
    check(ask(&s.feed, &page, "get_collection_changes", GROUPS), "nothing", "another's link", "from memory");
    log_shared_figures(s.feed.self, &after);
    CU_ASSERT_EQUAL(after.from_ring, before.from_ring + 1);
    write_and_tell(&s, "update", "{\"table\":\"groups\",\"key\":\"1\",\"values\":{\"title\":\"CHESS\"}}");
    check(ask(&s.feed, &page, "get_collection_changes", GROUPS), CHANGED(GROUP(1, "CHESS")), "an element changed",
          "notified by its table");
    log_shared_figures(s.feed.self, &after);
    CU_ASSERT_EQUAL(after.by_sql[LOG_WHY_LINKS], before.by_sql[LOG_WHY_LINKS] + 1);
    scene_end(&s);
}

void vault_database_links_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_links", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "links: added, removed, moved", test_links);
    CU_add_test(suite, "several links to one element", test_several);
    CU_add_test(suite, "what a model says that is not so", test_refused);
    CU_add_test(suite, "what is announced, and read from memory", test_announced);
}
