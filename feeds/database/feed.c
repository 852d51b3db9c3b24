/* SPDX-License-Identifier: Apache-2.0 */
/* The database feed: its descriptor and its parameters. */
#include "database.h"

#include <string.h>

#include "apr_strings.h"

#include "board.h"
#include "connection.h"
#include "methods.h"
#include "subscription.h"
#include "tables.h"
#include "tailer.h"

static const vault_feed_param_t params[] = {
    SQL_PARAMS,
    {"look", "200", "milliseconds between two looks for what others wrote, 10 to 60000, or 0: nobody looks", 0},
    {"ring", "1024", "kilobytes of memory for the changes that were read last, 64 to 1048576", 0},
    {"keep", "86400", "seconds that changes are kept, 60 to 31536000", 0},
    {"keep-places", "7776000", "seconds that the position of a user who does not come is kept, 60 to 315360000", 0},
    {"changes", "100000", "changes that are kept at most, 1000 to 100000000", 0},
    {"tables", "*", "the tables that methods take, parted by commas; *: all but mod_vault's own", 0},
    {"model", "", "a file of JSON that declares entities and queries", VAULT_PARAM_PATH},
    {NULL, NULL, NULL, 0},
};

static const char *open_range(int *number, const apr_table_t *given, const char *name, int least, int most,
                              apr_pool_t *pool)
{
    const char *wrong = sql_parameter_number(number, given, name, most, pool);

    return wrong == NULL && *number >= least ? NULL
                                             : apr_psprintf(pool, "%s=%s: a whole number from %d to %d is accepted",
                                                            name, apr_table_get(given, name), least, most);
}

static const char *open_tailer(database_t *feed, const apr_table_t *given, apr_pool_t *pool)
{
    const char *look = apr_table_get(given, "look");
    const char *wrong = NULL;

    if (look == NULL || strcmp(look, "0") != 0) {
        wrong = open_range(&feed->look, given, "look", 10, 60000, pool);
    }

    if (wrong == NULL) {
        wrong = open_range(&feed->keep, given, "keep", 60, 31536000, pool);
    }
    if (wrong == NULL) {
        wrong = open_range(&feed->keep_positions, given, "keep-places", 60, 315360000, pool);
    }
    if (wrong == NULL) {
        wrong = open_range(&feed->changes, given, "changes", 1000, 100000000, pool);
    }
    if (wrong == NULL) {
        wrong = open_range(&feed->ring, given, "ring", 64, 1048576, pool);
    }
    return wrong != NULL ? wrong : database_board_open(feed, given, pool);
}

static const char *open_cb(void **self, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    database_t *feed = apr_pcalloc(pool, sizeof(*feed));

    const char *wrong = sql_database_open(&feed->sql, host, given, pool);
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

    const char *wrong = sql_pool_start(&feed->sql, pchild);

    return wrong != NULL ? wrong : database_tailer_start(feed, pchild);
}

static void child_stop_cb(void *self)
{
    database_t *feed = self;

    database_tailer_stop(feed);
    sql_pool_stop(&feed->sql);
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
};
