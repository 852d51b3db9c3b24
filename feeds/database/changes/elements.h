/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file elements.h
 * All elements of a collection, for a first view.
 */
#ifndef DATABASE_ELEMENTS_H
#define DATABASE_ELEMENTS_H

#include "database/changes/change_read.h"

/** Read the elements, rows of c->table with the key wanted->members, whose columns it has, and what is said of the
 * watching of c->table, in one statement, which is one snapshot. Sets read->elements and read->odd.
 * read->watch_id stays NULL where c->table is not watched.
 * @return as sql_conn_run; APR_EINVAL: a value does not fit its column; APR_ENOMEM; each time a sentence was given */
apr_status_t database_elements_fetch(sql_call_t *c, database_change_read_t *read, const database_wanted_t *wanted);

#endif
