/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the watching of a table without a page: see change_read.h. */
#include "database/changes/change_read.h"

#include <string.h>

#include "database/changes/changes.h"
#include "sql/catalogue.h"

/* Reads how c->table is watched; read->watch_id stays NULL if it is not watched. */
static apr_status_t read_watching(sql_call_t *c, database_change_read_t *read)
{
    const database_wanted_t wanted = {0};
    json_t *rows = NULL;
    apr_status_t rv;

    *read = (database_change_read_t){.dialect = log_dialect_of(c->db)};
    rv = database_changes_fetch(c, read, &wanted, &rows);
    json_decref(rows);
    return rv;
}

apr_status_t database_watching_find(sql_call_t *c, database_watching_t *where)
{
    database_change_read_t read;
    apr_status_t rv = read_watching(c, &read);

    if (rv == APR_SUCCESS && read.watch_id == NULL) {
        return database_change_read_not_watched(c, c->table->name);
    }
    where->watch_id = read.watch_id;
    where->position = read.told;
    return rv;
}

apr_status_t database_watching_check_columns(sql_call_t *c, const char *table)
{
    database_change_read_t read = {0};
    int has = 0;
    apr_status_t rv = sql_catalogue_find(c, table);

    if (rv == APR_SUCCESS && log_dialect_of(c->db) != NULL) {
        rv = sql_catalogue_has(c, "vault_watched", &has);
    }
    if (rv == APR_SUCCESS && has) {
        rv = read_watching(c, &read);
    }
    if (rv != APR_SUCCESS || read.watch_id == NULL || read.columns[0] == '\0') {
        return rv;
    }
    return strcmp(read.columns, log_dialect_columns(c, c->table)) == 0 ? APR_SUCCESS
                                                                       : database_change_read_altered(c, table);
}
