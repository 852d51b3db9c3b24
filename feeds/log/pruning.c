/* SPDX-License-Identifier: Apache-2.0 */
/* Removes old changes, results and positions: see pruning.h. */
#include "log/pruning.h"

#include "base/now.h"
#include "sql/connection.h"

#define PRUNE_EVERY apr_time_from_sec(60)

static apr_status_t forget(sql_call_t *c, const char *table, apr_int64_t before)
{
    return sql_execute(c, "DELETE FROM %t WHERE used<%d", table, before);
}

apr_status_t log_prune(log_pruning_t *pruning, sql_call_t *c, const char *position)
{
    const change_log_t *feed = (const change_log_t *)c->db;
    apr_time_t now = vault_now();
    apr_int64_t today = apr_time_sec(apr_time_now());
    apr_status_t rv;

    if (now < pruning->pruned_at + PRUNE_EVERY || position[0] == '\0') {
        return APR_SUCCESS;
    }
    pruning->pruned_at = now;
    rv = log_dialect_of(c->db)->prune(c, today - feed->keep, feed->changes, position);
    if (rv != APR_SUCCESS || feed->is_own) {
        return rv; /* vault_results and the positions of users belong to the database feed */
    }
    rv = forget(c, "vault_results", today - feed->keep);
    return rv == APR_SUCCESS ? forget(c, "vault_subscriptions", today - feed->keep_positions) : rv;
}
