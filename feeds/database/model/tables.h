/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file tables.h
 * Which tables a call may name. What the feed itself does with tables, its own among them, does not ask here.
 */
#ifndef DATABASE_TABLES_H
#define DATABASE_TABLES_H

#include "database/model/database.h"

/** Is it a table of a feed of mod_vault? In any case: some databases take VAULT_CHANGES for it as well. */
int database_table_is_own(const char *name);

/** The parameter `tables`: those that calls may name, parted by commas; "*": all.
 * @param tables  an array of const char *; NULL: all
 * @return NULL, or a sentence for the admin */
const char *database_tables_open(const apr_array_header_t **tables, const apr_table_t *given, apr_pool_t *pool);

/** May a call name the table `name`?
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t database_table_check(sql_call_t *c, const char *name);

#endif
