/* SPDX-License-Identifier: Apache-2.0 */
/* The messages feed: its descriptor and its parameters. */
#include <string.h>

#include "apr_strings.h"

#include "log/figures.h"
#include "log/shared.h"
#include "log/tailer.h"
#include "messages/arguments.h"
#include "messages/methods.h"
#include "messages/store.h"
#include "messages/touch.h"
#include "sql/connection.h"

/* How long changes are kept, in seconds, and how many. A server that has not read a change by then notifies all
 * pages. */
#define KEEP_CHANGES 3600
#define CHANGES 100000

static const vault_feed_param_t params[] = {
    SQL_PARAMS,
    LOG_PARAM_POLL(""),
    {"anonymous", "no", "yes or no: whether requests without a user may name one", 0},
    {"admin", "", "a user who may delete any channel and whose own channels have no owner", 0},
    {"message_bytes", "2000", "the longest message, 1 to 65536 bytes", 0},
    {"keep", "1000", "messages kept for each user and each channel, 1 to 100000", 0},
    {"users", "10000", "the most users, 1 to 10000000", 0},
    {"channels", "1000", "the most channels, 1 to 1000000", 0},
    {"owner_channels", "20", "the most channels that one user owns, 1 to 1000000", 0},
    {"idle", "168", "hours that a channel without subscribers and messages is kept, 1 to 87600", 0},
    {"user_channels", "100", "the most channels that one user is subscribed to, 1 to 1000000", 0},
    {"subscribers", "10000", "the most subscribers of one channel, 1 to 1000000", 0},
    {"rate", "60", "how often one user posts, makes a channel or leaves one in a minute, 1 to 1000000", 0},
    {NULL, NULL, NULL, 0},
};

static const char *open_limits(messages_limits_t *limits, const apr_table_t *given, apr_pool_t *pool)
{
    const sql_number_t rows[] = {
        {"message_bytes", &limits->message_bytes, 1, 65536},
        {"keep", &limits->keep, 1, 100000},
        {"users", &limits->users, 1, 10000000},
        {"channels", &limits->channels, 1, 1000000},
        {"owner_channels", &limits->owner_channels, 1, 1000000},
        {"idle", &limits->idle, 1, 87600},
        {"user_channels", &limits->user_channels, 1, 1000000},
        {"subscribers", &limits->subscribers, 1, 1000000},
        {"rate", &limits->rate, 1, 1000000},
        {NULL, NULL, 0, 0},
    };

    return sql_parameter_numbers(rows, given, pool);
}

static const char *open_anonymous(int *anonymous, const apr_table_t *given, apr_pool_t *pool)
{
    const char *value = apr_table_get(given, "anonymous");

    *anonymous = value != NULL && strcmp(value, "yes") == 0;
    return *anonymous || (value != NULL && strcmp(value, "no") == 0)
               ? NULL
               : apr_psprintf(pool, "anonymous=%s: yes or no is accepted", value != NULL ? value : "");
}

static const char *open_admin(const char **admin, const apr_table_t *given, apr_pool_t *pool)
{
    const char *wrong;

    *admin = apr_table_get(given, "admin");
    if ((*admin)[0] == '\0') {
        return NULL;
    }
    wrong = messages_name_wrong(*admin);
    return wrong == NULL ? NULL
                         : apr_psprintf(pool, "admin=%s: the name of a user is accepted, and this %s", *admin, wrong);
}

/* The tailer is needed: only it notifies pages. No page reads the ring, so it has the smallest size. */
static const char *open_log(change_log_t *log, const apr_table_t *given, apr_pool_t *pool)
{
    const char *wrong = log_parameter_poll(log, given, 0, pool);

    log->ring = LOG_RING_LEAST;
    log->keep = KEEP_CHANGES;
    log->changes = CHANGES;
    log->is_own = 1;
    log->touch = messages_touch;
    return wrong != NULL ? wrong : log_shared_open(log, given, "messages", pool);
}

static const char *open_cb(void **self, const vault_host_t *host, const apr_table_t *given, apr_pool_t *pool)
{
    messages_t *feed = apr_pcalloc(pool, sizeof(*feed));
    const char *wrong = sql_database_open(&feed->log.sql, host, given, pool);

    *self = feed;
    if (wrong == NULL) {
        wrong = open_anonymous(&feed->anonymous, given, pool);
    }
    if (wrong == NULL) {
        wrong = open_admin(&feed->admin, given, pool);
    }
    if (wrong == NULL) {
        wrong = open_limits(&feed->limits, given, pool);
    }
    if (wrong == NULL) {
        feed->log.sql.makes_file = 1;
        feed->log.sql.connected = messages_connected;
        feed->dialect = messages_dialect(feed->log.sql.driver);
    }
    if (wrong == NULL && feed->dialect == NULL) {
        wrong = apr_psprintf(pool, "driver=%s: this feed does not know it", feed->log.sql.driver->name);
    }
    return wrong != NULL ? wrong : open_log(&feed->log, given, pool);
}

static const char *child_start_cb(void *self, apr_pool_t *pchild)
{
    messages_t *feed = self;

    const char *wrong = sql_pool_start(&feed->log.sql, pchild);

    return wrong != NULL ? wrong : log_tailer_start(&feed->log, pchild);
}

static void child_stop_cb(void *self)
{
    messages_t *feed = self;

    log_tailer_stop(&feed->log);
    sql_pool_stop(&feed->log.sql);
}

static const vault_feed_figure_t figures[] = {LOG_FIGURES, {NULL, NULL, 0}};

extern const vault_feed_t vault_feed;

const vault_feed_t vault_feed = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_feed_t),
    .name = "messages",
    .params = params,
    .methods = messages_methods,
    .open = open_cb,
    .child_start = child_start_cb,
    .child_stop = child_stop_cb,
    .figures = figures,
    .report = log_report,
};
