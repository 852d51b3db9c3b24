/* SPDX-License-Identifier: Apache-2.0 */
/* vaultctl: what an administrator does to mod_vault from a shell. */
#include "vaultctl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apr_general.h"
#include "apr_strings.h"

#include "output.h"

#define OF_SERVER VAULTCTL_OF_SERVER
#define OF_DATABASE VAULTCTL_OF_DATABASE

typedef struct command_t {
    const char *name;
    vaultctl_command_fn *run;
    unsigned groups;
    const char *words;
    const char *summary;
} command_t;

static const command_t commands[] = {
    {"status", vaultctl_status, OF_SERVER | VAULTCTL_OF_JSON | VAULTCTL_OF_TOP | VAULTCTL_OF_STATUS, "",
     "what the server does, in numbers"},
    {"top", vaultctl_top, OF_SERVER | VAULTCTL_OF_TOP, "", "the same, live"},
    {"pages", vaultctl_pages, OF_SERVER | VAULTCTL_OF_JSON | VAULTCTL_OF_PAGES, "[ID]",
     "the pages that there are, or all that is known of one"},
    {"cache", vaultctl_cache, OF_SERVER | VAULTCTL_OF_JSON | VAULTCTL_OF_CACHE, "[drop [URL ...]]",
     "the outputs that are kept, or drop some of them"},
    {"notify", vaultctl_notify, OF_SERVER | VAULTCTL_OF_JSON, "INTEREST ...",
     "tell the pages that hold these interests"},
    {"monitor", vaultctl_monitor, OF_SERVER | VAULTCTL_OF_JSON | VAULTCTL_OF_MONITOR, "INTEREST ...",
     "print a line each time that one of them is notified"},
    {"check", vaultctl_check, OF_SERVER | VAULTCTL_OF_JSON, "",
     "is the running server sound, and its configuration sane?"},
    {"doctor", vaultctl_doctor, OF_SERVER | VAULTCTL_OF_JSON, "URL", "is this page live, and what is to be changed?"},
#ifdef VAULT_DATABASE_FEED
    {"watch", vaultctl_watch, OF_DATABASE, "[parameter=value ...] TABLE ...",
     "record every change of these tables, by any program"},
    {"unwatch", vaultctl_unwatch, OF_DATABASE, "[parameter=value ...] TABLE ...",
     "record them no more, and forget what was recorded"},
    {"watched", vaultctl_watched, OF_DATABASE, "[parameter=value ...]", "list the tables that are watched"},
#endif
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* --------------------------------------------------------------------- usage */

static void print_usage(FILE *to)
{
    fputs("usage: vaultctl COMMAND [options] [words]\n\ncommands\n", to);
    for (size_t i = 0; i < COMMANDS; i++) {
        vaultctl_print_to(to, "  %-8s %s\n", commands[i].name, commands[i].summary);
    }
    fputs("\nvaultctl COMMAND --help    the options of a command\nvaultctl --version         which mod_vault it "
          "belongs to\n"
          "\nWhere the server is says --url, or VAULTCTL_URL in the environment; without them it is "
          "http://localhost/vault/.\n",
          to);
}

static int print_help(const command_t *command)
{
    vaultctl_print("usage: vaultctl %s [options] %s\n", command->name, command->words);
    vaultctl_print("\n");
    vaultctl_print("%s\n", command->summary);
    fputs("\noptions\n", stdout);
    vaultctl_options_print(command->groups | VAULTCTL_OF_ALL);
    if (command->groups & OF_DATABASE) {
        fputs("\nparameters are those of the database feed: driver=sqlite3 database=/var/lib/site/site.db\n", stdout);
    }
    return VAULTCTL_DONE;
}

/* ------------------------------------------------------------------- command */

static const command_t *find_command(const char *name)
{
    if (strcmp(name, "tail") == 0) {
        name = "monitor"; /* its former name */
    }
    for (size_t i = 0; i < COMMANDS; i++) {
        if (strcmp(commands[i].name, name) == 0) {
            return &commands[i];
        }
    }
    return NULL;
}

static int run(const command_t *command, char **words, int count, apr_pool_t *pool)
{
    vaultctl_options_t options = {.parameters = apr_table_make(pool, 8),
                                  .headers = apr_array_make(pool, 2, sizeof(const char *))};
    const char *wrong;
    int left = vaultctl_options_read(&options, command->groups | VAULTCTL_OF_ALL, words, count, pool);

    if (left == -2) {
        return print_help(command);
    }
    if (left < 0) {
        return VAULTCTL_USAGE;
    }
    wrong = options.file != NULL ? vaultctl_conf_read(&options, pool) : NULL;
    return wrong != NULL ? vaultctl_say(VAULTCTL_USAGE, "%s", wrong) : command->run(&options, words, left, pool);
}

static int start(int argc, char **argv, apr_pool_t *pool)
{
    const char *word = argc > 1 ? argv[1] : "";
    const command_t *command = find_command(word);

    if (command != NULL) {
        return run(command, argv + 2, argc - 2, pool);
    }
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        puts("vaultctl of mod_vault " VAULT_VERSION);
        return VAULTCTL_DONE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0) {
        print_usage(stdout);
        return VAULTCTL_DONE;
    }
    if (*word == '-') {
        return vaultctl_say(VAULTCTL_USAGE,
                            "%s: the command comes first, then its options; vaultctl --help says what there is", word);
    }
    if (*word != '\0') {
        return vaultctl_say(VAULTCTL_USAGE, "%s: there is no such command; vaultctl --help says what there is", word);
    }
    print_usage(stderr);
    return VAULTCTL_USAGE;
}

int main(int argc, char **argv)
{
    apr_pool_t *pool;
    int status;

    if (apr_initialize() != APR_SUCCESS || apr_pool_create(&pool, NULL) != APR_SUCCESS) {
        return vaultctl_say(VAULTCTL_FAILED, "out of memory");
    }
    status = start(argc, argv, pool);
    apr_pool_destroy(pool);
    apr_terminate();
    return fflush(stdout) == 0 || status != VAULTCTL_DONE ? status : VAULTCTL_FAILED;
}
