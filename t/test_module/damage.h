/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file damage.h
 * Writes into the memory that mod_vault's children share, as a fault of another module would: for the tests of what notices it.
 */
#ifndef VAULT_TEST_DAMAGE_H
#define VAULT_TEST_DAMAGE_H

#include "httpd.h"

/** Turn bits of a byte that lies `at` bytes from the beginning of each word `text` there: between two NULs, as names and strings lie.
 * The same again puts them back.
 * @return how many words there were; -1: there is no such memory */
int damage_turn(const char *text, long at, unsigned char bits, apr_pool_t *pool);

#endif
