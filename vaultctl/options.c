/* SPDX-License-Identifier: Apache-2.0 */
/* The options. A row has the names of an option, the commands that take it, where its value is stored, and its
 * help text. */
#include "vaultctl.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apr_getopt.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "output.h"

#define DEFAULT_URL "http://localhost/vault/"
#define NUMBER_MAX 1000000000

typedef enum kind_t { FLAG, TEXT, NUMBER, LIST, HELP } kind_t;

typedef struct row_t {
    int ch; /* the letter, or a number above all letters */
    const char *name;
    const char *argument; /* NULL: the option has none */
    unsigned groups;
    kind_t kind;
    apr_size_t place; /* offset in vaultctl_options_t */
    const char *text;
} row_t;

#define AT(field) offsetof(vaultctl_options_t, field)
static const row_t rows[] = {
    {256, "url", "URL", VAULTCTL_OF_SERVER, TEXT, AT(url),
     "where VaultPath is; default: $VAULTCTL_URL, or " DEFAULT_URL},
    {'u', "user", "NAME[:PASSWORD]", VAULTCTL_OF_SERVER, TEXT, AT(user), "log in; without a password it is asked for"},
    {257, "netrc", NULL, VAULTCTL_OF_SERVER, FLAG, AT(netrc), "log in as ~/.netrc says"},
    {258, "netrc-file", "FILE", VAULTCTL_OF_SERVER, TEXT, AT(netrc_file), "as this file says"},
    {'H', "header", "HEADER", VAULTCTL_OF_SERVER, LIST, AT(headers), "send this header, as \"Host: www.example.org\""},
    {259, "cacert", "FILE", VAULTCTL_OF_SERVER, TEXT, AT(cacert), "believe the certificates that these have signed"},
    {'k', "insecure", NULL, VAULTCTL_OF_SERVER, FLAG, AT(insecure), "believe any certificate"},
    {'m', "max-time", "SECONDS", VAULTCTL_OF_SERVER, NUMBER, AT(timeout), "wait so long for an answer; default: 10"},
    {260, "json", NULL, VAULTCTL_OF_JSON, FLAG, AT(json), "print JSON"},
    {261, "top", NULL, VAULTCTL_OF_TOP, FLAG, AT(top), "live: again and again"},
    {272, "cluster", NULL, VAULTCTL_OF_STATUS, FLAG, AT(cluster), "the servers of the cluster"},
    {'d', "delay", "SECONDS", VAULTCTL_OF_TOP, NUMBER, AT(delay), "between two looks; default: 1"},
    {'n', "count", "COUNT", VAULTCTL_OF_TOP | VAULTCTL_OF_MONITOR, NUMBER, AT(count), "end after so many"},
    {'q', "quiet", NULL, VAULTCTL_OF_MONITOR, FLAG, AT(quiet),
     "do not say that it waits, or that it had to begin anew"},
    {262, "owner", "USER", VAULTCTL_OF_PAGES, TEXT, AT(owner), "only pages of this user"},
    {263, "interest", "NAME", VAULTCTL_OF_PAGES, TEXT, AT(interest), "only pages that hold this interest"},
    {264, "waiting", NULL, VAULTCTL_OF_PAGES, FLAG, AT(waiting), "only pages whose poll is here"},
    {265, "idle", NULL, VAULTCTL_OF_PAGES, FLAG, AT(idle), "only pages whose poll is not"},
    {268, "match", "TEXT", VAULTCTL_OF_CACHE, TEXT, AT(match), "only outputs whose kind or URL contains this"},
    {269, "sort", "ORDER", VAULTCTL_OF_CACHE, TEXT, AT(sort), "used, hits, bytes, renewals or age; default: used"},
    {270, "limit", "COUNT", VAULTCTL_OF_CACHE, NUMBER, AT(limit), "list at most so many; default: 100"},
    {271, "all", NULL, VAULTCTL_OF_CACHE, FLAG, AT(all), "drop all of them"},
    {'f', "file", "FILE", VAULTCTL_OF_DATABASE, TEXT, AT(file),
     "take the parameters from the VaultFeed line of this file"},
    {'n', "name", "FEED", VAULTCTL_OF_DATABASE, TEXT, AT(feed), "which VaultFeed, if there are several"},
    {'y', "yes", NULL, VAULTCTL_OF_DATABASE, FLAG, AT(yes), "do not ask"},
    {267, "dry-run", NULL, VAULTCTL_OF_DATABASE, FLAG, AT(dry_run), "only show the SQL"},
    {'h', "help", NULL, VAULTCTL_OF_ALL, HELP, 0, "this text"},
};
#undef AT
#define ROWS (sizeof(rows) / sizeof(rows[0]))

void vaultctl_options_print(unsigned groups)
{
    for (size_t i = 0; i < ROWS; i++) {
        const row_t *row = &rows[i];
        char words[64], letter[8] = "   ";

        if (!(row->groups & groups)) {
            continue;
        }
        if (row->ch < 256) {
            apr_snprintf(letter, sizeof(letter), "-%c,", row->ch);
        }
        apr_snprintf(words, sizeof(words), "--%s%s%s", row->name, row->argument ? " " : "",
                     row->argument ? row->argument : "");
        vaultctl_print("  %s %-24s %s\n", letter, words, row->text);
    }
}

/* ------------------------------------------------------------------- reading */

static const row_t *find_row(int ch, unsigned groups)
{
    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].ch == ch && (rows[i].groups & groups)) {
            return &rows[i];
        }
    }
    return NULL;
}

/* @return NULL, or a sentence that says what is wrong */
static const char *take_number(int *number, const row_t *row, const char *value, apr_pool_t *pool)
{
    char *end;
    apr_int64_t n = apr_strtoi64(value, &end, 10);

    if (!apr_isdigit(*value) || *end != '\0' || n < 1 || n > NUMBER_MAX) {
        return apr_psprintf(pool, "--%s %s: a whole number from 1 on is accepted", row->name, value);
    }
    *number = (int)n;
    return NULL;
}

static const char *take(vaultctl_options_t *options, const row_t *row, const char *value, apr_pool_t *pool)
{
    void *place = (char *)options + row->place;

    switch (row->kind) {
    case FLAG:
        *(int *)place = 1;
        return NULL;
    case TEXT:
        *(const char **)place = value;
        return NULL;
    case LIST:
        APR_ARRAY_PUSH(*(apr_array_header_t **)place, const char *) = value;
        return NULL;
    case NUMBER:
        return take_number(place, row, value, pool);
    case HELP:
        break;
    }
    return NULL;
}

/* The rows of these groups, as apr_getopt's own list. */
static apr_getopt_option_t *list_options(unsigned groups, apr_pool_t *pool)
{
    apr_getopt_option_t *list = apr_pcalloc(pool, (ROWS + 1) * sizeof(*list)), *next = list;

    for (size_t i = 0; i < ROWS; i++) {
        if (rows[i].groups & groups) {
            next->name = rows[i].name;
            next->optch = rows[i].ch;
            next->has_arg = rows[i].argument != NULL;
            next->description = rows[i].text;
            next++;
        }
    }
    return list;
}

static int read_options(vaultctl_options_t *options, apr_getopt_t *reader, unsigned groups, apr_pool_t *pool)
{
    const apr_getopt_option_t *list = list_options(groups, pool);
    const char *value, *wrong;
    apr_status_t rv;
    int ch;

    while ((rv = apr_getopt_long(reader, list, &ch, &value)) == APR_SUCCESS) {
        const row_t *row = find_row(ch, groups);

        if (row->kind == HELP) {
            return -2;
        }
        wrong = take(options, row, value, pool);
        if (wrong != NULL) {
            vaultctl_say(VAULTCTL_USAGE, "%s", wrong);
            return -1;
        }
    }
    return rv == APR_EOF ? 0 : -1; /* apr_getopt has reported the error */
}

/* Moves parameters of the database from the words to the options. Words after "--" are not parameters. */
static int take_parameters(vaultctl_options_t *options, char **words, int count, int literal, apr_pool_t *pool)
{
    int left = 0;

    for (int i = 0; i < count; i++) {
        char *equals = strchr(words[i], '=');

        if (equals == NULL || equals == words[i] || i >= count - literal) {
            words[left++] = words[i];
        }
        else {
            apr_table_set(options->parameters, apr_pstrmemdup(pool, words[i], (apr_size_t)(equals - words[i])),
                          equals + 1);
        }
    }
    return left;
}

static void finish_url(vaultctl_options_t *options, apr_pool_t *pool)
{
    const char *url = options->url != NULL ? options->url : getenv("VAULTCTL_URL");

    if (url == NULL || *url == '\0') {
        url = DEFAULT_URL;
        options->unsaid = 1;
    }
    options->url = url[strlen(url) - 1] == '/' ? url : apr_pstrcat(pool, url, "/", NULL);
}

static int words_after_dashes(char *const *words, int count)
{
    for (int i = 0; i < count; i++) {
        if (strcmp(words[i], "--") == 0) {
            return count - i - 1;
        }
    }
    return 0;
}

int vaultctl_options_read(vaultctl_options_t *options, unsigned groups, char **words, int count, apr_pool_t *pool)
{
    const char **argv = apr_pcalloc(pool, ((apr_size_t)count + 2) * sizeof(*argv));
    int literal = words_after_dashes(words, count), status, left = 0;
    apr_getopt_t *reader;

    argv[0] = "vaultctl";
    memcpy(argv + 1, words, (apr_size_t)count * sizeof(*argv));
    apr_getopt_init(&reader, pool, count + 1, argv);
    reader->interleave = 1;
    status = read_options(options, reader, groups, pool);
    if (status < 0) {
        return status;
    }
    while (reader->ind < count + 1) {
        words[left++] = apr_pstrdup(pool, reader->argv[reader->ind++]);
    }
    finish_url(options, pool);
    return groups & VAULTCTL_OF_DATABASE ? take_parameters(options, words, left, literal, pool) : left;
}
