/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of a client's share of a gate: its turn among the queued clients, its share of the queue, and which
 * request is displaced when the queue is full. */
#include <string.h>
#include <unistd.h>

#include "qos_fixture.h"
#include "unit.h"

#define COUNT(rows) (sizeof(rows) / sizeof((rows)[0]))
#define MOST 40

/* Ids like those of SipHash. */
static const apr_uint64_t CLIENT[] = {APR_UINT64_C(0x8d1f3a7752e90b44), APR_UINT64_C(0x13c6e2f08a5b7d91),
                                      APR_UINT64_C(0xf4a90c1de6723b58), APR_UINT64_C(0x60b85e9d1c3f42a7)};

/* A request of client `name`, 'a' to 'd', in child 1 to 4 by its name. */
static apr_status_t come(gates_t *g, vault_qos_pass_t *pass, char name, unsigned rank, const apr_uint32_t limits[2])
{
    unsigned number = (unsigned)(name - 'a');
    vault_qos_entrant_t who = {g->slot[1 + number], rank, limits[0], limits[1], CLIENT[number]};

    memset(pass, 0, sizeof(*pass));
    return vault_qos_enter(g->q, &g->gate, &who, pass);
}

static int is_displaced(gates_t *g, const vault_qos_pass_t *pass)
{
    return vault_qos_is_displaced(g->q, pass);
}

/* ---------------------------------------------------------------------- turns */

/* Each letter is a request of that client. Admitted requests leave in the order of their admission. */
static void clients_take_turns(void)
{
    static const struct {
        unsigned limit;
        const char *come, *served;
        const char *why;
    } rows[] = {
        {1, "aaaaaaaab", "aabaaaaaa", "one request of b waits for one of a, not for eight"},
        {1, "aaaabbbb", "aabababb", "turn by turn"},
        {1, "aaaabcd", "aabcdaa", "each of the others once, then a again"},
        {1, "abcdabcd", "abcdabcd", "who come in turns are served in turns"},
        {3, "aaaaaabbb", "aaabababa",
         "a has all three places: b, which has fewer in, comes next, and then they take turns"},
        {2, "aaaabcd", "aabacda", "a client that has nothing in comes before one that has"},
        {2, "abababab", "abababab", "two of two places"},
        {1, "aaaaaaa", "aaaaaaa", "of one client in order of arrival"},
    };
    static const apr_uint32_t limits[] = {MOST, 0};
    unsigned i, n, served;

    for (i = 0; i < COUNT(rows); i++) {
        vault_qos_pass_t pass[MOST];
        unsigned next = 0, count = (unsigned)strlen(rows[i].come);
        char got[MOST + 1] = "";
        unsigned inside[MOST], ins = 0, outs = 0;
        int seen[MOST] = {0};
        gates_t g;

        gates_begin(&g, rows[i].limit, 4, 0);
        for (n = 0; n < count; n++) {
            come(&g, &pass[n], rows[i].come[n], 0, limits);
        }
        for (served = 0; served < count; served++) {
            for (n = 0; n < count; n++) { /* those that have been let in since */
                if (!seen[n] && vault_qos_is_in(g.q, &pass[n])) {
                    seen[n] = 1;
                    inside[ins++] = n;
                    got[next++] = rows[i].come[n];
                }
            }
            CHECK_SOUND(vault_qos_check(g.q));
            CU_ASSERT_FATAL(outs < ins);
            gates_leave(&g, &pass[inside[outs++]]);
        }
        CHECK_ROW(!strcmp(got, rows[i].served), rows[i].why);
        gates_end(&g);
    }
}

/* ------------------------------------------------------------------ full queues */

/* One request is admitted. Then requests arrive, of a client and a rank each, for a queue of that length. Each
 * must have that outcome: '+' it is queued, '-' it is refused, or the number of the request that it displaces. */
static void a_full_queue_loses_one(void)
{
    static const struct {
        apr_uint32_t limits[2]; /* the queue, and of one client */
        const char *come, *outcome;
        const char *why;
    } rows[] = {
        {{2, 0}, "a0 b0 c0", "++-", "all are equal: the newcomer is refused"},
        {{2, 0}, "a0 b0 c1", "++1", "a higher rank displaces the latest of the lowest"},
        {{2, 0}, "a1 b0 c2", "++1", "of the lowest rank, not the latest of all"},
        {{2, 0}, "a1 b1 c0", "++-", "a lower rank displaces none"},
        {{3, 0},
         "a0 a0 b0 c1 c1 c1 c1",
         "+++120-",
         "of the lowest rank, the client that has the most, and there the latest"},
        {{3, 0}, "a0 a0 a0 b0", "+++2", "a client that fills the queue makes room for another one"},
        {{4, 0}, "a0 a0 a0 a0 b0 b0 b0", "++++32-", "until both have the same"},
        {{4, 0}, "a0 a0 b0 b0 c0", "++++3", "of two that have the same, the latest"},
        {{4, 0}, "a0 a0 b0 c0 a0", "++++-", "the client that has the most displaces none of its rank"},
        {{4, 0}, "a9 a9 a9 a9 b0", "++++-", "a rank goes before a share"},
        {{4, 2}, "a9 a9 a9 b0 b0 b0", "++-++-", "but no client has more than its share, of whatever rank"},
        {{4, 2}, "a0 a0 a1", "++1", "past its share a client displaces its own, if that has a lower rank"},
        {{4, 2}, "a0 a1 a2 a2 a2", "++01-", "the lowest first"},
        {{4, 2}, "b0 a1 a1 a1", "+++-", "and no other client's"},
        {{4, 4}, "a0 a0 a0 a0 a5 b0", "++++33", "a newcomer of a full queue is not refused for what its client has"},
        {{0, 0}, "b9", "-", "no queue, no place in it"},
        {{1, 1}, "a0 b0 b1 a1 c2", "+-0-2", "a queue of one"},
    };
    unsigned i;

    for (i = 0; i < COUNT(rows); i++) {
        static vault_qos_pass_t pass[MOST];
        vault_qos_pass_t first;
        const char *c = rows[i].come;
        apr_uint64_t displaced = 0, refused = 0;
        unsigned n;
        gates_t g;

        gates_begin(&g, 1, 4, 0);
        come(&g, &first, 'd', 0, rows[i].limits);
        for (n = 0; rows[i].outcome[n]; n++, c += c[2] ? 3 : 2) {
            char outcome = rows[i].outcome[n];
            apr_status_t rv = come(&g, &pass[n], c[0], (unsigned)(c[1] - '0'), rows[i].limits);
            unsigned loser = (unsigned)(outcome - '0');

            CHECK_ROW((rv == APR_EAGAIN) == (outcome != '-'), rows[i].why);
            refused += outcome == '-';
            if (outcome >= '0' && outcome <= '9') {
                displaced++;
                CHECK_ROW(is_displaced(&g, &pass[loser]), rows[i].why);
                CHECK_ROW(!is_displaced(&g, &pass[n]), rows[i].why);
            }
            CHECK_ROW(gates_facts(&g).displaced == displaced, rows[i].why);
            CHECK_ROW(gates_facts(&g).refused == refused, rows[i].why);
            CHECK_SOUND(vault_qos_check(g.q));
        }
        gates_leave(&g, &first);
        gates_end(&g);
    }
}

static void a_client_over_its_share_is_told_so(void)
{
    static const apr_uint32_t limits[] = {4, 1};
    vault_qos_pass_t first, pass;
    gates_t g;

    gates_begin(&g, 1, 4, 0);
    CU_ASSERT_EQUAL(come(&g, &first, 'a', 0, limits), APR_SUCCESS); /* in: that is no part of the queue */
    CU_ASSERT_EQUAL(come(&g, &pass, 'a', 0, limits), APR_EAGAIN);
    CU_ASSERT_EQUAL(come(&g, &pass, 'a', 0, limits), APR_EBUSY);
    CU_ASSERT_EQUAL(come(&g, &pass, 'b', 0, limits), APR_EAGAIN);
    CU_ASSERT_EQUAL(gates_facts(&g).refused, 1);
    gates_end(&g);
}

/* --------------------------------------------------------------------- displaced */

static const apr_uint32_t ONE[] = {1, 0}; /* a queue of one */

/* One request of client d in child 4 is admitted. One of a is queued, and one of b with a higher rank displaces
 * it. */
static void begin_displaced(gates_t *g, vault_qos_pass_t *first, vault_qos_pass_t *loser, vault_qos_pass_t *next)
{
    gates_begin(g, 1, 4, 0);
    CU_ASSERT_EQUAL(come(g, first, 'd', 0, ONE), APR_SUCCESS);
    CU_ASSERT_EQUAL(come(g, loser, 'a', 0, ONE), APR_EAGAIN);
    CU_ASSERT(!is_displaced(g, loser));
    CU_ASSERT_EQUAL(come(g, next, 'b', 1, ONE), APR_EAGAIN);
    CU_ASSERT(is_displaced(g, loser));
}

static void the_child_of_the_displaced_is_told(void)
{
    vault_qos_pass_t first, loser, next;
    gates_t g;

    begin_displaced(&g, &first, &loser, &next);
    CU_ASSERT(fixture_rung(&g.f, g.slot[1]));
    CU_ASSERT_EQUAL(gates_told(&g, 1, &loser), 1);
    CU_ASSERT(!fixture_is_rung(&g.f, g.slot[2]) && !fixture_is_rung(&g.f, g.slot[4]));
    gates_end(&g);
}

/* For whatever reason it leaves, it has nothing any more, and its pass belongs to another request. */
static void the_displaced_leaves_and_changes_nothing(void)
{
    static const vault_qos_leave_t why[] = {VAULT_QOS_DONE, VAULT_QOS_LATE, VAULT_QOS_REFUSED, VAULT_QOS_GONE};
    vault_qos_pass_t first, loser, next;
    vault_qos_facts_t facts;
    unsigned i;
    gates_t g;

    for (i = 0; i < COUNT(why); i++) {
        begin_displaced(&g, &first, &loser, &next);
        vault_qos_leave(g.q, &loser, why[i]);
        CU_ASSERT_EQUAL(loser.index, 0);
        CU_ASSERT(!is_displaced(&g, &loser));
        facts = gates_facts(&g);
        CU_ASSERT(facts.running == 1 && facts.queued == 1 && facts.displaced == 1);
        CU_ASSERT(facts.timeouts == 0 && facts.refused == 0 && facts.gone == 0);
        gates_leave(&g, &first);
        CU_ASSERT(vault_qos_is_in(g.q, &next));
        gates_leave(&g, &next);
        CU_ASSERT_EQUAL(gates_facts(&g).running, 0);
        gates_end(&g);
    }
}

/* It checks its pass only after the newcomer was admitted and has left, and a third request has that pass at
 * another gate. */
static void the_displaced_is_not_taken_for_another(void)
{
    vault_qos_pass_t first, loser, next, third = {0, 0, 0};
    vault_qos_entrant_t who = {1, 0, 10, 0, 0};
    vault_qos_gate_t other;
    gates_t g;

    begin_displaced(&g, &first, &loser, &next);
    gates_leave(&g, &first);
    CU_ASSERT(vault_qos_is_in(g.q, &next) && !vault_qos_is_in(g.q, &loser) && is_displaced(&g, &loser));
    gates_leave(&g, &next);
    CU_ASSERT(!vault_qos_is_in(g.q, &loser) && is_displaced(&g, &loser));
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "other", 10, 10, &other), APR_SUCCESS);
    do {
        CU_ASSERT_EQUAL_FATAL(vault_qos_enter(g.q, &other, &who, &third), APR_SUCCESS);
    } while (third.index != loser.index);
    CU_ASSERT(!vault_qos_is_in(g.q, &loser) && is_displaced(&g, &loser));
    gates_leave(&g, &loser);
    CU_ASSERT(vault_qos_is_in(g.q, &third));
    gates_end(&g);
}

static void one_that_was_let_in_cannot_be_displaced(void)
{
    vault_qos_pass_t first, second, third, fourth;
    gates_t g;

    gates_begin(&g, 1, 4, 0);
    come(&g, &first, 'd', 0, ONE);
    come(&g, &second, 'a', 0, ONE);
    gates_leave(&g, &first); /* lets the second in, which does not know it yet */
    CU_ASSERT_EQUAL(come(&g, &third, 'b', 9, ONE), APR_EAGAIN);
    CU_ASSERT_EQUAL(come(&g, &fourth, 'c', 9, ONE), APR_ENOSPC);
    CU_ASSERT(vault_qos_is_in(g.q, &second) && !is_displaced(&g, &second));
    gates_end(&g);
}

static void the_child_of_the_displaced_dies(void)
{
    vault_qos_pass_t first, loser, next;
    gates_t g;
    unsigned slot;

    begin_displaced(&g, &first, &loser, &next);
    vault_qos_slot_gone(g.q, g.slot[1]);
    vault_slot_exited(g.f.notifier, 1001, &slot);
    CU_ASSERT_EQUAL(gates_facts(&g).queued, 1);
    gates_leave(&g, &first);
    CU_ASSERT(vault_qos_is_in(g.q, &next));
    gates_end(&g);
}

/* The child of the newcomer dies: the displaced request does not get its pass back. */
static void the_child_that_displaces_dies(void)
{
    vault_qos_pass_t first, loser, next;
    gates_t g;
    unsigned slot;

    begin_displaced(&g, &first, &loser, &next);
    vault_qos_slot_gone(g.q, g.slot[2]);
    vault_slot_exited(g.f.notifier, 1002, &slot);
    CU_ASSERT_EQUAL(gates_facts(&g).queued, 0);
    CU_ASSERT(is_displaced(&g, &loser));
    gates_end(&g);
}

static void die_while_displacing(void *baton)
{
    gates_t *g = baton;
    qos_gate_t *gate = qos_gate_at(g->q, g->gate.index);

    vault_lock_acquire(&gate->lock);
    qos_pass_at(g->q, gate->queues[0])->state = QOS_FREE;
    memset(gate->queues, 0x55, sizeof(gate->queues));
    fixture_ready();
    for (;;) {
        pause();
    }
}

/* The process is killed after it has taken the pass from one request and before it gives it to the other: the
 * first has lost it, and the pass returns to the pool. */
static void who_dies_while_displacing_loses_no_pass(void)
{
    vault_qos_pass_t first, loser, next;
    vault_qos_usage_t usage;
    gates_t g;

    gates_begin(&g, 1, 4, 0);
    come(&g, &first, 'd', 0, ONE);
    come(&g, &loser, 'a', 0, ONE);
    fixture_kill(fixture_fork(die_while_displacing, &g));
    CU_ASSERT(is_displaced(&g, &loser));
    CU_ASSERT_EQUAL(gates_facts(&g).queued, 0); /* this one mends */
    CU_ASSERT_EQUAL(gates_told(&g, 1, &loser), -1);
    CU_ASSERT(is_displaced(&g, &loser));
    vault_qos_usage(g.q, &usage);
    CU_ASSERT_EQUAL(usage.used, 1);
    CU_ASSERT_EQUAL(come(&g, &next, 'b', 0, ONE), APR_EAGAIN);
    gates_leave(&g, &loser);
    CU_ASSERT(!is_displaced(&g, &next));
    gates_end(&g);
}

/* The length of a queue is limited by the number of passes. */
static void short_passes_are_a_full_queue(void)
{
    static const apr_uint32_t limits[] = {60000, 0};
    static vault_qos_pass_t pass[2000];
    vault_qos_pass_t other;
    apr_uint32_t n, count;
    gates_t g;

    gates_begin(&g, 1, 4, 0);
    count = vault_qos_passes(g.q);
    CU_ASSERT_FATAL(count < COUNT(pass));
    for (n = 0; n < count; n++) {
        come(&g, &pass[n], 'a', 1, limits);
    }
    CU_ASSERT_EQUAL(come(&g, &other, 'a', 1, limits), APR_ENOMEM);
    CU_ASSERT_EQUAL(come(&g, &other, 'b', 0, limits), APR_ENOMEM);
    CU_ASSERT_EQUAL(come(&g, &other, 'b', 1, limits), APR_EAGAIN);
    CU_ASSERT(is_displaced(&g, &pass[count - 1]));
    CU_ASSERT_EQUAL(come(&g, &other, 'a', 2, limits), APR_EAGAIN);
    CU_ASSERT(is_displaced(&g, &pass[count - 2]));
    for (n = 0; n < count; n++) {
        gates_leave(&g, &pass[n]);
    }
    gates_end(&g);
}

/* A client at its limit may queue until no pass is left. A request of another client is still admitted if the
 * limit allows it. */
static void short_passes_do_not_close_free_places(void)
{
    static const apr_uint32_t limits[] = {60000, 0}, none[] = {0, 0};
    static vault_qos_pass_t pass[2000];
    vault_qos_pass_t other[2];
    vault_qos_gate_t again;
    apr_uint32_t n, count;
    gates_t g;

    gates_begin(&g, 4, 4, 0);
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 4, 2, &again), APR_SUCCESS);
    count = vault_qos_passes(g.q);
    for (n = 0; n < count; n++) {
        CU_ASSERT_EQUAL(come(&g, &pass[n], 'a', 0, limits), n < 2 ? APR_SUCCESS : APR_EAGAIN);
    }
    CU_ASSERT_EQUAL(come(&g, &other[0], 'b', 0, limits), APR_SUCCESS);
    CU_ASSERT_EQUAL(come(&g, &other[1], 'c', 0, none), APR_SUCCESS);
    CU_ASSERT(is_displaced(&g, &pass[count - 1]) && is_displaced(&g, &pass[count - 2]));
    CU_ASSERT_EQUAL(gates_facts(&g).running, 4);
    for (n = 0; n < count; n++) {
        gates_leave(&g, &pass[n]);
    }
    gates_end(&g);
}

/* A graceful restart changes the limits while requests are queued: none is removed, and the new limits apply to
 * the next ones. */
static void a_shorter_queue_is_for_those_who_come_next(void)
{
    static const apr_uint32_t before[] = {8, 8}, after[] = {4, 2};
    vault_qos_pass_t first, a[6], b, c;
    unsigned n;
    gates_t g;

    gates_begin(&g, 1, 4, 0);
    come(&g, &first, 'd', 0, before);
    for (n = 0; n < 6; n++) {
        CU_ASSERT_EQUAL(come(&g, &a[n], 'a', 0, before), APR_EAGAIN);
    }
    CU_ASSERT_EQUAL(come(&g, &c, 'a', 0, after), APR_ENOSPC);
    CU_ASSERT_EQUAL(come(&g, &b, 'b', 0, after), APR_EAGAIN);
    CU_ASSERT(is_displaced(&g, &a[5]) && !is_displaced(&g, &a[4]));
    CU_ASSERT_EQUAL(gates_facts(&g).queued, 6); /* one for one */
    CU_ASSERT_EQUAL(come(&g, &c, 'a', 1, after), APR_EAGAIN);
    CU_ASSERT(is_displaced(&g, &a[4]) && !is_displaced(&g, &a[3]));
    gates_end(&g);
}

/* ---------------------------------------------------------------- the limit of one */

static void one_client_does_not_have_all_places(void)
{
    static const apr_uint32_t limits[] = {MOST, 0}, none[] = {0, 0};
    vault_qos_pass_t a[6], b[3], c;
    vault_qos_gate_t again;
    unsigned n;
    gates_t g;

    gates_begin(&g, 4, 4, 0);
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 4, 3, &again), APR_SUCCESS);
    for (n = 0; n < 6; n++) {
        CU_ASSERT_EQUAL(come(&g, &a[n], 'a', 9, limits), n < 3 ? APR_SUCCESS : APR_EAGAIN);
    }
    CU_ASSERT_EQUAL(gates_facts(&g).each, 3);
    CU_ASSERT_EQUAL(come(&g, &c, 'a', 9, none), APR_EBUSY);
    CU_ASSERT_EQUAL(come(&g, &b[0], 'b', 0, none), APR_SUCCESS); /* past those that queue, also of a higher rank */
    CU_ASSERT_EQUAL(come(&g, &b[1], 'b', 0, limits), APR_EAGAIN);
    gates_leave(&g, &b[0]);
    CU_ASSERT(vault_qos_is_in(g.q, &b[1]) && !vault_qos_is_in(g.q, &a[3]));
    gates_leave(&g, &b[1]);
    CU_ASSERT_EQUAL(gates_facts(&g).running, 3); /* a place is kept, though three queue */
    CU_ASSERT_EQUAL(gates_facts(&g).queued, 3);
    CHECK_SOUND(vault_qos_check(g.q));
    gates_leave(&g, &a[0]);
    CU_ASSERT(vault_qos_is_in(g.q, &a[3]) && !vault_qos_is_in(g.q, &a[4]));
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 4, 4, &again), APR_SUCCESS); /* a reload */
    CU_ASSERT(vault_qos_is_in(g.q, &a[4]) && !vault_qos_is_in(g.q, &a[5]));
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 4, 1, &again), APR_SUCCESS);
    for (n = 1; n < 4; n++) {
        gates_leave(&g, &a[n]);
        CU_ASSERT(!vault_qos_is_in(g.q, &a[5]));
    }
    gates_leave(&g, &a[4]);
    CU_ASSERT(vault_qos_is_in(g.q, &a[5]));
    gates_end(&g);
}

void vault_qos_share_suite(void)
{
    CU_pSuite suite = CU_add_suite("qos_share", NULL, NULL);

    CU_ADD_TEST(suite, clients_take_turns);
    CU_ADD_TEST(suite, a_full_queue_loses_one);
    CU_ADD_TEST(suite, a_client_over_its_share_is_told_so);
    CU_ADD_TEST(suite, the_child_of_the_displaced_is_told);
    CU_ADD_TEST(suite, the_displaced_leaves_and_changes_nothing);
    CU_ADD_TEST(suite, the_displaced_is_not_taken_for_another);
    CU_ADD_TEST(suite, one_that_was_let_in_cannot_be_displaced);
    CU_ADD_TEST(suite, the_child_of_the_displaced_dies);
    CU_ADD_TEST(suite, the_child_that_displaces_dies);
    CU_ADD_TEST(suite, who_dies_while_displacing_loses_no_pass);
    CU_ADD_TEST(suite, short_passes_are_a_full_queue);
    CU_ADD_TEST(suite, short_passes_do_not_close_free_places);
    CU_ADD_TEST(suite, a_shorter_queue_is_for_those_who_come_next);
    CU_ADD_TEST(suite, one_client_does_not_have_all_places);
}
