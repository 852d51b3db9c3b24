/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output.h
 * All output of the program. Text from a server, a database or a file may contain terminal commands, lines that
 * look like the program's own, or characters that change the direction of writing: all of these are replaced by
 * `?`. A guard in `make check` ensures that no other file of vaultctl prints anything but constant text.
 */
#ifndef VAULTCTL_OUTPUT_H
#define VAULTCTL_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "apr.h"

/** Replace in place, by one `?` each: ASCII control characters (including line ends and tabs), Unicode control
 * characters (U+0080 to U+009F), line and paragraph separators, direction marks, and each byte that is not part
 * of a valid UTF-8 sequence.
 * @param text  may contain NULs, which are replaced, too
 * @return the new length, at most `length`; the bytes after it are unchanged */
apr_size_t vaultctl_output_clean(char *text, apr_size_t length);

/** printf() for one line or a part of it, cleaned. A line end at the end of `fmt` is kept; `fmt` must not have
 * any other. */
void vaultctl_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vaultctl_print_to(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Print SQL and `;`: cleaned line by line on a terminal, otherwise unchanged, since it may be meant for a
 * database. */
void vaultctl_print_sql(const char *statement);

/** Print JSON in ASCII, with everything else escaped, so that programs read the original values.
 * @param flags  of jansson: JSON_INDENT(2), JSON_COMPACT */
void vaultctl_print_json(const json_t *json, size_t flags);

#endif
