/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file settings.h
 * The server-wide directives and their values.
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
    int max_sessions;       /* VaultMaxSessions; 0: half of VaultMaxPages */
    int max_page_interests; /* VaultMaxPageInterests */
    int max_waiting;        /* VaultMaxWaiting; 0: the limit of the MPM and of the descriptors */
    int threads;            /* VaultLongPollThreads */
    int runs;               /* VaultLongPollRuns; 0: half of ThreadsPerChild */

    apr_off_t max_client_memory; /* VaultMaxMemoryPerClient, bytes; 0: not configured */
    int max_client_interests;    /* VaultMaxInterestsPerClient; 0: not configured */
    int max_client_waiting;      /* VaultMaxWaitingPerClient; 0: a quarter of what can wait in all children */

    apr_off_t cache_memory;     /* VaultCacheMemory, bytes; 0: no output store */
    apr_off_t cache_memory_max; /* VaultCacheMemoryMax, bytes */
    const char *cache_root;     /* VaultCacheRoot; NULL: not configured */
    apr_off_t cache_root_size;  /* VaultCacheRootSize, bytes */
} vault_settings_t;

/** The values in effect in this process; const once the configuration has been read. */
const vault_settings_t *vault_settings(void);

/** How long a page exists without a poll. */
#define vault_page_idle() apr_time_from_sec(vault_settings()->page_timeout)

extern const command_rec vault_server_directives[];

/** Restore the defaults, before the configuration is read. */
void vault_settings_reset(void);

#endif
