/* SPDX-License-Identifier: Apache-2.0 */
/* What the feed writes is announced once, by whoever wrote it; what anybody else writes, by the watcher. */
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "board.h"
#include "database_scene.h"
#include "progress.h"
#include "unit.h"

void vault_database_board_suite(void);

/* ------------------------------------------------------------ the board */

static const database_t *board_open(feed_t *feed, const char *given)
{
    feed_open(feed, given);
    CU_ASSERT_PTR_NULL_FATAL(feed->wrong);
    return feed->self;
}

/* ------------------------------------------------------------ what tables are */

static const char *defined_as;
static int times_asked;

static const char *define_counted(sql_call_t *c, const char *name)
{
    times_asked++;
    return defined_as;
}

/* As a feed on a database that says what a table is, and not that tables have changed. */
static const sql_driver_t *one_that_defines(const feed_t *feed)
{
    sql_driver_t *driver = apr_pmemdup(suite_pool, ((database_t *)feed->self)->sql.driver, sizeof(*driver));

    driver->define = define_counted;
    driver->generation = driver->generation_number = driver->version_number = NULL;
    driver->read_number = NULL;
    return driver;
}

/* Find a table that was found so long ago. @return how often the database was asked */
static int finds(feed_t *feed, apr_interval_time_t ago)
{
    vault_call_t call = {NULL};
    sql_call_t c;
    int before = times_asked;

    apr_pool_create(&call.pool, suite_pool);
    CU_ASSERT_EQUAL_FATAL(sql_call_begin(&c, feed->self, &call, NULL), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_conn_take(&c), APR_SUCCESS);
    if (c.conn->tables != NULL) {
        sql_table_t *table = apr_hash_get(c.conn->tables, "logs", APR_HASH_KEY_STRING);

        table->read_at -= ago;
    }
    CU_ASSERT_EQUAL(sql_catalogue_find(&c, "logs"), APR_SUCCESS);
    sql_call_end(&c);
    apr_pool_destroy(call.pool);
    return times_asked - before;
}

/* Two children: the same parameters, the same board. */
static void test_sights(void)
{
    const apr_interval_time_t old = apr_time_from_sec(2);
    feed_t feed, other;

    feed_fresh(&feed, "sights.db", "connections=1");
    feed_fresh(&other, "sights.db", "connections=1");
    ((database_t *)feed.self)->sql.driver = ((database_t *)other.self)->sql.driver = one_that_defines(&feed);
    defined_as = "one";
    CU_ASSERT_EQUAL(finds(&feed, 0), 1);
    CU_ASSERT_EQUAL(finds(&other, 0), 1);
    CU_ASSERT_EQUAL(finds(&feed, 0), 0); /* it was read just now */
    CU_ASSERT_EQUAL(finds(&feed, old), 1);
    CU_ASSERT_EQUAL(finds(&other, old), 0);           /* who has asked has told */
    ((database_t *)feed.self)->sql.sights[0].check++; /* half written */
    CU_ASSERT_EQUAL(finds(&other, old), 1);
    for (int i = 0; i < SQL_SIGHTS; i++) {
        ((database_t *)feed.self)->sql.sights[i].at -= old;
    }
    CU_ASSERT_EQUAL(finds(&other, old), 1); /* too long ago, which is another check as well */
    defined_as = "two";
    for (int i = 0; i < SQL_SIGHTS; i++) {
        ((database_t *)feed.self)->sql.sights[i].at = 0;
    }
    CU_ASSERT_EQUAL(finds(&other, old), 2); /* it is another one, and read again */
    feed_close(&feed);
    feed_close(&other);
}

/* ------------------------------------------------------------ marks */

static void test_marks(void)
{
    static database_marks_t before;
    feed_t feed, same, other;
    const database_t *board = board_open(&feed, apr_pstrcat(suite_pool, "database=", path_of("marks.db"), NULL));
    const database_t *again = board_open(&same, apr_pstrcat(suite_pool, "database=", path_of("marks.db"), NULL));
    const database_t *apart = board_open(&other, apr_pstrcat(suite_pool, "database=", path_of("other.db"), NULL));
    database_era_t era = database_board_era(board);
    database_mark_t one = database_board_mark(board, era, "epoch", 1);
    database_mark_t two = database_board_mark(board, era, "epoch", 2);

    CU_ASSERT_NOT_EQUAL(one, two);
    CU_ASSERT_NOT_EQUAL(one, database_board_mark(board, era, "another", 1));
    CU_ASSERT_NOT_EQUAL(one, database_board_mark(board, era + 1, "epoch", 1));
    CU_ASSERT_EQUAL(one, database_board_mark(again, database_board_era(again), "epoch", 1));
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
        database_mark_t mark = database_board_mark(board, era, "epoch", 1000 + i);

        database_board_leave(board, &mark, 1);
    }
    CU_ASSERT_FALSE(database_board_has(board, two)); /* the oldest go first */
    feed_close(&other);
    feed_close(&same);
    feed_close(&feed);
}

/* The watcher is to look before marks are overwritten. */
static void test_quiet(void)
{
    static database_marks_t before;
    feed_t feed;
    const database_t *board = board_open(&feed, apr_pstrcat(suite_pool, "database=", path_of("quiet.db"), NULL));
    int left = 0;

    CU_ASSERT_FALSE(database_board_is_quiet(board));
    database_board_set_quiet(board, 1);
    while (database_board_is_quiet(board) && left < DATABASE_MARKS) {
        database_mark_t mark = database_board_mark(board, 0, "epoch", ++left);

        database_board_leave(board, &mark, 1);
    }
    CU_ASSERT_TRUE(left > 1 && left < DATABASE_MARKS);
    database_board_copy(board, &before);
    database_board_clear(board, &before);
    CU_ASSERT_TRUE(database_board_is_quiet(board));
    database_board_set_quiet(board, 0);
    CU_ASSERT_FALSE(database_board_is_quiet(board));
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
    database_mark_t mark = database_board_mark(board, 0, "epoch", 1);
    char place[DATABASE_PLACE_BYTES];

    database_board_keep_place(board, "7");
    feed_close(&feed);
    board = board_open(&feed, given);
    database_board_read_place(board, place);
    CU_ASSERT_STRING_EQUAL(place, "7");
    feed_close(&feed);
    (void)write_file("m.json", without);
    board = board_open(&feed, given);
    CU_ASSERT_NOT_EQUAL(mark, database_board_mark(board, 0, "epoch", 1));
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

/* ------------------------------------------------------------ restored */

/* A cell of the feed's own tables, which no call may name. */
static const char *own_cell(scene_t *s, const char *statement)
{
    sql_call_t c;
    const char *cell;

    CU_ASSERT_EQUAL_FATAL(sql_background_begin(&c, s->feed.self), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_conn_take(&c), APR_SUCCESS);
    CU_ASSERT_EQUAL_FATAL(sql_conn_cell(&c, statement, &cell), APR_SUCCESS);
    CU_ASSERT_PTR_NOT_NULL_FATAL(cell);
    cell = apr_pstrdup(suite_pool, cell);
    sql_background_end(&c);
    return cell;
}

/* A child that goes on where another was. @return the place that it goes on from */
static const char *goes_on(const database_t *board, const char *incarnation)
{
    database_progress_t progress = {.feed = board, .dialect = database_dialect_of(&board->sql)};

    database_progress_take_over(&progress);
    database_progress_connect(&progress, incarnation);
    return apr_pstrdup(suite_pool, progress.place);
}

/* What was announced before a crash says nothing of ids that come after it. */
static void test_another_incarnation(void)
{
    feed_t feed;
    const database_t *board = board_open(&feed, apr_pstrcat(suite_pool, "database=", path_of("incarnation.db"), NULL));
    database_era_t era = database_board_era(board);

    check(goes_on(board, "a"), "", "a", "the first one that ever watched");
    database_board_keep_place(board, "17");
    check(goes_on(board, "a"), "17", "a", "the database is the same");
    CU_ASSERT_EQUAL(database_board_era(board), era);
    check(goes_on(board, "b"), "", "b", "it has crashed");
    CU_ASSERT_EQUAL(database_board_era(board), era + 1);
    CU_ASSERT_EQUAL(database_board_floor(board), -1);
    database_board_keep_place(board, "12");
    check(goes_on(board, "b"), "12", "b", "and goes on");
    check(goes_on(board, "b2"), "", "b2", "a part of one that was written is another");
    database_board_keep_place(board, "13");
    check(goes_on(board, NULL), "13", "none", "a database that has none");
    feed_close(&feed);
}

/* A mark as a writer leaves it that has written the change `id` of "posts" before. */
static database_mark_t mark_of(scene_t *s, database_era_t era, int id)
{
    const char *epoch = own_cell(s, GUARD "Select epoch AS sql FROM vault_watched WHERE tbl='posts'");

    return database_board_mark(s->feed.self, era, epoch, id);
}

/* The number of the last change. */
static int last_change(scene_t *s)
{
    return atoi(own_cell(s, GUARD "Select id AS sql FROM vault_changes ORDER BY id DESC LIMIT 1"));
}

/* Save the database as it is, and write there what another program does once it was restored. */
static void save_as(scene_t *s, const char *saved, const char *then)
{
    dbi_inst instance;
    dbi_conn other;

    stranger_does(s->other, apr_pstrcat(suite_pool, "VACUUM INTO '", path_of(saved), "'", NULL));
    other = stranger(&instance, saved);
    stranger_does(other, then);
    stranger_leaves(instance, other);
}

/* Put it into the place of the other; somebody else is connected to it afterwards. */
static void restore(scene_t *s, const char *name, const char *saved)
{
    static const char *const ends[] = {"-wal", "-shm"};

    stranger_leaves(s->instance, s->other);
    CU_ASSERT_EQUAL(rename(path_of(name), path_of("away.db")), 0);
    for (int i = 0; i < 2; i++) {
        (void)remove(path_of(apr_pstrcat(suite_pool, name, ends[i], NULL)));
    }
    CU_ASSERT_EQUAL(rename(path_of(saved), path_of(name)), 0);
    s->other = stranger(&s->instance, name);
}

static void await(const char *interest, int before)
{
    while (host_notified(interest) == before) {
        CU_ASSERT_TRUE_FATAL(host_wait());
    }
}

/* The change that was written after the backup, and the one that somebody else writes into what was restored, have one number. */
static void test_restored(void)
{
    const char *args = "{\"table\":\"posts\",\"key\":\"1\"}";
    host_page_t page = {0};
    scene_t s;
    int before, saved;

    watched_begin(&s, "restored.db");
    stranger_does(s.other, "INSERT INTO posts VALUES(1,7,'a'),(2,7,'b')");
    watcher_catches_up(&s);
    check(ask(&s.feed, &page, "get_modified_instance", args), "\"body\":\"a\"", "first view", "before the backup");
    saved = last_change(&s);
    save_as(&s, "saved.db",
            "UPDATE posts SET body='other' WHERE id=1;"
            "UPDATE flag SET n=n+1;UPDATE flag SET n=n+1;UPDATE flag SET n=n+1");
    stranger_does(s.other, "UPDATE posts SET body='lost' WHERE id=2");
    CU_ASSERT_EQUAL(last_change(&s), saved + 1);
    watcher_catches_up(&s);
    before = host_notified("DB-posts-1");
    restore(&s, "restored.db", "saved.db");
    await("DB-posts-1", before);
    check(ask(&s.feed, &page, "get_modified_instance", args), "\"body\":\"other\"", "restored",
          "written into the restored database, under a number that the watcher has passed");
    scene_end(&s);
}

/* A writer that has committed to the database that there was, and was slow to leave its mark. */
static void test_marks_of_another_era(void)
{
    scene_t s;
    database_mark_t mark;
    database_era_t era;
    int before, saved;

    watched_begin(&s, "era.db");
    stranger_does(s.other, "INSERT INTO posts VALUES(1,7,'a')");
    watcher_catches_up(&s);
    save_as(&s, "saved.db", "UPDATE flag SET n=n+1");
    era = database_board_era(s.feed.self);
    before = host_notified("DB-posts");
    restore(&s, "era.db", "saved.db");
    await("DB-posts", before);
    CU_ASSERT_NOT_EQUAL(database_board_era(s.feed.self), era);

    watcher_catches_up(&s);
    saved = last_change(&s);
    mark = mark_of(&s, era, saved + 1);
    database_board_leave(s.feed.self, &mark, 1);
    before = host_notified("DB-posts-1");
    stranger_does(s.other, "UPDATE posts SET body='b' WHERE id=1");
    CU_ASSERT_EQUAL(last_change(&s), saved + 1);
    await("DB-posts-1", before);
    watcher_catches_up(&s);

    saved = last_change(&s);
    mark = mark_of(&s, database_board_era(s.feed.self), saved + 1);
    database_board_leave(s.feed.self, &mark, 1);
    before = host_notified("DB-posts-1");
    stranger_does(s.other, "UPDATE posts SET body='c' WHERE id=1");
    watcher_catches_up(&s);
    CU_ASSERT_EQUAL(host_notified("DB-posts-1"), before); /* a mark of this era counts */
    scene_end(&s);
}

/* More is written between two looks than there is room for marks: that is announced twice, and the second time a page finds nothing. */
static void test_marks_overwritten(void)
{
    const char *args = "{\"table\":\"posts\"}";
    const char *given = apr_psprintf(suite_pool, "look=60000 database=%s", path_of("many.db"));
    host_page_t page = {0};
    database_mark_t none[DATABASE_MARKS];
    feed_t first, second;
    dbi_inst instance;
    dbi_conn other = stranger(&instance, "many.db");
    int before;

    stranger_does(other, tables);
    feed_open(&first, apr_psprintf(suite_pool, "look=0 database=%s", path_of("many.db")));
    CU_ASSERT_PTR_NULL_FATAL(first.wrong);
    with_statements(&first, "posts", database_dialect_watch);
    feed_close(&first);

    before = host_notified("DB-posts");
    feed_open(&first, given);
    CU_ASSERT_PTR_NULL_FATAL(first.wrong);
    await("DB-posts", before); /* its watcher has looked, and looks no more for a minute */
    for (char place[DATABASE_PLACE_BYTES] = ""; place[0] == '\0';) {
        database_board_read_place(first.self, place);
        sched_yield();
    }
    check(ask(&first, &page, "get_new_instances", args), "nothing", "first view", "nothing is there");
    before = host_notified("DB-posts-1");
    check(ask(&first, NULL, "save", "{\"table\":\"posts\",\"values\":{\"id\":1,\"wall\":7,\"body\":\"a\"}}"),
          "[{\"id\":1}]", "save", "by the feed");
    CU_ASSERT_EQUAL(host_notified("DB-posts-1"), before + 1);
    check(ask(&first, &page, "get_new_instances", args), "[{\"id\":1,\"wall\":7,\"body\":\"a\"}]", "announced", "once");
    for (int i = 0; i < DATABASE_MARKS; i++) {
        none[i] = database_board_mark(first.self, database_board_era(first.self), "another", i);
    }
    database_board_leave(first.self, none, DATABASE_MARKS);

    feed_open(&second, given); /* another child that goes on: it looks at once */
    CU_ASSERT_PTR_NULL_FATAL(second.wrong);
    await("DB-posts-1", before + 1);
    CU_ASSERT_EQUAL(host_notified("DB-posts-1"), before + 2);
    check(ask(&second, &page, "get_new_instances", args), "nothing", "announced again", "it costs a look, no more");
    CU_ASSERT_EQUAL(page.resets, 0);
    feed_close(&second);
    feed_close(&first);
    stranger_leaves(instance, other);
}

/* A child of httpd that watches until it is killed. */
static pid_t fork_holder(const database_t *feed)
{
    int ready[2];
    char byte;
    pid_t child;

    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    child = fork();
    CU_ASSERT_NOT_EQUAL_FATAL(child, -1);
    if (child == 0) {
        _exit(database_board_lock(feed) && write(ready[1], "", 1) == 1 ? pause() : 1);
    }
    close(ready[1]);
    CU_ASSERT_EQUAL(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    return child;
}

/* Who does not watch sleeps until who does is gone. */
static void test_await(void)
{
    feed_t feed;
    const database_t *board;
    struct pollfd waits = {.events = POLLIN};
    pid_t child;

    board = board_open(&feed, apr_psprintf(suite_pool, "database=%s look=0", path_of("await.db")));
    CU_ASSERT_EQUAL(database_board_await(board), -1); /* nobody has watched yet */
    child = fork_holder(board);
    CU_ASSERT_FALSE(database_board_lock(board));
    waits.fd = database_board_await(board);
    CU_ASSERT_NOT_EQUAL_FATAL(waits.fd, -1);
    CU_ASSERT_EQUAL(poll(&waits, 1, 0), 0);
    CU_ASSERT_EQUAL(kill(child, SIGKILL), 0);
    CU_ASSERT_EQUAL(poll(&waits, 1, 60 * 1000), 1);
    close(waits.fd);
    CU_ASSERT_TRUE(database_board_lock(board));
    CU_ASSERT_EQUAL(waitpid(child, NULL, 0), child);
    database_board_unlock(board);
    CU_ASSERT_EQUAL(database_board_await(board), -1);
    feed_close(&feed);
}

/* ------------------------------------------------------------ the suite */

void vault_database_board_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_board", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "a table is asked for once for all children", test_sights);
    CU_add_test(suite, "marks: found, taken off, overwritten", test_marks);
    CU_add_test(suite, "a board is of a model", test_a_board_is_of_a_model);
    CU_add_test(suite, "a link has no journal", test_a_link_has_no_journal);
    CU_add_test(suite, "each change is announced once", test_once);
    CU_add_test(suite, "a table that is watched anew is announced", test_watched_anew);
    CU_add_test(suite, "a database that was restored is looked at whole", test_restored);
    CU_add_test(suite, "a place is of one incarnation of the database", test_another_incarnation);
    CU_add_test(suite, "writers are quiet while marks last", test_quiet);
    CU_add_test(suite, "marks of the database before fit nothing", test_marks_of_another_era);
    CU_add_test(suite, "marks that are overwritten cost a look", test_marks_overwritten);
    CU_add_test(suite, "waiting for who watches", test_await);
}
