/* SPDX-License-Identifier: Apache-2.0 */
/* Stores positions of users between their visits. */
#include "database/changes/subscription.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "database/rows/interests.h"
#include "log/dialect.h"
#include "log/digest.h"
#include "sql/catalogue.h"
#include "sql/connection.h"
#include "sql/driver.h"
#include "sql/rows.h"

#define TABLE "vault_subscriptions"

/* ------------------------------------------------------------ names */

/* The name of the call, without the arguments that concern only the first view. */
static const char *name_call(sql_call_t *c, const char *user)
{
    json_t *args = json_copy((json_t *)(uintptr_t)c->args);
    const char *text;

    json_object_del(args, "persistent");
    json_object_del(args, "limit");
    text = sql_json_text(args, JSON_COMPACT | JSON_SORT_KEYS, c->pool);
    json_decref(args);
    return log_digest(apr_pstrcat(c->pool, user, "\n", text, NULL), c->pool);
}

apr_status_t database_subscription_id(sql_call_t *c, const char **id)
{
    const json_t *given = json_object_get(c->args, "persistent");
    const char *word = json_string_value(given);
    const char *user;

    *id = NULL;
    if (given == NULL || json_is_false(given) || (word != NULL && strcmp(word, "no") == 0)) {
        return APR_SUCCESS;
    }
    if (!json_is_true(given) && (word == NULL || strcmp(word, "yes") != 0)) {
        return sql_fail(c, APR_EINVAL, "argument \"persistent\" takes yes or no");
    }
    user = c->db->host->user(c->call);
    if (user == NULL) {
        return sql_fail(c, APR_EINVAL, "argument \"persistent\": it needs a user who has logged in");
    }
    *id = name_call(c, user);
    return APR_SUCCESS;
}

/* ------------------------------------------------------------ the table */

static apr_status_t check_table(sql_call_t *c)
{
    int has = 0;
    apr_status_t rv = sql_catalogue_has(c, TABLE, &has);

    if (rv == APR_SUCCESS && !has) {
        rv = sql_fail(c, APR_EINVAL, "there is no table " TABLE ": run vaultctl watch again");
    }
    return rv;
}

apr_status_t database_subscription_recall(sql_call_t *c, const char *id, const char **cursor)
{
    sql_statement_t *sql;
    apr_status_t rv = check_table(c);

    *cursor = NULL;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql = sql_statement(c, "%r {$s.place} FROM %t AS s WHERE s.subscription=%s", c->db->driver->select, TABLE, id);
    rv = sql_conn_cell(c, sql->text, cursor);
    /* A cell begins with its type. */
    *cursor = *cursor != NULL ? *cursor + 1 : NULL;
    return rv;
}

static apr_status_t insert(sql_call_t *c, const char *id, const char *cursor)
{
    return sql_execute(c, "INSERT INTO %t(subscription,place,reached,used)VALUES(%s,%s,-1,0)%r", TABLE, id, cursor,
                       log_dialect_of(c->db)->unless_there);
}

/* A position never moves back. A position in another watching of the table is not comparable: the id of the watching is
 * the first part of a cursor. */
static apr_status_t update(sql_call_t *c, const char *id, const char *cursor, apr_int64_t reached)
{
    const char *colon = strchr(cursor, ':');
    const char *watch_id = apr_pstrmemdup(c->pool, cursor, colon != NULL ? (apr_size_t)(colon - cursor) + 1 : 0);

    return sql_execute(c,
                       "UPDATE %t SET place=%s,reached=%d,used=%d WHERE subscription=%s AND(reached<=%d OR "
                       "substr(place,1,%d)<>%s)",
                       TABLE, cursor, reached, (apr_int64_t)apr_time_sec(apr_time_now()), id, reached,
                       (apr_int64_t)strlen(watch_id), watch_id);
}

/* ------------------------------------------------------------ acknowledgements */

apr_status_t database_subscription_keep(sql_call_t *c, const char *id, const char *cursor, const char *position)
{
    const vault_host_t *host = c->db->host;
    apr_status_t rv;

    if (host->size <= offsetof(vault_host_t, on_ack)) {
        return APR_SUCCESS;
    }
    rv = host->on_ack(
        c->call, apr_psprintf(c->pool, "%s %" APR_INT64_T_FMT " %s", id, apr_strtoi64(position, NULL, 10), cursor));
    /* Without a page there will be no acknowledgement. */
    return rv == APR_SUCCESS || rv == APR_NOTFOUND ? APR_SUCCESS
                                                   : sql_fail(c, APR_EGENERAL, "the user's position cannot be kept");
}

static void store(sql_call_t *c, const char *id, const char *cursor, apr_int64_t reached)
{
    apr_status_t rv = sql_conn_take(c);

    if (rv == APR_SUCCESS) {
        rv = sql_conn_begin_write(c);
    }
    if (rv != APR_SUCCESS) {
        return;
    }
    rv = insert(c, id, cursor);
    rv = rv == APR_SUCCESS ? update(c, id, cursor, reached) : rv;
    (void)sql_conn_end(c, rv);
}

/* If the database is unreachable now, the older position is kept: then some changes are shown again at the next visit,
 * and none is lost. */
void database_subscription_acked(void *self, const char *data)
{
    database_t *feed = self;
    sql_call_t c = {.db = &feed->log.sql};
    char *id, *reached, *rest;

    if (sql_pool_of_its_own(&c.pool) != APR_SUCCESS) {
        return;
    }
    id = apr_strtok(apr_pstrdup(c.pool, data), " ", &rest);
    reached = apr_strtok(NULL, " ", &rest);
    if (id != NULL && reached != NULL && rest != NULL && rest[0] != '\0') {
        store(&c, id, rest, apr_strtoi64(reached, NULL, 10));
        sql_conn_give_back(&c);
    }
    apr_pool_destroy(c.pool);
}
