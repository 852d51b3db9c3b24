/* SPDX-License-Identifier: Apache-2.0 */
/* Totals and listings of the output store, for the status pages. */
#include "output/output_table.h"

#include <stdlib.h>
#include <string.h>

#include "apr_strings.h"

#include "base/now.h"

void vault_outputs_totals(vault_outputs_t *o, vault_output_totals_t *totals)
{
    const output_table_t *t = o->table;

    output_lock(o);
    totals->entries = t->count[OUTPUT_KEPT];
    totals->making = t->count[OUTPUT_MAKING];
    totals->memory = vault_heap_used(o->heap);
    totals->files = t->files;
    totals->kept = t->kept;
    totals->hits = t->hits;
    totals->misses = t->misses;
    totals->renewed = t->renewed;
    totals->evicted = t->evicted;
    totals->personal = t->personal;
    totals->waits = t->waits;
    totals->write_errors = output_load(&t->write_errors);
    totals->write_error = output_load(&t->write_error);
    output_unlock(o, NULL);
}

/* -------------------------------------------------------------------- names */

const char *output_name(const vault_outputs_t *o, const output_record_t *rec, apr_size_t *length)
{
    const char *key = vault_heap_at(o->heap, rec->key), *end = key ? memchr(key, '\n', rec->key_length) : NULL;

    *length = end ? (apr_size_t)(end - key) : key ? rec->key_length : 0;
    return key ? key : "";
}

static int contains(const char *name, apr_size_t length, const char *part)
{
    return memmem(name, length, part, strlen(part)) != NULL;
}

/* @param url  "scheme://host/path?query", or a path that the URL ends with */
static int is_url(const char *name, apr_size_t length, const char *url)
{
    const char *at = memchr(name, ' ', length), *host;
    apr_size_t wanted = strlen(url);

    if (!at) {
        return 0;
    }
    length -= (apr_size_t)(++at - name);
    if (*url == '/' && url[1] != '/' && (host = memmem(at, length, "//", 2))) {
        const char *path = memchr(host + 2, '/', length - (apr_size_t)(host + 2 - at));
        length -= path ? (apr_size_t)(path - at) : length;
        at = path;
    }
    return length == wanted && !memcmp(at, url, wanted);
}

int output_matches(const vault_outputs_t *o, const output_record_t *rec, const vault_output_filter_t *filter)
{
    apr_size_t length;
    const char *name = output_name(o, rec, &length);

    return output_state(rec) != OUTPUT_FREE && (!filter || ((!filter->part || contains(name, length, filter->part)) &&
                                                            (!filter->url || is_url(name, length, filter->url))));
}

/* --------------------------------------------------------------------- rows */

/* An entry before its row is made. */
typedef struct found_t {
    vault_output_ref_t ref;
    apr_uint64_t value; /* by which it is ordered */
} found_t;

static apr_uint64_t value_of(const output_record_t *rec, vault_output_order_t order)
{
    apr_uint64_t size = 0;
    unsigned form;

    switch (order) {
    case VAULT_OUTPUT_BY_HITS:
        return rec->hits;
    case VAULT_OUTPUT_BY_RENEWALS:
        return rec->renewed;
    case VAULT_OUTPUT_BY_AGE:
        return ~(apr_uint64_t)rec->made;
    case VAULT_OUTPUT_BY_SIZE:
        for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
            size += rec->body[form].state == OUTPUT_READY ? rec->body[form].size : 0;
        }
        return size;
    case VAULT_OUTPUT_BY_USE:
        break;
    }
    return rec->last_use;
}

static apr_array_header_t *collect(vault_outputs_t *o, const vault_output_filter_t *filter, vault_output_order_t order,
                                   apr_pool_t *pool)
{
    apr_array_header_t *all = apr_array_make(pool, OUTPUT_STEP, sizeof(found_t));
    apr_uint32_t i = 1, end;

    while (i <= output_load(&o->table->high_water)) {
        output_lock(o);
        for (end = i + OUTPUT_STEP; i < end && i <= o->table->high_water; i++) {
            const output_record_t *rec = &o->records[i];
            if (output_matches(o, rec, filter)) {
                found_t *found = apr_array_push(all);
                found->ref = (vault_output_ref_t){i, output_number(rec)};
                found->value = value_of(rec, order);
            }
        }
        output_unlock(o, NULL);
    }
    return all;
}

/* Descending by value; of equal values the newest entry comes first. */
static int compare(const void *a, const void *b)
{
    const found_t *x = a, *y = b;

    if (x->value != y->value) {
        return x->value < y->value ? 1 : -1;
    }
    return x->ref.number < y->ref.number ? 1 : -1;
}

static void copy_row(const vault_outputs_t *o, const output_record_t *rec, vault_output_row_t *row, apr_pool_t *pool)
{
    const char *note = vault_heap_at(o->heap, rec->note);
    apr_size_t length;
    const char *name = output_name(o, rec, &length);
    unsigned form;

    memset(row, 0, sizeof(*row));
    note = note ? apr_pstrndup(pool, note, vault_heap_block_takes(o->heap, rec->note)) : NULL;
    row->name = apr_pstrndup(pool, name, length);
    row->making = output_state(rec) == OUTPUT_MAKING;
    row->waits = rec->waits;
    row->hits = rec->hits;
    row->renewed = rec->renewed;
    row->made = rec->made;
    row->used = rec->used;
    row->until = rec->until;
    if (output_state(rec) == OUTPUT_PERSONAL) {
        row->personal = note ? note : "";
    }
    else {
        row->renewed_by = note;
        row->stale = output_state(rec) == OUTPUT_KEPT && output_is_stale(o, rec, vault_now());
    }
    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        row->size[form] = rec->body[form].state == OUTPUT_READY ? rec->body[form].size : 0;
        row->in_file[form] = rec->body[form].disk != 0;
    }
}

/* An entry that is removed meanwhile is not in the list. */
apr_array_header_t *vault_outputs_list(vault_outputs_t *o, const vault_output_filter_t *filter,
                                       vault_output_order_t order, unsigned most, unsigned *total, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, 16, sizeof(vault_output_row_t));
    apr_array_header_t *all = collect(o, filter, order, pool);
    const found_t *found = (const found_t *)(const void *)all->elts;
    unsigned i;

    qsort(all->elts, (size_t)all->nelts, sizeof(*found), compare);
    for (i = 0; i < (unsigned)all->nelts && (unsigned)rows->nelts < most; i++) {
        const output_record_t *rec = output_at(o, found[i].ref.index);

        output_lock(o);
        if (output_number(rec) == found[i].ref.number && output_state(rec) != OUTPUT_FREE) {
            copy_row(o, rec, apr_array_push(rows), pool);
        }
        output_unlock(o, NULL);
    }
    if (total) {
        *total = (unsigned)all->nelts;
    }
    return rows;
}
