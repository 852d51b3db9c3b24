/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file outputs.h
 * The output store of this server: created from the directives VaultCache…, and swept. For child.c; the other files use
 * vault_server->outputs.
 */
#ifndef VAULT_SERVER_OUTPUTS_H
#define VAULT_SERVER_OUTPUTS_H

#include "httpd.h"

#include "notify/slot.h"
#include "output/output_store.h"

/** The bytes of the segment for the store that is configured; 0: none is. */
apr_uint64_t vault_server_outputs_space(void);

/** Create the store that is configured; parent, before any fork.
 * @param outputs  NULL if none is configured
 * @return 0: it cannot be created; the log says why */
int vault_server_outputs_make(vault_outputs_t **outputs, vault_segment_t *segment, vault_notifier_t *notifier,
                              server_rec *s);

/** After a restart: what was kept was made by the previous configuration. Warns if another store is configured than
 * the one that was kept. */
void vault_server_outputs_restart(vault_outputs_t *outputs, server_rec *s);

/** In a child that has its slot. */
void vault_server_outputs_start(void);

/** Once a second, in each child. */
void vault_server_outputs_sweep(apr_time_t now);

#endif
