/* SPDX-License-Identifier: Apache-2.0 */
/* Decides which requests the output store answers, which requests lead, and which wait. */
#include "cache/cache_handler.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"

#include "base/hash.h"
#include "base/now.h"
#include "cache/cache_conf.h"
#include "cache/cache_forms.h"
#include "cache/cache_headers.h"
#include "cache/cache_interests.h"
#include "cache/cache_keep.h"
#include "cache/cache_part.h"
#include "cache/cache_serve.h"
#include "cache/cache_socache.h"
#include "cache/cache_stale.h"
#include "recording/judge.h"
#include "recording/output_key.h"
#include "request/own_handlers.h"
#include "server/server.h"
#include "socache/socache.h"
#include "suspend/suspend.h"
#include "view/context.h"
#include "view/declared.h"
#include "view/headers.h"
#include "view/recorded.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* After VaultQosLimit, before all handlers. */
#define BEFORE_HANDLERS (APR_HOOK_REALLY_FIRST - 4)
/* Before httpd's handler of files. */
#define BEFORE_FILES (APR_HOOK_REALLY_LAST - 1)
/* The longest time that a request waits for another one before it renders the response itself. */
#define WAIT_MAX apr_time_from_sec(10)
#define WAITED "vault-cache-waited"
#define WAITS "vault-cache-waits"

static int has_path_info(const request_rec *r)
{
    return r->path_info && *r->path_info;
}

/* Does the response follow from the file that the URL names, from feeds and from the configuration, whatever else is
 * in the request? A handler of another module, or an element of SSI that looks at the request, is found while it is
 * rendered. An SSI document answers any path after its name, so a client could
 * invent such paths. */
static int is_shared_by_construction(const request_rec *r)
{
    return vault_judge_knows(r) && !has_path_info(r) && !vault_judge_has_if(r);
}

/* A request with a body may take as long to send it as mod_reqtimeout allows, and a handler may read it. */
static int has_body(const request_rec *r)
{
    return apr_table_get(r->headers_in, "Content-Length") || apr_table_get(r->headers_in, "Transfer-Encoding");
}

/* Has another module set headers of mod_vault for this request, or was it redirected internally? Then the response is
 * for this request only. Internal redirects of mod_rewrite do not count. */
static int is_affected_by_others(const request_rec *r)
{
    const request_rec *before;

    for (before = r->prev; before; before = before->prev) {
        if (!before->handler || strcmp(before->handler, "redirect-handler")) {
            return 1;
        }
    }
    return vault_headers_any(r);
}

/* Where VaultCache is not set, pages of live locations are kept that are shared by construction. */
static int is_enabled(const request_rec *r)
{
    return vault_cache_conf_is_on(r) || (vault_cache_conf_is_unset(r) && vault_view_conf_of(r)->long_poll == 1);
}

static int is_candidate(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return vault_server->outputs && r->method_number == M_GET && r->status == HTTP_OK && !vault_own_handler(r) &&
           !vault_judge_is_plain_file(r) && !is_affected_by_others(r) &&
           !(vault_cache_conf_is_unset(r) && has_path_info(r)) &&
           !(x && (x->own || x->recording || x->txn || x->refused));
}

/* The part of the key that the configuration decides for each request: the URLs of VaultPoll, which can have
 * conditions, and the URL of the script. */
static const char *page_settings(request_rec *r)
{
    const vault_view_conf_t *conf = vault_view_conf_of(r);
    const char *polls = conf->polls ? apr_array_pstrcat(r->pool, vault_declared(r, conf->polls, "VaultPoll"), ' ') : "";

    return apr_pstrcat(r->pool, vault_view_conf_path(conf),
                       apr_table_get(r->subprocess_env, "no-vault-page") ? " no-vault-page " : " ", polls, NULL);
}

static vault_personal_t personal_of(const request_rec *r)
{
    return has_body(r)                                             ? VAULT_PERSONAL_REQUEST
           : vault_cache_conf_is_unset(r) && vault_judge_has_if(r) ? VAULT_PERSONAL_CONDITION
                                                                   : vault_recorded_personal(r);
}

/* The keys of a response. */
typedef struct keys_t {
    const char *own;    /* in the output store */
    const char *shared; /* in the cache that servers share; NULL: there is none */
} keys_t;

/* Both keys say whether VaultCacheKey is set: with it the responses of opaque handlers count as shared, and a server
 * without it must not use these.
 * @return 0: VaultCacheKey cannot be evaluated */
static int find_keys(request_rec *r, keys_t *keys)
{
    vault_output_what_t what = {.kind = "page"};
    const char *own = vault_cache_conf_varies(r);

    if (!own) {
        return 0;
    }
    what.url = is_shared_by_construction(r) ? NULL : r->unparsed_uri;
    what.varies = apr_pstrcat(r->pool, page_settings(r), vault_cache_conf_of(r)->key ? "\nkey " : "\n", own, NULL);
    keys->own = vault_output_key(r, &what, r->pool);
    keys->shared = vault_socache_is_on() ? vault_output_shared_key(r, &what, r->pool) : NULL;
    return 1;
}

/* --------------------------------------------------------------------- finding */

typedef enum found_t { ANSWERED, PERSONAL, RENDER } found_t;

/* @param variant  0 at first; set if there is any response with this key, usable or not: by the newest one, the variant
 *                 of the response to `r` */
static found_t find(request_rec *r, const char *key, int *status, apr_uint64_t *variant)
{
    vault_output_entry_t entry;

    memset(&entry, 0, sizeof(entry));
    for (;;) {
        switch (vault_outputs_find(vault_server->outputs, key, strlen(key), &entry, r->pool)) {
        case VAULT_OUTPUT_ENTRY:
            if (vault_cache_serve(r, &entry, 0, status)) {
                return ANSWERED;
            }
            if (!*variant) {
                *variant = VAULT_RECORDING_PLAIN + vault_cache_headers_vary_hash(&entry, r);
            }
            break;
        case VAULT_OUTPUT_PERSONAL:
            vault_tally(personal[entry.personal], 1);
            return PERSONAL;
        case VAULT_OUTPUT_NONE:
            return RENDER;
        }
    }
}

/* --------------------------------------------------------------------- leading */

/* The handler must write the complete response, because the store keeps it. */
static void unset_conditional_headers(request_rec *r)
{
    static const char *const names[] = {"If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
                                        "If-Range", "Range"};
    unsigned i;

    for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        apr_table_unset(r->headers_in, names[i]);
    }
}

/* Runs the handlers that follow, so that an outdated response can replace their error. */
static int run_other_handlers(request_rec *r, const vault_cache_stale_t *stale)
{
    int status = ap_run_handler(r), answered;

    if (ap_is_HTTP_SERVER_ERROR(status) && vault_cache_keep_fail(r) && vault_cache_stale_replace(r, stale, &answered)) {
        return answered;
    }
    return status;
}

/* @return DECLINED: httpd runs the other handlers; or what they have returned */
static int lead(request_rec *r, const keys_t *keys, const vault_output_lead_t *right)
{
    const vault_cache_stale_t *stale = vault_cache_stale_prepare(r, keys->own);
    vault_context_t *x = vault_context_make(r);

    x->recording = vault_recording_begin(right, NULL, r->pool);
    x->recording->by_construction = vault_cache_conf_is_unset(r);
    x->recording->stale_for = vault_cache_conf_stale(r);
    unset_conditional_headers(r);
    vault_cache_interests_hold(x->recording, vault_cache_interests_find(keys->own, r->pool));
    vault_recorded_judge(r, vault_cache_conf_of(r)->key != NULL);
    vault_cache_keep_insert(r, keys->own, keys->shared, stale);
    return stale ? run_other_handlers(r, stale) : DECLINED;
}

static apr_uint64_t unique_variant(const request_rec *r)
{
    return vault_hash(vault_server->slot, &r, sizeof(r));
}

/* Until a response of an opaque handler was kept once, each request has a variant of its own and waits for no other:
 * most such responses are personal. */
static apr_uint64_t variant_of(const request_rec *r, apr_uint64_t found)
{
    return found ? found : vault_judge_knows(r) ? VAULT_RECORDING_PLAIN : unique_variant(r);
}

/* --------------------------------------------------------------------- waiting */

static const char *lead_name(const request_rec *r, const vault_output_lead_t *lead)
{
    return apr_psprintf(r->pool, "%u:%" APR_UINT64_T_FMT, lead->ref.index, lead->ref.number);
}

/* @return SUSPENDED; DECLINED: it cannot wait, so it renders for itself */
static int wait_for(request_rec *r, const vault_output_lead_t *other)
{
    if (vault_suspension_await(r, WAIT_MAX, other->waiters) != APR_SUCCESS) {
        apr_table_unset(r->err_headers_out, "Retry-After");
        return DECLINED;
    }
    apr_table_setn(r->notes, WAITED, lead_name(r, other));
    apr_table_setn(r->notes, WAITS, "1");
    if (!vault_output_is_being_made(vault_server->outputs, &other->ref)) {
        vault_request_resume(r);
    }
    return SUSPENDED;
}

static apr_status_t ask_to_lead(const char *key, apr_uint64_t variant, vault_output_lead_t *right)
{
    return vault_output_lead(vault_server->outputs, key, strlen(key), variant, vault_server->slot, right);
}

/* --------------------------------------------------------------------- handler */

/* This request leads. Searches again, because the response may have been kept between the first search and the lead, or
 * by another server.
 * @return 0: the lead goes on */
static int find_after_lead(request_rec *r, const keys_t *keys, const vault_output_lead_t *right, int *status)
{
    apr_uint64_t variant = 0;

    if (vault_cache_headers_is_reload(r)) {
        return 0;
    }
    if (find(r, keys->own, status, &variant) == ANSWERED) {
        vault_output_abandon(vault_server->outputs, right, NULL);
        return 1;
    }
    if (!keys->shared || !vault_cache_socache_fetch(r, keys->shared, right)) {
        return 0;
    }
    if (find(r, keys->own, status, &variant) != ANSWERED) { /* the request renders for itself */
        *status = DECLINED;
    }
    return 1;
}

/* The request has waited, and another request still leads. If that is the same one, it may hang, and this request leads
 * in its place. Otherwise this request leads with a variant of its own. */
static apr_status_t lead_after_wait(request_rec *r, const keys_t *keys, apr_uint64_t variant,
                                    vault_output_lead_t *right)
{
    apr_status_t rv = APR_EBUSY;

    if (!strcmp(apr_table_get(r->notes, WAITED), lead_name(r, right))) {
        vault_output_forget_lead(vault_server->outputs, &right->ref);
        rv = ask_to_lead(keys->own, variant, right);
    }
    return rv == APR_EBUSY ? ask_to_lead(keys->own, unique_variant(r), right) : rv;
}

/* A request waits once. If there is nothing to use after that, it renders without waiting again: waiting for one
 * request after another would take longer, and a client whose responses cannot be kept would block all others.
 * @return DECLINED: this request leads, or renders for itself */
static int lead_or_wait(request_rec *r, const keys_t *keys, apr_uint64_t variant)
{
    vault_output_lead_t right;
    int status = OK;
    apr_status_t rv = ask_to_lead(keys->own, variant_of(r, variant), &right);

    if (rv == APR_EBUSY && vault_cache_stale_answer(r, keys->own, &status)) {
        return status;
    }
    if (rv == APR_EBUSY && !apr_table_get(r->notes, WAITED)) {
        return wait_for(r, &right);
    }
    if (rv == APR_EBUSY) {
        rv = lead_after_wait(r, keys, variant_of(r, variant), &right);
    }
    if (rv != APR_SUCCESS) {
        return DECLINED;
    }
    if (find_after_lead(r, keys, &right, &status)) {
        return status;
    }
    return lead(r, keys, &right);
}

static int answer_or_lead(request_rec *r, const keys_t *keys)
{
    apr_uint64_t variant = 0;
    int status = OK;

    if (!vault_cache_headers_is_reload(r)) {
        switch (find(r, keys->own, &status, &variant)) {
        case ANSWERED:
            return status;
        case PERSONAL:
            return DECLINED;
        case RENDER:
            break;
        }
    }
    return r->header_only ? DECLINED : lead_or_wait(r, keys, variant);
}

static int answer(request_rec *r)
{
    vault_personal_t reason;
    keys_t keys;

    if (!is_candidate(r)) {
        return DECLINED;
    }
    if ((reason = personal_of(r))) {
        vault_tally(personal[reason], 1);
        return DECLINED;
    }
    return find_keys(r, &keys) ? answer_or_lead(r, &keys) : DECLINED;
}

static int before_handlers(request_rec *r)
{
    if (r->prev) {
        vault_cache_keep_abandon(r->prev);
    }
    if (apr_table_get(r->notes, WAITS)) {
        apr_table_unset(r->notes, WAITS);
        vault_suspension_settle(r);
    }
    if (r->main || !vault_cache_conf_is_on(r)) {
        return DECLINED;
    }
    vault_context_make(r)->may_be_kept = 1;
    return vault_judge_is_file(r) ? DECLINED : answer(r);
}

/* All other handlers have declined. A handler of another module may answer some visitors in the place of the file,
 * so the store must not answer before it. */
static int before_files(request_rec *r)
{
    return r->main || !is_enabled(r) || !vault_judge_is_file(r) ? DECLINED : answer(r);
}

void vault_cache_hooks(void)
{
    ap_hook_handler(before_handlers, NULL, NULL, BEFORE_HANDLERS);
    ap_hook_handler(before_files, NULL, NULL, BEFORE_FILES);
    vault_cache_keep_hooks();
    vault_cache_forms_hooks();
    vault_cache_part_hooks();
}
