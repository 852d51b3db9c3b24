/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps and reuses the outputs of methods. */
#include "poll/method_reuse.h"

#include "apr_strings.h"
#include "http_log.h"

#include "base/hash.h"
#include "base/now.h"
#include "cache/cache_conf.h"
#include "cache/cache_headers.h"
#include "cache/cache_interests.h"
#include "output/output_metadata.h"
#include "page/page.h"
#include "page/page_name.h"
#include "recording/includes.h"
#include "recording/judge.h"
#include "recording/output_key.h"
#include "server/log.h"
#include "server/rules.h"
#include "server/server.h"
#include "view/headers.h"
#include "view/recorded.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* @return 0: the entry cannot be used */
static int use(vault_context_t *x, request_rec *sub, const vault_output_entry_t *entry, vault_output_t *output)
{
    apr_pool_t *kept = vault_page_txn_pool(x->txn);
    vault_output_metadata_t metadata;
    vault_output_body_t body;

    if (!vault_metadata_decode(&metadata, entry->metadata, entry->metadata_size, kept) ||
        !vault_metadata_matches(&metadata, x->txn, x->pool) || !vault_cache_headers_match(&metadata, sub) ||
        !vault_metadata_files_match(&metadata, x->pool) || !vault_includes_match(&metadata, sub) ||
        !vault_page_txn_hold_deps(x->txn, entry->deps, entry->dep_count) ||
        !vault_output_is_current(vault_server->outputs, entry, vault_now()) ||
        vault_output_body(vault_server->outputs, entry, VAULT_OUTPUT_PLAIN, &body, x->pool) != APR_SUCCESS ||
        !body.text) {
        return 0;
    }
    output->status = (int)metadata.status;
    output->type = metadata.type;
    output->format = metadata.format;
    output->reused = 1;
    output->length = body.size;
    output->body = body.size ? body.text : NULL;
    vault_page_txn_take(x->txn, metadata.made);
    return 1;
}

static vault_reuse_t run_for_itself(vault_output_t *output, vault_personal_t reason)
{
    output->personal = reason;
    vault_tally(personal[reason], 1);
    return VAULT_REUSE_NONE;
}

/* A method that the store is asked for. */
typedef struct asked_t {
    request_rec *sub;
    const char *key;
    const apr_array_header_t *interests; /* of const char *: earlier runs have named them */
    int any;                             /* there is an output with this key, usable or not */
    apr_uint64_t variant;                /* by the state of the page */
    apr_uint64_t vary;                   /* by headers of the request, see vault_cache_headers_vary_hash() */
} asked_t;

/* @return DONE; NONE: the outputs of this key are personal; LEADS: there is none that can be used */
static vault_reuse_t find(vault_context_t *x, asked_t *a, vault_output_t *output)
{
    vault_output_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    for (;;) {
        switch (
            vault_outputs_find(vault_server->outputs, a->key, strlen(a->key), &entry, vault_page_txn_pool(x->txn))) {
        case VAULT_OUTPUT_ENTRY:
            if (use(x, a->sub, &entry, output)) {
                return VAULT_REUSE_DONE;
            }
            a->vary = a->any++ ? a->vary : vault_cache_headers_vary_hash(&entry, a->sub);
            break;
        case VAULT_OUTPUT_PERSONAL:
            return run_for_itself(output, entry.personal);
        case VAULT_OUTPUT_NONE:
            return VAULT_REUSE_LEADS;
        }
    }
}

/* The interests that the handler may name after it has read its data: those of VaultInterest, and those that it has
 * named for this page, and for others. The store holds them before the handler runs, so a notify from then on
 * outdates the output. */
static void expect_interests(vault_context_t *x, const asked_t *a)
{
    const vault_method_t *m = vault_state_method(vault_page_txn_base(x->txn), vault_page_txn_url(x->txn));
    const apr_array_header_t *declared = vault_view_conf_of(a->sub)->interests;
    apr_array_header_t *held = apr_array_make(x->pool, VAULT_OUTPUT_INTERESTS, sizeof(vault_dep_t));
    int i;

    for (i = 0; declared && i < declared->nelts; i++) {
        vault_recording_expect(x->recording, APR_ARRAY_IDX(declared, i, vault_rule_t).fixed);
    }
    if (m && m->deps) {
        vault_recorded_expect(x->recording, m->deps);
    }
    vault_cache_interests_hold(x->recording, a->interests);
    held->nelts = (int)vault_output_deps(vault_server->outputs, &x->recording->lead, (vault_dep_t *)held->elts);
    vault_page_txn_expect(x->txn, held);
}

/* Lead, unless another request has made the output since find(). */
static vault_reuse_t begin(vault_context_t *x, asked_t *a, const vault_output_lead_t *lead, vault_output_t *output)
{
    vault_reuse_t found = find(x, a, output);

    if (found != VAULT_REUSE_LEADS) {
        vault_output_abandon(vault_server->outputs, lead, NULL);
        return found;
    }
    x->recording = vault_recording_begin(lead, NULL, x->pool);
    x->recording->variant = a->variant;
    x->recording->key = a->key;
    x->recording->by_construction = vault_cache_conf_is_unset(a->sub);
    expect_interests(x, a);
    vault_recorded_judge(a->sub, vault_cache_conf_of(a->sub)->key != NULL);
    return VAULT_REUSE_LEADS;
}

static apr_status_t ask_to_lead(const char *key, apr_uint64_t variant, vault_output_lead_t *lead)
{
    return vault_output_lead(vault_server->outputs, key, strlen(key), variant, vault_server->slot, lead);
}

/* An interest of VaultInterest that is an expression, or has a condition, counts for this page only: both can look at
 * the request and at the answer, so nothing says that a kept run would have got the same interest for this page. */
static int has_own_interests(const request_rec *sub)
{
    return !vault_rules_are_fixed(vault_view_conf_of(sub)->interests);
}

/* Where VaultCache is not set, only what is shared by construction is kept. */
static vault_personal_t personal_of(const request_rec *sub)
{
    int unset = vault_cache_conf_is_unset(sub);

    return sub->main->user                    ? VAULT_PERSONAL_USER
           : vault_recorded_personal(sub)     ? vault_recorded_personal(sub)
           : unset && !vault_judge_knows(sub) ? VAULT_PERSONAL_HANDLER
           : unset && vault_judge_has_if(sub) ? VAULT_PERSONAL_CONDITION
           : has_own_interests(sub)           ? VAULT_PERSONAL_INTEREST
                                              : VAULT_PERSONAL_NOT;
}

static apr_uint64_t own_variant(request_rec *sub)
{
    return vault_hash(vault_server->slot, &sub, sizeof(sub));
}

/* Each run has a variant of its own as long as an opaque handler has never said that its output is shared: most such
 * handlers do not, so no page should wait for them. */
static apr_uint64_t variant_of(const asked_t *a)
{
    return a->any || a->interests->nelts || vault_judge_knows(a->sub) ? a->variant + a->vary : own_variant(a->sub);
}

static vault_reuse_t find_or_lead(vault_context_t *x, asked_t *a, vault_output_t *output)
{
    vault_output_lead_t lead;
    vault_reuse_t found;
    apr_status_t rv;

    if ((found = find(x, a, output)) != VAULT_REUSE_LEADS) {
        return found;
    }
    a->variant = vault_metadata_page_hash(x->txn, vault_segment_boot(vault_server->segment));
    a->interests = vault_cache_interests_find(a->key, x->pool);
    rv = ask_to_lead(a->key, variant_of(a), &lead);
    if (rv == APR_EBUSY && !x->waits_for_none) {
        output->busy = lead;
        return VAULT_REUSE_BUSY;
    }
    if (rv == APR_EBUSY) { /* it has waited, and there is still nothing: it leads beside the others that do */
        rv = ask_to_lead(a->key, own_variant(a->sub), &lead);
    }
    return rv == APR_SUCCESS ? begin(x, a, &lead, output) : VAULT_REUSE_NONE;
}

/* VaultCacheKey can look at the request of the poll. @return NULL: it cannot be evaluated */
static const char *key_of(vault_context_t *x, request_rec *sub, const char *url)
{
    const char *varies = vault_cache_conf_varies(sub);
    vault_output_what_t what = {.kind = "method", .url = url};

    if (!varies) {
        return NULL;
    }
    what.varies = vault_cache_conf_of(sub)->key ? apr_pstrcat(x->pool, "key ", varies, NULL) : "";
    return vault_output_key(sub, &what, x->pool);
}

vault_reuse_t vault_method_reuse(vault_context_t *x, request_rec *sub, vault_output_t *output)
{
    asked_t asked = {.sub = sub};
    vault_personal_t reason;

    x->may_be_kept = vault_cache_conf_is_on(sub);
    if (!vault_server->outputs || !x->txn || x->in_view || vault_cache_conf_is_off(sub) || vault_headers_any(sub)) {
        return VAULT_REUSE_NONE;
    }
    if ((reason = personal_of(sub))) {
        return run_for_itself(output, reason);
    }
    asked.key = key_of(x, sub, output->url);
    return asked.key ? find_or_lead(x, &asked, output) : VAULT_REUSE_NONE;
}

/* What is known to be shared follows from the file and its feeds, whatever headers the configuration adds. */
void vault_method_reuse_judge(vault_context_t *x, const request_rec *sub, const request_rec *last)
{
    if (x->recording && !vault_judge_knows(sub)) {
        vault_cache_headers_judge(x->recording, last, NULL, NULL);
    }
}

/* Does the output contain the id of the page, which the application was told? Then it is not for other pages. */
static int names_page(const vault_context_t *x, const vault_output_t *output, const vault_state_t *made)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    int i;

    vault_page_format(&x->page, id);
    for (i = 0; i < made->properties->nelts; i++) {
        if (ap_strstr_c(APR_ARRAY_IDX(made->properties, i, vault_property_t).value, id)) {
            return 1;
        }
    }
    return (output->body && memmem(output->body, output->length, id, VAULT_PAGE_ID_LEN)) ||
           (output->format && ap_strcasestr(output->format, id));
}

static void describe(vault_recording_t *rec, const vault_context_t *x, const vault_output_t *output)
{
    rec->metadata.status = (apr_uint32_t)output->status;
    rec->metadata.type = output->type;
    rec->metadata.format = output->format;
    rec->metadata.made = vault_page_txn_made(x->txn);
    apr_array_cat(rec->metadata.answers, vault_page_txn_answers(x->txn));
    if (names_page(x, output, rec->metadata.made)) {
        vault_recording_drop(rec, VAULT_PERSONAL_PAGE, "it contains the id of its page");
    }
    if (!vault_recording_has_end(rec)) {
        vault_recording_drop(rec, VAULT_PERSONAL_ENDLESS,
                             "nothing says when its answer changes: it has no interest and no max-age");
    }
}

void vault_method_reuse_end(request_rec *r, vault_context_t *x, vault_output_t *output, int ok)
{
    vault_recording_t *rec = x->recording;
    const char *why;

    x->recording = NULL;
    if (!rec) {
        return;
    }
    describe(rec, x, output);
    ok = ok && !vault_page_txn_failed(x->txn) && !r->connection->aborted;
    if (ok && !rec->reason && !rec->opaque) {
        vault_cache_interests_keep(rec, rec->key);
    }
    why = vault_recording_end(rec, !ok ? NULL : output->body ? output->body : "", output->body ? output->length : 0);
    output->personal = rec->reason;
    if (why) {
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, VLTNO(00399) "the output of method %s is not kept: %s",
                      vault_page_shorten(output->url, r->pool), why);
    }
}
