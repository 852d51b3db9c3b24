/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file subject.h
 * The subject of an interest at a notification engine, and back.
 *
 * An interest is any bytes. In its subject letters, digits, `-` and `_` stand for themselves, and each other byte is
 * `=` with two capital hexadecimal digits. So two interests never have the same subject, and one can read most of them
 * in the engine's own tools.
 */
#ifndef VAULT_SUBJECT_H
#define VAULT_SUBJECT_H

#include "apr_pools.h"

/** The longest subject of an interest, without the prefix, with the final NUL. */
#define VAULT_SUBJECT_MAX (3 * 200 + 1)

/** Write the subject. @return its length; 0: it does not fit */
apr_size_t vault_subject_of(const char *interest, char *subject, apr_size_t room);

/** The interest of a subject. @return 1; 0: it is not the subject of an interest, or it does not fit */
int vault_subject_interest(const char *subject, char *interest, apr_size_t room);

#endif
