/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * The directives on the server as a whole, and what they come to.
 */
#ifndef VAULT_SETTINGS_H
#define VAULT_SETTINGS_H

#include "server/conf.h"
#include "shm/segment.h"

/** For the server as a whole; the defaults before pre_config. */
typedef struct vault_settings_t {
    vault_limits_t limits;  /* VaultSharedMemory, VaultMaxInterests, VaultMaxPages; slots from the MPM */
    int page_timeout;       /* VaultPageTimeout, seconds */
    int max_client_pages;   /* VaultMaxPagesPerClient */
    int max_page_interests; /* VaultMaxPageInterests */
    int max_waiting;        /* VaultMaxWaiting; 0: what MPM and descriptors allow */
    int threads;            /* VaultLongPollThreads */
    int runs;               /* VaultLongPollRuns; 0: half of ThreadsPerChild */

    apr_off_t max_client_memory; /* VaultMaxMemoryPerClient, bytes; 0: not said */
    int max_client_interests;    /* VaultMaxInterestsPerClient; 0: not said */
    int max_client_waiting;      /* VaultMaxWaitingPerClient; 0: a quarter of what can wait in all children */
} vault_settings_t;

/** What holds for this process; const once the configuration has been read. */
const vault_settings_t *vault_settings(void);

/** How long a page lives that nobody polls. */
#define vault_page_idle() apr_time_from_sec(vault_settings()->page_timeout)

extern const command_rec vault_server_directives[];

/** Back to the defaults: before each reading of the configuration. */
void vault_settings_reset(void);

#endif
