/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file interests.h
 * Names of interests, and which of them a changed row touches.
 *
 *   DB-TABLE               any row of the table
 *   DB-TABLE-KEY           this row
 *   DB-TABLE.COLUMN        this column, in any row
 *   DB-TABLE.COLUMN=VALUE  the rows with this value, before or after: a collection; of several columns: C,D=KEY
 *
 * If a key or value would make a name longer than VAULT_INTEREST_MAX, it is replaced by "#" and its SHA-1. The names
 * are a pure function of the data, so readers and writers in all processes use the same names.
 */
#ifndef DATABASE_INTERESTS_H
#define DATABASE_INTERESTS_H

#include "database/model/database.h"
#include "log/touched.h"

/** Each is NULL if the name of the table is too long. In `pool`. */
const char *database_interest_table(const char *table, apr_pool_t *pool);
const char *database_interest_row(const char *table, const char *key, apr_pool_t *pool);
const char *database_interest_column(const char *table, const char *column, apr_pool_t *pool);
const char *database_interest_members(const char *table, const apr_array_header_t *columns, const char *key,
                                      apr_pool_t *pool);

/** Create an interest for the page of this call, before the data is read.
 * @param announced  0: it was not notified since the page's cursor was set; otherwise 1
 * @return APR_SUCCESS; APR_EINVAL: `interest` is NULL, and the reason is set */
apr_status_t database_interest_create(sql_call_t *c, const char *interest, int *announced);

/** Add the interests of one changed row.
 * @param key  as text; NULL: none
 * @param old  the row before; NULL: it did not exist
 * @param new  the row after; NULL: it does not exist */
void database_touched_row(log_touched_t *touched, const char *table, const char *key, const json_t *old,
                          const json_t *new);
void database_touched_table(log_touched_t *touched, const char *table);
/** Add the interests of one recorded change (database_change_read_t::changes). */
void database_touched_change(log_touched_t *touched, const char *table, const json_t *change);
/** change_log_t::touch. */
apr_status_t database_touch(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change);

#endif
