/* SPDX-License-Identifier: Apache-2.0 */
/* Creates channels, deletes those of an owner, and removes those that are idle and empty.
 *
 * The column `used` of a channel is the time of the last event that shows that it is in use: it was created, a call
 * asked to create it again, or a subscriber left it. It is NULL if the channel has no owner: such a channel never
 * expires. */
#include "messages/channels.h"

#include <string.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "messages/deliver.h"
#include "messages/members.h"
#include "messages/methods.h"
#include "messages/store.h"
#include "sql/connection.h"

/* The most idle channels that one create_channel checks. */
#define IDLE_AT_ONCE 32

/* The result of these methods: whether this call has changed anything. */
static apr_status_t answer(messages_call_t *m, int changed)
{
    m->changes |= changed;
    m->rows = json_pack("[{s:s,s:b}]", "channel", m->channel, "changed", changed);
    return m->rows != NULL ? APR_SUCCESS : sql_fail(&m->sql, APR_ENOMEM, "out of memory");
}

static apr_interval_time_t idle_time(const messages_call_t *m)
{
    return apr_time_from_sec((apr_int64_t)m->feed->limits.idle * 3600);
}

/* ------------------------------------------------------------ one channel */

/* @param lock  messages_dialect_t::lock, or "" */
static apr_status_t find_channel(messages_call_t *m, const char *lock, const json_t **row)
{
    return messages_select_row(&m->sql, row,
                               apr_pstrcat(m->sql.pool,
                                           "Select {c.id},{c.serial},{c.created},{c.owner_id},{c.used}"
                                           " FROM vault_message_channels AS c WHERE c.name=%s",
                                           lock, NULL),
                               m->channel);
}

apr_status_t messages_lock_channel(messages_call_t *m, apr_int64_t *id, apr_int64_t *serial)
{
    const json_t *row;
    apr_status_t rv = find_channel(m, m->feed->dialect->lock, &row);

    if (rv == APR_SUCCESS && row == NULL) {
        return sql_fail(&m->sql, APR_EINVAL, "there is no channel \"%s\"", sql_shown(&m->sql, m->channel));
    }
    *id = messages_integer(row, "id");
    *serial = messages_integer(row, "serial");
    return rv;
}

apr_status_t messages_touch_channel(messages_call_t *m, apr_int64_t id)
{
    return sql_execute(&m->sql, "UPDATE vault_message_channels SET used=%d WHERE id=%d AND used IS NOT NULL",
                       (apr_int64_t)apr_time_now(), id);
}

/* Will it soon be idle? */
static int is_old(const messages_call_t *m, const json_t *channel)
{
    const apr_int64_t used = messages_integer(channel, "used");

    return used != 0 && used < apr_time_now() - idle_time(m) / 2;
}

/* ------------------------------------------------------------ idle channels */

/* The ids of the rows, to follow IN. */
static void append_ids(sql_statement_t *sql, const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        sql_add(sql, i == 0 ? "(%d" : ",%d", messages_integer(row, "id"));
    }
    sql_add(sql, ")");
}

/* Locks those of `found` that are still idle. */
static apr_status_t lock_idle(messages_call_t *m, const json_t *found, apr_int64_t before, const json_t **rows)
{
    sql_statement_t *sql =
        sql_statement(&m->sql, "Select {c.id} FROM vault_message_channels AS c WHERE c.used<%d AND c.id IN", before);

    append_ids(sql, found);
    sql_add(sql, " ORDER BY c.id");
    sql_add(sql, m->feed->dialect->lock);
    return messages_fetch(&m->sql, sql, IDLE_AT_ONCE, rows);
}

/* Finds those of `rows`, which are locked, that have a subscriber or a message. It is a statement of its own, after the
 * lock: the one that locked may not have seen what was committed while it waited. */
static apr_status_t find_full(messages_call_t *m, const json_t *rows, const json_t **full)
{
    sql_statement_t *sql = sql_statement(
        &m->sql, "Select {c.id} FROM vault_message_channels AS c WHERE"
                 " (EXISTS(Select 1 FROM vault_message_subscriptions AS s WHERE s.channel_id=c.id)"
                 " OR EXISTS(Select 1 FROM vault_message_texts AS t WHERE t.channel_id=c.id)) AND c.id IN");

    append_ids(sql, rows);
    return messages_fetch(&m->sql, sql, IDLE_AT_ONCE, full);
}

static int has_id(const json_t *rows, apr_int64_t id)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (messages_integer(row, "id") == id) {
            return 1;
        }
    }
    return 0;
}

/* A channel that is in use is not checked again before it can be idle. */
static apr_status_t remove_empty(messages_call_t *m, const json_t *rows, const json_t *full)
{
    apr_status_t rv = APR_SUCCESS;
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        const apr_int64_t id = messages_integer(row, "id");

        if (rv == APR_SUCCESS && has_id(full, id)) {
            rv = messages_touch_channel(m, id);
        }
        else if (rv == APR_SUCCESS) {
            rv = sql_execute(&m->sql, "DELETE FROM vault_message_channels WHERE id=%d", id);
            m->changes = 1;
        }
    }
    return rv;
}

/* Removes channels that have been idle and empty for too long. It locks channels only; no user may be locked yet. */
static apr_status_t remove_idle(messages_call_t *m)
{
    const apr_int64_t before = apr_time_now() - idle_time(m);
    const json_t *rows;
    const json_t *full;
    apr_status_t rv = messages_select(&m->sql, &rows, IDLE_AT_ONCE,
                                      "Select {c.id} FROM vault_message_channels AS c WHERE c.used<%d"
                                      " ORDER BY c.used LIMIT %d",
                                      before, (apr_int64_t)IDLE_AT_ONCE);

    if (rv == APR_SUCCESS && json_array_size(rows) != 0) {
        rv = lock_idle(m, rows, before, &rows);
    }
    if (rv != APR_SUCCESS || json_array_size(rows) == 0) {
        return rv;
    }
    rv = find_full(m, rows, &full);
    return rv != APR_SUCCESS ? rv : remove_empty(m, rows, full);
}

/* ------------------------------------------------------------ create_channel */

/* The channel that a call is creating. */
typedef struct making_t {
    apr_int64_t owner;   /* the id of a user; 0: none */
    apr_int64_t created; /* distinguishes a row that this call inserted from that of another call */
} making_t;

/* @param made  whether the channel is among those that are counted */
static apr_status_t check_room(messages_call_t *m, const making_t *making, int made)
{
    const messages_limits_t *limits = &m->feed->limits;
    apr_int64_t own = 0;
    apr_int64_t all = 0;
    apr_status_t rv = messages_count(m, "Select COUNT(*) AS n FROM vault_message_channels", 0, &all);

    if (rv == APR_SUCCESS && making->owner != 0) {
        rv = messages_count(m, "Select COUNT(*) AS n FROM vault_message_channels WHERE owner_id=%d", making->owner,
                            &own);
    }
    if (rv == APR_SUCCESS && own - made >= limits->owner_channels) {
        m->refused = sql_fail(&m->sql, APR_EINVAL, "\"%s\" owns %d channels already: no more are accepted",
                              sql_shown(&m->sql, m->user), limits->owner_channels);
    }
    else if (rv == APR_SUCCESS && all - made >= limits->channels) {
        m->refused =
            sql_fail(&m->sql, APR_EINVAL, "there are %d channels already: no more are accepted", limits->channels);
    }
    return rv;
}

static apr_status_t insert_channel(messages_call_t *m, const making_t *making)
{
    const messages_dialect_t *dialect = m->feed->dialect;
    sql_statement_t *sql =
        sql_statement(&m->sql,
                      apr_pstrcat(m->sql.pool, dialect->insert_new,
                                  "vault_message_channels(name,created,serial,owner_id,used)VALUES(%s,%d,0,", NULL),
                      m->channel, making->created);

    if (making->owner != 0) {
        sql_add(sql, "%d,%d)", making->owner, making->created);
    }
    else {
        sql_add(sql, "NULL,NULL)");
    }
    sql_add(sql, dialect->insert_end);
    return sql_conn_query(&m->sql, sql->text, NULL);
}

/* The channel was inserted, by this call or at the same time by another one. Lock the owner and count again: from here
 * on the calls of this owner run one after the other, and each counts the channels of those before it. */
static apr_status_t settle_channel(messages_call_t *m, const making_t *making)
{
    messages_user_t owner;
    const json_t *row;
    int is_new;
    apr_status_t rv = find_channel(m, "", &row);

    if (rv == APR_SUCCESS && (row == NULL || messages_integer(row, "owner_id") != making->owner ||
                              messages_integer(row, "created") != making->created)) {
        return answer(m, 0);
    }
    if (rv == APR_SUCCESS && making->owner != 0) {
        rv = messages_lock_user(m, &owner, &is_new);
        if (rv == APR_SUCCESS) {
            rv = messages_count_rate(m, owner.id);
        }
    }
    if (rv == APR_SUCCESS) {
        rv = check_room(m, making, 1);
    }
    if (rv == APR_SUCCESS && m->refused != APR_SUCCESS) {
        return sql_execute(&m->sql, "DELETE FROM vault_message_channels WHERE id=%d", messages_integer(row, "id"));
    }
    return rv != APR_SUCCESS ? rv : answer(m, 1);
}

/* The row is inserted before its owner is locked, because all calls lock channels before users. On MariaDB the insert
 * may wait for a lock on the next name in the index, and the call that holds that lock may wait for this user. */
static apr_status_t make_channel(messages_call_t *m)
{
    making_t making = {0, apr_time_now()};
    apr_status_t rv = m->is_admin ? APR_SUCCESS : messages_find_or_make_user(m, &making.owner);

    if (rv == APR_SUCCESS) {
        rv = check_room(m, &making, 0);
    }
    if (rv != APR_SUCCESS || m->refused != APR_SUCCESS) {
        return rv;
    }
    rv = insert_channel(m, &making);
    return rv != APR_SUCCESS ? rv : settle_channel(m, &making);
}

/* Finds the channel. If a call is about to remove it, waits for that call, and keeps the channel if it still exists. */
static apr_status_t find_to_use(messages_call_t *m, const json_t **row)
{
    apr_status_t rv = find_channel(m, "", row);

    if (rv == APR_SUCCESS && *row != NULL && is_old(m, *row)) {
        rv = find_channel(m, m->feed->dialect->lock, row);
        if (rv == APR_SUCCESS && *row != NULL) {
            rv = messages_touch_channel(m, messages_integer(*row, "id"));
        }
    }
    return rv;
}

static apr_status_t create_channel_body(messages_call_t *m)
{
    const json_t *row;
    apr_status_t rv = find_to_use(m, &row);

    if (rv == APR_SUCCESS && row != NULL) {
        return answer(m, 0);
    }
    if (rv == APR_SUCCESS) {
        rv = remove_idle(m);
    }
    return rv != APR_SUCCESS ? rv : make_channel(m);
}

apr_status_t messages_create_channel(messages_call_t *m)
{
    apr_status_t rv = messages_transaction(m, create_channel_body);

    return rv != APR_SUCCESS ? rv : m->refused;
}

/* ------------------------------------------------------------ delete_channel */

static apr_status_t check_owner(messages_call_t *m, const json_t *channel)
{
    const json_t *owner;
    apr_status_t rv;

    if (m->is_admin) {
        return APR_SUCCESS;
    }
    /* It is not locked: users are locked in the order of their ids, and only if there are messages to withdraw. */
    rv = messages_select_row(&m->sql, &owner, "Select {$u.name} FROM vault_message_users AS u WHERE u.id=%d",
                             messages_integer(channel, "owner_id"));
    if (rv != APR_SUCCESS || (owner != NULL && strcmp(messages_string(owner, "name"), m->user) == 0)) {
        return rv;
    }
    return sql_fail(&m->sql, APR_EINVAL,
                    owner != NULL
                        ? "channel \"%s\" belongs to another user"
                        : "channel \"%s\" has no owner: only the administrator may delete it (parameter admin)",
                    sql_shown(&m->sql, m->channel));
}

/* The messages of the channel that were delivered to users stay as serials without a text, until pruning removes them.
 * Each subscriber gets one more serial without a text: a page that reads it gets a first view again, without the
 * messages of this channel. */
static apr_status_t delete_rows(messages_call_t *m, apr_int64_t id, apr_int64_t serial)
{
    static const char *const statements[] = {
        "DELETE FROM vault_message_subscriptions WHERE channel_id=%d",
        "DELETE FROM vault_message_texts WHERE channel_id=%d",
        "DELETE FROM vault_message_channels WHERE id=%d",
    };
    apr_status_t rv = serial != 0 ? messages_deliver_to_all(m, id, MESSAGES_WITHDRAWN, 0) : APR_SUCCESS;

    for (size_t i = 0; rv == APR_SUCCESS && i < sizeof(statements) / sizeof(statements[0]); i++) {
        rv = sql_execute(&m->sql, statements[i], id);
    }
    return rv;
}

static apr_status_t delete_channel_body(messages_call_t *m)
{
    const json_t *row;
    apr_status_t rv = find_channel(m, m->feed->dialect->lock, &row);

    if (rv != APR_SUCCESS || row == NULL) {
        return rv != APR_SUCCESS ? rv : answer(m, 0);
    }
    rv = check_owner(m, row);
    if (rv == APR_SUCCESS) {
        rv = delete_rows(m, messages_integer(row, "id"), messages_integer(row, "serial"));
    }
    return rv != APR_SUCCESS ? rv : answer(m, 1);
}

apr_status_t messages_delete_channel(messages_call_t *m)
{
    return messages_transaction(m, delete_channel_body);
}
