/* SPDX-License-Identifier: Apache-2.0 */
/* Delivers messages to users, many in one statement. */
#include "messages/deliver.h"

#include "apr_strings.h"

#include "messages/members.h"
#include "messages/store.h"
#include "sql/connection.h"

/* The most users of one statement. */
#define BATCH 500
/* So many old messages may remain until the next pruning. */
#define PRUNE_AT_ONCE 32

static const messages_user_t *user_at(const apr_array_header_t *users, int i)
{
    return &APR_ARRAY_IDX(users, i, messages_user_t);
}

static void append_ids(sql_statement_t *sql, const apr_array_header_t *users)
{
    for (int i = 0; i < users->nelts; i++) {
        sql_add(sql, i == 0 ? "(%d" : ",%d", user_at(users, i)->id);
    }
    sql_add(sql, ")");
}

/* ------------------------------------------------------------ what is kept no more */

static apr_array_header_t *due_for_pruning(messages_call_t *m, const apr_array_header_t *users)
{
    apr_array_header_t *due = apr_array_make(m->sql.pool, users->nelts, sizeof(messages_user_t));

    for (int i = 0; i < users->nelts; i++) {
        const messages_user_t *user = user_at(users, i);

        if (user->serial - m->feed->limits.keep >= user->pruned + PRUNE_AT_ONCE) {
            APR_ARRAY_PUSH(due, messages_user_t) = *user;
        }
    }
    return due;
}

/* The serials in `users` are up to date. */
static apr_status_t prune(messages_call_t *m, const apr_array_header_t *users)
{
    const apr_int64_t keep = m->feed->limits.keep;
    apr_array_header_t *due = due_for_pruning(m, users);
    sql_statement_t *sql;
    apr_status_t rv;

    if (due->nelts == 0) {
        return APR_SUCCESS;
    }
    sql = sql_statement(&m->sql, "DELETE FROM vault_message_deliveries WHERE ");
    for (int i = 0; i < due->nelts; i++) {
        sql_add(sql, i == 0 ? "(user_id=%d AND serial<=%d)" : " OR (user_id=%d AND serial<=%d)", user_at(due, i)->id,
                user_at(due, i)->serial - keep);
    }
    rv = sql_conn_query(&m->sql, sql->text, NULL);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql = sql_statement(&m->sql, "UPDATE vault_message_users SET pruned=serial-%d WHERE id IN", keep);
    append_ids(sql, due);
    return sql_conn_query(&m->sql, sql->text, NULL);
}

/* ------------------------------------------------------------ many messages to one */

static apr_status_t raise_by(messages_call_t *m, messages_user_t *user, apr_int64_t count)
{
    apr_array_header_t *users = apr_array_make(m->sql.pool, 1, sizeof(messages_user_t));
    apr_status_t rv =
        sql_execute(&m->sql, "UPDATE vault_message_users SET serial=serial+%d WHERE id=%d", count, user->id);

    user->serial += count;
    APR_ARRAY_PUSH(users, messages_user_t) = *user;
    return rv != APR_SUCCESS ? rv : prune(m, users);
}

apr_status_t messages_deliver_history(messages_call_t *m, apr_int64_t channel, apr_int64_t serial,
                                      messages_user_t *user)
{
    const json_t *rows;
    const json_t *row;
    size_t i;
    sql_statement_t *sql;
    apr_status_t rv = messages_select(&m->sql, &rows, m->limit,
                                      "Select {t.serial} FROM vault_message_texts AS t"
                                      " WHERE t.channel_id=%d AND t.serial>%d AND t.serial NOT IN(Select d.message"
                                      " FROM vault_message_deliveries AS d WHERE d.user_id=%d AND d.channel_id=%d)"
                                      " ORDER BY t.serial",
                                      channel, serial - m->limit, user->id, channel);

    if (rv != APR_SUCCESS || json_array_size(rows) == 0) {
        return rv;
    }
    sql = sql_statement(&m->sql, "INSERT INTO vault_message_deliveries(user_id,serial,channel_id,message)VALUES");
    json_array_foreach(rows, i, row)
    {
        sql_add(sql, i == 0 ? "(%d,%d,%d,%d)" : ",(%d,%d,%d,%d)", user->id, user->serial + 1 + (apr_int64_t)i, channel,
                messages_integer(row, "serial"));
    }
    rv = sql_conn_query(&m->sql, sql->text, NULL);
    return rv != APR_SUCCESS ? rv : raise_by(m, user, (apr_int64_t)json_array_size(rows));
}

/* ------------------------------------------------------------ one message to many */

/* Subscribers with ids above `after`, in the order of their ids. Only their ids are set. */
static apr_status_t next_batch(messages_call_t *m, apr_int64_t channel, apr_int64_t after, apr_array_header_t *users)
{
    const json_t *rows;
    const json_t *row;
    size_t i;
    apr_status_t rv = messages_select(&m->sql, &rows, BATCH,
                                      "Select {s.user_id} FROM vault_message_subscriptions AS s"
                                      " WHERE s.channel_id=%d AND s.user_id>%d ORDER BY s.user_id LIMIT %d",
                                      channel, after, (apr_int64_t)BATCH);

    apr_array_clear(users);
    json_array_foreach(rows, i, row)
    {
        messages_user_t user = {.id = messages_integer(row, "user_id")};

        APR_ARRAY_PUSH(users, messages_user_t) = user;
    }
    return rv;
}

/* Locks them in the order of their ids (InnoDB locks in the order of the primary key, PostgreSQL in that of the sort),
 * and sets their other fields. */
static apr_status_t lock_batch(messages_call_t *m, apr_array_header_t *users)
{
    sql_statement_t *sql =
        sql_statement(&m->sql, "Select {u.id},{u.serial},{u.pruned} FROM vault_message_users AS u WHERE u.id IN");
    const json_t *rows;
    const json_t *row;
    size_t i;
    apr_status_t rv;

    append_ids(sql, users);
    sql_add(sql, " ORDER BY u.id");
    sql_add(sql, m->feed->dialect->lock);
    rv = messages_fetch(&m->sql, sql, BATCH, &rows);
    apr_array_clear(users);
    json_array_foreach(rows, i, row)
    {
        messages_user_t user = {messages_integer(row, "id"), messages_integer(row, "serial") + 1,
                                messages_integer(row, "pruned")};

        APR_ARRAY_PUSH(users, messages_user_t) = user;
    }
    return rv;
}

static apr_status_t deliver_batch(messages_call_t *m, apr_int64_t channel, apr_int64_t serial,
                                  const apr_array_header_t *users)
{
    sql_statement_t *sql = sql_statement(&m->sql, "UPDATE vault_message_users SET serial=serial+1 WHERE id IN");
    apr_status_t rv;

    append_ids(sql, users);
    rv = sql_conn_query(&m->sql, sql->text, NULL);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    sql = sql_statement(&m->sql, "INSERT INTO vault_message_deliveries(user_id,serial,channel_id,message)VALUES");
    for (int i = 0; i < users->nelts; i++) {
        const messages_user_t *user = user_at(users, i);

        sql_add(sql, i == 0 ? "(%d,%d,%d,%d)" : ",(%d,%d,%d,%d)", user->id, user->serial, channel, serial);
    }
    rv = sql_conn_query(&m->sql, sql->text, NULL);
    return rv != APR_SUCCESS ? rv : prune(m, users);
}

static int has_user(const apr_array_header_t *users, apr_int64_t id)
{
    for (int i = 0; i < users->nelts; i++) {
        if (user_at(users, i)->id == id) {
            return 1;
        }
    }
    return 0;
}

apr_status_t messages_deliver_to_all(messages_call_t *m, apr_int64_t channel, apr_int64_t serial, apr_int64_t poster)
{
    apr_array_header_t *users = apr_array_make(m->sql.pool, BATCH, sizeof(messages_user_t));
    apr_status_t rv = next_batch(m, channel, 0, users);

    while (rv == APR_SUCCESS && users->nelts > 0) {
        apr_int64_t last = user_at(users, users->nelts - 1)->id;

        rv = lock_batch(m, users);
        if (rv == APR_SUCCESS && has_user(users, poster)) {
            rv = messages_count_rate(m, poster);
        }
        if (rv == APR_SUCCESS) {
            rv = deliver_batch(m, channel, serial, users);
        }
        if (rv == APR_SUCCESS) {
            rv = next_batch(m, channel, last, users);
        }
    }
    return rv;
}
