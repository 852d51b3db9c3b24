/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tables.h
 * Which tables a call may name. This does not restrict the feed's own access to tables.
 */
#ifndef DATABASE_TABLES_H
#define DATABASE_TABLES_H

#include "database/model/database.h"

/** Is it a table of a feed of mod_vault? Compared without regard to case: some databases take VAULT_CHANGES for the
 * same. */
int database_table_is_own(const char *name);

/** The parameter `tables`: the names that calls may use, separated by commas; "*": all.
 * @param tables  an array of const char *; NULL: all
 * @return NULL, or a sentence for the administrator */
const char *database_tables_open(const apr_array_header_t **tables, const apr_table_t *given, apr_pool_t *pool);

/** May a call name the table `name`?
 * @return APR_SUCCESS; APR_EINVAL: it may not, and the reason is set */
apr_status_t database_table_check(sql_call_t *c, const char *name);

#endif
