/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of what each client has: limits that are exact, shares of processes that die, rows that are full, names
 * that collide. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "apr_hash.h"
#include "apr_strings.h"

#include "fixture.h"
#include "shm/client_rows.h"
#include "unit.h"

#define NOW apr_time_from_sec(1000000)
#define SLOTS 8
#define KILLS 100

static vault_clients_t *begin(fixture_t *f, apr_uint32_t pages)
{
    vault_limits_t limits = {0, 16, pages, SLOTS, 0};
    vault_clients_t *clients;

    memset(f, 0, sizeof(*f));
    limits.size = vault_notifier_space(&limits) + vault_clients_space(&limits) + 64 * 1024;
    CU_ASSERT_FATAL(apr_pool_create(&f->pool, NULL) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_segment_create(&f->segment, &limits, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_notifier_create(&f->notifier, f->segment, f->pool) == APR_SUCCESS);
    CU_ASSERT_FATAL(vault_clients_create(&clients, f->segment, f->pool) == APR_SUCCESS);
    return clients;
}

static void end(fixture_t *f, vault_clients_t *clients)
{
    CHECK_SOUND(vault_clients_check(clients));
    CU_ASSERT_EQUAL(vault_clients_count(clients), 0);
    fixture_end(f);
}

static apr_status_t take(vault_clients_t *c, vault_client_row_t *row, vault_client_id_t id, vault_client_kind_t kind,
                         unsigned slot)
{
    vault_client_claim_t claim = {id, kind, slot, 1, 4};

    return vault_clients_take(c, row, &claim);
}

/* ------------------------------------------------------------------- limits */

static void a_limit_holds_to_the_last_one(void)
{
    static const struct claim_t {
        vault_client_id_t id;
        vault_client_kind_t kind;
        unsigned slot;
        apr_uint64_t amount, most;
        apr_status_t rv;
        const char *why;
    } rows[] = {
        {1, VAULT_CLIENT_BYTES, 0, 90, 100, APR_SUCCESS, "below the limit"},
        {1, VAULT_CLIENT_BYTES, 0, 11, 100, APR_ENOSPC, "one too many"},
        {1, VAULT_CLIENT_BYTES, 0, 10, 100, APR_SUCCESS, "as many as there may be"},
        {1, VAULT_CLIENT_BYTES, 0, 1, 100, APR_ENOSPC, "and none more"},
        {1, VAULT_CLIENT_PAGES, 0, 1, 1, APR_SUCCESS, "another kind has a limit of its own"},
        {2, VAULT_CLIENT_BYTES, 0, 100, 100, APR_SUCCESS, "another client has its own"},
        {1, VAULT_CLIENT_UNSENT, 1, 60, 100, APR_SUCCESS, "a kind of a slot"},
        {1, VAULT_CLIENT_UNSENT, 2, 41, 100, APR_ENOSPC, "all slots count together"},
        {1, VAULT_CLIENT_UNSENT, 2, 40, 100, APR_SUCCESS, "all slots together may have as much"},
        {1, VAULT_CLIENT_UNSENT, 1, APR_UINT64_MAX, APR_UINT64_MAX, APR_ENOSPC, "a sum that cannot be"},
        {3, VAULT_CLIENT_WAITING, 1, 2, 1, APR_ENOSPC, "more than the limit at once"},
        {0, VAULT_CLIENT_PAGES, 0, 1, 1, APR_EINVAL, "no client"},
        {1, VAULT_CLIENT_WAITING, 0, 1, 1, APR_EINVAL, "no slot"},
        {1, VAULT_CLIENT_WAITING, SLOTS + 1, 1, 1, APR_EINVAL, "no such slot"},
        {1, VAULT_CLIENT_KINDS, 1, 1, 1, APR_EINVAL, "no such kind"},
        {4, VAULT_CLIENT_PAGES, 0, 0, 0, APR_SUCCESS, "nothing is no row"},
    };
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    vault_client_row_t given[sizeof(rows) / sizeof(rows[0])];
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vault_client_claim_t claim = {rows[i].id, rows[i].kind, rows[i].slot, rows[i].amount, rows[i].most};

        CHECK_ROW(vault_clients_take(c, &given[i], &claim) == rows[i].rv, rows[i].why);
        CHECK_ROW(!given[i] == (rows[i].rv != APR_SUCCESS || !rows[i].amount), rows[i].why);
        CHECK_SOUND(vault_clients_check(c));
    }
    CU_ASSERT_EQUAL(vault_clients_count(c), 2); /* a refused client has no row */
    CU_ASSERT_EQUAL(vault_clients_has(c, 1, VAULT_CLIENT_UNSENT), 100);
    CU_ASSERT_EQUAL(vault_clients_having(c, VAULT_CLIENT_BYTES), 2);
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].rv == APR_SUCCESS) {
            vault_clients_give(c, given[i], rows[i].kind, rows[i].slot, rows[i].amount);
        }
    }
    end(&f, c);
}

/* More is given back than was taken, or where nothing is: what others have stays. */
static void what_is_not_there_cannot_be_given_back(void)
{
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    vault_client_row_t row, same;

    CU_ASSERT_EQUAL(take(c, &row, 1, VAULT_CLIENT_WAITING, 1), APR_SUCCESS);
    CU_ASSERT_EQUAL(take(c, &same, 1, VAULT_CLIENT_PAGES, 0), APR_SUCCESS);
    CU_ASSERT_EQUAL(row, same);
    vault_clients_give(c, row, VAULT_CLIENT_WAITING, 2, 1);
    vault_clients_give(c, row, VAULT_CLIENT_PAGES, 0, 5);
    vault_clients_give(c, 0, VAULT_CLIENT_WAITING, 1, 1);
    vault_clients_give(c, c->capacity + 1, VAULT_CLIENT_WAITING, 1, 1);
    CU_ASSERT_EQUAL(vault_clients_row_has(c, row, VAULT_CLIENT_WAITING), 1);
    CU_ASSERT_EQUAL(vault_clients_row_has(c, row, VAULT_CLIENT_PAGES), 0);
    vault_clients_give(c, row, VAULT_CLIENT_WAITING, 1, 5);
    vault_clients_give(c, row, VAULT_CLIENT_WAITING, 1, 1);
    end(&f, c);
}

static void a_client_too_many_is_refused_until_one_goes(void)
{
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    vault_client_row_t row, last = 0;
    apr_uint32_t i, capacity = c->capacity;

    CU_ASSERT(capacity >= 8);
    for (i = 1; i <= capacity; i++) {
        CU_ASSERT_EQUAL(take(c, &last, i, VAULT_CLIENT_PAGES, 0), APR_SUCCESS);
    }
    CU_ASSERT_EQUAL(take(c, &row, capacity + 1, VAULT_CLIENT_PAGES, 0), APR_ENOMEM);
    CU_ASSERT_EQUAL(row, 0);
    CU_ASSERT_EQUAL(take(c, &row, 1, VAULT_CLIENT_PAGES, 0), APR_SUCCESS); /* who has a row goes on */
    vault_clients_give(c, row, VAULT_CLIENT_PAGES, 0, 1);
    CHECK_SOUND(vault_clients_check(c));
    vault_clients_give(c, last, VAULT_CLIENT_PAGES, 0, 1);
    CU_ASSERT_EQUAL(take(c, &row, capacity + 1, VAULT_CLIENT_PAGES, 0), APR_SUCCESS);
    for (i = 1; i <= capacity; i++) {
        vault_clients_give(c, i, VAULT_CLIENT_PAGES, 0, 1);
    }
    end(&f, c);
}

/* -------------------------------------------------------------------- names */

/* These two share everything under apr_hashfunc_default, whatever is XORed to its result. */
static void names_that_collide_do_not_share_a_limit(void)
{
    static const char first[] = "user Ab", second[] = "user BA";
    apr_ssize_t length = sizeof(first) - 1;
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    vault_client_id_t a = vault_client_id(c, first), b = vault_client_id(c, second);
    vault_client_row_t rows[5];
    int i;

    CU_ASSERT_EQUAL(apr_hashfunc_default(first, &length), apr_hashfunc_default(second, &length));
    CU_ASSERT(a != b && a && b);
    CU_ASSERT_EQUAL(a, vault_client_id(c, "user Ab"));
    for (i = 0; i < 4; i++) {
        CU_ASSERT_EQUAL(take(c, &rows[i], a, VAULT_CLIENT_PAGES, 0), APR_SUCCESS);
        CU_ASSERT(vault_clients_admit(c, a, 4, NOW));
    }
    CU_ASSERT_EQUAL(take(c, &rows[4], a, VAULT_CLIENT_PAGES, 0), APR_ENOSPC);
    CU_ASSERT(!vault_clients_admit(c, a, 4, NOW));
    CU_ASSERT_EQUAL(take(c, &rows[4], b, VAULT_CLIENT_PAGES, 0), APR_SUCCESS);
    CU_ASSERT(vault_clients_admit(c, b, 4, NOW));
    for (i = 0; i < 5; i++) {
        vault_clients_give(c, rows[i], VAULT_CLIENT_PAGES, 0, 1);
    }
    vault_clients_sweep(c, NOW + apr_time_from_sec(1));
    end(&f, c);
}

/* Who has learnt the ids of one server knows nothing of another's. */
static void ids_depend_on_a_key_and_on_the_whole_name(void)
{
    static const char *const names[] = {"",       "user",      "user a",      "user aa",      "user aaaaaaaa",
                                        "user A", "address a", "user a user", "user aaaaaaab"};
    const unsigned count = sizeof(names) / sizeof(names[0]);
    fixture_t f, g;
    vault_clients_t *c = begin(&f, 4), *other = begin(&g, 4);
    unsigned i, k;

    for (i = 0; i < count; i++) {
        CU_ASSERT(vault_client_id(c, names[i]) != vault_client_id(other, names[i]));
        for (k = 0; k < i; k++) {
            CU_ASSERT(vault_client_id(c, names[i]) != vault_client_id(c, names[k]));
        }
    }
    end(&g, other);
    end(&f, c);
}

/* -------------------------------------------------------------------- rates */

/* How many of `tries` at that moment are admitted. */
static int admitted(vault_clients_t *c, vault_client_id_t client, unsigned per_second, apr_time_t now, int tries)
{
    int n = 0;

    while (tries--) {
        n += vault_clients_admit(c, client, per_second, now);
    }
    return n;
}

static void a_second_s_worth_at_once_and_no_more(void)
{
    static const struct row_t {
        apr_time_t later; /* microseconds after the first */
        int admitted;
        const char *why;
    } rows[] = {
        {0, 10, "a second's worth at once"},
        {0, 0, "and then none"},
        {99999, 0, "nor before a tenth of a second"},
        {100000, 1, "then one"},
        {350000, 2, "and as many as time has come"},
        {5000000, 10, "what was not used is not kept for longer than a second"},
        {-3600000000, 10, "a clock that was set back stops no client"},
    };
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    unsigned i;

    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        CHECK_ROW(admitted(c, 7, 10, NOW + rows[i].later, 20) == rows[i].admitted, rows[i].why);
        vault_clients_sweep(c, NOW + rows[i].later);
    }
    CU_ASSERT_EQUAL(admitted(c, 8, 10, NOW, 20), 10); /* another client */
    CU_ASSERT_EQUAL(admitted(c, 9, 1, NOW, 20), 1);
    CU_ASSERT_EQUAL(vault_clients_count(c), 3);
    vault_clients_sweep(c, NOW); /* one was busy an hour ago, as the clock says now */
    CU_ASSERT_EQUAL(vault_clients_count(c), 2);
    vault_clients_sweep(c, NOW + apr_time_from_sec(1));
    end(&f, c);
}

static void who_notifies_leaves_room_for_pages(void)
{
    fixture_t f;
    vault_clients_t *c = begin(&f, 100);
    vault_client_row_t row;
    vault_client_id_t id;

    for (id = 1; vault_clients_admit(c, id, 10, NOW); id++) {
    }
    CU_ASSERT_EQUAL(vault_clients_count(c), c->capacity / 2);
    CU_ASSERT(c->capacity / 2 >= 100);
    CU_ASSERT_EQUAL(take(c, &row, id, VAULT_CLIENT_PAGES, 0), APR_SUCCESS);
    CU_ASSERT(vault_clients_admit(c, id, 10, NOW)); /* who has a row may */
    vault_clients_give(c, row, VAULT_CLIENT_PAGES, 0, 1);
    vault_clients_sweep(c, NOW + apr_time_from_sec(1));
    end(&f, c);
}

/* -------------------------------------------------------- several processes */

typedef struct race_t {
    vault_clients_t *clients;
    unsigned slot;
    int got;
} race_t;

static void *ask(void *baton)
{
    race_t *race = baton;
    vault_client_row_t row;
    int i;

    for (i = 0; i < 100000; i++) {
        vault_client_claim_t claim = {7, VAULT_CLIENT_UNSENT, race->slot, 1, 100000};

        race->got += vault_clients_take(race->clients, &row, &claim) == APR_SUCCESS;
    }
    return NULL;
}

static void two_at_once_get_no_more_than_one(void)
{
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    race_t races[2] = {{c, 1, 0}, {c, 2, 0}};
    pthread_t thread;

    CU_ASSERT_FATAL(pthread_create(&thread, NULL, ask, &races[0]) == 0);
    ask(&races[1]);
    pthread_join(thread, NULL);
    CU_ASSERT_EQUAL(races[0].got + races[1].got, 100000);
    CU_ASSERT_EQUAL(vault_clients_has(c, 7, VAULT_CLIENT_UNSENT), 100000);
    vault_clients_slot_gone(c, 1);
    CU_ASSERT_EQUAL(vault_clients_has(c, 7, VAULT_CLIENT_UNSENT), (apr_uint64_t)races[1].got);
    vault_clients_slot_gone(c, 2);
    end(&f, c);
}

/* Processes that are killed anywhere in the table. */
typedef struct victim_t {
    vault_clients_t *clients;
    unsigned slot;
    unsigned seed;
    apr_uint32_t turns; /* atomic */
} victim_t;

static void take_and_give_for_ever(void *baton)
{
    victim_t *v = baton;
    vault_client_row_t rows[16] = {0};

    fixture_ready();
    for (;;) {
        unsigned i = (unsigned)rand_r(&v->seed) % 16;
        vault_client_kind_t kind = i % 2 ? VAULT_CLIENT_WAITING : VAULT_CLIENT_UNSENT;
        vault_client_claim_t claim = {100 + i, kind, v->slot, 1 + i, APR_UINT64_MAX};

        if (rows[i]) {
            vault_clients_give(v->clients, rows[i], kind, v->slot, 1 + i);
            rows[i] = 0;
        }
        else {
            vault_clients_take(v->clients, &rows[i], &claim);
        }
        vault_clients_admit(v->clients, 200 + i, 10, NOW);
        vault_clients_sweep(v->clients, NOW + apr_time_from_sec(2));
        __atomic_add_fetch(&v->turns, 1, __ATOMIC_SEQ_CST);
    }
}

static void what_a_killed_process_had_goes_with_its_slot(void)
{
    vault_client_claim_t kept = {100, VAULT_CLIENT_UNSENT, 2, 33, APR_UINT64_MAX};
    vault_client_row_t row;
    fixture_t f;
    vault_clients_t *c = begin(&f, 4);
    victim_t *v = fixture_shared(&f, sizeof(*v));
    unsigned kill;

    CU_ASSERT_EQUAL(vault_clients_take(c, &row, &kept), APR_SUCCESS);
    for (kill = 0; kill < KILLS; kill++) {
        pid_t pid;

        *v = (victim_t){c, 1, kill, 0};
        pid = fixture_fork(take_and_give_for_ever, v);
        while (__atomic_load_n(&v->turns, __ATOMIC_SEQ_CST) < 50 + kill * 7) {
            sched_yield();
        }
        fixture_kill(pid);
        CHECK_SOUND(vault_clients_check(c));
        vault_clients_slot_gone(c, 1);
        vault_clients_sweep(c, NOW + apr_time_from_sec(2));
        CHECK_SOUND(vault_clients_check(c));
        CU_ASSERT_EQUAL(vault_clients_count(c), 1);
        CU_ASSERT_EQUAL(vault_clients_row_has(c, row, VAULT_CLIENT_UNSENT), 33);
    }
    vault_clients_give(c, row, VAULT_CLIENT_UNSENT, 2, 33);
    end(&f, c);
}

void vault_client_table_suite(void)
{
    CU_pSuite suite = CU_add_suite("client_table", NULL, NULL);

    CU_ADD_TEST(suite, a_limit_holds_to_the_last_one);
    CU_ADD_TEST(suite, what_is_not_there_cannot_be_given_back);
    CU_ADD_TEST(suite, a_client_too_many_is_refused_until_one_goes);
    CU_ADD_TEST(suite, names_that_collide_do_not_share_a_limit);
    CU_ADD_TEST(suite, ids_depend_on_a_key_and_on_the_whole_name);
    CU_ADD_TEST(suite, a_second_s_worth_at_once_and_no_more);
    CU_ADD_TEST(suite, who_notifies_leaves_room_for_pages);
    CU_ADD_TEST(suite, two_at_once_get_no_more_than_one);
    CU_ADD_TEST(suite, what_a_killed_process_had_goes_with_its_slot);
}
