/* SPDX-License-Identifier: Apache-2.0 */
/* Which tables a call may name. */
#include "tables.h"

#include <string.h>
#include <strings.h>

int database_table_is_own(const char *name)
{
    return strncasecmp(name, DATABASE_OWN_TABLES, strlen(DATABASE_OWN_TABLES)) == 0;
}

apr_status_t database_table_check(sql_call_t *c, const char *name)
{
    if (database_table_is_own(name)) {
        return sql_fail(c, APR_EINVAL, "table \"%s\" is not to be had: names that begin with " DATABASE_OWN_TABLES
                                       " are of mod_vault's own tables",
                        sql_shown(c, name));
    }
    return APR_SUCCESS;
}
