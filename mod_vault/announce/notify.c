/* SPDX-License-Identifier: Apache-2.0 */
/* Notifies over HTTP, for writers outside of this server. The configuration restricts who may do it (Require). */
#include "announce/notify.h"

#include "apr_strings.h"

#include "announce/notify_limit.h"
#include "mod_vault/vault.h"
#include "request/origin.h"
#include "request/reply.h"
#include "server/server.h"

/* Gathered notifies are sent within so many seconds. */
#define RETRY_AFTER 1

/* @return the value of the only field "interest"; NULL: there is none, or more than one, so that no client
 *         believes that several were notified */
static const char *only_interest(const apr_array_header_t *fields)
{
    const char *interest = NULL;
    int i;

    for (i = 0; i < fields->nelts; i++) {
        const vault_field_t *f = &APR_ARRAY_IDX(fields, i, vault_field_t);
        if (ap_cstr_casecmp(f->name, "interest")) {
            continue;
        }
        if (interest) {
            return NULL;
        }
        interest = f->value;
    }
    return interest;
}

int vault_notify_handler(request_rec *r)
{
    const char *interest;
    apr_array_header_t *fields;
    apr_status_t rv;
    int status;

    if (!r->handler || strcmp(r->handler, "vault-notify")) {
        return DECLINED;
    }
    if ((status = vault_origin_admit(r, "POST", 0)) != DECLINED || (status = vault_reply_method(r, 0, 1)) != OK) {
        return status;
    }
    if ((status = vault_reply_fields(r, &fields, VAULT_REPLY_FORM_MAX, r->pool)) != OK) {
        return vault_reply_no_fields(r, status);
    }
    interest = only_interest(fields);
    rv = interest ? vault_notify_limit_send(r, interest) : APR_EINVAL;
    if (rv == APR_EINVAL) {
        return vault_reply_error(
            r, HTTP_BAD_REQUEST,
            apr_psprintf(r->pool, "interest=NAME is needed once, of 1 to %d bytes", VAULT_INTEREST_MAX));
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
