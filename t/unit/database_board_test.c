/* SPDX-License-Identifier: Apache-2.0 */
/* What the feed writes is announced once, by whoever wrote it; what anybody else writes, by the watcher. */
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "board.h"
#include "database_scene.h"
#include "unit.h"

void vault_database_board_suite(void);

/* ------------------------------------------------------------ the board */

static const database_t *board_open(feed_t *feed, const char *given)
{
    feed_open(feed, given);
    CU_ASSERT_PTR_NULL_FATAL(feed->wrong);
    return feed->self;
}

static void test_marks(void)
{
    static database_marks_t before;
    feed_t feed, same, other;
    const database_t *board = board_open(&feed, apr_pstrcat(suite_pool, "database=", path_of("marks.db"), NULL));
    const database_t *again = board_open(&same, apr_pstrcat(suite_pool, "database=", path_of("marks.db"), NULL));
    const database_t *apart = board_open(&other, apr_pstrcat(suite_pool, "database=", path_of("other.db"), NULL));
    database_mark_t one = database_board_mark(board, "epoch", 1, suite_pool);
    database_mark_t two = database_board_mark(board, "epoch", 2, suite_pool);

    CU_ASSERT_NOT_EQUAL(one, two);
    CU_ASSERT_NOT_EQUAL(one, database_board_mark(board, "another", 1, suite_pool));
    CU_ASSERT_EQUAL(one, database_board_mark(again, "epoch", 1, suite_pool));
    CU_ASSERT_FALSE(database_board_has(board, one));
    database_board_leave(board, &one, 1);
    CU_ASSERT_TRUE(database_board_has(board, one));
    CU_ASSERT_TRUE(database_board_has(again, one)); /* as after a restart */
    CU_ASSERT_FALSE(database_board_has(apart, one));

    database_board_copy(board, &before);
    database_board_leave(board, &two, 1);
    CU_ASSERT_TRUE(database_marks_have(&before, one));
    CU_ASSERT_FALSE(database_marks_have(&before, two));
    database_board_clear(board, &before);
    CU_ASSERT_FALSE(database_board_has(board, one));
    CU_ASSERT_TRUE(database_board_has(board, two)); /* it came after the copy */

    for (int i = 0; i < DATABASE_MARKS; i++) {
        database_mark_t mark = database_board_mark(board, "epoch", 1000 + i, suite_pool);

        database_board_leave(board, &mark, 1);
    }
    CU_ASSERT_FALSE(database_board_has(board, two)); /* the oldest go first */
    feed_close(&other);
    feed_close(&same);
    feed_close(&feed);
}

/* A child of an older generation may know another model, and so announce other interests: what it has seen the newer one sees as well. */
static void test_a_board_is_of_a_model(void)
{
    static const char with[] =
        "{\"entities\":{\"A\":{\"table\":\"a\",\"properties\":{\"x\":\"x\"},\"collections\":{\"b\":{\"entity\":"
        "\"A\",\"column\":\"c\"}}}}}";
    static const char without[] = "{\"entities\":{\"A\":{\"table\":\"a\",\"properties\":{\"x\":\"x\"}}}}";
    feed_t feed;
    const char *given =
        apr_psprintf(suite_pool, "database=%s model=%s", path_of("model.db"), write_file("m.json", with));
    const database_t *board = board_open(&feed, given);
    database_mark_t mark = database_board_mark(board, "epoch", 1, suite_pool);
    char place[DATABASE_PLACE_BYTES];

    database_board_keep_place(board, "7");
    feed_close(&feed);
    board = board_open(&feed, given);
    database_board_read_place(board, place);
    CU_ASSERT_STRING_EQUAL(place, "7");
    feed_close(&feed);
    (void)write_file("m.json", without);
    board = board_open(&feed, given);
    CU_ASSERT_NOT_EQUAL(mark, database_board_mark(board, "epoch", 1, suite_pool));
    database_board_read_place(board, place);
    CU_ASSERT_STRING_EQUAL(place, "");
    feed_close(&feed);
}

/* SQLite's lies beside the file that it leads to. */
static void test_a_link_has_no_journal(void)
{
    feed_t feed;
    const char *given = apr_pstrcat(suite_pool, "database=", path_of("link.db"), NULL);

    CU_ASSERT_PTR_NOT_NULL(board_open(&feed, given)->journal);
    feed_close(&feed);
    CU_ASSERT_EQUAL(symlink("file.db", path_of("link.db")), 0);
    CU_ASSERT_PTR_NULL(board_open(&feed, given)->journal);
    feed_close(&feed);
}

/* ------------------------------------------------------------ who announces */

static const char tables[] = "CREATE TABLE posts(id INTEGER PRIMARY KEY,wall INTEGER,body TEXT);"
                             "CREATE TABLE audit(id INTEGER PRIMARY KEY,what TEXT);"
                             "CREATE TABLE flag(id INTEGER PRIMARY KEY,n INTEGER);"
                             "INSERT INTO flag VALUES(1,0);"
                             "CREATE TRIGGER of_the_application AFTER INSERT ON posts WHEN NEW.body='tells' BEGIN "
                             "INSERT INTO audit(what) VALUES(NEW.body);UPDATE posts SET wall=9 WHERE id=NEW.id;END;";

static const char model[] =
    "{\"entities\":{\"Profile\":{\"table\":\"profiles\",\"properties\":{\"x\":\"x\"},\"collections\":{\"posts\":"
    "{\"entity\":\"Post\",\"column\":\"wall\"}}},"
    "\"Post\":{\"table\":\"posts\",\"properties\":{\"body\":\"body\"}}}}";

/* Wait until the watcher has announced what is in the database now: it goes in order. The first may be among the first
 * names of a look that is still going on, the second is of a later one. */
static void watcher_catches_up(scene_t *s)
{
    for (int i = 0; i < 2; i++) {
        int before = host_notified("DB-flag");

        stranger_does(s->other, "UPDATE flag SET n=n+1");
        while (host_notified("DB-flag") == before) {
            CU_ASSERT_TRUE_FATAL(host_wait());
        }
    }
}

static void watched_begin(scene_t *s, const char *name)
{
    dbi_inst instance;
    dbi_conn other = stranger(&instance, name);
    const char *words[] = {"posts", "audit", "flag"};

    stranger_does(other, tables);
    stranger_leaves(instance, other);
    feed_open(&s->feed,
              apr_psprintf(suite_pool, "look=10 database=%s model=%s", path_of(name), write_file("model.json", model)));
    CU_ASSERT_PTR_NULL_FATAL(s->feed.wrong);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        with_statements(&s->feed, words[i], database_dialect_watch);
    }
    s->other = stranger(&s->instance, name);
    watcher_catches_up(s);
}

/* `by_feed`: announced once that has returned; `in_all`: when the watcher has looked, too. */
typedef struct said_t {
    const char *interest;
    int by_feed, in_all;
} said_t;

static void test_once(void)
{
    static const struct {
        const char *method, *args, *outside, *why;
        said_t said[4];
    } rows[] = {
        {"save",
         "{\"table\":\"posts\",\"values\":{\"id\":1,\"wall\":7,\"body\":\"a\"}}",
         NULL,
         "the feed's own",
         {{"DB-posts", 1, 1}, {"DB-posts-1", 1, 1}, {"DB-posts.wall=7", 1, 1}}},
        {"update",
         "{\"table\":\"posts\",\"key\":\"1\",\"values\":{\"wall\":8}}",
         NULL,
         "a change",
         {{"DB-posts.wall=7", 1, 1}, {"DB-posts.wall=8", 1, 1}}},
        {"update",
         "{\"table\":\"posts\",\"key\":\"1\",\"values\":{\"id\":2}}",
         NULL,
         "another key",
         {{"DB-posts-1", 1, 1}, {"DB-posts-2", 1, 1}}},
        {"delete",
         "{\"table\":\"posts\",\"key\":\"2\"}",
         NULL,
         "gone",
         {{"DB-posts-2", 1, 1}, {"DB-posts.wall=8", 1, 1}}},
        {NULL,
         NULL,
         "INSERT INTO posts VALUES(3,7,'b')",
         "somebody else's",
         {{"DB-posts", 0, 1}, {"DB-posts-3", 0, 1}, {"DB-posts.wall=7", 0, 1}}},
        {"save",
         "{\"table\":\"posts\",\"values\":{\"id\":4,\"wall\":7,\"body\":\"tells\"}}",
         NULL,
         "what a trigger does to the same table is announced with it, what it does to another by the watcher",
         {{"DB-posts.wall=7", 1, 1}, {"DB-posts.wall=9", 1, 1}, {"DB-audit", 0, 1}}},
        {"save",
         "{\"table\":\"posts\",\"values\":{\"id\":5,\"wall\":7,\"body\":\"c\"}}",
         "INSERT INTO posts VALUES(6,7,'d')",
         "both",
         {{"DB-posts-5", 1, 1}, {"DB-posts-6", 0, 1}}},
    };
    scene_t s;

    watched_begin(&s, "once.db");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int before[4];

        for (int k = 0; k < 4 && rows[i].said[k].interest != NULL; k++) {
            before[k] = host_notified(rows[i].said[k].interest);
        }
        if (rows[i].method != NULL) {
            (void)ask(&s.feed, NULL, rows[i].method, rows[i].args);
        }
        for (int k = 0; k < 4 && rows[i].said[k].interest != NULL; k++) {
            CU_ASSERT_TRUE(host_notified(rows[i].said[k].interest) - before[k] >= rows[i].said[k].by_feed);
        }
        if (rows[i].outside != NULL) {
            stranger_does(s.other, rows[i].outside);
        }
        watcher_catches_up(&s);
        for (int k = 0; k < 4 && rows[i].said[k].interest != NULL; k++) {
            int said = host_notified(rows[i].said[k].interest) - before[k];

            if (said != rows[i].said[k].in_all) {
                fprintf(stderr, "\n  %s (%s): announced %d times\n", rows[i].said[k].interest, rows[i].why, said);
            }
            CU_ASSERT_EQUAL(said, rows[i].said[k].in_all);
        }
    }
    scene_end(&s);
}

static void test_watched_anew(void)
{
    scene_t s;
    int before;

    watched_begin(&s, "anew.db");
    before = host_notified("DB-posts");
    with_statements(&s.feed, "posts", database_dialect_watch);
    watcher_catches_up(&s);
    CU_ASSERT_EQUAL(host_notified("DB-posts"), before + 1);
    scene_end(&s);
}

/* ------------------------------------------------------------ the suite */

void vault_database_board_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_board", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "marks: found, taken off, overwritten", test_marks);
    CU_add_test(suite, "a board is of a model", test_a_board_is_of_a_model);
    CU_add_test(suite, "a link has no journal", test_a_link_has_no_journal);
    CU_add_test(suite, "each change is announced once", test_once);
    CU_add_test(suite, "a table that is watched anew is announced", test_watched_anew);
}
