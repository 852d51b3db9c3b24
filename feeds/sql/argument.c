/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of calls, as any feed on a database may have them. */
#include "sql/argument.h"

#include <errno.h>
#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

static apr_status_t unknown_argument(sql_call_t *c, const char *name, const char *const *allowed)
{
    const char *list = allowed[0];

    for (int i = 1; allowed[i] != NULL; i++) {
        list = apr_pstrcat(c->pool, list, ", ", allowed[i], NULL);
    }
    return sql_fail(c, APR_EINVAL, "argument \"%s\" is unknown; there are %s", sql_shown(c, name), list);
}

apr_status_t sql_arguments_known(sql_call_t *c, const char *const *allowed)
{
    const char *name;
    json_t *value;

    /* jansson's iterator takes a pointer that is not const, but changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)c->args, name, value)
    {
        int known = 0;

        for (int i = 0; allowed[i] != NULL; i++) {
            known |= strcmp(allowed[i], name) == 0;
        }
        if (!known) {
            return unknown_argument(c, name, allowed);
        }
    }
    return APR_SUCCESS;
}

/* -1: it is not a number, or not from `least` to `most` */
static json_int_t number_of(const json_t *value, int least, int most)
{
    json_int_t number = -1;

    if (json_is_integer(value)) {
        number = json_integer_value(value);
    }
    else if (json_is_string(value)) {
        const char *digits = json_string_value(value);
        char *end;

        errno = 0;
        number = apr_isdigit(digits[0]) ? apr_strtoi64(digits, &end, 10) : -1;
        if (number >= 0 && (errno != 0 || end != digits + json_string_length(value))) {
            number = -1;
        }
    }
    return number >= least && number <= most ? number : -1;
}

apr_status_t sql_argument_number(sql_call_t *c, const char *name, int least, int most, int *number)
{
    const json_t *value = json_object_get(c->args, name);
    json_int_t given;

    *number = 0;
    if (value == NULL) {
        return APR_SUCCESS;
    }
    given = number_of(value, least, most);
    if (given < 0) {
        return sql_fail(c, APR_EINVAL, "argument \"%s\" takes a whole number from %d to %d", name, least, most);
    }
    *number = (int)given;
    return APR_SUCCESS;
}
