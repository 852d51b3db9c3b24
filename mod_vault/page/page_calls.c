/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the results of external feed calls with the page. An application that renders a method or a page runs in
 * another process. Its feed calls arrive as separate requests, usually in another child. The page's record holds their
 * results until the run takes them.
 *
 * A run is open from when httpd forwards the request to the application until the application has answered. Each run
 * has a number that the page never uses again. A late call for a run that was given up therefore finds another number
 * or none, and changes nothing. A run is closed by its own request, by a newer poll, by an acknowledgement or a write
 * that voids its round, by the sweep after its child has died, or when the page is removed.
 */
#include "page/page_record.h"

#include <string.h>

#include "apr_strings.h"

#include "base/now.h"
#include "mod_vault/vault.h"

#define AT(array, type, i) (&((type *)(array)->elts)[i])

/* ------------------------------------------------------------------- the run's */

void vault_page_record_close(vault_pages_t *p, vault_page_record_t *rec)
{
    /* first, because a process killed here must not leave results without a run */
    vault_page_record_free(p, rec, &rec->calls);
    vault_store(&rec->calls_open, VAULT_CALLS_CLOSED);
    rec->calls_failed = 0;
}

void vault_page_record_void_run(vault_pages_t *p, vault_page_record_t *rec)
{
    if (vault_load(&rec->calls_open) != VAULT_CALLS_VIEW) {
        vault_page_record_close(p, rec);
    }
}

static void open_locked(vault_pages_t *p, vault_page_record_t *rec, vault_calls_t *calls, apr_uint32_t method)
{
    vault_page_record_close(p, rec);
    rec->calls_key = calls->key;
    calls->run = ++rec->calls_run;
    vault_store(&rec->calls_open, method);
}

apr_status_t vault_page_calls_open(vault_pages_t *p, vault_calls_t *calls, const vault_ticket_t *ticket, int method)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, &ticket->page);
    apr_status_t rv = APR_SUCCESS;

    if (!rec) {
        return APR_NOTFOUND;
    }
    calls->page = ticket->page;
    if (rec->fence != ticket->fence || rec->written != ticket->written) {
        rv = APR_ECONNABORTED;
    }
    else {
        open_locked(p, rec, calls, VAULT_CALLS_METHOD + (apr_uint32_t)method);
    }
    vault_lock_release(&rec->lock);
    return rv;
}

apr_status_t vault_page_calls_open_view(vault_pages_t *p, vault_calls_t *calls, const vault_page_t *page)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);

    if (!rec) {
        return APR_NOTFOUND;
    }
    calls->page = *page;
    open_locked(p, rec, calls, VAULT_CALLS_VIEW);
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

/* Lock and return the record if the run is open. The run of a method whose child has died counts as closed. */
static apr_status_t lock_open(vault_pages_t *p, const vault_calls_t *calls, vault_page_record_t **found)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, &calls->page);
    int open;

    if (!rec) {
        return APR_NOTFOUND;
    }
    open = rec->calls_open != VAULT_CALLS_CLOSED && rec->calls_run == calls->run && rec->calls_key == calls->key &&
           (rec->calls_open == VAULT_CALLS_VIEW || !vault_lease_is_expired(p->notifier, rec->lease));
    if (!open) {
        vault_lock_release(&rec->lock);
        return APR_ECONNABORTED;
    }
    *found = rec;
    return APR_SUCCESS;
}

apr_status_t vault_page_calls_close(vault_pages_t *p, const vault_calls_t *calls, vault_state_t **made,
                                    apr_pool_t *pool)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_open(p, calls, &rec);

    *made = NULL;
    if (rv != APR_SUCCESS) {
        return rv;
    }
    if (rec->calls && !(*made = vault_page_record_read(p, rec->calls, pool))) {
        rv = APR_EGENERAL;
    }
    if (rec->calls_failed) {
        rv = APR_EGENERAL;
    }
    vault_page_record_close(p, rec);
    vault_lock_release(&rec->lock);
    return rv;
}

/* ------------------------------------------------------------------ the calls' */

static apr_status_t read_locked(vault_pages_t *p, vault_page_record_t *rec, vault_calls_base_t *b, apr_pool_t *pool)
{
    const vault_off_t *head;
    int method = (int)(rec->calls_open - VAULT_CALLS_METHOD);

    b->user = rec->owner ? apr_pstrdup(pool, vault_heap_at(p->heap, rec->owner)) : NULL;
    b->client = rec->client;
    b->made = rec->calls ? vault_page_record_read(p, rec->calls, pool) : NULL;
    if (rec->calls && !b->made) {
        return APR_EGENERAL;
    }
    if (rec->calls_open == VAULT_CALLS_VIEW) {
        b->base = vault_state_create(pool);
        b->url = "";
        return APR_SUCCESS;
    }
    head = vault_page_chain_find(p, rec, rec->head);
    b->base = head ? vault_page_record_read(p, *head, pool) : NULL;
    if (!b->base || method >= b->base->methods->nelts) {
        return APR_EGENERAL;
    }
    b->url = AT(b->base->methods, vault_method_t, method)->url;
    return APR_SUCCESS;
}

apr_status_t vault_page_calls_read(vault_pages_t *p, const vault_calls_t *calls, vault_calls_base_t *b,
                                   apr_pool_t *pool)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_open(p, calls, &rec);

    if (rv == APR_SUCCESS) {
        rv = read_locked(p, rec, b, pool);
        vault_lock_release(&rec->lock);
    }
    return rv;
}

apr_status_t vault_page_calls_hold(vault_pages_t *p, const vault_calls_t *calls, const char *name,
                                   vault_interest_t *interest, apr_uint64_t *stamp)
{
    vault_eviction_t eviction = {.asks = calls->page.index, .now = vault_now()};
    vault_page_record_t *rec;
    vault_dep_t held = {0, 0};
    apr_status_t rv;

    do {
        if ((rv = lock_open(p, calls, &rec)) != APR_SUCCESS) {
            return rv;
        }
        rv = vault_page_record_hold(p, rec, name, &held, &eviction);
        vault_lock_release(&rec->lock);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    *interest = held.interest;
    *stamp = held.stamp;
    return rv;
}

apr_status_t vault_page_calls_fail(vault_pages_t *p, const vault_calls_t *calls)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_open(p, calls, &rec);

    if (rv == APR_SUCCESS) {
        rec->calls_failed = 1;
        vault_lock_release(&rec->lock);
    }
    return rv;
}

/* ---------------------------------------------------------------------- adding */

static apr_status_t merge_acks(vault_state_t *s, const apr_array_header_t *more)
{
    int i;

    for (i = 0; i < more->nelts; i++) {
        const vault_ack_t *a = AT(more, vault_ack_t, i);
        if (vault_acks_have(s->acks, a)) {
            continue;
        }
        if (s->acks->nelts >= VAULT_ACKS_MAX) {
            return APR_ENOSPC;
        }
        *(vault_ack_t *)apr_array_push(s->acks) = *a;
    }
    return APR_SUCCESS;
}

/* A cursor that exists already belongs to the same call, made before in this run. The page can continue from one of the
 * two only. */
static apr_status_t merge_cursors(vault_state_t *s, const apr_array_header_t *more)
{
    int i;

    for (i = 0; i < more->nelts; i++) {
        const vault_cursor_t *c = AT(more, vault_cursor_t, i);
        if (vault_state_cursor(s, c->scope, c->key)) {
            return APR_EEXIST;
        }
        *(vault_cursor_t *)apr_array_push(s->cursors) = *c;
    }
    return APR_SUCCESS;
}

/* @param s  the results that the run's calls have added so far */
static apr_status_t merge(vault_state_t *s, const vault_state_t *more)
{
    apr_status_t rv = merge_cursors(s, more->cursors);
    int i;

    if (rv != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < more->properties->nelts; i++) {
        const vault_property_t *w = AT(more->properties, vault_property_t, i);
        vault_state_set(s, w->key, w->value);
    }
    vault_deps_add_all(AT(s->methods, vault_method_t, 0)->deps, AT(more->methods, vault_method_t, 0)->deps);
    return merge_acks(s, more->acks);
}

static apr_status_t add_locked(vault_pages_t *p, vault_page_record_t *rec, const vault_state_t *made,
                               vault_eviction_t *eviction, apr_pool_t *pool)
{
    vault_state_t *before = rec->calls ? vault_page_record_read(p, rec->calls, pool) : NULL;
    vault_off_t old = rec->calls, block;
    apr_status_t rv;

    if (rec->calls && (!before || !before->methods->nelts || !AT(before->methods, vault_method_t, 0)->deps)) {
        return APR_EGENERAL;
    }
    if (before && (rv = merge(before, made)) != APR_SUCCESS) {
        return rv;
    }
    if (!(block = vault_page_record_store(p, rec, before ? before : made, eviction))) {
        return APR_ENOSPC;
    }
    vault_store(&rec->calls, block);
    vault_page_record_free_block(p, rec, old);
    return APR_SUCCESS;
}

apr_status_t vault_page_calls_add(vault_pages_t *p, const vault_calls_t *calls, const vault_state_t *made,
                                  apr_pool_t *pool)
{
    vault_eviction_t eviction = {.asks = calls->page.index, .now = vault_now()};
    vault_page_record_t *rec;
    apr_status_t rv;

    do {
        if ((rv = lock_open(p, calls, &rec)) != APR_SUCCESS) {
            return rv;
        }
        rv = add_locked(p, rec, made, &eviction, pool);
        vault_lock_release(&rec->lock);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}
