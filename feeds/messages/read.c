/* SPDX-License-Identifier: Apache-2.0 */
/* What is new to a page: messages, and lists of channels and subscribers. */
#include <stddef.h>
#include <string.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "log/digest.h"
#include "messages/methods.h"
#include "messages/store.h"
#include "sql/connection.h"
#include "sql/rows.h"

/* ------------------------------------------------------------ the page's position */

/* "CREATED.SERIAL.POSTED.CHANNEL". CREATED is when the user was created, so that the position of a user with the same
 * name in another database is not valid here. SERIAL is the newest message that was seen. POSTED is when that was
 * posted, since a restored database assigns serials again. CHANNEL is the channel that the page is confined to, since a
 * deleted channel may be created again under the same name. A user who does not exist yet has "0.0.0.0". */
typedef struct position_t {
    apr_int64_t created;
    apr_int64_t serial;
    apr_int64_t posted; /* 0: unknown */
    /* 0: the channel did not exist, or the page is not confined, or an earlier version has set this */
    apr_int64_t channel;
} position_t;

static int get_position(const messages_call_t *m, position_t *position)
{
    const char *cursor = m->sql.db->host->cursor_get(m->sql.call);
    char *end = NULL;

    if (cursor != NULL) {
        position->created = apr_strtoi64(cursor, &end, 10);
    }
    if (end == NULL || *end != '.') {
        return 0;
    }
    position->serial = apr_strtoi64(end + 1, &end, 10);
    position->posted = *end == '.' ? apr_strtoi64(end + 1, &end, 10) : 0;
    position->channel = *end == '.' ? apr_strtoi64(end + 1, &end, 10) : 0;
    return *end == '\0';
}

/* Sets the position from `row`: `serial` is the name of the cell with the last serial that was seen, `posted` that of
 * its time. */
static apr_status_t set_position(messages_call_t *m, const json_t *row, const char *serial, const char *posted)
{
    apr_status_t rv = m->sql.db->host->cursor_set(
        m->sql.call,
        apr_psprintf(m->sql.pool, "%" APR_INT64_T_FMT ".%" APR_INT64_T_FMT ".%" APR_INT64_T_FMT ".%" APR_INT64_T_FMT,
                     messages_integer(row, "created"), messages_integer(row, serial), messages_integer(row, posted),
                     messages_integer(row, "only")));

    return rv == APR_SUCCESS ? rv : sql_fail(&m->sql, APR_EGENERAL, "the page's position cannot be kept");
}

/* ------------------------------------------------------------ one query */

/* Selects the user, and the messages beyond `after` in order; without `after` (-1) the newest ones that have a text, in
 * reverse order. Each row begins with the state of the user, also if there is no message: `tip` is when the newest was
 * posted, `seen` when that of `after` was, `only` the channel that the page is confined to. */
static apr_status_t query(messages_call_t *m, apr_int64_t after, int most, const json_t **rows)
{
    const int confined = m->channel != NULL;
    sql_statement_t *sql = sql_statement(
        &m->sql,
        "Select {u.created},{u.serial newest},{u.pruned},{k.posted tip},{l.posted seen},{d.serial},{d.channel_id}"
        ",{d.message},{$c.name channel},{$t.sender},{$t.body},{t.posted}");

    sql_add(sql, confined ? ",{f.id only}" : "");
    sql_add(sql,
            " FROM vault_message_users AS u"
            " LEFT JOIN vault_message_deliveries AS g ON g.user_id=u.id AND g.serial=u.serial"
            " LEFT JOIN vault_message_texts AS k ON k.channel_id=g.channel_id AND k.serial=g.message"
            " LEFT JOIN vault_message_deliveries AS h ON h.user_id=u.id AND h.serial=%d"
            " LEFT JOIN vault_message_texts AS l ON l.channel_id=h.channel_id AND l.serial=h.message",
            after);
    if (confined) {
        sql_add(sql, " LEFT JOIN vault_message_channels AS f ON f.name=%s", m->channel);
    }
    sql_add(sql, " LEFT JOIN vault_message_deliveries AS d ON d.user_id=u.id AND d.serial>%d", after);
    sql_add(sql, confined ? " AND d.channel_id=f.id" : "");
    sql_add(sql, after < 0 ? " AND EXISTS(Select 1 FROM vault_message_texts AS e"
                             " WHERE e.channel_id=d.channel_id AND e.serial=d.message)"
                           : "");
    sql_add(sql,
            " LEFT JOIN vault_message_channels AS c ON c.id=d.channel_id"
            " LEFT JOIN vault_message_texts AS t ON t.channel_id=d.channel_id AND t.serial=d.message"
            " WHERE u.name=%s",
            m->user);
    sql_add(sql, after < 0 ? " ORDER BY d.serial DESC LIMIT %d" : " ORDER BY d.serial LIMIT %d", (apr_int64_t)most);
    return messages_fetch(&m->sql, sql, most, rows);
}

static int has_message(const json_t *row)
{
    return json_is_integer(json_object_get(row, "serial"));
}

/* Was a message pruned that the page has not seen, or was one withdrawn together with its channel, of which the page
 * may show others? */
static int has_hole(const json_t *rows)
{
    const json_t *row;
    size_t i;

    json_array_foreach(rows, i, row)
    {
        if (has_message(row) && !json_is_string(json_object_get(row, "body"))) {
            return 1;
        }
    }
    return 0;
}

/* For pruned messages this cannot be found out. */
static int is_another(const position_t *position, const json_t *state)
{
    const apr_int64_t seen = messages_integer(state, "seen");

    return position->posted != 0 && seen != 0 && seen != position->posted;
}

/* Was the channel that the page is confined to deleted? Also if there is a new channel with the same name. */
static int has_lost_channel(const position_t *position, const json_t *state)
{
    return position->channel != 0 && position->channel != messages_integer(state, "only");
}

static int is_usable(const position_t *position, const json_t *rows)
{
    const json_t *state = json_array_get(rows, 0);

    if (state == NULL) {
        return position->created == 0;
    }
    /* A user who did not exist yet has missed only messages that were pruned. */
    return (position->created == messages_integer(state, "created") || position->created == 0) &&
           position->serial <= messages_integer(state, "newest") &&
           position->serial >= messages_integer(state, "pruned") && !is_another(position, state) &&
           !has_lost_channel(position, state) && !has_hole(rows);
}

/* ------------------------------------------------------------ the answer */

json_t *messages_id(apr_int64_t channel, apr_int64_t serial)
{
    return json_sprintf("%" APR_INT64_T_FMT "-%" APR_INT64_T_FMT, channel, serial);
}

static json_t *time_json(apr_int64_t posted)
{
    apr_time_exp_t at;

    apr_time_exp_gmt(&at, posted);
    return json_sprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", at.tm_year + 1900, at.tm_mon + 1, at.tm_mday, at.tm_hour,
                        at.tm_min, at.tm_sec);
}

static json_t *message_json(const messages_call_t *m, const json_t *row)
{
    const char *sender = messages_string(row, "sender");

    return json_pack("{s:o,s:I,s:O,s:O,s:O,s:o,s:b}", "id",
                     messages_id(messages_integer(row, "channel_id"), messages_integer(row, "message")), "serial",
                     (json_int_t)messages_integer(row, "serial"), "channel", json_object_get(row, "channel"), "sender",
                     json_object_get(row, "sender"), "text", json_object_get(row, "body"), "time",
                     time_json(messages_integer(row, "posted")), "own", strcmp(sender, m->user) == 0);
}

/* Returns the first `most` of these rows; the next answer returns the others. No row means "nothing new". */
static apr_status_t show(messages_call_t *m, const json_t *rows, size_t most, int backward)
{
    size_t count = json_array_size(rows) < most ? json_array_size(rows) : most;

    m->rows = json_array();
    for (size_t i = 0; i < count; i++) {
        const json_t *row = json_array_get(rows, backward ? count - 1 - i : i);

        if (has_message(row) && json_array_append_new(m->rows, message_json(m, row)) != 0) {
            return sql_fail(&m->sql, APR_ENOMEM, "out of memory for the messages");
        }
    }
    if (json_array_size(m->rows) == 0) {
        json_decref(m->rows);
        m->rows = NULL;
    }
    return APR_SUCCESS;
}

static apr_status_t first_view(messages_call_t *m)
{
    const json_t *rows;
    const json_t *state;
    const int most = m->limit != 0 ? m->limit : m->sql.db->rows;
    apr_status_t rv = query(m, -1, most, &rows);

    if (rv == APR_SUCCESS) {
        rv = show(m, rows, (size_t)most, 1);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    state = json_array_get(rows, 0);
    return set_position(m, state, "newest", "tip");
}

/* Messages that the page has missed were pruned, or its position belongs to another database: a first view replaces
 * what the page shows. */
static apr_status_t first_view_again(messages_call_t *m)
{
    const vault_host_t *host = m->sql.db->host;
    apr_status_t rv = first_view(m);

    if (rv == APR_SUCCESS && host->size > offsetof(vault_host_t, reset)) {
        host->reset(m->sql.call);
        if (m->rows == NULL) {
            m->rows = json_array();
        }
    }
    return rv;
}

static apr_status_t read_new(messages_call_t *m, const char *interest)
{
    const int most = m->sql.db->rows;
    const json_t *rows;
    const json_t *last;
    position_t position;
    apr_status_t rv;

    if (!get_position(m, &position)) {
        return first_view(m);
    }
    rv = query(m, position.serial, most + 1, &rows);
    if (rv == APR_SUCCESS && !is_usable(&position, rows)) {
        return first_view_again(m);
    }
    if (rv != APR_SUCCESS || json_array_size(rows) == 0) {
        return rv;
    }
    rv = show(m, rows, (size_t)most, 0);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    last = json_array_get(rows, 0);
    if (json_array_size(rows) <= (size_t)most) {
        return set_position(m, last, "newest", "tip");
    }
    /* Notify of the rows that were left out: the new stamp is later than that of this run, so the page reads again. */
    last = json_array_get(rows, (size_t)most - 1);
    rv = set_position(m, last, "serial", "posted");
    (void)sql_notify_local(m->sql.db, interest);
    return rv;
}

apr_status_t messages_get_new(messages_call_t *m)
{
    const char *interest = apr_pstrcat(m->sql.pool, MESSAGES_OF_USER, m->user, NULL);
    apr_status_t rv;

    /* This is done before the data is read: the page will be notified of what is committed from here on. */
    if (!m->sql.db->host->create_interest(m->sql.call, interest)) {
        return APR_SUCCESS;
    }
    rv = sql_conn_take(&m->sql);
    return rv != APR_SUCCESS ? rv : read_new(m, interest);
}

/* ------------------------------------------------------------ lists */

/* Does the page have this list? A notification may come after the page has read the change: the tailer announces
 * changes after their commit. The cursor of a list is its digest. */
static apr_status_t compare_list(messages_call_t *m, const json_t *shown, int *has)
{
    const vault_host_t *host = m->sql.db->host;
    const char *text = sql_json_text(shown, JSON_COMPACT, m->sql.pool);
    const char *digest = log_digest(text, m->sql.pool);
    const char *cursor = host->cursor_get(m->sql.call);

    if (text[0] == '\0') {
        return sql_fail(&m->sql, APR_ENOMEM, "out of memory for the list");
    }
    *has = cursor != NULL && strcmp(cursor, digest) == 0;
    return host->cursor_set(m->sql.call, digest) == APR_SUCCESS
               ? APR_SUCCESS
               : sql_fail(&m->sql, APR_EGENERAL, "the page's position cannot be kept");
}

static apr_status_t show_list(messages_call_t *m, sql_statement_t *sql)
{
    const json_t *rows;
    const json_t *row;
    size_t i;
    int has = 0;
    apr_status_t rv = messages_fetch(&m->sql, sql, m->sql.db->rows, &rows);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    m->rows = json_array();
    json_array_foreach(rows, i, row)
    {
        json_t *shown = json_deep_copy(row);
        const json_t *subscribed = json_object_get(row, "subscribed");

        if (subscribed != NULL) {
            json_object_set_new(shown, "subscribed", json_boolean(json_integer_value(subscribed) != 0));
            json_object_set_new(shown, "own", json_boolean(messages_integer(row, "own") != 0));
        }
        else {
            json_object_set_new(shown, "own", json_boolean(strcmp(messages_string(row, "user"), m->user) == 0));
        }
        if (json_array_append_new(m->rows, shown) != 0) {
            return sql_fail(&m->sql, APR_ENOMEM, "out of memory for the list");
        }
    }
    rv = compare_list(m, m->rows, &has);
    if (rv == APR_SUCCESS && has) {
        json_decref(m->rows);
        m->rows = NULL;
    }
    return rv;
}

static apr_status_t list(messages_call_t *m, const char *interest, sql_statement_t *sql)
{
    apr_status_t rv;

    if (!m->sql.db->host->create_interest(m->sql.call, interest)) {
        return APR_SUCCESS;
    }
    rv = sql_conn_take(&m->sql);
    if (rv == APR_SUCCESS) {
        rv = show_list(m, sql);
    }
    return rv;
}

apr_status_t messages_get_channels(messages_call_t *m)
{
    return list(m, MESSAGES_CHANNELS,
                sql_statement(&m->sql,
                              "Select {$c.name channel},{l.n subscribers},{l.mine subscribed},{l.made own} FROM"
                              " vault_message_channels AS c JOIN (Select d.id,COUNT(s.user_id) AS n"
                              ",SUM(CASE WHEN u.name=%s THEN 1 ELSE 0 END) AS mine"
                              ",MAX(CASE WHEN o.name=%s THEN 1 ELSE 0 END) AS made"
                              " FROM vault_message_channels AS d"
                              " LEFT JOIN vault_message_subscriptions AS s ON s.channel_id=d.id"
                              " LEFT JOIN vault_message_users AS u ON u.id=s.user_id"
                              " LEFT JOIN vault_message_users AS o ON o.id=d.owner_id GROUP BY d.id) AS l"
                              " ON l.id=c.id ORDER BY c.name LIMIT %d",
                              m->user, m->user, (apr_int64_t)m->sql.db->rows));
}

/* Only subscribers may read the list: a user who is not subscribed gets an empty list. */
apr_status_t messages_get_subscribers(messages_call_t *m)
{
    return list(m, apr_pstrcat(m->sql.pool, MESSAGES_OF_CHANNEL, m->channel, NULL),
                sql_statement(&m->sql,
                              "Select {$u.name user} FROM vault_message_channels AS c"
                              " JOIN vault_message_subscriptions AS s ON s.channel_id=c.id"
                              " JOIN vault_message_users AS u ON u.id=s.user_id WHERE c.name=%s AND EXISTS"
                              "(Select 1 FROM vault_message_subscriptions AS o JOIN vault_message_users AS v"
                              " ON v.id=o.user_id WHERE o.channel_id=c.id AND v.name=%s) ORDER BY u.name LIMIT %d",
                              m->channel, m->user, (apr_int64_t)m->sql.db->rows));
}
