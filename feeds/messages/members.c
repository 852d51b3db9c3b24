/* SPDX-License-Identifier: Apache-2.0 */
/* Users, and their subscriptions. */
#include "messages/members.h"

#include "apr_strings.h"
#include "apr_time.h"

#include "messages/channels.h"
#include "messages/deliver.h"
#include "messages/methods.h"
#include "messages/store.h"
#include "sql/connection.h"

/* The result of all these methods: the name of the object, and whether this call has changed anything. */
static apr_status_t answer(messages_call_t *m, const char *what, const char *name, int changed)
{
    m->changes |= changed;
    m->rows = json_pack("[{s:s,s:b}]", what, name, "changed", changed);
    return m->rows != NULL ? APR_SUCCESS : sql_fail(&m->sql, APR_ENOMEM, "out of memory");
}

/* ------------------------------------------------------------ users */

/* @param lock  messages_dialect_t::lock, or "" */
static apr_status_t find_user(messages_call_t *m, const char *lock, const json_t **row)
{
    return messages_select_row(&m->sql, row,
                               apr_pstrcat(m->sql.pool,
                                           "Select {u.id},{u.serial},{u.pruned} FROM vault_message_users AS u"
                                           " WHERE u.name=%s",
                                           lock, NULL),
                               m->user);
}

static apr_status_t make_user(messages_call_t *m)
{
    const messages_dialect_t *dialect = m->feed->dialect;
    apr_int64_t users;
    apr_status_t rv = messages_count(m, "Select COUNT(*) AS n FROM vault_message_users", 0, &users);

    if (rv == APR_SUCCESS && users >= m->feed->limits.users) {
        return sql_fail(&m->sql, APR_EINVAL, "there are %d users already: no more are accepted", m->feed->limits.users);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    return sql_execute(&m->sql,
                       apr_pstrcat(m->sql.pool, dialect->insert_new,
                                   "vault_message_users(name,created,serial,pruned,rate_minute,rate_posts)"
                                   "VALUES(%s,%d,0,0,0,0)",
                                   dialect->insert_end, NULL),
                       m->user, (apr_int64_t)apr_time_now());
}

apr_status_t messages_lock_user(messages_call_t *m, messages_user_t *user, int *is_new)
{
    const json_t *row;
    apr_status_t rv = find_user(m, m->feed->dialect->lock, &row);
    int made = rv == APR_SUCCESS && row == NULL;

    if (made) {
        rv = make_user(m);
        if (rv == APR_SUCCESS) {
            rv = find_user(m, m->feed->dialect->lock, &row);
        }
    }
    if (rv == APR_SUCCESS && row == NULL) {
        return sql_fail(&m->sql, APR_EAGAIN, "the user \"%s\" is being created by another call",
                        sql_shown(&m->sql, m->user));
    }
    user->id = messages_integer(row, "id");
    user->serial = messages_integer(row, "serial");
    user->pruned = messages_integer(row, "pruned");
    *is_new = made;
    return rv;
}

apr_status_t messages_find_or_make_user(messages_call_t *m, apr_int64_t *id)
{
    messages_user_t user;
    const json_t *row;
    int is_new;
    apr_status_t rv = find_user(m, "", &row);

    if (rv == APR_SUCCESS && row == NULL) {
        rv = messages_lock_user(m, &user, &is_new);
        *id = user.id;
        return rv;
    }
    *id = messages_integer(row, "id");
    return rv;
}

static apr_int64_t this_minute(void)
{
    return apr_time_sec(apr_time_now()) / 60;
}

static apr_int64_t times_in(const json_t *user, apr_int64_t minute)
{
    return messages_integer(user, "rate_minute") == minute ? messages_integer(user, "rate_posts") : 0;
}

apr_status_t messages_check_rate(messages_call_t *m, const json_t *user)
{
    if (times_in(user, this_minute()) >= m->feed->limits.rate) {
        return sql_fail(
            &m->sql, APR_EBUSY,
            "\"%s\" has posted messages, or made or left channels, %d times in this minute: no more are accepted",
            sql_shown(&m->sql, m->user), m->feed->limits.rate);
    }
    return APR_SUCCESS;
}

apr_status_t messages_count_rate(messages_call_t *m, apr_int64_t user)
{
    const apr_int64_t minute = this_minute();
    const json_t *row;
    apr_status_t rv = messages_select_row(&m->sql, &row,
                                          "Select {u.rate_minute},{u.rate_posts} FROM vault_message_users AS u"
                                          " WHERE u.id=%d",
                                          user);

    if (rv == APR_SUCCESS) {
        rv = messages_check_rate(m, row);
    }
    return rv != APR_SUCCESS
               ? rv
               : sql_execute(&m->sql, "UPDATE vault_message_users SET rate_minute=%d,rate_posts=%d WHERE id=%d", minute,
                             times_in(row, minute) + 1, user);
}

static apr_status_t create_user_body(messages_call_t *m)
{
    messages_user_t user;
    int is_new;
    apr_status_t rv = messages_lock_user(m, &user, &is_new);

    return rv != APR_SUCCESS ? rv : answer(m, "user", m->user, is_new);
}

apr_status_t messages_create_user(messages_call_t *m)
{
    return messages_transaction(m, create_user_body);
}

/* ------------------------------------------------------------ subscriptions */

static apr_status_t is_subscribed(messages_call_t *m, apr_int64_t channel, apr_int64_t user, int *is)
{
    const json_t *row;
    apr_status_t rv = messages_select_row(&m->sql, &row,
                                          "Select {s.user_id} FROM vault_message_subscriptions AS s"
                                          " WHERE s.channel_id=%d AND s.user_id=%d",
                                          channel, user);

    *is = row != NULL;
    return rv;
}

static apr_status_t check_room(messages_call_t *m, apr_int64_t channel, apr_int64_t user)
{
    apr_int64_t subscribers = 0;
    apr_int64_t channels = 0;
    apr_status_t rv = messages_count(m, "Select COUNT(*) AS n FROM vault_message_subscriptions WHERE channel_id=%d",
                                     channel, &subscribers);

    if (rv == APR_SUCCESS) {
        rv = messages_count(m, "Select COUNT(*) AS n FROM vault_message_subscriptions WHERE user_id=%d", user,
                            &channels);
    }
    if (rv == APR_SUCCESS && subscribers >= m->feed->limits.subscribers) {
        return sql_fail(&m->sql, APR_EINVAL, "channel \"%s\" has %d subscribers already: no more are accepted",
                        sql_shown(&m->sql, m->channel), m->feed->limits.subscribers);
    }
    if (rv == APR_SUCCESS && channels >= m->feed->limits.user_channels) {
        return sql_fail(&m->sql, APR_EINVAL, "\"%s\" is subscribed to %d channels already: no more are accepted",
                        sql_shown(&m->sql, m->user), m->feed->limits.user_channels);
    }
    return rv;
}

static apr_status_t subscribe_body(messages_call_t *m)
{
    messages_user_t user;
    apr_int64_t channel;
    apr_int64_t serial;
    int is = 0;
    int is_new;
    apr_status_t rv = messages_lock_channel(m, &channel, &serial);

    if (rv == APR_SUCCESS) {
        rv = messages_lock_user(m, &user, &is_new);
    }
    if (rv == APR_SUCCESS) {
        rv = is_subscribed(m, channel, user.id, &is);
    }
    if (rv == APR_SUCCESS && !is) {
        rv = check_room(m, channel, user.id);
    }
    if (rv != APR_SUCCESS || is) {
        return rv != APR_SUCCESS ? rv : answer(m, "channel", m->channel, 0);
    }
    rv = sql_execute(&m->sql, "INSERT INTO vault_message_subscriptions(channel_id,user_id)VALUES(%d,%d)", channel,
                     user.id);
    if (rv == APR_SUCCESS && m->limit != 0) {
        rv = messages_deliver_history(m, channel, serial, &user);
    }
    return rv != APR_SUCCESS ? rv : answer(m, "channel", m->channel, 1);
}

apr_status_t messages_subscribe(messages_call_t *m)
{
    return messages_transaction(m, subscribe_body);
}

static apr_status_t unsubscribe_body(messages_call_t *m)
{
    apr_int64_t channel;
    apr_int64_t serial;
    const json_t *row;
    int is = 0;
    apr_status_t rv = messages_lock_channel(m, &channel, &serial);

    if (rv == APR_SUCCESS) {
        rv = find_user(m, m->feed->dialect->lock, &row);
    }
    if (rv == APR_SUCCESS && row != NULL) {
        rv = is_subscribed(m, channel, messages_integer(row, "id"), &is);
    }
    if (rv == APR_SUCCESS && is) {
        rv = messages_count_rate(m, messages_integer(row, "id"));
    }
    if (rv == APR_SUCCESS && is) {
        rv = sql_execute(&m->sql, "DELETE FROM vault_message_subscriptions WHERE channel_id=%d AND user_id=%d", channel,
                         messages_integer(row, "id"));
        if (rv == APR_SUCCESS) {
            rv = messages_touch_channel(m, channel);
        }
    }
    return rv != APR_SUCCESS ? rv : answer(m, "channel", m->channel, is);
}

apr_status_t messages_unsubscribe(messages_call_t *m)
{
    return messages_transaction(m, unsubscribe_body);
}
