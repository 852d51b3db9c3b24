/* SPDX-License-Identifier: Apache-2.0 */
/* What the status pages show of the output store. */
#include "output/output_table.h"

#include <string.h>

#include "apr_strings.h"

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
    totals->write_errors = output_load(&t->write_errors);
    totals->write_error = output_load(&t->write_error);
    output_unlock(o, NULL);
}

/* @return how many */
static unsigned collect(vault_outputs_t *o, vault_output_ref_t *refs, unsigned most)
{
    const output_record_t *rec;
    unsigned count = 0;

    output_lock(o);
    for (rec = output_at(o, o->table->newest); rec && count < most; rec = output_at(o, rec->older)) {
        refs[count].index = output_index(o, rec);
        refs[count++].number = output_number(rec);
    }
    output_unlock(o, NULL);
    return count;
}

static void copy_row(const vault_outputs_t *o, const output_record_t *rec, vault_output_row_t *row, apr_pool_t *pool)
{
    const char *note = vault_heap_at(o->heap, rec->note), *key = vault_heap_at(o->heap, rec->key);
    unsigned form;

    memset(row, 0, sizeof(*row));
    note = note ? apr_pstrndup(pool, note, vault_heap_block_takes(o->heap, rec->note)) : NULL;
    row->key = key ? apr_pmemdup(pool, key, rec->key_length) : "";
    row->key_length = key ? rec->key_length : 0;
    row->making = output_state(rec) == OUTPUT_MAKING;
    row->hits = rec->hits;
    row->renewed = rec->renewed;
    row->made = rec->made;
    row->used = rec->used;
    if (output_state(rec) == OUTPUT_PERSONAL) {
        row->personal = note ? note : "";
    }
    else {
        row->renewed_by = note;
    }
    for (form = 0; form < VAULT_OUTPUT_FORMS; form++) {
        row->size += rec->body[form].state == OUTPUT_READY ? rec->body[form].size : 0;
    }
}

/* The lock is released between the rows, so an entry that goes meanwhile is not in the list. */
apr_array_header_t *vault_outputs_list(vault_outputs_t *o, unsigned most, apr_pool_t *pool)
{
    apr_array_header_t *rows = apr_array_make(pool, 16, sizeof(vault_output_row_t));
    vault_output_ref_t *refs;
    unsigned i, count;

    most = most < o->max ? most : o->max;
    refs = apr_palloc(pool, (most + 1) * sizeof(*refs));
    count = collect(o, refs, most);
    for (i = 0; i < count; i++) {
        const output_record_t *rec = output_at(o, refs[i].index);

        output_lock(o);
        if (output_number(rec) == refs[i].number && output_state(rec) != OUTPUT_FREE) {
            copy_row(o, rec, apr_array_push(rows), pool);
        }
        output_unlock(o, NULL);
    }
    return rows;
}
