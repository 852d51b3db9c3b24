/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of pages from the output store.
 *
 * While a part is rendered, its output is collected: it is written to the page when it is complete. A part that is not
 * recorded, or that becomes too long to be kept, is passed on as it comes.
 */
#include "cache/cache_part.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"

#include "base/now.h"
#include "cache/cache_conf.h"
#include "cache/cache_headers.h"
#include "cache/cache_interests.h"
#include "page/method_url.h"
#include "recording/includes.h"
#include "recording/judge.h"
#include "request/main_request.h"
#include "request/subrequest.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/headers.h"
#include "view/recorded.h"

APLOG_USE_MODULE(vault);

/* A longer part is not kept. */
#define LENGTH_MAX (8 * 1024 * 1024)

static ap_filter_rec_t *part_filter;

typedef struct part_t {
    request_rec *r;   /* the document with the tag */
    request_rec *sub; /* the part */
    vault_context_t *x;
    apr_bucket_brigade *bb; /* what the document has written */
    ap_filter_t *next;
    const char *key;
    apr_uint64_t vary;       /* see vault_cache_headers_vary_hash() */
    vault_recording_t *rec;  /* NULL: it is not recorded, or no longer */
    apr_bucket_brigade *out; /* what the part has written; NULL: it is passed on as it comes */
    apr_off_t length;
    int broken; /* its output has broken off */
    int failed; /* its status is that of a server error */
} part_t;

/* -------------------------------------------------------------------- filter */

/* Ends the recording of the part. What the page renders from here on is recorded for the page alone. */
static void end_recording(part_t *p, const char *body, apr_size_t length)
{
    vault_recording_t *rec = p->rec;
    const char *why;

    p->rec = NULL;
    p->x->recording = rec->outer;
    if ((why = vault_recording_end(rec, body, length))) {
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, p->r, VLTNO(00420) "the part %s is not kept: %s", p->sub->uri, why);
    }
}

/* Passes all on. The recording of the part ends first, because the filters of the page read the current recording. */
static apr_status_t pass_all(part_t *p)
{
    apr_bucket_brigade *out = p->out;
    apr_status_t rv;

    if (p->rec) {
        end_recording(p, NULL, 0);
    }
    p->out = NULL;
    rv = ap_pass_brigade(p->next, p->bb);
    apr_brigade_cleanup(p->bb);
    return rv == APR_SUCCESS && out ? ap_pass_brigade(p->next, out) : rv;
}

static int has_error(const apr_bucket_brigade *bb)
{
    apr_bucket *b;

    for (b = APR_BRIGADE_FIRST(bb); b != APR_BRIGADE_SENTINEL(bb); b = APR_BUCKET_NEXT(b)) {
        if (AP_BUCKET_IS_ERROR(b)) {
            return 1;
        }
    }
    return 0;
}

static apr_status_t filter_part(ap_filter_t *f, apr_bucket_brigade *bb)
{
    part_t *p = f->ctx;
    apr_off_t length = 0;
    apr_status_t rv;

    p->broken |= has_error(bb);
    if (p->out) {
        rv = apr_brigade_length(bb, 1, &length);
        p->length += length;
        if (rv == APR_SUCCESS && p->length <= LENGTH_MAX) {
            return ap_save_brigade(f, &p->out, &bb, p->r->pool);
        }
        if (rv != APR_SUCCESS || (rv = pass_all(p)) != APR_SUCCESS) {
            return rv;
        }
    }
    return ap_pass_brigade(p->next, bb);
}

/* ----------------------------------------------------------------- a kept part */

/* Has rendering the part done anything for its page? */
static int changes_page(const vault_state_t *made)
{
    int i;

    for (i = 0; i < made->methods->nelts; i++) {
        if (APR_ARRAY_IDX(made->methods, i, vault_method_t).deps->nelts) {
            return 1;
        }
    }
    return made->cursors->nelts || made->properties->nelts || made->acks->nelts;
}

/* The page holds what the part depends on, before the part is known to be current.
 * @param txn  set to the page's; NULL: there is none
 * @return 0: the part cannot be used */
static int prepare_page(part_t *p, const vault_output_entry_t *entry, const vault_output_metadata_t *metadata,
                        vault_page_txn_t **txn)
{
    *txn = metadata->made && changes_page(metadata->made) ? vault_context_txn(p->r, NULL) : NULL;
    return !*txn ||
           (vault_metadata_matches(metadata, *txn, p->r->pool) && vault_page_txn_may_take(*txn, metadata->made) &&
            vault_page_txn_hold_deps(*txn, entry->deps, entry->dep_count));
}

static void note_positions(part_t *p, const vault_state_t *made)
{
    int i;

    for (i = 0; i < made->cursors->nelts; i++) {
        const vault_cursor_t *c = &APR_ARRAY_IDX(made->cursors, i, vault_cursor_t);
        vault_taken_t *taken = apr_palloc(p->x->pool, sizeof(*taken));

        taken->position = c->value;
        taken->part = p->key;
        if (!p->x->taken) {
            p->x->taken = apr_hash_make(p->x->pool);
        }
        apr_hash_set(p->x->taken, c->key, APR_HASH_KEY_STRING, taken);
    }
}

static void write_body(part_t *p, const vault_output_body_t *body)
{
    if (body->file) {
        apr_brigade_insert_file(p->bb, body->file, 0, (apr_off_t)body->size, p->r->pool);
    }
    else if (body->size) {
        APR_BRIGADE_INSERT_TAIL(p->bb, apr_bucket_pool_create(body->text, body->size, p->r->pool, p->bb->bucket_alloc));
    }
}

static int is_usable(const vault_output_entry_t *entry, int stale)
{
    return vault_output_is_current(vault_server->outputs, entry, vault_now()) ||
           (stale && vault_output_may_be_stale(vault_server->outputs, entry, vault_now()));
}

/* @return 0: the entry cannot be used */
static int use_entry(part_t *p, const vault_output_entry_t *entry, int stale)
{
    apr_pool_t *pool = p->x->pool;
    vault_output_metadata_t metadata;
    vault_output_body_t body;
    vault_page_txn_t *txn;

    if (!vault_metadata_decode(&metadata, entry->metadata, entry->metadata_size, pool) ||
        !vault_cache_headers_match(&metadata, p->sub) || !vault_metadata_files_match(&metadata, pool) ||
        !vault_includes_match(&metadata, p->r) || !prepare_page(p, entry, &metadata, &txn) ||
        !is_usable(entry, stale) ||
        vault_output_body(vault_server->outputs, entry, VAULT_OUTPUT_PLAIN, &body, p->r->pool) != APR_SUCCESS) {
        return 0;
    }
    if (txn) {
        vault_page_txn_take(txn, metadata.made);
        note_positions(p, metadata.made);
    }
    vault_recording_part(p->x->recording, entry, &metadata);
    write_body(p, &body);
    vault_tally(parts, 1);
    return 1;
}

static vault_output_found_t find(part_t *p, int stale)
{
    vault_output_found_t found;
    vault_output_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    p->vary = 0;
    for (;;) {
        found = vault_outputs_find(vault_server->outputs, p->key, strlen(p->key), &entry, p->x->pool);
        if (found != VAULT_OUTPUT_ENTRY || use_entry(p, &entry, stale)) {
            return found;
        }
        p->vary = p->vary ? p->vary : vault_cache_headers_vary_hash(&entry, p->sub);
    }
}

/* A page with an outdated part is not kept.
 * @return 0: there is none that may be used */
static int find_stale(part_t *p)
{
    if (!vault_cache_conf_stale(p->sub) || !vault_cache_headers_accept_stale(p->sub) ||
        find(p, 1) != VAULT_OUTPUT_ENTRY) {
        return 0;
    }
    vault_recording_drop(p->x->recording, VAULT_PERSONAL_NOT, "a part of it is outdated");
    return 1;
}

/* ------------------------------------------------------------------- rendering */

static request_rec *last_of(request_rec *sub)
{
    while (sub->next) {
        sub = sub->next;
    }
    return sub;
}

/* The handler of a part may say that its output is shared (view/recorded.c). */
static void allow_share(part_t *p)
{
    apr_table_setn(p->sub->notes, VAULT_RECORDED_PART, "1");
}

/* @return NULL, or why there is no part */
static const char *run(part_t *p)
{
    const request_rec *last;
    int status;

    vault_subrequest_unset_headers(p->sub);
    status = ap_run_sub_req(p->sub);
    last = last_of(p->sub);
    p->failed = ap_is_HTTP_SERVER_ERROR(status) || ap_is_HTTP_SERVER_ERROR(last->status);
    if (p->x->recording) {
        vault_cache_headers_judge(p->x->recording, last, NULL, NULL);
    }
    if (status != OK || last->status != HTTP_OK || p->broken || p->r->connection->aborted ||
        vault_headers_say_compressed(last)) {
        vault_recording_drop(p->x->recording, VAULT_PERSONAL_NOT, "a part of it failed, or is compressed");
    }
    return status == OK ? NULL : apr_psprintf(p->r->pool, "its handler answered %d", status);
}

/* Renders the part as a piece of its page. */
static const char *include(part_t *p)
{
    pass_all(p);
    return run(p);
}

static int names_page(const part_t *p, const char *body, apr_size_t length)
{
    char id[VAULT_PAGE_ID_LEN + 1];

    vault_page_format(&p->x->page, id);
    return length >= VAULT_PAGE_ID_LEN && memmem(body, length, id, VAULT_PAGE_ID_LEN) != NULL;
}

static void describe(part_t *p, const vault_state_t *made, const char *body, apr_size_t length)
{
    vault_recording_t *rec = p->rec;

    rec->metadata.made = made;
    if (names_page(p, body, length)) {
        vault_recording_of_page(rec, "it contains the id of its page");
    }
    if (!vault_recording_has_end(rec)) {
        vault_recording_drop(rec, VAULT_PERSONAL_ENDLESS,
                             "nothing says when it changes: it has no interest and no max-age");
    }
    if (p->x->refused || (p->x->txn && vault_page_txn_failed(p->x->txn))) {
        vault_recording_drop(rec, VAULT_PERSONAL_NOT, "it failed");
    }
}

static void keep(part_t *p, const vault_state_t *made)
{
    apr_size_t length = 0;
    char *body = NULL;

    if (!p->rec) {
        return;
    }
    if (apr_brigade_pflatten(p->out, &body, &length, p->r->pool) != APR_SUCCESS) {
        end_recording(p, NULL, 0);
        return;
    }
    describe(p, made, body ? body : "", length);
    vault_cache_interests_keep(p->rec, p->key);
    end_recording(p, body ? body : "", length);
}

/* Renders the part with a recording of its own. */
static const char *record(part_t *p, const vault_output_lead_t *lead)
{
    vault_page_txn_t *txn = p->x->txn;
    vault_page_txn_outer_t outer;
    vault_state_t *made = NULL;
    const char *error;

    p->rec = p->x->recording = vault_recording_begin(lead, p->x->recording, p->r->pool);
    p->rec->is_part = 1;
    p->rec->stale_for = vault_cache_conf_stale(p->sub);
    vault_cache_interests_hold(p->rec, vault_cache_interests_find(p->key, p->x->pool));
    allow_share(p);
    if (txn) {
        vault_page_txn_enter_part(txn, &outer);
    }
    error = run(p);
    if (txn) {
        made = vault_page_txn_leave_part(txn, &outer);
    }
    else if (p->x->txn) { /* the part is the first that has needed the page */
        made = vault_page_txn_made(p->x->txn);
    }
    keep(p, made);
    if (p->out && p->failed && !(made && changes_page(made)) && find_stale(p)) {
        return NULL;
    }
    if (p->out && !error) {
        APR_BRIGADE_CONCAT(p->bb, p->out);
    }
    return error;
}

/* ---------------------------------------------------------------- kept or rendered */

/* In a method the part is for one page, with a state of its own. A page that has set properties is excluded, because
 * the part may read them. */
static int may_be_kept(const part_t *p)
{
    const vault_context_t *x = p->x;

    return vault_server->outputs && vault_cache_conf_of(p->sub)->on == 1 && !p->sub->user && !x->in_method && !x->own &&
           !apr_table_get(p->sub->headers_in, "Authorization") && !(x->txn && vault_page_txn_has_written(x->txn)) &&
           (!x->calls.run || vault_judge_knows(p->sub));
}

static int is_reload(const part_t *p)
{
    return vault_cache_headers_is_reload(p->sub);
}

static const char *lead(part_t *p)
{
    vault_output_lead_t right;
    apr_status_t rv = vault_output_lead(vault_server->outputs, p->key, strlen(p->key), VAULT_RECORDING_PLAIN + p->vary,
                                        vault_server->slot, &right);

    if (rv == APR_SUCCESS && !is_reload(p) &&
        find(p, 0) == VAULT_OUTPUT_ENTRY) { /* kept between the search and the lead */
        vault_output_abandon(vault_server->outputs, &right, NULL);
        return NULL;
    }
    if (rv == APR_SUCCESS) {
        return record(p, &right);
    }
    if (rv == APR_EBUSY && find_stale(p)) {
        return NULL;
    }
    /* the dependencies of the part are not known */
    vault_recording_drop(p->x->recording, VAULT_PERSONAL_NOT, "it contains a part that is not kept yet");
    allow_share(p);
    return include(p);
}

static const char *write_part(part_t *p)
{
    if (!may_be_kept(p)) {
        return include(p);
    }
    switch (is_reload(p) ? VAULT_OUTPUT_NONE : find(p, 0)) {
    case VAULT_OUTPUT_ENTRY:
        return NULL;
    case VAULT_OUTPUT_PERSONAL:
        vault_recording_personal(p->x->recording, VAULT_PERSONAL_PART, "it contains a part that is personal");
        return include(p);
    case VAULT_OUTPUT_NONE:
        break;
    }
    return lead(p);
}

/* The key has all that httpd has decided about the path. It is also how the page that contains the part finds out
 * whether the same is decided for another visitor (recording/includes.h). */
static int make_key(part_t *p)
{
    const char *made = vault_includes_made(p->sub, VAULT_INCLUDES_PART, p->x->pool);
    const char *varies = vault_cache_conf_of(p->sub) ? vault_cache_conf_varies(p->sub) : "";

    vault_recording_include(p->x->recording, p->sub->unparsed_uri, made);
    if (!varies) {
        return 0;
    }
    if (*varies) {
        vault_recording_personal(p->x->recording, VAULT_PERSONAL_PART, "it contains a part with VaultCacheKey");
        apr_table_setn(p->sub->notes, VAULT_RECORDED_DECLARED, "1");
    }
    p->key = apr_pstrcat(p->x->pool, made, "\n", varies, NULL);
    return 1;
}

/* ------------------------------------------------------------------------- tag */

/* A path without "." and ".." as names of folders. */
static int is_path(const char *url, apr_pool_t *pool)
{
    char *path = apr_pstrmemdup(pool, url, strcspn(url, "?")), *name, *next;

    if (url[0] != '/' || url[1] == '/' || !vault_method_is_url(url) || ap_unescape_url(path) != OK) {
        return 0;
    }
    for (name = apr_strtok(path, "/", &next); name; name = apr_strtok(NULL, "/", &next)) {
        if (!strcmp(name, ".") || !strcmp(name, "..")) {
            return 0;
        }
    }
    return 1;
}

static int contains_itself(const part_t *p)
{
    const request_rec *r;

    for (r = p->r; r; r = r->main) {
        if (!strcmp(r->uri, p->sub->uri)) {
            return 1;
        }
    }
    return 0;
}

/* @return NULL, or why the path cannot be a part */
static const char *check(const part_t *p, int no_exec)
{
    const char *type = p->sub->content_type;

    if (p->sub->status != HTTP_OK) {
        return apr_psprintf(p->r->pool, "its status is %d", p->sub->status);
    }
    if (contains_itself(p)) {
        return "it contains itself";
    }
    return no_exec && type && strncmp(type, "text/", 5) ? "its type is not text, and IncludesNoExec is set" : NULL;
}

const char *vault_cache_part(request_rec *r, const char *url, int no_exec, apr_bucket_brigade *bb, ap_filter_t *next)
{
    part_t p = {.r = r, .x = vault_context_make(r), .bb = bb, .next = next};
    ap_filter_t filter = {.frec = part_filter, .ctx = &p, .r = r, .c = r->connection};
    const char *error;

    if (!is_path(url, r->pool)) {
        return "a path of this site is needed that begins with a slash, percent-encoded, without \"..\"";
    }
    p.out = apr_brigade_create(r->pool, bb->bucket_alloc);
    p.sub = vault_subrequest_make(r, url, &filter, r->pool);
    if (!(error = check(&p, no_exec))) {
        error = make_key(&p) ? write_part(&p) : "VaultCacheKey cannot be evaluated";
    }
    ap_destroy_sub_req(p.sub);
    return error;
}

void vault_cache_part_hooks(void)
{
    part_filter = ap_register_output_filter("VAULT_PART", filter_part, NULL, AP_FTYPE_CONTENT_SET);
}
