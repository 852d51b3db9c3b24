/* SPDX-License-Identifier: Apache-2.0 */
/* Connects requests with recordings. Each subrequest is judged when its filters have been inserted. */
#include "view/recorded.h"

#include "apr_strings.h"
#include "http_config.h"
#include "http_log.h"
#include "http_request.h"

#include "base/now.h"
#include "mod_vault/vault.h"
#include "recording/judge.h"
#include "server/log.h"
#include "server/server.h"
#include "session/session_conf.h"
#include "view/context.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

vault_recording_t *vault_recorded(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return x ? x->recording : NULL;
}

vault_personal_t vault_recorded_personal(const request_rec *r)
{
    return r->user                                         ? VAULT_PERSONAL_USER
           : apr_table_get(r->headers_in, "Authorization") ? VAULT_PERSONAL_REQUEST
           : vault_session_conf_is_on(r)                   ? VAULT_PERSONAL_SESSION
                                                           : VAULT_PERSONAL_NOT;
}

/* At level info: the code may be meant for several sites. */
static void say_not_on(request_rec *r)
{
    static apr_time_t said;
    const vault_context_t *x = vault_context_get(r);
    int level;

    if ((x && (x->may_be_kept || x->recording)) || apr_table_get(r->notes, VAULT_RECORDED_PART)) {
        return;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_INFO);
    ap_log_rerror(APLOG_MARK, level, 0, r,
                  VLTNO(00422) "%s says that its output is shared, which has no effect: VaultCache is not On there",
                  r->uri);
}

void vault_recorded_share(request_rec *r)
{
    say_not_on(r);
    vault_judge_share(vault_recorded(r), r);
}

void vault_recorded_judge(request_rec *r, int declared)
{
    const vault_context_t *x = vault_context_get(r);

    if (x && x->recording && vault_session_conf_is_on(r)) {
        vault_recording_personal(x->recording, VAULT_PERSONAL_SESSION,
                                 "it may show a session: VaultSession is on"); /* whatever its handler says */
    }
    if (x && x->recording && vault_judge(x->recording, r, declared) && x->txn) {
        vault_recording_property(x->recording, "",
                                 vault_metadata_all_properties(vault_page_txn_base(x->txn), x->recording->pool));
    }
}

void vault_recorded_expect(vault_recording_t *rec, const apr_array_header_t *deps)
{
    char name[VAULT_INTEREST_MAX + 1];
    int i;

    for (i = 0; i < deps->nelts; i++) {
        vault_interest_name(vault_server->notifier, APR_ARRAY_IDX(deps, i, vault_dep_t).interest, name, sizeof(name));
        if (name[0]) {
            vault_recording_expect(rec, name);
        }
    }
}

const char *vault_recorded_get(request_rec *r, const vault_page_txn_t *txn, const char *key)
{
    const vault_property_t *p = vault_state_property(vault_page_txn_base(txn), key);

    vault_recording_property(vault_recorded(r), key, p ? p->value : NULL);
    return vault_page_txn_get(txn, key);
}

/* The store holds the interest first, so that its stamp is not newer than that of the page. */
int vault_recorded_create_interest(request_rec *r, vault_page_txn_t *txn, const char *cursor, const char *interest)
{
    vault_recording_interest(vault_recorded(r), interest);
    return txn ? vault_page_txn_create_interest(txn, cursor, interest) : 1;
}

/* The headers of a part count; those of an included request do not, and so it cannot say that its output is shared.
 * httpd has looked up an internal redirect, and checked the access to it, for this visitor only. */
static void judge_subrequest(request_rec *r)
{
    if (!r->main || !vault_recorded(r)) {
        return;
    }
    if (r->prev) {
        vault_recording_drop(vault_recorded(r), VAULT_PERSONAL_HANDLER, "its URL is redirected internally");
    }
    else if (!vault_judge_knows(r) && !apr_table_get(r->notes, VAULT_RECORDED_PART)) {
        vault_recording_personal(vault_recorded(r), VAULT_PERSONAL_PART,
                                 "it includes the output of a handler of another module");
    }
    vault_recorded_judge(r, apr_table_get(r->notes, VAULT_RECORDED_DECLARED) != NULL);
}

/* The kept part goes, and no request makes it again for a while. A key begins with a word and the URL, on one line. */
static void give_up_part(const char *key, apr_pool_t *pool)
{
    static const vault_output_personal_t same_call = {VAULT_PERSONAL_PART, "its page makes the same call of a feed", 0};
    const char *url = strchr(key, ' ') + 1;
    vault_output_filter_t filter = {.url = apr_pstrmemdup(pool, url, strcspn(url, "\n"))};
    vault_output_lead_t lead;

    vault_outputs_drop(vault_server->outputs, &filter);
    if (vault_output_lead(vault_server->outputs, key, strlen(key), 0, vault_server->slot, &lead) == APR_SUCCESS) {
        vault_output_abandon(vault_server->outputs, &lead, &same_call);
    }
}

void vault_recorded_conflict(request_rec *r, const char *cursor)
{
    const vault_context_t *x = vault_context_get(r);
    const vault_taken_t *taken = x->taken ? apr_hash_get(x->taken, cursor, APR_HASH_KEY_STRING) : NULL;
    const char *position = taken ? vault_page_txn_position(x->txn, cursor) : NULL;

    if (!taken || (position && taken->position ? !strcmp(position, taken->position) : position == taken->position)) {
        return;
    }
    vault_page_txn_fail(x->txn, VAULT_TXN_SAME_CALL);
    give_up_part(taken->part, r->pool);
}

void vault_recorded_hooks(void)
{
    ap_hook_insert_filter(judge_subrequest, NULL, NULL, APR_HOOK_REALLY_LAST);
}
