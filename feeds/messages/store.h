/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file store.h
 * The tables of the feed, statements on them, and transactions.
 */
#ifndef MESSAGES_STORE_H
#define MESSAGES_STORE_H

#include "messages/messages.h"
#include "sql/statement.h"

/** The tables whose changes are recorded (touch.h). */
#define MESSAGES_TABLE_CHANNELS "vault_message_channels"
#define MESSAGES_TABLE_SUBSCRIPTIONS "vault_message_subscriptions"

/** The differences between the databases for this feed. */
struct messages_dialect_t {
    const char *driver;  /**< sql_driver_t::name */
    const char *session; /**< first statement of each connection; NULL: none */
    /** lets one connection at a time create tables, %d: seconds; NULL: the transaction does */
    const char *table_lock;
    const char *table_unlock;  /**< releases that lock, after the commit; NULL: the commit does */
    const char *lock;          /**< the end of a query that locks its rows until the end of the transaction */
    const char *insert_new;    /**< the beginning of an INSERT of a row that may exist */
    const char *insert_end;    /**< the end of that INSERT */
    const char *const *make;   /**< statements that create missing tables; ends with NULL */
    const char *const *extend; /**< statements that add later columns; ends with NULL */
};

/** The row for this driver. */
const messages_dialect_t *messages_dialect(const sql_driver_t *driver);

/** sql_database_t::connected: creates missing tables, and has their changes recorded. */
apr_status_t messages_connected(sql_call_t *c);

/** Run a query, and return its rows: objects by the names of the cells.
 * @param most  the most rows; later rows are left out
 * @param rows  an array, freed with c->pool */
apr_status_t messages_fetch(sql_call_t *c, sql_statement_t *sql, int most, const json_t **rows);

/** The same for a whole statement, in the format of sql_statement(). */
apr_status_t messages_select(sql_call_t *c, const json_t **rows, int most, const char *statement, ...);
/** The same for one row. @param row  NULL: there is none */
apr_status_t messages_select_row(sql_call_t *c, const json_t **row, const char *statement, ...);

/** The result of a `select` that counts: "Select COUNT(*) AS n …", with a placeholder for `id` or without. */
apr_status_t messages_count(messages_call_t *m, const char *select, apr_int64_t id, apr_int64_t *n);

apr_int64_t messages_integer(const json_t *row, const char *name);
/** @return NULL: the value is NULL */
const char *messages_string(const json_t *row, const char *name);

typedef apr_status_t (*messages_body_fn)(messages_call_t *m);

/** Take a connection, run `body` in a transaction, and give the connection back. If m->changes, then wait until the
 * tailer has notified pages, as long as a writer waits for it (shared.h).
 * @return the status of `body`, and then nothing was changed; otherwise as sql_conn_query() */
apr_status_t messages_transaction(messages_call_t *m, messages_body_fn body);

#endif
