/* SPDX-License-Identifier: Apache-2.0 */
/* What an output depends on, collected while it is rendered. */
#include "recording/recording.h"

#include "apr_strings.h"

#include "server/server.h"

static apr_status_t end_unfinished(void *data)
{
    vault_recording_t *rec = data;

    if (!vault_server->ends) {
        vault_output_abandon(vault_server->outputs, &rec->lead, NULL);
    }
    return APR_SUCCESS;
}

vault_recording_t *vault_recording_begin(const vault_output_lead_t *lead, vault_recording_t *outer, apr_pool_t *pool)
{
    vault_recording_t *rec = apr_pcalloc(pool, sizeof(*rec));

    rec->lead = *lead;
    rec->variant = VAULT_RECORDING_PLAIN;
    rec->outer = outer;
    rec->pool = pool;
    rec->held = apr_array_make(pool, 2, sizeof(vault_recording_held_t));
    rec->named = apr_array_make(pool, 1, sizeof(const char *));
    vault_metadata_init(&rec->metadata, pool);
    apr_pool_cleanup_register(pool, rec, end_unfinished, apr_pool_cleanup_null);
    return rec;
}

/* Why the output is not kept. NOT, without a sentence: it may be. */
static vault_output_personal_t why_not(const vault_recording_t *rec)
{
    if (rec->reason) {
        return (vault_output_personal_t){rec->reason, rec->personal, 0};
    }
    if (rec->opaque) {
        return (vault_output_personal_t){VAULT_PERSONAL_HANDLER, rec->opaque_why, 1};
    }
    return (vault_output_personal_t){rec->dropped_as, rec->dropped, 1};
}

/* The dependencies of a part may be among those that were only expected: then all of them stay. */
static void release_unused(const vault_recording_t *rec)
{
    int i;

    for (i = 0; !rec->has_part && i < rec->held->nelts; i++) {
        const vault_recording_held_t *h = &APR_ARRAY_IDX(rec->held, i, vault_recording_held_t);
        if (!h->is_used) {
            vault_output_release(vault_server->outputs, &rec->lead, h->interest);
        }
    }
}

const char *vault_recording_end(vault_recording_t *rec, const char *body, apr_size_t length)
{
    const vault_output_personal_t personal = why_not(rec);
    vault_output_content_t content = {
        .body = body, .body_size = length, .until = rec->until, .stale_for = rec->stale_for};
    apr_status_t rv;

    apr_pool_cleanup_kill(rec->pool, rec, end_unfinished);
    rec->reason = body ? personal.reason : VAULT_PERSONAL_NOT;
    if (rec->reason) {
        vault_tally(personal[rec->reason], 1);
    }
    if (!body || personal.why) {
        vault_output_abandon(vault_server->outputs, &rec->lead, rec->reason ? &personal : NULL);
        return body ? personal.why : "it failed";
    }
    release_unused(rec);
    content.variant =
        rec->variant + vault_metadata_vary_hash(rec->metadata.request, vault_segment_boot(vault_server->segment));
    content.metadata = vault_metadata_encode(&rec->metadata, &content.metadata_size, rec->pool);
    rv = vault_output_keep(vault_server->outputs, &rec->lead, &content);
    return rv == APR_SUCCESS ? NULL : rv == APR_EAGAIN ? "what it depends on has changed" : "there is no room for it";
}

static void drop_one(vault_recording_t *rec, vault_personal_t reason, const char *why)
{
    if (!rec->dropped) {
        rec->dropped = apr_pstrdup(rec->pool, why);
        rec->dropped_as = reason;
    }
}

static vault_recording_held_t *find_held(const vault_recording_t *rec, const char *interest)
{
    int i;

    for (i = 0; i < rec->held->nelts; i++) {
        vault_recording_held_t *h = &APR_ARRAY_IDX(rec->held, i, vault_recording_held_t);
        if (!strcmp(h->interest, interest)) {
            return h;
        }
    }
    return NULL;
}

/* @return NULL: the store cannot hold it */
static vault_recording_held_t *hold(vault_recording_t *rec, const char *interest)
{
    vault_recording_held_t *h = find_held(rec, interest);

    if (!h && vault_output_hold(vault_server->outputs, &rec->lead, interest) == APR_SUCCESS) {
        h = apr_array_push(rec->held);
        h->interest = apr_pstrdup(rec->pool, interest);
        h->is_used = 0;
    }
    return h;
}

void vault_recording_interest(vault_recording_t *rec, const char *interest)
{
    for (; rec; rec = rec->outer) {
        vault_recording_held_t *h = hold(rec, interest);
        if (h) {
            h->is_used = 1;
        }
        else {
            drop_one(rec, VAULT_PERSONAL_NOT, "it has more interests than the store can hold");
        }
    }
}

void vault_recording_expect(vault_recording_t *rec, const char *interest)
{
    if (rec) {
        hold(rec, interest);
    }
}

void vault_recording_late_interest(vault_recording_t *rec, const char *interest)
{
    for (; rec; rec = rec->outer) {
        vault_recording_held_t *h = find_held(rec, interest);
        APR_ARRAY_PUSH(rec->named, const char *) = apr_pstrdup(rec->pool, interest);
        if (h) {
            h->is_used = 1;
        }
        else {
            rec->missed++;
            drop_one(rec, VAULT_PERSONAL_INTEREST, "it names an interest that was not known before it was rendered");
        }
    }
}

void vault_recording_property(vault_recording_t *rec, const char *key, const char *value)
{
    for (; rec; rec = rec->outer) {
        vault_metadata_add_read(rec->metadata.properties, key, value);
    }
}

void vault_recording_cursor(vault_recording_t *rec, const char *key, const vault_cursor_t *cursor)
{
    for (; rec; rec = rec->outer) {
        vault_metadata_add_read(rec->metadata.cursors, key, vault_metadata_cursor(cursor, rec->pool));
    }
}

void vault_recording_first(vault_recording_t *rec, int first)
{
    for (; rec; rec = rec->outer) {
        vault_metadata_add_read(rec->metadata.cursors, "", first ? "" : NULL);
    }
}

void vault_recording_file(vault_recording_t *rec, const char *path, const apr_finfo_t *finfo, apr_time_t checked_at)
{
    for (; rec; rec = rec->outer) {
        vault_metadata_add_file(&rec->metadata, path, finfo, rec->pool);
        if (finfo && vault_metadata_is_racy(finfo->ctime, checked_at)) {
            drop_one(rec, VAULT_PERSONAL_NOT, "a file of it has just changed");
        }
    }
}

void vault_recording_path(vault_recording_t *rec, const char *path)
{
    apr_finfo_t finfo;

    if (rec) {
        apr_time_t checked_at = apr_time_now();
        apr_status_t rv = apr_stat(&finfo, path, VAULT_METADATA_STAT, rec->pool);
        vault_recording_file(rec, path, rv == APR_SUCCESS ? &finfo : NULL, checked_at);
    }
}

void vault_recording_personal(vault_recording_t *rec, vault_personal_t reason, const char *why)
{
    for (; rec; rec = rec->outer) {
        if (!rec->reason) {
            rec->reason = reason;
            rec->personal = apr_pstrdup(rec->pool, why);
        }
    }
}

void vault_recording_of_page(vault_recording_t *rec, const char *why)
{
    if (rec && rec->is_part && !rec->personal) {
        rec->reason = VAULT_PERSONAL_PART;
        rec->personal = apr_pstrdup(rec->pool, why);
    }
}

static int has_read(const apr_array_header_t *list, const char *key)
{
    int i;

    for (i = 0; i < list->nelts; i++) {
        if (!strcmp(APR_ARRAY_IDX(list, i, vault_property_t).key, key)) {
            return 1;
        }
    }
    return 0;
}

void vault_recording_recalled(vault_recording_t *rec, const char *cursor)
{
    for (; rec; rec = rec->outer) {
        if (!has_read(rec->metadata.cursors, cursor)) {
            vault_recording_of_page(rec, "its page has made the same call of a feed before");
        }
    }
}

void vault_recording_opaque(vault_recording_t *rec, const char *why)
{
    for (; rec; rec = rec->outer) {
        if (!rec->opaque++) {
            rec->opaque_why = apr_pstrdup(rec->pool, why);
        }
    }
}

void vault_recording_share(vault_recording_t *rec)
{
    for (; rec; rec = rec->outer) {
        rec->opaque--;
    }
}

void vault_recording_drop(vault_recording_t *rec, vault_personal_t reason, const char *why)
{
    for (; rec; rec = rec->outer) {
        drop_one(rec, reason, why);
    }
}

void vault_recording_never_stale(vault_recording_t *rec)
{
    for (; rec; rec = rec->outer) {
        rec->stale_for = 0;
    }
}

void vault_recording_until(vault_recording_t *rec, apr_time_t until)
{
    for (; rec; rec = rec->outer) {
        if (!rec->until || until < rec->until) {
            rec->until = until;
        }
    }
}

void vault_recording_header(vault_recording_t *rec, const char *name, const char *value)
{
    for (; rec; rec = rec->outer) {
        vault_metadata_add_read(rec->metadata.request, name, value);
    }
}

int vault_recording_has_end(const vault_recording_t *rec)
{
    int i;

    for (i = 0; i < rec->held->nelts; i++) {
        if (APR_ARRAY_IDX(rec->held, i, vault_recording_held_t).is_used) {
            return 1;
        }
    }
    return rec->metadata.files->nelts || rec->until;
}

void vault_recording_include(vault_recording_t *rec, const char *path, const char *made)
{
    for (; rec; rec = rec->outer) {
        vault_metadata_add_read(rec->metadata.includes, path, made);
    }
}

static void read_all(apr_array_header_t *list, const apr_array_header_t *more)
{
    int i;

    for (i = 0; i < more->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(more, i, vault_property_t);
        vault_metadata_add_read(list, p->key, p->value);
    }
}

static void add_files(vault_recording_t *rec, const apr_array_header_t *files)
{
    int i;

    for (i = 0; i < files->nelts; i++) {
        vault_output_file_t *f = apr_array_push(rec->metadata.files);
        *f = APR_ARRAY_IDX(files, i, vault_output_file_t);
        f->path = apr_pstrdup(rec->pool, f->path);
    }
}

void vault_recording_part(vault_recording_t *rec, const vault_output_entry_t *part,
                          const vault_output_metadata_t *metadata)
{
    if (part->until) {
        vault_recording_until(rec, part->until);
    }
    for (; rec; rec = rec->outer) {
        rec->has_part = 1;
        if (vault_output_hold_deps(vault_server->outputs, &rec->lead, part) != APR_SUCCESS) {
            drop_one(rec, VAULT_PERSONAL_NOT, "a part of it cannot be held");
        }
        read_all(rec->metadata.properties, metadata->properties);
        read_all(rec->metadata.cursors, metadata->cursors);
        read_all(rec->metadata.request, metadata->request);
        read_all(rec->metadata.includes, metadata->includes);
        add_files(rec, metadata->files);
    }
}
