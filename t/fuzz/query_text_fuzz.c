/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file query_text_fuzz.c
 * Any text as a query of a model, and as a script. Checked besides crashes: the pieces of a query are the whole of it, and a script comes
 * to its end.
 */
#include "query_text.h"

#include "script.h"

#include "fuzz.h"

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
}
