/* SPDX-License-Identifier: Apache-2.0 */
/* Connects requests with recordings. Each subrequest is judged when its filters have been inserted. */
#include "view/recorded.h"

#include "http_config.h"
#include "http_request.h"

#include "recording/judge.h"
#include "session/session_conf.h"
#include "view/context.h"
#include "view/view_conf.h"

vault_recording_t *vault_recorded(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return x ? x->recording : NULL;
}

void vault_recorded_judge(request_rec *r, int declared)
{
    const vault_context_t *x = vault_context_get(r);

    if (x && x->recording && vault_session_conf_is_on(r)) {
        vault_recording_personal(x->recording, VAULT_PERSONAL_SESSION,
                                 "it may show a session: VaultSession is on"); /* whatever its handler says */
    }
    if (x && x->recording && vault_judge(x->recording, r, declared) && x->txn) {
        vault_recording_property(x->recording, "", vault_facts_all(vault_page_txn_base(x->txn), x->recording->pool));
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

static void judge_subrequest(request_rec *r)
{
    if (r->main) {
        vault_recorded_judge(r, 0);
    }
}

void vault_recorded_hooks(void)
{
    ap_hook_insert_filter(judge_subrequest, NULL, NULL, APR_HOOK_REALLY_LAST);
}
