/* SPDX-License-Identifier: Apache-2.0 */
/* Changes a page from outside of its polls. All blocks are built before the first one is published, so that the
 * change takes effect as a whole or not at all. */
#include "page/page_record.h"

#include <string.h>

#include "base/now.h"
#include "mod_vault/vault.h"

/* The staged states and the base. */
#define PLACES (VAULT_PAGE_STAGED + 1)

#define AT(array, type, i) (&((type *)(array)->elts)[i])

/* The output of a method depends on the properties, too, so after a change of them every method counts as not
 * having seen its interests. It keeps the interests themselves. A refused method need not wait for its retry,
 * since a form of the page may have signed the visitor in. */
static void forget_runs(vault_state_t *s)
{
    int i, k;

    for (i = 0; i < s->methods->nelts; i++) {
        vault_method_t *m = AT(s->methods, vault_method_t, i);
        for (k = 0; m->deps && k < m->deps->nelts; k++) {
            AT(m->deps, vault_dep_t, k)->stamp = 0;
        }
        if (m->deps && !m->deps->nelts) {
            m->deps = NULL;
        }
        m->refusal.seconds = 0;
        m->refusal.until = 0;
    }
}

static int same_value(const vault_property_t *now, const char *value)
{
    return now && value ? !strcmp(now->value, value) : !now && !value;
}

/* @return 1: something has changed */
static int write_properties(vault_state_t *s, const apr_array_header_t *properties)
{
    int i, changed = 0;

    for (i = 0; properties && i < properties->nelts; i++) {
        const vault_property_t *w = AT(properties, vault_property_t, i);
        if (!same_value(vault_state_property(s, w->key), w->value)) {
            vault_state_set(s, w->key, w->value);
            changed = 1;
        }
    }
    if (changed) {
        forget_runs(s);
    }
    return changed;
}

static apr_status_t write_method(vault_state_t *s, const vault_write_t *write, int *changed)
{
    vault_method_t *m;

    if (!write->method || vault_state_method(s, write->method)) {
        return APR_SUCCESS;
    }
    if (s->methods->nelts >= write->max_methods) {
        return APR_ENOSPC;
    }
    m = apr_array_push(s->methods);
    memset(m, 0, sizeof(*m));
    m->url = write->method;
    *changed = 1;
    return APR_SUCCESS;
}

static void drop_cursors(vault_state_t *s, const char *scope)
{
    int i, kept = 0;

    for (i = 0; i < s->cursors->nelts; i++) {
        if (strcmp(AT(s->cursors, vault_cursor_t, i)->scope, scope)) {
            *AT(s->cursors, vault_cursor_t, kept++) = *AT(s->cursors, vault_cursor_t, i);
        }
    }
    s->cursors->nelts = kept;
}

/* @return 1: the method was there */
static int drop_method(vault_state_t *s, const char *url)
{
    vault_method_t *m = url ? vault_state_method(s, url) : NULL;

    if (!m) {
        return 0;
    }
    *m = *AT(s->methods, vault_method_t, s->methods->nelts - 1);
    apr_array_pop(s->methods);
    drop_cursors(s, url);
    return 1;
}

/* A change of one page. */
typedef struct writing_t {
    const vault_write_t *what;
    vault_page_record_t *rec; /* locked */
    vault_eviction_t *eviction;
    apr_pool_t *pool;
} writing_t;

/* Builds the replacement for `block`. @param made  0: nothing has changed */
static apr_status_t rewrite(vault_pages_t *p, vault_off_t block, writing_t *w, vault_off_t *made)
{
    const vault_write_t *write = w->what;
    vault_state_t *s = vault_page_record_read(p, block, w->pool);
    apr_status_t rv;
    int changed;

    if (!s) {
        return APR_EGENERAL;
    }
    changed = write_properties(s, write->properties) | drop_method(s, write->without);
    if ((rv = write_method(s, write, &changed)) != APR_SUCCESS || !changed) {
        return rv;
    }
    *made = vault_page_record_store(p, w->rec, s, w->eviction);
    if (!*made) {
        return APR_ENOSPC;
    }
    vault_state_number(vault_heap_at(p->heap, *made), s->seq, vault_state_from(vault_heap_at(p->heap, block)));
    return APR_SUCCESS;
}

static void replace(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place, vault_off_t made)
{
    vault_off_t old = *place;

    vault_store(place, made);
    vault_page_record_free_block(p, rec, old);
}

/* The slots of states, the base last: if the process is killed in between, no poll has seen the new base. */
static vault_off_t *place(vault_page_record_t *rec, unsigned i)
{
    return i < VAULT_PAGE_STAGED ? &rec->staged[i] : &rec->base;
}

static apr_status_t write_through(vault_pages_t *p, writing_t *w)
{
    vault_page_record_t *rec = w->rec;
    vault_off_t made[PLACES] = {0};
    apr_status_t rv = APR_SUCCESS;
    int changed = 0;
    unsigned i;

    for (i = 0; i < PLACES && rv == APR_SUCCESS; i++) {
        rv = *place(rec, i) ? rewrite(p, *place(rec, i), w, &made[i]) : APR_SUCCESS;
        changed |= made[i] != 0;
    }
    changed = changed && rv == APR_SUCCESS;
    if (changed) {
        vault_store(&rec->written, rec->written + 1);
        vault_page_record_close(p, rec);
        vault_notifier_notify_interest(p->notifier, rec->own, 0);
    }
    for (i = 0; i < PLACES; i++) {
        if (changed && made[i]) {
            replace(p, rec, place(rec, i), made[i]);
        }
        else {
            vault_page_record_free(p, rec, &made[i]);
        }
    }
    if (changed) {
        /* a round that holds others is void, and holds them again when it is repeated */
        vault_page_record_release_unnamed(p, rec);
    }
    return rv;
}

static apr_status_t lock_for(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                             vault_page_record_t **rec)
{
    apr_status_t rv;

    *rec = vault_page_record_lock_page(p, page);
    if (!*rec) {
        return APR_NOTFOUND;
    }
    rv = vault_page_record_admits(p, *rec, owner);
    if (rv == APR_SUCCESS && !(*rec)->base) {
        rv = APR_EAGAIN;
    }
    if (rv != APR_SUCCESS) {
        vault_lock_release(&(*rec)->lock);
    }
    return rv;
}

apr_status_t vault_page_record_write(vault_pages_t *p, vault_page_record_t *rec, const vault_write_t *write,
                                     vault_eviction_t *eviction, apr_pool_t *pool)
{
    return write_through(p, &(writing_t){.what = write, .rec = rec, .eviction = eviction, .pool = pool});
}

int vault_page_write_is_valid(const vault_write_t *write)
{
    int i;

    for (i = 0; write->properties && i < write->properties->nelts; i++) {
        const vault_property_t *w = AT(write->properties, vault_property_t, i);
        if (!w->key[0] || strlen(w->key) > VAULT_PROPERTY_KEY_MAX ||
            (w->value && strlen(w->value) > VAULT_PROPERTY_VALUE_MAX)) {
            return 0;
        }
    }
    return 1;
}

apr_status_t vault_page_write(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                              const vault_write_t *write, apr_pool_t *pool)
{
    vault_eviction_t eviction = {.asks = page->index, .now = vault_now()};
    vault_page_record_t *rec;
    apr_status_t rv;

    if (!vault_page_write_is_valid(write)) {
        return APR_EINVAL;
    }
    do {
        if ((rv = lock_for(p, page, owner, &rec)) == APR_SUCCESS) {
            rv = vault_page_record_write(p, rec, write, &eviction, pool);
            vault_lock_release(&rec->lock);
        }
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}

apr_status_t vault_page_read(vault_pages_t *p, const vault_page_t *page, const vault_owner_t *owner,
                             vault_state_t **base, apr_pool_t *pool)
{
    vault_page_record_t *rec;
    apr_status_t rv = lock_for(p, page, owner, &rec);

    if (rv == APR_SUCCESS) {
        *base = vault_page_record_read(p, rec->base, pool);
        vault_lock_release(&rec->lock);
        rv = *base ? APR_SUCCESS : APR_EGENERAL;
    }
    return rv;
}
