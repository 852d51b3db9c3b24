/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps and reuses the outputs of methods. */
#include "poll/method_reuse.h"

#include "apr_strings.h"
#include "http_log.h"

#include "base/hash.h"
#include "base/now.h"
#include "cache/cache_conf.h"
#include "output/output_facts.h"
#include "page/page.h"
#include "page/page_name.h"
#include "recording/includes.h"
#include "recording/judge.h"
#include "recording/output_key.h"
#include "server/log.h"
#include "server/server.h"
#include "view/headers.h"
#include "view/recorded.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* @return 0: the entry cannot be used */
static int use(vault_context_t *x, request_rec *sub, const vault_output_entry_t *entry, vault_output_t *output)
{
    apr_pool_t *kept = vault_page_txn_pool(x->txn);
    vault_output_facts_t facts;
    vault_output_body_t body;

    if (!vault_facts_decode(&facts, entry->facts, entry->facts_size, kept) ||
        !vault_facts_fit(&facts, x->txn, x->pool) || !vault_facts_files_hold(&facts, x->pool) ||
        !vault_includes_hold(&facts, sub) || !vault_page_txn_hold_deps(x->txn, entry->deps, entry->dep_count) ||
        !vault_output_is_current(vault_server->outputs, entry, vault_now()) ||
        vault_output_body(vault_server->outputs, entry, VAULT_OUTPUT_PLAIN, &body, x->pool) != APR_SUCCESS ||
        !body.text) {
        return 0;
    }
    output->status = (int)facts.status;
    output->type = facts.type;
    output->format = facts.format;
    output->reused = 1;
    output->length = body.size;
    output->body = body.size ? body.text : NULL;
    vault_page_txn_take(x->txn, facts.made);
    return 1;
}

static vault_reuse_t run_for_itself(vault_output_t *output, vault_personal_t reason)
{
    output->personal = reason;
    vault_tally(personal[reason], 1);
    return VAULT_REUSE_NONE;
}

/* @return DONE; NONE: the outputs of this key are personal; LEADS: there is none that can be used */
static vault_reuse_t find(vault_context_t *x, request_rec *sub, const char *key, vault_output_t *output)
{
    vault_output_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    for (;;) {
        switch (vault_outputs_find(vault_server->outputs, key, strlen(key), &entry, vault_page_txn_pool(x->txn))) {
        case VAULT_OUTPUT_ENTRY:
            if (use(x, sub, &entry, output)) {
                return VAULT_REUSE_DONE;
            }
            break;
        case VAULT_OUTPUT_PERSONAL:
            return run_for_itself(output, entry.personal);
        case VAULT_OUTPUT_NONE:
            return VAULT_REUSE_LEADS;
        }
    }
}

/* Lead, unless another request has made the output since find(). */
static vault_reuse_t begin(vault_context_t *x, request_rec *sub, const char *key, const vault_output_lead_t *lead,
                           vault_output_t *output)
{
    vault_reuse_t found = find(x, sub, key, output);

    if (found != VAULT_REUSE_LEADS) {
        vault_output_abandon(vault_server->outputs, lead, NULL);
        return found;
    }
    x->recording = vault_recording_begin(lead, NULL, x->pool);
    vault_recorded_judge(sub, 0);
    return VAULT_REUSE_LEADS;
}

static apr_status_t ask_to_lead(const char *key, apr_uint64_t variant, vault_output_lead_t *lead)
{
    return vault_output_lead(vault_server->outputs, key, strlen(key), variant, vault_server->slot, lead);
}

/* A header that another module has set for this request, or an interest of VaultInterest, whose condition may look at the
 * request, counts for this page only. A kept run would not have it, or bring that of another page. */
static int has_interests(const request_rec *sub)
{
    const apr_array_header_t *interests = vault_view_conf_of(sub)->interests;

    return interests && interests->nelts;
}

vault_reuse_t vault_method_reuse(vault_context_t *x, request_rec *sub, vault_output_t *output)
{
    vault_output_lead_t lead;
    vault_reuse_t found;
    const char *key;
    apr_status_t rv;

    if (!vault_server->outputs || !x->txn || !vault_cache_conf_is_on(sub)) {
        return VAULT_REUSE_NONE;
    }
    if (sub->main->user) {
        return run_for_itself(output, VAULT_PERSONAL_USER);
    }
    if (vault_recorded_personal(sub)) {
        return run_for_itself(output, vault_recorded_personal(sub));
    }
    if (!vault_judge_knows(sub)) {
        return run_for_itself(output, VAULT_PERSONAL_HANDLER);
    }
    if (has_interests(sub)) {
        return run_for_itself(output, VAULT_PERSONAL_INTEREST);
    }
    if (vault_headers_any(sub)) {
        return VAULT_REUSE_NONE;
    }
    key = vault_output_key(sub, &(vault_output_what_t){"method", output->url, ""}, x->pool);
    if ((found = find(x, sub, key, output)) != VAULT_REUSE_LEADS) {
        return found;
    }
    rv = ask_to_lead(key, vault_facts_variant(x->txn, vault_segment_boot(vault_server->segment)), &lead);
    if (rv == APR_EBUSY && !x->waits_for_none) {
        output->busy = lead;
        return VAULT_REUSE_BUSY;
    }
    if (rv == APR_EBUSY) { /* it has waited, and there is still nothing: it leads beside the others that do */
        rv = ask_to_lead(key, vault_hash(vault_server->slot, &sub, sizeof(sub)), &lead);
    }
    return rv == APR_SUCCESS ? begin(x, sub, key, &lead, output) : VAULT_REUSE_NONE;
}

void vault_method_reuse_end(request_rec *r, vault_context_t *x, vault_output_t *output, int ok)
{
    vault_recording_t *rec = x->recording;
    const char *why;

    x->recording = NULL;
    if (!rec) {
        return;
    }
    rec->facts.status = (apr_uint32_t)output->status;
    rec->facts.type = output->type;
    rec->facts.format = output->format;
    rec->facts.made = vault_page_txn_made(x->txn);
    apr_array_cat(rec->facts.answers, vault_page_txn_answers(x->txn));
    ok = ok && !vault_page_txn_failed(x->txn) && !r->connection->aborted;
    if (!vault_recording_has_end(rec)) {
        vault_recording_drop(rec, VAULT_PERSONAL_ENDLESS, "nothing says when its answer changes: it has no interest");
    }
    why = vault_recording_end(rec, !ok ? NULL : output->body ? output->body : "", output->body ? output->length : 0);
    output->personal = rec->reason;
    if (why) {
        ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, VLTNO(00399) "the output of method %s is not kept: %s",
                      vault_page_shorten(output->url, r->pool), why);
    }
}
