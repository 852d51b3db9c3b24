/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file own.h
 * What a transaction has recorded, and its place, in one read of the change table: where the dialect unites (MariaDB).
 *
 * There a statement is optimized each time that it runs, and a place among the cells of each change is two subqueries more. So the changes without a number
 * are joined once: they are the parts of the place (dialect.h), and those which can be the transaction's own come with their rows.
 */
#ifndef DATABASE_OWN_H
#define DATABASE_OWN_H

#include "dialect.h"

/** As database_changes_own, without an end to them.
 * @param changes  NULL: there are more without a number than any look could list, or nothing tells the place: it has to be read as ever */
apr_status_t database_own_read(sql_call_t *c, apr_int64_t floor, json_t **changes);

#endif
