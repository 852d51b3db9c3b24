/* SPDX-License-Identifier: Apache-2.0 */
/* Checks which tables a call may name. */
#include "database/model/tables.h"

#include <string.h>
#include <strings.h>

#include "apr_lib.h"
#include "apr_strings.h"

#include "sql/catalogue.h"

int database_table_is_own(const char *name)
{
    return strncasecmp(name, LOG_OWN_TABLES, strlen(LOG_OWN_TABLES)) == 0;
}

/* What is wrong with a name in `tables`; NULL: nothing. */
static const char *fault_of(const apr_array_header_t *tables, const char *name, apr_pool_t *pool)
{
    if (name[0] == '\0' || apr_isspace(name[0]) || apr_isspace(name[strlen(name) - 1])) {
        return "names of tables, separated by commas without blanks, are accepted";
    }
    if (database_table_is_own(name)) {
        return apr_psprintf(pool, "\"%s\": names that begin with " LOG_OWN_TABLES " are of mod_vault's own tables",
                            name);
    }
    return sql_list_has(tables, name) ? apr_psprintf(pool, "\"%s\" is given twice", name) : NULL;
}

const char *database_tables_open(const apr_array_header_t **tables, const apr_table_t *given, apr_pool_t *pool)
{
    const char *value = apr_table_get(given, "tables");
    const char *wrong = NULL;
    const char *at, *end;
    apr_array_header_t *names;

    *tables = NULL;
    if (value == NULL || strcmp(value, "*") == 0) {
        return NULL;
    }
    names = apr_array_make(pool, 8, sizeof(const char *));
    for (at = value; at != NULL && wrong == NULL; at = *end == ',' ? end + 1 : NULL) {
        const char *name;

        end = at + strcspn(at, ",");
        name = apr_pstrmemdup(pool, at, (apr_size_t)(end - at));
        wrong = fault_of(names, name, pool);
        APR_ARRAY_PUSH(names, const char *) = name;
    }
    *tables = names;
    return wrong != NULL ? apr_psprintf(pool, "tables=%s: %s", value, wrong) : NULL;
}

/* A list of names for an error sentence, which is cut if there are too many. */
static const char *listed(sql_call_t *c, const apr_array_header_t *names)
{
    return sql_shown(c, apr_array_pstrcat(c->pool, names, ','));
}

apr_status_t database_table_check(sql_call_t *c, const char *name)
{
    const apr_array_header_t *tables = ((const database_t *)c->db)->tables;

    if (database_table_is_own(name)) {
        return sql_fail(c, APR_EINVAL,
                        "table \"%s\" cannot be used: names that begin with " LOG_OWN_TABLES
                        " are of mod_vault's own tables",
                        sql_shown(c, name));
    }
    if (tables != NULL && !sql_list_has(tables, name)) {
        return sql_fail(c, APR_EINVAL, "table \"%s\" is not one of those of tables=%s", sql_shown(c, name),
                        listed(c, tables));
    }
    return APR_SUCCESS;
}
