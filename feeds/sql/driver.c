/* SPDX-License-Identifier: Apache-2.0 */
/* The databases that are supported. */
#include "sql/driver.h"

#include <string.h>

#include <dbi/dbi-dev.h>

#include "apr_strings.h"

#include "sql/connection.h"

static const sql_driver_t *const drivers[] = {
    &sql_driver_sqlite3,
    &sql_driver_pgsql,
    &sql_driver_mysql,
};

#define DRIVERS (sizeof(drivers) / sizeof(drivers[0]))

const sql_driver_t *sql_driver_find(const char *name)
{
    for (apr_size_t i = 0; i < DRIVERS; i++) {
        if (strcmp(drivers[i]->name, name) == 0) {
            return drivers[i];
        }
    }
    return NULL;
}

static const char *names(int all, apr_pool_t *pool)
{
    const char *list = NULL;

    for (apr_size_t i = 0; i < DRIVERS; i++) {
        if (all || drivers[i]->is_server) {
            list = list == NULL ? drivers[i]->name : apr_pstrcat(pool, list, ", ", drivers[i]->name, NULL);
        }
    }
    return list;
}

const char *sql_driver_names(apr_pool_t *pool)
{
    return names(1, pool);
}

const char *sql_driver_servers(apr_pool_t *pool)
{
    return names(0, pool);
}

const char *sql_driver_check_library(dbi_driver driver, const char *name, sql_function_fn function)
{
    return (sql_function_fn)(uintptr_t)dbi_driver_specific_function(driver, name) == function
               ? NULL
               : "libdbi's module uses another client library of the database than the feed is linked with";
}

/* libdbi has no function for this, but its header for drivers, dbi-dev.h, documents the field. */
void *sql_driver_connection(const sql_conn_t *conn)
{
    return conn->dbi != NULL ? ((dbi_conn_t *)conn->dbi)->connection : NULL;
}
