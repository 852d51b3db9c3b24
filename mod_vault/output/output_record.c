/* SPDX-License-Identifier: Apache-2.0 */
/* The records of the output store under its lock: how they are found and ordered, what they hold, and how they are
 * rebuilt after a process died inside. */
#include "output/output_table.h"

#include <string.h>

#include "base/hash.h"
#include "base/now.h"

/* ------------------------------------------------------------------- blocks */

void output_free_block(vault_outputs_t *o, vault_off_t *place)
{
    vault_off_t block = *place;

    output_store(place, 0);
    vault_heap_free(o->heap, block);
}

int output_free_body(vault_outputs_t *o, output_body_t *body)
{
    apr_uint64_t disk = body->disk;

    output_store(&body->state, OUTPUT_ABSENT);
    output_free_block(o, &body->block);
    output_store(&body->disk, 0);
    o->table->files -= disk;
    return disk != 0;
}

void output_release_deps(vault_outputs_t *o, output_record_t *rec)
{
    unsigned i = output_deps(rec);

    while (i--) {
        vault_interest_t interest = rec->deps[i].interest;

        output_store(&rec->dep_count, i);
        vault_interest_release(o->notifier, interest);
    }
}

/* @return a bit for each form that has a file */
static unsigned release_all(vault_outputs_t *o, output_record_t *rec)
{
    unsigned form, files = 0;

    output_release_deps(o, rec);
    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        files |= (unsigned)output_free_body(o, &rec->body[form]) << form;
    }
    output_free_block(o, &rec->key);
    output_free_block(o, &rec->metadata);
    output_free_block(o, &rec->note);
    return files;
}

void output_note(vault_outputs_t *o, output_record_t *rec, const char *text, apr_size_t most)
{
    apr_size_t length = strnlen(text, most);
    vault_off_t block = vault_heap_alloc(o->heap, length + 1);
    char *note = vault_heap_at(o->heap, block);

    output_free_block(o, &rec->note);
    if (note) {
        memcpy(note, text, length);
        note[length] = '\0';
        output_store(&rec->note, block);
    }
}

/* ---------------------------------------------------------------- LRU lists */

static void lru_insert(vault_outputs_t *o, output_record_t *rec)
{
    output_lru_t *lru = &o->table->lru[output_lru(rec)];
    apr_uint32_t index = output_index(o, rec);

    rec->newer = 0;
    rec->older = lru->newest;
    if (lru->newest) {
        o->records[lru->newest].newer = index;
    }
    else {
        lru->oldest = index;
    }
    lru->newest = index;
    lru->length++;
}

static void lru_remove(vault_outputs_t *o, output_record_t *rec)
{
    output_lru_t *lru = &o->table->lru[output_lru(rec)];

    *(rec->newer ? &o->records[rec->newer].older : &lru->newest) = rec->older;
    *(rec->older ? &o->records[rec->older].newer : &lru->oldest) = rec->newer;
    lru->length--;
}

void output_touch(vault_outputs_t *o, output_record_t *rec, apr_uint64_t hits)
{
    rec->used = vault_now();
    rec->last_use = ++o->table->uses;
    lru_remove(o, rec);
    rec->hits += hits;
    lru_insert(o, rec);
}

/* ------------------------------------------------------------------ buckets */

apr_uint64_t output_hash(const vault_outputs_t *o, const char *key, apr_size_t length)
{
    return vault_hash(o->seed, key, length);
}

static apr_uint32_t *bucket_of(const vault_outputs_t *o, const output_record_t *rec)
{
    return &o->buckets[rec->hash & o->mask];
}

static void link_bucket(vault_outputs_t *o, output_record_t *rec)
{
    rec->next = *bucket_of(o, rec);
    *bucket_of(o, rec) = output_index(o, rec);
}

static void unlink_bucket(vault_outputs_t *o, output_record_t *rec)
{
    apr_uint32_t *link = bucket_of(o, rec), index = output_index(o, rec);

    while (*link && *link != index) {
        link = &o->records[*link].next;
    }
    if (*link) {
        *link = rec->next;
    }
}

output_record_t *output_next(const vault_outputs_t *o, const output_record_t *rec, apr_uint64_t hash, const char *key,
                             apr_size_t length)
{
    apr_uint32_t i = rec ? rec->next : o->buckets[hash & o->mask];

    for (; i; i = o->records[i].next) {
        output_record_t *at = &o->records[i];
        const void *stored = at->hash == hash && at->key_length == length ? vault_heap_at(o->heap, at->key) : NULL;

        if (stored && !memcmp(stored, key, length)) {
            return at;
        }
    }
    return NULL;
}

static vault_interest_t take_waiters(output_record_t *rec)
{
    vault_interest_t waiters = rec->waiters;

    output_store(&rec->waiters, 0);
    return waiters;
}

/* ------------------------------------------------------------------- repair */

static void put_free(vault_outputs_t *o, output_record_t *rec)
{
    rec->next = o->table->free;
    o->table->free = output_index(o, rec);
}

/* The process died while it freed this record, or before it published it: finishes the first, undoes the second.
 * output_files_remove_orphans() removes a file that remains. */
static void repair_free(vault_outputs_t *o, output_record_t *rec)
{
    vault_interest_t waiters = take_waiters(rec);

    if (waiters) {
        vault_interest_release(o->notifier, waiters);
    }
    release_all(o, rec);
    put_free(o, rec);
}

static void repair_used(vault_outputs_t *o, output_record_t *rec)
{
    unsigned form;

    link_bucket(o, rec);
    lru_insert(o, rec);
    o->table->count[output_state(rec)]++;
    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        o->table->files += rec->body[form].disk;
    }
}

/* The LRU lists are rebuilt in the order of the record indexes. */
static void repair(vault_outputs_t *o)
{
    output_table_t *t = o->table;
    apr_uint32_t i;

    t->free = 0;
    memset(t->lru, 0, sizeof(t->lru));
    memset(t->count, 0, sizeof(t->count));
    memset(o->buckets, 0, ((apr_size_t)o->mask + 1) * sizeof(*o->buckets));
    for (i = t->high_water; i >= 1; i--) {
        if (output_state(&o->records[i]) == OUTPUT_FREE) {
            repair_free(o, &o->records[i]);
        }
    }
    t->files = 0;
    for (i = 1; i <= t->high_water; i++) {
        if (output_state(&o->records[i]) != OUTPUT_FREE) {
            repair_used(o, &o->records[i]);
        }
    }
}

void output_lock(vault_outputs_t *o)
{
    if (vault_lock_acquire(&o->table->lock)) {
        repair(o);
        vault_notifier_all(o->notifier, 0);
    }
}

void output_unlock(vault_outputs_t *o, output_deferred_t *deferred)
{
    unsigned i;

    vault_lock_release(&o->table->lock);
    for (i = 0; deferred && i < deferred->count; i++) {
        if (deferred->item[i].waiters) {
            vault_notifier_notify_interest(o->notifier, deferred->item[i].waiters, o->slot);
            vault_interest_release(o->notifier, deferred->item[i].waiters);
        }
        output_file_remove(o, &deferred->item[i].ref, deferred->item[i].files);
    }
    if (deferred) {
        deferred->count = 0;
    }
}

/* ------------------------------------------------------------------ records */

int output_has_free(const vault_outputs_t *o)
{
    return o->table->free || o->table->high_water < o->max;
}

static output_record_t *take_free(vault_outputs_t *o)
{
    output_table_t *t = o->table;
    output_record_t *rec = output_at(o, t->free);

    if (rec) {
        t->free = rec->next;
    }
    else if (t->high_water < o->max) {
        rec = &o->records[t->high_water + 1];
        output_store(&t->high_water, t->high_water + 1);
    }
    return rec;
}

/* A free record has no block, interest or file, so only the other fields are set. */
static void reset(output_record_t *rec)
{
    rec->variant = rec->etag = rec->hits = rec->renewed = 0;
    rec->metadata_size = rec->has_lost_dep = rec->dropped = rec->waits = rec->personal = rec->once = 0;
    rec->until = rec->stale_since = rec->current_at = rec->stale_for = 0;
    memset(rec->body, 0, sizeof(rec->body));
}

output_record_t *output_claim(vault_outputs_t *o, apr_uint64_t hash, vault_off_t key, apr_size_t length)
{
    output_record_t *rec = take_free(o);

    if (rec) {
        reset(rec);
        output_store(&rec->key, key);
        rec->key_length = (apr_uint32_t)length;
        rec->hash = hash;
        rec->made = rec->used = vault_now();
        rec->last_use = ++o->table->uses;
        link_bucket(o, rec);
        lru_insert(o, rec);
        o->table->count[OUTPUT_MAKING]++;
    }
    return rec;
}

void output_defer(const vault_outputs_t *o, const output_record_t *rec, vault_interest_t waiters, unsigned files,
                  output_deferred_t *deferred)
{
    if (waiters || files) {
        deferred->item[deferred->count].ref = (vault_output_ref_t){output_index(o, rec), output_number(rec)};
        deferred->item[deferred->count].waiters = waiters;
        deferred->item[deferred->count++].files = files;
    }
}

void output_set_state(vault_outputs_t *o, output_record_t *rec, unsigned state, output_deferred_t *deferred)
{
    o->table->count[output_state(rec)]--;
    o->table->count[state]++;
    output_store(&rec->number_state, output_number_state(output_number(rec), state));
    output_defer(o, rec, take_waiters(rec), 0, deferred);
}

void output_free(vault_outputs_t *o, output_record_t *rec, output_deferred_t *deferred)
{
    unsigned files;

    o->table->count[output_state(rec)]--;
    output_store(&rec->number_state, output_number_state(output_number(rec), OUTPUT_FREE));
    unlink_bucket(o, rec);
    lru_remove(o, rec);
    files = release_all(o, rec);
    output_defer(o, rec, take_waiters(rec), files, deferred);
    put_free(o, rec);
}

/* ------------------------------------------------------------ dependencies */

const vault_dep_t *output_moved(const vault_outputs_t *o, const output_record_t *rec)
{
    unsigned i;

    for (i = 0; i < output_deps(rec); i++) {
        if (vault_interest_stamp(o->notifier, rec->deps[i].interest) != rec->deps[i].stamp) {
            return &rec->deps[i];
        }
    }
    return NULL;
}

int output_is_stale(const vault_outputs_t *o, const output_record_t *rec, apr_time_t now)
{
    return (rec->until && rec->until <= now) || output_moved(o, rec);
}

int output_is_low_on_interests(const vault_outputs_t *o)
{
    return vault_interest_count(o->notifier) > vault_notifier_interests(o->notifier) / 4 * 3;
}
