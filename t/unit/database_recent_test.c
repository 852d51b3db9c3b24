/* SPDX-License-Identifier: Apache-2.0 */
/* What the feed has written lately is shown without the database, and nothing else is. */
#include <CUnit/CUnit.h>

#include "apr_time.h"

#include "board.h"
#include "database_scene.h"
#include "footprint.h"
#include "recent.h"
#include "unit.h"

void vault_database_recent_suite(void);

static const char tables[] = "CREATE TABLE posts(id INTEGER PRIMARY KEY,wall%s,\"bo\"\"dy\" TEXT);"
                             "CREATE TABLE flag(id INTEGER PRIMARY KEY,n INTEGER);"
                             "INSERT INTO flag VALUES(1,0);";

static const char model[] =
    "{\"entities\":{\"Profile\":{\"table\":\"profiles\",\"properties\":{\"x\":\"x\"},\"collections\":{\"posts\":"
    "{\"entity\":\"Post\",\"column\":\"wall\"}}},"
    "\"Post\":{\"table\":\"posts\",\"properties\":{\"text\":\"bo\\\"dy\"}}}}";

/* The watcher has looked at both tables, and comes again after `look` milliseconds. `type`: of the foreign key. */
static void recent_begin(scene_t *s, const char *name, const char *type, int look)
{
    const char *given =
        apr_psprintf(suite_pool, "rows=5000 database=%s model=%s", path_of(name), write_file("model.json", model));
    dbi_inst instance;
    dbi_conn other = stranger(&instance, name);

    stranger_does(other, apr_psprintf(suite_pool, tables, type));
    stranger_leaves(instance, other);
    feed_open(&s->feed, given);
    CU_ASSERT_PTR_NULL_FATAL(s->feed.wrong);
    with_statements(&s->feed, "posts", database_dialect_watch);
    with_statements(&s->feed, "flag", database_dialect_watch);
    feed_close(&s->feed);
    feed_open(&s->feed, apr_psprintf(suite_pool, "%s look=%d", given, look));
    CU_ASSERT_PTR_NULL_FATAL(s->feed.wrong);
    while (database_board_floor(s->feed.self) < 0) {
        apr_sleep(1000);
    }
    s->other = stranger(&s->instance, name);
}

static const char *look_at(scene_t *s, host_page_t *page, const char *wall)
{
    const char *args =
        apr_psprintf(suite_pool, "{\"entity\":\"Profile\",\"id\":\"%s\",\"collection\":\"posts\"}", wall);

    return ask(&s->feed, page, "get_collection_changes", args);
}

static const char *wake(scene_t *s, host_page_t *page, const char *wall)
{
    host_notify(apr_pstrcat(suite_pool, "DB-posts.wall=", wall, NULL));
    return look_at(s, page, wall);
}

/* As if all that was committed so far had been the feed's. */
static void pretend(scene_t *s)
{
    database_board_know(s->feed.self, database_footprint(s->feed.self, NULL));
}

/* Who asks the database sees nothing new. */
static void take_changes_away(scene_t *s)
{
    stranger_does(s->other, "DELETE FROM vault_changes");
    pretend(s);
}

/* ------------------------------------------------------------ looks */

#define ADDED(rows) "{\"added\":[" rows "],\"removed\":[],\"changed\":[]}"
#define REMOVED(rows) "{\"added\":[],\"removed\":[" rows "],\"changed\":[]}"
#define CHANGED(rows) "{\"added\":[],\"removed\":[],\"changed\":[" rows "]}"

static void test_without_the_database(void)
{
    static const struct {
        const char *method, *args, *of_1, *of_2, *why;
    } rows[] = {
        {"save", "{\"table\":\"posts\",\"values\":{\"id\":1,\"wall\":\"1\",\"bo\\\"dy\":\"a\"}}",
         ADDED("{\"id\":1,\"text\":\"a\"}"), "nothing", "a text in the column"},
        {"save", "{\"table\":\"posts\",\"values\":{\"id\":2,\"wall\":2,\"bo\\\"dy\":\"\\\"é\\\\\\n'\"}}", "nothing",
         ADDED("{\"id\":2,\"text\":\"\\\"é\\\\\\n'\"}"), "a number there, and all that JSON escapes"},
        {"update", "{\"table\":\"posts\",\"key\":\"2\",\"values\":{\"wall\":1}}",
         ADDED("{\"id\":2,\"text\":\"\\\"é\\\\\\n'\"}"), REMOVED("{\"id\":2,\"text\":\"\\\"é\\\\\\n'\"}"),
         "moved: both see it"},
        {"update", "{\"table\":\"posts\",\"where\":{\"wall\":1},\"values\":{\"bo\\\"dy\":\"x\"}}",
         CHANGED("{\"id\":2,\"text\":\"x\"}"), "nothing", "changed; a 1 that is a text is no 1 for SQLite"},
        {"update", "{\"table\":\"posts\",\"key\":\"2\",\"values\":{\"wall\":\"1\"}}", "nothing", "nothing",
         "no property, and no other wall"},
        {"save", "{\"table\":\"flag\",\"values\":{\"n\":1}}", "nothing", "nothing", "of another table"},
        {"update", "{\"table\":\"posts\",\"key\":\"1\",\"values\":{\"id\":7}}",
         "{\"added\":[{\"id\":7,\"text\":\"a\"}],\"removed\":[{\"id\":1,\"text\":\"a\"}],\"changed\":[]}", "nothing",
         "another key"},
        {"delete", "{\"table\":\"posts\",\"key\":\"7\"}", REMOVED("{\"id\":7,\"text\":\"a\"}"), "nothing", "gone"},
    };
    host_page_t one = {0}, two = {0}, odd = {0};
    scene_t s;

    recent_begin(&s, "without.db", "", 60000);
    (void)look_at(&s, &one, "1");
    (void)look_at(&s, &two, "2");
    (void)look_at(&s, &odd, "0.5");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)ask(&s.feed, NULL, rows[i].method, rows[i].args);
        take_changes_away(&s);
        check(wake(&s, &one, "1"), rows[i].of_1, rows[i].args, rows[i].why);
        check(wake(&s, &two, "2"), rows[i].of_2, rows[i].args, rows[i].why);
    }
    /* One that was not woken meanwhile. */
    check(wake(&s, &odd, "0.5"), "nothing", "0.5", "what no image can be searched for");
    CU_ASSERT_EQUAL(one.resets + two.resets + odd.resets, 0);
    CU_ASSERT_STRING_EQUAL(one.cursor, two.cursor);
    CU_ASSERT_STRING_EQUAL(one.cursor + 1, odd.cursor + 1); /* but that one has still no element */
    scene_end(&s);
}

static void save(scene_t *s, int id, const char *body)
{
    (void)ask(&s->feed, NULL, "save",
              apr_psprintf(suite_pool, "{\"table\":\"posts\",\"values\":{\"id\":%d,\"wall\":1,\"bo\\\"dy\":\"%s\"}}",
                           id, body));
}

/* How many elements were added. */
static int count_added(const char *answer)
{
    json_t *json = json_loads(answer, 0, NULL);
    int count = (int)json_array_size(json_object_get(json, "added"));

    json_decref(json);
    return count;
}

static void test_by_the_database(void)
{
    const char *large = apr_psprintf(suite_pool, "%0*d", 8 * DATABASE_COPY_WORDS, 0);
    host_page_t page = {0};
    database_recent_t *recent;
    scene_t s;

    recent_begin(&s, "by.db", " INTEGER", 60000);
    recent = database_board_recent(s.feed.self);
    (void)look_at(&s, &page, "1");
    save(&s, 1, "a");
    stranger_does(s.other, "INSERT INTO posts VALUES(2,1,'b')");
    CU_ASSERT_EQUAL(count_added(wake(&s, &page, "1")), 2); /* also what somebody else writes, at once */

    save(&s, 3, large);
    save(&s, 4, "d");
    CU_ASSERT_EQUAL(count_added(wake(&s, &page, "1")), 2); /* larger than what is kept */

    save(&s, 5, "e");
    recent->changes[recent->end % DATABASE_RECENT][5] ^= 1;
    CU_ASSERT_EQUAL(count_added(wake(&s, &page, "1")), 1); /* half written */

    for (int i = 0; i <= DATABASE_RECENT; i++) {
        (void)ask(&s.feed, NULL, "update",
                  apr_psprintf(suite_pool, "{\"table\":\"posts\",\"key\":\"1\",\"values\":{\"bo\\\"dy\":\"%d\"}}", i));
    }
    check(wake(&s, &page, "1"), apr_psprintf(suite_pool, CHANGED("{\"id\":1,\"text\":\"%d\"}"), DATABASE_RECENT),
          "update", "more than are kept");

    apr_cpystrn(strchr(page.cursor, ':') + 1, "5000", 5); /* as after the database was restored */
    (void)wake(&s, &page, "1");
    CU_ASSERT_EQUAL(page.resets, 1);

    save(&s, 6, "g");
    stranger_does(s.other, "ALTER TABLE posts ADD COLUMN more");
    save(&s, 7, "h");
    check(wake(&s, &page, "1"), "has other columns than when it was watched", "ALTER TABLE", "as ever");
    CU_ASSERT_EQUAL(page.resets, 1);
    scene_end(&s);
}

/* ------------------------------------------------------------ lives */

static void test_lives(void)
{
    const sql_table_t posts = {.name = "posts"};
    database_packed_t packed;
    database_recent_t *recent;
    json_t *change = json_pack("{s:i,s:s,s:s,s:s,s:n,s:s}", "id", 3, "epoch", "e", "op", "I", "key", "1", "old", "new",
                               "{\"id\":\"I1\"}");
    feed_t feed;

    feed_open(&feed, apr_pstrcat(suite_pool, "database=", path_of("lives.db"), NULL));
    CU_ASSERT_PTR_NULL_FATAL(feed.wrong);
    recent = database_board_recent(feed.self);
    database_copy_pack(&packed, &posts, change);
    CU_ASSERT(packed.count > 0);
    CU_ASSERT_FALSE(database_recent_leave(feed.self, 7, &packed, 1, 3)); /* none has begun */
    CU_ASSERT_TRUE(database_recent_leave(feed.self, 0, NULL, 0, 9));     /* a database that has none */
    CU_ASSERT_EQUAL(recent->end, 0);
    database_recent_begin(feed.self, 7, 2);
    CU_ASSERT_EQUAL(recent->end, 2);
    CU_ASSERT_TRUE(database_recent_leave(feed.self, 7, &packed, 1, 3));
    CU_ASSERT_EQUAL(recent->end, 3);
    CU_ASSERT_NOT_EQUAL(recent->changes[3][0], 0);
    CU_ASSERT_TRUE(database_recent_leave(feed.self, 7, NULL, 0, 2)); /* who comes late */
    database_recent_begin(feed.self, 7, 1);
    CU_ASSERT_EQUAL(recent->end, 3);
    database_recent_begin(feed.self, 8, 1); /* tables were made anew */
    CU_ASSERT_EQUAL(recent->end, 1);
    CU_ASSERT_FALSE(database_recent_leave(feed.self, 7, &packed, 1, 3));
    CU_ASSERT_EQUAL(recent->end, 1);

    json_object_set_new(change, "key", json_stringn("a\0b", 3));
    database_copy_pack(&packed, &posts, change);
    CU_ASSERT_EQUAL(packed.count, 0);
    json_decref(change);
    feed_close(&feed);
}

/* A writer that does not find the board's life: the watcher announces what it wrote, and begins the life that there is. */
static void test_the_watcher_begins_lives(void)
{
    host_page_t page = {0};
    scene_t s;
    int before;

    recent_begin(&s, "begins.db", " INTEGER", 10);
    (void)look_at(&s, &page, "1");
    for (int i = 1; i <= 10; i++) {
        apr_uint64_t life = database_board_recent(s.feed.self)->life;
        const char *index = apr_psprintf(suite_pool, "CREATE INDEX posts_%d ON posts(wall)", i);

        before = host_notified("DB-posts.wall=1");
        stranger_does(s.other, index);
        save(&s, i, "a");
        CU_ASSERT(host_notified("DB-posts.wall=1") > before);
        check(look_at(&s, &page, "1"), apr_psprintf(suite_pool, ADDED("{\"id\":%d,\"text\":\"a\"}"), i), index,
              "whether the watcher has seen the index or not");
        while (database_board_recent(s.feed.self)->life == life) {
            apr_sleep(1000);
        }
    }
    scene_end(&s);
}

/* ------------------------------------------------------------ all of it */

#define WALLS 3

/* What a page shows of its wall: id -> text. */
typedef struct wall_t {
    host_page_t page;
    json_t *shown;
    char name[2];
} wall_t;

static char *id_of(const json_t *element, char *id)
{
    sprintf(id, "%d", (int)json_integer_value(json_object_get(element, "id")));
    return id;
}

/* Nothing is added that is there, nothing removed or changed that is not. */
static void apply(wall_t *wall, const char *answer)
{
    static const char *const lists[] = {"removed", "added", "changed"};
    json_t *delta = json_loads(answer, 0, NULL);
    char id[16];

    for (int k = 0; k < 3; k++) {
        const json_t *list = json_object_get(delta, lists[k]);

        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *element = json_array_get(list, i);
            int is_there = json_object_get(wall->shown, id_of(element, id)) != NULL;

            CU_ASSERT_EQUAL(is_there, k != 1);
            if (k == 0) {
                json_object_del(wall->shown, id);
            }
            else {
                json_object_set(wall->shown, id, json_object_get(element, "text"));
            }
        }
    }
    json_decref(delta);
}

static void compare(scene_t *s, wall_t *wall)
{
    const char *there =
        ask(&s->feed, NULL, "get_collection_changes",
            apr_psprintf(suite_pool, "{\"entity\":\"Profile\",\"id\":\"%s\",\"collection\":\"posts\"}", wall->name));
    wall_t fresh = {.shown = json_object()};

    apply(&fresh, there);
    CU_ASSERT_TRUE(json_equal(fresh.shown, wall->shown));
    json_decref(fresh.shown);
}

static unsigned draw(unsigned *seed, unsigned below)
{
    *seed = *seed * 1103515245u + 12345u;
    return (*seed >> 16) % below;
}

/* Insert, move, change or delete one of twenty posts; by the feed or by somebody else. */
static void do_something(scene_t *s, unsigned *seed, int step)
{
    unsigned id = 1 + draw(seed, 20), wall = 1 + draw(seed, WALLS), what = draw(seed, 4);
    const char *text = apr_psprintf(suite_pool, "%d \\\"%u\\\"", step, what);

    if (draw(seed, 5) == 0) {
        const char *const does[] = {
            apr_psprintf(suite_pool, "INSERT OR IGNORE INTO posts VALUES(%u,%u,'%d')", id, wall, step),
            apr_psprintf(suite_pool, "UPDATE posts SET wall=%u WHERE id=%u", wall, id),
            apr_psprintf(suite_pool, "UPDATE posts SET \"bo\"\"dy\"='%d' WHERE id=%u", step, id),
            apr_psprintf(suite_pool, "DELETE FROM posts WHERE id=%u", id)};

        stranger_does(s->other, does[what]);
        return;
    }
    switch (what) {
    case 0:
        (void)ask(&s->feed, NULL, "save",
                  apr_psprintf(suite_pool,
                               "{\"table\":\"posts\",\"values\":{\"id\":%u,\"wall\":%u,\"bo\\\"dy\":\"%s\"}}", id, wall,
                               text));
        break;
    case 1:
        (void)ask(&s->feed, NULL, "update",
                  apr_psprintf(suite_pool, "{\"table\":\"posts\",\"key\":\"%u\",\"values\":{\"wall\":%u}}", id, wall));
        break;
    case 2:
        (void)ask(&s->feed, NULL, "update",
                  apr_psprintf(suite_pool, "{\"table\":\"posts\",\"key\":\"%u\",\"values\":{\"bo\\\"dy\":\"%s\"}}", id,
                               text));
        break;
    default:
        (void)ask(&s->feed, NULL, "delete", apr_psprintf(suite_pool, "{\"table\":\"posts\",\"key\":\"%u\"}", id));
    }
}

/* Until the watcher has announced what is there now. What is written in the very moment of a write of the feed it may pass over for two
 * seconds, so this writes again and again. */
static void watcher_catches_up(scene_t *s)
{
    for (int i = 0; i < 2; i++) {
        int before = host_notified("DB-flag");

        while (host_notified("DB-flag") == before) {
            stranger_does(s->other, "UPDATE flag SET n=n+1");
            apr_sleep(20000);
        }
    }
}

/* Pages look when they are woken, and only then. */
static void test_exactly_once(void)
{
    wall_t walls[WALLS] = {0};
    unsigned seed = 4;
    scene_t s;

    recent_begin(&s, "exactly.db", " INTEGER", 10);
    for (int i = 0; i < WALLS; i++) {
        sprintf(walls[i].name, "%d", i + 1);
        walls[i].shown = json_object();
    }
    for (int step = 1; step <= 1000; step++) {
        do_something(&s, &seed, step);
        for (int i = 0; i < WALLS; i++) {
            apply(&walls[i], look_at(&s, &walls[i].page, walls[i].name));
        }
        if (step % 100 == 0) {
            watcher_catches_up(&s);
            for (int i = 0; i < WALLS; i++) {
                apply(&walls[i], look_at(&s, &walls[i].page, walls[i].name));
                compare(&s, &walls[i]);
            }
        }
    }
    for (int i = 0; i < WALLS; i++) {
        CU_ASSERT_EQUAL(walls[i].page.resets, 0);
        json_decref(walls[i].shown);
    }
    scene_end(&s);
}

/* ------------------------------------------------------------ the suite */

void vault_database_recent_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_recent", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "what the feed wrote is shown without the database", test_without_the_database);
    CU_add_test(suite, "what is not kept is shown by the database", test_by_the_database);
    CU_add_test(suite, "lives: another file or schema", test_lives);
    CU_add_test(suite, "the watcher begins lives", test_the_watcher_begins_lives);
    CU_add_test(suite, "pages show each change exactly once", test_exactly_once);
}
