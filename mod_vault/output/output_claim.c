/* SPDX-License-Identifier: Apache-2.0 */
/* The compressed forms of a body: each is made once, by the child that claims it. */
#include "output/output_table.h"

#include <string.h>

static int is_form(vault_output_form_t form)
{
    return form > VAULT_OUTPUT_PLAIN && form < VAULT_OUTPUT_FORMS;
}

/* Frees what the dead child had reserved or written. */
void output_drop_expired_claims(vault_outputs_t *o, output_record_t *rec, output_deferred_t *deferred)
{
    unsigned form, files = 0;

    for (form = VAULT_OUTPUT_PLAIN + 1; form < VAULT_OUTPUT_FORMS; form++) {
        output_body_t *body = &rec->body[form];

        if ((body->state == OUTPUT_CLAIMED || body->state == OUTPUT_RESERVED) &&
            vault_lease_is_expired(o->notifier, body->lease)) {
            files |= (unsigned)output_free_body(o, body) << form;
        }
    }
    output_defer(o, rec, 0, files, deferred);
}

int vault_output_claim_form(vault_outputs_t *o, const vault_output_entry_t *entry, vault_output_form_t form)
{
    vault_lease_t lease = vault_slot_lease(o->notifier, o->slot);
    output_deferred_t deferred = {0};
    output_record_t *rec;
    int claimed = 0;

    if (!lease || !is_form(form)) {
        return 0;
    }
    output_lock(o);
    rec = output_find(o, &entry->ref, OUTPUT_KEPT);
    if (rec) {
        output_drop_expired_claims(o, rec, &deferred);
        claimed = rec->body[form].state == OUTPUT_ABSENT;
    }
    if (claimed) {
        rec->body[form].lease = lease;
        output_store(&rec->body[form].state, OUTPUT_CLAIMED);
    }
    output_unlock(o, &deferred);
    return claimed;
}

/* The form, if this child has the claim on it and the entry still exists; otherwise NULL. */
static output_body_t *find_claim(vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form,
                                 apr_uint64_t state)
{
    output_record_t *rec = output_find(o, ref, OUTPUT_KEPT);
    output_body_t *body = rec ? &rec->body[form] : NULL;

    return body && body->state == state && body->lease == vault_slot_lease(o->notifier, o->slot) ? body : NULL;
}

/* What fits into memory is copied at once. A larger one is RESERVED: its file is written without the lock. */
static apr_status_t reserve_locked(vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form,
                                   const char *text, apr_size_t size, output_deferred_t *deferred)
{
    output_body_t *body = find_claim(o, ref, form, OUTPUT_CLAIMED);
    apr_status_t rv;

    if (!body) {
        return APR_NOTFOUND;
    }
    rv = text && size ? output_reserve(o, output_at(o, ref->index), form, size, deferred) : APR_ENOSPC;
    if (rv == APR_SUCCESS && body->block) {
        memcpy(vault_heap_at(o->heap, body->block), text, size);
        output_store(&body->state, OUTPUT_READY);
    }
    else if (rv != APR_SUCCESS && !output_may_retry(rv, deferred)) {
        output_store(&body->state, OUTPUT_REFUSED);
    }
    return rv;
}

static void write_file(vault_outputs_t *o, const vault_output_ref_t *ref, vault_output_form_t form, const char *text,
                       apr_size_t size)
{
    apr_status_t rv = output_file_write(o, ref, form, text, size);
    output_body_t *body;

    output_lock(o);
    body = find_claim(o, ref, form, OUTPUT_RESERVED);
    if (body && rv == APR_SUCCESS) {
        output_store(&body->state, OUTPUT_READY);
    }
    else if (body) {
        output_free_body(o, body);
        output_store(&body->state, OUTPUT_REFUSED);
    }
    output_unlock(o, NULL);
    if (!body) { /* the entry was removed meanwhile, perhaps before the file was written */
        output_file_remove(o, ref, 1u << form);
    }
}

void vault_output_add_form(vault_outputs_t *o, const vault_output_entry_t *entry, vault_output_form_t form,
                           const char *text, apr_size_t size)
{
    output_deferred_t deferred = {0};
    apr_status_t rv;
    int again;

    if (!is_form(form)) {
        return;
    }
    do {
        output_lock(o);
        rv = reserve_locked(o, &entry->ref, form, text, size, &deferred);
        again = output_may_retry(rv, &deferred);
        output_unlock(o, &deferred);
    } while (again);
    if (rv == APR_SUCCESS && size > o->limits.memory_max) {
        write_file(o, &entry->ref, form, text, size);
    }
}

void vault_output_abandon_form(vault_outputs_t *o, const vault_output_entry_t *entry, vault_output_form_t form)
{
    output_body_t *body;

    if (!is_form(form)) {
        return;
    }
    output_lock(o);
    body = find_claim(o, &entry->ref, form, OUTPUT_CLAIMED);
    if (body) {
        output_store(&body->state, OUTPUT_ABSENT);
    }
    output_unlock(o, NULL);
}
