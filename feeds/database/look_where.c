/* SPDX-License-Identifier: Apache-2.0 */
/* Looks without a page: see look.h. */
#include "look.h"

#include <string.h>

#include "catalogue.h"
#include "changes.h"

/* How c->table is watched. */
static apr_status_t hear(sql_call_t *c, database_look_t *look, int *heard)
{
    const database_wanted_t wanted = {0};
    json_t *rows = NULL;
    apr_status_t rv;

    *look = (database_look_t){.dialect = database_dialect_of(c->db)};
    rv = database_changes_fetch(c, look, &wanted, &rows, heard);
    json_decref(rows);
    return rv;
}

apr_status_t database_look_where(sql_call_t *c, database_where_t *where)
{
    database_look_t look;
    int heard;
    apr_status_t rv = hear(c, &look, &heard);

    if (rv == APR_SUCCESS && !heard) {
        return database_look_not_watched(c, c->table->name);
    }
    where->epoch = look.epoch;
    where->position = look.told;
    return rv;
}

apr_status_t database_look_check_columns(sql_call_t *c, const char *table)
{
    database_look_t look;
    int has = 0, heard = 0;
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS && database_dialect_of(c->db) != NULL) {
        rv = sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS && has) {
        rv = hear(c, &look, &heard);
    }
    if (rv != APR_SUCCESS || !heard || look.columns[0] == '\0') {
        return rv;
    }
    return strcmp(look.columns, database_dialect_columns(c, c->table)) == 0 ? APR_SUCCESS
                                                                            : database_look_altered(c, table);
}
