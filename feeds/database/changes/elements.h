/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file elements.h
 * Reads all elements of a collection, for a first view.
 */
#ifndef DATABASE_ELEMENTS_H
#define DATABASE_ELEMENTS_H

#include "database/changes/change_read.h"

/** Read the elements, which are the rows of c->table with the key wanted->members, together with the watching of
 * c->table, in one statement, which is one snapshot. c->table has the columns of the key. Sets read->elements and
 * read->odd. read->watch_id stays NULL if c->table is not watched.
 * @return as sql_conn_run(); APR_EINVAL: a value does not fit its column; APR_ENOMEM; in each case the reason is set */
apr_status_t database_elements_fetch(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted);

#endif
