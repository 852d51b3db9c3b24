/* SPDX-License-Identifier: Apache-2.0 */
/* Looks without a page: see change_read.h. */
#include "database/changes/change_read.h"

#include <string.h>

#include "database/changes/changes.h"
#include "sql/catalogue.h"

/* How c->table is watched. */
static apr_status_t hear(sql_call_t *c, database_change_read_t *read, int *heard)
{
    const database_wanted_t wanted = {0};
    json_t *rows = NULL;
    apr_status_t rv;

    *read = (database_change_read_t){.dialect = log_dialect_of(c->db)};
    rv = database_changes_fetch(c, read, &wanted, &rows, heard);
    json_decref(rows);
    return rv;
}

apr_status_t database_watching_find(sql_call_t *c, database_watching_t *where)
{
    database_change_read_t read;
    int heard;
    apr_status_t rv = hear(c, &read, &heard);

    if (rv == APR_SUCCESS && !heard) {
        return database_change_read_not_watched(c, c->table->name);
    }
    where->watch_id = read.watch_id;
    where->position = read.told;
    return rv;
}

apr_status_t database_watching_check_columns(sql_call_t *c, const char *table)
{
    database_change_read_t read;
    int has = 0, heard = 0;
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS && log_dialect_of(c->db) != NULL) {
        rv = sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS && has) {
        rv = hear(c, &read, &heard);
    }
    if (rv != APR_SUCCESS || !heard || read.columns[0] == '\0') {
        return rv;
    }
    return strcmp(read.columns, log_dialect_columns(c, c->table)) == 0 ? APR_SUCCESS
                                                                       : database_change_read_altered(c, table);
}
