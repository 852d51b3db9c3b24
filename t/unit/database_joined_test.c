/* SPDX-License-Identifier: Apache-2.0 */
/* Looks that join transactions to a place of PostgreSQL, or changes to one of MariaDB, without the database. No server is needed. */
#include <pthread.h>

#include <CUnit/CUnit.h>

#include "board.h"
#include "changes.h"
#include "connection.h"
#include "database_scene.h"
#include "driver.h"
#include "glimpse.h"
#include "joined.h"
#include "listed.h"
#include "snapshot.h"
#include "unit.h"

void vault_database_joined_suite(void);

/* Of a copy: one of its head, and one of its texts. */
static const int words[] = {6, 8};

/* ------------------------------------------------------------ sets of transactions */

static void is_true(int condition, const char *why)
{
    check(condition ? "right" : "wrong", "right", "", why);
}

static void test_join(void)
{
    static const struct {
        const char *seen, *saw;
        apr_int64_t xid;
        const char *then, *why;
    } rows[] = {
        {"10:10:", "10:10:", 10, "11:11:", "the next one"},
        {"10:10:", "10:10:", 12, "10:13:.0.1", "two began before it, and are not committed"},
        {"10:13:.0.1", "10:13:10,11", 10, "11:13:.0", "one of those"},
        {"11:13:.0", "11:13:11", 11, "13:13:", "and the other: nothing is missing"},
        {"10:10:", "11:11:", 11, NULL, "it has seen one that is not here"},
        {"10:12:.0", "12:12:", 12, NULL, "likewise one that was in progress"},
        {"10:12:.0", "10:12:10", 12, "10:13:.0", "which it has not seen either"},
        {"10:12:.0", "12:12:", 10, "12:12:", "its own number is in what it saw, where others began after it"},
        {"20:20:", "10:10:", 10, "20:20:", "it was seen already"},
        {"20:20:", "10:10:", 300, NULL, "too many would be missing"},
        {"20:20:", "10:400:", 400, NULL, "likewise"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        database_snapshot_t seen, saw;
        int joins;

        CU_ASSERT_TRUE_FATAL(database_snapshot_read(&seen, rows[i].seen));
        CU_ASSERT_TRUE_FATAL(database_snapshot_read(&saw, rows[i].saw));
        joins = database_snapshot_join(&seen, &saw, rows[i].xid);
        is_true(joins == (rows[i].then != NULL), rows[i].why);
        if (rows[i].then != NULL) {
            is_true(strcmp(database_snapshot_text(&seen, 1000, suite_pool), rows[i].then) == 0, rows[i].why);
        }
    }
}

static void test_read(void)
{
    static const struct {
        const char *text;
        int is_one;
        const char *why;
    } rows[] = {
        {"10:10:", 1, "nothing is missing"},
        {"10:20:.0.1.8", 1, "distances"},
        {"10:20:10,11,19", 1, "as PostgreSQL tells it"},
        {"", 0, "nothing"},
        {"10", 0, "no end"},
        {"10:9:", 0, "an end before the beginning"},
        {"10:20:.0.0", 0, "one twice"},
        {"10:20:11,10", 0, "not in order"},
        {"10:20:.10", 0, "beyond the end"},
        {"10:20:.", 0, "a distance that is none"},
        {"10:20:|10:20:|5", 0, "a batch that was cut"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        database_snapshot_t s;

        is_true(database_snapshot_read(&s, rows[i].text) == rows[i].is_one, rows[i].why);
    }
}

/* ------------------------------------------------------------ looks */

static apr_uint64_t life;

/* Whose places there are. Steps say them as PostgreSQL does; on MariaDB each transaction has one change, with its number, and those
 * up to `base` have numbers. */
static const database_dialect_t *dialect;
static apr_int64_t base;

static const char *place_of(const char *snapshot, apr_int64_t own)
{
    database_snapshot_t s;
    database_listed_t listed;

    if (dialect == &database_dialect_pgsql) {
        return snapshot;
    }
    CU_ASSERT_TRUE_FATAL(database_snapshot_read(&s, snapshot));
    listed.last = s.end - 1 < base ? s.end - 1 : base;
    listed.count = 0;
    for (apr_int64_t id = listed.last + 1; id < s.end || id <= own; id++) {
        if (id == own || database_snapshot_has(&s, id)) {
            CU_ASSERT_TRUE_FATAL(database_listed_add(&listed, id));
        }
    }
    return database_listed_text(&listed, 1000, suite_pool);
}

/* The tables of a connection: posts, and the same with a column more. */
static const sql_table_t *posts_of(const char *shape)
{
    sql_table_t *table = apr_pcalloc(suite_pool, sizeof(*table));

    table->name = "posts";
    table->shape = shape;
    table->note = apr_pcalloc(suite_pool, sizeof(*table->note));
    table->columns = apr_array_make(suite_pool, 1, sizeof(sql_column_t));
    APR_ARRAY_PUSH(table->columns, sql_column_t) = (sql_column_t){.name = "wall", .kind = SQL_INTEGER, .is_integer = 1};
    return table;
}

/* A transaction that has inserted a row. */
typedef struct written_t {
    apr_int64_t xid;
    const char *saw, *table, *epoch;
    int alone, wall;
} written_t;

/* As each of them writes it. */
static json_t *image_of(int wall)
{
    return json_sprintf(dialect == &database_dialect_pgsql ? "{\"wall\":\"I%d\"}" : "{\"wall\": \"I%d\"}", wall);
}

/* @return what it is made of */
static json_t *pack(database_packed_t *packed, const sql_table_t *table, const written_t *written)
{
    json_t *change =
        json_pack("{s:I,s:I,s:i,s:s,s:s,s:s,s:s,s:n,s:o}", "id", (json_int_t)written->xid, "xid",
                  (json_int_t)written->xid, "alone", written->alone, "now", place_of(written->saw, written->xid),
                  "epoch", written->epoch, "op", "I", "key", "1", "old", "new", image_of(written->wall));

    database_copy_pack(packed, table, change);
    return change;
}

static int leave(feed_t *feed, const written_t *written)
{
    sql_table_t table = *posts_of("{1}");
    database_packed_t packed;
    json_t *change;
    int is_left;

    table.name = written->table;
    change = pack(&packed, &table, written);
    is_left = database_joined_leave(feed->self, life, &packed, 1);
    json_decref(change);
    return is_left;
}

/* "PLACE ID ID …" of a page on wall 7; NULL: the database has to be asked. */
static const char *look_from(feed_t *feed, const char *place, const char *epoch, const char *shape)
{
    const database_wanted_t wanted = {.column = "wall", .value = "7", .most = 100, .alone = 1};
    sql_conn_t conn = {.pool = suite_pool};
    sql_call_t c = {.db = feed->self, .pool = suite_pool, .conn = &conn, .table = posts_of(shape)};
    database_look_t look = {.dialect = dialect};
    const char *found;

    if (!database_joined_look(&c, &look, &wanted, place, epoch)) {
        return NULL;
    }
    found = apr_psprintf(suite_pool, "%s %d", look.next, (int)json_array_size(look.changes));
    json_decref(look.changes);
    return found;
}

/* "PLACE COUNT" */
static const char *wanted_of(const char *wanted)
{
    const char *blank = strchr(wanted, ' ');

    return apr_pstrcat(suite_pool, place_of(apr_pstrmemdup(suite_pool, wanted, (apr_size_t)(blank - wanted)), 0), blank,
                       NULL);
}

static void is_found(feed_t *feed, const char *place, const char *wanted, const char *why)
{
    const char *found = look_from(feed, place_of(place, 0), "e", "{1}");

    wanted = wanted != NULL ? wanted_of(wanted) : NULL;
    is_true((found == NULL) == (wanted == NULL) && (found == NULL || strcmp(found, wanted) == 0), why);
}

/* On PostgreSQL; on MariaDB it is an end that is not there. */
static void is_found_there(feed_t *feed, const char *place, const char *wanted, const char *why)
{
    is_found(feed, place, dialect == &database_dialect_pgsql ? wanted : NULL, why);
}

static void find(feed_t *feed, const char *now, int strange)
{
    database_joined_begin(feed->self, life, place_of(now, 0), strange);
}

static void begin(feed_t *feed, const char *name)
{
    feed_open(feed, apr_pstrcat(suite_pool, "database=", path_of(name), NULL));
    CU_ASSERT_PTR_NULL_FATAL(feed->wrong);
    ((database_t *)feed->self)->look = 100; /* without a thread */
    ((database_t *)feed->self)->sql.driver = dialect == &database_dialect_pgsql ? &sql_driver_pgsql : &sql_driver_mysql;
    life = database_joined_life(database_board_era(feed->self));
    base = 9;
}

static void test_looks(void)
{
    feed_t feed;

    begin(&feed, apr_pstrcat(suite_pool, dialect->name, "-joined.db", NULL));
    CU_ASSERT_FALSE(leave(&feed, &(written_t){10, "10:10:", "posts", "e", 1, 7}));
    is_found(&feed, "10:10:", NULL, "nobody watches yet");
    find(&feed, "10:10:", 1);
    is_found(&feed, "10:10:", NULL, "nothing new is here: why was the page woken?");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){10, "10:10:", "posts", "e", 1, 7}));
    CU_ASSERT_TRUE(leave(&feed, &(written_t){12, "11:11:", "posts", "e", 1, 8}));
    is_found(&feed, "10:10:", "11:13:.0 1", "two, one of which is for another wall");
    is_found(&feed, "11:11:", "11:13:.0 0", "that alone");
    is_found(&feed, "9:9:", NULL, "a place from before anybody watched");
    is_found(&feed, "11:13:.0", NULL, "both were seen");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){13, "13:13:", "posts", "e", 1, 7}));
    is_found(&feed, "11:13:.0", NULL, "it saw a transaction that nobody here knows");
    is_found_there(&feed, "13:13:", "14:14: 1", "which the database has shown meanwhile");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){15, "15:15:", "posts", "e", 1, 7}));
    CU_ASSERT_TRUE(leave(&feed, &(written_t){14, "14:14:", "other", "f", 1, 7}));
    is_found_there(&feed, "14:14:", "16:16: 1", "left in another order than committed; one is of another table");
    CU_ASSERT_PTR_NULL(look_from(&feed, place_of("14:14:", 0), "other", "{1}"));
    CU_ASSERT_PTR_NULL(look_from(&feed, place_of("14:14:", 0), "e", "{1,2}"));
    feed_close(&feed);
}

/* ------------------------------------------------------------ several at once */

#define LEAVERS 2
#define LEFT 400 /* by each of them */

typedef struct leaver_t {
    feed_t *feed;
    pthread_barrier_t *start;
    database_packed_t *packed;
} leaver_t;

static void *leave_many(void *data)
{
    const leaver_t *leaver = data;

    pthread_barrier_wait(leaver->start);
    for (int i = 0; i < LEFT; i++) {
        (void)database_joined_leave(leaver->feed->self, life, &leaver->packed[i], 1);
    }
    return NULL;
}

/* Transactions of each of them, from `xid` on, in turn. */
static void leave_at_once(feed_t *feed, leaver_t leavers[LEAVERS], apr_int64_t xid)
{
    const sql_table_t *posts = posts_of("{1}");
    pthread_barrier_t start;
    pthread_t threads[LEAVERS];

    CU_ASSERT_FATAL(pthread_barrier_init(&start, NULL, LEAVERS) == 0);
    for (int i = 0; i < LEAVERS; i++) {
        for (int k = 0; k < LEFT; k++) {
            const written_t written = {xid + k * LEAVERS + i, "10:10:", "posts", "e", 1, 7};

            json_decref(pack(&leavers[i].packed[k], posts, &written));
        }
        leavers[i].feed = feed;
        leavers[i].start = &start;
        CU_ASSERT_FATAL(pthread_create(&threads[i], NULL, leave_many, &leavers[i]) == 0);
    }
    for (int i = 0; i < LEAVERS; i++) {
        pthread_join(threads[i], NULL);
    }
    pthread_barrier_destroy(&start);
}

/* A look goes back until `top` says that nothing before can be new: so it is of no copy less than a transaction that was left before. */
static void test_tops(void)
{
    const int rounds = 800;
    leaver_t leavers[LEAVERS];
    const database_recent_t *recent;
    int wrong = 0;
    feed_t feed;

    dialect = &database_dialect_pgsql;
    begin(&feed, "tops.db");
    find(&feed, "10:10:", 1);
    recent = database_board_recent(feed.self);
    for (int i = 0; i < LEAVERS; i++) {
        leavers[i].packed = apr_palloc(suite_pool, LEFT * sizeof(database_packed_t));
    }
    for (int i = 0; i < rounds; i++) {
        apr_uint64_t number = recent->last;
        apr_int64_t largest = 0;

        leave_at_once(&feed, leavers, 10 + (apr_int64_t)i * LEAVERS * LEFT);
        while (number < recent->last) {
            database_head_t head = {0};

            number++;
            wrong += !database_copy_peek(recent->changes[number % DATABASE_RECENT], life, (apr_int64_t)number, &head);
            wrong += head.top < largest;
            largest = head.xid > largest ? head.xid : largest;
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
    feed_close(&feed);
}

/* What is announced, and is not here, is asked for. */
static void test_ends(void)
{
    feed_t feed;

    begin(&feed, apr_pstrcat(suite_pool, dialect->name, "-ends.db", NULL));
    find(&feed, "10:10:", 1);
    CU_ASSERT_TRUE(leave(&feed, &(written_t){10, "10:10:", "posts", "e", 1, 7}));
    find(&feed, "10:11:.0", 0);
    is_found(&feed, "10:10:", "11:11: 1", "the watcher has found nothing that it has to announce");
    find(&feed, "10:13:.0.1", 1);
    is_found(&feed, "10:10:", NULL, "a stranger has written");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){13, "13:13:", "posts", "e", 1, 7}));
    is_found_there(&feed, "13:13:", "14:14: 1", "who has seen that");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){14, "14:14:", "posts", "e", 0, 7}));
    is_found(&feed, "13:13:", NULL, "a transaction that has recorded more");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){15, "15:15:", "posts", "e", 1, 7}));
    is_found(&feed, "15:15:", "16:16: 1", "who has seen that, too");
    database_board_end_era(feed.self);
    is_found(&feed, "15:15:", NULL, "the database may be another one");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){16, "16:16:", "posts", "e", 1, 7}));
    life = database_joined_life(database_board_era(feed.self));
    CU_ASSERT_FALSE(leave(&feed, &(written_t){17, "17:17:", "posts", "e", 1, 7}));
    base = 2;
    find(&feed, "3:3:", 1);
    is_found(&feed, "16:16:", NULL, "of the era before nothing is left");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){3, "3:3:", "posts", "e", 1, 7}));
    is_found(&feed, "3:3:", "4:4: 1", "it has lower numbers");
    is_found(&feed, "16:16:", NULL, "which a page that is ahead of them is not told");
    feed_close(&feed);
}

/* The places are taken again, and may be half written. */
static void test_places(void)
{
    database_recent_t *recent;
    feed_t feed;

    begin(&feed, apr_pstrcat(suite_pool, dialect->name, "-places.db", NULL));
    recent = database_board_recent(feed.self);
    find(&feed, "10:10:", 1);
    for (int i = 0; i < DATABASE_RECENT + 20; i++) {
        const char *saw = apr_psprintf(suite_pool, "%d:%d:", 10 + i, 10 + i);

        CU_ASSERT_TRUE(leave(&feed, &(written_t){10 + i, saw, "posts", "e", 1, 7}));
    }
    is_found(&feed, "1024:1024:", "1054:1054: 30", "thirty that are there");
    is_found(&feed, "900:900:", NULL, "more than one look takes");
    is_found(&feed, "10:1054:.0", NULL, "one that was overwritten");
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        database_copy_t *copy = &recent->changes[(recent->last - 5) % DATABASE_RECENT];

        (*copy)[words[i]] ^= 1;
        is_found(&feed, "1052:1052:", "1054:1054: 2", "one that is half written, and need not be looked at");
        is_found(&feed, "1047:1047:", NULL, "and one that has to be");
        (*copy)[words[i]] ^= 1;
    }
    is_found(&feed, "1047:1047:", "1054:1054: 7", "when it is written it can be");
    feed_close(&feed);
}

/* ------------------------------------------------------------ MariaDB alone */

static void is_found_as(feed_t *feed, const char *place, const char *wanted, const char *why)
{
    const char *found = look_from(feed, place, "e", "{1}");

    is_true((found == NULL) == (wanted == NULL) && (found == NULL || strcmp(found, wanted) == 0), why);
}

static void begin_lists(feed_t *feed, const char *name)
{
    dialect = &database_dialect_mysql;
    begin(feed, name);
    database_joined_begin(feed->self, life, "9;", 1);
}

/* Leave what this place has seen, with its own changes. */
static void leave_as(feed_t *feed, apr_int64_t id, const char *saw, const char *image)
{
    json_t *change = json_pack("{s:I,s:I,s:i,s:s,s:s,s:s,s:s,s:n,s:s}", "id", (json_int_t)id, "xid", (json_int_t)id,
                               "alone", 1, "now", saw, "epoch", "e", "op", "I", "key", "1", "old", "new", image);
    database_packed_t packed;

    database_copy_pack(&packed, posts_of("{1}"), change);
    CU_ASSERT_TRUE(database_joined_leave(feed->self, life, &packed, 1));
    json_decref(change);
}

#define HERE "{\"wall\": \"I7\"}"

static void test_numbers(void)
{
    database_numbering_t numbering;
    database_recent_t *recent;
    feed_t feed;

    begin_lists(&feed, "numbers.db");
    recent = database_board_recent(feed.self);
    leave_as(&feed, 10, "9;10", HERE);
    leave_as(&feed, 11, "9;10,11", HERE);
    database_joined_number(feed.self, &numbering);
    leave_as(&feed, 12, "9;10,11,12", HERE);
    is_found_as(&feed, "11;", NULL, "numbers that are not yet told");
    database_joined_numbered(feed.self, &numbering, 9, "10,11", 1);
    is_found_as(&feed, "11;", "11;12 1", "those have been seen");
    is_found_as(&feed, "9;", "9;10,11,12 3", "those have not, and have numbers meanwhile");
    is_found_as(&feed, "9;10", "10;11,12 2", "a place gets short");
    is_found_as(&feed, "9;11", "9;10,11,12 2", "where there is no gap");
    is_found_as(&feed, "13;", NULL, "numbers that others have given");
    is_found_as(&feed, "11;12", NULL, "nothing is new");
    leave_as(&feed, 14, "13;14", HERE);
    is_found_as(&feed, "13;", NULL, "which a writer has seen, too: nobody knows whether 12 is one of them");
    is_found_as(&feed, "11;12", NULL, "nor what the others are");
    feed_close(&feed);

    begin_lists(&feed, "gone.db");
    recent = database_board_recent(feed.self);
    leave_as(&feed, 10, "9;10", HERE);
    database_joined_number(feed.self, &numbering);
    database_joined_numbered(feed.self, &numbering, 9, "10", 1);
    leave_as(&feed, 11, "10;11", HERE);
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        database_copy_t *copy = &recent->changes[(recent->last - 1) % DATABASE_RECENT]; /* of 10 */

        (*copy)[words[i]] ^= 1;
        is_found_as(&feed, "10;", "10;11 1", "one that is half written, and has a number that was seen");
        is_found_as(&feed, "9;", NULL, "or that was not");
        (*copy)[words[i]] ^= 1;
    }
    feed_close(&feed);
}

/* What cannot be left alone. */
static void test_own(void)
{
    char *large = apr_pcalloc(suite_pool, 2000);
    feed_t feed;

    begin_lists(&feed, "own.db");
    leave_as(&feed, 11, "9;10,11", HERE);
    is_found_as(&feed, "9;10", NULL, "two that nobody knows: both may be its own");
    leave_as(&feed, 12, "9;10,11,12", HERE);
    is_found_as(&feed, "9;10,11", "9;10,11,12 1", "which has an end, so that they are known to the next one");
    is_found_as(&feed, "9;11", NULL, "as long as one is there");
    memset(large, 'x', 1999);
    leave_as(&feed, 13, "9;10,11,12,13", large);
    is_found_as(&feed, "9;10,11,12", NULL, "too large");
    leave_as(&feed, 15, "9;10,11,12,15", HERE);
    is_found_as(&feed, "9;10,11,12", NULL, "also for what has not seen it");
    is_found_as(&feed, "9;10,11,12,13", "9;10,11,12,13,15 1", "that is an end, too");
    leave_as(&feed, 14, "9;10,11,12,13,14,15", HERE);
    leave_as(&feed, 14, "9;10,11,12,13,14,15", HERE);
    is_found_as(&feed, "9;10,11,12,13,14,15", NULL, "a transaction that has recorded nothing");
    leave_as(&feed, 16, "", HERE);
    leave_as(&feed, 17, "9;10,11,12,13,14,15,17", HERE);
    is_found_as(&feed, "9;10,11,12,13,14,15", NULL, "a place that is none");
    is_found_as(&feed, "9;10,11,12,13,14,15,16", NULL, "nobody has");
    feed_close(&feed);
}

/* The table of changes was emptied: ids come again. */
static void test_again(void)
{
    database_numbering_t numbering;
    feed_t feed;

    begin_lists(&feed, "again.db");
    leave_as(&feed, 10, "9;10", HERE);
    leave_as(&feed, 11, "9;10,11", HERE);
    database_joined_number(feed.self, &numbering);
    database_joined_numbered(feed.self, &numbering, 9, "10,11", 1);
    leave_as(&feed, 10, "11;10", HERE);
    leave_as(&feed, 12, "11;12", HERE);
    is_found_as(&feed, "11;", NULL, "one that was known by its id, and is another");
    is_found_as(&feed, "11;10", "11;10,12 1", "who has it");
    feed_close(&feed);
}

/* A stranger's change is announced: who has it not is to ask. One that is found with what is announced already is no end. */
static void test_strangers(void)
{
    feed_t feed;

    begin_lists(&feed, "strangers.db");
    leave_as(&feed, 10, "9;10", HERE);
    database_joined_begin(feed.self, life, "9;10,20", 1);
    is_found_as(&feed, "9;", NULL, "a stranger's");
    is_found_as(&feed, "9;20", "9;10,20 1", "that is there already");
    leave_as(&feed, 21, "9;10,20,21", HERE);
    is_found_as(&feed, "9;10", NULL, "it is not forgotten for what comes after");
    is_found_as(&feed, "9;10,20", "9;10,20,21 1", "nor is it one of the writer's");
    feed_close(&feed);

    begin_lists(&feed, "early.db");
    leave_as(&feed, 10, "8;10", HERE);
    is_found_as(&feed, "8;", NULL, "what was there when the watching began");
    feed_close(&feed);
}

/* How long the watcher rests because of what a page has seen. Milliseconds. */
static void test_rests(void)
{
    static const struct {
        int seen, looked_at, now, look, rest;
        const char *why;
    } rows[] = {
        {0, 1000, 1001, 200, 0, "no page has looked"},
        {1000, 0, 1001, 200, 0, "the watcher has not"},
        {1000, 900, 1001, 200, 199, "as long as after a look of its own"},
        {1000, 900, 1199, 200, 1, "nearly"},
        {1000, 900, 1200, 200, 0, "and no longer"},
        {3000, 1100, 3001, 200, 99, "but it looks every two seconds"},
        {3000, 1000, 3001, 200, 0, "whatever pages do"},
        {1002, 900, 1001, 200, 0, "a clock that goes back"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        is_true(database_glimpse_rest(apr_time_from_msec(rows[i].seen), apr_time_from_msec(rows[i].looked_at),
                                      apr_time_from_msec(rows[i].now), rows[i].look) == rows[i].rest,
                rows[i].why);
    }
}

/* What a page hears in its look; "e" is its watching, "f" another one. */
static void test_glimpses(void)
{
    static const struct {
        const char *told;
        int sees;
        const char *why;
    } rows[] = {
        {"9;10", 1, "what the watcher has"},
        {"9;", 1, "less: a look that was earlier"},
        {"9;10,11", 1, "and what is marked"},
        {"9;10,12", 0, "what nobody has announced"},
        {"9;10,13", 0, "a mark of another table"},
        {"10;", 0, "numbers that nobody knows"},
        {"8;", 0, "an older place"},
    };
    feed_t feed;
    database_mark_t marks[2];

    begin_lists(&feed, "glimpses.db");
    database_board_keep_place(feed.self, "9;10");
    marks[0] = database_board_mark(feed.self, database_board_era(feed.self), "e", 11);
    marks[1] = database_board_mark(feed.self, database_board_era(feed.self), "f", 13);
    database_board_leave(feed.self, marks, 2);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        sql_call_t c = {.db = feed.self, .pool = suite_pool};
        database_look_t look = {.dialect = dialect,
                                .epoch = "e",
                                .told = rows[i].told,
                                .began = apr_time_from_sec(1),
                                .era = database_board_era(feed.self)};

        database_board_see(feed.self, 0);
        database_glimpse(&c, &look);
        is_true((database_board_seen(feed.self) == look.began) == rows[i].sees, rows[i].why);
    }
    feed_close(&feed);
}

/* A place that comes a row for each part, beside the row of the watching. */
static void test_parts(void)
{
    static const struct {
        const char *ids[5], *told; /* "w": the watching; "": a part without an id */
        int heard;
        const char *why;
    } rows[] = {
        {{"w", ""}, "7;", 1, "all is numbered"},
        {{"w", "12"}, "7;12", 1, "one is not"},
        {{"w", "12", "3", "14"}, "7;12,3,14", 1, "some are not, in no order"},
        {{"12", "w", "3", "14"}, "7;12,3,14", 1, "rows are in no order either"},
        {{"", "w"}, "7;", 1, "likewise where all is numbered"},
        {{"w"}, "0;", 1, "there is no row for parts"},
        {{"12", "3"}, "7;12,3", 0, "the table is not watched"},
    };
    sql_call_t c = {.pool = suite_pool};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        database_look_t look = {.dialect = &database_dialect_mysql};
        int heard = 0;

        for (int part = 0; part < 5 && rows[i].ids[part] != NULL; part++) {
            const char *const id = rows[i].ids[part];
            const char *const watching[] = {"e", "5", "[]", NULL};
            const char *const cells[] = {"", "7", "[]", id[0] != '\0' ? id : NULL};

            heard = database_changes_hear(&c, &look, id[0] == 'w' ? watching : cells);
        }
        is_true(strcmp(look.told, rows[i].told) == 0, rows[i].why);
        is_true(heard == rows[i].heard && (look.epoch != NULL) == heard, rows[i].why);
        is_true(!heard || strcmp(look.span.pruned, "5") == 0, rows[i].why);
    }
}

/* However many there are, it is too long, and not much longer. */
static void test_many_parts(void)
{
    database_look_t look = {.dialect = &database_dialect_mysql};
    sql_call_t c = {.pool = suite_pool};

    for (int id = 1; id <= 5000; id++) {
        const char *const cells[] = {"", "7", "[]", apr_psprintf(suite_pool, "%d", id)};

        database_changes_hear(&c, &look, cells);
    }
    is_true(database_dialect_mysql.is_long(look.told) && strlen(look.told) < 2 * DATABASE_PLACE_BYTES, "too long");
}

static void on_pgsql(void (*test)(void))
{
    dialect = &database_dialect_pgsql;
    test();
}

static void on_mysql(void (*test)(void))
{
    dialect = &database_dialect_mysql;
    test();
}

static void test_looks_pgsql(void)
{
    on_pgsql(test_looks);
}

static void test_looks_mysql(void)
{
    on_mysql(test_looks);
}

static void test_ends_pgsql(void)
{
    on_pgsql(test_ends);
}

static void test_ends_mysql(void)
{
    on_mysql(test_ends);
}

static void test_places_pgsql(void)
{
    on_pgsql(test_places);
}

void vault_database_joined_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_joined", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "a transaction joins what has seen all that it saw", test_join);
    CU_add_test(suite, "places, and snapshots as they are told", test_read);
    CU_add_test(suite, "a page takes what it can have whole", test_looks_pgsql);
    CU_add_test(suite, "... on MariaDB, too", test_looks_mysql);
    CU_add_test(suite, "what is announced otherwise is asked for", test_ends_pgsql);
    CU_add_test(suite, "... on MariaDB, too ", test_ends_mysql);
    CU_add_test(suite, "copies that are gone are none", test_places_pgsql);
    CU_add_test(suite, "a copy knows of all that were left before", test_tops);
    CU_add_test(suite, "changes that get numbers", test_numbers);
    CU_add_test(suite, "changes that cannot be left alone", test_own);
    CU_add_test(suite, "ids that come again", test_again);
    CU_add_test(suite, "changes of strangers", test_strangers);
    CU_add_test(suite, "a place in parts", test_parts);
    CU_add_test(suite, "... of which there are too many", test_many_parts);
    CU_add_test(suite, "what a page sees for the watcher", test_glimpses);
    CU_add_test(suite, "how long that one rests", test_rests);
}
