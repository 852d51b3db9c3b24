/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a simple query requires of rows: see query_conditions.h. */
#include "database/query/query_conditions.h"

#include <string.h>
#include <strings.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "database/model/query_text.h"

/* A token of the query, without blanks and comments. */
typedef struct token_t {
    database_piece_e kind;
    const char *text; /* with its quotes; for a parameter its name */
    int depth;        /* number of brackets around it */
} token_t;

typedef struct reader_t {
    apr_array_header_t *tokens; /* of token_t; the last one is the end, with the text "" */
    int at;
    char quote;
    int folds;
    apr_pool_t *pool;
    database_conditions_t *conditions;
} reader_t;

/* With these words a query may have more than one SELECT, or tables without names. */
static const char *const not_simple[] = {"with",  "table", "values",  "union", "intersect", "except",
                                         "minus", "into",  "lateral", "only",  NULL};
/* After one of these words, an AND may be part of something else, or the condition may be only a part of an
 * alternative. */
static const char *const not_and[] = {"or", "xor", "between", "case", NULL};
static const char *const joins[] = {"natural", "inner", "cross", "left",          "right",
                                    "full",    "outer", "join",  "straight_join", NULL};
static const char *const join[] = {"join", "straight_join", NULL};
static const char *const ends[] = {"group", "having", "order", "limit",     "offset", "fetch",
                                   "for",   "window", "lock",  "procedure", "",       NULL};

static const token_t *token(const reader_t *reader, int i)
{
    return &APR_ARRAY_IDX(reader->tokens, i < reader->tokens->nelts ? i : reader->tokens->nelts - 1, token_t);
}

static const token_t *here(const reader_t *reader)
{
    return token(reader, reader->at);
}

static int is_one_of(const token_t *token, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (token->kind != DATABASE_PIECE_QUOTED && token->kind != DATABASE_PIECE_PARAMETER &&
            strcasecmp(token->text, *words) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is(const token_t *token, const char *word)
{
    return is_one_of(token, (const char *const[]){word, NULL});
}

static int skip(reader_t *reader, const char *word)
{
    int found = is(here(reader), word);

    reader->at += found;
    return found;
}

/* ------------------------------------------------------------ tokens */

/* The databases and this file may split the text in different ways: at escapes, other quotes, comments, lists, and the
 * operator || for OR. */
static int is_clear(const reader_t *reader, database_piece_e kind, const database_piece_t *piece)
{
    const char first = piece->text[0];

    return kind != DATABASE_PIECE_QUOTED
               ? strchr("\\$#[{|", first) == NULL
               : (first == '\'' || first == reader->quote) && memchr(piece->text, '\\', piece->length) == NULL;
}

static int read_tokens(reader_t *reader, const char *sql)
{
    database_piece_t piece;
    database_piece_e kind;
    int depth = 0, selects = 0;

    while ((kind = database_query_piece(&sql, &piece)) != DATABASE_PIECE_END) {
        token_t token = {.kind = kind, .text = apr_pstrmemdup(reader->pool, piece.text, piece.length)};

        if (!is_clear(reader, kind, &piece)) {
            return 0;
        }
        if (kind == DATABASE_PIECE_SQL && apr_isspace(piece.text[0])) {
            continue;
        }
        depth -= is(&token, ")");
        token.depth = depth;
        depth += is(&token, "(");
        selects += kind == DATABASE_PIECE_SELECT;
        if (is_one_of(&token, not_simple) || depth < 0) {
            return 0;
        }
        APR_ARRAY_PUSH(reader->tokens, token_t) = token;
    }
    APR_ARRAY_PUSH(reader->tokens, token_t) = (token_t){.kind = DATABASE_PIECE_END, .text = ""};
    return depth == 0 && selects == 1 && token(reader, 0)->kind == DATABASE_PIECE_SELECT;
}

/* SQLite accepts a table after IN without brackets. */
static int has_bare_in(const reader_t *reader)
{
    for (int i = 0; i < reader->tokens->nelts; i++) {
        if (is(token(reader, i), "in") && !is(token(reader, i + 1), "(")) {
            return 1;
        }
    }
    return 0;
}

/* The next one of these words that is not in brackets, or the end. */
static int find(const reader_t *reader, int from, const char *const *words)
{
    int i = from;

    while (i < reader->tokens->nelts - 1 && (token(reader, i)->depth > 0 || !is_one_of(token(reader, i), words))) {
        i++;
    }
    return i;
}

/* ------------------------------------------------------------ names and values */

static int is_word(const token_t *token)
{
    return token->kind == DATABASE_PIECE_SQL &&
           (apr_isalpha(token->text[0]) || token->text[0] == '_' || (token->text[0] & 0x80) != 0);
}

/* A name, without its quotes. NULL: it is not a name. */
static const char *name_of(const reader_t *reader, const token_t *token)
{
    apr_size_t length = strlen(token->text);
    char *name;

    if (token->kind == DATABASE_PIECE_QUOTED && token->text[0] == reader->quote && length > 2 &&
        token->text[length - 1] == reader->quote) {
        return apr_pstrmemdup(reader->pool, token->text + 1, length - 2);
    }
    if (!is_word(token)) {
        return NULL;
    }
    name = apr_pstrdup(reader->pool, token->text);
    for (char *at = name; *at != '\0' && reader->folds; at++) {
        *at = (char)apr_tolower(*at);
    }
    return name;
}

static int take_value(const reader_t *reader, const token_t *token, database_demand_t *demand)
{
    apr_size_t length = strlen(token->text);

    demand->value = token->text;
    if (token->kind == DATABASE_PIECE_PARAMETER) {
        demand->kind = DATABASE_DEMAND_PARAMETER;
        return 1;
    }
    if (token->kind == DATABASE_PIECE_QUOTED && token->text[0] == '\'' && length > 1 &&
        token->text[length - 1] == '\'') {
        demand->kind = DATABASE_DEMAND_TEXT;
        demand->value = apr_pstrmemdup(reader->pool, token->text + 1, length - 2);
        return 1;
    }
    demand->kind = DATABASE_DEMAND_NUMBER;
    return token->kind == DATABASE_PIECE_SQL && length > 0 && strspn(token->text, "0123456789") == length;
}

/* Reads the tokens of a column; `count` is 1, or 3 with an alias and a dot. */
static int take_column(const reader_t *reader, int from, int count, database_demand_t *demand)
{
    demand->column = name_of(reader, token(reader, from + count - 1));
    demand->alias = count == 3 ? name_of(reader, token(reader, from)) : NULL;
    return demand->column != NULL &&
           (count == 1 || (count == 3 && demand->alias != NULL && is(token(reader, from + 1), ".")));
}

/* ------------------------------------------------------------ FROM */

/* Does the next join begin here? LEFT and RIGHT are also functions. */
static int is_join(const reader_t *reader)
{
    static const char *const functions[] = {"left", "right", NULL};

    return is_one_of(here(reader), joins) &&
           !(is_one_of(here(reader), functions) && is(token(reader, reader->at + 1), "("));
}

/* Skips ON with a condition, or USING with columns, which concern only the join. */
static void skip_join_condition(reader_t *reader)
{
    static const char *const stops[] = {",", "where", "", NULL};

    if (!skip(reader, "on") && !skip(reader, "using")) {
        return;
    }
    while (here(reader)->depth > 0 || (!is_one_of(here(reader), stops) && !is_join(reader))) {
        reader->at++;
    }
}

/* Reads the name of a table, and its alias if it has one. */
static int take_source(reader_t *reader)
{
    static const char *const no_alias[] = {"on", "using", "where", "from", NULL};
    database_source_t source = {.table = name_of(reader, here(reader))};

    if (source.table == NULL) {
        return 0;
    }
    reader->at++;
    source.alias = source.table;
    if (skip(reader, "as") || (name_of(reader, here(reader)) != NULL && !is_one_of(here(reader), joins) &&
                               !is_one_of(here(reader), no_alias))) {
        source.alias = name_of(reader, here(reader));
        reader->at++;
    }
    skip_join_condition(reader);
    APR_ARRAY_PUSH(reader->conditions->sources, database_source_t) = source;
    return source.alias != NULL;
}

/* @return 1: another table follows; 0: WHERE follows; -1: the text is not understood */
static int take_separator(reader_t *reader)
{
    if (skip(reader, "where")) {
        return 0;
    }
    if (skip(reader, ",")) {
        return 1;
    }
    while (is_one_of(here(reader), joins)) {
        int is_last = is_one_of(here(reader), join);

        reader->at++;
        if (is_last) {
            return 1;
        }
    }
    return -1;
}

static int read_sources(reader_t *reader)
{
    int more = 1;

    reader->at = find(reader, 0, (const char *const[]){"from", NULL}) + 1;
    while (more == 1) {
        more = take_source(reader) ? take_separator(reader) : -1;
    }
    return more == 0;
}

/* ------------------------------------------------------------ WHERE */

/* Reads the condition between two ANDs. */
static void take_demand(reader_t *reader, int from, int to)
{
    database_demand_t demand = {0};
    int count = to - from;

    if ((count == 3 || count == 5) &&
        ((is(token(reader, to - 2), "=") && take_column(reader, from, count - 2, &demand) &&
          take_value(reader, token(reader, to - 1), &demand)) ||
         (is(token(reader, from + 1), "=") && take_column(reader, from + 2, count - 2, &demand) &&
          take_value(reader, token(reader, from), &demand)))) {
        APR_ARRAY_PUSH(reader->conditions->demands, database_demand_t) = demand;
    }
}

static int read_demands(reader_t *reader)
{
    static const char *const and[] = {"and", NULL};
    int end = find(reader, reader->at, ends);

    if (find(reader, reader->at, not_and) < reader->tokens->nelts - 1) {
        return 0;
    }
    for (int from = reader->at; from < end;) {
        int to = find(reader, from, and);

        to = to < end ? to : end;
        take_demand(reader, from, to);
        from = to + 1;
    }
    return reader->conditions->demands->nelts > 0;
}

int database_conditions_read(database_conditions_t *conditions, const char *sql, char quote, int folds,
                             apr_pool_t *pool)
{
    reader_t reader = {.tokens = apr_array_make(pool, 64, sizeof(token_t)),
                       .quote = quote,
                       .folds = folds,
                       .pool = pool,
                       .conditions = conditions};

    conditions->sources = apr_array_make(pool, 4, sizeof(database_source_t));
    conditions->demands = apr_array_make(pool, 4, sizeof(database_demand_t));
    return read_tokens(&reader, sql) && !has_bare_in(&reader) && read_sources(&reader) && read_demands(&reader);
}
