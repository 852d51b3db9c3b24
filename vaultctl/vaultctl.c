/* SPDX-License-Identifier: Apache-2.0 */
/* vaultctl: what an administrator does to mod_vault from a shell. */
#include "vaultctl.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

static const char usage[] =
    "usage: vaultctl COMMAND [options] [parameter=value ...] [TABLE ...]\n"
    "\n"
    "commands\n"
    "  watch TABLE ...    record every change of these tables, whoever makes it\n"
    "  unwatch TABLE ...  record them no more, and forget what was recorded\n"
    "  watched            list the tables that are watched\n"
    "\n"
    "options\n"
    "  -f, --file FILE    take the parameters from the VaultFeed line of this configuration file\n"
    "  -n, --name FEED    which VaultFeed, if there are several\n"
    "  -y, --yes          do not ask\n"
    "      --dry-run      only show the SQL\n"
    "  -h, --help         this text\n"
    "\n"
    "parameters are those of the database feed: driver=sqlite3 database=/var/lib/site/site.db\n";

typedef int (*command_fn)(const vaultctl_options_t *options, char *const *tables, int count, apr_pool_t *pool);

static const struct {
    const char *name;
    command_fn run;
} commands[] = {
    {"watch", vaultctl_watch},
    {"unwatch", vaultctl_unwatch},
    {"watched", vaultctl_watched},
};

int vaultctl_say(int status, const char *fmt, ...)
{
    va_list args;

    fputs("vaultctl: ", stderr);
    va_start(args, fmt);
    vfprintf(stderr, fmt, args);
    va_end(args);
    fputc('\n', stderr);
    return status;
}

static command_fn find_command(const char *name)
{
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return commands[i].run;
        }
    }
    return NULL;
}

static int is_option(const char *word, const char *brief, const char *name)
{
    return strcmp(word, brief) == 0 || strcmp(word, name) == 0;
}

/* The words after the command. @return how many tables there are, moved to the front; -1: said what is wrong */
static int read_words(vaultctl_options_t *options, char **words, int count, apr_pool_t *pool)
{
    int tables = 0;
    int only_tables = 0;

    for (int i = 0; i < count; i++) {
        char *word = words[i];
        char *equals = strchr(word, '=');

        if (only_tables || (word[0] != '-' && equals == NULL)) {
            words[tables++] = word;
        }
        else if (strcmp(word, "--") == 0) {
            only_tables = 1;
        }
        else if (is_option(word, "-y", "--yes")) {
            options->yes = 1;
        }
        else if (strcmp(word, "--dry-run") == 0) {
            options->dry_run = 1;
        }
        else if (is_option(word, "-f", "--file") && i + 1 < count) {
            options->file = words[++i];
        }
        else if (is_option(word, "-n", "--name") && i + 1 < count) {
            options->feed = words[++i];
        }
        else if (word[0] != '-' && equals != word) {
            apr_table_set(options->parameters, apr_pstrmemdup(pool, word, (apr_size_t)(equals - word)), equals + 1);
        }
        else {
            vaultctl_say(VAULTCTL_USAGE, "%s: not understood; vaultctl --help says what there is", word);
            return -1;
        }
    }
    return tables;
}

static int run(int argc, char **argv, apr_pool_t *pool)
{
    vaultctl_options_t options = {.parameters = apr_table_make(pool, 8)};
    command_fn command = argc > 1 ? find_command(argv[1]) : NULL;
    const char *wrong;
    int tables;

    for (int i = 1; i < argc; i++) {
        if (is_option(argv[i], "-h", "--help")) {
            fputs(usage, stdout);
            return VAULTCTL_DONE;
        }
    }
    if (command == NULL) {
        fputs(usage, stderr);
        return VAULTCTL_USAGE;
    }
    tables = read_words(&options, argv + 2, argc - 2, pool);
    if (tables < 0) {
        return VAULTCTL_USAGE;
    }
    wrong = options.file != NULL ? vaultctl_conf_read(&options, pool) : NULL;
    if (wrong != NULL) {
        return vaultctl_say(VAULTCTL_USAGE, "%s", wrong);
    }
    return command(&options, argv + 2, tables, pool);
}

int main(int argc, char **argv)
{
    apr_pool_t *pool;
    int status;

    if (apr_initialize() != APR_SUCCESS || apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        return vaultctl_say(VAULTCTL_FAILED, "out of memory");
    }
    status = run(argc, argv, pool);
    apr_pool_destroy(pool);
    apr_terminate();
    return status;
}
