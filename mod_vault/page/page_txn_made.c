/* SPDX-License-Identifier: Apache-2.0 */
/* A transaction over a page's state: the results of the current method by themselves, and those of external calls
 * (page_calls.h), parts and kept outputs, which it takes over. */
#include "page/page_txn_inside.h"

#include <string.h>

#include "apr_strings.h"

vault_state_t *vault_page_txn_made(const vault_page_txn_t *txn)
{
    vault_state_t *made = vault_state_create(txn->pool);
    vault_method_t *m = apr_array_push(made->methods);
    int i;

    memset(m, 0, sizeof(*m));
    m->url = txn->url;
    m->deps = txn->deps;
    made->cursors = txn->cursors;
    made->acks = txn->acks;
    for (i = 0; i < txn->writes->nelts; i++) {
        const vault_property_t *w = AT(txn->writes, vault_property_t, i);
        vault_state_set(made, w->key, w->value ? apr_pstrcat(txn->pool, "=", w->value, NULL) : "");
    }
    return made;
}

static int is_same(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

int vault_page_txn_may_take(const vault_page_txn_t *txn, const vault_state_t *made)
{
    const vault_cursor_t *c, *own;
    int i;

    for (i = 0; i < made->cursors->nelts; i++) {
        c = AT(made->cursors, vault_cursor_t, i);
        if ((own = vault_txn_find_captured(txn, c->key)) && !is_same(own->value, c->value)) {
            return 0;
        }
    }
    return 1;
}

/* If the method has made the same call itself, both results are shown. They are the same if both got to the same
 * position. Otherwise the page could continue from only one of them, so the method fails. */
static void take_cursor(vault_page_txn_t *txn, const vault_cursor_t *made)
{
    vault_cursor_t *c = vault_txn_find_captured(txn, made->key);

    if (c && !is_same(c->value, made->value)) {
        vault_page_txn_fail(txn, VAULT_TXN_SAME_CALL);
        return;
    }
    if (c) {
        vault_deps_add_all(c->deps, made->deps);
        return;
    }
    c = apr_array_push(txn->cursors);
    *c = *made;
    c->scope = txn->url;
}

void vault_page_txn_take(vault_page_txn_t *txn, const vault_state_t *made)
{
    int i;

    for (i = 0; i < made->cursors->nelts; i++) {
        take_cursor(txn, AT(made->cursors, vault_cursor_t, i));
    }
    for (i = 0; i < made->methods->nelts; i++) {
        vault_deps_add_all(txn->deps, AT(made->methods, vault_method_t, i)->deps);
    }
    for (i = 0; i < made->properties->nelts; i++) {
        const vault_property_t *w = AT(made->properties, vault_property_t, i);
        if (!vault_txn_find_write(txn, w->key)) { /* the headers of the response override the calls */
            vault_page_txn_set(txn, w->key, w->value[0] ? w->value + 1 : NULL);
        }
    }
    for (i = 0; i < made->acks->nelts; i++) {
        vault_page_txn_on_ack(txn, AT(made->acks, vault_ack_t, i)->feed, AT(made->acks, vault_ack_t, i)->data);
    }
}

/* ------------------------------------------------------------------ parts */

void vault_page_txn_enter_part(vault_page_txn_t *txn, vault_page_txn_outer_t *outer)
{
    *outer = (vault_page_txn_outer_t){txn->deps, txn->cursors, txn->writes, txn->acks, txn->answers};
    vault_txn_begin_overlay(txn);
}

vault_state_t *vault_page_txn_leave_part(vault_page_txn_t *txn, const vault_page_txn_outer_t *outer)
{
    vault_state_t *made = vault_page_txn_made(txn);

    apr_array_cat(outer->answers, txn->answers);
    txn->deps = outer->deps;
    txn->cursors = outer->cursors;
    txn->writes = outer->writes;
    txn->acks = outer->acks;
    txn->answers = outer->answers;
    vault_page_txn_take(txn, made);
    return made;
}
