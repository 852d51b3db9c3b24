/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file messages.h
 * What the files of the messages feed share: the feed as configured, and one call of it. The database itself is
 * feeds/sql's, the log of its changes feeds/log's.
 *
 * feed.c       descriptor and parameters
 * methods.c    what a page or an application may ask, and on whose behalf
 * arguments.c  the arguments of a call, checked
 * members.c    users, and who is subscribed to what
 * channels.c   channels: made, deleted by their owner, removed when they are idle and empty
 * post.c       a message to all subscribers of a channel, in one transaction
 * read.c       the messages that are new to a page
 * touch.c      which interests a recorded change touches
 * store.c      the tables, statements on them, transactions
 *
 * Each user has a serial number, raised by one for each message in the transaction that delivers it. The row of the
 * user is locked from there to the commit, so serials become visible in their order and without a gap: a page that has
 * seen 7 has been given all up to 7. All who lock, lock in one order: the channel first, then users by their ids.
 *
 * Pages are notified by the tailer (tailer.h) of each server, of what is committed by any program. A page reads by
 * SQL what is new to it: its cursor is a serial, and what it shows is joined from three tables, of which the ring
 * would have copies.
 *
 * A channel belongs to the user who made it. The limit of channels per owner is exact: the row of the owner is
 * locked from the count to the commit. A channel that the administrator made, or an earlier version of this feed,
 * has no owner.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "apr_tables.h"

#include "log/change_log.h"

/** The longest name of a user or a channel, in bytes, so that every interest of it has a name that is short enough. */
#define MESSAGES_NAME_MAX 180

/** The limits of the feed, each a parameter of VaultFeed. */
typedef struct messages_limits_t {
    int message_bytes; /**< of one message */
    int keep;          /**< messages for each user, and for each channel */
    int users;
    int channels;
    int owner_channels; /**< made by one user */
    int idle;           /**< hours that a channel without subscribers and messages is kept */
    int user_channels;  /**< subscriptions of one user */
    int subscribers;    /**< of one channel */
    int rate;           /**< of a user in a minute of the clock: messages, channels made, subscriptions ended */
} messages_limits_t;

typedef struct messages_dialect_t messages_dialect_t;

/** A VaultFeed of this kind. `log` is its first field: a sql_call_t's `db` is the feed, too. */
typedef struct messages_t {
    change_log_t log;         /* const after open */
    messages_limits_t limits; /* const after open */
    int anonymous;            /* const after open: requests without a user may name one */
    const char *admin;        /* const after open: an authenticated user who may delete any channel; "": none */
    const messages_dialect_t *dialect; /* const after open */
} messages_t;

/** One call of a method, on the thread that runs it. `sql` is its first field. */
typedef struct messages_call_t {
    sql_call_t sql;
    const messages_t *feed;
    const char *user;     /**< on whose behalf */
    int is_admin;         /**< httpd authenticated the user that the parameter `admin` names */
    const char *channel;  /**< argument; NULL: not given */
    const char *text;     /**< argument */
    const char *once;     /**< argument; NULL: not given */
    int limit;            /**< argument: `limit` or `history`; 0: not given */
    apr_status_t refused; /**< the answer of a transaction that was committed all the same */
    int changes;          /**< the transaction changes what pages show */
    json_t *rows;         /**< the answer */
} messages_call_t;

#endif
