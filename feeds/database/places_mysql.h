/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file places_mysql.h
 * Places in the changes of MariaDB. Each function, but for the last two, is that of database_dialect_t which has its name.
 *
 * A place is `POS;IDS`: all up to that number were seen, and those ids, which the reader's snapshot had before they were
 * numbered (numbering_mysql.h). The last number given stands in vault_watched, in a row of no table.
 */
#ifndef DATABASE_PLACES_MYSQL_H
#define DATABASE_PLACES_MYSQL_H

#include "dialect.h"

/** A place in parts: of the row of no table, one for each change without a number. */
#define DATABASE_PLACES_MYSQL_PART "CONCAT('',c.id)"
#define DATABASE_PLACES_MYSQL_PARTS " LEFT JOIN vault_changes AS c FORCE INDEX(pos) ON c.pos IS NULL AND w.tbl=''"
/** A place in one expression. */
#define DATABASE_PLACES_MYSQL_NOW                                                                                      \
    "CONCAT(COALESCE((SELECT pruned FROM vault_watched WHERE tbl=''),'0'),';',"                                        \
    "COALESCE((SELECT GROUP_CONCAT(id ORDER BY id) FROM vault_changes WHERE pos IS NULL),''))"

apr_status_t database_places_mysql_where(sql_call_t *c, const char **told);
int database_places_mysql_is_long(const char *told);
apr_status_t database_places_mysql_place(sql_call_t *c, const char *told, const char **now);
int database_places_mysql_is_lost(sql_call_t *c, const database_span_t *span);
void database_places_mysql_append_since(sql_statement_t *sql, const char *since);
void database_places_mysql_append_own(sql_statement_t *sql, apr_int64_t floor);
apr_int64_t database_places_mysql_floor_of(const char *place);
const char *database_places_mysql_next(sql_call_t *c, const database_span_t *span, const char *last, int *again);
apr_status_t database_places_mysql_prune(sql_call_t *c, apr_int64_t before, int most, const char *seen);

/** The ids in a place, with commas between; "" if there are none. */
const char *database_places_mysql_ids(const char *place);
/** How many these are. Not of "". */
int database_places_mysql_count(const char *ids);

#endif
