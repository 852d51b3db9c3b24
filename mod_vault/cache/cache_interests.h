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

/** The interests that earlier responses of this key have named.
 * @return of const char *, in `pool` */
apr_array_header_t *vault_cache_interests_find(const char *key, apr_pool_t *pool);

/** Hold them, before the next response is rendered. */
void vault_cache_interests_hold(vault_recording_t *rec, const apr_array_header_t *names);

#endif
