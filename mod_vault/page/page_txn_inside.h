/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file page_txn_inside.h
 * The fields of a transaction, and helpers. Private to page_txn.c, page_txn_interests.c and page_txn_made.c.
 */
#ifndef VAULT_PAGE_TXN_INSIDE_H
#define VAULT_PAGE_TXN_INSIDE_H

#include "page/page_txn.h"

#define AT(array, type, i) (&((type *)(array)->elts)[i])

struct vault_page_txn_t {
    vault_pages_t *pages;
    vault_page_t page;
    const vault_calls_t *calls; /* NULL: not an external call */
    const vault_state_t *base;
    vault_state_t *next;
    const apr_array_header_t *seen; /* of vault_dep_t: stamps that were read before the transaction */
    apr_pool_t *pool;
    /* of the current method */
    const char *url;
    const char *failed;
    const apr_array_header_t *expected; /* of vault_dep_t: stamps that were read before the method */
    int shared;                         /* its output is that of another run */
    vault_personal_t personal;          /* why it is not */
    apr_array_header_t *deps;           /* of vault_dep_t: the interests that the method waits for */
    apr_array_header_t *cursors;        /* of vault_cursor_t: captured and set */
    apr_array_header_t *writes;         /* of vault_property_t; value NULL: removed */
    apr_array_header_t *acks;           /* of vault_ack_t: to be reported to feeds */
    apr_array_header_t *answers;        /* of vault_txn_answer_t */
};

/** Empty lists for what the current method does. */
void vault_txn_begin_overlay(vault_page_txn_t *txn);

/** What the current method has written for a property, or captured for a cursor; NULL: nothing. */
vault_property_t *vault_txn_find_write(const vault_page_txn_t *txn, const char *key);
vault_cursor_t *vault_txn_find_captured(const vault_page_txn_t *txn, const char *cursor);

#endif
