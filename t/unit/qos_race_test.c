/* SPDX-License-Identifier: Apache-2.0 */
/* Races of gates: many concurrent threads and processes, and processes that are killed at random points. Each
 * process counts how many of its requests are admitted. Together that is never more than the limit (I7), and no
 * request waits without a reason. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qos_fixture.h"
#include "unit.h"

#define LIMIT 3
#define THREADS 6
#define THREAD_ROUNDS 4000
#define PROCESS_ROUNDS 8000
#define KILLS 200
#define QUEUE 2
#define HANDS 3 /* passes that one process has at a time */

#define LOAD(place) __atomic_load_n(&(place), __ATOMIC_SEQ_CST)
#define STORE(place, value) __atomic_store_n(&(place), (value), __ATOMIC_SEQ_CST)

/* In the segment. */
typedef struct crowd_t {
    gates_t *g;
    apr_uint32_t rounds;               /* const */
    apr_int32_t inside[QOS_SLOTS + 1]; /* atomic; by child: its own count of admitted requests */
    apr_uint32_t most;                 /* atomic; the highest number of admitted requests */
    apr_uint32_t too_many;             /* atomic; how often more were admitted than allowed */
    apr_uint32_t late;                 /* atomic; requests that never left the queue */
    apr_uint32_t displaced;            /* atomic; displaced requests */
    apr_uint64_t steps;                /* atomic */
} crowd_t;

typedef struct member_t {
    crowd_t *crowd;
    unsigned child;
    unsigned seed;
    pthread_t thread;
} member_t;

static crowd_t *crowd_begin(gates_t *g, unsigned children, apr_uint32_t rounds)
{
    crowd_t *c;

    gates_begin(g, LIMIT, children, 0);
    c = fixture_shared(&g->f, sizeof(*c));
    c->g = g;
    c->rounds = rounds;
    return c;
}

/* Counts one more admitted request, after it was admitted, and checks the sum. Sums taken concurrently can be
 * too small but never too large, since every process counts down before it leaves. */
static void count_in(crowd_t *c, unsigned child)
{
    apr_int32_t sum = 0;
    unsigned i;

    __atomic_add_fetch(&c->inside[child], 1, __ATOMIC_SEQ_CST);
    for (i = 1; i <= QOS_SLOTS; i++) {
        sum += LOAD(c->inside[i]);
    }
    if (sum > LIMIT) {
        __atomic_add_fetch(&c->too_many, 1, __ATOMIC_SEQ_CST);
    }
    if (sum > (apr_int32_t)LOAD(c->most)) {
        STORE(c->most, (apr_uint32_t)sum);
    }
}

static void leave_counted(crowd_t *c, vault_qos_pass_t *pass, unsigned child)
{
    __atomic_sub_fetch(&c->inside[child], 1, __ATOMIC_SEQ_CST);
    vault_qos_leave(c->g->q, pass, VAULT_QOS_DONE);
}

/* A short queue of a few clients with a few ranks, so that many requests are displaced. */
static apr_status_t come(member_t *m, vault_qos_pass_t *pass)
{
    gates_t *g = m->crowd->g;
    vault_qos_entrant_t who = {g->slot[m->child], (unsigned)rand_r(&m->seed) % 3, QUEUE, QUEUE - 1,
                               (unsigned)rand_r(&m->seed) % 5};

    memset(pass, 0, sizeof(*pass));
    return vault_qos_enter(g->q, &g->gate, &who, pass);
}

static int wait_to_be_let_in(crowd_t *c, const vault_qos_pass_t *pass)
{
    apr_time_t end = apr_time_now() + apr_time_from_sec(30);

    while (!vault_qos_is_in(c->g->q, pass)) {
        if (vault_qos_is_displaced(c->g->q, pass)) {
            __atomic_add_fetch(&c->displaced, 1, __ATOMIC_SEQ_CST);
            return 0;
        }
        if (apr_time_now() > end) {
            __atomic_add_fetch(&c->late, 1, __ATOMIC_SEQ_CST);
            return 0;
        }
        sched_yield();
    }
    return 1;
}

/* Enter; give up at once or wait; stay for a moment; leave. */
static void come_and_go(member_t *m)
{
    crowd_t *c = m->crowd;
    vault_qos_pass_t pass;
    apr_status_t rv = come(m, &pass);

    if (rv != APR_SUCCESS && rv != APR_EAGAIN) {
        return;
    }
    if (rv == APR_EAGAIN && (rand_r(&m->seed) % 4 == 0 || !wait_to_be_let_in(c, &pass))) {
        vault_qos_leave(c->g->q, &pass, VAULT_QOS_GONE); /* perhaps just let in: then it goes to the next */
        return;
    }
    count_in(c, m->child);
    if (rand_r(&m->seed) % 4 == 0) {
        sched_yield();
    }
    leave_counted(c, &pass, m->child);
}

/* Repeats until the gate has been full at least once, even with few processors: otherwise nothing was tested. */
static void *come_and_go_often(void *baton)
{
    member_t *m = baton;
    apr_time_t end = apr_time_now() + apr_time_from_sec(30);
    apr_uint32_t i;

    for (i = 0; i < m->crowd->rounds || (LOAD(m->crowd->most) < LIMIT && apr_time_now() < end); i++) {
        come_and_go(m);
    }
    return NULL;
}

static void check_empty(crowd_t *c)
{
    vault_qos_facts_t facts = gates_facts(c->g);

    CU_ASSERT_EQUAL(c->too_many, 0);
    CU_ASSERT_EQUAL(c->late, 0);
    CU_ASSERT_EQUAL(c->most, LIMIT);
    CU_ASSERT(facts.displaced >= c->displaced);
    CU_ASSERT_EQUAL(facts.running, 0);
    CU_ASSERT_EQUAL(facts.queued, 0);
}

static void threads_are_never_too_many(void)
{
    gates_t g;
    crowd_t *c = crowd_begin(&g, 3, THREAD_ROUNDS);
    member_t m[THREADS];
    unsigned i;

    for (i = 0; i < THREADS; i++) {
        m[i] = (member_t){.crowd = c, .child = 1 + i % 3, .seed = i + 1};
        CU_ASSERT_FATAL(pthread_create(&m[i].thread, NULL, come_and_go_often, &m[i]) == 0);
    }
    for (i = 0; i < THREADS; i++) {
        pthread_join(m[i].thread, NULL);
    }
    check_empty(c);
    gates_end(&g);
}

static void process(void *baton)
{
    fixture_ready();
    come_and_go_often(baton);
    _exit(0);
}

static void processes_are_never_too_many(void)
{
    gates_t g;
    crowd_t *c = crowd_begin(&g, 4, PROCESS_ROUNDS);
    pid_t pid[4];
    unsigned i;

    for (i = 0; i < 4; i++) {
        member_t m = {.crowd = c, .child = 1 + i, .seed = 100 + i};

        pid[i] = fixture_fork(process, &m);
    }
    for (i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(fixture_wait(pid[i]), 0);
    }
    check_empty(c);
    gates_end(&g);
}

/* ------------------------------------------------------------------------ kills */

/* One step: does something with one of its passes. Never waits; queued passes are checked again later. */
static void juggle(member_t *m, vault_qos_pass_t *pass, int *counted)
{
    crowd_t *c = m->crowd;

    if (!pass->index) {
        come(m, pass);
    }
    if (!*counted && vault_qos_is_in(c->g->q, pass)) {
        *counted = 1;
        count_in(c, m->child);
    }
    else if (*counted) {
        *counted = 0;
        leave_counted(c, pass, m->child);
    }
    else if (vault_qos_is_displaced(c->g->q, pass)) {
        __atomic_add_fetch(&c->displaced, 1, __ATOMIC_SEQ_CST);
        vault_qos_leave(c->g->q, pass, VAULT_QOS_REFUSED);
    }
    else if (rand_r(&m->seed) % 16 == 0) {
        vault_qos_leave(c->g->q, pass, VAULT_QOS_GONE);
    }
    __atomic_add_fetch(&c->steps, 1, __ATOMIC_SEQ_CST);
}

static void juggle_for_ever(void *baton)
{
    member_t *m = baton;
    vault_qos_pass_t hands[HANDS];
    int counted[HANDS] = {0};
    unsigned i;

    memset(hands, 0, sizeof(hands));
    fixture_ready();
    for (;;) {
        i = (unsigned)rand_r(&m->seed) % HANDS;
        juggle(m, &hands[i], &counted[i]);
    }
}

/* A new child with a slot of its own, as httpd would start it. */
static pid_t start_child(crowd_t *c, member_t *m, unsigned n)
{
    m->crowd = c;
    m->child = n;
    m->seed += n;
    STORE(c->inside[n], 0);
    return fixture_fork(juggle_for_ever, m);
}

/* The requests of a dead process do not count any more when the parent knows of its death; the gate learns that
 * later. */
static void bury(crowd_t *c, unsigned n)
{
    STORE(c->inside[n], 0);
    vault_qos_slot_gone(c->g->q, c->g->slot[n]);
    vault_notifier_all(c->g->f.notifier, 0);
}

static void who_is_killed_takes_his_passes_along(void)
{
    gates_t g;
    crowd_t *c = crowd_begin(&g, 3, 0);
    member_t m[4];
    pid_t pid[4];
    unsigned n, k, seed = 11;

    memset(m, 0, sizeof(m));
    for (n = 1; n <= 3; n++) {
        pid[n] = start_child(c, &m[n], n);
    }
    for (k = 0; k < KILLS; k++) {
        apr_uint64_t until = LOAD(c->steps) + (apr_uint64_t)rand_r(&seed) % 200;

        while (LOAD(c->steps) < until) {
            sched_yield();
        }
        n = 1 + k % 3;
        fixture_kill(pid[n]);
        bury(c, n);
        CU_ASSERT(gates_facts(&g).running <= LIMIT);
        pid[n] = start_child(c, &m[n], n);
    }
    for (n = 1; n <= 3; n++) {
        fixture_kill(pid[n]);
        bury(c, n);
    }
    check_empty(c);
    CU_ASSERT(c->displaced > 0);
    gates_end(&g);
}

void vault_qos_race_suite(void)
{
    CU_pSuite suite = CU_add_suite("qos_race", NULL, NULL);

    CU_ADD_TEST(suite, threads_are_never_too_many);
    CU_ADD_TEST(suite, processes_are_never_too_many);
    CU_ADD_TEST(suite, who_is_killed_takes_his_passes_along);
}
