/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file ability.h
 * What httpd's own configuration allows, and whether ours goes together with it: for the start, and for `vault-status?check`.
 *
 * Any thread, once the configuration has been read; of a child, after child_init.
 */
#ifndef VAULT_ABILITY_H
#define VAULT_ABILITY_H

#include "httpd.h"

#include "shm/segment.h"

/** How many polls can wait in a child of this MPM. */
typedef struct vault_ability_t {
    unsigned connections; /* as many by the MPM: ThreadsPerChild and AsyncRequestWorkerFactor */
    unsigned descriptors; /* as many by its open files */
    unsigned waiting;     /* as many are let wait: VaultMaxWaiting or, without it, the smaller of these */
} vault_ability_t;

void vault_ability_of_child(vault_ability_t *can);

/** How many requests of one client may wait in all children: VaultMaxWaitingPerClient or, without it, a quarter of what can wait. */
unsigned vault_ability_of_client(const vault_ability_t *can);

/** So few that a site with many pages is better off with other settings? */
int vault_ability_is_small(const vault_ability_t *can);

/** Where a child is one thread (prefork), what that means for waiting polls, as a sentence; NULL: elsewhere. */
const char *vault_ability_of_prefork(apr_pool_t *pool);

/** Does VaultMaxWaiting ask for more than there can be? */
int vault_ability_is_exceeded(const vault_ability_t *can);

/** Children at a time, old generations included. */
unsigned vault_ability_slots(void);

/** Is the configuration another one than the shared memory was made for? */
int vault_ability_differs(const vault_limits_t *made_for);

/** What somebody should look at: in the configuration, and how full the tables are.
 * @return sentences, of const char *; may be empty */
apr_array_header_t *vault_ability_warnings(request_rec *r);

#endif
