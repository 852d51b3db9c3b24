/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file argument.h
 * Arguments of a call that any feed on a database may have. They come from a browser, a page or another module:
 * nothing in them is believed.
 */
#ifndef SQL_ARGUMENT_H
#define SQL_ARGUMENT_H

#include "sql/sql.h"

/** Refuse arguments that are not in `allowed` (which ends with NULL).
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t sql_arguments_known(sql_call_t *c, const char *const *allowed);

/** The argument `name`: `least` (0 or more) to `most`, as a number or in digits.
 * @param number  0: not given
 * @return APR_SUCCESS; APR_EINVAL: a sentence was given */
apr_status_t sql_argument_number(sql_call_t *c, const char *name, int least, int most, int *number);

#endif
