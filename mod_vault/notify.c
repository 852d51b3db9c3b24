/* SPDX-License-Identifier: Apache-2.0 */
/* Notify by HTTP, for writers that are not in this server. Who may is the configuration's to say (Require). */
#include "notify.h"

#include "apr_strings.h"

#include "gate.h"
#include "mod_vault.h"
#include "origin.h"
#include "reply.h"
#include "vault.h"

/* Within so many seconds what waits has been told. */
#define RETRY_AFTER 1

int vault_notify_handler(request_rec *r)
{
    const char *interest;
    apr_table_t *params;
    apr_status_t rv;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-notify")) {
        return DECLINED;
    }
    if ((status = vault_origin_admit(r, "POST", 0)) != DECLINED || (status = vault_reply_method(r, 0, 1)) != OK ||
        (status = vault_reply_params(r, &params, VAULT_REPLY_FORM_MAX, r->pool)) != OK) {
        return status;
    }
    interest = apr_table_get(params, "interest");
    rv = interest ? vault_gate_notify(r, interest) : APR_EINVAL;
    if (rv == APR_EINVAL) {
        return vault_reply_error(
            r, HTTP_BAD_REQUEST,
            apr_psprintf(r->pool, "interest=NAME is needed, of 1 to %d bytes", VAULT_INTEREST_MAX));
    }
    if (rv == APR_EAGAIN) {
        return vault_reply_json(r, HTTP_ACCEPTED, json_pack("{s:b}", "delayed", 1));
    }
    if (rv == APR_ENOSPC) {
        vault_tally(refused, 1);
        return vault_reply_retry(r, RETRY_AFTER, "too many notifies: VaultNotifyRate");
    }
    return vault_reply_json(r, HTTP_OK, json_pack("{s:b}", "held", rv == APR_SUCCESS));
}
