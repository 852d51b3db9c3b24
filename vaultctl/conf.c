/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the VaultFeed line of a database in a configuration file of httpd. */
#include "vaultctl.h"

#include <string.h>
#include <strings.h>

#include "apr_file_io.h"
#include "apr_lib.h"
#include "apr_strings.h"

#define FEED_OBJECT "vault_feed_database"
#define LINE_MAX_BYTES 8192

/* What has been read from the file. */
typedef struct conf_t {
    const vaultctl_options_t *options;
    apr_pool_t *pool;
    const char *root;        /* ServerRoot; NULL: not set in this file */
    apr_table_t *parameters; /* of the line that was found; NULL: none */
    const char *names;       /* the names of all feeds of databases */
    int found;
} conf_t;

/* The next word of a line, quoted or not, by the rules of httpd. NULL: there is none. */
static char *next_word(const char **line, apr_pool_t *pool)
{
    const char *at = *line;
    char *word, *end;
    char quote;

    while (apr_isspace(*at)) {
        at++;
    }
    if (*at == '\0') {
        return NULL;
    }
    quote = *at == '"' || *at == '\'' ? *at++ : '\0';
    end = word = apr_pcalloc(pool, strlen(at) + 1);
    while (*at != '\0' && (quote != '\0' ? *at != quote : !apr_isspace(*at))) {
        if (quote != '\0' && at[0] == '\\' && (at[1] == quote || at[1] == '\\')) {
            at++;
        }
        *end++ = *at++;
    }
    *line = *at != '\0' ? at + 1 : at;
    return word;
}

static void read_feed(conf_t *conf, const char *rest)
{
    const char *name = next_word(&rest, conf->pool);
    const char *path = next_word(&rest, conf->pool);
    apr_table_t *parameters = apr_table_make(conf->pool, 8);
    char *word;

    if (path == NULL || strstr(path, FEED_OBJECT) == NULL) {
        return;
    }
    conf->names =
        apr_pstrcat(conf->pool, conf->names != NULL ? conf->names : "", conf->names != NULL ? ", " : "", name, NULL);
    if (conf->options->feed != NULL && strcmp(conf->options->feed, name) != 0) {
        return;
    }
    while ((word = next_word(&rest, conf->pool)) != NULL) {
        char *equals = strchr(word, '=');

        if (equals != NULL) {
            *equals = '\0';
            apr_table_set(parameters, word, equals + 1);
        }
    }
    conf->parameters = parameters;
    conf->found++;
}

static void read_line(conf_t *conf, const char *line)
{
    const char *rest = line;
    const char *directive = next_word(&rest, conf->pool);

    if (directive == NULL || directive[0] == '#') {
        return;
    }
    if (strcasecmp(directive, "ServerRoot") == 0) {
        conf->root = next_word(&rest, conf->pool);
    }
    else if (strcasecmp(directive, "VaultFeed") == 0) {
        read_feed(conf, rest);
    }
}

/* A line that ends with a backslash continues on the next line. */
static const char *read_lines(conf_t *conf, const char *path)
{
    char buffer[LINE_MAX_BYTES];
    const char *line = "";
    apr_file_t *file;
    apr_status_t rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BUFFERED, APR_FPROT_OS_DEFAULT, conf->pool);

    if (rv != APR_SUCCESS) {
        return apr_psprintf(conf->pool, "%s: %s", path, apr_strerror(rv, buffer, sizeof(buffer)));
    }
    while (apr_file_gets(buffer, sizeof(buffer), file) == APR_SUCCESS) {
        apr_size_t length = strlen(buffer);

        while (length > 0 && apr_isspace(buffer[length - 1])) {
            buffer[--length] = '\0';
        }
        if (length > 0 && buffer[length - 1] == '\\') {
            buffer[length - 1] = '\0';
            line = apr_pstrcat(conf->pool, line, buffer, NULL);
            continue;
        }
        read_line(conf, apr_pstrcat(conf->pool, line, buffer, NULL));
        line = "";
    }
    apr_file_close(file);
    return NULL;
}

/* Relative paths are relative to ServerRoot. */
static const char *resolve(conf_t *conf, const char *name)
{
    const char *path = apr_table_get(conf->parameters, name);
    const char *driver = apr_table_get(conf->parameters, "driver");

    if (path == NULL || path[0] == '/' || (driver != NULL && strcmp(driver, "sqlite3") != 0)) {
        return NULL;
    }
    if (conf->root == NULL) {
        return apr_psprintf(conf->pool,
                            "%s=%s is relative to ServerRoot, which %s does not say; give %s=/PATH in the command",
                            name, path, conf->options->file, name);
    }
    apr_table_set(conf->parameters, name, apr_pstrcat(conf->pool, conf->root, "/", path, NULL));
    return NULL;
}

static const char *has_variable(const conf_t *conf)
{
    const apr_array_header_t *list = apr_table_elts(conf->parameters);

    for (int i = 0; i < list->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(list, i, apr_table_entry_t);

        if (strstr(entry->val, "${") != NULL) {
            int is_secret = strcmp(entry->key, "password") == 0;

            return apr_psprintf(conf->pool, "%s=%s has a variable of httpd's in it; give %s=VALUE in the command",
                                entry->key, is_secret ? "***" : entry->val, entry->key);
        }
    }
    return NULL;
}

/* Parameters of the command line override those of the file. */
static void add_given(conf_t *conf)
{
    const apr_array_header_t *given = apr_table_elts(conf->options->parameters);

    for (int i = 0; i < given->nelts; i++) {
        const apr_table_entry_t *entry = &APR_ARRAY_IDX(given, i, apr_table_entry_t);

        apr_table_set(conf->parameters, entry->key, entry->val);
    }
}

const char *vaultctl_conf_read(vaultctl_options_t *options, apr_pool_t *pool)
{
    conf_t conf = {.options = options, .pool = pool};
    const char *wrong = read_lines(&conf, options->file);

    if (wrong != NULL) {
        return wrong;
    }
    if (conf.found == 0) {
        return apr_psprintf(pool, "%s has no VaultFeed line with " FEED_OBJECT "%s%s", options->file,
                            options->feed != NULL ? " and the name " : "", options->feed != NULL ? options->feed : "");
    }
    if (conf.found > 1) {
        return apr_psprintf(pool, "%s has several VaultFeed lines: %s; -n NAME says which", options->file, conf.names);
    }
    add_given(&conf);
    wrong = has_variable(&conf);
    options->parameters = conf.parameters;
    return wrong != NULL ? wrong : resolve(&conf, "database");
}
