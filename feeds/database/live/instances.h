/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file instances.h
 * The methods for rows of watched tables: new rows, changes of one row, changes of one attribute.
 */
#ifndef DATABASE_INSTANCES_H
#define DATABASE_INSTANCES_H

#include "database/changes/change_read.h"

/** get_new_instances of a watched table, within a read.
 * @param limit  of the first view; 0: none */
apr_status_t database_instances_new(sql_call_t *c, database_change_read_t *read, int limit, const char *interest,
                                    json_t **rows);

/** Bodies of methods (methods.c). */
apr_status_t database_modified_instance_body(sql_call_t *c, const char *table, json_t **rows);
apr_status_t database_attribute_changes_body(sql_call_t *c, const char *table, json_t **rows);

/** One row as a page sees it: now, or before and now. */
typedef struct database_seen_t {
    json_t *row; /**< a reference: the row now; NULL: it does not exist */
    json_t
        *old; /**< a reference: the row at the last read of the page; NULL: it did not exist, or this is a first view */
    int first; /**< a first view, or a reset */
    int reset;
    int changed;   /**< always 1 at a first view */
    int is_absent; /**< the row does not exist, and may be inserted with a key that is written in another way */
} database_seen_t;

/** Read the row `key` of the watched table `table`, and move the page's position. Creates the interest first.
 * `seen->changed` is 0 if the interest was not notified; then nothing was read.
 * @param seen  free it with database_seen_free() in any case */
apr_status_t database_see_row(sql_call_t *c, const char *table, const char *key, database_seen_t *seen);
void database_seen_free(database_seen_t *seen);

/** What is new of one column (or property) of a row: {NAME: SHOWN, "old": …, "new": …}.
 * @param kind   "attribute" or "property"
 * @return a new reference; NULL: it did not change */
json_t *database_seen_attribute(const database_seen_t *seen, const char *column, const char *kind, const char *shown);

#endif
