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

/** In what the databases differ for this feed. */
struct messages_dialect_t {
    const char *driver;        /**< sql_driver_t::name */
    const char *session;       /**< first statement of each connection; NULL: none */
    const char *table_lock;    /**< lets one at a time make tables, %d: seconds; NULL: the transaction does */
    const char *table_unlock;  /**< the end of that, after the commit; NULL: the commit is */
    const char *lock;          /**< end of a query that locks what it finds until the transaction is over */
    const char *insert_new;    /**< "INSERT INTO ", of a row that may be there already */
    const char *insert_end;    /**< and how it ends */
    const char *const *make;   /**< statements that make the tables that are missing; ends with NULL */
    const char *const *extend; /**< statements that add the columns that came later; ends with NULL */
};

/** The row for this driver. */
const messages_dialect_t *messages_dialect(const sql_driver_t *driver);

/** sql_database_t::connected: makes the tables when there are none, and has their changes recorded. */
apr_status_t messages_connected(sql_call_t *c);

/** Run it, a query, and get its rows: objects by the names of the cells.
 * @param most  leave out what comes after so many
 * @param rows  an array, freed with c->pool */
apr_status_t messages_fetch(sql_call_t *c, sql_statement_t *sql, int most, const json_t **rows);

/** The same for a whole statement, a format of sql_statement. */
apr_status_t messages_select(sql_call_t *c, const json_t **rows, int most, const char *statement, ...);
/** Of one row. @param row  NULL: there is none */
apr_status_t messages_select_row(sql_call_t *c, const json_t **row, const char *statement, ...);

/** What `select` counts: "Select COUNT(*) AS n …", with a hole for `id` or none. */
apr_status_t messages_count(messages_call_t *m, const char *select, apr_int64_t id, apr_int64_t *n);

apr_int64_t messages_integer(const json_t *row, const char *name);
/** NULL: it is NULL */
const char *messages_string(const json_t *row, const char *name);

typedef apr_status_t (*messages_body_fn)(messages_call_t *m);

/** Take a connection, run `body` in a transaction, and give the connection back. If m->changes, then wait until the
 * tailer has notified pages, as long as a writer waits for it (shared.h).
 * @return what `body` returned, and then nothing was changed; else as sql_conn_query */
apr_status_t messages_transaction(messages_call_t *m, messages_body_fn body);

#endif
