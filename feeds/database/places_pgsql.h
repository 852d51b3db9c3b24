/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file places_pgsql.h
 * Places in the changes of PostgreSQL. Each function is that of database_dialect_t which has its name.
 *
 * Ids are taken before a transaction commits, in any order, so a place is a snapshot: it says exactly which
 * transactions a reader has seen. A change carries its transaction; new is what the reader's snapshot did not see and the
 * present one does. When a batch was cut, a place is `OLD|NEW|ID`: between the two snapshots, and beyond that id.
 */
#ifndef DATABASE_PLACES_PGSQL_H
#define DATABASE_PLACES_PGSQL_H

#include "dialect.h"

apr_status_t database_places_pgsql_place(sql_call_t *c, const char *told, const char **now);
int database_places_pgsql_is_lost(sql_call_t *c, const database_span_t *span);
void database_places_pgsql_append_since(sql_statement_t *sql, const char *since);
void database_places_pgsql_append_own(sql_statement_t *sql, apr_int64_t floor);
const char *database_places_pgsql_next(sql_call_t *c, const database_span_t *span, const char *last, int *again);
apr_status_t database_places_pgsql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen);

#endif
