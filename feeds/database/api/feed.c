/* SPDX-License-Identifier: Apache-2.0 */
/* The database feed: its descriptor and its parameters. */
#include "database/model/database.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "database/api/methods.h"
#include "database/api/report.h"
#include "database/changes/subscription.h"
#include "database/model/tables.h"
#include "database/query/reads.h"
#include "database/rows/interests.h"
#include "log/digest.h"
#include "log/shared.h"
#include "log/tailer.h"
#include "sql/connection.h"
#include "sql/rows.h"

static const vault_feed_param_t params[] = {
    SQL_PARAMS,
    LOG_PARAM_POLL(", or 0: there is no tailer"),
    {"ring", "1024", "kilobytes of memory for the changes that were read last, 64 to 1048576", 0},
    {"keep", "86400", "seconds that changes are kept, 60 to 31536000", 0},
    {"keep-places", "7776000", "seconds that the position of an absent user is kept, 60 to 315360000", 0},
    {"changes", "100000", "the most changes that are kept, 1000 to 100000000", 0},
    {"tables", "*", "the tables that methods accept, separated by commas; *: all but mod_vault's own", 0},
    {"model", "", "a file of JSON that declares entities and queries", VAULT_PARAM_PATH},
    {NULL, NULL, NULL, 0},
};

/* Which interests the tailer touches depends on the model. After a restart the tailer of the old generation runs on for
 * a while, with the old model, so it must not be the tailer of the new generation. */
static const char *digest_of_model(const database_t *feed, apr_pool_t *pool)
{
    const json_t *entities = feed->model != NULL ? feed->model->entities : NULL;

    return log_digest(entities != NULL ? sql_json_text(entities, JSON_COMPACT | JSON_SORT_KEYS, pool) : "", pool);
}

static const char *open_tailer(database_t *feed, const apr_table_t *given, apr_pool_t *pool)
{
    const sql_number_t numbers[] = {{"keep", &feed->log.keep, 60, 31536000},
                                    {"keep-places", &feed->log.keep_positions, 60, 315360000},
                                    {"changes", &feed->log.changes, 1000, 100000000},
                                    {"ring", &feed->log.ring, LOG_RING_LEAST, 1048576},
                                    {NULL, NULL, 0, 0}};
    const char *wrong = log_parameter_poll(&feed->log, given, 1, pool);

    wrong = wrong != NULL ? wrong : sql_parameter_numbers(numbers, given, pool);
    feed->log.touch = database_touch;
    return wrong != NULL ? wrong : log_shared_open(&feed->log, given, digest_of_model(feed, pool), pool);
}

static const char *open_cb(void **self, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    database_t *feed = apr_pcalloc(pool, sizeof(*feed));

    const char *wrong = sql_database_open(&feed->log.sql, host, given, pool);
    const char *model = apr_table_get(given, "model");

    *self = feed;
    if (wrong == NULL && model != NULL && model[0] != '\0') {
        wrong = database_model_read(&feed->model, model, pool);
    }
    if (wrong == NULL) {
        wrong = database_tables_open(&feed->tables, given, pool);
    }
    if (wrong == NULL) {
        wrong = open_tailer(feed, given, pool);
    }
    return wrong;
}

static const char *child_start_cb(void *self, apr_pool_t *pchild)
{
    database_t *feed = self;

    const char *wrong = sql_pool_start(&feed->log.sql, pchild);

    wrong = wrong != NULL ? wrong : database_reads_start(feed, pchild);
    return wrong != NULL ? wrong : log_tailer_start(&feed->log, pchild);
}

static void child_stop_cb(void *self)
{
    database_t *feed = self;

    log_tailer_stop(&feed->log);
    sql_pool_stop(&feed->log.sql);
}

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_feed_t),
    .name = "database",
    .params = params,
    .methods = database_methods,
    .open = open_cb,
    .child_start = child_start_cb,
    .child_stop = child_stop_cb,
    .acked = database_subscription_acked,
    .figures = database_figures,
    .report = database_report,
};
