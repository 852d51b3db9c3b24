/* SPDX-License-Identifier: Apache-2.0 */
/* Finds what a query of MariaDB may read: see names_mysql.h. */
#include "database/query/names_mysql.h"

#include <string.h>
#include <strings.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "database/model/query_text.h"

/* Reads one text. */
typedef struct scan_t {
    const char *database;
    apr_array_header_t *things;
    database_reads_t *reads;
    apr_pool_t *pool;
    const char *at;
    const char *last;      /* the previous token, without blanks and comments; "" at first */
    const char *qualifier; /* the token before a dot, if the previous token is a dot */
    const char *leading;   /* the previous token that is not an opening bracket */
} scan_t;

/* Does the text contain something that MariaDB may split into tokens in another way? A quote that is escaped; a comment
 * that MariaDB executes, or that only one of the two treats as a comment; a name with a dollar sign, or with its own
 * quote in it. */
static int is_unclear(const char *text)
{
    database_piece_t piece;
    database_piece_e kind;
    const char *at = text;

    if (strstr(text, "\\'") != NULL || strstr(text, "\\\"") != NULL || strstr(text, "\\`") != NULL) {
        return 1;
    }
    while ((kind = database_query_piece(&at, &piece)) != DATABASE_PIECE_END) {
        const char first = piece.text[0];

        if (kind == DATABASE_PIECE_SQL && (first == '#' || first == '$')) {
            return 1;
        }
        if (kind == DATABASE_PIECE_QUOTED &&
            ((first == '/' && strchr("!M", piece.text[2]) != NULL) ||
             (first == '-' && piece.length > 2 && !apr_isspace(piece.text[2])) || (first == '`' && *at == '`'))) {
            return 1;
        }
    }
    return 0;
}

static int is_word(const char *token, const char *const *words)
{
    for (; *words != NULL; words++) {
        if (strcasecmp(token, *words) == 0) {
            return 1;
        }
    }
    return 0;
}

static int is_blank(database_piece_e kind, const database_piece_t *piece)
{
    const char first = piece->text[0];

    return kind == DATABASE_PIECE_QUOTED ? first == '/' || first == '-'
                                         : kind == DATABASE_PIECE_SQL && apr_isspace(first);
}

/* The first character that follows, after blanks and comments. */
static char next_char(const scan_t *scan)
{
    const char *at = scan->at, *next;
    database_piece_t piece = {.text = ""};

    do {
        next = at;
    } while (is_blank(database_query_piece(&at, &piece), &piece));
    return *next;
}

static const char *in_quotes(const char *format, const char *name, apr_pool_t *pool)
{
    return apr_psprintf(pool, format, name);
}

static void meet(scan_t *scan, database_thing_t *thing)
{
    switch (thing->kind) {
    case DATABASE_THING_TABLE:
        database_reads_add(scan->reads, thing->name, scan->pool);
        break;
    case DATABASE_THING_FUNCTION:
        if (next_char(scan) == '(') {
            database_reads_doubt(scan->reads, in_quotes("it calls the function \"%s\"", thing->name, scan->pool));
        }
        break;
    case DATABASE_THING_OTHER:
        database_reads_doubt(scan->reads,
                             in_quotes("it reads \"%s\", whose changes are not recorded", thing->name, scan->pool));
        break;
    case DATABASE_THING_VIEW:
        if (!thing->met && thing->definition[0] == '\0') {
            database_reads_doubt(scan->reads, in_quotes("it reads the view \"%s\", whose text this user may not see "
                                                        "(GRANT SHOW VIEW)",
                                                        thing->name, scan->pool));
        }
        else if (!thing->met) {
            thing->met = 1;
            database_names_mysql(thing->definition, scan->database, scan->things, scan->reads, scan->pool);
        }
        break;
    case DATABASE_THING_SCHEMA:
        break;
    }
}

/* Adds every object with this name. Compared without regard to case, since the file system may ignore case. */
static void look_up(scan_t *scan, const char *name, int schemas)
{
    int found = 0;

    for (int i = 0; i < scan->things->nelts; i++) {
        database_thing_t *thing = &APR_ARRAY_IDX(scan->things, i, database_thing_t);

        if ((thing->kind == DATABASE_THING_SCHEMA) == schemas && strcasecmp(thing->name, name) == 0) {
            found = 1;
            meet(scan, thing);
        }
    }
    if (schemas && found) {
        database_reads_doubt(scan->reads, in_quotes("it may read a table of the database \"%s\"", name, scan->pool));
    }
    for (const char *at = name; *at != '\0' && !found && !schemas; at++) {
        /* MariaDB may also compare such letters without regard to case, which strcasecmp does not */
        if ((*at & 0x80) != 0) {
            database_reads_doubt(scan->reads, in_quotes("it has the name \"%s\"", name, scan->pool));
        }
    }
}

/* Reads a name. After a dot it is a table only if the name before the dot is that of the database; after AS it is no
 * table. */
static void take_name(scan_t *scan, const char *name)
{
    static const char *const from[] = {"from", "join", "straight_join", NULL};
    int is_after_dot = strcmp(scan->last, ".") == 0;

    if (!is_after_dot && next_char(scan) == '.') {
        if (is_word(scan->leading, from) && strcasecmp(name, scan->database) != 0) {
            database_reads_doubt(scan->reads, in_quotes("it reads a table of the database \"%s\"", name, scan->pool));
        }
        look_up(scan, name, 1);
    }
    if (is_after_dot ? strcasecmp(scan->qualifier, scan->database) == 0 : strcasecmp(scan->last, "as") != 0) {
        look_up(scan, name, 0);
    }
}

static void take_piece(scan_t *scan, database_piece_e kind, const database_piece_t *piece)
{
    const char first = piece->text[0];
    const char *token = apr_pstrmemdup(scan->pool, piece->text, piece->length);

    if (is_blank(kind, piece)) {
        return;
    }
    if (kind == DATABASE_PIECE_QUOTED && first == '`') {
        token = piece->length > 2 ? apr_pstrmemdup(scan->pool, piece->text + 1, piece->length - 2) : "";
        if (scan->at[0] == '(') { /* MariaDB writes a call of a stored function so, and never a table */
            database_reads_doubt(scan->reads, in_quotes("it calls the function \"%s\"", token, scan->pool));
        }
    }
    if ((kind == DATABASE_PIECE_SQL && (apr_isalnum(first) || first == '_' || (first & 0x80) != 0)) || first == '`') {
        take_name(scan, token);
    }
    scan->qualifier = strcmp(token, ".") == 0 ? scan->last : "";
    scan->last = kind == DATABASE_PIECE_QUOTED && first != '`' ? "'" : token;
    scan->leading = strcmp(token, "(") == 0 ? scan->leading : scan->last;
}

void database_names_mysql(const char *text, const char *database, apr_array_header_t *things, database_reads_t *reads,
                          apr_pool_t *pool)
{
    scan_t scan = {.database = database,
                   .things = things,
                   .reads = reads,
                   .pool = pool,
                   .at = text,
                   .last = "",
                   .qualifier = "",
                   .leading = ""};
    database_piece_t piece;
    database_piece_e kind;

    if (is_unclear(text)) {
        database_reads_doubt(reads, "its text or that of a view has a character (\\ before a quote, #, $) or a "
                                    "comment that mod_vault cannot parse");
    }
    while ((kind = database_query_piece(&scan.at, &piece)) != DATABASE_PIECE_END) {
        take_piece(&scan, kind, &piece);
    }
}
