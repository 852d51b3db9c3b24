/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file mpm_limits.h
 * What httpd's own configuration allows, and whether ours goes together with it: for the start, and for `vault-status?check`.
 *
 * Any thread, once the configuration has been read; of a child, after child_init.
 */
#ifndef VAULT_MPM_LIMITS_H
#define VAULT_MPM_LIMITS_H

#include "httpd.h"

#include "shm/segment.h"

/** How many polls can wait in a child of this MPM. */
typedef struct vault_mpm_limits_t {
    unsigned connections; /* as many by the MPM: ThreadsPerChild and AsyncRequestWorkerFactor */
    unsigned descriptors; /* as many by its open files */
    unsigned waiting;     /* as many are let wait: VaultMaxWaiting or, without it, the smaller of these */
} vault_mpm_limits_t;

void vault_mpm_limits_of_child(vault_mpm_limits_t *mpm);

/** How many requests of one client may wait in all children: VaultMaxWaitingPerClient or, without it, a quarter of what can wait. */
unsigned vault_mpm_limits_of_client(const vault_mpm_limits_t *mpm);

/** So few that a site with many pages is better off with other settings? */
int vault_mpm_limits_are_small(const vault_mpm_limits_t *mpm);

/** Where a child is one thread (prefork), what that means for waiting polls, as a sentence; NULL: elsewhere. */
const char *vault_mpm_limits_prefork(apr_pool_t *pool);

/** Does VaultMaxWaiting ask for more than there can be? */
int vault_mpm_limits_are_exceeded(const vault_mpm_limits_t *mpm);

/** Children at a time, old generations included. */
unsigned vault_mpm_limits_slots(void);

/** Is the configuration another one than the shared memory was made for? */
int vault_mpm_limits_have_changed(const vault_limits_t *made_for);

/** What somebody should look at: in the configuration, and how full the tables are.
 * @return sentences, of const char *; may be empty */
apr_array_header_t *vault_mpm_limits_warnings(request_rec *r);

#endif
