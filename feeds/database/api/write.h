/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file write.h
 * The methods that write: save, update, delete. Each runs in a transaction, and notifies of every row that it has
 * changed after the commit.
 */
#ifndef DATABASE_WRITE_H
#define DATABASE_WRITE_H

#include "database/model/database.h"

/** Bodies of methods (methods.c). */
apr_status_t database_save_body(sql_call_t *c, const char *table, json_t **rows);
apr_status_t database_update_body(sql_call_t *c, const char *table, json_t **rows);
apr_status_t database_delete_body(sql_call_t *c, const char *table, json_t **rows);

#endif
