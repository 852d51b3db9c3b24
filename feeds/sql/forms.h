/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file forms.h
 * Statements of a server that stay prepared on their connection: which these are.
 *
 * What tells statements apart is their *form*: the text with a placeholder for each value that can be bound. A
 * connection keeps the forms that it met last. One that is met for the first time runs as text: most of what varies
 * from use to use never comes again. When one that comes again is prepared, and how, is the driver's.
 *
 * One thread at a time, as the connection is.
 */
#ifndef SQL_FORMS_H
#define SQL_FORMS_H

#include "apr_time.h"

#include "sql/statement.h"

/** Forms that a connection keeps: a server spends up to some 100 KB on each that is prepared. */
#define SQL_FORMS 32
/** Bytes; a longer one is not kept. */
#define SQL_FORM_MAX 16384

typedef enum sql_form_e {
    SQL_FORM_MET,    /**< it has run as text */
    SQL_FORM_WANTED, /**< it came again: it is to be prepared */
    SQL_FORM_READY,  /**< the server has it prepared */
    SQL_FORM_UNFIT   /**< the server does not prepare it */
} sql_form_e;

typedef struct sql_form_t {
    char *text; /**< NULL: none is here */
    apr_size_t length;
    sql_form_e state;
    void *statement;       /**< the driver's, over all forms that come to be here; NULL at first */
    apr_time_t asked_at;   /**< the driver's: when the server was last asked to prepare it */
    apr_uint64_t last_use; /**< the larger, the later */
} sql_form_t;

typedef struct sql_forms_t {
    sql_form_t at[SQL_FORMS];
    apr_uint64_t clock;
} sql_forms_t;

/** Append what stands for the value `i`, from 0 on, of `sql`. What is not the same to the server has to be another
 * text. */
typedef void (*sql_placeholder_fn)(sql_statement_t *form, const sql_statement_t *sql, int i);

/** The form of `sql`, as it was when it was met last; a new one takes the place of that which was used longest ago.
 * @return NULL: it is too long, or there is no memory */
sql_form_t *sql_forms_meet(sql_forms_t *forms, const sql_statement_t *sql, sql_placeholder_fn placeholder);

/** sql_driver_t::forget, of forms that are conn->prepared. The server forgets by itself, as the connection ends. */
void sql_forms_forget(sql_conn_t *conn);

#endif
