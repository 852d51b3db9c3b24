/* SPDX-License-Identifier: Apache-2.0 */
/* When the watcher of a database without a server need not look: by the clocks of these tests, and by files as they may be found. */
#include <poll.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "board.h"
#include "database_scene.h"
#include "footprint.h"
#include "knock.h"
#include "unit.h"

void vault_database_footprint_suite(void);

#define SECOND INT64_C(1000000000)
#define WRITTEN (1700000000 * SECOND + 123456789)

static struct stat file_of(apr_int64_t device, apr_int64_t inode, apr_int64_t size, apr_int64_t written)
{
    struct stat found;

    memset(&found, 0, sizeof(found));
    found.st_dev = (dev_t)device;
    found.st_ino = (ino_t)inode;
    found.st_size = (off_t)size;
    found.st_mtim.tv_sec = (time_t)(written / SECOND);
    found.st_mtim.tv_nsec = (long)(written % SECOND);
    return found;
}

static void test_settled(void)
{
    static const struct {
        apr_int64_t age;
        int settled;
        const char *why;
    } rows[] = {
        {-SECOND, 0, "written in the future: somebody has set the clock back"},
        {0, 0, "this very moment"},
        {SECOND, 0, "what is in the file may not be readable yet"},
        {2 * SECOND, 0, "no longer than that"},
        {2 * SECOND + 1, 1, "longer"},
        {3600 * SECOND, 1, "nobody writes"},
    };
    const struct stat found = file_of(1, 2, 4152, WRITTEN);

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int settled = -1;
        apr_uint64_t print = database_footprint_of(&found, WRITTEN + rows[i].age, &settled);

        check(settled == rows[i].settled ? "right" : "wrong", "right", "settled", rows[i].why);
        CU_ASSERT_EQUAL(print, database_footprint_of(&found, WRITTEN, NULL)); /* not of the time of looking */
        CU_ASSERT_NOT_EQUAL(print, 0);
    }
}

/* Whatever a commit changes is another footprint. */
static void test_differs(void)
{
    const struct stat files[] = {
        file_of(1, 2, 4152, WRITTEN),     file_of(1, 2, 8272, WRITTEN),         file_of(1, 2, 4152, WRITTEN + 1),
        file_of(1, 3, 4152, WRITTEN),     file_of(2, 2, 4152, WRITTEN),         file_of(2, 1, 4152, WRITTEN),
        file_of(1, 2, 0, WRITTEN),        file_of(1, 2, 4152, WRITTEN - 1),     file_of(1, 2, 4153, WRITTEN - 1),
        file_of(1, 2, 4152 * 2, WRITTEN), file_of(1, 2, 4152, WRITTEN + SECOND)};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        for (size_t k = 0; k < i; k++) {
            CU_ASSERT_NOT_EQUAL(database_footprint_of(&files[i], WRITTEN, NULL),
                                database_footprint_of(&files[k], WRITTEN, NULL));
        }
    }
}

static void test_own(void)
{
    CU_ASSERT_TRUE(database_footprint_is_own(0));
    CU_ASSERT_TRUE(database_footprint_is_own(4999));
    CU_ASSERT_FALSE(database_footprint_is_own(5000)); /* somebody else may have committed since it let go of the lock */
    CU_ASSERT_FALSE(database_footprint_is_own(apr_time_from_sec(60)));
    CU_ASSERT_FALSE(database_footprint_is_own(-1));
}

static void test_rest(void)
{
    static const struct {
        database_rest_t given;
        int rest;
        const char *why;
    } rows[] = {
        {{7, 7, 1000000, 1000000, 200, 0}, 200, "just looked"},
        {{7, 7, 1000000, 2500000, 200, 0}, 200, "half a second is left of the two, but a look is due before"},
        {{7, 7, 1000000, 2900000, 200, 0}, 101, "less is left: not a moment longer than two seconds, rounded up"},
        {{7, 7, 1000000, 2999999, 200, 0}, 1, "the last moment"},
        {{7, 7, 1000000, 3000000, 200, 0}, 0, "two seconds: look, whatever the footprint says"},
        {{7, 7, 1000000, 9000000, 200, 0}, 0, "the more so later"},
        {{7, 7, 1000000, 1000000, 60000, 0}, 2001, "who looks seldom looks after two seconds all the same"},
        {{7, 8, 1000000, 1000000, 200, 0}, 0, "somebody has written"},
        {{0, 0, 1000000, 1000000, 200, 0}, 0, "nobody knows a footprint, which is not the same one"},
        {{7, 7, 0, 1000000, 200, 0}, 0, "it has never looked, or the last look went wrong"},
        {{7, 7, 1000000, 999999, 200, 0}, 0, "a clock that goes back"},
        {{7, 7, 1000000, 1000000, 10, 0}, 10, "the shortest `look`"},
        {{7, 7, 1000000, 1000000, 200, 1}, 2001, "who is told of writes sleeps the two seconds"},
        {{7, 7, 1000000, 2900000, 200, 1}, 101, "what is left of them"},
        {{7, 7, 1000000, 3000000, 200, 1}, 0, "two seconds"},
        {{7, 7, 1000000, 3000000, 60000, 1}, 58001, "or longer, where looks are wanted seldom"},
        {{7, 7, 1000000, 61000000, 60000, 1}, 0, "and no longer"},
        {{7, 8, 1000000, 1000000, 200, 1}, 0, "it was told, and somebody has written"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int rest = database_footprint_rest(&rows[i].given);

        if (rest != rows[i].rest) {
            fprintf(stderr, "\n  %s: %d ms, not %d\n", rows[i].why, rest, rows[i].rest);
        }
        CU_ASSERT_EQUAL(rest, rows[i].rest);
    }
}

static void test_pause(void)
{
    CU_ASSERT_EQUAL(database_footprint_pause(apr_time_from_sec(1), 200),
                    10); /* a quiet time is over: at once, nearly */
    CU_ASSERT_EQUAL(database_footprint_pause(apr_time_from_msec(200), 200), 10);
    CU_ASSERT_EQUAL(database_footprint_pause(apr_time_from_msec(150), 200), 50); /* it has just been here */
    CU_ASSERT_EQUAL(database_footprint_pause(0, 200), 200);
    CU_ASSERT_EQUAL(database_footprint_pause(0, 10), 10);
    CU_ASSERT_EQUAL(database_footprint_pause(apr_time_from_sec(5), 60000), 55000); /* as seldom as was asked for */
    CU_ASSERT_EQUAL(database_footprint_pause(-1, 200), 200);                       /* a clock that goes back */
}

/* Was the watcher told, and does it forget that when it listens again? */
static int was_told(database_knock_t *knock, const char *file)
{
    struct pollfd waits = {.fd = knock->fd, .events = POLLIN};
    int told = poll(&waits, 1, 0) == 1;

    CU_ASSERT_EQUAL(database_knock_listen(knock, file), 1);
    CU_ASSERT_EQUAL(poll(&waits, 1, 0), 0);
    return told;
}

static int knock_open(void)
{
    int fd = database_knock_open(suite_pool);

    CU_ASSERT_NOT_EQUAL_FATAL(fd, -1);
    return fd;
}

static void append_byte(const char *file)
{
    FILE *stream = fopen(file, "a");

    CU_ASSERT_PTR_NOT_NULL_FATAL(stream);
    CU_ASSERT_EQUAL(fputc('x', stream), 'x');
    CU_ASSERT_EQUAL(fclose(stream), 0);
}

static void test_knock(void)
{
    const char *file = path_of("knock"), *other = path_of("knock-other");
    database_knock_t knock = {.fd = knock_open(), .file = -1};

    CU_ASSERT_EQUAL(database_knock_listen(&knock, file), 0); /* no file yet: look by the clock */
    append_byte(file);
    CU_ASSERT_EQUAL(database_knock_listen(&knock, file), 1);
    CU_ASSERT_FALSE(was_told(&knock, file)); /* of what was before */
    append_byte(file);
    append_byte(file);
    CU_ASSERT_TRUE(was_told(&knock, file));
    CU_ASSERT_EQUAL(truncate(file, 0), 0);
    CU_ASSERT_TRUE(was_told(&knock, file));
    /* Another file takes its name, as when a database is restored: that is told, and from then on what happens to the new one. */
    append_byte(other);
    CU_ASSERT_EQUAL(rename(other, file), 0);
    CU_ASSERT_TRUE(was_told(&knock, file));
    append_byte(file);
    CU_ASSERT_TRUE(was_told(&knock, file));
    CU_ASSERT_EQUAL(rename(file, other), 0);
    CU_ASSERT_EQUAL(database_knock_listen(&knock, file), 0);
    CU_ASSERT_EQUAL(remove(other), 0);
    knock.fd = -1;
    CU_ASSERT_EQUAL(database_knock_listen(&knock, file), 0); /* nothing to be told by */
}

/* What a child writes itself while it hushes is not told; what comes before or after is, and so is a ring. */
static void test_hush(void)
{
    const char *file = path_of("knock"), *other = path_of("knock-other");
    database_knock_t knock = {.fd = knock_open(), .file = -1};

    CU_ASSERT_FALSE(database_knock_hush(knock.fd, file)); /* no such file */
    append_byte(file);
    CU_ASSERT_EQUAL(database_knock_listen(&knock, file), 1);
    CU_ASSERT_TRUE(database_knock_hush(knock.fd, file));
    append_byte(file);
    CU_ASSERT_EQUAL(database_knock_end_hush(knock.fd, file), knock.file);
    CU_ASSERT_FALSE(was_told(&knock, file));
    append_byte(file);
    CU_ASSERT_TRUE(database_knock_hush(knock.fd, file));
    CU_ASSERT_TRUE(was_told(&knock, file)); /* of what was before; and a watcher that listens ends the hush, too */
    append_byte(file);
    CU_ASSERT_TRUE(was_told(&knock, file));
    /* Another file is no less told of. */
    CU_ASSERT_TRUE(database_knock_hush(knock.fd, file));
    append_byte(other);
    CU_ASSERT_EQUAL(rename(other, file), 0);
    CU_ASSERT_TRUE(was_told(&knock, file));
    CU_ASSERT_TRUE(database_knock_hush(knock.fd, file));
    database_knock_ring(knock.fd, database_knock_end_hush(knock.fd, file));
    CU_ASSERT_TRUE(was_told(&knock, file));
    append_byte(file);
    CU_ASSERT_TRUE(was_told(&knock, file)); /* whoever listens again is told */
    CU_ASSERT_EQUAL(remove(file), 0);
    CU_ASSERT_FALSE(database_knock_hush(-1, file));
}

static const char *journal_of(const scene_t *s)
{
    return ((const database_t *)s->feed.self)->journal;
}

static int is_told(const database_knock_t *knock)
{
    struct pollfd waits = {.fd = knock->fd, .events = POLLIN};

    return poll(&waits, 1, 0) == 1;
}

/* Save a row. @return whether all that the file shows is announced */
static int save_ours(scene_t *s)
{
    apr_uint64_t footprint;

    check(ask(&s->feed, NULL, "save", "{\"table\":\"logs\",\"values\":{\"line\":\"ours\"}}"), "\"id\":", "save",
          "by the feed");
    footprint = database_footprint(s->feed.self, NULL);
    return footprint != 0 && database_board_known(s->feed.self) == footprint;
}

/* With a watcher that has looked, and will not again in this test. */
static void begin_watched(scene_t *s)
{
    scene_begin(s, "footprint.db", "logs", "");
    feed_close(&s->feed);
    feed_open(&s->feed, apr_psprintf(suite_pool, "database=%s look=60000", path_of("footprint.db")));
    while (database_board_floor(s->feed.self) < 0) {
        apr_sleep(1000);
    }
}

static void write_theirs_cb(void *data)
{
    scene_t *s = data;

    stranger_does(s->other, "INSERT INTO logs(line) VALUES('theirs')");
}

/* The watcher sleeps on while the feed writes, but not if somebody else does in the midst of it, or what was written is not announced. */
static void test_sleep(void)
{
    scene_t s;
    database_knock_t knock = {.file = -1};
    int known = 0;

    begin_watched(&s);
    knock.fd = ((const database_t *)s.feed.self)->knock;
    /* On connections that are made for it: as root, SQLite then gives the file to the database's owner, which is told. */
    (void)save_ours(&s);
    write_theirs_cb(&s);
    for (int i = 0; i < 1000 && !known; i++) {
        CU_ASSERT_EQUAL(database_knock_listen(&knock, journal_of(&s)), 1);
        known = save_ours(&s);
        CU_ASSERT_EQUAL(is_told(&knock), !known);
    }
    CU_ASSERT_TRUE(known);
    CU_ASSERT_EQUAL(database_knock_listen(&knock, journal_of(&s)), 1);
    host_meanwhile = write_theirs_cb;
    host_meanwhile_data = &s;
    CU_ASSERT_FALSE(save_ours(&s));
    CU_ASSERT_TRUE(is_told(&knock));
    CU_ASSERT_EQUAL(database_knock_listen(&knock, journal_of(&s)), 1);
    write_theirs_cb(&s);
    CU_ASSERT_TRUE(is_told(&knock)); /* the hush has ended */
    scene_end(&s);
    CU_ASSERT_EQUAL(remove(path_of("footprint.db")), 0);
}

/* Of a real file: the feed keeps the footprint of its own commit, and a commit of somebody else is another one. */
static void test_file(void)
{
    scene_t s;
    int known = 0;

    begin_watched(&s);
    /* A machine that is busy may let a commit take long, but hardly all of them. */
    for (int i = 0; i < 1000 && !known; i++) {
        known = save_ours(&s);
    }
    CU_ASSERT_TRUE(known);
    /* It adds to the journal: another size, also where files' times are coarse. */
    write_theirs_cb(&s);
    CU_ASSERT_NOT_EQUAL(database_footprint(s.feed.self, NULL), 0);
    CU_ASSERT_NOT_EQUAL(database_board_known(s.feed.self), database_footprint(s.feed.self, NULL));
    scene_end(&s);
    CU_ASSERT_EQUAL(remove(path_of("footprint.db")), 0);
    feed_open(&s.feed, apr_psprintf(suite_pool, "database=%s", path_of("footprint.db")));
    CU_ASSERT_EQUAL(database_footprint(s.feed.self, NULL), 0); /* no file, nothing known */
    feed_close(&s.feed);
}

void vault_database_footprint_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_footprint", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "settled two seconds after the last write", test_settled);
    CU_add_test(suite, "another file, size or time is another footprint", test_differs);
    CU_add_test(suite, "a commit that took long may be somebody else's", test_own);
    CU_add_test(suite, "when to look, and how long not to", test_rest);
    CU_add_test(suite, "how long to leave a writer alone", test_pause);
    CU_add_test(suite, "being told that a file is written", test_knock);
    CU_add_test(suite, "not being told of what one writes oneself", test_hush);
    CU_add_test(suite, "the watcher is not told of what is announced", test_sleep);
    CU_add_test(suite, "of a file that is written", test_file);
}
