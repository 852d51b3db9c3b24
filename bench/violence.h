/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file violence.h
 * What a stress run does to the server's processes: signals to the children and to their parent.
 */
#ifndef VAULT_BENCH_VIOLENCE_H
#define VAULT_BENCH_VIOLENCE_H

#include "plan.h"

typedef struct violence_counts_t {
    long kills; /* also of children that kill themselves */
    long restarts;
    long reloads; /* of the restarts, with another configuration */
} violence_counts_t;

extern violence_counts_t violence_counts;

/** `parent` is httpd's pid; `varied` the file of its configuration that may be written, or NULL. */
void violence_start(int parent, const char *varied);

/** PLAN_KILL, PLAN_RESTART or PLAN_RELOAD. */
void violence_act(const plan_act_t *act);

/** Restart gracefully with this poll time-out and page time-out, in seconds, if there is a file to write; else
 * just restart. */
void violence_settle(int poll_timeout, int page_timeout);

#endif
