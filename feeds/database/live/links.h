/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file links.h
 * Collections through a table of links: an element is in the collection of an object as long as one row at least of
 * that table has the keys of both.
 *
 * A change of a link says which elements came or went, and a change of an element's row says nothing of links. So
 * what was in the collection at the last read of the page is what is in it now, but for the links that came and
 * went meanwhile.
 */
#ifndef DATABASE_LINKS_H
#define DATABASE_LINKS_H

#include "database/rows/fold.h"
#include "database/rows/keys.h"

typedef struct database_links_t {
    const sql_table_t *table;          /**< of the links */
    const database_key_t *owner;       /**< of the object, in columns of that table */
    const apr_array_header_t *element; /**< its columns that have the keys of elements */
    const sql_table_t *elements;       /**< of the elements */
} database_links_t;

/** Can elements be found by these links?
 * @return APR_SUCCESS; APR_EINVAL: there are no such columns, or not so many as the key of elements has; a sentence was
 * given */
apr_status_t database_links_check(sql_call_t *c, const database_links_t *links);

/** The rows of elements that are linked now, `most` at most, in the order of their keys.
 * @param rows  a new reference; NULL unless APR_SUCCESS
 * @param odd   how the database writes the key of the object in a link, if that is another way; else left alone
 * @return as sql_conn_run */
apr_status_t database_links_all(sql_call_t *c, const database_links_t *links, int most, json_t **rows,
                                const char **odd);

/** Fold the changes of links, and of elements' rows, into what came in, went out, and became different. In the snapshot
 * that has told them.
 * @param folded  of database_fold_t, whose rows are elements'
 * @param held    a new reference, as long as which the rows of `folded` live
 * @return as sql_conn_run */
apr_status_t database_links_fold(sql_call_t *c, const database_links_t *links, const json_t *link_changes,
                                 const json_t *element_changes, apr_array_header_t **folded, json_t **held);

#endif
