/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_text.h
 * Splits a query of the model into tokens, in order to insert values, and to keep libdbi's parsers away from it. It
 * uses no database.
 */
#ifndef DATABASE_QUERY_TEXT_H
#define DATABASE_QUERY_TEXT_H

#include "apr.h"

typedef enum database_piece_e {
    DATABASE_PIECE_END,
    DATABASE_PIECE_SQL,
    DATABASE_PIECE_QUOTED,   /**< a text, a quoted name or a comment */
    DATABASE_PIECE_SELECT,   /**< the keyword, in any case */
    DATABASE_PIECE_PARAMETER /**< :name; text and length are the name's */
} database_piece_e;

typedef struct database_piece_t {
    const char *text;
    apr_size_t length;
} database_piece_t;

/** Is the first word of `sql` SELECT or WITH? Comments and brackets may come before it. */
int database_query_reads(const char *sql);

/** Read the next token. @param at  is advanced */
database_piece_e database_query_piece(const char **at, database_piece_t *piece);

#endif
