/* SPDX-License-Identifier: Apache-2.0 */
/* Makes the body of a bundle once for all processes: the output store says who makes it, and keeps it. */
#include "bundle/bundle_body.h"

#include <string.h>

#include "apr_sha1.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "base/now.h"
#include "output/output_store.h"
#include "server/log.h"
#include "server/server.h"
#include "socache/socache.h"
#include "suspend/suspend.h"

APLOG_USE_MODULE(vault);

/* Any constants: what is hashed comes from the administrator. */
#define ETAG_SEED 0x6a6f696e6564ULL
#define VARIANT_SEED 0x76617269616e74ULL
/* A command that has failed is run again after this time, or when a file has changed. */
#define RETRY_AFTER apr_time_from_sec(60)
#define DEADLINE "mod_vault bundle"
/* Other servers need what the command has made when they start, or when they have the same files a little later. */
#define SHARED_FOR apr_time_from_sec(7 * 24 * 3600)

/* The metadata of an entry in the store. */
typedef struct metadata_t {
    apr_uint64_t variant;  /* the names of the files, and the command */
    apr_uint64_t identity; /* the same, and the files as they were */
    apr_uint64_t is_final; /* 0: the command has failed */
} metadata_t;

/* The parameters of a search for a body. */
typedef struct lookup_t {
    request_rec *r;
    const vault_bundle_t *b;
    const vault_bundle_tool_t *tool;
    const char *key;
    metadata_t metadata;
} lookup_t;

void vault_bundle_body_log_error(request_rec *r, const vault_bundle_t *b, const char *error)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);

    ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00411) "VaultBundle %s: %s", b->url, error);
}

const char *vault_bundle_body_hash(request_rec *r, const vault_bundle_t *b, vault_bundle_stat_t **stats,
                                   apr_uint64_t *hash)
{
    const vault_bundle_tool_t *tool = vault_bundle_conf_tool(vault_bundle_conf_of(r), b);
    const char *error = vault_bundle_files_stat(&b->files, stats, r->pool);

    if (!error) {
        error = vault_bundle_files_hash(&b->files, stats, hash, r->pool);
    }
    if (!error) {
        *hash = vault_hash_text(*hash, tool ? tool->command : "");
    }
    return error;
}

/* -------------------------------------------------------------------- joining */

static void use_text(vault_bundle_body_t *body, const char *text, apr_size_t size, int is_final)
{
    body->text = text;
    body->size = size;
    body->form = VAULT_OUTPUT_PLAIN;
    body->etag = vault_hash(ETAG_SEED, text, size);
    body->is_final = is_final;
}

/* Without the store nothing is minified or compressed, as that would be done for each request. */
static int join(request_rec *r, const vault_bundle_t *b, vault_bundle_stat_t **stats, vault_bundle_body_t *body)
{
    vault_bundle_text_t joined;
    const char *error = vault_bundle_files_join(&b->files, stats, &joined, r->pool);

    if (error) {
        vault_bundle_body_log_error(r, b, error);
        return HTTP_SERVICE_UNAVAILABLE;
    }
    use_text(body, joined.text, joined.size, !vault_bundle_conf_tool(vault_bundle_conf_of(r), b));
    return OK;
}

/* --------------------------------------------------------------------- lookup */

static void identify(lookup_t *w, const vault_bundle_stat_t *stats)
{
    const apr_array_header_t *paths = w->b->files.paths;
    apr_uint64_t hash = w->tool ? w->tool->identity : VARIANT_SEED;
    int i;

    for (i = 0; i < paths->nelts; i++) {
        hash = vault_hash_text(hash, APR_ARRAY_IDX(paths, i, const char *));
    }
    w->metadata.variant = hash;
    w->metadata.identity = stats ? vault_hash(hash, stats, (apr_size_t)paths->nelts * sizeof(*stats)) : 0;
}

static void lookup_init(lookup_t *w, request_rec *r, const vault_bundle_t *b, const vault_bundle_stat_t *stats)
{
    const server_rec *s = b->server;

    w->r = r;
    w->b = b;
    w->tool = vault_bundle_conf_tool(vault_bundle_conf_of(r), b);
    w->key = apr_psprintf(r->pool, "bundle //%s:%u%s", s->server_hostname ? s->server_hostname : "",
                          s->addrs ? s->addrs->host_port : s->port, b->url);
    identify(w, stats);
}

/* @param any  1: also what was made of the files as they were before */
static int find_entry(const lookup_t *w, int any, vault_output_entry_t *entry)
{
    memset(entry, 0, sizeof(*entry));
    while (vault_outputs_find(vault_server->outputs, w->key, strlen(w->key), entry, w->r->pool) == VAULT_OUTPUT_ENTRY) {
        const metadata_t *f = entry->metadata;
        if (entry->metadata_size == sizeof(*f) && f->variant == w->metadata.variant &&
            (any || (f->identity == w->metadata.identity &&
                     vault_output_is_current(vault_server->outputs, entry, vault_now())))) {
            return 1;
        }
    }
    return 0;
}

/* ---------------------------------------------------------------------- forms */

static int take_form(const lookup_t *w, const vault_output_entry_t *entry, vault_output_form_t form,
                     vault_bundle_body_t *body)
{
    vault_output_body_t found;

    if (vault_output_body(vault_server->outputs, entry, form, &found, w->r->pool) != APR_SUCCESS) {
        return 0;
    }
    body->text = found.text;
    body->file = found.file;
    body->size = found.size;
    body->form = form;
    return 1;
}

/* The plain text of an entry. @return NULL: it is gone */
static const char *read_plain(const lookup_t *w, const vault_output_entry_t *entry, apr_size_t *size)
{
    vault_bundle_body_t plain = {.text = NULL};
    char *text;

    if (!take_form(w, entry, VAULT_OUTPUT_PLAIN, &plain)) {
        return NULL;
    }
    *size = plain.size;
    if (!plain.file) {
        return plain.text;
    }
    text = apr_palloc(w->r->pool, plain.size + 1);
    return apr_file_read_full(plain.file, text, plain.size, NULL) == APR_SUCCESS ? text : NULL;
}

/* One request makes a form; others are sent another one meanwhile. */
static int make_form(const lookup_t *w, const vault_output_entry_t *entry, vault_output_form_t form,
                     vault_bundle_body_t *body)
{
    const char *text, *made = NULL;
    apr_size_t size = 0, made_size = 0;
    apr_status_t rv = APR_ENOENT;

    if (!vault_output_claim_form(vault_server->outputs, entry, form)) {
        return 0;
    }
    if ((text = read_plain(w, entry, &size))) {
        rv = vault_output_form_make(form, VAULT_OUTPUT_SMALL, text, size, &made, &made_size, w->r->pool);
    }
    vault_output_add_form(vault_server->outputs, entry, form, rv == APR_SUCCESS ? made : NULL, made_size);
    if (rv != APR_SUCCESS) {
        return 0;
    }
    body->text = made;
    body->size = made_size;
    body->form = form;
    return 1;
}

/* @return 0: the entry is gone */
static int serve(const lookup_t *w, const vault_output_entry_t *entry, vault_bundle_body_t *body)
{
    /* A subrequest has its client's headers, and its answer becomes part of a page. */
    const char *accept = w->r->main ? NULL : apr_table_get(w->r->headers_in, "Accept-Encoding");
    unsigned offered = vault_output_forms_of_build();
    vault_output_form_t form;

    while ((form = vault_output_form_choose(accept, offered)) != VAULT_OUTPUT_PLAIN &&
           !take_form(w, entry, form, body) && !make_form(w, entry, form, body)) {
        offered &= ~VAULT_OUTPUT_FORM_BIT(form);
    }
    if (form == VAULT_OUTPUT_PLAIN && !take_form(w, entry, form, body)) {
        return 0;
    }
    body->etag = entry->etag;
    body->is_kept = 1;
    body->is_final = ((const metadata_t *)entry->metadata)->is_final != 0;
    return 1;
}

/* --------------------------------------------------------------------- making */

/* Runs the command. Each run is logged at most once, and there is one for each change of a file, or each RETRY_AFTER.
 * @return 0: it has failed */
static int minify(const lookup_t *w, const vault_bundle_text_t *joined, vault_bundle_run_t *run)
{
    apr_interval_time_t limit = vault_bundle_conf_timeout(vault_bundle_conf_of(w->r));
    const server_rec *s = w->r->server;
    const char *why = vault_bundle_tool_run(w->tool, joined->text, joined->size, limit, run, w->r->pool);

    if (why) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, s,
                     VLTNO(00412) "VaultBundle %s: \"%s\" has failed: %s; the files are sent as they are%s%s",
                     w->b->url, w->tool->command, why, *run->errors ? "; it says: " : "", run->errors);
        return 0;
    }
    if (*run->errors) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, s, VLTNO(00413) "VaultBundle %s: \"%s\" says: %s", w->b->url,
                     w->tool->command, run->errors);
    }
    return 1;
}

/* The store has no room. Pauses for RETRY_AFTER, because otherwise each request would run the command. */
static void log_full(const lookup_t *w, apr_size_t size)
{
    __atomic_store_n(w->b->retry_at, vault_now() + RETRY_AFTER, __ATOMIC_RELAXED);
    ap_log_error(APLOG_MARK, APLOG_WARNING, 0, w->r->server,
                 VLTNO(00416) "VaultBundle %s: the output store has no room for its %" APR_SIZE_T_FMT
                              " bytes: for a minute the files are joined for each request, and neither minified nor "
                              "compressed; see VaultCacheMemory, VaultCacheMemoryMax and VaultCacheRoot",
                 w->b->url, size);
}

static int is_full(const vault_bundle_t *b)
{
    return vault_now() < __atomic_load_n(b->retry_at, __ATOMIC_RELAXED);
}

/* What the command makes of this text, on each server. */
static const char *shared_key(const lookup_t *w, const vault_bundle_text_t *joined)
{
    unsigned char digest[APR_SHA1_DIGESTSIZE];
    char text[2 * APR_SHA1_DIGESTSIZE + 1];
    apr_sha1_ctx_t sha;

    apr_sha1_init(&sha);
    apr_sha1_update(&sha, joined->text, (unsigned)joined->size);
    apr_sha1_final(digest, &sha);
    ap_bin2hex(digest, sizeof(digest), text);
    return apr_psprintf(w->r->pool, "bundle %s %d %" APR_UINT64_T_HEX_FMT " %s", text, (int)w->b->kind,
                        w->tool->version, w->tool->command);
}

/* The command runs on one of the servers that share outputs. */
static int minify_once(const lookup_t *w, const vault_bundle_text_t *joined, vault_bundle_run_t *run)
{
    vault_output_packet_t p = {.key = shared_key(w, joined)};
    apr_time_t now = vault_now();

    p.key_size = strlen(p.key);
    if (vault_socache_fetch(&p, w->r->pool)) {
        vault_tally(fetched, 1);
        run->text = (char *)p.body; /* in the request's pool */
        run->size = p.body_size;
        return 1;
    }
    if (!minify(w, joined, run)) {
        return 0;
    }
    p.body = run->text;
    p.body_size = run->size;
    p.made = now;
    p.until = now + SHARED_FOR;
    vault_socache_store(&p);
    return 1;
}

static void fill(lookup_t *w, const vault_bundle_text_t *joined, vault_output_content_t *content)
{
    vault_bundle_run_t run = {.text = NULL};

    content->body = joined->text;
    content->body_size = joined->size;
    w->metadata.is_final = 1;
    if (w->tool && minify_once(w, joined, &run)) {
        content->body = run.text;
        content->body_size = run.size;
    }
    else if (w->tool) {
        w->metadata.is_final = 0;
        content->until = vault_now() + RETRY_AFTER;
    }
}

/* This request leads. */
static int make(lookup_t *w, vault_bundle_stat_t **stats, const vault_output_lead_t *lead, vault_bundle_body_t *body)
{
    vault_output_content_t content = {.metadata = &w->metadata, .metadata_size = sizeof(w->metadata)};
    vault_bundle_text_t joined;
    vault_output_entry_t entry;
    const char *error = vault_bundle_files_join(&w->b->files, stats, &joined, w->r->pool);

    if (error) {
        vault_output_abandon(vault_server->outputs, lead, NULL);
        vault_bundle_body_log_error(w->r, w->b, error);
        return HTTP_SERVICE_UNAVAILABLE;
    }
    if (joined.warning) {
        ap_log_error(APLOG_MARK, APLOG_WARNING, 0, w->r->server, VLTNO(00414) "VaultBundle %s: %s", w->b->url,
                     joined.warning);
    }
    identify(w, *stats);
    fill(w, &joined, &content);
    if (vault_output_keep(vault_server->outputs, lead, &content) == APR_ENOSPC) {
        log_full(w, content.body_size);
    }
    if (!find_entry(w, 0, &entry) || !serve(w, &entry, body)) {
        use_text(body, content.body, content.body_size, w->metadata.is_final != 0);
    }
    return OK;
}

/* Another request leads: wait for it, until it has had time enough.
 * @return DECLINED: this request cannot wait, or has waited for too long */
static int wait_for(request_rec *r, const vault_output_lead_t *lead)
{
    apr_time_t now = vault_now(), *deadline;
    void *data = NULL;

    apr_pool_userdata_get(&data, DEADLINE, r->pool);
    if (!(deadline = data)) {
        deadline = apr_palloc(r->pool, sizeof(*deadline));
        *deadline = now + vault_bundle_conf_timeout(vault_bundle_conf_of(r)) + apr_time_from_sec(1);
        apr_pool_userdata_setn(deadline, DEADLINE, NULL, r->pool);
    }
    if (*deadline <= now || vault_suspension_await(r, *deadline - now, lead->waiters) != APR_SUCCESS) {
        apr_table_unset(r->err_headers_out, "Retry-After");
        return DECLINED;
    }
    if (!vault_output_is_being_made(vault_server->outputs, &lead->ref)) {
        vault_request_resume(r);
    }
    return SUSPENDED;
}

int vault_bundle_body_find(request_rec *r, const vault_bundle_t *b, vault_bundle_stat_t **stats,
                           vault_bundle_body_t *body)
{
    vault_output_entry_t entry;
    vault_output_lead_t lead;
    lookup_t w = {.r = r};
    apr_status_t rv;

    if (!vault_server->outputs || is_full(b)) {
        return join(r, b, stats, body);
    }
    lookup_init(&w, r, b, *stats);
    if (find_entry(&w, 0, &entry) && serve(&w, &entry, body)) {
        return OK;
    }
    rv = vault_output_lead(vault_server->outputs, w.key, strlen(w.key), w.metadata.variant, vault_server->slot, &lead);
    if (rv == APR_SUCCESS && find_entry(&w, 0, &entry) && serve(&w, &entry, body)) {
        vault_output_abandon(vault_server->outputs, &lead, NULL); /* kept between the search and the lead */
        return OK;
    }
    if (rv == APR_SUCCESS) {
        return make(&w, stats, &lead, body);
    }
    return rv == APR_EBUSY && wait_for(r, &lead) == SUSPENDED ? SUSPENDED : join(r, b, stats, body);
}

int vault_bundle_body_find_older(request_rec *r, const vault_bundle_t *b, vault_bundle_body_t *body)
{
    vault_output_entry_t entry;
    lookup_t w = {.r = r};

    if (!vault_server->outputs) {
        return HTTP_NOT_FOUND;
    }
    lookup_init(&w, r, b, NULL);
    return find_entry(&w, 1, &entry) && serve(&w, &entry, body) ? OK : HTTP_NOT_FOUND;
}
