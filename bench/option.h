/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file option.h
 * Numeric options of the load programs. A value that is not a number, or is out of range, ends the program with
 * a sentence.
 */
#ifndef VAULT_BENCH_OPTION_H
#define VAULT_BENCH_OPTION_H

/** @return the whole number in `--name text` */
int option_whole(const char *name, const char *text, int least, int most);

/** The same for a number that may have a fraction. */
double option_number(const char *name, const char *text, double least, double most);

#endif
