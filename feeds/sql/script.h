/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file script.h
 * SQL scripts, parsed only to find words and the ends of statements.
 */
#ifndef SQL_SCRIPT_H
#define SQL_SCRIPT_H

#include "apr_pools.h"

/** The end of a comment, string or quoted name that begins at `at`; `at` itself if none begins there; the end of the
 * script if it is not closed. A doubled quote counts as two strings side by side, which gives the same end.
 * @param backslashes  a backslash in a string escapes the next character (MariaDB) */
const char *sql_script_skip(const char *at, int backslashes);

/** The next statement of a script; `*rest` moves behind its semicolon. A statement that contains others (a trigger with
 * BEGIN and END) is split as well, and the database refuses it.
 * @return in pool; NULL: none is left */
const char *sql_script_next(const char **rest, apr_pool_t *pool);

#endif
