/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file cache_interests.h
 * Remembers which interests a response names in its header.
 *
 * A stamp must be captured before the data are read, but such a response names its interests after that. So the first
 * response is not kept; its interests are, and the next one holds them before its handler runs. Most handlers name the
 * same each time. They are kept in the output store, as an entry of their own.
 *
 * Thread: the one that owns the request.
 */
#ifndef VAULT_CACHE_INTERESTS_H
#define VAULT_CACHE_INTERESTS_H

#include "recording/recording.h"

/** Remember the interests that were named too late.
 * @param key  of the response */
void vault_cache_interests_keep(const vault_recording_t *rec, const char *key);

/** Hold the interests that the previous response of this key has named. */
void vault_cache_interests_hold(vault_recording_t *rec, const char *key);

#endif
