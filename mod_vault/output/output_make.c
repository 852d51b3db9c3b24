/* SPDX-License-Identifier: Apache-2.0 */
/* How an entry is made: one request leads, lets the entry depend on interests, and keeps the output or abandons it.
 *
 * Memory for an output is reserved under the lock and filled without it: no other process touches a record that is
 * being made, as long as the child lives whose lease it has. */
#include "output/output_table.h"

#include <string.h>

#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"
#include "mod_vault/vault.h"

#define REASON_MAX 100
/* The same on every server, so that their ETags agree. */
#define ETAG_SEED APR_UINT64_C(0x7661756c742d6f75)

/* --------------------------------------------------------------------- lead */

/* The parameters of vault_output_lead(). */
typedef struct lead_request_t {
    const char *key;
    apr_size_t length;
    apr_uint64_t hash, variant;
    vault_lease_t lease;
} lead_request_t;

static void set_ref(const vault_outputs_t *o, const output_record_t *rec, vault_output_lead_t *lead)
{
    lead->ref.index = output_index(o, rec);
    lead->ref.number = output_number(rec);
    lead->waiters = rec->waiters;
}

/* The interest is created by the first request that waits. */
static apr_status_t join_locked(vault_outputs_t *o, output_record_t *rec, vault_output_lead_t *lead)
{
    char name[64];
    apr_uint64_t stamp;
    vault_interest_t waiters;
    apr_status_t rv;

    if (!rec->waiters) {
        apr_snprintf(name, sizeof(name), "vault-output:%u:%" APR_UINT64_T_FMT, output_index(o, rec),
                     output_number(rec));
        if ((rv = vault_interest_hold(o->notifier, name, &waiters, &stamp)) != APR_SUCCESS) {
            return APR_ENOSPC;
        }
        output_store(&rec->waiters, waiters);
    }
    rec->waits++;
    o->table->waits++;
    set_ref(o, rec, lead);
    return APR_EBUSY;
}

/* Searches for a lead of the same variant, and for a record that says that the key is personal. Frees leads of dead
 * children.
 * @return APR_SUCCESS: the caller can lead */
static apr_status_t find_lead_locked(vault_outputs_t *o, const lead_request_t *w, vault_output_lead_t *lead,
                                     output_deferred_t *deferred)
{
    output_record_t *rec = output_next(o, NULL, w->hash, w->key, w->length), *next;

    for (; rec; rec = next) {
        next = output_next(o, rec, w->hash, w->key, w->length);
        if (output_state(rec) == OUTPUT_PERSONAL && !rec->once && rec->until > vault_now()) {
            return APR_ENOSPC;
        }
        if (output_state(rec) == OUTPUT_MAKING && rec->variant == w->variant) {
            if (!vault_lease_is_expired(o->notifier, rec->lease)) {
                return join_locked(o, rec, lead);
            }
            if (deferred->count == OUTPUT_DEFERRED_MAX) {
                return APR_ENOMEM;
            }
            output_free(o, rec, deferred);
        }
    }
    return APR_SUCCESS;
}

/* Evicts until a record is free before it allocates the key, so that no block is without a record meanwhile. */
static output_record_t *claim_locked(vault_outputs_t *o, const lead_request_t *w, output_deferred_t *deferred)
{
    vault_off_t key;

    while (!output_has_free(o)) {
        if (!output_evict(o, NULL, 0, deferred)) {
            return NULL;
        }
    }
    key = output_alloc(o, w->key, w->length, NULL, deferred);
    return key ? output_claim(o, w->hash, key, w->length) : NULL;
}

static apr_status_t lead_locked(vault_outputs_t *o, const lead_request_t *w, vault_output_lead_t *lead,
                                output_deferred_t *deferred)
{
    output_record_t *rec;
    apr_status_t rv = find_lead_locked(o, w, lead, deferred);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    rec = claim_locked(o, w, deferred);
    if (!rec) {
        return APR_ENOMEM;
    }
    rec->variant = w->variant;
    rec->epoch = o->epoch;
    output_store(&rec->lease, w->lease);
    output_store(&rec->number_state, output_number_state(++o->table->numbers, OUTPUT_MAKING));
    o->table->misses++;
    set_ref(o, rec, lead);
    return APR_SUCCESS;
}

apr_status_t vault_output_lead(vault_outputs_t *o, const char *key, apr_size_t length, apr_uint64_t variant,
                               unsigned slot, vault_output_lead_t *lead)
{
    lead_request_t w = {key, length, 0, variant, vault_slot_lease(o->notifier, slot)};
    output_deferred_t deferred = {0};
    apr_status_t rv;
    int again;

    memset(lead, 0, sizeof(*lead));
    if (!length || length > VAULT_OUTPUT_KEY_MAX || !w.lease) {
        return APR_ENOSPC;
    }
    w.hash = output_hash(o, key, length);
    do {
        output_lock(o);
        rv = lead_locked(o, &w, lead, &deferred);
        again = output_may_retry(rv, &deferred);
        output_unlock(o, &deferred);
    } while (again);
    return rv == APR_ENOMEM ? APR_ENOSPC : rv;
}

/* The record stays, because its child may be filling it. It gets a unique variant, so that no request finds it. */
void vault_output_forget_lead(vault_outputs_t *o, const vault_output_ref_t *ref)
{
    output_record_t *rec;

    output_lock(o);
    rec = output_find(o, ref, OUTPUT_MAKING);
    if (rec) {
        rec->variant = vault_hash(ref->index, &rec->number_state, sizeof(rec->number_state));
    }
    output_unlock(o, NULL);
}

/* --------------------------------------------------------------------- hold */

static vault_dep_t *find_dep(output_record_t *rec, vault_interest_t interest)
{
    unsigned i;

    for (i = 0; i < output_deps(rec); i++) {
        if (rec->deps[i].interest == interest) {
            return &rec->deps[i];
        }
    }
    return NULL;
}

/* When few interests are left, entries create no new ones: pages need them. */
static int may_add_dep(const vault_outputs_t *o, const output_record_t *rec, vault_interest_t interest)
{
    return rec->dep_count < VAULT_OUTPUT_INTERESTS &&
           (vault_interest_holders(o->notifier, interest) > 1 || !output_is_low_on_interests(o));
}

/* @param stamp  0: the one that is read now; else an older one */
static apr_status_t hold_locked(vault_outputs_t *o, output_record_t *rec, const char *name, apr_uint64_t stamp)
{
    vault_dep_t dep, *known;
    apr_status_t rv = vault_interest_hold(o->notifier, name, &dep.interest, &dep.stamp);

    if (rv != APR_SUCCESS) {
        return rv;
    }
    dep.stamp = stamp ? stamp : dep.stamp;
    known = find_dep(rec, dep.interest);
    if (!known && may_add_dep(o, rec, dep.interest)) {
        rec->deps[rec->dep_count] = dep;
        output_store(&rec->dep_count, rec->dep_count + 1);
        return APR_SUCCESS;
    }
    vault_interest_release(o->notifier, dep.interest);
    if (known && dep.stamp < known->stamp) {
        known->stamp = dep.stamp;
    }
    return known ? APR_SUCCESS : APR_ENOSPC;
}

apr_status_t vault_output_hold(vault_outputs_t *o, const vault_output_lead_t *lead, const char *interest)
{
    output_record_t *rec;
    apr_status_t rv;

    output_lock(o);
    rec = output_find(o, &lead->ref, OUTPUT_MAKING);
    rv = rec ? hold_locked(o, rec, interest, 0) : APR_ENOSPC;
    output_unlock(o, NULL);
    return rv;
}

unsigned vault_output_deps(vault_outputs_t *o, const vault_output_lead_t *lead,
                           vault_dep_t deps[VAULT_OUTPUT_INTERESTS])
{
    const output_record_t *rec;
    unsigned count = 0;

    output_lock(o);
    rec = output_find(o, &lead->ref, OUTPUT_MAKING);
    if (rec) {
        count = output_deps(rec);
        memcpy(deps, rec->deps, count * sizeof(deps[0]));
    }
    output_unlock(o, NULL);
    return count;
}

/* The name is held once more while its index is looked up. */
static void release_locked(vault_outputs_t *o, output_record_t *rec, const char *name)
{
    vault_dep_t dep, *known;

    if (vault_interest_hold(o->notifier, name, &dep.interest, &dep.stamp) != APR_SUCCESS) {
        return;
    }
    vault_interest_release(o->notifier, dep.interest);
    if ((known = find_dep(rec, dep.interest))) {
        *known = rec->deps[rec->dep_count - 1];
        output_store(&rec->dep_count, rec->dep_count - 1);
        vault_interest_release(o->notifier, dep.interest);
    }
}

void vault_output_release(vault_outputs_t *o, const vault_output_lead_t *lead, const char *interest)
{
    output_record_t *rec;

    output_lock(o);
    rec = output_find(o, &lead->ref, OUTPUT_MAKING);
    if (rec) {
        release_locked(o, rec, interest);
    }
    output_unlock(o, NULL);
}

/* An interest without a name has no holder, so the other entry was removed, and this one must not be kept. If another
 * interest has the index by now, its stamp is newer than that of the entry, and output_moved() detects that. */
static apr_status_t hold_part_locked(vault_outputs_t *o, output_record_t *rec, const vault_dep_t *dep)
{
    char name[VAULT_INTEREST_MAX + 1];

    vault_interest_name(o->notifier, dep->interest, name, sizeof(name));
    if (!name[0]) {
        rec->has_lost_dep = 1;
        return APR_SUCCESS;
    }
    return hold_locked(o, rec, name, dep->stamp);
}

apr_status_t vault_output_hold_deps(vault_outputs_t *o, const vault_output_lead_t *lead,
                                    const vault_output_entry_t *part)
{
    output_record_t *rec;
    apr_status_t rv;
    unsigned i;

    output_lock(o);
    rec = output_find(o, &lead->ref, OUTPUT_MAKING);
    rv = rec ? APR_SUCCESS : APR_ENOSPC;
    for (i = 0; i < part->dep_count && rv == APR_SUCCESS; i++) {
        rv = hold_part_locked(o, rec, &part->deps[i]);
    }
    if (rv == APR_SUCCESS && part->until && (!rec->until || part->until < rec->until)) {
        rec->until = part->until;
    }
    output_unlock(o, NULL);
    return rv;
}

/* --------------------------------------------------------------------- keep */

static int is_invalid(const vault_outputs_t *o, const output_record_t *rec)
{
    return rec->dropped || rec->has_lost_dep || output_moved(o, rec);
}

static apr_status_t reserve_locked(vault_outputs_t *o, output_record_t *rec, const vault_output_content_t *c,
                                   output_deferred_t *deferred)
{
    if (!rec || is_invalid(o, rec)) {
        return APR_EAGAIN;
    }
    if (c->metadata_size && !rec->metadata) {
        rec->metadata_size = (apr_uint32_t)c->metadata_size;
        output_store(&rec->metadata, output_alloc(o, NULL, c->metadata_size, rec, deferred));
        if (!rec->metadata) {
            return APR_ENOMEM;
        }
    }
    return output_reserve(o, rec, VAULT_OUTPUT_PLAIN, c->body_size, deferred);
}

static apr_status_t reserve(vault_outputs_t *o, const vault_output_ref_t *ref, const vault_output_content_t *c)
{
    output_deferred_t deferred = {0};
    apr_status_t rv;
    int again;

    do {
        output_lock(o);
        rv = reserve_locked(o, output_find(o, ref, OUTPUT_MAKING), c, &deferred);
        again = output_may_retry(rv, &deferred);
        output_unlock(o, &deferred);
    } while (again);
    return rv;
}

/* Without the lock. */
static apr_status_t fill(vault_outputs_t *o, const vault_output_ref_t *ref, const vault_output_content_t *c)
{
    output_record_t *rec = output_at(o, ref->index);
    const output_body_t *body = &rec->body[VAULT_OUTPUT_PLAIN];

    rec->etag = vault_hash(ETAG_SEED, c->body, c->body_size);
    rec->etag += !rec->etag;
    if (rec->metadata) {
        memcpy(vault_heap_at(o->heap, rec->metadata), c->metadata, c->metadata_size);
    }
    if (body->disk) {
        return output_file_write(o, ref, VAULT_OUTPUT_PLAIN, c->body, c->body_size);
    }
    if (body->block) {
        memcpy(vault_heap_at(o->heap, body->block), c->body, c->body_size);
    }
    return APR_SUCCESS;
}

/* The new entry takes over the counts of the one that it replaces, and notes which interest invalidated that one. */
static void inherit_history(vault_outputs_t *o, output_record_t *rec, const output_record_t *old)
{
    const vault_dep_t *moved = output_moved(o, old);
    char name[VAULT_INTEREST_MAX + 1];

    output_touch(o, rec, old->hits);
    rec->renewed = old->renewed + 1;
    o->table->renewed++;
    if (moved) {
        vault_interest_name(o->notifier, moved->interest, name, sizeof(name));
        output_note(o, rec, name, VAULT_INTEREST_MAX);
    }
}

/* Frees the entry that the new one replaces, and the least recently used variant if the key has too many. */
static void replace_locked(vault_outputs_t *o, output_record_t *rec, output_deferred_t *deferred)
{
    const char *key = vault_heap_at(o->heap, rec->key);
    output_record_t *at, *next, *least = NULL;
    unsigned kept = 0;

    for (at = output_next(o, NULL, rec->hash, key, rec->key_length); at; at = next) {
        next = output_next(o, at, rec->hash, key, rec->key_length);
        if (at == rec || output_state(at) == OUTPUT_MAKING || deferred->count > OUTPUT_DEFERRED_MAX - 3) {
            continue;
        }
        if (output_state(at) == OUTPUT_KEPT && at->variant == rec->variant) {
            inherit_history(o, rec, at);
        }
        else if (output_state(at) == OUTPUT_KEPT) {
            kept++;
            least = least && least->last_use < at->last_use ? least : at;
            continue;
        }
        output_free(o, at, deferred);
    }
    if (kept >= VAULT_OUTPUT_VARIANTS) {
        output_free(o, least, deferred);
        o->table->evicted++;
    }
}

static apr_status_t publish_locked(vault_outputs_t *o, output_record_t *rec, const vault_output_content_t *c,
                                   output_deferred_t *deferred)
{
    if (is_invalid(o, rec)) {
        return APR_EAGAIN;
    }
    rec->variant = c->variant ? c->variant : rec->variant;
    rec->until = c->until && (!rec->until || c->until < rec->until) ? c->until : rec->until;
    rec->made = c->made ? c->made : vault_now();
    rec->current_at = vault_now();
    rec->stale_for = c->stale_for;
    output_store(&rec->body[VAULT_OUTPUT_PLAIN].state, OUTPUT_READY);
    /* Before the older entry is freed, so that a process killed here leaves one of the two. */
    output_set_state(o, rec, OUTPUT_KEPT, deferred);
    replace_locked(o, rec, deferred);
    output_touch(o, rec, 0);
    o->table->kept++;
    return APR_SUCCESS;
}

apr_status_t vault_output_keep(vault_outputs_t *o, const vault_output_lead_t *lead,
                               const vault_output_content_t *content)
{
    output_deferred_t deferred = {0};
    output_record_t *rec;
    apr_status_t rv = reserve(o, &lead->ref, content);

    if (rv == APR_SUCCESS) {
        rv = fill(o, &lead->ref, content);
    }
    output_lock(o);
    rec = output_find(o, &lead->ref, OUTPUT_MAKING);
    if (rec && rv == APR_SUCCESS) {
        rv = publish_locked(o, rec, content, &deferred);
    }
    if (rec && rv != APR_SUCCESS) {
        output_free(o, rec, &deferred);
    }
    output_unlock(o, &deferred);
    return rv == APR_SUCCESS || rv == APR_EAGAIN ? rv : APR_ENOSPC;
}

/* ------------------------------------------------------------------ abandon */

/* Is an entry of the same key kept? It is more useful in listings than the reason of one personal output. */
static int has_kept(const vault_outputs_t *o, const output_record_t *rec)
{
    const char *key = vault_heap_at(o->heap, rec->key);
    const output_record_t *at = output_next(o, NULL, rec->hash, key, rec->key_length);

    while (at && output_state(at) != OUTPUT_KEPT) {
        at = output_next(o, at, rec->hash, key, rec->key_length);
    }
    return at != NULL;
}

/* Frees older personal records of the key: only the newest is needed. */
static void mark_personal(vault_outputs_t *o, output_record_t *rec, const vault_output_personal_t *personal,
                          output_deferred_t *deferred)
{
    const char *key = vault_heap_at(o->heap, rec->key);
    output_record_t *at, *next;

    for (at = output_next(o, NULL, rec->hash, key, rec->key_length); at; at = next) {
        next = output_next(o, at, rec->hash, key, rec->key_length);
        if (output_state(at) == OUTPUT_PERSONAL && deferred->count < OUTPUT_DEFERRED_MAX - 1) {
            output_free(o, at, deferred);
        }
    }
    output_release_deps(o, rec);
    output_note(o, rec, personal->why, REASON_MAX);
    rec->personal = personal->reason;
    rec->once = personal->once != 0;
    rec->until = vault_now() + VAULT_OUTPUT_PERSONAL_FOR;
    output_set_state(o, rec, OUTPUT_PERSONAL, deferred);
    o->table->personal++;
}

void vault_output_abandon(vault_outputs_t *o, const vault_output_lead_t *lead, const vault_output_personal_t *personal)
{
    output_deferred_t deferred = {0};
    output_record_t *rec;

    output_lock(o);
    rec = output_find(o, &lead->ref, OUTPUT_MAKING);
    if (rec && personal && !(personal->once && has_kept(o, rec))) {
        mark_personal(o, rec, personal, &deferred);
    }
    else if (rec) {
        output_free(o, rec, &deferred);
    }
    output_unlock(o, &deferred);
}
