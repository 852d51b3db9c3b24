/* SPDX-License-Identifier: Apache-2.0 */
/* Places in the change table of PostgreSQL: what a snapshot becomes, and what is asked with it. No server is needed. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "driver.h"
#include "snapshot.h"
#include "unit.h"

void vault_database_place_suite(void);

static sql_database_t server = {.driver = &sql_driver_pgsql, .database = "none"};

static sql_call_t call_of(void)
{
    sql_call_t c = {.db = &server, .pool = suite_pool};

    return c;
}

static const char *place_of(const char *told)
{
    sql_call_t c = call_of();
    const char *place = NULL;

    CU_ASSERT_EQUAL_FATAL(database_dialect_pgsql.place(&c, told, &place), APR_SUCCESS);
    return place;
}

/* The condition for what is new since then. */
static const char *since(const char *place)
{
    sql_call_t c = call_of();
    sql_statement_t *sql = sql_statement_make(&c);

    database_dialect_pgsql.append_since(sql, place);
    return sql->text;
}

static int is_lost(const char *place, const char *now, const char *pruned)
{
    sql_call_t c = call_of();
    const database_span_t span = {.since = place, .now = now, .pruned = pruned};

    return database_dialect_pgsql.is_lost(&c, &span);
}

static void test_compact(void)
{
    static const struct {
        const char *told, *place, *why;
    } rows[] = {
        {"750:750:", "750:750:", "nothing is in progress"},
        {"750:760:750", "750:760:.0", "one is: it is xmin"},
        {"750:760:750,751,759", "750:760:.0.1.8", "distances from one to the next"},
        {"4294968023:4294968323:4294968023,4294968123,4294968322", "4294968023:4294968323:.0.100.199",
         "after milliards of transactions"},
        {"9223372036854775800:9223372036854775807:9223372036854775800,9223372036854775806",
         "9223372036854775800:9223372036854775807:.0.6", "as many as there can be"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *place = place_of(rows[i].told);

        CU_ASSERT_STRING_EQUAL(place, rows[i].place);
        check(since(place), apr_pstrcat(suite_pool, "E'", rows[i].told, "'::pg_catalog.pg_snapshot", NULL),
              rows[i].told, rows[i].why);
        CU_ASSERT_FALSE(is_lost(place, place, ""));
    }
}

/* `count` transactions in progress, each `step` after the one before. */
static const char *told_of(int count, int step)
{
    apr_int64_t first = APR_INT64_C(12345678901);
    const char *told = apr_psprintf(suite_pool, "%" APR_INT64_T_FMT ":%" APR_INT64_T_FMT ":", first,
                                    first + (apr_int64_t)count * step);

    for (int i = 0; i < count; i++) {
        told = apr_psprintf(suite_pool, "%s%s%" APR_INT64_T_FMT, told, i > 0 ? "," : "", first + (apr_int64_t)i * step);
    }
    return told;
}

static void test_many(void)
{
    static const struct {
        int count, step, whole;
        const char *why;
    } rows[] = {
        {200, 1, 1, "two hundred"},    {900, 1, 1, "as many as connections make sense"},
        {600, 10, 1, "farther apart"}, {360, 5000, 1, "and farther"},
        {2000, 1, 0, "too many"},      {2000, 5000, 0, "far too many"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *told = told_of(rows[i].count, rows[i].step);
        const char *place = place_of(told);
        const char *condition = since(place);
        const char *begin = strstr(condition, "E'") + 2;
        const char *end = strchr(begin, '\'');
        const char *list = strchr(strchr(told, ':') + 1, ':') + 1;
        const char *kept = strchr(strchr(begin, ':') + 1, ':') + 1;

        /* Two of them in a batch that was cut, with its id and the epoch. */
        CU_ASSERT_TRUE(2 * strlen(place) + 64 < VAULT_PROPERTY_VALUE_MAX);
        CU_ASSERT_EQUAL(strncmp(begin, told, (size_t)(end - begin)) == 0 && told[end - begin] == '\0', rows[i].whole);
        if (!rows[i].whole) {
            /* It ends at one that is in progress, so that all beyond is new. */
            const char *last =
                apr_psprintf(suite_pool, ",%" APR_INT64_T_FMT ",", apr_strtoi64(strchr(begin, ':') + 1, NULL, 10));

            CU_ASSERT_EQUAL(strncmp(kept, list, (size_t)(end - kept)), 0);
            CU_ASSERT_EQUAL(strncmp(list + (end - kept), last, strlen(last)), 0);
            CU_ASSERT_TRUE(end - kept > 1850);
        }
    }
}

static void test_lost(void)
{
    static const struct {
        const char *place, *now, *pruned;
        int lost;
        const char *why;
    } rows[] = {
        {"750:760:.0", "770:770:", "", 0, "later"},
        {"750:760:.0", "750:760:.0", "749", 0, "what is pruned was seen"},
        {"750:760:.0", "770:770:", "750", 1, "what is pruned may not have been seen"},
        {"750:790:.0", "770:770:", "", 1, "ahead: of a database that was restored"},
        {"750:760:.0|765:765:|12", "770:770:", "", 0, "a batch that was cut"},
        {"750:760:.0|765:765:", "770:770:", "", 1, "half a batch"},
        {"750:760:750,751", "770:770:", "", 1, "a list as the database tells it"},
        {"750:760:750", "770:770:", "", 1, "of one"},
        {"750:760", "770:770:", "", 1, "cut"},
        {"750", "770:770:", "", 1, "a number"},
        {"760:750:", "770:770:", "", 1, "its end before its beginning"},
        {"750:760:.0.10", "770:770:", "", 1, "a transaction beyond its end"},
        {"750:760:.9223372036854775807.9223372036854775807", "770:770:", "", 1, "beyond all numbers"},
        {"750:760:.1.0", "770:770:", "", 1, "one twice"},
        {"750:760:.0x", "770:770:", "", 1, "not a list of numbers"},
        {"750:760:.0|9:8:|12", "770:770:", "", 1, "a batch that was cut, and no end of it"},
        {"", "770:770:", "", 1, "nothing"},
        {"750:760:.0' OR 1", "770:770:", "", 1, "anything else"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        int lost = is_lost(rows[i].place, rows[i].now, rows[i].pruned);

        check(lost == rows[i].lost ? "right" : "wrong", "right", rows[i].place, rows[i].why);
    }
}

/* ------------------------------------------------------------ crashes */

static void test_last(void)
{
    static const struct {
        const char *told, *place, *why;
    } rows[] = {
        {"731:731:/726", "727:727:", "four that have left nothing may be given again"},
        {"731:731:/730", "731:731:", "the last one has recorded something"},
        {"725:731:725,728/729", "725:730:.0.3", "in progress, and before it"},
        {"725:731:725,728/727", "725:728:.0", "one is beyond"},
        {"725:731:725,728/720", "721:721:", "both are"},
        {"731:731:/0", "1:1:", "nothing was recorded"},
        {"731:731:/740", "731:731:", "what was pruned was of a database that was restored"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        database_snapshot_t told, place;

        check(place_of(rows[i].told), rows[i].place, rows[i].told, rows[i].why);
        CU_ASSERT_TRUE_FATAL(database_snapshot_read(&told, rows[i].told));
        CU_ASSERT_TRUE_FATAL(database_snapshot_read(&place, rows[i].place));
        for (apr_int64_t xid = 1; xid < 750; xid++) {
            CU_ASSERT_EQUAL(database_snapshot_has(&told, xid), database_snapshot_has(&place, xid));
        }
        CU_ASSERT_TRUE(is_lost(rows[i].told, "800:800:", ""));
    }
}

/* A look without the database can be beyond the last recorded transaction of its table: by those of other tables. */
static void test_beyond_last(void)
{
    sql_call_t c = call_of();
    database_span_t span = {.since = "740:740:", .now = "721:721:", .told = "741:741:/720", .pruned = ""};

    CU_ASSERT_FALSE(database_dialect_pgsql.is_lost(&c, &span));
    span.told = "739:739:/720";
    CU_ASSERT_TRUE(database_dialect_pgsql.is_lost(&c, &span));
}

enum { FIRST = 700, IDS = 60, ENDS = 4 };

/* A transaction has begun, ended without a trace, committed something else, or recorded something. */
typedef enum fate_e { BEGUN, UNDONE, ELSEWHERE, RECORDED } fate_e;

/* As the database tells of those so far. */
static const char *tell(const fate_e *fates, int count)
{
    int last = 0, first = count;
    const char *list = "";

    for (int i = 0; i < count; i++) {
        if (fates[i] == BEGUN) {
            first = i < first ? i : first;
            list = apr_psprintf(suite_pool, "%s%s%d", list, list[0] != '\0' ? "," : "", FIRST + i);
        }
        last = fates[i] == RECORDED ? FIRST + i : last;
    }
    return apr_psprintf(suite_pool, "%d:%d:%s/%d", FIRST + first, FIRST + count, list, last);
}

/* @return how many of them are wrong */
static int judge(const database_snapshot_t *place, const fate_e *fates, int count)
{
    int on_disk = FIRST; /* as little as there can be: what was committed */
    int wrong = 0;

    for (int i = 0; i < count; i++) {
        int has = database_snapshot_has(place, FIRST + i);

        wrong += (fates[i] == RECORDED && !has) || (fates[i] == BEGUN && has);
        on_disk = fates[i] >= ELSEWHERE ? FIRST + i + 1 : on_disk;
    }
    for (int xid = on_disk; xid < FIRST + 2 * IDS; xid++) {
        wrong += database_snapshot_has(place, xid);
    }
    return wrong;
}

/* Each recorded change that was seen is seen by the place, none in progress is, and no id that can be given again. */
static void test_drawn(void)
{
    unsigned int drawn = 20261123;
    int wrong = 0;

    for (int round = 0; round < 5000; round++) {
        fate_e fates[IDS];
        int count = 1 + round % IDS;
        database_snapshot_t place;

        for (int i = 0; i < count; i++) {
            drawn = drawn * 1103515245U + 12345U;
            fates[i] = (fate_e)((drawn >> 16) % ENDS);
        }
        CU_ASSERT_TRUE_FATAL(database_snapshot_read(&place, place_of(tell(fates, count))));
        wrong += judge(&place, fates, count);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

void vault_database_place_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_place", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "a snapshot with what is in progress", test_compact);
    CU_add_test(suite, "hundreds in progress", test_many);
    CU_add_test(suite, "places that say nothing", test_lost);
    CU_add_test(suite, "no place claims an id that a crash gives again", test_last);
    CU_add_test(suite, "a place beyond the last recorded change", test_beyond_last);
    CU_add_test(suite, "what places claim, drawn", test_drawn);
}
