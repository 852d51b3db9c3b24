/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the output store: one request leads, the others wait; a lead ends with its child; what is personal. */
#include <string.h>

#include "base/now.h"
#include "output_fixture.h"
#include "unit.h"

#define DEFAULTS (&(vault_output_limits_t){0})

static void one_leads_and_others_wait(void)
{
    store_t s;
    vault_output_lead_t lead, other;
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_lead(s.o, "k", 1, 1, s.slot[2], &other), APR_EBUSY);
    CU_ASSERT(other.ref.number == lead.ref.number && other.waiters);
    vault_interest_arm(s.f.notifier, other.waiters, s.slot[2]);
    CU_ASSERT(vault_output_is_being_made(s.o, &other.ref));
    CU_ASSERT_EQUAL(fixture_is_rung(&s.f, s.slot[2]), 0);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "body"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_is_being_made(s.o, &other.ref), 0);
    CU_ASSERT(fixture_is_rung(&s.f, s.slot[2]));
    CU_ASSERT_EQUAL(vault_slot_drain(s.f.notifier, s.slot[2], list, VAULT_SLOT_QUEUE, &count), 0);
    CU_ASSERT(count == 1 && list[0] == other.waiters);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0); /* it is released */
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), "body");
    store_end(&s);
}

static void one_that_hangs_is_given_up(void)
{
    store_t s;
    vault_output_lead_t hangs, next, other;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &hangs), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &other), APR_EBUSY);
    vault_output_forget_lead(s.o, &other.ref);
    CU_ASSERT(vault_output_is_being_made(s.o, &hangs.ref)); /* it is still there */
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &next), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &other), APR_EBUSY);
    CU_ASSERT_EQUAL(other.ref.number, next.ref.number); /* others wait for the one that took its place */
    vault_output_forget_lead(s.o, &hangs.ref);          /* by one who has waited as long */
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &other), APR_EBUSY);
    CU_ASSERT_EQUAL(store_keep(&s, &next, "next"), APR_SUCCESS);
    vault_output_forget_lead(s.o, &next.ref); /* too late */
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), "next");
    vault_output_abandon(s.o, &hangs, NULL);
    CU_ASSERT_EQUAL(vault_output_is_being_made(s.o, &hangs.ref), 0);
    CU_ASSERT_EQUAL(store_totals(&s).entries, 1);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    store_end(&s);
}

static void a_failure_wakes_those_who_wait(void)
{
    static const vault_output_personal_t cookie = {VAULT_PERSONAL_RESPONSE, "it reads a cookie", 0};
    static const vault_output_personal_t *const personal[] = {NULL, &cookie};
    unsigned i;

    for (i = 0; i < 2; i++) {
        store_t s;
        vault_output_lead_t lead, other;

        store_begin(&s, DEFAULTS);
        CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &lead), APR_SUCCESS);
        CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &other), APR_EBUSY);
        vault_interest_arm(s.f.notifier, other.waiters, s.slot[2]);
        vault_output_abandon(s.o, &lead, personal[i]);
        CU_ASSERT(fixture_is_rung(&s.f, s.slot[2]));
        CU_ASSERT_EQUAL(vault_output_is_being_made(s.o, &other.ref), 0);
        CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &other), personal[i] ? APR_ENOSPC : APR_SUCCESS);
        vault_output_abandon(s.o, &other, NULL);
        store_end(&s);
    }
}

static void variants_do_not_wait_for_each_other(void)
{
    store_t s;
    vault_output_lead_t en, de;
    vault_output_entry_t entry;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &en), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 2, &de), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &en, "hello"), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &de, "hallo"), APR_SUCCESS);
    CU_ASSERT_FATAL(store_find(&s, "k", &entry));
    CU_ASSERT_EQUAL(entry.ref.number, de.ref.number);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_ENTRY);
    CU_ASSERT_EQUAL(entry.ref.number, en.ref.number);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_NONE);
    store_make(&s, "k", 1, NULL, "good day");
    CU_ASSERT_EQUAL(store_totals(&s).entries, 2);
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), "good day");
    store_end(&s);
}

static void it_dies(store_t *s)
{
    unsigned slot;

    CU_ASSERT_EQUAL(vault_slot_exited(s->f.notifier, CHILD, &slot), 1);
}

static void it_leaves(store_t *s)
{
    unsigned slot;

    vault_slot_leave(s->f.notifier, s->slot[1]);
    CU_ASSERT_EQUAL(vault_slot_exited(s->f.notifier, CHILD, &slot), 0);
}

static void another_dies(store_t *s)
{
    unsigned slot;

    CU_ASSERT_EQUAL(vault_slot_exited(s->f.notifier, CHILD + 1, &slot), 1);
    CU_ASSERT_EQUAL(vault_slot_claim(s->f.notifier, CHILD + 2, &s->slot[2]), APR_SUCCESS);
}

static void a_lead_ends_with_its_child(void)
{
    static const struct {
        void (*becomes)(store_t *s);
        int ended;
        const char *why;
    } rows[] = {
        {it_dies, 1, "its child was killed"},
        {it_leaves, 1, "its child left, and forgot it"},
        {another_dies, 0, "another child was killed"},
    };
    unsigned i, sweep;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]) * 2; i++) {
        store_t s;
        vault_output_lead_t lead, other;

        sweep = i % 2;
        store_begin(&s, DEFAULTS);
        CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
        CU_ASSERT_EQUAL(vault_output_lead(s.o, "k", 1, 0, s.slot[2], &other), APR_EBUSY);
        rows[i / 2].becomes(&s);
        vault_interest_arm(s.f.notifier, other.waiters, s.slot[2]);
        CHECK_ROW(vault_output_is_being_made(s.o, &other.ref) == !rows[i / 2].ended, rows[i / 2].why);
        if (sweep) {
            vault_outputs_sweep(s.o, vault_now(), 0);
            CHECK_ROW(store_totals(&s).making == !rows[i / 2].ended, rows[i / 2].why);
        }
        CHECK_ROW(vault_output_lead(s.o, "k", 1, 0, s.slot[2], &other) == (rows[i / 2].ended ? APR_SUCCESS : APR_EBUSY),
                  rows[i / 2].why);
        CHECK_ROW(!rows[i / 2].ended || vault_interest_count(s.f.notifier) == 0, "nothing of the first is held");
        vault_output_abandon(s.o, &other, NULL);
        store_end(&s);
    }
}

static void a_process_without_a_slot_cannot_lead(void)
{
    store_t s;
    vault_output_lead_t lead;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(vault_output_lead(s.o, "k", 1, 0, 0, &lead), APR_ENOSPC);
    CU_ASSERT_EQUAL(vault_output_lead(s.o, "k", 1, 0, 1000, &lead), APR_ENOSPC);
    store_end(&s);
}

/* --------------------------------------------------------------------- holds */

static void an_interest_that_is_not_needed_ends_no_entry(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_dep_t deps[VAULT_OUTPUT_INTERESTS];
    vault_output_entry_t entry = {.dep_count = 0};

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_deps(s.o, &lead, deps), 0);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "needed"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "expected"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_deps(s.o, &lead, deps), 2);
    CU_ASSERT_EQUAL(vault_interest_stamp(s.f.notifier, deps[1].interest), deps[1].stamp);
    vault_output_release(s.o, &lead, "expected");
    vault_output_release(s.o, &lead, "expected");
    vault_output_release(s.o, &lead, "another");
    CU_ASSERT_EQUAL(vault_output_deps(s.o, &lead, deps), 1);
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 1);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "text"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_deps(s.o, &lead, deps), 0); /* the lead has ended */
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_ENTRY);
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "expected", 0), APR_NOTFOUND);
    CU_ASSERT(vault_output_is_current(s.o, &entry, vault_now()));
    CU_ASSERT_EQUAL(vault_notifier_notify(s.f.notifier, "needed", 0), APR_SUCCESS);
    CU_ASSERT(!vault_output_is_current(s.o, &entry, vault_now()));
    store_end(&s);
}

/* ------------------------------------------------------------------ personal */

static void what_is_personal_is_known_for_a_while(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_output_entry_t entry = {.dep_count = 0};
    vault_output_row_t *row;
    apr_array_header_t *rows;

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 0, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s.o, &lead, "x"), APR_SUCCESS);
    vault_output_abandon(s.o, &lead, &(vault_output_personal_t){VAULT_PERSONAL_FILTER, store_text(&s, 200, 'r'), 0});
    CU_ASSERT_EQUAL(vault_interest_count(s.f.notifier), 0);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_PERSONAL);
    CU_ASSERT_EQUAL(entry.personal, VAULT_PERSONAL_FILTER);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 5, &lead), APR_ENOSPC);
    rows = vault_outputs_list(s.o, NULL, VAULT_OUTPUT_BY_USE, 10, NULL, s.f.pool);
    CU_ASSERT_EQUAL_FATAL(rows->nelts, 1);
    row = &((vault_output_row_t *)rows->elts)[0];
    CU_ASSERT(row->personal && strlen(row->personal) == 100 && !row->renewed_by);
    vault_outputs_sweep(s.o, vault_now() + VAULT_OUTPUT_PERSONAL_FOR - apr_time_from_sec(5), 0);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_PERSONAL);
    vault_outputs_sweep(s.o, vault_now() + VAULT_OUTPUT_PERSONAL_FOR, 0);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_NONE);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 5, &lead), APR_SUCCESS);
    vault_output_abandon(s.o, &lead, NULL);
    CU_ASSERT_EQUAL(store_totals(&s).personal, 1);
    store_end(&s);
}

/* Another client may be the reason: its output is listed, and the others go on to lead. */
static void what_was_personal_once_stops_no_request(void)
{
    store_t s;
    vault_output_lead_t lead;
    vault_output_entry_t entry = {.dep_count = 0};

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &lead), APR_SUCCESS);
    vault_output_abandon(s.o, &lead, &(vault_output_personal_t){VAULT_PERSONAL_RESPONSE, "its own", 1});
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_NONE);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &lead), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &lead, "kept"), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 2, &lead), APR_SUCCESS);
    vault_output_abandon(s.o, &lead, &(vault_output_personal_t){VAULT_PERSONAL_RESPONSE, "its own", 1});
    CU_ASSERT_EQUAL(store_totals(&s).personal, 1); /* what is kept is listed */
    CU_ASSERT_STRING_EQUAL(store_read(&s, "k"), "kept");
    store_end(&s);
}

/* A variant that was kept is used, although another one was personal; and what is kept ends the mark. */
static void entries_come_before_the_mark(void)
{
    store_t s;
    vault_output_lead_t a, b, c;
    vault_output_entry_t entry = {.dep_count = 0};

    store_begin(&s, DEFAULTS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 1, &a), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 2, &b), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(&s, "k", 3, &c), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_keep(&s, &a, "a"), APR_SUCCESS);
    vault_output_abandon(s.o, &b, &(vault_output_personal_t){VAULT_PERSONAL_FILTER, "one", 0});
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_ENTRY);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_PERSONAL);
    CU_ASSERT_EQUAL(store_keep(&s, &c, "c"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_outputs_find(s.o, "k", 1, &entry, s.f.pool), VAULT_OUTPUT_NONE);
    store_end(&s);
}

void vault_output_lead_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_lead", NULL, NULL);

    CU_ADD_TEST(suite, one_leads_and_others_wait);
    CU_ADD_TEST(suite, one_that_hangs_is_given_up);
    CU_ADD_TEST(suite, a_failure_wakes_those_who_wait);
    CU_ADD_TEST(suite, variants_do_not_wait_for_each_other);
    CU_ADD_TEST(suite, a_lead_ends_with_its_child);
    CU_ADD_TEST(suite, a_process_without_a_slot_cannot_lead);
    CU_ADD_TEST(suite, an_interest_that_is_not_needed_ends_no_entry);
    CU_ADD_TEST(suite, what_is_personal_is_known_for_a_while);
    CU_ADD_TEST(suite, what_was_personal_once_stops_no_request);
    CU_ADD_TEST(suite, entries_come_before_the_mark);
}
