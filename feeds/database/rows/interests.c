/* SPDX-License-Identifier: Apache-2.0 */
/* Names of interests, and which of them a changed row touches. */
#include "database/rows/interests.h"

#include <string.h>

#include "apr_strings.h"

#include "database/model/model.h"
#include "database/rows/keys.h"
#include "log/digest.h"

#define PREFIX "DB-"

/* `head` and `tail`. If that is too long, `head` and the digest of `tail`. */
static const char *join(const char *head, const char *tail, apr_pool_t *pool)
{
    const char *name = apr_pstrcat(pool, head, tail, NULL);

    if (strlen(name) > VAULT_INTEREST_MAX) {
        name = apr_pstrcat(pool, head, "#", log_digest(tail, pool), NULL);
    }
    return strlen(name) <= VAULT_INTEREST_MAX ? name : NULL;
}

const char *database_interest_table(const char *table, apr_pool_t *pool)
{
    const char *name = apr_pstrcat(pool, PREFIX, table, NULL);

    return strlen(name) <= VAULT_INTEREST_MAX ? name : NULL;
}

const char *database_interest_row(const char *table, const char *key, apr_pool_t *pool)
{
    return join(apr_pstrcat(pool, PREFIX, table, "-", NULL), key, pool);
}

const char *database_interest_column(const char *table, const char *column, apr_pool_t *pool)
{
    return join(apr_pstrcat(pool, PREFIX, table, ".", NULL), column, pool);
}

const char *database_interest_members(const char *table, const apr_array_header_t *columns, const char *key,
                                      apr_pool_t *pool)
{
    const char *of_columns = database_interest_column(table, apr_array_pstrcat(pool, columns, ','), pool);

    return of_columns != NULL ? join(apr_pstrcat(pool, of_columns, "=", NULL), key, pool) : NULL;
}

apr_status_t database_interest_create(sql_call_t *c, const char *interest, int *announced)
{
    if (interest == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"table\": the name is too long for an interest");
    }
    *announced = c->db->host->create_interest(c->call, interest);
    return APR_SUCCESS;
}

/* ------------------------------------------------------------ touched */

void database_touched_table(log_touched_t *touched, const char *table)
{
    log_touched_name(touched, database_interest_table(table, touched->pool));
}

/* Collections are notified of every change of their elements. */
static void add_members(log_touched_t *touched, const char *table, const json_t *row)
{
    const apr_array_header_t *links = database_model_links(((const database_t *)touched->log)->model, table);

    for (int i = 0; row != NULL && links != NULL && i < links->nelts; i++) {
        const apr_array_header_t *columns = APR_ARRAY_IDX(links, i, const apr_array_header_t *);
        const char *key = database_key_of(columns, row, touched->pool);

        if (key != NULL) {
            log_touched_name(touched, database_interest_members(table, columns, key, touched->pool));
        }
    }
}

void database_touched_row(log_touched_t *touched, const char *table, const char *key, const json_t *old,
                          const json_t *new)
{
    const json_t *row = new != NULL ? new : old;
    const char *column;
    json_t *value;

    database_touched_table(touched, table);
    if (key != NULL) {
        log_touched_name(touched, database_interest_row(table, key, touched->pool));
    }
    /* jansson's iterator takes a pointer that is not const, but changes nothing. */
    json_object_foreach((json_t *)(uintptr_t)row, column, value)
    {
        const json_t *was = json_object_get(old, column);
        const json_t *is = json_object_get(new, column);

        if (old == NULL || new == NULL || !json_equal(was, is)) {
            log_touched_name(touched, database_interest_column(table, column, touched->pool));
        }
    }
    add_members(touched, table, old);
    add_members(touched, table, new);
}

static const json_t *row_in(const json_t *change, const char *which)
{
    const json_t *row = json_object_get(change, which);

    return json_is_object(row) ? row : NULL;
}

/* If the table is watched anew, all its pages have positions of the old watching, and the names of their interests
 * cannot be listed: so all interests are notified. */
void database_touched_change(log_touched_t *touched, const char *table, const json_t *change)
{
    const char *op = json_string_value(json_object_get(change, "op"));

    if (op != NULL && op[0] == 'W') {
        database_touched_table(touched, table);
        log_touched_all(touched);
        return;
    }
    database_touched_row(touched, table, json_string_value(json_object_get(change, "key")), row_in(change, "old"),
                         row_in(change, "new"));
}

apr_status_t database_touch(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change)
{
    (void)c;
    if (change != NULL) {
        database_touched_change(touched, table, change);
        return APR_SUCCESS;
    }
    database_touched_table(touched, table);
    log_touched_all(touched);
    return APR_SUCCESS;
}
