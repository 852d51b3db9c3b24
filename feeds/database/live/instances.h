/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file instances.h
 * What a page asks of watched tables: new rows, a row that changed, an attribute that changed.
 */
#ifndef DATABASE_INSTANCES_H
#define DATABASE_INSTANCES_H

#include "database/changes/change_read.h"

/** get_new_instances of a watched table, within a read.
 * @param limit  of the first view; 0: none given */
apr_status_t database_instances_new(sql_call_t *c, database_change_read_t *read, int limit, const char *interest,
                                    json_t **rows);

/** Bodies of methods (methods.c). */
apr_status_t database_modified_instance_body(sql_call_t *c, const char *table, json_t **rows);
apr_status_t database_attribute_changes_body(sql_call_t *c, const char *table, json_t **rows);

/** One row as a page sees it: what it is, or what it was and is. */
typedef struct database_seen_t {
    json_t *row; /**< a reference: as it is now; NULL: there is none */
    json_t
        *old; /**< a reference: as it was at the last read of the page; NULL: there was none, or this is a first view */
    int first; /**< a first view, or a reset */
    int reset;
    int changed;   /**< always at a first view */
    int is_absent; /**< there is none, but one may come whose key is written in another way */
} database_seen_t;

/** See the row `key` of the watched table `table`; the page's position moves on.
 * Creates the interest first; `seen->changed` is 0 if nothing was announced, and nothing was read then.
 * @param seen  to be freed by database_seen_free, whatever is returned */
apr_status_t database_see_row(sql_call_t *c, const char *table, const char *key, database_seen_t *seen);
void database_seen_free(database_seen_t *seen);

/** What is to be said of one column (or property) of a row: {NAME: SHOWN, "old": …, "new": …}.
 * @param kind   "attribute" or "property"
 * @return a new reference; NULL: it did not change */
json_t *database_seen_attribute(const database_seen_t *seen, const char *column, const char *kind, const char *shown);

#endif
