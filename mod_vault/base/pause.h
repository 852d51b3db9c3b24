/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file pause.h
 * A pause after a service has failed, in which it is not called, so that requests do not each wait for its time limit.
 *
 * All functions: any thread. A pause that is all zero is over.
 */
#ifndef VAULT_PAUSE_H
#define VAULT_PAUSE_H

#include "apr_time.h"

typedef struct vault_pause_t {
    apr_time_t until;  /* atomic */
    apr_time_t logged; /* atomic; when a failure was last worth a warning; 0: never */
} vault_pause_t;

/** @return nonzero: the service may be called */
int vault_pause_is_over(const vault_pause_t *pause);

/** @return nonzero: log this failure as a warning, which is so at most once a minute */
int vault_pause_begin(vault_pause_t *pause, apr_interval_time_t length);

#endif
