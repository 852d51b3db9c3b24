/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file messages.h
 * What the files of the messages feed share: the configured feed, and one call of it. feeds/sql has the database, and
 * feeds/log the log of its changes.
 *
 *   feed.c       descriptor and parameters
 *   methods.c    the methods that a page or an application may call, and for which user
 *   arguments.c  checks the arguments of a call
 *   members.c    users, and their subscriptions
 *   channels.c   channels: created, deleted by their owner, removed when they are idle and empty
 *   post.c       posts a message to all subscribers of a channel, in one transaction
 *   read.c       the messages that are new to a page
 *   touch.c      which interests a recorded change touches
 *   store.c      the tables, statements on them, transactions
 *
 * Each user has a serial number, which the transaction that delivers a message increases by one. The row of the user is
 * locked from then to the commit, so serials become visible in order and without a gap: a page that has seen 7 has got
 * all messages up to 7. All transactions lock in the same order: the channel first, then users by their ids.
 *
 * The tailer (tailer.h) of each server notifies pages of what any program has committed. A page reads its new messages
 * by SQL: its cursor is a serial, and its rows are joined from three tables, of which the ring would have copies.
 *
 * A channel belongs to the user who created it. The limit of channels for each owner is exact: the row of the owner is
 * locked from the count to the commit. A channel that was created by the administrator, or by an earlier version of
 * this feed, has no owner.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "apr_tables.h"

#include "log/change_log.h"

/** The longest name of a user or a channel, in bytes: the interests that contain it must not be too long. */
#define MESSAGES_NAME_MAX 180

/** The limits of the feed, each a parameter of VaultFeed. */
typedef struct messages_limits_t {
    int message_bytes; /**< of one message */
    int keep;          /**< messages that are kept for each user, and for each channel */
    int users;
    int channels;
    int owner_channels; /**< made by one user */
    int idle;           /**< hours that a channel without subscribers and messages is kept */
    int user_channels;  /**< the most subscriptions of one user */
    int subscribers;    /**< the most subscribers of one channel */
    /** the most actions of a user in a minute of the clock: messages, channels created, subscriptions ended */
    int rate;
} messages_limits_t;

typedef struct messages_dialect_t messages_dialect_t;

/** A VaultFeed of this kind. `log` is its first field, so the `db` of a sql_call_t points to the feed too. */
typedef struct messages_t {
    change_log_t log;         /* const after open */
    messages_limits_t limits; /* const after open */
    int anonymous;            /* const after open: requests without an authenticated user may name one */
    const char *admin;        /* const after open: an authenticated user who may delete any channel; "": none */
    const messages_dialect_t *dialect; /* const after open */
} messages_t;

/** One call of a method, on the thread that runs it. `sql` is its first field. */
typedef struct messages_call_t {
    sql_call_t sql;
    const messages_t *feed;
    const char *user;     /**< the user for whom the call is made */
    int is_admin;         /**< httpd authenticated the user that the parameter `admin` names */
    const char *channel;  /**< argument; NULL: not given */
    const char *text;     /**< argument */
    const char *once;     /**< argument; NULL: not given */
    int limit;            /**< argument: `limit` or `history`; 0: not given */
    apr_status_t refused; /**< the status of a transaction that was committed although the call is refused */
    int changes;          /**< the transaction changes what pages show */
    json_t *rows;         /**< the result */
} messages_call_t;

#endif
