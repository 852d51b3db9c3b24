/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file qos_fixture.h
 * The fixture of tests of gates: a segment with gates, some children, and shorthands to enter and leave.
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

/** Create it, with one gate of this limit. Ends the test if that fails.
 * @param more  additional bytes for the segment: one pass for each 4096 */
void gates_begin(gates_t *g, apr_uint32_t limit, unsigned children, apr_uint64_t more);

/** Check all invariants, and free everything. */
void gates_end(gates_t *g);

/** vault_qos_enter() for that child, with a queue of this length. */
apr_status_t gates_enter(gates_t *g, vault_qos_pass_t *pass, unsigned child, unsigned rank, apr_uint32_t queue);

/** vault_qos_leave() for a request that was handled. */
void gates_leave(gates_t *g, vault_qos_pass_t *pass);

/** The facts of the gate, or zeros. */
vault_qos_facts_t gates_facts(gates_t *g);

/** Take the entries queued for that child's waker. @return how many of them are that pass; -1: all passes have
 * to be checked */
int gates_told(gates_t *g, unsigned child, const vault_qos_pass_t *pass);

#endif
