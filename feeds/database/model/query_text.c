/* SPDX-License-Identifier: Apache-2.0 */
/* Splits a query into tokens. */
#include "database/model/query_text.h"

#include <string.h>
#include <strings.h>

#include "apr_lib.h"

static int is_word(char c)
{
    return apr_isalnum(c) || c == '_' || (c & 0x80) != 0;
}

/* The end of the quoted text that begins at `at`; `at` itself if there is none. */
static const char *end_of_quoted(const char *at)
{
    const char *end;

    if (strncmp(at, "--", 2) == 0) {
        end = strchr(at, '\n');
        return end != NULL ? end : at + strlen(at);
    }
    if (strncmp(at, "/*", 2) == 0) {
        end = strstr(at + 2, "*/");
        return end != NULL ? end + 2 : at + strlen(at);
    }
    if (*at == '\0' || strchr("'\"`", *at) == NULL) {
        return at;
    }
    end = strchr(at + 1, *at);
    return end != NULL ? end + 1 : at + strlen(at);
}

/* The end of the word at `at`. */
static const char *end_of_word(const char *at)
{
    while (is_word(*at)) {
        at++;
    }
    return at;
}

static database_piece_e take(database_piece_t *piece, const char **at, const char *end, database_piece_e kind)
{
    piece->text = *at;
    piece->length = (apr_size_t)(end - *at);
    *at = end;
    return kind;
}

database_piece_e database_query_piece(const char **at, database_piece_t *piece)
{
    const char *end = end_of_quoted(*at);

    if (**at == '\0') {
        return DATABASE_PIECE_END;
    }
    if (end != *at) {
        return take(piece, at, end, DATABASE_PIECE_QUOTED);
    }
    if (is_word(**at)) {
        end = end_of_word(*at);
        return take(piece, at, end,
                    end - *at == 6 && strncasecmp(*at, "select", 6) == 0 ? DATABASE_PIECE_SELECT : DATABASE_PIECE_SQL);
    }
    /* Two colons are PostgreSQL's cast. */
    if ((*at)[0] == ':' && (*at)[1] == ':') {
        return take(piece, at, *at + 2, DATABASE_PIECE_SQL);
    }
    if ((*at)[0] == ':' && is_word((*at)[1]) && !apr_isdigit((*at)[1])) {
        *at += 1;
        return take(piece, at, end_of_word(*at), DATABASE_PIECE_PARAMETER);
    }
    return take(piece, at, *at + 1, DATABASE_PIECE_SQL);
}

static int is_comment(const database_piece_t *piece)
{
    return piece->text[0] == '-' || piece->text[0] == '/';
}

/* Is it a token that does not determine the kind of the statement? */
static int is_before_the_word(database_piece_e kind, const database_piece_t *piece)
{
    return kind == DATABASE_PIECE_QUOTED
               ? is_comment(piece)
               : kind == DATABASE_PIECE_SQL && (*piece->text == '(' || apr_isspace(*piece->text));
}

int database_query_reads(const char *sql)
{
    database_piece_t piece;
    database_piece_e kind;

    do {
        kind = database_query_piece(&sql, &piece);
    } while (kind != DATABASE_PIECE_END && is_before_the_word(kind, &piece));
    return kind == DATABASE_PIECE_SELECT ||
           (kind == DATABASE_PIECE_SQL && piece.length == 4 && strncasecmp(piece.text, "with", 4) == 0);
}
