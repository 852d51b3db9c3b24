/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file forms.h
 * Which statements of a server stay prepared on their connection.
 *
 * Statements are told apart by their *form*: the text with a placeholder for each value that can be bound. A connection
 * keeps the forms that it used last. A new form runs as text, because most statements that vary are never used again.
 * The driver decides when and how it prepares a form that is used again.
 *
 * One thread at a time uses a connection with its forms.
 */
#ifndef SQL_FORMS_H
#define SQL_FORMS_H

#include "apr_time.h"

#include "sql/statement.h"

/** Forms that a connection keeps. A server needs up to about 100 KB for each prepared statement. */
#define SQL_FORMS 32
/** In bytes. A longer form is not kept. */
#define SQL_FORM_MAX 16384

typedef enum sql_form_e {
    SQL_FORM_MET,    /**< it has run as text */
    SQL_FORM_WANTED, /**< it was used again: prepare it */
    SQL_FORM_READY,  /**< the server has prepared it */
    SQL_FORM_UNFIT   /**< the server cannot prepare it */
} sql_form_e;

typedef struct sql_form_t {
    char *text; /**< NULL: the entry is free */
    apr_size_t length;
    sql_form_e state;
    void *statement;       /**< for the driver; kept when the entry gets another form; NULL at first */
    apr_time_t asked_at;   /**< for the driver: when the server was last asked to prepare it */
    apr_uint64_t last_use; /**< larger: later */
} sql_form_t;

typedef struct sql_forms_t {
    sql_form_t at[SQL_FORMS];
    apr_uint64_t clock;
} sql_forms_t;

/** Append the placeholder for the value `i`, from 0, of `sql`. Values that the server treats differently need different
 * placeholders. */
typedef void (*sql_placeholder_fn)(sql_statement_t *form, const sql_statement_t *sql, int i);

/** Find the form of `sql`. A new form replaces the one that was used longest ago.
 * @return NULL: it is too long, or there is no memory */
sql_form_t *sql_forms_meet(sql_forms_t *forms, const sql_statement_t *sql, sql_placeholder_fn placeholder);

/** sql_driver_t::forget for forms in conn->prepared. The server frees its part when the connection ends. */
void sql_forms_forget(sql_conn_t *conn);

#endif
