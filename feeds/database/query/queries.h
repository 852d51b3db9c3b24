/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file queries.h
 * Named queries whose result a page shows.
 */
#ifndef DATABASE_QUERIES_H
#define DATABASE_QUERIES_H

#include "database/model/database.h"

/** The body of a method (methods.c). */
apr_status_t database_query_changes_body(sql_call_t *c, const char *query, json_t **rows);

#endif
