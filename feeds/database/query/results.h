/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file results.h
 * Results of queries that pages have, in the table vault_results: each is kept once, under its digest, and
 * forgotten when it was not used for `keep` seconds. All return as sql_conn_query.
 */
#ifndef DATABASE_RESULTS_H
#define DATABASE_RESULTS_H

#include "sql/sql.h"

/** @param text   in c->pool; NULL: it is not kept
 *  @param stale  it was not marked as used for long; unchanged where there is none */
apr_status_t database_result_recall(sql_call_t *c, const char *digest, const char **text, int *stale);

/** Keep a result, as used now. Not within a transaction: it holds whatever else happens. */
apr_status_t database_result_keep(sql_call_t *c, const char *digest, const char *text);

/** Mark a result as used now. Not within a transaction. */
apr_status_t database_result_use(sql_call_t *c, const char *digest);

#endif
