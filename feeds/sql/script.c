/* SPDX-License-Identifier: Apache-2.0 */
/* Splits SQL scripts into statements: finds the ends of strings and comments. */
#include "sql/script.h"

#include <string.h>

#include "apr_lib.h"
#include "apr_strings.h"

static const char *end_of_string(const char *at, int backslashes)
{
    char quote = *at++;

    while (*at != '\0' && *at != quote) {
        at += backslashes && *at == '\\' && at[1] != '\0' ? 2 : 1;
    }
    return *at != '\0' ? at : NULL;
}

const char *sql_script_skip(const char *at, int backslashes)
{
    const char *end = NULL;

    if (strncmp(at, "--", 2) == 0 || *at == '#') {
        end = strchr(at, '\n');
    }
    else if (strncmp(at, "/*", 2) == 0) {
        end = strstr(at + 2, "*/");
        end = end != NULL ? end + 1 : NULL;
    }
    else if (*at == '[') {
        end = strchr(at, ']');
    }
    else if (*at == '"' || *at == '\'' || *at == '`') {
        end = end_of_string(at, backslashes && *at != '`');
    }
    else {
        return at;
    }
    return end != NULL ? end + 1 : at + strlen(at);
}

static int is_comment(const char *at)
{
    return *at == '#' || strncmp(at, "--", 2) == 0 || strncmp(at, "/*", 2) == 0;
}

const char *sql_script_next(const char **rest, apr_pool_t *pool)
{
    const char *begin = *rest;
    const char *at;

    while (apr_isspace(*begin) || *begin == ';' || is_comment(begin)) {
        begin = is_comment(begin) ? sql_script_skip(begin, 1) : begin + 1;
    }
    for (at = begin; *at != '\0' && *at != ';';) {
        const char *next = sql_script_skip(at, 1);

        at = next != at ? next : at + 1;
    }
    *rest = at;
    return at > begin ? apr_pstrmemdup(pool, begin, (apr_size_t)(at - begin)) : NULL;
}
