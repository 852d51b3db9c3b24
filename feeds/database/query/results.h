/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file results.h
 * Results of queries that pages have, in the table vault_results: each is stored once, under its digest, and deleted
 * when it was not used for `keep` seconds. All functions return as sql_conn_query().
 */
#ifndef DATABASE_RESULTS_H
#define DATABASE_RESULTS_H

#include "sql/sql.h"

/** @param text   in c->pool; NULL: it is not stored
 * @param stale  set to 1: it was not marked as used for long; not changed if it is not stored */
apr_status_t database_result_recall(sql_call_t *c, const char *digest, const char **text, int *stale);

/** Store a result, and mark it as used now. Not within a transaction, since it must not be rolled back. */
apr_status_t database_result_keep(sql_call_t *c, const char *digest, const char *text);

/** Mark a result as used now. Not within a transaction. */
apr_status_t database_result_use(sql_call_t *c, const char *digest);

#endif
