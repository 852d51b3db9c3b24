/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file argument.h
 * Arguments of calls, as any feed on a database may have them. They come from a browser, a page or another module, and
 * are not trusted.
 */
#ifndef SQL_ARGUMENT_H
#define SQL_ARGUMENT_H

#include "sql/sql.h"

/** Check that all arguments are in `allowed` (which ends with NULL).
 * @return APR_SUCCESS; APR_EINVAL: one is not, and the reason is set */
apr_status_t sql_arguments_known(sql_call_t *c, const char *const *allowed);

/** The argument `name`, a number from `least` (0 or more) to `most`, given as a JSON number or as digits.
 * @param number  0: the argument is missing
 * @return APR_SUCCESS; APR_EINVAL: it is not such a number, and the reason is set */
apr_status_t sql_argument_number(sql_call_t *c, const char *name, int least, int most, int *number);

#endif
