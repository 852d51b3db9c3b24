/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of the pool of passes: how many each gate can have, what is reserved for the others, and that passes
 * return to it. */
#include <string.h>

#include "qos_fixture.h"
#include "unit.h"

#define MANY 1000 /* more than there are passes */

/* Enters requests until one is refused. @return how many were not */
static unsigned flood(gates_t *g, const vault_qos_gate_t *gate, vault_qos_pass_t *pass)
{
    vault_qos_entrant_t who = {g->slot[1], 0, MANY, 0, 0};
    unsigned n = 0;
    apr_status_t rv;

    memset(pass, 0, MANY * sizeof(*pass));
    while (n < MANY && ((rv = vault_qos_enter(g->q, gate, &who, &pass[n])) == APR_SUCCESS || rv == APR_EAGAIN)) {
        n++;
    }
    CU_ASSERT_FATAL(n < MANY);
    CU_ASSERT_EQUAL(rv, APR_ENOMEM);
    return n;
}

static void leave_all(gates_t *g, vault_qos_pass_t *pass)
{
    unsigned n;

    for (n = 0; n < MANY; n++) {
        gates_leave(g, &pass[n]);
    }
}

static vault_qos_usage_t usage(gates_t *g)
{
    vault_qos_usage_t facts;

    vault_qos_usage(g->q, &facts);
    return facts;
}

static void passes_are_bounded(void)
{
    static vault_qos_pass_t pass[MANY];
    gates_t g;
    apr_uint32_t count;

    gates_begin(&g, 1, 1, 0);
    count = vault_qos_passes(g.q);
    CU_ASSERT_EQUAL(flood(&g, &g.gate, pass), count); /* the only gate can have all */
    CU_ASSERT_EQUAL(pass[count].index, 0);
    CU_ASSERT_EQUAL(gates_facts(&g).refused, 1);
    CU_ASSERT_EQUAL(usage(&g).passes, count);
    CU_ASSERT_EQUAL(usage(&g).used, count);
    CU_ASSERT_EQUAL(usage(&g).shortages, 1);
    CU_ASSERT(usage(&g).short_at > 0);
    gates_leave(&g, &pass[5]);
    CU_ASSERT_EQUAL(gates_enter(&g, &pass[5], 1, 0, MANY), APR_EAGAIN);
    leave_all(&g, pass);
    CU_ASSERT_EQUAL(usage(&g).used, 0);
    gates_end(&g);
}

static void what_a_flood_took_goes_back(void)
{
    static vault_qos_pass_t pass[MANY];
    vault_qos_gate_t gate[3];
    gates_t g;
    unsigned n, most[3];

    gates_begin(&g, 1, 1, 0);
    vault_qos_begin(g.q);
    for (n = 0; n < 3; n++) {
        CU_ASSERT_EQUAL(vault_qos_open(g.q,
                                       n == 0   ? "gate"
                                       : n == 1 ? "second"
                                                : "third",
                                       1, 1, &gate[n]),
                        APR_SUCCESS);
    }
    for (n = 0; n < 3; n++) { /* each finds what the one before found */
        most[n] = flood(&g, &gate[n], pass);
        CU_ASSERT_EQUAL(most[n], most[0]);
        CU_ASSERT_EQUAL(usage(&g).used, most[n]);
        leave_all(&g, pass);
        CU_ASSERT_EQUAL(usage(&g).used, 0);
    }
    gates_end(&g);
}

static void a_flooded_gate_leaves_the_others_their_share(void)
{
    static vault_qos_pass_t pass[4][MANY];
    vault_qos_gate_t gate[4];
    gates_t g;
    unsigned n, count, share;

    gates_begin(&g, 1, 1, 0);
    vault_qos_begin(g.q);
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "gate", 1, 1, &gate[0]), APR_SUCCESS);
    for (n = 1; n < 4; n++) {
        CU_ASSERT_EQUAL(vault_qos_open(g.q,
                                       n == 1   ? "second"
                                       : n == 2 ? "third"
                                                : "fourth",
                                       1, 1, &gate[n]),
                        APR_SUCCESS);
    }
    count = vault_qos_passes(g.q);
    share = usage(&g).share;
    CU_ASSERT_EQUAL(share, count / 8);
    CU_ASSERT_EQUAL(flood(&g, &gate[0], pass[0]), count - 3 * share);
    for (n = 1; n < 4; n++) {
        CU_ASSERT_EQUAL(flood(&g, &gate[n], pass[n]), share);
    }
    gates_leave(&g, &pass[0][0]); /* past its share: so the other gates may have it */
    CU_ASSERT_EQUAL(vault_qos_enter(g.q, &gate[2], &(vault_qos_entrant_t){1, 0, MANY, 0, 0}, &pass[2][share]),
                    APR_EAGAIN);
    gates_leave(&g, &pass[2][1]);
    gates_leave(&g, &pass[2][2]); /* within its share: so it is reserved */
    CU_ASSERT_EQUAL(vault_qos_enter(g.q, &gate[0], &(vault_qos_entrant_t){1, 0, MANY, 0, 0}, &pass[0][0]), APR_EAGAIN);
    CU_ASSERT_EQUAL(vault_qos_enter(g.q, &gate[0], &(vault_qos_entrant_t){1, 0, MANY, 0, 0}, &pass[0][MANY - 1]),
                    APR_ENOMEM);
    CU_ASSERT_EQUAL(vault_qos_enter(g.q, &gate[2], &(vault_qos_entrant_t){1, 0, MANY, 0, 0}, &pass[2][1]), APR_EAGAIN);
    for (n = 0; n < 4; n++) {
        leave_all(&g, pass[n]);
    }
    gates_end(&g);
}

/* A gate of an older configuration keeps its passes, and gets more only if the others leave some. */
static void shares_follow_the_configuration(void)
{
    static vault_qos_pass_t pass[2][MANY];
    vault_qos_gate_t second, third;
    gates_t g;
    unsigned count;

    gates_begin(&g, 1, 1, 0);
    count = vault_qos_passes(g.q);
    CU_ASSERT_EQUAL(usage(&g).share, count / 2);
    CU_ASSERT_EQUAL(flood(&g, &g.gate, pass[0]), count);
    vault_qos_begin(g.q);
    CU_ASSERT_EQUAL(usage(&g).share, 0);
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "second", 1, 1, &second), APR_SUCCESS);
    CU_ASSERT_EQUAL(vault_qos_open(g.q, "third", 1, 1, &third), APR_SUCCESS);
    CU_ASSERT_EQUAL(usage(&g).share, count / 4);
    CU_ASSERT_EQUAL(flood(&g, &second, pass[1]), 0); /* the old requests have all still */
    leave_all(&g, pass[0]);
    CU_ASSERT_EQUAL(flood(&g, &g.gate, pass[0]), count - 2 * (count / 4));
    CU_ASSERT_EQUAL(flood(&g, &second, pass[1]), count / 4);
    leave_all(&g, pass[0]);
    leave_all(&g, pass[1]);
    gates_end(&g);
}

static unsigned collected;
static apr_uint32_t last_collected;

static void look_at(apr_uint32_t pass)
{
    collected++;
    last_collected = pass;
}

/* The module uses each pass that it collects as an index. */
static void a_stray_write_names_no_pass_beyond_the_table(void)
{
    gates_t g;
    apr_uint64_t *told;
    apr_uint32_t count;

    gates_begin(&g, 1, 1, 300 * 4096);
    count = vault_qos_passes(g.q);
    CU_ASSERT_NOT_EQUAL_FATAL(count % 64, 0); /* so the last word has bits without a pass */
    told = g.q->told + (apr_size_t)g.slot[1] * QOS_TOLD_WORDS(count);
    told[0] = 1;
    told[QOS_TOLD_WORDS(count) - 1] = ~APR_UINT64_C(0);
    collected = 0;
    vault_qos_collect(g.q, g.slot[1], look_at);
    CU_ASSERT_EQUAL(collected, count % 64);
    CU_ASSERT_EQUAL(last_collected, count);
    gates_end(&g);
}

void vault_qos_pool_suite(void)
{
    CU_pSuite suite = CU_add_suite("qos_pool", NULL, NULL);

    CU_ADD_TEST(suite, passes_are_bounded);
    CU_ADD_TEST(suite, what_a_flood_took_goes_back);
    CU_ADD_TEST(suite, a_flooded_gate_leaves_the_others_their_share);
    CU_ADD_TEST(suite, shares_follow_the_configuration);
    CU_ADD_TEST(suite, a_stray_write_names_no_pass_beyond_the_table);
}
