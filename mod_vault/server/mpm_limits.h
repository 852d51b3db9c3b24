/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mpm_limits.h
 * What the configuration of httpd allows, and whether the module's own fits to it. Used at the start and by
 * `vault-status?check`.
 *
 * Any thread, once the configuration has been read; functions about a child, after child_init.
 */
#ifndef VAULT_MPM_LIMITS_H
#define VAULT_MPM_LIMITS_H

#include "httpd.h"

#include "shm/segment.h"

/** How many polls can wait in a child with this MPM. */
typedef struct vault_mpm_limits_t {
    unsigned connections; /* limit by the MPM: ThreadsPerChild and AsyncRequestWorkerFactor */
    unsigned descriptors; /* limit by the open files of the process */
    unsigned waiting;     /* the limit in effect: VaultMaxWaiting or, without it, the smaller of the two above */
} vault_mpm_limits_t;

void vault_mpm_limits_of_child(vault_mpm_limits_t *mpm);

/** How many requests of one client may wait in all children: VaultMaxWaitingPerClient or, without it, a quarter
 * of all that can wait. */
unsigned vault_mpm_limits_of_client(const vault_mpm_limits_t *mpm);

/** Can so few polls wait that a site with many pages needs other settings? */
int vault_mpm_limits_are_small(const vault_mpm_limits_t *mpm);

/** With a process for each request (prefork): a sentence about what that means for waiting polls. NULL with
 * other MPMs. */
const char *vault_mpm_limits_prefork(apr_pool_t *pool);

/** Is VaultMaxWaiting higher than the limits of a child? */
int vault_mpm_limits_are_exceeded(const vault_mpm_limits_t *mpm);

/** The largest number of children at a time, including those of old generations. */
unsigned vault_mpm_limits_slots(void);

/** Has the configuration changed since the shared memory was created? */
int vault_mpm_limits_have_changed(const vault_limits_t *made_for);

/** What the administrator should check: settings that do not fit together, and tables that are nearly full.
 * @return sentences, of const char *; may be empty */
apr_array_header_t *vault_mpm_limits_warnings(request_rec *r);

#endif
