/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file keys.h
 * Keys of rows, and references to them: the values of one column or of several, as one text.
 *
 * Of one column the text is the value as text (sql_text_of). Of several it is all of them, in the order of the
 * columns, with commas between them; a comma or a backslash within a value has a backslash before it. So each text
 * stands for one key, whatever bytes the values have, and each key has one text:
 *
 *     (7, "red")      7,red
 *     ("a,b", "c\")   a\,b,c\\
 *
 * The triggers of the dialects write the same text into vault_changes.row_key.
 */
#ifndef DATABASE_KEYS_H
#define DATABASE_KEYS_H

#include "database/model/database.h"
#include "sql/catalogue.h"

/** What some columns hold, or shall hold. */
typedef struct database_key_t {
    const apr_array_header_t *columns; /**< of const char * */
    const char *text;                  /**< of all */
    const char *const *values;         /**< as text, one for each column */
} database_key_t;

/** Take a text to pieces. @param argument  whose text it is, for a sentence
 * @return APR_SUCCESS; APR_EINVAL: it is not of so many columns; a sentence was given */
apr_status_t database_key_parse(sql_call_t *c, const char *argument, const apr_array_header_t *columns,
                                const char *text, database_key_t *key);

/** The key that a row has in `columns`, as text. @return in `pool`; NULL: one of them is null, or the row is NULL */
const char *database_key_of(const apr_array_header_t *columns, const json_t *row, apr_pool_t *pool);
/** The same of values: a list. */
const char *database_key_join(const json_t *values, apr_pool_t *pool);
/** Those values. @return a new reference; NULL: one of them is null, or the row is NULL */
json_t *database_key_values(const apr_array_header_t *columns, const json_t *row);

/** The primary key of a row of `table` as answers have it: of one column its value, of several the text; null: there is
 * none. @return a new reference */
json_t *database_key_shown(const sql_table_t *table, const json_t *row, apr_pool_t *pool);

/** Has `row` this key in its columns? */
int database_key_is_in(const database_key_t *key, const json_t *row, apr_pool_t *pool);

/** A column's name, of an array of such. */
const char *database_key_column(const apr_array_header_t *columns, int i);
/** Has `table` all these columns? @return NULL, or the first that it has not */
const char *database_key_missing(const apr_array_header_t *columns, const sql_table_t *table);

#endif
