/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file output_store.c
 * The output store: how it is created, and how an entry is found and read.
 *
 * output_table.h has the layout, output_record.c what happens under the lock, output_make.c how an entry is made,
 * output_claim.c its forms, output_files.c the files, output_evict.c how entries are removed, output_list.c and
 * output_check.c what the status pages ask for.
 */
#include "output/output_store.h"

#include <string.h>

#include "apr_strings.h"

#include "base/now.h"
#include "output/output_table.h"

#define ALIGN64(size) (((apr_uint64_t)(size) + 63) & ~(apr_uint64_t)63)

/* ------------------------------------------------------------------- create */

static apr_uint32_t buckets_of(const vault_output_limits_t *limits)
{
    apr_uint32_t buckets = 1;

    while (buckets < limits->entries && buckets < 1u << 31) {
        buckets *= 2;
    }
    return buckets;
}

/* An upper bound of what the heap needs beside its blocks. */
static apr_uint64_t heap_space(const vault_output_limits_t *limits)
{
    return limits->memory + limits->memory / 64 + 4096;
}

static apr_uint64_t records_space(const vault_output_limits_t *limits)
{
    return ((apr_uint64_t)limits->entries + 1) * sizeof(output_record_t);
}

apr_uint64_t vault_outputs_space(const vault_output_limits_t *limits)
{
    return ALIGN64(sizeof(output_table_t)) + ALIGN64(records_space(limits)) +
           ALIGN64(buckets_of(limits) * (apr_uint64_t)sizeof(apr_uint32_t)) + ALIGN64(heap_space(limits)) + 256;
}

static void *carve(vault_segment_t *segment, apr_uint64_t size)
{
    return vault_segment_at(segment, vault_segment_carve(segment, size), size);
}

static apr_status_t carve_tables(vault_outputs_t *o, vault_segment_t *segment, const vault_output_limits_t *limits,
                                 apr_pool_t *pool)
{
    o->table = carve(segment, sizeof(*o->table));
    o->records = carve(segment, records_space(limits));
    o->buckets = carve(segment, buckets_of(limits) * (apr_uint64_t)sizeof(*o->buckets));
    if (!o->table || !o->records || !o->buckets) {
        return APR_ENOSPC;
    }
    return vault_heap_create(&o->heap, segment, heap_space(limits), pool);
}

apr_status_t vault_outputs_create(vault_outputs_t **outputs, vault_segment_t *segment, vault_notifier_t *notifier,
                                  const vault_output_limits_t *limits, apr_pool_t *pool)
{
    vault_outputs_t *o = apr_pcalloc(pool, sizeof(*o));
    apr_status_t rv;

    *outputs = NULL;
    if (limits->entries == 0 || limits->entries > APR_INT32_MAX || limits->memory_max > VAULT_HEAP_BLOCK_MAX) {
        return APR_EINVAL;
    }
    o->notifier = notifier;
    o->max = limits->entries;
    o->mask = buckets_of(limits) - 1;
    o->seed = vault_segment_boot(segment);
    o->limits = *limits;
    o->limits.root = limits->root ? apr_pstrdup(pool, limits->root) : NULL;
    if ((rv = carve_tables(o, segment, limits, pool)) != APR_SUCCESS ||
        (rv = vault_lock_init(&o->table->lock)) != APR_SUCCESS ||
        (rv = output_files_remove_orphans(o)) != APR_SUCCESS) {
        return rv;
    }
    *outputs = o;
    return APR_SUCCESS;
}

const vault_output_limits_t *vault_outputs_limits(const vault_outputs_t *o)
{
    return &o->limits;
}

void vault_outputs_set_slot(vault_outputs_t *o, unsigned slot)
{
    o->slot = slot;
    o->epoch = (apr_uint32_t)output_load(&o->table->epoch);
}

void vault_outputs_invalidate(vault_outputs_t *o)
{
    __atomic_add_fetch(&o->table->epoch, 1, __ATOMIC_SEQ_CST);
}

/* ------------------------------------------------------------------ looking */

static unsigned forms_in(const output_record_t *rec, apr_uint64_t state)
{
    unsigned form, set = 0;

    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        set |= rec->body[form].state == state ? VAULT_OUTPUT_FORM_BIT(form) : 0;
    }
    return set;
}

static void copy_entry(const vault_outputs_t *o, const output_record_t *rec, vault_output_entry_t *entry,
                       apr_pool_t *pool)
{
    const void *metadata = vault_heap_at(o->heap, rec->metadata);

    entry->ref.index = output_index(o, rec);
    entry->ref.number = output_number(rec);
    entry->metadata = metadata ? apr_pmemdup(pool, metadata, rec->metadata_size) : "";
    entry->metadata_size = metadata ? rec->metadata_size : 0;
    entry->body_size = (apr_size_t)rec->body[VAULT_OUTPUT_PLAIN].size;
    entry->forms = forms_in(rec, OUTPUT_READY);
    entry->refused = forms_in(rec, OUTPUT_REFUSED);
    entry->etag = rec->etag;
    entry->made = rec->made;
    entry->until = rec->until;
    entry->current_at = rec->current_at;
    entry->stale_for = rec->stale_for;
    entry->dep_count = output_deps(rec);
    memcpy(entry->deps, rec->deps, entry->dep_count * sizeof(entry->deps[0]));
}

/* Does the record say that the key is personal, and has that not expired? */
static int is_personal(const output_record_t *rec)
{
    return output_state(rec) == OUTPUT_PERSONAL && !rec->once && rec->until > vault_now();
}

/* Entries are found in the order of their numbers, the newest first: so the search can continue even if the last one
 * was removed meanwhile. */
vault_output_found_t vault_outputs_find(vault_outputs_t *o, const char *key, apr_size_t length,
                                        vault_output_entry_t *entry, apr_pool_t *pool)
{
    apr_uint64_t hash = output_hash(o, key, length), before = entry->ref.number;
    output_record_t *rec, *found = NULL;
    apr_uint32_t personal = 0;

    output_lock(o);
    for (rec = output_next(o, NULL, hash, key, length); rec; rec = output_next(o, rec, hash, key, length)) {
        apr_uint64_t number = output_number(rec);

        personal = is_personal(rec) ? rec->personal : personal;
        if (output_state(rec) == OUTPUT_KEPT && (!before || number < before) &&
            (!found || number > output_number(found))) {
            found = rec;
        }
    }
    if (found) {
        copy_entry(o, found, entry, pool);
    }
    output_unlock(o, NULL);
    entry->personal = personal < VAULT_PERSONAL_COUNT ? (vault_personal_t)personal : VAULT_PERSONAL_NOT;
    return found ? VAULT_OUTPUT_ENTRY : personal ? VAULT_OUTPUT_PERSONAL : VAULT_OUTPUT_NONE;
}

static int has_moved(vault_outputs_t *o, const vault_output_entry_t *entry)
{
    unsigned i;

    for (i = 0; i < entry->dep_count; i++) {
        if (vault_interest_stamp(o->notifier, entry->deps[i].interest) != entry->deps[i].stamp) {
            return 1;
        }
    }
    return 0;
}

/* Removing an interest changes its stamp, so an entry that was removed meanwhile is not current. */
int vault_output_is_current(vault_outputs_t *o, const vault_output_entry_t *entry, apr_time_t now)
{
    return !(entry->until && entry->until <= now) && !has_moved(o, entry);
}

/* A time limit invalidates at `until`. A notify may have come right after the entry was last found to be current. */
int vault_output_may_be_stale(vault_outputs_t *o, const vault_output_entry_t *entry, apr_time_t now)
{
    apr_time_t since = has_moved(o, entry) ? entry->current_at : entry->until;

    return entry->stale_for > 0 && now < since + entry->stale_for;
}

int vault_output_is_being_made(vault_outputs_t *o, const vault_output_ref_t *ref)
{
    const output_record_t *rec = output_find(o, ref, OUTPUT_MAKING);

    return rec && !vault_lease_is_expired(o->notifier, output_load(&rec->lease));
}

/* --------------------------------------------------------------------- body */

/* Copies a body that is in memory. @return APR_INCOMPLETE: `room` is too small; `size` says how large it must be */
static apr_status_t read_locked(vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form, char *text,
                                apr_size_t room, apr_uint64_t *size, int *on_disk)
{
    output_record_t *rec = output_find(o, ref, OUTPUT_KEPT);
    const output_body_t *body = rec ? &rec->body[form] : NULL;
    const char *stored;

    if (!body || body->state != OUTPUT_READY) {
        return APR_NOTFOUND;
    }
    *size = body->size;
    *on_disk = body->disk != 0;
    if (!*on_disk && *size > room) {
        return APR_INCOMPLETE;
    }
    if (!*on_disk && *size) {
        stored = vault_heap_at(o->heap, body->block);
        if (!stored || *size > vault_heap_block_takes(o->heap, body->block)) {
            return APR_NOTFOUND; /* a stray write */
        }
        memcpy(text, stored, *size);
    }
    o->table->hits++;
    output_touch(o, rec, 1);
    return APR_SUCCESS;
}

apr_status_t vault_output_body(vault_outputs_t *o, const vault_output_entry_t *entry, vault_output_form_t form,
                               vault_output_body_t *body, apr_pool_t *pool)
{
    apr_uint64_t size = form == VAULT_OUTPUT_PLAIN ? entry->body_size : 0;
    apr_size_t room = 0;
    char *text = NULL;
    int on_disk = 0;
    apr_status_t rv;

    memset(body, 0, sizeof(*body));
    do { /* allocate without the lock; a body above memory_max is in a file */
        if (size > room && size <= o->limits.memory_max) {
            room = (apr_size_t)size;
            text = apr_palloc(pool, room);
        }
        output_lock(o);
        rv = read_locked(o, &entry->ref, form, text, room, &size, &on_disk);
        output_unlock(o, NULL);
    } while (rv == APR_INCOMPLETE && size <= o->limits.memory_max);
    if (rv == APR_SUCCESS && on_disk) {
        rv = output_file_open(o, &entry->ref, form, size, &body->file, pool);
    }
    if (rv == APR_SUCCESS) {
        body->text = on_disk ? NULL : text ? text : "";
        body->size = (apr_size_t)size;
    }
    return rv == APR_INCOMPLETE ? APR_NOTFOUND : rv;
}
