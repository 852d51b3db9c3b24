/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file reasons.h
 * Which reasons why an engine cannot be reached the log has named lately: each is named once a minute.
 *
 * Thread: the one of the link.
 */
#ifndef VAULT_REASONS_H
#define VAULT_REASONS_H

#include "apr_time.h"

/** Zeroed: none. */
typedef struct vault_reasons_t {
    apr_uint64_t hashes[4]; /* of the texts */
    unsigned count;
    apr_time_t since; /* the first of them */
} vault_reasons_t;

/** @return 1: `hash` is new, and now remembered; 0: it was named within the last minute, or four others were */
int vault_reasons_add(vault_reasons_t *reasons, apr_uint64_t hash, apr_time_t now);

#endif
