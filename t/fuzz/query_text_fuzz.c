/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_text_fuzz.c
 * Any text as a query of a model, and as a script. Checked besides crashes: the pieces of a query are the whole
 * of it, a script comes to its end, and what a query demands is of a table that it names.
 */
#include "database/model/query_text.h"

#include "database/query/names_mysql.h"
#include "database/query/query_conditions.h"
#include "sql/script.h"

#include "fuzz.h"

static void demand(const char *text, char quote, apr_pool_t *pool)
{
    database_conditions_t conditions;

    must(!database_conditions_read(&conditions, text, quote, 0, pool) ||
         (conditions.sources->nelts > 0 && conditions.demands->nelts > 0));
}

static void name(const char *text, apr_pool_t *pool)
{
    const database_thing_t itself = {DATABASE_THING_VIEW, "v", "select `v`.`a` AS `a` from `d`.`v`", 0};
    apr_array_header_t *things = apr_array_make(pool, 1, sizeof(database_thing_t));
    database_reads_t reads = {.tables = apr_array_make(pool, 1, sizeof(const char *))};

    APR_ARRAY_PUSH(things, database_thing_t) = itself;
    database_names_mysql(text, "d", things, &reads, pool);
}

static void feed(const char *text, apr_size_t length, apr_pool_t *pool)
{
    const char *at = text, *rest = text, *was = text;
    database_piece_t piece;
    database_piece_e kind;

    while ((kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        must(piece.length > 0 && piece.text == was + (kind == DATABASE_PIECE_PARAMETER) &&
             piece.text + piece.length == at);
        was = at;
    }
    must(at == text + strlen(text));
    was = text;
    while (sql_script_next(&rest, pool) != NULL) {
        must(rest > was);
        was = rest;
    }
    must(*rest == '\0');
    demand(text, '"', pool);
    demand(text, '`', pool);
    name(text, pool);
}
