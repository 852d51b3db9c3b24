/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file keys.h
 * Keys of rows, and references to them: the values of one column or of several, as one text.
 *
 * For one column the text is its value as text (sql_text_of). For several it is all values, in the order of the
 * columns, separated by commas; a comma or a backslash within a value is preceded by a backslash. So each text means
 * one key, whatever bytes the values have, and each key has one text:
 *
 *      (7, "red")      7,red
 *      ("a,b", "c\")   a\,b,c\\
 *
 * The triggers of the dialects write the same text into vault_changes.row_key.
 */
#ifndef DATABASE_KEYS_H
#define DATABASE_KEYS_H

#include "database/model/database.h"
#include "sql/catalogue.h"

/** The values of some columns, actual or required. */
typedef struct database_key_t {
    const apr_array_header_t *columns; /**< of const char * */
    const char *text;                  /**< of all values */
    const char *const *values;         /**< as text, one for each column */
} database_key_t;

/** Split a text into values. @param argument  the name of the argument that contained it, for the error sentence
 * @return APR_SUCCESS; APR_EINVAL: the number of values is not that of the columns, and the reason is set */
apr_status_t database_key_parse(sql_call_t *c, const char *argument, const apr_array_header_t *columns,
                                const char *text, database_key_t *key);

/** The key that a row has in `columns`, as text. @return in `pool`; NULL: one of them is null, or the row is NULL */
const char *database_key_of(const apr_array_header_t *columns, const json_t *row, apr_pool_t *pool);
/** The key of a list of values, as text. */
const char *database_key_join(const json_t *values, apr_pool_t *pool);
/** The values of the key that a row has in `columns`. @return a new reference; NULL: one of them is null, or the row is
 * NULL */
json_t *database_key_values(const apr_array_header_t *columns, const json_t *row);

/** The primary key of a row of `table` in answers: the value of its column; if there are several, the text; null: there
 * is none. @return a new reference */
json_t *database_key_shown(const sql_table_t *table, const json_t *row, apr_pool_t *pool);

/** Does `row` have this key in the columns of the key? */
int database_key_is_in(const database_key_t *key, const json_t *row, apr_pool_t *pool);

/** The name of a column, from an array of names. */
const char *database_key_column(const apr_array_header_t *columns, int i);
/** Does `table` have all these columns? @return NULL, or the first one that it does not have */
const char *database_key_missing(const apr_array_header_t *columns, const sql_table_t *table);

#endif
