/* SPDX-License-Identifier: Apache-2.0 */
/* Sessions: records of the table of pages without methods. */
#include "page/session.h"

#include <string.h>

#include "page/page_record.h"

/* May the visitor use the session? A visitor who has logged in may use one without a user, since the id proves that it
 * is the same browser. */
static apr_status_t admits(vault_pages_t *p, const vault_page_record_t *rec, const vault_visitor_t *v)
{
    if (!vault_record_is_session(rec) || rec->host != v->owner.host || !rec->base ||
        vault_page_is_idle(rec, v->now, (apr_interval_time_t)vault_load(&rec->idle_most))) {
        return APR_NOTFOUND;
    }
    if (v->bound && rec->address != v->address) {
        return APR_EACCES;
    }
    return vault_page_record_admits(p, rec, &v->owner);
}

/* The record of the session, locked, if the visitor may use it. */
static apr_status_t lock_for(vault_pages_t *p, const vault_page_t *session, const vault_visitor_t *v,
                             vault_page_record_t **rec)
{
    apr_status_t rv;

    if (!(*rec = vault_page_record_lock_page(p, session))) {
        return APR_NOTFOUND;
    }
    if ((rv = admits(p, *rec, v)) != APR_SUCCESS) {
        vault_lock_release(&(*rec)->lock);
    }
    return rv;
}

static void keep_alive(vault_page_record_t *rec, const vault_visitor_t *v)
{
    if (v->keeps_alive) {
        vault_store(&rec->idle_most, (apr_uint64_t)v->timeout);
        vault_store(&rec->idle_since, (apr_uint64_t)v->now);
    }
}

static vault_state_t *make_state(const apr_array_header_t *properties, apr_pool_t *pool)
{
    vault_state_t *state = vault_state_create(pool);
    int i;

    for (i = 0; i < properties->nelts; i++) {
        const vault_property_t *w = &APR_ARRAY_IDX(properties, i, vault_property_t);
        vault_state_set(state, w->key, w->value);
    }
    return state;
}

/* The state is stored last: a record without one admits no visitor. */
static apr_status_t fill(vault_pages_t *p, const vault_page_t *session, const vault_visitor_t *v,
                         const vault_state_t *state, vault_eviction_t *eviction)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, session);
    vault_off_t block;

    if (!rec) {
        return APR_ENOSPC; /* evicted meanwhile */
    }
    if (!(block = vault_page_record_store(p, rec, state, eviction))) {
        vault_lock_release(&rec->lock);
        return APR_ENOSPC;
    }
    rec->address = v->address;
    vault_store(&rec->polled, 1); /* so that pages hear when it is removed */
    vault_store(&rec->idle_most, (apr_uint64_t)v->timeout);
    vault_store(&rec->base, block);
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

apr_status_t vault_session_create(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor,
                                  const apr_array_header_t *properties, apr_interval_time_t idle, apr_pool_t *pool)
{
    vault_eviction_t eviction = {
        .client = visitor->owner.client, .kind_asks = VAULT_RECORD_SESSION, .now = visitor->now};
    apr_status_t rv;

    if (!vault_page_write_is_valid(&(vault_write_t){.properties = properties})) {
        return APR_EINVAL;
    }
    if ((rv = vault_page_draw(session)) != APR_SUCCESS ||
        (rv = vault_page_record_create(p, session, &visitor->owner, idle, &eviction)) != APR_SUCCESS) {
        return rv;
    }
    eviction.asks = session->index;
    do {
        rv = fill(p, session, visitor, make_state(properties, pool), &eviction);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    if (rv != APR_SUCCESS) {
        vault_page_drop(p, session);
    }
    return rv;
}

apr_status_t vault_session_find(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor,
                                vault_session_t *found)
{
    vault_page_record_t *rec;
    apr_status_t rv;

    vault_page_record_locate(p, session, VAULT_RECORD_SESSION);
    if ((rv = lock_for(p, session, visitor, &rec)) != APR_SUCCESS) {
        return rv;
    }
    keep_alive(rec, visitor);
    found->has_user = rec->owner != 0;
    vault_interest_name(p->notifier, rec->own, found->interest, sizeof(found->interest));
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

apr_status_t vault_session_read(vault_pages_t *p, const vault_page_t *session, const vault_visitor_t *visitor,
                                apr_array_header_t **properties, apr_pool_t *pool)
{
    vault_page_record_t *rec;
    vault_state_t *state;
    apr_status_t rv = lock_for(p, session, visitor, &rec);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    state = vault_page_record_read(p, rec->base, pool);
    vault_lock_release(&rec->lock);
    if (!state) {
        return APR_EGENERAL;
    }
    *properties = state->properties;
    return APR_SUCCESS;
}

apr_status_t vault_session_write(vault_pages_t *p, const vault_page_t *session, const vault_visitor_t *visitor,
                                 const apr_array_header_t *properties, apr_pool_t *pool)
{
    vault_eviction_t eviction = {.asks = session->index, .kind_asks = VAULT_RECORD_SESSION, .now = visitor->now};
    vault_write_t write = {.properties = properties};
    vault_page_record_t *rec;
    apr_status_t rv;

    if (!vault_page_write_is_valid(&write)) {
        return APR_EINVAL;
    }
    do {
        if ((rv = lock_for(p, session, visitor, &rec)) == APR_SUCCESS) {
            rv = vault_page_record_write(p, rec, &write, &eviction, pool);
            vault_lock_release(&rec->lock);
        }
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}

/* The state stays, and so does the interest. */
static apr_status_t renew_locked(vault_pages_t *p, vault_page_t *session, vault_page_record_t *rec,
                                 const vault_owner_t *owner, vault_eviction_t *eviction)
{
    vault_page_t drawn;
    apr_status_t rv;

    if ((rv = vault_page_draw(&drawn)) != APR_SUCCESS) {
        return rv;
    }
    if (!rec->owner && owner->user) {
        if ((rv = vault_page_record_store_owner(p, rec, owner->user, eviction)) != APR_SUCCESS) {
            return rv;
        }
        rec->realm = owner->realm;
    }
    vault_page_record_rename(p, session, &drawn);
    return APR_SUCCESS;
}

/* @param always  0: only if it is not the visitor's own yet */
static apr_status_t renew(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor, int always)
{
    vault_eviction_t eviction = {.asks = session->index, .kind_asks = VAULT_RECORD_SESSION, .now = visitor->now};
    vault_page_record_t *rec;
    apr_status_t rv;

    do {
        if ((rv = lock_for(p, session, visitor, &rec)) == APR_SUCCESS) {
            rv = always || !rec->owner ? renew_locked(p, session, rec, &visitor->owner, &eviction) : APR_SUCCESS;
            vault_lock_release(&rec->lock);
        }
    } while (rv == APR_ENOSPC && vault_evict_page(p, &eviction));
    return rv;
}

apr_status_t vault_session_login(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor)
{
    return renew(p, session, visitor, 0);
}

apr_status_t vault_session_renew(vault_pages_t *p, vault_page_t *session, const vault_visitor_t *visitor)
{
    return renew(p, session, visitor, 1);
}

void vault_session_drop(vault_pages_t *p, const vault_page_t *session)
{
    vault_page_drop(p, session);
}
