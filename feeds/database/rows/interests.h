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
 * A key or value that would make a name longer than VAULT_INTEREST_MAX stands there as "#" and its SHA-1. All of
 * this is a function of the names alone: readers and writers in any process agree.
 */
#ifndef DATABASE_INTERESTS_H
#define DATABASE_INTERESTS_H

#include "database/model/database.h"
#include "log/touched.h"

/** Each NULL when the table's name is too long. In `pool`. */
const char *database_interest_table(const char *table, apr_pool_t *pool);
const char *database_interest_row(const char *table, const char *key, apr_pool_t *pool);
const char *database_interest_column(const char *table, const char *column, apr_pool_t *pool);
const char *database_interest_members(const char *table, const apr_array_header_t *columns, const char *key,
                                      apr_pool_t *pool);

/** Create an interest for the page of this call, before anything is read.
 * @param announced  0: nothing was announced since the page's cursor; else 1
 * @return APR_SUCCESS; APR_EINVAL: `interest` is NULL; a sentence was given */
apr_status_t database_interest_create(sql_call_t *c, const char *interest, int *announced);

/** Add the interests of one changed row.
 * @param key  as text; NULL: none
 * @param old  the row before; NULL: there was none
 * @param new  after; NULL: there is none */
void database_touched_row(log_touched_t *touched, const char *table, const char *key, const json_t *old,
                          const json_t *new);
void database_touched_table(log_touched_t *touched, const char *table);
/** Add the interests of one recorded change (database_change_read_t::changes). */
void database_touched_change(log_touched_t *touched, const char *table, const json_t *change);
/** change_log_t::touch. */
apr_status_t database_touch(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change);

#endif
