/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file links.h
 * Collections by a link table: an element belongs to the collection of an object as long as at least one row of that
 * table has the keys of both.
 *
 * A change of a link says which element may have been added or removed. A change of the element's row does not affect
 * links. So the elements at the last read of the page are those of now, except for the links that were inserted and
 * deleted since.
 */
#ifndef DATABASE_LINKS_H
#define DATABASE_LINKS_H

#include "database/rows/fold.h"
#include "database/rows/keys.h"

typedef struct database_links_t {
    const sql_table_t *table;          /**< the link table */
    const database_key_t *owner;       /**< key of the object, in columns of the link table */
    const apr_array_header_t *element; /**< columns of the link table with the keys of elements */
    const sql_table_t *elements;       /**< table of the elements */
} database_links_t;

/** Can elements be found by these links?
 * @return APR_SUCCESS; APR_EINVAL: the columns do not exist, or their number is not that of the elements' key; the
 *         reason is set */
apr_status_t database_links_check(sql_call_t *c, const database_links_t *links);

/** The rows of elements that are linked now, at most `most`, in the order of their keys.
 * @param rows  a new reference; NULL unless APR_SUCCESS
 * @param odd   how the database writes the key of the object in a link, if that is different; otherwise not changed
 * @return as sql_conn_run() */
apr_status_t database_links_all(sql_call_t *c, const database_links_t *links, int most, json_t **rows,
                                const char **odd);

/** Fold the changes of links, and of elements' rows, into elements that were added, were removed, or have changed. Runs
 * in the snapshot that returned the changes.
 * @param folded  of database_fold_t, whose rows are elements
 * @param held    a new reference that keeps the rows of `folded` alive
 * @return as sql_conn_run() */
apr_status_t database_links_fold(sql_call_t *c, const database_links_t *links, const json_t *link_changes,
                                 const json_t *element_changes, apr_array_header_t **folded, json_t **held);

#endif
