/* SPDX-License-Identifier: Apache-2.0 */
/* A transaction over a page's state. `next` is the state under construction. The current method writes into an
 * overlay, which is merged into `next` if the method succeeds and discarded if it fails.
 */
#include "page/page_txn_inside.h"

#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"

#define REFUSAL_FIRST 30 /* seconds */

/* Copies the arrays but not what they point to, which is never changed. The acknowledgements to report belong
 * to one state only, so they are not copied. */
static vault_state_t *copy_state(const vault_state_t *s, apr_pool_t *pool)
{
    vault_state_t *copy = vault_state_create(pool);

    copy->seq = s->seq;
    copy->properties = apr_array_copy(pool, s->properties);
    copy->cursors = apr_array_copy(pool, s->cursors);
    copy->methods = apr_array_copy(pool, s->methods);
    return copy;
}

vault_page_txn_t *vault_page_txn_create(vault_pages_t *pages, const vault_page_t *page, const vault_state_t *base,
                                        apr_pool_t *pool)
{
    vault_page_txn_t *txn = apr_pcalloc(pool, sizeof(*txn));

    txn->pages = pages;
    txn->page = *page;
    txn->base = base;
    txn->next = copy_state(base, pool);
    txn->pool = pool;
    vault_page_txn_begin(txn, "");
    return txn;
}

vault_page_txn_t *vault_page_txn_create_call(vault_pages_t *pages, const vault_calls_t *calls,
                                             const vault_calls_base_t *b, apr_pool_t *pool)
{
    vault_page_txn_t *txn = vault_page_txn_create(pages, &calls->page, b->base, pool);

    txn->calls = calls;
    vault_page_txn_begin(txn, b->url);
    return txn;
}

const vault_state_t *vault_page_txn_base(const vault_page_txn_t *txn)
{
    return txn->base;
}

void vault_page_txn_carry_acks(vault_page_txn_t *txn)
{
    txn->next->acks = apr_array_copy(txn->pool, txn->base->acks);
}

void vault_page_txn_saw(vault_page_txn_t *txn, const apr_array_header_t *seen)
{
    txn->seen = seen;
}

void vault_txn_begin_overlay(vault_page_txn_t *txn)
{
    txn->deps = apr_array_make(txn->pool, 2, sizeof(vault_dep_t));
    txn->cursors = apr_array_make(txn->pool, 1, sizeof(vault_cursor_t));
    txn->writes = apr_array_make(txn->pool, 1, sizeof(vault_property_t));
    txn->acks = apr_array_make(txn->pool, 1, sizeof(vault_ack_t));
    txn->answers = apr_array_make(txn->pool, 1, sizeof(vault_txn_answer_t));
}

void vault_page_txn_begin(vault_page_txn_t *txn, const char *url)
{
    txn->url = url;
    txn->failed = NULL;
    txn->expected = NULL;
    txn->shared = 0;
    txn->personal = VAULT_PERSONAL_NOT;
    vault_txn_begin_overlay(txn);
}

const char *vault_page_txn_url(const vault_page_txn_t *txn)
{
    return txn->url;
}

void vault_page_txn_fail(vault_page_txn_t *txn, const char *reason)
{
    if (!txn->failed) {
        txn->failed = apr_pstrdup(txn->pool, reason);
    }
}

void vault_page_txn_share(vault_page_txn_t *txn, int shared, vault_personal_t personal)
{
    txn->shared = shared != 0;
    txn->personal = personal;
}

const char *vault_page_txn_failed(const vault_page_txn_t *txn)
{
    return txn->failed;
}

/* ------------------------------------------------------------------ merging */

static void merge_cursor(vault_page_txn_t *txn, const vault_cursor_t *made)
{
    vault_cursor_t *c = vault_state_cursor(txn->next, made->scope, made->key);

    if (!c) {
        c = apr_array_push(txn->next->cursors);
        *c = *made;
        return;
    }
    c->deps = made->deps;
    if (made->value) {
        c->value = made->value;
    }
}

static void merge_method(vault_page_txn_t *txn)
{
    vault_method_t *m = vault_state_method(txn->next, txn->url);

    if (m) {
        m->deps = txn->deps;
        memset(&m->refusal, 0, sizeof(m->refusal));
        m->shared += (apr_uint32_t)txn->shared;
        m->personal = txn->personal;
    }
}

/* If two methods have shown the same data, the feed gets one report. */
static void merge_ack(vault_page_txn_t *txn, const vault_ack_t *made)
{
    if (!vault_acks_have(txn->next->acks, made)) {
        *(vault_ack_t *)apr_array_push(txn->next->acks) = *made;
    }
}

int vault_page_txn_end(vault_page_txn_t *txn, int ok)
{
    int i;

    if (!ok) {
        vault_page_txn_fail(txn, "it failed");
    }
    if (!txn->failed) {
        for (i = 0; i < txn->writes->nelts; i++) {
            vault_property_t *w = AT(txn->writes, vault_property_t, i);
            vault_state_set(txn->next, w->key, w->value);
        }
        for (i = 0; i < txn->cursors->nelts; i++) {
            merge_cursor(txn, AT(txn->cursors, vault_cursor_t, i));
        }
        for (i = 0; i < txn->acks->nelts; i++) {
            merge_ack(txn, AT(txn->acks, vault_ack_t, i));
        }
        merge_method(txn);
    }
    return txn->failed == NULL;
}

/* The method keeps its interests and stamps, so when it succeeds again it finds all changes since. */
void vault_page_txn_refuse(vault_page_txn_t *txn, unsigned status, apr_time_t now)
{
    vault_method_t *m = vault_state_method(txn->next, txn->url);
    unsigned twice = m ? 2 * m->refusal.seconds : 0;

    if (m) {
        m->refusal.status = status;
        m->refusal.seconds = !twice ? REFUSAL_FIRST : twice < VAULT_REFUSAL_MOST ? twice : VAULT_REFUSAL_MOST;
        m->refusal.until = now + apr_time_from_sec(m->refusal.seconds);
    }
}

int vault_page_txn_is_refused(const vault_page_txn_t *txn, unsigned status)
{
    const vault_method_t *m = vault_state_method(txn->base, txn->url);

    return m && m->refusal.status == status;
}

vault_state_t *vault_page_txn_state(vault_page_txn_t *txn)
{
    return txn->next;
}

/* ------------------------------------------------------------------ methods */

apr_status_t vault_page_txn_add_method(vault_page_txn_t *txn, const char *url, int max)
{
    vault_method_t *m;

    if (vault_state_method(txn->next, url)) {
        return APR_SUCCESS;
    }
    if (txn->next->methods->nelts >= max) {
        return APR_ENOSPC;
    }
    m = apr_array_push(txn->next->methods);
    memset(m, 0, sizeof(*m));
    m->url = apr_pstrdup(txn->pool, url);
    return APR_SUCCESS;
}

void vault_page_txn_remove_method(vault_page_txn_t *txn, const char *url)
{
    vault_method_t *m = vault_state_method(txn->next, url);

    if (m) {
        *m = *AT(txn->next->methods, vault_method_t, txn->next->methods->nelts - 1);
        apr_array_pop(txn->next->methods);
    }
}

/* The order of the methods has no other meaning, so it can say which method runs next. */
void vault_page_txn_begin_with(vault_page_txn_t *txn, const char *url)
{
    apr_array_header_t *methods = txn->next->methods;
    vault_method_t first;

    if (!vault_state_method(txn->next, url)) {
        return;
    }
    while (strcmp(AT(methods, vault_method_t, 0)->url, url)) {
        first = *AT(methods, vault_method_t, 0);
        memmove(AT(methods, vault_method_t, 0), AT(methods, vault_method_t, 1),
                ((apr_size_t)methods->nelts - 1) * sizeof(first));
        *AT(methods, vault_method_t, methods->nelts - 1) = first;
    }
}

/* --------------------------------------------------------------- properties */

vault_property_t *vault_txn_find_write(const vault_page_txn_t *txn, const char *key)
{
    int i;

    for (i = 0; i < txn->writes->nelts; i++) {
        if (!strcmp(AT(txn->writes, vault_property_t, i)->key, key)) {
            return AT(txn->writes, vault_property_t, i);
        }
    }
    return NULL;
}

const char *vault_page_txn_get(const vault_page_txn_t *txn, const char *key)
{
    const vault_property_t *p = vault_txn_find_write(txn, key);

    if (!p) {
        p = vault_state_property(txn->base, key);
    }
    return p ? p->value : NULL;
}

apr_status_t vault_page_txn_set(vault_page_txn_t *txn, const char *key, const char *value)
{
    vault_property_t *w;

    if (!key[0] || strlen(key) > VAULT_PROPERTY_KEY_MAX || (value && strlen(value) > VAULT_PROPERTY_VALUE_MAX)) {
        return APR_EINVAL;
    }
    if (!(w = vault_txn_find_write(txn, key))) {
        w = apr_array_push(txn->writes);
        w->key = apr_pstrdup(txn->pool, key);
    }
    w->value = value ? apr_pstrdup(txn->pool, value) : NULL;
    return APR_SUCCESS;
}

apr_status_t vault_page_txn_on_ack(vault_page_txn_t *txn, const char *feed, const char *data)
{
    vault_ack_t *a;

    if (strlen(data) > VAULT_PROPERTY_VALUE_MAX) {
        vault_page_txn_fail(txn, "the data of its on_ack is too long");
        return APR_EINVAL;
    }
    if (vault_acks_have(txn->acks, &(vault_ack_t){feed, data})) {
        return APR_SUCCESS;
    }
    if (txn->acks->nelts >= VAULT_ACKS_MAX) {
        vault_page_txn_fail(txn, "it calls on_ack for too many data");
        return APR_ENOSPC;
    }
    a = apr_array_push(txn->acks);
    a->feed = apr_pstrdup(txn->pool, feed);
    a->data = apr_pstrdup(txn->pool, data);
    return APR_SUCCESS;
}

int vault_page_txn_has_written(const vault_page_txn_t *txn)
{
    return txn->writes->nelts > 0;
}
