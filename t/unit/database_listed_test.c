/* SPDX-License-Identifier: Apache-2.0 */
/* Sets of changes without and with a number, as places of MariaDB say them. No server is needed. */
#include <CUnit/CUnit.h>

#include "database_scene.h"
#include "listed.h"
#include "unit.h"

void vault_database_listed_suite(void);

static void is_true(int condition, const char *why)
{
    check(condition ? "right" : "wrong", "right", "", why);
}

static database_number_t numbers[DATABASE_NUMBERED];
static const database_numbered_t all = {numbers, 7}, none = {numbers, 8};

static void test_read(void)
{
    static const struct {
        const char *text, *again, *why;
    } rows[] = {
        {"10;", "10;", "all have numbers"},
        {"10;11,12", "10;11,12", "two have none"},
        {"10;12,11,12", "10;11,12", "in another order, one of them twice"},
        {"0;3", "0;3", "nothing has a number"},
        {"", NULL, "nothing"},
        {"10", NULL, "no list"},
        {";11", NULL, "no number"},
        {"10;11,", NULL, "a list that goes on"},
        {"10;,11", NULL, "an empty one"},
        {"10;11 ,12", NULL, "a blank"},
        {"10;11;12", NULL, "two lists"},
        {"9223372036854775807;9223372036854775807", "9223372036854775807;9223372036854775807", "the largest numbers"},
        {"9223372036854775808;1", NULL, "one that is larger"},
        {"10;11,92233720368547758070", NULL, "much larger"},
        {"-1;", NULL, "one that is negative"},
        {"10:10:", NULL, "a place of PostgreSQL"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        database_listed_t s;
        int is_one = database_listed_read(&s, rows[i].text);

        is_true(is_one == (rows[i].again != NULL), rows[i].why);
        if (is_one && rows[i].again != NULL) {
            check(database_listed_text(&s, 1000, suite_pool), rows[i].again, "again", rows[i].why);
        }
    }
}

static void test_too_many(void)
{
    database_listed_t s;
    char *text = apr_pstrdup(suite_pool, "1;5");

    for (int i = 1; i < DATABASE_LISTED_MAX; i++) {
        text = apr_psprintf(suite_pool, "%s,%d", text, 5 + i);
    }
    is_true(database_listed_read(&s, text) && database_listed_add(&s, 5), "as many as there is room for");
    is_true(!database_listed_add(&s, 4) && s.count == DATABASE_LISTED_MAX, "not one more");
    is_true(!database_listed_read(&s, apr_pstrcat(suite_pool, text, ",4", NULL)), "nor when it is read");
    CU_ASSERT_TRUE_FATAL(database_listed_read(&s, text));
    CU_ASSERT_PTR_NULL(database_listed_text(&s, 100, suite_pool));
}

/* Two places, and what is known of the numbers between them. */
static void test_follows(void)
{
    static const struct {
        const char *seen, *saw;
        int id, follows;
        const char *why;
    } rows[] = {
        {"100;", "100;5", 5, 1, "the next one"},
        {"100;", "100;4,5", 5, 0, "it saw another one"},
        {"100;4", "100;4,5", 5, 1, "which is there"},
        {"100;6", "100;5", 5, 1, "one more is there"},
        {"102;", "100;11,5", 5, 1, "which has the number 101 now"},
        {"101;", "100;12,5", 5, 0, "which has 102"},
        {"100;11", "102;5", 5, 0, "it saw 102, too"},
        {"100;12,11", "102;5", 5, 1, "both are there without numbers"},
        {"103;", "103;5", 5, 1, "numbers that nobody knows, but both have them"},
        {"103;", "102;9,5", 5, 0, "nobody knows whether 103 is it"},
        {"102;9", "104;5", 5, 0, "nor what 103 is"},
        {"0;", "100;5", 5, 0, "far apart"},
        {"100;", "100;", 0, 1, "an end that is there"},
        {"100;", "100;5", 0, 0, "and one that is not"},
    };
    database_listed_t seen, saw;

    database_numbered_leave(&all, 101, 11, 3);
    database_numbered_leave(&all, 102, 12, 4);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_TRUE_FATAL(database_listed_read(&seen, rows[i].seen) && database_listed_read(&saw, rows[i].saw));
        is_true(database_listed_follows(&seen, &saw, rows[i].id, &all) == rows[i].follows, rows[i].why);
    }
    CU_ASSERT_TRUE_FATAL(database_listed_read(&seen, "102;") && database_listed_read(&saw, "100;11,5"));
    is_true(!database_listed_follows(&seen, &saw, 5, &none), "numbers of another life");
    numbers[101].copies++;
    is_true(!database_listed_follows(&seen, &saw, 5, &all), "one that is half written");
}

/* ------------------------------------------------------------ a random walk */

#define CHANGES 200

/* What there is: which changes are committed, their numbers, what a reader has. */
typedef struct world_t {
    int is_there[CHANGES + 1], number[CHANGES + 1], last;
    unsigned seed;
} world_t;

static int draw(world_t *w, int below)
{
    w->seed = w->seed * 1103515245 + 12345;
    return (int)((w->seed >> 16) % (unsigned)below);
}

static void give_numbers(world_t *w, int is_told)
{
    for (int id = 1; id <= CHANGES; id++) {
        if (w->is_there[id] && w->number[id] == 0) {
            w->number[id] = ++w->last;
            if (is_told) {
                database_numbered_leave(&all, w->last, id, 0);
            }
        }
    }
}

/* A place of all that is there. */
static void look(const world_t *w, database_listed_t *s, int *has)
{
    s->last = w->last;
    s->count = 0;
    for (int id = 1; id <= CHANGES; id++) {
        has[id] = w->is_there[id];
        if (w->is_there[id] && w->number[id] == 0) {
            CU_ASSERT_TRUE(database_listed_add(s, id));
        }
    }
}

static int has_all(const int *has, const int *saw, int but)
{
    for (int id = 1; id <= CHANGES; id++) {
        if (saw[id] && !has[id] && id != but) {
            return 0;
        }
    }
    return 1;
}

/* What it says of each change is what a reader of it would find in the database. */
static int says_what_it_has(const world_t *w, const database_listed_t *s, const int *has)
{
    for (int id = 1; id <= CHANGES; id++) {
        int found = (w->number[id] != 0 && w->number[id] <= s->last) || database_listed_lists(s, id);

        if (found != has[id]) {
            return 0;
        }
    }
    return 1;
}

static int count_cb(void *data, apr_int64_t id)
{
    ((int *)data)[id]++;
    return 1;
}

/* Changes are committed in any order, some are numbered now and then, and not always is it told; a reader joins what has a place of its own. What is
 * known to be so is so, and as long as all is told it is known. */
static void walk(unsigned seed, int tells)
{
    world_t w = {.seed = seed};
    int has[CHANGES + 1] = {0}, saw[CHANGES + 1] = {0};
    int good = 1, joined = 0, was_told = 1;
    database_listed_t mine = {0}, theirs = {0};

    memset(numbers, 0, sizeof(numbers));
    for (int step = 0; step < 400 && good; step++) {
        int id = 1 + draw(&w, CHANGES);

        switch (draw(&w, 6)) {
        case 0:
            was_told = tells || draw(&w, 3) != 0 ? was_told : 0;
            give_numbers(&w, was_told);
            break;
        case 1:
            look(&w, &mine, has);
            break;
        default:
            if (!w.is_there[id]) {
                int follows, known;

                w.is_there[id] = 1;
                look(&w, &theirs, saw);
                if (draw(&w, 4) == 0) {
                    give_numbers(&w, was_told); /* before somebody looks from memory */
                }
                follows = has_all(has, saw, id);
                known = database_listed_follows(&mine, &theirs, id, &all);
                good = was_told ? known == follows : known <= follows;
                if (known && database_listed_has(&mine, id, theirs.last, &all) == 0) {
                    good = good && database_listed_add(&mine, id);
                    has[id] = 1;
                    joined++;
                }
            }
        }
        database_listed_shorten(&mine, &all);
        good = good && says_what_it_has(&w, &mine, has);
        if (good && was_told) {
            int found[CHANGES + 1] = {0}, now[CHANGES + 1];

            look(&w, &theirs, now);
            good = database_listed_each_new(&mine, &theirs, &all, count_cb, found);
            for (int i = 1; i <= CHANGES; i++) {
                good = good && found[i] == (now[i] && !has[i]);
            }
        }
    }
    is_true(good, apr_psprintf(suite_pool, "seed %u", seed));
    is_true(joined > 10 || !tells, apr_psprintf(suite_pool, "seed %u: it joins some", seed));
}

static void test_walk(void)
{
    for (unsigned seed = 1; seed <= 200; seed++) {
        walk(seed, 1);
        walk(seed, 0);
    }
}

/* A place of a database that has lost what was committed last. */
static void test_lost(void)
{
    static const struct {
        const char *since, *now;
        int lost;
        const char *why;
    } rows[] = {
        {"90;", "90;", 0, "nothing is new"},
        {"90;91,93", "90;91,93,94", 0, "nothing is gone"},
        {"90;91,93", "92;94", 0, "they have numbers"},
        {"90;91,93", "91;93", 0, "one has"},
        {"90;91,93", "90;91", 1, "one has none, and is gone"},
        {"90;91,92,93", "91;", 1, "likewise two of three, where one has got a number"},
        {"91;", "90;91", 1, "numbers are gone"},
        {"200;0,91,92", "200;301", 0, "a place within a batch, with ids that have smaller numbers"},
    };
    const database_span_t batch = {.since = "90;91,92", .now = "200;301", .pruned = "0"};
    sql_call_t c = {.pool = suite_pool};
    int again;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const database_span_t span = {.since = rows[i].since, .now = rows[i].now, .pruned = "0"};

        check(database_dialect_mysql.is_lost(&c, &span) ? "lost" : "there", rows[i].lost ? "lost" : "there", "",
              rows[i].why);
    }
    check(database_dialect_mysql.next(&c, &batch, "150", &again), "150;0,91,92", "", "within a batch");
    check(database_dialect_mysql.next(&c, &(database_span_t){.since = "150;0,91,92", .now = "200;301", .pruned = "0"},
                                      "200", &again),
          "200;0,91,92", "", "and in the next one");
    check(database_dialect_mysql.next(&c, &batch, NULL, &again), "200;301", "", "at its end");
}

void vault_database_listed_suite(void)
{
    CU_pSuite suite = CU_add_suite("database_listed", scene_suite_start, scene_suite_stop);

    CU_add_test(suite, "places, read and written", test_read);
    CU_add_test(suite, "more than there is room for", test_too_many);
    CU_add_test(suite, "one set has all that another has", test_follows);
    CU_add_test(suite, "a random walk beside sets that are written out", test_walk);
    CU_add_test(suite, "places of a database that has lost some", test_lost);
}
