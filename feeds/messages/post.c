/* SPDX-License-Identifier: Apache-2.0 */
/* Posts a message to all subscribers of a channel, in one transaction. */
#include <string.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "messages/channels.h"
#include "messages/deliver.h"
#include "messages/members.h"
#include "messages/methods.h"
#include "messages/store.h"
#include "sql/connection.h"

/* How many messages of a channel are searched for `once`. */
#define ONCE_AMONG 1000

static apr_status_t answer(messages_call_t *m, apr_int64_t channel, apr_int64_t serial, int changed)
{
    m->changes |= changed;
    m->rows =
        json_pack("[{s:o,s:s,s:b}]", "id", messages_id(channel, serial), "channel", m->channel, "changed", changed);
    return m->rows != NULL ? APR_SUCCESS : sql_fail(&m->sql, APR_ENOMEM, "out of memory");
}

/* @param poster  the row of m->user */
static apr_status_t check_subscribed(messages_call_t *m, apr_int64_t channel, const json_t **poster)
{
    apr_status_t rv = messages_select_row(&m->sql, poster,
                                          "Select {u.id},{u.rate_minute},{u.rate_posts} FROM vault_message_users AS u"
                                          " JOIN vault_message_subscriptions AS s ON s.user_id=u.id"
                                          " WHERE u.name=%s AND s.channel_id=%d",
                                          m->user, channel);

    if (rv == APR_SUCCESS && *poster == NULL) {
        return sql_fail(&m->sql, APR_EINVAL, "\"%s\" is not subscribed to channel \"%s\"", sql_shown(&m->sql, m->user),
                        sql_shown(&m->sql, m->channel));
    }
    return rv;
}

/* The message that this user has posted with the same `once` before. @param posted  0: none */
static apr_status_t find_once(messages_call_t *m, apr_int64_t channel, apr_int64_t newest, apr_int64_t *posted)
{
    const json_t *row = NULL;
    apr_status_t rv = APR_SUCCESS;

    if (m->once != NULL) {
        rv = messages_select_row(&m->sql, &row,
                                 "Select {t.serial} FROM vault_message_texts AS t"
                                 " WHERE t.channel_id=%d AND t.serial>%d AND t.sender=%s AND t.once=%s",
                                 channel, newest - ONCE_AMONG, m->user, m->once);
    }
    *posted = messages_integer(row, "serial");
    return rv;
}

static apr_status_t insert(messages_call_t *m, apr_int64_t channel, apr_int64_t serial)
{
    sql_statement_t *sql = sql_statement(
        &m->sql, "INSERT INTO vault_message_texts(channel_id,serial,sender,body,posted,once)VALUES(%d,%d,%s,%s,%d,",
        channel, serial, m->user, m->text, (apr_int64_t)apr_time_now());
    apr_status_t rv;

    sql_add(sql, m->once != NULL ? "%s)" : "NULL)", m->once);
    rv = sql_conn_query(&m->sql, sql->text, NULL);
    if (rv == APR_SUCCESS) {
        rv = sql_execute(&m->sql, "UPDATE vault_message_channels SET serial=%d WHERE id=%d", serial, channel);
    }
    if (rv == APR_SUCCESS) {
        rv = sql_execute(&m->sql, "DELETE FROM vault_message_texts WHERE channel_id=%d AND serial<=%d", channel,
                         serial - m->feed->limits.keep);
    }
    return rv;
}

static apr_status_t post_body(messages_call_t *m)
{
    apr_int64_t channel;
    apr_int64_t newest;
    apr_int64_t posted = 0;
    const json_t *poster = NULL;
    apr_status_t rv = messages_lock_channel(m, &channel, &newest);

    if (rv == APR_SUCCESS) {
        rv = check_subscribed(m, channel, &poster);
    }
    if (rv == APR_SUCCESS) {
        rv = find_once(m, channel, newest, &posted);
    }
    if (rv == APR_SUCCESS && posted != 0) {
        return answer(m, channel, posted, 0);
    }
    if (rv == APR_SUCCESS) {
        rv = messages_check_rate(m, poster);
    }
    if (rv == APR_SUCCESS) {
        rv = insert(m, channel, newest + 1);
    }
    if (rv == APR_SUCCESS) {
        rv = messages_deliver_to_all(m, channel, newest + 1, messages_integer(poster, "id"));
    }
    return rv != APR_SUCCESS ? rv : answer(m, channel, newest + 1, 1);
}

apr_status_t messages_post(messages_call_t *m)
{
    return messages_transaction(m, post_body);
}
