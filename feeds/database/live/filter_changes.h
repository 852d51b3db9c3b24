/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file filter_changes.h
 * get_filter_changes: rows that come into a filter, go out of it, and change in it.
 */
#ifndef DATABASE_FILTER_CHANGES_H
#define DATABASE_FILTER_CHANGES_H

#include "database/model/database.h"

/** Body of a method (methods.c). */
apr_status_t database_filter_changes_body(sql_call_t *c, const char *table, json_t **rows);

#endif
