/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file bundle_tool.h
 * Runs a minifier: a program that reads text from standard input, and writes the result to standard output.
 *
 * The program is run without a shell, with the environment of httpd. It is killed when its time is up.
 */
#ifndef VAULT_BUNDLE_TOOL_H
#define VAULT_BUNDLE_TOOL_H

#include "apr_pools.h"
#include "apr_time.h"

/** A configured command: const. */
typedef struct vault_bundle_tool_t {
    const char *command;     /* as configured; NULL: Off */
    const char *program;     /* the absolute path of the program */
    const char *const *argv; /* ends with NULL */
    apr_uint64_t identity;   /* of the command and of the program's file: another version has another one */
    apr_uint64_t version;    /* the same on all servers that have the program from the same package */
} vault_bundle_tool_t;

/** Parse a command line and find its program, in PATH unless its name has a slash.
 * @return NULL; or half a sentence: what is wrong */
const char *vault_bundle_tool_parse(vault_bundle_tool_t *tool, const char *command, apr_pool_t *pool);

/** What a program has written. In the pool. */
typedef struct vault_bundle_run_t {
    char *text;
    apr_size_t size;
    char *errors; /* the beginning of its standard error, "" for nothing */
} vault_bundle_run_t;

/** Run the program and wait for its end, at most for `limit`. Blocks. Any thread.
 * @param run  `errors` is also set on failure
 * @return NULL; or half a sentence: why it has failed */
const char *vault_bundle_tool_run(const vault_bundle_tool_t *tool, const char *text, apr_size_t size,
                                  apr_interval_time_t limit, vault_bundle_run_t *run, apr_pool_t *pool);

#endif
