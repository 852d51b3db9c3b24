/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the children's slots: owners, wake queues, counters, and processes killed in between. */
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "fixture.h"
#include "notify/notifier_tables.h"
#include "unit.h"

#define SLOTS 70 /* more than a word of the mask */
#define NAMES (VAULT_SLOT_QUEUE + 100)

static unsigned claim(fixture_t *f, pid_t pid)
{
    unsigned slot = 0;

    CU_ASSERT_FATAL(vault_slot_claim(f->notifier, pid, &slot) == APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_slot_pid(f->notifier, slot), pid);
    return slot;
}

static vault_interest_t hold(fixture_t *f, const char *name)
{
    vault_interest_t interest = 0;
    apr_uint64_t stamp;

    CU_ASSERT_FATAL(vault_interest_hold(f->notifier, name, &interest, &stamp) == APR_SUCCESS);
    return interest;
}

/* @return the result of vault_slot_drain(); the list belongs to the caller */
static int drain(fixture_t *f, unsigned slot, vault_interest_t *list, unsigned *count)
{
    return vault_slot_drain(f->notifier, slot, list, VAULT_SLOT_QUEUE, count);
}

/* ------------------------------------------------------------------- owners */

static void each_child_has_its_own(void)
{
    fixture_t f;
    unsigned i, slot, used[SLOTS + 1] = {0};

    fixture_begin(&f, 10, SLOTS, 0);
    CU_ASSERT_EQUAL(vault_slot_last(f.notifier), SLOTS);
    for (i = 1; i <= SLOTS; i++) {
        slot = claim(&f, (pid_t)(1000 + i));
        CU_ASSERT_FATAL(slot >= 1 && slot <= SLOTS);
        CU_ASSERT_EQUAL(used[slot]++, 0);
    }
    CU_ASSERT_EQUAL(vault_slot_claim(f.notifier, 5000, &slot), APR_ENOSPC);
    CU_ASSERT_EQUAL(slot, 0);
    vault_slot_leave(f.notifier, 7);
    CU_ASSERT_EQUAL(vault_slot_claim(f.notifier, 5000, &slot), APR_ENOSPC); /* not before the parent knows */
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, vault_slot_pid(f.notifier, 7), &slot), 0);
    CU_ASSERT_EQUAL(slot, 7);
    CU_ASSERT_EQUAL(claim(&f, 5000), 7);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void slots_that_are_none_are_harmless(void)
{
    static const unsigned rows[] = {0, SLOTS + 1, 64 * 1024, 0xffffffffu};
    fixture_t f;
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned i, count = 1;

    fixture_begin(&f, 10, SLOTS, 0);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CU_ASSERT_EQUAL(vault_slot_fd(f.notifier, rows[i]), -1);
        CU_ASSERT_EQUAL(vault_slot_pid(f.notifier, rows[i]), 0);
        CU_ASSERT_EQUAL(drain(&f, rows[i], list, &count), 0);
        CU_ASSERT_EQUAL(count, 0);
        CU_ASSERT_PTR_EQUAL(vault_slot_counters(f.notifier, rows[i]), vault_slot_counters(f.notifier, 0));
        vault_slot_leave(f.notifier, rows[i]);
    }
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void a_child_that_did_not_leave_notifies_all(void)
{
    fixture_t f;
    vault_interest_t interest, list[VAULT_SLOT_QUEUE];
    unsigned live, dead, slot, count;
    apr_uint64_t stamp;

    fixture_begin(&f, 10, SLOTS, 0);
    live = claim(&f, 100);
    dead = claim(&f, 200);
    interest = hold(&f, "a");
    stamp = vault_interest_stamp(f.notifier, interest);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 300, &slot), 0);
    CU_ASSERT_EQUAL(slot, 0);
    CU_ASSERT_EQUAL(vault_interest_stamp(f.notifier, interest), stamp);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 200, &slot), 1);
    CU_ASSERT_EQUAL(slot, dead);
    CU_ASSERT_EQUAL(vault_slot_pid(f.notifier, dead), 0);
    CU_ASSERT(vault_interest_stamp(f.notifier, interest) > stamp);
    CU_ASSERT(fixture_rung(&f, live));
    CU_ASSERT(!fixture_is_rung(&f, dead));
    CU_ASSERT_EQUAL(drain(&f, live, list, &count), 1);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 200, &slot), 0);
    CU_ASSERT_EQUAL(slot, 0);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void a_child_that_left_wakes_nobody(void)
{
    fixture_t f;
    unsigned live, left, slot;
    apr_uint64_t stamp;
    vault_interest_t interest;

    fixture_begin(&f, 10, SLOTS, 0);
    live = claim(&f, 100);
    left = claim(&f, 200);
    interest = hold(&f, "a");
    stamp = vault_interest_stamp(f.notifier, interest);
    vault_slot_leave(f.notifier, left);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 200, &slot), 0);
    CU_ASSERT_EQUAL(slot, left);
    CU_ASSERT(!fixture_is_rung(&f, live));
    CU_ASSERT_EQUAL(vault_interest_stamp(f.notifier, interest), stamp);
    CU_ASSERT_EQUAL(claim(&f, 300), left);
    /* The clean mark belongs to the last owner, not to this one. */
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 300, &slot), 1);
    fixture_end(&f);
}

/* The parent was not told of the end of the first process, and the system has reused its pid. */
static void a_pid_that_comes_again_owns_one_slot(void)
{
    fixture_t f;
    unsigned live, slot;

    fixture_begin(&f, 10, SLOTS, 0);
    live = claim(&f, 100);
    claim(&f, 200);
    claim(&f, 200);
    CU_ASSERT(fixture_rung(&f, live));
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 200, &slot), 1);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 200, &slot), 0);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* ----------------------------------------------------------------- counters */

static void totals_of_the_dead_are_kept_once(void)
{
    fixture_t f;
    vault_counters_t *total, *mine;
    unsigned slot, round;

    fixture_begin(&f, 10, SLOTS, 0);
    total = vault_slot_counters(f.notifier, 0);
    for (round = 1; round <= 2; round++) {
        mine = vault_slot_counters(f.notifier, claim(&f, 100));
        CU_ASSERT_EQUAL(mine->polls + mine->waiting + mine->pages_dropped, 0);
        vault_count(mine, polls, 5);
        vault_count(mine, pages_dropped, 2);
        vault_count(mine, waiting, 3);
        vault_count(mine, threads, 1);
        vault_slot_leave(f.notifier, 1);
        CU_ASSERT_EQUAL(mine->polls, 5);
        vault_slot_exited(f.notifier, 100, &slot);
        vault_slot_exited(f.notifier, 100, &slot);
        CU_ASSERT_EQUAL(mine->polls + mine->waiting + mine->threads, 0);
        CU_ASSERT_EQUAL(total->polls, 5 * round);
        CU_ASSERT_EQUAL(total->pages_dropped, 2 * round);
        CU_ASSERT_EQUAL(total->waiting + total->threads, 0);
    }
    fixture_end(&f);
}

/* -------------------------------------------------------------------- queue */

/* Holds and arms `count` interests, and notifies them in order. */
static void queue_up(fixture_t *f, unsigned slot, vault_interest_t *interests, unsigned count)
{
    char name[32];
    unsigned i;

    for (i = 0; i < count; i++) {
        apr_snprintf(name, sizeof(name), "row-%u", i);
        interests[i] = hold(f, name);
        vault_interest_arm(f->notifier, interests[i], slot);
        CU_ASSERT_EQUAL(vault_notifier_notify(f->notifier, name, 0), APR_SUCCESS);
    }
}

static void the_queue_keeps_order_and_rings_once(void)
{
    fixture_t f;
    vault_interest_t held[VAULT_SLOT_QUEUE], list[VAULT_SLOT_QUEUE];
    apr_uint64_t rings;
    unsigned slot, count, turn;

    fixture_begin(&f, NAMES, SLOTS, 0);
    slot = claim(&f, 100);
    for (turn = 0; turn < 3; turn++) { /* the ring goes round */
        queue_up(&f, slot, held, VAULT_SLOT_QUEUE);
        CHECK_SOUND(vault_notifier_check(f.notifier));
        CU_ASSERT(read(vault_slot_fd(f.notifier, slot), &rings, sizeof(rings)) == sizeof(rings) && rings == 1);
        CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 0);
        CU_ASSERT_EQUAL(count, VAULT_SLOT_QUEUE);
        CU_ASSERT(memcmp(list, held, sizeof(held)) == 0);
        CU_ASSERT(!fixture_is_rung(&f, slot));
        CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 0);
        CU_ASSERT_EQUAL(count, 0);
    }
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, 0)->overflows, 0);
    fixture_end(&f);
}

static void a_full_queue_becomes_everybody(void)
{
    fixture_t f;
    vault_interest_t held[NAMES], list[VAULT_SLOT_QUEUE];
    unsigned slot, count;

    fixture_begin(&f, NAMES, SLOTS, 0);
    slot = claim(&f, 100);
    queue_up(&f, slot, held, NAMES);
    CU_ASSERT_EQUAL(vault_slot_counters(f.notifier, 0)->overflows, 1);
    CU_ASSERT(fixture_rung(&f, slot));
    CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 1);
    CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 0);
    CU_ASSERT_EQUAL(count, 0);
    /* and is exact again */
    vault_interest_arm(f.notifier, held[5], slot);
    vault_notifier_notify_interest(f.notifier, held[5], 0);
    CU_ASSERT(fixture_rung(&f, slot));
    CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 0);
    CU_ASSERT(count == 1 && list[0] == held[5]);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

static void a_short_list_leaves_the_rest_rung(void)
{
    fixture_t f;
    vault_interest_t held[25], list[25];
    unsigned slot, count, taken = 0;

    fixture_begin(&f, NAMES, SLOTS, 0);
    slot = claim(&f, 100);
    queue_up(&f, slot, held, 25);
    while (fixture_is_rung(&f, slot) && fixture_rung(&f, slot)) {
        CU_ASSERT_EQUAL(vault_slot_drain(f.notifier, slot, list + taken, 10, &count), 0);
        CU_ASSERT_FATAL(count <= 10 && taken + count <= 25);
        taken += count;
    }
    CU_ASSERT_EQUAL(taken, 25);
    CU_ASSERT(memcmp(list, held, sizeof(held)) == 0);
    fixture_end(&f);
}

static void a_new_owner_gets_nothing_of_the_old(void)
{
    fixture_t f;
    vault_interest_t held[2], list[VAULT_SLOT_QUEUE];
    unsigned slot, old, count;

    fixture_begin(&f, NAMES, SLOTS, 0);
    slot = claim(&f, 100);
    queue_up(&f, slot, held, 2);
    vault_interest_arm(f.notifier, held[0], slot);
    vault_slot_leave(f.notifier, slot);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 100, &old), 0);
    /* a bit of a slot without an owner */
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "row-0", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(claim(&f, 200), slot);
    CU_ASSERT(!fixture_is_rung(&f, slot));
    CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 0);
    CU_ASSERT_EQUAL(count, 0);
    fixture_end(&f);
}

static void a_stray_write_becomes_everybody(void)
{
    fixture_t f;
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned slot, count;

    fixture_begin(&f, NAMES, SLOTS, 0);
    slot = claim(&f, 100);
    f.notifier->slots[slot].tail = 0xdeadbeef;
    CU_ASSERT(vault_notifier_check(f.notifier) != NULL);
    CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 1);
    CU_ASSERT_EQUAL(drain(&f, slot, list, &count), 0);
    CU_ASSERT_EQUAL(count, 0);
    CHECK_SOUND(vault_notifier_check(f.notifier));
    fixture_end(&f);
}

/* ------------------------------------------------------------------- deaths */

typedef struct death_t {
    fixture_t *f;
    unsigned slot;
} death_t;

static void acquire_queue(void *baton)
{
    death_t *death = baton;

    vault_lock_acquire(&death->f->notifier->slots[death->slot].lock);
}

/* Like a notifier that dies after it has set the flag and before it writes the eventfd. */
static void mark_rung_only(void *baton)
{
    death_t *death = baton;

    vault_lock_acquire(&death->f->notifier->slots[death->slot].lock);
    death->f->notifier->slots[death->slot].rung = 1;
    vault_lock_release(&death->f->notifier->slots[death->slot].lock);
}

/* A process died holding the lock of the queue of `busy`: the next to acquire it notifies all, `other` too. */
static void expect_all_told(fixture_t *f, unsigned busy, unsigned other)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count;

    CU_ASSERT(fixture_rung(f, busy));
    CU_ASSERT(fixture_rung(f, other));
    CU_ASSERT_EQUAL(drain(f, busy, list, &count), 1);
    CU_ASSERT_EQUAL(drain(f, other, list, &count), 1);
    CHECK_SOUND(vault_notifier_check(f->notifier));
}

static void a_death_in_a_queue_tells_all(void)
{
    fixture_t f;
    vault_interest_t interest, list[VAULT_SLOT_QUEUE];
    death_t death = {&f, 0};
    unsigned other, count, slot;
    apr_uint64_t stamp;

    fixture_begin(&f, 10, SLOTS, 0);
    death.slot = claim(&f, 100);
    other = claim(&f, 200);
    interest = hold(&f, "a");

    fixture_kill(fixture_fork(acquire_queue, &death));
    vault_interest_arm(f.notifier, interest, death.slot);
    stamp = vault_interest_stamp(f.notifier, interest);
    CU_ASSERT_EQUAL(vault_notifier_notify(f.notifier, "a", 0), APR_SUCCESS);
    expect_all_told(&f, death.slot, other);
    CU_ASSERT(vault_interest_stamp(f.notifier, interest) > stamp + 1); /* the floor too, not the notify alone */

    fixture_kill(fixture_fork(acquire_queue, &death));
    drain(&f, death.slot, list, &count);
    expect_all_told(&f, death.slot, other);

    fixture_kill(fixture_fork(acquire_queue, &death));
    vault_notifier_all(f.notifier, 0);
    expect_all_told(&f, death.slot, other);

    fixture_kill(fixture_fork(acquire_queue, &death));
    vault_slot_leave(f.notifier, death.slot);
    CU_ASSERT_EQUAL(vault_slot_exited(f.notifier, 100, &slot), 0);
    CU_ASSERT(fixture_rung(&f, other));
    fixture_end(&f);
}

static void a_ring_that_died_with_its_ringer_is_made_up(void)
{
    fixture_t f;
    vault_interest_t list[VAULT_SLOT_QUEUE];
    death_t death = {&f, 0};
    unsigned count;

    fixture_begin(&f, 10, SLOTS, 0);
    death.slot = claim(&f, 100);
    fixture_kill(fixture_fork(mark_rung_only, &death));
    CU_ASSERT(!fixture_is_rung(&f, death.slot));
    vault_notifier_all(f.notifier, 0);
    CU_ASSERT(fixture_rung(&f, death.slot));
    CU_ASSERT_EQUAL(drain(&f, death.slot, list, &count), 1);
    fixture_end(&f);
}

void vault_slot_suite(void)
{
    CU_pSuite suite = CU_add_suite("slot", NULL, NULL);

    CU_ADD_TEST(suite, each_child_has_its_own);
    CU_ADD_TEST(suite, slots_that_are_none_are_harmless);
    CU_ADD_TEST(suite, a_child_that_did_not_leave_notifies_all);
    CU_ADD_TEST(suite, a_child_that_left_wakes_nobody);
    CU_ADD_TEST(suite, a_pid_that_comes_again_owns_one_slot);
    CU_ADD_TEST(suite, totals_of_the_dead_are_kept_once);
    CU_ADD_TEST(suite, the_queue_keeps_order_and_rings_once);
    CU_ADD_TEST(suite, a_full_queue_becomes_everybody);
    CU_ADD_TEST(suite, a_short_list_leaves_the_rest_rung);
    CU_ADD_TEST(suite, a_new_owner_gets_nothing_of_the_old);
    CU_ADD_TEST(suite, a_stray_write_becomes_everybody);
    CU_ADD_TEST(suite, a_death_in_a_queue_tells_all);
    CU_ADD_TEST(suite, a_ring_that_died_with_its_ringer_is_made_up);
}
