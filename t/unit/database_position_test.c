/* SPDX-License-Identifier: Apache-2.0 */
/* Positions in the change table: which changes they contain, and for PostgreSQL what a snapshot becomes. No
 * server is needed. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "log/dialect.h"
#include "log/position.h"
#include "log/position_mysql.h"
#include "sql/driver.h"
#include "unit.h"

void vault_database_position_suite(void);

static sql_database_t server = {.driver = &sql_driver_pgsql, .database = "none"};

static sql_call_t call_of(void)
{
    sql_call_t c = {.db = &server, .pool = suite_pool};

    return c;
}

static const char *position_of(const char *told)
{
    return log_dialect_pgsql.position_of(told, suite_pool);
}

/* Has that transaction been seen? */
static int has(const log_position_t *position, apr_int64_t xid)
{
    const log_change_id_t change = {.id = 1, .number = xid};

    return log_position_pgsql.contains(position, &change);
}

/* The condition for what is new since then. */
static const char *since(const char *position)
{
    sql_call_t c = call_of();
    sql_statement_t *sql = sql_statement_make(&c);

    log_position_pgsql.append_since(sql, position);
    return sql->text;
}

static int is_lost(const char *position, const char *now, const char *pruned)
{
    const log_span_t span = {.since = position, .now = now, .pruned = pruned};

    return log_position_pgsql.is_lost(suite_pool, &span);
}

static void test_compact(void)
{
    static const struct {
        const char *told, *position, *why;
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
        const char *position = position_of(rows[i].told);

        CU_ASSERT_STRING_EQUAL(position, rows[i].position);
        check(since(position), apr_pstrcat(suite_pool, "E'", rows[i].told, "'::pg_catalog.pg_snapshot", NULL),
              rows[i].told, rows[i].why);
        CU_ASSERT_FALSE(is_lost(position, position, ""));
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
        const char *position = position_of(told);
        const char *condition = since(position);
        const char *begin = strstr(condition, "E'") + 2;
        const char *end = strchr(begin, '\'');
        const char *list = strchr(strchr(told, ':') + 1, ':') + 1;
        const char *kept = strchr(strchr(begin, ':') + 1, ':') + 1;

        /* Two of them in a batch that was cut, with its id and the epoch. */
        CU_ASSERT_TRUE(2 * strlen(position) + 64 < VAULT_PROPERTY_VALUE_MAX);
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
        const char *position, *now, *pruned;
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
        {"750:760:750", "770:770:", "", 0, "of one"},
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
        int lost = is_lost(rows[i].position, rows[i].now, rows[i].pruned);

        check(lost == rows[i].lost ? "right" : "wrong", "right", rows[i].position, rows[i].why);
    }
}

/* ------------------------------------------------------------ crashes */

static void test_last(void)
{
    static const struct {
        const char *told, *position, *why;
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
        log_position_t told, position;

        check(position_of(rows[i].told), rows[i].position, rows[i].told, rows[i].why);
        CU_ASSERT_TRUE_FATAL(log_position_pgsql.read(&told, rows[i].told));
        CU_ASSERT_TRUE_FATAL(log_position_pgsql.read(&position, rows[i].position));
        for (apr_int64_t xid = 1; xid < 750; xid++) {
            CU_ASSERT_EQUAL(has(&told, xid), has(&position, xid));
        }
        CU_ASSERT_TRUE(is_lost(rows[i].told, "800:800:", ""));
    }
}

/* A position from the ring can be beyond the last recorded transaction of its table: by those of other tables. */
static void test_beyond_last(void)
{
    log_span_t span = {.since = "740:740:", .now = "721:721:", .told = "741:741:/720", .pruned = ""};

    CU_ASSERT_FALSE(log_position_pgsql.is_lost(suite_pool, &span));
    span.told = "739:739:/720";
    CU_ASSERT_TRUE(log_position_pgsql.is_lost(suite_pool, &span));
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
static int judge(const log_position_t *position, const fate_e *fates, int count)
{
    int on_disk = FIRST; /* as little as there can be: what was committed */
    int wrong = 0;

    for (int i = 0; i < count; i++) {
        int is_seen = has(position, FIRST + i);

        wrong += (fates[i] == RECORDED && !is_seen) || (fates[i] == BEGUN && is_seen);
        on_disk = fates[i] >= ELSEWHERE ? FIRST + i + 1 : on_disk;
    }
    for (int xid = on_disk; xid < FIRST + 2 * IDS; xid++) {
        wrong += has(position, xid);
    }
    return wrong;
}

/* Each recorded change that was seen is seen by the position, none in progress is, and no id that can be given
 * again. */
static void test_drawn(void)
{
    unsigned int drawn = 20261123;
    int wrong = 0;

    for (int round = 0; round < 5000; round++) {
        fate_e fates[IDS];
        int count = 1 + round % IDS;
        log_position_t position;

        for (int i = 0; i < count; i++) {
            drawn = drawn * 1103515245U + 12345U;
            fates[i] = (fate_e)((drawn >> 16) % ENDS);
        }
        CU_ASSERT_TRUE_FATAL(log_position_pgsql.read(&position, position_of(tell(fates, count))));
        wrong += judge(&position, fates, count);
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

/* ------------------------------------------------------------ sets */

static const log_position_type_t *type_of(char kind)
{
    return kind == 's' ? &log_position_sqlite3 : kind == 'p' ? &log_position_pgsql : &log_position_mysql;
}

static void test_text(void)
{
    static const struct {
        char kind;
        const char *text, *again, *why;
    } rows[] = {
        {'s', "17", "17", "an id"},
        {'s', "0", "0", "nothing"},
        {'s', "", NULL, "no text"},
        {'s', "17;", NULL, "a position of MariaDB"},
        {'s', "-1", NULL, "a negative id"},
        {'p', "750:760:", "760:760:", "nothing is missing"},
        {'p', "750:760:.0.1.8", "750:760:.0.1.8", "three are"},
        {'p', "750:760:.3", "753:760:.0", "from the first one on that is missing"},
        {'p', "750:760:753,754/753", "753:754:.0", "as PostgreSQL tells it, up to the last recorded one"},
        {'p', "750:760:.0|770:770:|12", NULL, "a batch that was cut"},
        {'p', "750:760:.9223372036854775807.1", NULL, "a sum beyond all numbers"},
        {'p', "17", NULL, "a position of SQLite"},
        {'m', "10;", "10;", "all have numbers"},
        {'m', "10;11,12", "10;11,12", "two have none"},
        {'m', "10;12,11,12", "10;11,12", "in another order, one of them twice"},
        {'m', "0;3", "0;3", "nothing has a number"},
        {'m', "10;0,3", NULL, "a batch that was cut"},
        {'m', "", NULL, "no text"},
        {'m', "10", NULL, "no list"},
        {'m', ";11", NULL, "no number"},
        {'m', "10;11,", NULL, "a list that goes on"},
        {'m', "10;,11", NULL, "an empty one"},
        {'m', "10;11 ,12", NULL, "a blank"},
        {'m', "10;11;12", NULL, "two lists"},
        {'m', "9223372036854775807;9223372036854775807", "9223372036854775807;9223372036854775807", "the largest"},
        {'m', "9223372036854775808;1", NULL, "one that is larger"},
        {'m', "10;11,92233720368547758070", NULL, "much larger"},
        {'m', "10:10:", NULL, "a position of PostgreSQL"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const log_position_type_t *type = type_of(rows[i].kind);
        log_position_t position;
        const char *again = type->read(&position, rows[i].text) ? type->text(&position, suite_pool) : NULL;

        check(again != NULL ? again : "none", rows[i].again != NULL ? rows[i].again : "none", rows[i].text,
              rows[i].why);
    }
}

static void test_contains(void)
{
    static const struct {
        char kind;
        const char *position;
        apr_int64_t id, number;
        int contains;
        const char *why;
    } rows[] = {
        {'s', "17", 17, 0, 1, "the last id"},
        {'s', "17", 18, 0, 0, "the next one"},
        {'p', "750:760:.3", 9, 752, 1, "before the one that is missing"},
        {'p', "750:760:.3", 9, 753, 0, "that one"},
        {'p', "750:760:.3", 9, 754, 1, "behind it"},
        {'p', "750:760:.3", 9, 759, 1, "the last one"},
        {'p', "750:760:.3", 9, 760, 0, "the end"},
        {'m', "10;21,25", 25, 0, 1, "an id in the list"},
        {'m', "10;21,25", 25, 11, 1, "and it has got a number"},
        {'m', "10;21,25", 24, 10, 1, "the last number"},
        {'m', "10;21,25", 24, 11, 0, "the next one"},
        {'m', "10;21,25", 24, 0, 0, "neither in the list nor with a number"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const log_change_id_t change = {.id = rows[i].id, .number = rows[i].number};
        log_position_t position;

        CU_ASSERT_TRUE_FATAL(type_of(rows[i].kind)->read(&position, rows[i].position));
        check(type_of(rows[i].kind)->contains(&position, &change) ? "yes" : "no", rows[i].contains ? "yes" : "no",
              rows[i].position, rows[i].why);
    }
}

static void test_merge(void)
{
    static const struct {
        char kind;
        const char *one, *other, *both, *why;
    } rows[] = {
        {'s', "17", "12", "17", "the larger one"},
        {'p', "760:760:", "770:770:", "770:770:", "nothing is missing"},
        {'p', "750:760:.0", "750:770:.0", "750:770:.0", "missing in both"},
        {'p', "750:760:.0", "770:770:", "770:770:", "missing in the shorter one"},
        {'p', "750:760:", "755:770:.0.10", "765:770:.0",
         "missing in the longer one, before and behind the end of the other"},
        {'p', "750:770:.3", "750:770:.5", "770:770:", "each has what the other misses"},
        {'m', "10;", "12;", "12;", "the larger one"},
        {'m', "10;21", "12;", "12;21", "an id whose number is unknown"},
        {'m', "10;21", "10;22", "10;21,22", "both lists"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const log_position_type_t *type = type_of(rows[i].kind);

        for (int swapped = 0; swapped < 2; swapped++) {
            log_position_t a, b;

            CU_ASSERT_TRUE_FATAL(type->read(&a, swapped ? rows[i].other : rows[i].one));
            CU_ASSERT_TRUE_FATAL(type->read(&b, swapped ? rows[i].one : rows[i].other));
            CU_ASSERT_TRUE(type->merge(&a, &b));
            check(type->text(&a, suite_pool), rows[i].both, rows[i].one, rows[i].why);
        }
    }
}

static void test_learn(void)
{
    static const struct {
        const char *before;
        apr_int64_t id, number;
        const char *after, *why;
    } rows[] = {
        {"12;21,22", 21, 11, "12;22", "a number that the position covers"},
        {"12;21,22", 21, 12, "12;22", "the last one"},
        {"12;21,22", 21, 13, "12;21,22", "one behind it"},
        {"12;21,22", 23, 11, "12;21,22", "another change"},
        {"12;21,22", 21, 0, "12;21,22", "none yet"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const log_change_id_t change = {.id = rows[i].id, .number = rows[i].number};
        log_position_t position;

        CU_ASSERT_TRUE_FATAL(log_position_mysql.read(&position, rows[i].before));
        log_position_mysql.learn(&position, &change);
        check(log_position_mysql.text(&position, suite_pool), rows[i].after, rows[i].before, rows[i].why);
    }
}

/* More exceptions than there is room for are no set, and no merge. */
static void test_too_many_exceptions(void)
{
    log_position_t one = {.end = 1}, other = {.end = 1};

    for (int i = 0; i < LOG_POSITION_MAX; i++) {
        CU_ASSERT_TRUE(log_position_except(&one, 10 + 2 * i));
    }
    CU_ASSERT_FALSE(log_position_except(&one, 11));
    CU_ASSERT_TRUE(log_position_except(&one, 10));
    CU_ASSERT_TRUE(log_position_except(&other, 11));
    CU_ASSERT_FALSE(log_position_mysql.merge(&one, &other));
    CU_ASSERT_PTR_NULL(log_position_mysql.text(&one, suite_pool)); /* nor is there room for the text */
}

/* MariaDB: where a reader is after a batch that was cut. Changes without a number come last, by their ids. */
#define UNNUMBERED (APR_INT64_C(1) << 62)

static void test_batches_of_mysql(void)
{
    static const struct {
        const char *since, *now;
        apr_int64_t last;
        const char *next, *why;
    } rows[] = {
        {"10;", "10;21,22,23,24", UNNUMBERED + 22, "10;21,22", "the first two without a number"},
        {"10;21,22", "10;21,22,23,24", UNNUMBERED + 23, "10;21,22,23", "and one more: each id once"},
        {"10;22", "10;21,22,23,24", UNNUMBERED + 21, "10;21,22", "one that was seen before comes later"},
        {"10;21,22", "12;23,24,25", UNNUMBERED + 23, "12;23", "those that were seen have got numbers"},
        {"10;21,22", "12;22,23,24", 11, "11;0,21,22", "within those that have numbers"},
        {"11;0,21,22", "12;22,23,24", UNNUMBERED + 23, "12;22,23", "and then behind them"},
        {"10;21", "12;22", 0, "12;22", "the last batch"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const log_span_t span = {.since = rows[i].since, .now = rows[i].now, .pruned = ""};
        const char *last = rows[i].last > 0 ? apr_psprintf(suite_pool, "%" APR_INT64_T_FMT, rows[i].last) : NULL;
        int again = -1;

        check(log_position_mysql.next(suite_pool, &span, last, &again), rows[i].next, rows[i].since, rows[i].why);
        CU_ASSERT_EQUAL(again, rows[i].last > 0);
    }
}

/* However many batches a page reads, its position names each change once, so there is room for it in a cursor. */
static void test_many_batches_of_mysql(void)
{
    const char *now = "10;", *position = "10;";
    const int first = 1000, count = 350;
    log_position_t read;

    for (int id = first; id < first + count; id++) {
        now = apr_psprintf(suite_pool, "%s%s%d", now, id > first ? "," : "", id);
    }
    CU_ASSERT_FALSE(log_position_mysql_is_long(now));
    for (int id = first; id < first + count; id += 7) {
        const log_span_t span = {.since = position, .now = now, .pruned = ""};
        int again;

        CU_ASSERT_FALSE(log_position_mysql.is_lost(suite_pool, &span));
        position = log_position_mysql.next(suite_pool, &span,
                                           apr_psprintf(suite_pool, "%" APR_INT64_T_FMT, UNNUMBERED + id + 6), &again);
        CU_ASSERT_TRUE(strlen(position) <= strlen(now));
    }
    CU_ASSERT_STRING_EQUAL(position, now);
    CU_ASSERT_TRUE(log_position_mysql.read(&read, position));
    CU_ASSERT_EQUAL(read.count, count);
}

enum { NUMBERS = 40 };

/* Two sets of transactions, drawn, as texts. */
static void draw_set(unsigned *drawn, int *members, log_position_t *position)
{
    int end = 1;

    *position = (log_position_t){0};
    for (int i = 1; i < NUMBERS; i++) {
        *drawn = *drawn * 1103515245U + 12345U;
        members[i] = (*drawn >> 16) % 3 != 0;
        end = members[i] ? i + 1 : end;
    }
    position->end = end;
    for (int i = 1; i < end; i++) {
        if (!members[i]) {
            (void)log_position_except(position, i);
        }
    }
}

/* What is merged contains what one of the two contains, and nothing else; so does what is read from its text. */
static void test_merge_drawn(void)
{
    unsigned drawn = 20261124;
    int wrong = 0;

    for (int round = 0; round < 3000; round++) {
        int in_one[NUMBERS], in_other[NUMBERS];
        log_position_t one, other, read;

        draw_set(&drawn, in_one, &one);
        draw_set(&drawn, in_other, &other);
        CU_ASSERT_TRUE(log_position_pgsql.merge(&one, &other));
        CU_ASSERT_TRUE_FATAL(log_position_pgsql.read(&read, log_position_pgsql.text(&one, suite_pool)));
        for (int i = 1; i < NUMBERS; i++) {
            wrong += has(&one, i) != (in_one[i] || in_other[i]) || has(&read, i) != has(&one, i);
        }
    }
    CU_ASSERT_EQUAL(wrong, 0);
}

void vault_database_position_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_position", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "texts and sets", test_text);
    CU_add_test(suite, "what a position contains", test_contains);
    CU_add_test(suite, "what two contain", test_merge);
    CU_add_test(suite, "what two contain, drawn", test_merge_drawn);
    CU_add_test(suite, "a change has got a number", test_learn);
    CU_add_test(suite, "too many exceptions", test_too_many_exceptions);
    CU_add_test(suite, "MariaDB: a position after a batch", test_batches_of_mysql);
    CU_add_test(suite, "MariaDB: a position after many batches", test_many_batches_of_mysql);
    CU_add_test(suite, "a snapshot with what is in progress", test_compact);
    CU_add_test(suite, "hundreds in progress", test_many);
    CU_add_test(suite, "positions that say nothing", test_lost);
    CU_add_test(suite, "no position claims an id that a crash gives again", test_last);
    CU_add_test(suite, "a position beyond the last recorded change", test_beyond_last);
    CU_add_test(suite, "what positions claim, drawn", test_drawn);
}
