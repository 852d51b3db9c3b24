/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file rate.h
 * How often each client does something, counted over all children.
 *
 * A client is 32 bits of a hash, as in page.h; some may share a place, and then share their rate. A place is one word, "busy until",
 * changed by compare-and-swap: no lock, and nothing that a killed process could leave wrong for longer than a second.
 *
 * Create: the parent, before any fork. The rest: any thread of any process.
 */
#ifndef VAULT_RATE_H
#define VAULT_RATE_H

#include "apr_time.h"

#include "segment.h"

typedef struct vault_rates_t vault_rates_t; /* in the segment */

/** What the places need of a segment, in bytes, rounded generously. */
apr_uint64_t vault_rates_space(void);

/** @return APR_SUCCESS; APR_ENOSPC the segment has not so much left */
apr_status_t vault_rates_create(vault_rates_t **rates, vault_segment_t *segment);

/** May the client do it once more? A second's worth may come at once.
 * @param per_second  1 to 1,000,000
 * @return 1  yes, and it is counted
 *         0  not now; it is not counted */
int vault_rates_admit(vault_rates_t *rates, apr_uint32_t client, unsigned per_second, apr_time_t now);

#endif
