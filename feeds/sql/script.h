/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file script.h
 * Scripts of SQL, read as far as it takes to find words and the ends of statements.
 */
#ifndef SQL_SCRIPT_H
#define SQL_SCRIPT_H

#include "apr_pools.h"

/** The end of a comment, string or quoted name that begins at `at`, or `at` itself; the end of the script when it
 * is never closed. A doubled quote is two strings side by side, which is as good.
 * @param backslashes  in strings they take what follows as it is (MariaDB), or are nothing special */
const char *sql_script_skip(const char *at, int backslashes);

/** The next statement of a script; `*rest` moves behind its semicolon. A statement with others inside it (a trigger
 * with BEGIN and END) is parted as well, and the database refuses it.
 * @return in pool; NULL: none is left */
const char *sql_script_next(const char **rest, apr_pool_t *pool);

#endif
