/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file damage.h
 * Corrupts the memory that mod_vault's children share, as a fault of another module could, for tests of the
 * detection.
 */
#ifndef VAULT_TEST_DAMAGE_H
#define VAULT_TEST_DAMAGE_H

#include "httpd.h"

/** Flip bits of a byte `at` bytes after the start of each occurrence of `text` between two NULs, as names and
 * strings are stored. A second call restores them.
 * @return the number of occurrences; -1: the segment was not found */
int damage_turn(const char *text, long at, unsigned char bits, apr_pool_t *pool);

#endif
