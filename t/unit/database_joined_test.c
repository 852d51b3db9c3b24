/* SPDX-License-Identifier: Apache-2.0 */
/* Looks that join transactions to a place of PostgreSQL, without the database. No server is needed. */
#include <CUnit/CUnit.h>

#include "board.h"
#include "database_scene.h"
#include "driver.h"
#include "joined.h"
#include "snapshot.h"
#include "unit.h"

void vault_database_joined_suite(void);

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

/* The tables of a connection: posts, and the same with a column more. */
static const sql_table_t *posts_of(const char *shape)
{
    sql_table_t *table = apr_pcalloc(suite_pool, sizeof(*table));

    table->name = "posts";
    table->shape = shape;
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

static int leave(feed_t *feed, const written_t *written)
{
    sql_table_t table = *posts_of("{1}");
    json_t *change =
        json_pack("{s:I,s:I,s:i,s:s,s:s,s:s,s:s,s:n,s:o}", "id", (json_int_t)written->xid, "xid",
                  (json_int_t)written->xid, "alone", written->alone, "now", written->saw, "epoch", written->epoch, "op",
                  "I", "key", "1", "old", "new", json_sprintf("{\"wall\":\"I%d\"}", written->wall));
    database_packed_t packed;

    table.name = written->table;
    database_copy_pack(&packed, &table, change);
    json_decref(change);
    return database_joined_leave(feed->self, life, &packed, 1);
}

/* "PLACE ID ID …" of a page on wall 7; NULL: the database has to be asked. */
static const char *look_from(feed_t *feed, const char *place, const char *epoch, const char *shape)
{
    const database_wanted_t wanted = {.column = "wall", .value = "7", .most = 100, .alone = 1};
    sql_call_t c = {.db = feed->self, .pool = suite_pool, .table = posts_of(shape)};
    database_look_t look = {.dialect = &database_dialect_pgsql};
    const char *found;

    if (!database_joined_look(&c, &look, &wanted, place, epoch)) {
        return NULL;
    }
    found = apr_psprintf(suite_pool, "%s %d", look.next, (int)json_array_size(look.changes));
    json_decref(look.changes);
    return found;
}

static void is_found(feed_t *feed, const char *place, const char *wanted, const char *why)
{
    const char *found = look_from(feed, place, "e", "{1}");

    is_true((found == NULL) == (wanted == NULL) && (found == NULL || strcmp(found, wanted) == 0), why);
}

static void begin(feed_t *feed, const char *name)
{
    feed_open(feed, apr_pstrcat(suite_pool, "database=", path_of(name), NULL));
    CU_ASSERT_PTR_NULL_FATAL(feed->wrong);
    ((database_t *)feed->self)->look = 100; /* without a thread */
    ((database_t *)feed->self)->sql.driver = &sql_driver_pgsql;
    life = database_joined_life(database_board_era(feed->self));
}

static void test_looks(void)
{
    feed_t feed;

    begin(&feed, "joined.db");
    CU_ASSERT_FALSE(leave(&feed, &(written_t){10, "10:10:", "posts", "e", 1, 7}));
    is_found(&feed, "10:10:", NULL, "nobody watches yet");
    database_joined_begin(feed.self, life, "10:10:", 1);
    is_found(&feed, "10:10:", NULL, "nothing new is here: why was the page woken?");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){10, "10:10:", "posts", "e", 1, 7}));
    CU_ASSERT_TRUE(leave(&feed, &(written_t){12, "11:11:", "posts", "e", 1, 8}));
    is_found(&feed, "10:10:", "11:13:.0 1", "two, one of which is for another wall");
    is_found(&feed, "11:11:", "11:13:.0 0", "that alone");
    is_found(&feed, "9:9:", NULL, "a place from before anybody watched");
    is_found(&feed, "11:13:.0", NULL, "both were seen");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){13, "13:13:", "posts", "e", 1, 7}));
    is_found(&feed, "11:13:.0", NULL, "it saw a transaction that nobody here knows");
    is_found(&feed, "13:13:", "14:14: 1", "which the database has shown meanwhile");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){15, "15:15:", "posts", "e", 1, 7}));
    CU_ASSERT_TRUE(leave(&feed, &(written_t){14, "14:14:", "other", "f", 1, 7}));
    is_found(&feed, "14:14:", "16:16: 1", "left in another order than committed; one is of another table");
    CU_ASSERT_PTR_NULL(look_from(&feed, "14:14:", "other", "{1}"));
    CU_ASSERT_PTR_NULL(look_from(&feed, "14:14:", "e", "{1,2}"));
    feed_close(&feed);
}

/* What is announced, and is not here, is asked for. */
static void test_ends(void)
{
    feed_t feed;

    begin(&feed, "joined-ends.db");
    database_joined_begin(feed.self, life, "10:10:", 1);
    CU_ASSERT_TRUE(leave(&feed, &(written_t){10, "10:10:", "posts", "e", 1, 7}));
    database_joined_begin(feed.self, life, "10:11:.0", 0);
    is_found(&feed, "10:10:", "11:11: 1", "the watcher has found nothing that it has to announce");
    database_joined_begin(feed.self, life, "10:13:.0.1", 1);
    is_found(&feed, "10:10:", NULL, "a stranger has written");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){13, "13:13:", "posts", "e", 1, 7}));
    is_found(&feed, "13:13:", "14:14: 1", "who has seen that");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){14, "14:14:", "posts", "e", 0, 7}));
    is_found(&feed, "13:13:", NULL, "a transaction that has recorded more");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){15, "15:15:", "posts", "e", 1, 7}));
    is_found(&feed, "15:15:", "16:16: 1", "who has seen that, too");
    database_board_end_era(feed.self);
    is_found(&feed, "15:15:", NULL, "the database may be another one");
    CU_ASSERT_TRUE(leave(&feed, &(written_t){16, "16:16:", "posts", "e", 1, 7}));
    life = database_joined_life(database_board_era(feed.self));
    CU_ASSERT_FALSE(leave(&feed, &(written_t){17, "17:17:", "posts", "e", 1, 7}));
    database_joined_begin(feed.self, life, "3:3:", 1);
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

    begin(&feed, "joined-places.db");
    recent = database_board_recent(feed.self);
    database_joined_begin(feed.self, life, "10:10:", 1);
    for (int i = 0; i < DATABASE_RECENT + 20; i++) {
        const char *saw = apr_psprintf(suite_pool, "%d:%d:", 10 + i, 10 + i);

        CU_ASSERT_TRUE(leave(&feed, &(written_t){10 + i, saw, "posts", "e", 1, 7}));
    }
    is_found(&feed, "1024:1024:", "1054:1054: 30", "thirty that are there");
    is_found(&feed, "900:900:", NULL, "more than one look takes");
    is_found(&feed, "10:1054:.0", NULL, "one that was overwritten");
    recent->changes[(recent->last - 5) % DATABASE_RECENT][6] ^= 1;
    is_found(&feed, "1052:1052:", "1054:1054: 2", "one that is half written, and need not be looked at");
    is_found(&feed, "1047:1047:", NULL, "and one that has to be");
    feed_close(&feed);
}

void vault_database_joined_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_joined", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "a transaction joins what has seen all that it saw", test_join);
    CU_add_test(suite, "places, and snapshots as they are told", test_read);
    CU_add_test(suite, "a page takes what it can have whole", test_looks);
    CU_add_test(suite, "what is announced otherwise is asked for", test_ends);
    CU_add_test(suite, "copies that are gone are none", test_places);
}
