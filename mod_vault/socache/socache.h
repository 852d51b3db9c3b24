/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file socache.h
 * A cache beside the output store that several servers share, by httpd's interface for such caches (ap_socache.h):
 * Redis or memcached.
 *
 * The server works without it: an output that it does not have is rendered. Only a request that leads for an output
 * waits for an answer of this cache, at most for a second (socache_call.h). No request waits until an output has been
 * written.
 *
 * What it returns is not trusted, see output_packet.h. Only outputs that depend on a time alone are put into it, or
 * whose key names everything that they are made of.
 *
 * Thread: any, in a child.
 */
#ifndef VAULT_SOCACHE_H
#define VAULT_SOCACHE_H

#include "httpd.h"
#include "http_config.h"

#include "output/output_packet.h"

extern const command_rec vault_socache_directives[];

/** Is it configured? */
int vault_socache_is_on(void);

/** Get an output that a server has stored.
 * @param packet  with the key; then with what was found, in `pool`, and the times of vault_now()
 * @return 1; 0: there is none that can be used */
int vault_socache_fetch(vault_output_packet_t *packet, apr_pool_t *pool);

/** Store an output for the other servers, if it is no larger than VaultCacheMemoryMax.
 * @param packet  with the times of vault_now() */
void vault_socache_store(const vault_output_packet_t *packet);

/** Forget the last configuration, before the configuration is read. */
void vault_socache_reset(void);

void vault_socache_hooks(void);

#endif
