/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output.h
 * Everything that the program prints. What a server, a database or a file says may hold commands to the terminal, lines that look like
 * the program's own, and characters that turn the direction of writing: here they become `?`. A guard in `make check` lets no other
 * file of vaultctl print anything but its own words.
 */
#ifndef VAULTCTL_OUTPUT_H
#define VAULTCTL_OUTPUT_H

#include <jansson.h>
#include <stdio.h>

#include "apr.h"

/** Replace in place, by one `?` each, what must not reach a terminal: control characters of ASCII (also line ends and tabs) and of
 * Unicode (U+0080 to U+009F), line and paragraph separators, the marks that set the direction of writing, and each byte that is not
 * part of a character of UTF-8.
 * @param text  may have NULs, which are replaced as well
 * @return the new length, at most `length`; what is behind it is as it was */
apr_size_t vaultctl_output_clean(char *text, apr_size_t length);

/** printf() of one line or a part of one, cleaned. A line end at the end of `fmt` stays; there must be no other in `fmt`. */
void vaultctl_print(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void vaultctl_print_to(FILE *to, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** Print SQL, and `;`: to a terminal with each of its lines cleaned, else as it is, since it may be meant for a database. */
void vaultctl_print_sql(const char *statement);

/** Print JSON as ASCII: everything else is escaped, so that a program reads what was there.
 * @param flags  of jansson: JSON_INDENT(2), JSON_COMPACT */
void vaultctl_print_json(const json_t *json, size_t flags);

#endif
