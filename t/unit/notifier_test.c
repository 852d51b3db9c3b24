/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of interests, one thing after the other: names, stamps, arming, a full table, wrong indexes. Races are
 * in notifier_race_test.c. */
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "fixture.h"
#include "notify/notifier_tables.h"
#include "unit.h"

#define MANY 40000
#define SLOTS 70 /* more than one word of the mask has bits */

static vault_interest_t hold(fixture_t *f, const char *name, apr_uint64_t *stamp)
{
    vault_interest_t interest = 0;

    CU_ASSERT_FATAL(vault_interest_hold(f->notifier, name, &interest, stamp) == APR_SUCCESS);
    CU_ASSERT_FATAL(interest >= 1 && interest <= vault_notifier_interests(f->notifier));
    return interest;
}

static unsigned claim(fixture_t *f, pid_t pid)
{
    unsigned slot = 0;

    CU_ASSERT_FATAL(vault_slot_claim(f->notifier, pid, &slot) == APR_SUCCESS);
    return slot;
}

/* ---------------------------------------------------------- names and holders */

static void names_have_bounds(void)
{
    char longest[VAULT_INTEREST_MAX + 1], too_long[VAULT_INTEREST_MAX + 2], copy[VAULT_INTEREST_MAX + 1];
    const struct {
        const char *name;
        apr_status_t held;
        const char *why;
    } rows[] = {
        {"", APR_EINVAL, "empty"},
        {NULL, APR_EINVAL, "none"},
        {"a", APR_SUCCESS, "the shortest"},
        {"DB-logs", APR_SUCCESS, "a usual one"},
        {"seven77", APR_SUCCESS, "a step of the hash less one"},
        {"eight888", APR_SUCCESS, "a step of the hash"},
        {"nine99999", APR_SUCCESS, "a step of the hash and one"},
        {"a\tb\n\xff\xc3\xa4 <&>", APR_SUCCESS, "any byte but NUL"},
        {longest, APR_SUCCESS, "the longest"},
        {too_long, APR_EINVAL, "too long by one"},
    };
    fixture_t f;
    unsigned i, held = 0;

    memset(longest, 'x', sizeof(longest));
    longest[VAULT_INTEREST_MAX] = '\0';
    memset(too_long, 'x', sizeof(too_long));
    too_long[VAULT_INTEREST_MAX + 1] = '\0';
    fixture_begin(&f, 100, SLOTS, 0);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_interest_t interest = 99;
        apr_uint64_t stamp;
        apr_status_t rv = vault_interest_hold(f.notifier, rows[i].name, &interest, &stamp);

        CHECK_ROW(rv == rows[i].held, rows[i].why);
        CHECK_ROW((interest != 0) == (rv == APR_SUCCESS), rows[i].why);
        CHECK_ROW(vault_notifier_notify(f.notifier, rows[i].name, 0) == rows[i].held, rows[i].why);
        vault_interest_name(f.notifier, interest, copy, sizeof(copy));
        CHECK_ROW(!strcmp(copy, rv ? "" : rows[i].name), rows[i].why);
        held += rv == APR_SUCCESS;
    }
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), held);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void a_name_is_cut_to_what_the_caller_has(void)
{
    fixture_t f;
    char copy[8] = "*******";
    apr_uint64_t stamp;
    vault_interest_t interest;

    fixture_begin(&f, 100, SLOTS, 0);
    interest = hold(&f, "DB-logs", &stamp);
    vault_interest_name(f.notifier, interest, copy, 4);
    CU_ASSERT_STRING_EQUAL(copy, "DB-");
    CU_ASSERT_EQUAL(copy[4], '*');
    vault_interest_name(f.notifier, interest, copy, 8);
    CU_ASSERT_STRING_EQUAL(copy, "DB-logs");
    vault_interest_name(f.notifier, interest, NULL, 0);
    fixture_end(&f);
}

static void an_interest_lives_as_long_as_its_holders(void)
{
    fixture_t f;
    vault_interest_t a, b;
    apr_uint64_t first, second;

    fixture_begin(&f, 100, SLOTS, 0);
    a = hold(&f, "DB-logs", &first);
    b = hold(&f, "DB-logs", &second);
    CU_ASSERT_EQUAL(a, b);
    CU_ASSERT_EQUAL(first, second);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    vault_interest_release(f.notifier, a);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "DB-logs", 0), APR_SUCCESS);
    vault_interest_release(f.notifier, b);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "DB-logs", 0), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 0);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* ------------------------------------------------------------------- stamps */

/* I1: stamps only grow; no number is used twice; a created interest's stamp is above every earlier number. */
static void stamps_only_grow(void)
{
    fixture_t f;
    vault_interest_t a, b;
    apr_uint64_t stamp, last = 0;
    int i;

    fixture_begin(&f, 100, SLOTS, 0);
    for (i = 0; i < 100; i++) {
        a = hold(&f, "a", &stamp);
        CU_ASSERT(stamp > last);
        b = hold(&f, "b", &last);
        CU_ASSERT(last > stamp);
        CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", 0), APR_SUCCESS);
        stamp = vault_interest_stamp(f.notifier, a);
        CU_ASSERT(stamp > last);
        vault_notifier_notify_interest(f.notifier, a, 0);
        last = vault_interest_stamp(f.notifier, a);
        CU_ASSERT(last > stamp);
        CU_ASSERT(vault_interest_stamp(f.notifier, b) < stamp);
        vault_interest_release(f.notifier, a);
        vault_interest_release(f.notifier, b);
    }
    fixture_end(&f);
}

/* A notify of an unheld interest leaves no trace, so the stamp of the new interest must say "may have moved". */
static void a_made_again_interest_has_moved(void)
{
    fixture_t f;
    vault_interest_t a;
    apr_uint64_t before, after;

    fixture_begin(&f, 100, SLOTS, 0);
    a = hold(&f, "a", &before);
    vault_interest_release(f.notifier, a);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", 0), APR_NOTFOUND);
    hold(&f, "a", &after);
    CU_ASSERT(after > before);
    fixture_end(&f);
}

static void a_notify_that_nobody_waits_for_takes_no_number(void)
{
    fixture_t f;
    apr_uint64_t now;

    fixture_begin(&f, 100, SLOTS, 0);
    now = f.notifier->clock->now;
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", 0), APR_NOTFOUND);
    CU_ASSERT_EQUAL(f.notifier->clock->now, now);
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, 0)->notifies, 1);
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, 0)->notifies_held, 0);
    fixture_end(&f);
}

/* I8: after notify_all every effective stamp is above every stamp recorded before it. */
static void all_moves_every_stamp(void)
{
    fixture_t f;
    apr_uint64_t stamp[50], highest = 0, made_after;
    vault_interest_t interest[50];
    char name[16];
    int i;

    fixture_begin(&f, 100, SLOTS, 0);
    for (i = 0; i < 50; i++) {
        apr_snprintf(name, sizeof(name), "all-%d", i);
        interest[i] = hold(&f, name, &stamp[i]);
        highest = stamp[i] > highest ? stamp[i] : highest;
    }
    vault_notifier_all(f.notifier, 0);
    for (i = 0; i < 50; i++) {
        CU_ASSERT(vault_interest_stamp(f.notifier, interest[i]) > highest);
        CU_ASSERT(vault_interest_arm(f.notifier, interest[i], 1) > highest);
        apr_snprintf(name, sizeof(name), "all-%d", i);
        hold(&f, name, &stamp[i]);
        CU_ASSERT(stamp[i] > highest);
    }
    hold(&f, "new", &made_after);
    CU_ASSERT(made_after > vault_interest_stamp(f.notifier, interest[0]));
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, 0)->notify_alls, 1);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* ------------------------------------------------------------------- arming */

/* I3: an armed interest is queued once by the next notify, unless arming has seen that notify. */
static void what_is_armed_is_told_once(void)
{
    fixture_t f;
    vault_interest_t a, list[VAULT_SLOT_QUEUE];
    unsigned slot, other, count;
    apr_uint64_t stamp;

    fixture_begin(&f, 100, SLOTS, 0);
    other = claim(&f, 100);
    while ((slot = claim(&f, (pid_t)(200 + other))) < SLOTS - 1) { /* a slot in the second word of the mask */
        other = slot;
    }
    a = hold(&f, "a", &stamp);
    CU_ASSERT_EQUAL(vault_interest_arm(f.notifier, a, slot), stamp);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", other), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", other), APR_SUCCESS);
    CU_ASSERT(fixture_rung(&f, slot));
    CU_ASSERT(!fixture_is_rung(&f, other));
    CU_ASSERT_EQUAL(vault_slot_drain(f.notifier, slot, list, VAULT_SLOT_QUEUE, &count), 0);
    CU_ASSERT(count == 1 && list[0] == a);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", other), APR_SUCCESS);
    CU_ASSERT(!fixture_is_rung(&f, slot)); /* not armed again */
    CU_ASSERT(vault_interest_arm(f.notifier, a, slot) > stamp);
    vault_notifier_notify_interest(f.notifier, a, other);
    CU_ASSERT(fixture_rung(&f, slot));
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, other)->notifies, 4);
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, other)->notifies_held, 4);
    fixture_end(&f);
}

static void every_armed_child_is_told(void)
{
    fixture_t f;
    vault_interest_t a, list[VAULT_SLOT_QUEUE];
    apr_uint64_t stamp;
    unsigned s, count;

    fixture_begin(&f, 100, SLOTS, 0);
    a = hold(&f, "a", &stamp);
    for (s = 1; s <= SLOTS; s++) {
        vault_interest_arm(f.notifier, a, claim(&f, (pid_t)(100 + s)));
    }
    vault_notifier_notify(f.notifier, "a", 0);
    for (s = 1; s <= SLOTS; s++) {
        CU_ASSERT(fixture_is_rung(&f, s));
        CU_ASSERT_EQUAL(vault_slot_drain(f.notifier, s, list, VAULT_SLOT_QUEUE, &count), 0);
        CU_ASSERT(count == 1 && list[0] == a);
    }
    fixture_end(&f);
}

/* ------------------------------------------------- many, none, and wrong ones */

static vault_interest_t hold_row(fixture_t *f, int row, apr_status_t *rv)
{
    char name[32];
    vault_interest_t interest;
    apr_uint64_t stamp;

    apr_snprintf(name, sizeof(name), "DB-table-%d", row);
    *rv = vault_interest_hold(f->notifier, name, &interest, &stamp);
    return interest;
}

static void forty_thousand_and_not_one_more(void)
{
    fixture_t f;
    vault_interest_t *all;
    apr_status_t rv;
    int i, wrong = 0;

    fixture_begin(&f, MANY, SLOTS, 0);
    all = apr_palloc(f.pool, MANY * sizeof(*all));
    for (i = 0; i < MANY; i++) {
        all[i] = hold_row(&f, i, &rv);
        wrong += rv != APR_SUCCESS;
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), MANY);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    CU_ASSERT_EQUAL(hold_row(&f, MANY, &rv), 0);
    CU_ASSERT_EQUAL(rv, APR_ENOSPC);
    CU_ASSERT_EQUAL(hold_row(&f, 5, &rv), all[5]); /* one more holder is no new one */
    CU_ASSERT_EQUAL(rv, APR_SUCCESS);
    vault_interest_release(f.notifier, all[5]);
    vault_interest_release(f.notifier, all[777]);
    CU_ASSERT_EQUAL(hold_row(&f, MANY, &rv), all[777]);
    CU_ASSERT_EQUAL(rv, APR_SUCCESS);
    for (i = 0; i < MANY; i++) {
        vault_interest_release(f.notifier, all[i]);
    }
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 0);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* Chains stay short: 40,000 names in the form that feeds use, in twice as many buckets. */
static void the_hash_spreads(void)
{
    fixture_t f;
    unsigned *chain, longest = 0, i;
    vault_key_t key;
    char name[32];

    fixture_begin(&f, MANY, SLOTS, 0);
    chain = apr_pcalloc(f.pool, ((apr_size_t)f.notifier->bucket_mask + 1) * sizeof(*chain));
    for (i = 0; i < MANY; i++) {
        unsigned *length;

        apr_snprintf(name, sizeof(name), "DB-table-%u", i);
        CU_ASSERT_FATAL(vault_key_make(f.notifier, name, &key));
        length = &chain[key.hash & f.notifier->bucket_mask];
        longest = ++*length > longest ? *length : longest;
    }
    CU_ASSERT(longest <= 12);
    fixture_end(&f);
}

static void wrong_indexes_are_harmless(void)
{
    fixture_t f;
    vault_interest_t held, released;
    apr_uint64_t stamp;
    unsigned i, slot;
    char name[16];

    fixture_begin(&f, 100, SLOTS, 0);
    slot = claim(&f, 100);
    held = hold(&f, "held", &stamp);
    released = hold(&f, "released", &stamp);
    vault_interest_release(f.notifier, released);
    {
        const vault_interest_t rows[] = {0, released, 99, 100, 101, 0x7fffffff, 0x80000000u, 0xffffffffu};

        for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
            vault_interest_stamp(f.notifier, rows[i]);
            vault_interest_arm(f.notifier, rows[i], slot);
            vault_interest_arm(f.notifier, rows[i], 0xffffffffu);
            vault_notifier_notify_interest(f.notifier, rows[i], slot);
            vault_interest_release(f.notifier, rows[i]);
            vault_interest_name(f.notifier, rows[i], name, sizeof(name));
            CU_ASSERT_STRING_EQUAL(name, "");
        }
    }
    CU_ASSERT(!fixture_is_rung(&f, slot));
    CU_ASSERT_EQUAL(vault_interest_count(f.notifier), 1);
    vault_interest_name(f.notifier, held, name, sizeof(name));
    CU_ASSERT_STRING_EQUAL(name, "held");
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* A caller that keeps a released index sees it move, and is then woken by another interest. */
static void a_stale_index_moves_and_means_a_stranger(void)
{
    fixture_t f;
    vault_interest_t a, b, list[VAULT_SLOT_QUEUE];
    apr_uint64_t seen, stamp;
    unsigned slot, count;

    fixture_begin(&f, 1, SLOTS, 0);
    slot = claim(&f, 100);
    a = hold(&f, "a", &seen);
    vault_interest_release(f.notifier, a);
    CU_ASSERT(vault_interest_arm(f.notifier, a, slot) > seen);
    b = hold(&f, "b", &stamp);
    CU_ASSERT_EQUAL(b, a);
    CU_ASSERT(vault_interest_arm(f.notifier, a, slot) > seen);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", 0), APR_NOTFOUND);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "b", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_slot_drain(f.notifier, slot, list, VAULT_SLOT_QUEUE, &count), 0);
    CU_ASSERT(count == 1 && list[0] == a);
    fixture_end(&f);
}

/* A segment that is too small, and impossible limits. */
static void what_does_not_fit_is_refused(void)
{
    const struct {
        vault_limits_t limits;
        apr_status_t rv;
        const char *why;
    } rows[] = {
        {{4096, 100, 1, 2, 0}, APR_ENOSPC, "too small"},
        {{1024 * 1024, MANY, 1, 2, 0}, APR_ENOSPC, "too small for so many interests"},
        {{1024 * 1024, 0xffffffffu, 1, 2, 0}, APR_EINVAL, "more interests than an index can say"},
        {{1024 * 1024, 0, 1, 2, 0}, APR_EINVAL, "no interests"},
        {{1024 * 1024, 100, 1, 0, 0}, APR_EINVAL, "no slots"},
        {{1024 * 1024, 100, 1, VAULT_SLOTS_MAX + 1, 0}, APR_EINVAL, "too many slots"},
        {{1024 * 1024, 100, 1, 1000, 0}, APR_ENOSPC, "too small for so many slots"},
    };
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_segment_t *segment;
        vault_notifier_t *notifier;
        apr_pool_t *pool;

        CU_ASSERT_FATAL(apr_pool_create(&pool, NULL) == APR_SUCCESS);
        CU_ASSERT_FATAL(vault_segment_create(&segment, &rows[i].limits, pool) == APR_SUCCESS);
        CHECK_ROW(vault_notifier_create(&notifier, segment, pool) == rows[i].rv, rows[i].why);
        CU_ASSERT_PTR_NULL(notifier);
        apr_pool_destroy(pool);
    }
}

/* The other tests rely on the check, so it must detect damage. */
static void the_check_sees_damage(void)
{
    fixture_t f;
    vault_interest_t a;
    vault_record_t *record;
    vault_stripe_t *stripe;
    apr_uint64_t stamp;

    fixture_begin(&f, 100, SLOTS, 0);
    a = hold(&f, "a", &stamp);
    record = vault_record_at(f.notifier, a);
    stripe = vault_stripe_of(f.notifier, record->hash);
    CHECK_SOUND(vault_notifier_check(f.notifier));
#define SEES(place, value)                                                                                             \
    do {                                                                                                               \
        __typeof__(place) kept = (place);                                                                              \
        (place) = (value);                                                                                             \
        CU_ASSERT_PTR_NOT_NULL(vault_notifier_check(f.notifier));                                                      \
        (place) = kept;                                                                                                \
        CHECK_SOUND(vault_notifier_check(f.notifier));                                                                 \
    } while (0)
    SEES(record->holders, 0);
    SEES(record->hash, record->hash + 1);
    SEES(record->name[0], 'b');
    SEES(record->length, 2);
    SEES(record->next, a);
    SEES(record->next, 4711);
    SEES(record->stamp, f.notifier->clock->now + 1);
    SEES(stripe->held, 2);
    SEES(f.notifier->tables->fresh, 0);
    SEES(f.notifier->tables->free, a);
    SEES(f.notifier->tables->free, 4711);
    SEES(f.notifier->clock->floor, f.notifier->clock->now + 1);
#undef SEES
    fixture_end(&f);
}

void vault_notifier_suite(void)
{
    CU_pSuite suite = CU_add_suite("notifier", NULL, NULL);

    CU_ADD_TEST(suite, names_have_bounds);
    CU_ADD_TEST(suite, a_name_is_cut_to_what_the_caller_has);
    CU_ADD_TEST(suite, an_interest_lives_as_long_as_its_holders);
    CU_ADD_TEST(suite, stamps_only_grow);
    CU_ADD_TEST(suite, a_made_again_interest_has_moved);
    CU_ADD_TEST(suite, a_notify_that_nobody_waits_for_takes_no_number);
    CU_ADD_TEST(suite, all_moves_every_stamp);
    CU_ADD_TEST(suite, what_is_armed_is_told_once);
    CU_ADD_TEST(suite, every_armed_child_is_told);
    CU_ADD_TEST(suite, forty_thousand_and_not_one_more);
    CU_ADD_TEST(suite, the_hash_spreads);
    CU_ADD_TEST(suite, wrong_indexes_are_harmless);
    CU_ADD_TEST(suite, a_stale_index_moves_and_means_a_stranger);
    CU_ADD_TEST(suite, what_does_not_fit_is_refused);
    CU_ADD_TEST(suite, the_check_sees_damage);
}
