/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file restart.h
 * Graceful restarts of the server under waiting polls: what the polls get, how long it takes, and that no page
 * is forgotten.
 */
#ifndef VAULT_BENCH_RESTART_H
#define VAULT_BENCH_RESTART_H

#include "gauge.h"
#include "pages.h"

/** Restart `rounds` times while all pages wait; each time wait until the old children are gone and all pages
 * wait on the new ones, and notify all. `gauge` is of the new children afterwards. Dies when that does not come
 * to pass. */
void restart_rounds(pages_t *pages, gauge_t *gauge, int rounds);

void restart_print(void);

#endif
