/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file option.h
 * Numbers on the command line of the programs that put load on a server. What is no number, or out of bounds, ends the program with a
 * sentence.
 */
#ifndef VAULT_BENCH_OPTION_H
#define VAULT_BENCH_OPTION_H

/** @return the whole number that `--name text` says */
int option_whole(const char *name, const char *text, int least, int most);

/** The same with a fraction, if it has one. */
double option_number(const char *name, const char *text, double least, double most);

#endif
