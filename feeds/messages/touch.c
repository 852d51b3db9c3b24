/* SPDX-License-Identifier: Apache-2.0 */
/* Which interests a recorded change touches: see touch.h. */
#include "messages/touch.h"

#include <limits.h>
#include <string.h>

#include "apr_strings.h"

#include "messages/methods.h"
#include "messages/store.h"

static void touch(log_touched_t *touched, const char *interest, const char *name)
{
    log_touched_name(touched, apr_pstrcat(touched->pool, interest, name, NULL));
}

static void touch_lists(log_touched_t *touched, const char *channel)
{
    touch(touched, MESSAGES_CHANNELS, "");
    touch(touched, MESSAGES_OF_CHANNEL, channel);
}

/* Many messages of a channel, or changes of its subscriptions, are often read at once: one query is enough for all of
 * them. */
static int is_first(log_touched_t *touched, const char *what, apr_int64_t id)
{
    const char *key = apr_psprintf(touched->pool, "%s %" APR_INT64_T_FMT, what, id);

    if (apr_hash_get(touched->asked, key, APR_HASH_KEY_STRING) != NULL) {
        return 0;
    }
    apr_hash_set(touched->asked, key, APR_HASH_KEY_STRING, key);
    return 1;
}

/* ------------------------------------------------------------ channels */

static apr_status_t touch_subscribers(sql_call_t *c, log_touched_t *touched, apr_int64_t channel)
{
    const json_t *rows = NULL;
    const json_t *row;
    size_t i;
    apr_status_t rv = APR_SUCCESS;

    if (is_first(touched, "subscribers", channel)) {
        rv = messages_select(c, &rows, INT_MAX,
                             "Select {$u.name} FROM vault_message_subscriptions AS s"
                             " JOIN vault_message_users AS u ON u.id=s.user_id WHERE s.channel_id=%d",
                             channel);
    }
    json_array_foreach(rows, i, row)
    {
        touch(touched, MESSAGES_OF_USER, messages_string(row, "name"));
    }
    return rv;
}

static int is_same(const json_t *old, const json_t *new, const char *column)
{
    return json_equal(json_object_get(old, column), json_object_get(new, column));
}

static apr_status_t touch_channel(sql_call_t *c, log_touched_t *touched, const json_t *old, const json_t *new)
{
    const int is_listed_anew = !is_same(old, new, "name") || !is_same(old, new, "owner_id");

    if (is_listed_anew && json_is_object(old)) {
        touch_lists(touched, messages_string(old, "name"));
    }
    if (is_listed_anew && json_is_object(new)) {
        touch_lists(touched, messages_string(new, "name"));
    }
    return json_is_object(new) && !is_same(old, new, "serial")
               ? touch_subscribers(c, touched, messages_integer(new, "id"))
               : APR_SUCCESS;
}

/* ------------------------------------------------------------ subscriptions */

/* If the channel was deleted, that is a recorded change of its own. */
static apr_status_t touch_lists_of(sql_call_t *c, log_touched_t *touched, apr_int64_t channel)
{
    const json_t *row = NULL;
    apr_status_t rv = APR_SUCCESS;

    if (is_first(touched, "channel", channel)) {
        rv = messages_select_row(c, &row, "Select {$c.name} FROM vault_message_channels AS c WHERE c.id=%d", channel);
    }
    if (row != NULL) {
        touch_lists(touched, messages_string(row, "name"));
    }
    return rv;
}

static apr_status_t touch_user(sql_call_t *c, log_touched_t *touched, apr_int64_t user)
{
    const json_t *row = NULL;
    apr_status_t rv = APR_SUCCESS;

    if (is_first(touched, "user", user)) {
        rv = messages_select_row(c, &row, "Select {$u.name} FROM vault_message_users AS u WHERE u.id=%d", user);
    }
    if (row != NULL) {
        touch(touched, MESSAGES_OF_USER, messages_string(row, "name"));
    }
    return rv;
}

static apr_status_t touch_subscription(sql_call_t *c, log_touched_t *touched, const json_t *row)
{
    apr_status_t rv = APR_SUCCESS;

    if (json_is_object(row)) {
        rv = touch_lists_of(c, touched, messages_integer(row, "channel_id"));
    }
    return json_is_object(row) && rv == APR_SUCCESS ? touch_user(c, touched, messages_integer(row, "user_id")) : rv;
}

/* ------------------------------------------------------------ any change */

apr_status_t messages_touch(sql_call_t *c, log_touched_t *touched, const char *table, const json_t *change)
{
    const json_t *old = json_object_get(change, "old");
    const json_t *new = json_object_get(change, "new");
    apr_status_t rv;

    /* It is unknown what was changed, or the table is watched anew. */
    if (!json_is_object(old) && !json_is_object(new)) {
        log_touched_all(touched);
        return APR_SUCCESS;
    }
    if (strcmp(table, MESSAGES_TABLE_CHANNELS) == 0) {
        return touch_channel(c, touched, old, new);
    }
    rv = touch_subscription(c, touched, old);
    return rv == APR_SUCCESS ? touch_subscription(c, touched, new) : rv;
}
