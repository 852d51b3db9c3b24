/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a page out of the table of pages, and into it. */
#include "page/page_snapshot.h"

#include <string.h>

#include "apr_strings.h"

#include "mod_vault/vault.h"
#include "page/page_record.h"

apr_status_t vault_page_copy_read(vault_pages_t *p, const vault_page_t *page, vault_page_copy_t *copy)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);

    memset(copy, 0, sizeof(*copy));
    if (!rec) {
        return APR_NOTFOUND;
    }
    *copy = rec->copy;
    vault_lock_release(&rec->lock);
    return APR_SUCCESS;
}

/* ----------------------------------------------------------------------- take */

static apr_status_t add_state(vault_pages_t *p, vault_page_snapshot_t *snapshot, vault_off_t block, apr_pool_t *pool)
{
    vault_snapshot_state_t *s = &snapshot->states[snapshot->count++];

    s->state = vault_page_record_read(p, block, pool);
    s->from = vault_state_from(vault_heap_at(p->heap, block));
    return s->state ? APR_SUCCESS : APR_EGENERAL;
}

static apr_status_t take_locked(vault_pages_t *p, const vault_page_record_t *rec, vault_page_snapshot_t *snapshot,
                                apr_pool_t *pool)
{
    apr_status_t rv = add_state(p, snapshot, rec->base, pool);
    unsigned i;

    for (i = 0; i < VAULT_PAGE_STAGED && rv == APR_SUCCESS; i++) {
        rv = rec->staged[i] ? add_state(p, snapshot, rec->staged[i], pool) : APR_SUCCESS;
    }
    snapshot->user = rec->owner ? apr_pstrdup(pool, vault_heap_at(p->heap, rec->owner)) : NULL;
    memcpy(snapshot->tab, rec->tab, sizeof(snapshot->tab));
    snapshot->last_seq = rec->last_seq;
    snapshot->head = rec->head;
    snapshot->streams = rec->streams;
    return rv;
}

apr_status_t vault_page_snapshot_take(vault_pages_t *p, const vault_page_t *page, apr_uint64_t fence,
                                      vault_page_copy_t *copy, vault_page_snapshot_t *snapshot, apr_pool_t *pool)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);
    apr_status_t rv = APR_EAGAIN;

    memset(snapshot, 0, sizeof(*snapshot));
    if (!rec) {
        return APR_NOTFOUND;
    }
    if (rec->base) {
        rec->copy.fence = rec->copy.fence ? rec->copy.fence : fence;
        rec->copy.version++;
        *copy = rec->copy;
        rec->copy.saved = 0; /* until the caller has saved it: it may be killed before */
        rv = take_locked(p, rec, snapshot, pool);
    }
    vault_lock_release(&rec->lock);
    return rv;
}

void vault_page_snapshot_saved(vault_pages_t *p, const vault_page_t *page, const vault_page_copy_t *copy)
{
    vault_page_record_t *rec = vault_page_record_lock_page(p, page);

    if (!rec) {
        return;
    }
    if (rec->copy.fence == copy->fence && rec->saved_version <= copy->version) {
        rec->saved_version = copy->version;
        rec->copy.saved = copy->saved;
    }
    vault_lock_release(&rec->lock);
}

/* --------------------------------------------------------------------- admits */

static int is_tab(const apr_uint64_t a[2], const apr_uint64_t b[2])
{
    return !(a[0] | a[1]) || !(b[0] | b[1]) || (a[0] == b[0] && a[1] == b[1]);
}

apr_status_t vault_page_snapshot_admits(const vault_page_snapshot_t *snapshot, const vault_take_t *take)
{
    unsigned i;

    if (!is_tab(snapshot->tab, take->tab)) {
        return APR_EMISMATCH;
    }
    for (i = 0; i < snapshot->count && take->seq != VAULT_PAGE_LATEST; i++) {
        if (snapshot->states[i].state->seq == take->seq) {
            return APR_SUCCESS;
        }
    }
    return take->seq == VAULT_PAGE_LATEST ? APR_SUCCESS : APR_EMISMATCH;
}

/* -------------------------------------------------------------------- restore */

/* A restore in progress. */
typedef struct restoring_t {
    const vault_page_restore_t *what;
    const vault_page_t *page;
    vault_page_record_t *rec; /* locked */
    vault_eviction_t eviction;
    vault_off_t made[VAULT_SNAPSHOT_STATES];
} restoring_t;

/* The arrays of a snapshot belong to its reader. */
static void wait_for_own(const vault_state_t *state, vault_interest_t own)
{
    int i;

    for (i = 0; i < state->methods->nelts; i++) {
        apr_array_header_t *deps = APR_ARRAY_IDX(state->methods, i, vault_method_t).deps;
        if (deps) {
            apr_array_clear(deps);
            APR_ARRAY_PUSH(deps, vault_dep_t) = (vault_dep_t){own, 0};
        }
    }
}

static apr_status_t make_blocks(vault_pages_t *p, restoring_t *x)
{
    const vault_page_snapshot_t *snapshot = x->what->snapshot;
    char name[VAULT_INTEREST_MAX + 1];
    apr_status_t rv;
    vault_dep_t own;
    unsigned i;

    vault_interest_name(p->notifier, x->rec->own, name, sizeof(name));
    if ((rv = vault_page_record_hold(p, x->rec, name, &own, &x->eviction)) != APR_SUCCESS) {
        return rv;
    }
    for (i = 0; i < snapshot->count; i++) {
        const vault_snapshot_state_t *s = &snapshot->states[i];
        wait_for_own(s->state, own.interest);
        if (!(x->made[i] = vault_page_record_store(p, x->rec, s->state, &x->eviction))) {
            return APR_ENOSPC;
        }
        vault_state_number(vault_heap_at(p->heap, x->made[i]), s->state->seq, s->from);
    }
    return APR_SUCCESS;
}

static void free_blocks(vault_pages_t *p, restoring_t *x)
{
    unsigned i;

    for (i = 0; i < VAULT_SNAPSHOT_STATES; i++) {
        vault_page_record_free(p, x->rec, &x->made[i]);
    }
}

static void replace(vault_pages_t *p, vault_page_record_t *rec, vault_off_t *place, vault_off_t *made)
{
    vault_off_t old = *place;

    vault_store(place, *made);
    *made = 0;
    vault_page_record_free_block(p, rec, old);
}

/* If the process is killed in between, the page has states of both servers: each has a number of its own. The fence is
 * set last, so that the next poll restores the page again. */
static void replace_states(vault_pages_t *p, restoring_t *x)
{
    const vault_page_snapshot_t *snapshot = x->what->snapshot;
    vault_page_record_t *rec = x->rec;
    unsigned i;

    vault_store(&rec->fence, rec->fence + 1);
    vault_page_record_void_run(p, rec);
    rec->last_seq = rec->last_seq > snapshot->last_seq ? rec->last_seq : snapshot->last_seq;
    rec->gap = x->what->gap;
    for (i = 0; i < VAULT_PAGE_STAGED; i++) {
        replace(p, rec, &rec->staged[i], &x->made[i + 1]);
    }
    replace(p, rec, &rec->base, &x->made[0]);
    memcpy(rec->tab, snapshot->tab, sizeof(rec->tab));
    rec->head = snapshot->head;
    rec->streams = snapshot->streams;
    vault_page_record_release_unnamed(p, rec);
    vault_notifier_notify_interest(p->notifier, rec->own, 0);
    rec->saved_version = x->what->copy.version;
    rec->copy = x->what->copy;
}

static apr_status_t restore_locked(vault_pages_t *p, restoring_t *x)
{
    apr_status_t rv;

    if (x->rec->copy.fence >= x->what->copy.fence) {
        return APR_EAGAIN;
    }
    if ((rv = make_blocks(p, x)) == APR_SUCCESS) {
        replace_states(p, x);
    }
    free_blocks(p, x);
    return rv;
}

apr_status_t vault_page_snapshot_restore(vault_pages_t *p, vault_page_t *page, const vault_page_restore_t *restore)
{
    restoring_t x = {.what = restore, .page = page, .eviction = {.now = restore->now}};
    apr_status_t rv = vault_page_create_drawn(p, page, restore->owner, restore->now, restore->idle);

    if (rv != APR_SUCCESS && rv != APR_EEXIST) {
        return rv;
    }
    x.eviction.asks = page->index;
    do {
        if (!(x.rec = vault_page_record_lock_page(p, page))) {
            return APR_NOTFOUND;
        }
        rv = restore_locked(p, &x);
        vault_lock_release(&x.rec->lock);
    } while (rv == APR_ENOSPC && vault_evict_page(p, &x.eviction));
    return rv;
}
