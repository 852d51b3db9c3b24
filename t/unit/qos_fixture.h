/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_fixture.h
 * What tests of gates begin with: a segment with gates, a few children, and short names for entering and leaving.
 */
#ifndef VAULT_QOS_FIXTURE_H
#define VAULT_QOS_FIXTURE_H

#include "fixture.h"
#include "qos/qos_table.h"

#define QOS_SLOTS 6

typedef struct gates_t {
    fixture_t f;
    vault_qos_t *q;
    vault_qos_gate_t gate;        /* "gate" */
    unsigned slot[QOS_SLOTS + 1]; /* of children 1.. with the pids 1001..; as many as were asked for */
    unsigned children;
} gates_t;

/** Make it, with one gate of this limit. Ends the test when that fails.
 * @param more  bytes more for the segment: one pass in each 4096 */
void gates_begin(gates_t *g, apr_uint32_t limit, unsigned children, apr_uint64_t more);

/** Check that all is sound, and give it back. */
void gates_end(gates_t *g);

/** vault_qos_enter() of that child, into a queue of this length. */
apr_status_t gates_enter(gates_t *g, vault_qos_pass_t *pass, unsigned child, unsigned rank, apr_uint32_t queue);

/** vault_qos_leave() of a request that was served, from whichever gate. */
void gates_leave(gates_t *g, vault_qos_pass_t *pass);

/** The facts of the gate, or zeros. */
vault_qos_facts_t gates_facts(gates_t *g);

/** Take what was queued for that child's waker. @return how many of it are that pass; -1: everything is to be looked at */
int gates_told(gates_t *g, unsigned child, const vault_qos_pass_t *pass);

#endif
