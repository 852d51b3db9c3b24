/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of gates: which requests are admitted, in which order, what happens to the passes of dead processes,
 * and of gates whose lock's owner was killed. */
#include <string.h>
#include <unistd.h>

#include "apr_strings.h"

#include "qos_fixture.h"
#include "unit.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define LONG_QUEUE 3000

static void leave(gates_t *g, vault_qos_pass_t *pass)
{
    vault_qos_leave(g->q, pass, VAULT_QOS_DONE);
}

static int is_in(gates_t *g, const vault_qos_pass_t *pass)
{
    return vault_qos_is_in(g->q, pass);
}

/* ----------------------------------------------------------------- the limit */

static void at_most_so_many_are_in(void)
{
    gates_t g;
    vault_qos_pass_t pass[5];

    gates_begin(&g, 3, 2, 0);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[0], 1, 0, 10), APR_SUCCESS);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[1], 2, 0, 10), APR_SUCCESS);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[2], 1, 0, 10), APR_SUCCESS);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[3], 2, 0, 10), APR_EAGAIN);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[4], 1, 0, 10), APR_EAGAIN);
    CU_ASSERT(is_in(&g, &pass[0]) && is_in(&g, &pass[1]) && is_in(&g, &pass[2]));
    CU_ASSERT(!is_in(&g, &pass[3]) && !is_in(&g, &pass[4]));
    CU_ASSERT_EQUAL(gates_facts(&g).running, 3);
    CU_ASSERT(!fixture_is_rung(&g.f, g.slot[1]) && !fixture_is_rung(&g.f, g.slot[2]));
    leave(&g, &pass[0]);
    CU_ASSERT(is_in(&g, &pass[3]) && !is_in(&g, &pass[4]));
    CU_ASSERT(fixture_rung(&g.f, g.slot[2])); /* the child of the one that was let in, and no other */
    CU_ASSERT_EQUAL(gates_told(&g, 2, &pass[3]), 1);
    CU_ASSERT(!fixture_is_rung(&g.f, g.slot[1]));
    leave(&g, &pass[0]);
    CU_ASSERT(!is_in(&g, &pass[4])); /* to leave twice is to leave once */
    CU_ASSERT_EQUAL(gates_facts(&g).running, 3);
    CU_ASSERT_EQUAL(gates_facts(&g).queued, 1);
    gates_end(&g);
}

static void a_full_queue_refuses(void)
{
    static const struct {
        apr_uint32_t queue;
        const char *why;
    } rows[] = {{0, "a gate without a queue refuses at once"}, {1, "one may wait"}, {5, "five may wait"}};
    gates_t g;
    vault_qos_pass_t pass[8], refused;
    unsigned i, n;

    for (i = 0; i < COUNT(rows); i++) {
        gates_begin(&g, 1, 1, 0);
        CHECK_ROW(gates_enter(&g, &pass[0], 1, 0, rows[i].queue) == APR_SUCCESS, rows[i].why);
        for (n = 1; n <= rows[i].queue; n++) {
            CHECK_ROW(gates_enter(&g, &pass[n], 1, 0, rows[i].queue) == APR_EAGAIN, rows[i].why);
        }
        CHECK_ROW(gates_enter(&g, &refused, 1, 0, rows[i].queue) == APR_ENOSPC, rows[i].why);
        CHECK_ROW(refused.index == 0, "who was refused has no pass");
        CHECK_ROW(gates_facts(&g).refused == 1, "and is counted");
        leave(&g, &pass[0]);
        CHECK_ROW(gates_enter(&g, &refused, 1, 0, rows[i].queue) == (rows[i].queue ? APR_EAGAIN : APR_SUCCESS),
                  "when one has left there is room again");
        gates_end(&g);
    }
}

/* -------------------------------------------------------------------- order */

static void the_queue_has_an_order(void)
{
    static const struct {
        unsigned rank[6];
        int order[6]; /* by place in `rank` */
        const char *why;
    } rows[] = {
        {{0, 0, 0, 0, 0, 0}, {0, 1, 2, 3, 4, 5}, "of one rank the first that came is the first"},
        {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}, "a higher rank goes before"},
        {{5, 5, 9, 9, 0, 0}, {2, 3, 0, 1, 4, 5}, "within each rank arrival counts"},
        {{3, 9, 3, 9, 3, 9}, {1, 3, 5, 0, 2, 4}, "ranks that come by turns"},
        {{9, 10, 99, 4294967295u, 8, 9}, {0, 1, 2, 3, 5, 4}, "a rank that is none counts as the highest"},
    };
    gates_t g;
    vault_qos_pass_t first, pass[6];
    unsigned i, n;

    for (i = 0; i < COUNT(rows); i++) {
        gates_begin(&g, 1, 3, 0);
        gates_enter(&g, &first, 1, 0, 10);
        for (n = 0; n < 6; n++) {
            CHECK_ROW(gates_enter(&g, &pass[n], 1 + n % 3, rows[i].rank[n], 10) == APR_EAGAIN, rows[i].why);
        }
        CHECK_SOUND(vault_qos_check(g.q));
        leave(&g, &first);
        for (n = 0; n < 6; n++) {
            CHECK_ROW(is_in(&g, &pass[rows[i].order[n]]), rows[i].why);
            CHECK_ROW(n == 5 || !is_in(&g, &pass[rows[i].order[n + 1]]), "one at a time");
            leave(&g, &pass[rows[i].order[n]]);
        }
        gates_end(&g);
    }
}

static void nobody_overtakes_the_queue(void)
{
    gates_t g;
    vault_qos_pass_t first, second, third;

    gates_begin(&g, 1, 1, 0);
    gates_enter(&g, &first, 1, 0, 10);
    gates_enter(&g, &second, 1, 0, 10);
    leave(&g, &first);
    CU_ASSERT_EQUAL(gates_enter(&g, &third, 1, 0, 10), APR_EAGAIN);
    CU_ASSERT(is_in(&g, &second));
    CU_ASSERT(!is_in(&g, &third));
    gates_end(&g);
}

/* ------------------------------------------------------------------- leaving */

static void who_leaves_the_queue_is_not_let_in(void)
{
    static const struct {
        int leaver; /* of three that queue */
        int then[2];
        const char *why;
    } rows[] = {{0, {1, 2}, "the first"}, {1, {0, 2}, "one in the middle"}, {2, {0, 1}, "the last"}};
    gates_t g;
    vault_qos_pass_t first, pass[3];
    unsigned i, n;

    for (i = 0; i < COUNT(rows); i++) {
        gates_begin(&g, 1, 1, 0);
        gates_enter(&g, &first, 1, 0, 10);
        for (n = 0; n < 3; n++) {
            gates_enter(&g, &pass[n], 1, 0, 10);
        }
        vault_qos_leave(g.q, &pass[rows[i].leaver], i == 0 ? VAULT_QOS_LATE : VAULT_QOS_GONE);
        CHECK_ROW(gates_facts(&g).queued == 2, rows[i].why);
        CHECK_ROW(gates_facts(&g).timeouts == (i == 0), rows[i].why);
        CHECK_ROW(gates_facts(&g).gone == (i != 0), rows[i].why);
        CHECK_SOUND(vault_qos_check(g.q));
        leave(&g, &first);
        for (n = 0; n < 2; n++) {
            CHECK_ROW(is_in(&g, &pass[rows[i].then[n]]), rows[i].why);
            leave(&g, &pass[rows[i].then[n]]);
        }
        CHECK_ROW(gates_facts(&g).admitted == 3, "only those who were in are counted as admitted");
        gates_end(&g);
    }
}

/* One request for each of three children: the first was admitted and has left, so the second was just admitted,
 * and the third is queued. */
static void begin_with_three(gates_t *g, vault_qos_pass_t *second, vault_qos_pass_t *third)
{
    vault_qos_pass_t first;

    gates_begin(g, 1, 3, 0);
    gates_enter(g, &first, 1, 0, 10);
    gates_enter(g, second, 2, 0, 10);
    gates_enter(g, third, 3, 0, 10);
    leave(g, &first);
}

/* The client disconnects at the moment when its request is admitted. */
static void who_was_let_in_and_is_gone_passes_it_on(void)
{
    gates_t g;
    vault_qos_pass_t gone, next;

    begin_with_three(&g, &gone, &next);
    CU_ASSERT(is_in(&g, &gone));
    vault_qos_leave(g.q, &gone, VAULT_QOS_GONE);
    CU_ASSERT(is_in(&g, &next));
    CU_ASSERT_EQUAL(gates_told(&g, 3, &next), 1);
    CU_ASSERT_EQUAL(gates_facts(&g).running, 1);
    gates_end(&g);
}

/* --------------------------------------------------------------------- death */

static void what_the_dead_had_is_given_to_others(void)
{
    static const struct {
        unsigned child[4]; /* whose requests come, into a gate of two */
        unsigned victim;
        int in[4]; /* who is in after; the dead are not */
        const char *why;
    } rows[] = {
        {{1, 2, 3, 3}, 1, {0, 1, 1, 0}, "one that was in: the first of the queue is let in"},
        {{1, 1, 2, 3}, 1, {0, 0, 1, 1}, "two that were in: two are let in"},
        {{1, 2, 3, 2}, 3, {1, 1, 0, 0}, "one that queued: no other is admitted for it"},
        {{1, 2, 1, 3}, 1, {0, 1, 0, 1}, "in and in the queue: the next but one is let in"},
        {{1, 1, 1, 1}, 1, {0, 0, 0, 0}, "all: nothing is left"},
        {{2, 3, 2, 3}, 1, {1, 1, 0, 0}, "one that had nothing: nothing changes"},
    };
    gates_t g;
    vault_qos_pass_t pass[4];
    unsigned i, n, slot;

    for (i = 0; i < COUNT(rows); i++) {
        gates_begin(&g, 2, 3, 0);
        for (n = 0; n < 4; n++) {
            gates_enter(&g, &pass[n], rows[i].child[n], 0, 10);
        }
        vault_qos_slot_gone(g.q, vault_slot_of(g.f.notifier, (pid_t)(1000 + rows[i].victim)));
        for (n = 0; n < 4; n++) {
            CHECK_ROW(rows[i].child[n] != rows[i].victim || !is_in(&g, &pass[n]), "a dead slot has no request in");
        }
        vault_slot_exited(g.f.notifier, (pid_t)(1000 + rows[i].victim), &slot);
        for (n = 0; n < 4; n++) {
            CHECK_ROW(rows[i].child[n] == rows[i].victim || is_in(&g, &pass[n]) == rows[i].in[n], rows[i].why);
        }
        for (n = 0; n < 4; n++) {
            if (rows[i].child[n] != rows[i].victim) {
                leave(&g, &pass[n]);
            }
        }
        CHECK_ROW(gates_facts(&g).running == 0 && gates_facts(&g).queued == 0, "nothing is left behind");
        gates_end(&g);
    }
}

/* It was admitted by a process that died before it notified, or its own process died before it looked. */
static void a_pass_let_in_for_a_dead_child_goes_on(void)
{
    gates_t g;
    vault_qos_pass_t dead, next;

    begin_with_three(&g, &dead, &next);
    vault_qos_slot_gone(g.q, g.slot[2]);
    CU_ASSERT(is_in(&g, &next));
    CU_ASSERT_EQUAL(gates_told(&g, 3, &next), 1);
    gates_end(&g);
}

/* ------------------------------------------------------------ killed in the lock */

typedef struct crime_t {
    gates_t *g;
    void (*commit)(gates_t *g, qos_gate_t *gate);
} crime_t;

static void scramble(qos_gate_t *gate)
{
    gate->in = 77;
    gate->queued = 0;
    memset(gate->queues, 0x55, sizeof(gate->queues));
}

static void die_in_the_lock(void *baton)
{
    crime_t *crime = baton;
    qos_gate_t *gate = qos_gate_at(crime->g->q, crime->g->gate.index);

    vault_lock_acquire(&gate->lock);
    crime->commit(crime->g, gate);
    scramble(gate);
    fixture_ready();
    for (;;) {
        pause();
    }
}

static void nothing_yet(gates_t *g, qos_gate_t *gate)
{
}

static void first_is_marked_in(gates_t *g, qos_gate_t *gate)
{
    qos_pass_at(g->q, gate->queues[0])->state = QOS_IN;
}

static void one_in_is_marked_free(gates_t *g, qos_gate_t *gate)
{
    apr_uint32_t i = qos_gate_next(g->q, gate, 0);

    while (qos_pass_at(g->q, i)->state != QOS_IN) {
        i = qos_gate_next(g->q, gate, i);
    }
    qos_pass_at(g->q, i)->state = QOS_FREE;
}

static void one_queued_is_marked_free(gates_t *g, qos_gate_t *gate)
{
    qos_pass_at(g->q, qos_pass_at(g->q, gate->queues[0])->earlier)->state = QOS_FREE;
}

static void one_more_is_marked_queued(gates_t *g, qos_gate_t *gate)
{
    qos_pass_t *pass = qos_pass_at(g->q, qos_pool_take(g->q, gate));

    pass->ticket = ++g->q->table->tickets;
    pass->slot = g->slot[3];
    pass->rank = 0;
    pass->state = QOS_QUEUED;
}

static void one_more_is_taken(gates_t *g, qos_gate_t *gate)
{
    qos_pool_take(g->q, gate);
}

static void the_pool_is_scrambled(gates_t *g, qos_gate_t *gate)
{
    qos_table_t *t = g->q->table;

    vault_lock_acquire(&t->lock);
    qos_pass_at(g->q, t->free ? t->free : 1)->next = 0x55555555;
    t->free = t->used = t->share = t->claimed = 0x55555555;
    gate->held = 77;
}

static void who_dies_in_the_lock_leaves_the_old_or_the_new(void)
{
    static const struct {
        void (*commit)(gates_t *g, qos_gate_t *gate);
        unsigned in, queued; /* after the gate was acquired again: the limit is 2, five came */
        const char *why;
    } rows[] = {
        {nothing_yet, 2, 3, "nothing was stored: nothing has happened, whatever the counts say"},
        {one_in_is_marked_free, 2, 2, "one has left: the repair admits the next"},
        {one_queued_is_marked_free, 2, 2, "one has left the queue"},
        {one_more_is_marked_queued, 2, 4, "one has come, who dies next"},
        {one_more_is_taken, 2, 3, "a pass was taken from the pool, and no request came"},
        {the_pool_is_scrambled, 2, 3, "the pool's lock is held as well"},
    };
    gates_t g;
    vault_qos_pass_t pass[5];
    unsigned i, n, child;

    for (i = 0; i < COUNT(rows); i++) {
        crime_t crime = {&g, rows[i].commit};

        gates_begin(&g, 2, 3, 0);
        for (n = 0; n < 5; n++) {
            gates_enter(&g, &pass[n], 1 + n % 2, 0, 10);
        }
        for (child = 1; child <= 3; child++) {
            gates_told(&g, child, &pass[0]);
        }
        fixture_kill(fixture_fork(die_in_the_lock, &crime));
        gates_facts(&g); /* this one mends */
        CHECK_ROW(gates_facts(&g).queued == rows[i].queued, rows[i].why);
        CHECK_ROW(gates_facts(&g).running == rows[i].in, rows[i].why);
        for (child = 1; child <= 3; child++) {
            CHECK_ROW(gates_told(&g, child, &pass[0]) == -1, "everybody is told to look");
        }
        gates_end(&g);
    }
}

/* The process is killed after the admission and before it is counted: the request is admitted, and the gate has
 * one more than it counts, not one less. */
static void a_mark_without_its_count_counts(void)
{
    gates_t g;
    vault_qos_pass_t pass[4];
    crime_t crime = {&g, first_is_marked_in};
    unsigned n;

    gates_begin(&g, 2, 1, 0);
    for (n = 0; n < 4; n++) {
        gates_enter(&g, &pass[n], 1, 0, 10);
    }
    vault_qos_leave(g.q, &pass[0], VAULT_QOS_DONE); /* lets in 2 */
    vault_qos_leave(g.q, &pass[1], VAULT_QOS_DONE); /* lets in 3 */
    gates_enter(&g, &pass[0], 1, 0, 10);
    CU_ASSERT_EQUAL(gates_facts(&g).running, 2);
    fixture_kill(fixture_fork(die_in_the_lock, &crime));
    CU_ASSERT_EQUAL(gates_facts(&g).running, 3);
    CU_ASSERT(is_in(&g, &pass[0]));
    leave(&g, &pass[2]);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[1], 1, 0, 10), APR_EAGAIN);
    leave(&g, &pass[3]);
    CU_ASSERT(is_in(&g, &pass[1]));
    gates_end(&g);
}

static void a_long_queue_is_mended_in_order(void)
{
    static vault_qos_pass_t pass[LONG_QUEUE + 1];
    gates_t g;
    crime_t crime = {&g, nothing_yet};
    unsigned n, rank;

    gates_begin(&g, 1, 1, (LONG_QUEUE + 1000) * APR_UINT64_C(4096));
    for (n = 0; n <= LONG_QUEUE; n++) {
        gates_enter(&g, &pass[n], 1, n * 7919 % 3, LONG_QUEUE);
    }
    for (n = 1; n <= LONG_QUEUE; n += 3) { /* so that passes are not in order of arrival where they lie */
        vault_qos_leave(g.q, &pass[n], VAULT_QOS_GONE);
    }
    for (n = 1; n <= LONG_QUEUE; n += 3) {
        CU_ASSERT_EQUAL_FATAL(gates_enter(&g, &pass[n], 1, 4, LONG_QUEUE), APR_EAGAIN);
    }
    fixture_kill(fixture_fork(die_in_the_lock, &crime));
    CU_ASSERT_EQUAL(gates_facts(&g).queued, LONG_QUEUE);
    CHECK_SOUND(vault_qos_check(g.q));
    leave(&g, &pass[0]);
    for (n = 1; n <= LONG_QUEUE; n += 3) {
        CU_ASSERT_FATAL(is_in(&g, &pass[n]));
        leave(&g, &pass[n]);
    }
    for (rank = 3; rank-- > 0;) {
        for (n = 1; n <= LONG_QUEUE; n++) {
            if (n % 3 != 1 && n * 7919 % 3 == rank) {
                CU_ASSERT_FATAL(is_in(&g, &pass[n]));
                leave(&g, &pass[n]);
            }
        }
    }
    gates_end(&g);
}

/* ------------------------------------------------------------- configuration */

static void a_reload_changes_the_limit(void)
{
    gates_t g;
    vault_qos_pass_t pass[60];
    vault_qos_gate_t again;
    unsigned n;

    gates_begin(&g, 2, 1, 0);
    for (n = 0; n < 60; n++) {
        gates_enter(&g, &pass[n], 1, 0, 100);
    }
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 50, 50, &again), APR_SUCCESS);
    CU_ASSERT(again.birth == g.gate.birth && again.index == g.gate.index);
    CU_ASSERT_EQUAL(gates_facts(&g).running, 50); /* more than are let in at a stroke */
    CU_ASSERT_EQUAL(gates_told(&g, 1, &pass[49]), 1);
    CU_ASSERT(is_in(&g, &pass[49]) && !is_in(&g, &pass[50]));
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 48, 48, &again), APR_SUCCESS);
    leave(&g, &pass[0]);
    leave(&g, &pass[1]);
    CU_ASSERT_EQUAL(gates_facts(&g).running, 48);
    leave(&g, &pass[2]);
    CU_ASSERT(is_in(&g, &pass[50])); /* only now is one fewer in than may be */
    CU_ASSERT_EQUAL(gates_facts(&g).running, 48);
    gates_end(&g);
}

/* Names on the status page have a maximum length. */
static void long_names_are_told_apart(void)
{
    gates_t g;
    vault_qos_gate_t gate[4], again;
    vault_qos_facts_t facts;
    char name[3 * VAULT_QOS_NAME];
    int i;

    gates_begin(&g, 1, 1, 0);
    memset(name, 'x', sizeof(name));
    name[VAULT_QOS_NAME - 1] = '\0'; /* 0: it just fits; 1: one byte more; 2, 3: the last byte of many differs */
    CU_ASSERT_EQUAL(vault_qos_open(g.q, name, 1, 1, &gate[0]), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_qos_facts(g.q, gate[0].index, &facts), 1);
    CU_ASSERT_STRING_EQUAL(facts.name, name);
    memset(name, 'x', sizeof(name));
    name[VAULT_QOS_NAME] = '\0';
    CU_ASSERT_EQUAL(vault_qos_open(g.q, name, 1, 1, &gate[1]), APR_SUCCESS);
    for (i = 2; i < 4; i++) {
        memset(name, 'x', sizeof(name));
        name[sizeof(name) - 2] = (char)('a' + i);
        name[sizeof(name) - 1] = '\0';
        CU_ASSERT_EQUAL(vault_qos_open(g.q, name, 1, 1, &gate[i]), APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(vault_qos_open(g.q, name, 1, 1, &again), APR_SUCCESS);
    CU_ASSERT_EQUAL(again.index, gate[3].index); /* the same name is the same gate */
    for (i = 1; i < 4; i++) {
        CU_ASSERT_NOT_EQUAL(gate[i].index, gate[i - 1].index);
        CU_ASSERT_EQUAL(vault_qos_facts(g.q, gate[i].index, &facts), 1);
        CU_ASSERT_EQUAL(strlen(facts.name), VAULT_QOS_NAME - 1);
        CU_ASSERT(!strncmp(facts.name, name, 150));
    }
    memcpy(name + VAULT_QOS_NAME - 19, "\xe2\x82\xac", 3); /* a euro, of which two bytes would fit */
    CU_ASSERT_EQUAL(vault_qos_open(g.q, name, 1, 1, &gate[0]), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_qos_facts(g.q, gate[0].index, &facts), 1);
    CU_ASSERT_PTR_NULL(strchr(facts.name, '\xe2'));
    gates_end(&g);
}

static void gates_of_old_configurations_go_when_they_are_empty(void)
{
    gates_t g;
    vault_qos_pass_t pass, other;
    vault_qos_gate_t gate, old;
    vault_qos_entrant_t who = {1, 0, 10, 0, 0};
    vault_qos_facts_t facts;
    char name[64];
    unsigned n;

    gates_begin(&g, 1, 2, 0);
    old = g.gate;
    CU_ASSERT_EQUAL(gates_enter(&g, &pass, 1, 0, 10), APR_SUCCESS);
    vault_qos_begin(g.q);
    for (n = 1; n < VAULT_QOS_ROOM; n++) {
        apr_snprintf(name, sizeof(name), "gate-%u", n);
        CU_ASSERT_EQUAL_FATAL(vault_qos_open(g.q, name, 1, 1, &gate), APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "one more", 1, 1, &gate),
                    APR_ENOSPC); /* a request is still behind the old one */
    CU_ASSERT_EQUAL(gate.birth, 0);
    CU_ASSERT_EQUAL(gates_enter(&g, &other, 2, 0, 10), APR_EAGAIN); /* its limit holds as long */
    CU_ASSERT_EQUAL(vault_qos_facts(g.q, old.index, &facts), 1);
    CU_ASSERT(!facts.configured && facts.running == 1);
    leave(&g, &pass);
    leave(&g, &other);
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "one more", 1, 1, &gate), APR_SUCCESS);
    CU_ASSERT(gate.index == old.index && gate.birth != old.birth);
    CU_ASSERT_EQUAL(vault_qos_enter(g.q, &old, &who, &pass), APR_NOTFOUND);
    CU_ASSERT_EQUAL(pass.index, 0);
    CU_ASSERT_EQUAL(vault_qos_facts(g.q, gate.index, &facts), 1);
    CU_ASSERT_STRING_EQUAL(facts.name, "one more");
    CU_ASSERT(facts.configured && facts.admitted == 0);
    gates_end(&g);
}

static void what_cannot_be_is_harmless(void)
{
    static const vault_qos_entrant_t entrants[] = {
        {0, 0, 1, 0, 0}, {QOS_SLOTS + 1, 0, 1, 0, 0}, {0xffffffffu, 0, 1, 0, 0}};
    static const vault_qos_gate_t handles[] = {{0, 0}, {0, 1}, {1, 0}, {1, VAULT_QOS_ROOM + 1}, {99, 1}, {1, 2}};
    vault_qos_pass_t passes[] = {{0, 0, 0}, {1, 0, 1}, {0, 1, 1}, {VAULT_QOS_ROOM + 1, 1, 1}, {1, 0xffffffffu, 1}},
                     pass = {0, 0, 0};
    vault_qos_entrant_t who = {1, 0, 1, 0, 0};
    vault_qos_facts_t facts;
    gates_t g;
    unsigned i;

    gates_begin(&g, 1, 1, 0);
    for (i = 0; i < COUNT(entrants); i++) {
        CU_ASSERT_EQUAL(vault_qos_enter(g.q, &g.gate, &entrants[i], &pass), APR_EINVAL);
    }
    for (i = 0; i < COUNT(handles); i++) {
        CU_ASSERT_EQUAL(vault_qos_enter(g.q, &handles[i], &who, &pass), APR_NOTFOUND);
    }
    for (i = 0; i < COUNT(passes); i++) {
        CU_ASSERT(!vault_qos_is_in(g.q, &passes[i]));
        vault_qos_leave(g.q, &passes[i], VAULT_QOS_DONE);
    }
    CU_ASSERT(!vault_qos_facts(g.q, 0, &facts) && !vault_qos_facts(g.q, 2, &facts));
    CU_ASSERT(!vault_qos_facts(g.q, VAULT_QOS_ROOM + 1, &facts));
    vault_qos_slot_gone(g.q, 0);
    vault_qos_slot_gone(g.q, 0xffffffffu);
    CU_ASSERT_EQUAL(gates_facts(&g).running, 0);
    gates_end(&g);
}

void vault_qos_suite(void)
{
    CU_pSuite suite = CU_add_suite("qos", NULL, NULL);

    CU_ADD_TEST(suite, at_most_so_many_are_in);
    CU_ADD_TEST(suite, a_full_queue_refuses);
    CU_ADD_TEST(suite, the_queue_has_an_order);
    CU_ADD_TEST(suite, nobody_overtakes_the_queue);
    CU_ADD_TEST(suite, who_leaves_the_queue_is_not_let_in);
    CU_ADD_TEST(suite, who_was_let_in_and_is_gone_passes_it_on);
    CU_ADD_TEST(suite, what_the_dead_had_is_given_to_others);
    CU_ADD_TEST(suite, a_pass_let_in_for_a_dead_child_goes_on);
    CU_ADD_TEST(suite, who_dies_in_the_lock_leaves_the_old_or_the_new);
    CU_ADD_TEST(suite, a_mark_without_its_count_counts);
    CU_ADD_TEST(suite, a_long_queue_is_mended_in_order);
    CU_ADD_TEST(suite, a_reload_changes_the_limit);
    CU_ADD_TEST(suite, long_names_are_told_apart);
    CU_ADD_TEST(suite, gates_of_old_configurations_go_when_they_are_empty);
    CU_ADD_TEST(suite, what_cannot_be_is_harmless);
}
