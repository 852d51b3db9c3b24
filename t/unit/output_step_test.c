/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the output store whose user is killed at a chosen instruction: the store is consistent, the next request
 * leads, and at most one block and one hold are lost. */
#include <string.h>

#include "apr_strings.h"

#include "base/now.h"
#include "output_fixture.h"
#include "unit.h"

#define STEPPED (CHILD + 1) /* what the parent takes the process for */
#define IN_MEMORY 600
#define IN_FILE 1200
#define STEPS 25000 /* at most, in one test */
#define LOST 640    /* bytes, at most, with a process that is killed: the largest block here */

/* What the process does before it is killed; all prepared before the fork. */
typedef struct call_t {
    store_t s;
    void (*run)(struct call_t *c);
    vault_output_lead_t lead, idle; /* of "k", which replaces an entry and has waiters; of "m" */
    vault_output_entry_t entry;     /* "entry", of which a form is claimed */
    char *small, *large;
    apr_pool_t *pool;
} call_t;

static void lead_for(call_t *c, const char *key)
{
    vault_output_lead_t lead;

    vault_output_lead(c->s.o, key, strlen(key), 0, c->s.slot[2], &lead);
}

static void lead_new(call_t *c)
{
    lead_for(c, "new");
}

static void wait_first(call_t *c)
{
    lead_for(c, "m");
}

static void take_over(call_t *c)
{
    lead_for(c, "dead");
}

static void hold_some(call_t *c)
{
    vault_output_hold(c->s.o, &c->lead, "h1");
    vault_output_hold(c->s.o, &c->lead, "y");
    vault_output_hold(c->s.o, &c->lead, "h2");
}

static void hold_a_part(call_t *c)
{
    vault_output_hold_deps(c->s.o, &c->lead, &c->entry);
}

static void keep(call_t *c, const char *body, apr_size_t size)
{
    vault_output_content_t content = {.metadata = body, .metadata_size = 200, .body = body, .body_size = size};

    vault_output_keep(c->s.o, &c->lead, &content);
}

static void keep_in_memory(call_t *c)
{
    keep(c, c->small, IN_MEMORY);
}

static void keep_in_a_file(call_t *c)
{
    keep(c, c->large, IN_FILE);
}

static void give_up(call_t *c)
{
    vault_output_abandon(c->s.o, &c->lead, NULL);
}

static void mark_personal(call_t *c)
{
    vault_output_abandon(c->s.o, &c->lead, &(vault_output_personal_t){VAULT_PERSONAL_FILTER, "it reads a cookie", 0});
}

static void add_in_memory(call_t *c)
{
    vault_output_add_form(c->s.o, &c->entry, VAULT_OUTPUT_GZIP, c->small, IN_MEMORY);
}

static void add_a_file(call_t *c)
{
    vault_output_add_form(c->s.o, &c->entry, VAULT_OUTPUT_GZIP, c->large, IN_FILE);
}

static void read_it(call_t *c)
{
    vault_output_entry_t entry = {.dep_count = 0};
    vault_output_body_t body;

    vault_outputs_find(c->s.o, "entry", 5, &entry, c->pool);
    vault_output_body(c->s.o, &entry, VAULT_OUTPUT_PLAIN, &body, c->pool);
}

static void drop(call_t *c)
{
    vault_outputs_drop(c->s.o, &(vault_output_filter_t){.part = "fill-1"});
}

/* ---------------------------------------------------------------- the scene */

static void make_dead(store_t *s)
{
    vault_output_lead_t lead;
    unsigned slot;

    CU_ASSERT_FATAL(vault_slot_claim(s->f.notifier, STEPPED + 1, &slot) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_output_lead(s->o, "dead", 4, 0, slot, &lead) == APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s->o, &lead, "x"), APR_SUCCESS);
    vault_slot_leave(s->f.notifier, slot);
    CU_ASSERT_EQUAL(vault_slot_exited(s->f.notifier, STEPPED + 1, &slot), 0);
}

/* A full store, with an entry that the lead of "k" replaces; another one that has a form claimed; and leads. */
static void prepare(call_t *c)
{
    store_t *s = &c->s;
    vault_output_lead_t waits;
    apr_uint64_t evicted = store_totals(s).evicted;
    unsigned i;

    CU_ASSERT_FATAL(vault_slot_claim(s->f.notifier, STEPPED, &s->slot[2]) == APR_SUCCESS);
    for (i = 0; store_totals(s).evicted == evicted; i++) {
        store_make(s, apr_psprintf(c->pool, "fill-%u", i), 0, "x", c->small);
    }
    store_make(s, "k", 0, "x", c->small);
    store_make(s, "entry", 0, "y", c->small);
    vault_notifier_notify(s->f.notifier, "x", 0);
    make_dead(s);
    CU_ASSERT_FATAL(vault_output_lead(s->o, "k", 1, 0, s->slot[2], &c->lead) == APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_lead(s->o, "m", 1, 0, s->slot[2], &c->idle), APR_SUCCESS);
    CU_ASSERT_EQUAL(store_lead(s, "k", 0, &waits), APR_EBUSY);
    CU_ASSERT_EQUAL(vault_output_hold(s->o, &c->lead, "x"), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_output_hold(s->o, &c->lead, "z"), APR_SUCCESS);
    CU_ASSERT_FATAL(store_find(s, "entry", &c->entry));
    vault_outputs_set_slot(s->o, s->slot[2]);
    CU_ASSERT_EQUAL(vault_output_claim_form(s->o, &c->entry, VAULT_OUTPUT_GZIP), 1);
}

static void run(void *baton)
{
    call_t *c = baton;

    c->run(c);
}

/* The parent learns of the death: what was made is ended, all of it can be made again, and only what is in entries is
 * in memory and on disk. */
static void go_on(call_t *c)
{
    static apr_time_t later;
    store_t *s = &c->s;
    const char *body;
    unsigned slot;

    vault_outputs_set_slot(s->o, s->slot[1]);
    CHECK_STORE(s); /* takes the lock */
    CU_ASSERT_EQUAL(vault_slot_exited(s->f.notifier, STEPPED, &slot), 1);
    vault_outputs_sweep(s->o, vault_now() + (later += apr_time_from_sec(1)), 0);
    CU_ASSERT_EQUAL(store_totals(s).making, 0);
    CHECK_STORE(s);
    CU_ASSERT(store_files(s) <= 1 && store_totals(s).files == store_files(s) * IN_FILE);
    body = store_read(s, "k");
    CU_ASSERT(body && (!strcmp(body, c->small) || !strcmp(body, c->large)));
    body = store_read(s, "entry");
    CU_ASSERT(!body || !strcmp(body, c->small));
    if (body && store_find(s, "entry", &c->entry)) {
        vault_output_claim_form(s->o, &c->entry, VAULT_OUTPUT_GZIP);
        vault_output_add_form(s->o, &c->entry, VAULT_OUTPUT_GZIP, c->large, IN_FILE);
    }
    vault_outputs_drop(s->o, &(vault_output_filter_t){.part = "k"});
    store_make(s, "k", 0, "x", c->large);
    store_make(s, "m", 0, "x", c->small);
    CHECK_STORE(s);
    vault_outputs_drop(s->o, NULL);
    CU_ASSERT_EQUAL(store_files(s), 0);
    CHECK_STORE(s);
    apr_pool_clear(c->pool);
}

static void hold(store_t *s, const char *name, vault_interest_t *interest)
{
    apr_uint64_t stamp;

    CU_ASSERT_FATAL(vault_interest_hold(s->f.notifier, name, interest, &stamp) == APR_SUCCESS);
}

/* This process holds x and y all the time: a hold that is given back twice would be one of these. */
static void killed_within(void (*called)(call_t *))
{
    call_t c = {.run = called};
    vault_interest_t x, y;
    apr_uint64_t before;
    long total, points, kills, i;

    store_begin(&c.s, &(vault_output_limits_t){.memory = 128 * 1024, .entries = 12, .memory_max = 1024, .files = 4000});
    CU_ASSERT_FATAL(vault_slot_exited(c.s.f.notifier, STEPPED, &c.s.slot[2]) == 1);
    CU_ASSERT_FATAL(apr_pool_create(&c.pool, c.s.f.pool) == APR_SUCCESS);
    c.small = store_text(&c.s, IN_MEMORY, 's');
    c.large = store_text(&c.s, IN_FILE, 'l');
    hold(&c.s, "x", &x);
    hold(&c.s, "y", &y);
    prepare(&c);
    total = fixture_step(run, &c, FIXTURE_STEPS_MOST);
    kills = total == FIXTURE_STEPS_MOST; /* it was killed there */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    CU_ASSERT(total < FIXTURE_STEPS_MOST);
#endif
    go_on(&c);
    points = total ? fixture_step_points(total, STEPS) : 0;
    if (!total) {
        printf("\n    not allowed to trace a process: skipped ");
    }
    for (i = 0; i < points; i++) {
        before = store_totals(&c.s).memory;
        prepare(&c);
        fixture_step(run, &c, (2 * i + 1) * total / (2 * points));
        go_on(&c);
        CU_ASSERT(store_totals(&c.s).memory <= before + LOST);
        kills++;
        CU_ASSERT(vault_interest_count(c.s.f.notifier) <= 2 + kills); /* the gate of each lead that died */
        CU_ASSERT(vault_interest_holders(c.s.f.notifier, x) >= 1 && vault_interest_holders(c.s.f.notifier, y) >= 1);
    }
    CU_ASSERT_EQUAL(vault_notifier_notify(c.s.f.notifier, "x", 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_notifier_notify(c.s.f.notifier, "y", 0), APR_SUCCESS);
    CHECK_STORE(&c.s);
    store_remove_folder(&c.s);
    fixture_end(&c.s.f);
}

#define STEP_TEST(name, call)                                                                                          \
    static void name(void)                                                                                             \
    {                                                                                                                  \
        killed_within(call);                                                                                           \
    }

STEP_TEST(killed_while_it_begins_to_lead, lead_new)
STEP_TEST(killed_while_it_begins_to_wait, wait_first)
STEP_TEST(killed_while_it_takes_over, take_over)
STEP_TEST(killed_while_it_holds, hold_some)
STEP_TEST(killed_while_it_holds_all_of_a_part, hold_a_part)
STEP_TEST(killed_while_it_keeps, keep_in_memory)
STEP_TEST(killed_while_it_keeps_a_file, keep_in_a_file)
STEP_TEST(killed_while_it_abandons, give_up)
STEP_TEST(killed_while_it_marks, mark_personal)
STEP_TEST(killed_while_it_adds_a_form, add_in_memory)
STEP_TEST(killed_while_it_adds_a_file, add_a_file)
STEP_TEST(killed_while_it_reads, read_it)
STEP_TEST(killed_while_it_drops, drop)

void vault_output_step_suite(void)
{
    CU_pSuite suite = CU_add_suite("output_step", NULL, NULL);

    CU_ADD_TEST(suite, killed_while_it_begins_to_lead);
    CU_ADD_TEST(suite, killed_while_it_begins_to_wait);
    CU_ADD_TEST(suite, killed_while_it_takes_over);
    CU_ADD_TEST(suite, killed_while_it_holds);
    CU_ADD_TEST(suite, killed_while_it_holds_all_of_a_part);
    CU_ADD_TEST(suite, killed_while_it_keeps);
    CU_ADD_TEST(suite, killed_while_it_keeps_a_file);
    CU_ADD_TEST(suite, killed_while_it_abandons);
    CU_ADD_TEST(suite, killed_while_it_marks);
    CU_ADD_TEST(suite, killed_while_it_adds_a_form);
    CU_ADD_TEST(suite, killed_while_it_adds_a_file);
    CU_ADD_TEST(suite, killed_while_it_reads);
    CU_ADD_TEST(suite, killed_while_it_drops);
}
