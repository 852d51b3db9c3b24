/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file filter_changes.h
 * get_filter_changes: rows that are new in a filter, that are no longer in it, and that have changed in it.
 */
#ifndef DATABASE_FILTER_CHANGES_H
#define DATABASE_FILTER_CHANGES_H

#include "database/model/database.h"

/** Body of a method (methods.c). */
apr_status_t database_filter_changes_body(sql_call_t *c, const char *table, json_t **rows);

#endif
