/* SPDX-License-Identifier: Apache-2.0 */
/* The methods: check the arguments, run the body, give the connection back. */
#include "messages/methods.h"

#include <string.h>

#include "messages/arguments.h"
#include "messages/store.h"
#include "sql/connection.h"

static apr_status_t run(void *self, vault_call_t *call, const json_t *args, json_t **rows, unsigned takes,
                        messages_body_fn body)
{
    messages_t *feed = self;
    messages_call_t m;
    apr_status_t rv;

    memset(&m, 0, sizeof(m));
    m.feed = feed;
    rv = sql_call_begin(&m.sql, &feed->log.sql, call, args);
    if (rv != APR_SUCCESS) {
        return rv;
    }
    rv = messages_arguments(&m, takes);
    if (rv == APR_SUCCESS) {
        rv = body(&m);
    }
    if (rv != APR_SUCCESS && rv != APR_EINVAL && rv != APR_EBUSY && m.sql.conn != NULL) {
        /* The tables may have been dropped: a new connection checks for them, and creates them. */
        m.sql.conn->broken = 1;
    }
    sql_call_end(&m.sql);
    if (rv != APR_SUCCESS) {
        json_decref(m.rows);
        m.rows = NULL;
    }
    *rows = m.rows;
    return rv;
}

#define METHOD(name, takes, body)                                                                                      \
    static apr_status_t name##_cb(void *self, vault_call_t *call, const json_t *args, json_t **rows)                   \
    {                                                                                                                  \
        return run(self, call, args, rows, takes, body);                                                               \
    }

METHOD(create_user, 0, messages_create_user)
METHOD(create_channel, MESSAGES_CHANNEL, messages_create_channel)
METHOD(delete_channel, MESSAGES_CHANNEL, messages_delete_channel)
METHOD(subscribe, MESSAGES_CHANNEL | MESSAGES_HISTORY, messages_subscribe)
METHOD(unsubscribe, MESSAGES_CHANNEL, messages_unsubscribe)
METHOD(get_channels, 0, messages_get_channels)
METHOD(get_subscribers, MESSAGES_CHANNEL, messages_get_subscribers)
METHOD(post_message, MESSAGES_CHANNEL | MESSAGES_TEXT | MESSAGES_ONCE, messages_post)
METHOD(get_new_messages, MESSAGES_IN | MESSAGES_LIMIT, messages_get_new)

const vault_feed_method_t messages_methods[] = {
    {"create_user", VAULT_METHOD_WRITES, create_user_cb},
    {"create_channel", VAULT_METHOD_WRITES, create_channel_cb},
    {"delete_channel", VAULT_METHOD_WRITES, delete_channel_cb},
    {"subscribe", VAULT_METHOD_WRITES, subscribe_cb},
    {"unsubscribe", VAULT_METHOD_WRITES, unsubscribe_cb},
    {"get_channels", 0, get_channels_cb},
    {"get_subscribers", 0, get_subscribers_cb},
    {"post_message", VAULT_METHOD_WRITES, post_message_cb},
    {"get_new_messages", 0, get_new_messages_cb},
    {NULL, 0, NULL},
};
