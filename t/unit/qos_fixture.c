/* SPDX-License-Identifier: Apache-2.0 */
/* The fixture of tests of gates. */
#include "qos_fixture.h"

#include <string.h>

#include "unit.h"

void gates_begin(gates_t *g, apr_uint32_t limit, unsigned children, apr_uint64_t more)
{
    unsigned i;

    memset(g, 0, sizeof(*g));
    fixture_begin(&g->f, 16, QOS_SLOTS, more);
    CU_ASSERT_FATAL(vault_qos_create(&g->q, g->f.segment, g->f.notifier, g->f.pool) == APR_SUCCESS);
    vault_qos_begin(g->q);
    CU_ASSERT_FATAL(vault_qos_open(g->q, "gate", limit, limit, &g->gate) == APR_SUCCESS);
    g->children = children;
    for (i = 1; i <= children; i++) {
        CU_ASSERT_FATAL(vault_slot_claim(g->f.notifier, (pid_t)(1000 + i), &g->slot[i]) == APR_SUCCESS);
    }
}

void gates_end(gates_t *g)
{
    vault_qos_facts_t facts;

    if (vault_qos_facts(g->q, g->gate.index, &facts)) { /* a request that queues for nothing is not let in by it */
        CU_ASSERT(facts.running >= facts.limit || !qos_gate_first(g->q, qos_gate_at(g->q, g->gate.index)));
    }
    CHECK_SOUND(vault_qos_check(g->q));
    CHECK_SOUND(vault_notifier_check(g->f.notifier));
    fixture_end(&g->f);
}

apr_status_t gates_enter(gates_t *g, vault_qos_pass_t *pass, unsigned child, unsigned rank, apr_uint32_t queue)
{
    vault_qos_entrant_t who = {g->slot[child], rank, queue, 0, 0};

    memset(pass, 0, sizeof(*pass));
    return vault_qos_enter(g->q, &g->gate, &who, pass);
}

void gates_leave(gates_t *g, vault_qos_pass_t *pass)
{
    vault_qos_leave(g->q, pass, VAULT_QOS_DONE);
}

vault_qos_facts_t gates_facts(gates_t *g)
{
    vault_qos_facts_t facts;

    memset(&facts, 0, sizeof(facts));
    CU_ASSERT_EQUAL(vault_qos_facts(g->q, g->gate.index, &facts), 1);
    return facts;
}

static __thread apr_uint32_t looked_for;
static __thread int found;

static void look_at(apr_uint32_t pass)
{
    found += pass == looked_for;
}

int gates_told(gates_t *g, unsigned child, const vault_qos_pass_t *pass)
{
    vault_interest_t list[VAULT_SLOT_QUEUE];
    unsigned count;
    int all = vault_slot_drain(g->f.notifier, g->slot[child], list, VAULT_SLOT_QUEUE, &count);

    looked_for = pass->index;
    found = 0;
    vault_qos_collect(g->q, g->slot[child], look_at);
    return all ? -1 : found;
}
