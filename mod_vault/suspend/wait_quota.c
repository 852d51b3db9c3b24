/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the waiting requests of a client. */
#include "suspend/wait_quota.h"

#include "base/now.h"
#include "request/client.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

vault_client_id_t vault_wait_quota_client(vault_suspension_t *s)
{
    if (!s->client) {
        s->client = vault_client_of(s->r);
    }
    return s->client;
}

static int is_over(const vault_suspension_t *s)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);

    ap_log_rerror(
        APLOG_MARK, level, 0, s->r,
        VLTNO(00291) "no more requests of %s can wait: it has VaultMaxWaitingPerClient %u; if that is a proxy "
                     "of many, mod_remoteip tells them apart",
        s->r->user ? s->r->user : s->r->useragent_ip, vault_server->max_client_waiting);
    return 0;
}

int vault_wait_quota_allows(vault_suspension_t *s)
{
    return s->wait_row ||
           vault_clients_has(vault_server->clients, vault_wait_quota_client(s), VAULT_CLIENT_WAITING) <
               vault_server->max_client_waiting ||
           is_over(s);
}

int vault_wait_quota_take(vault_suspension_t *s)
{
    vault_client_claim_t claim = {.kind = VAULT_CLIENT_WAITING,
                                  .slot = vault_server->slot,
                                  .amount = 1,
                                  .most = vault_server->max_client_waiting};

    if (s->wait_row) {
        return 1;
    }
    claim.id = vault_wait_quota_client(s);
    return vault_clients_take(vault_server->clients, &s->wait_row, &claim) == APR_SUCCESS || is_over(s);
}

/* A child of prefork ends within a signal handler, which may have interrupted an update of the table. So the child
 * leaves its counts, and its parent removes them (vault_clients_slot_gone()). */
void vault_wait_quota_release(vault_suspension_t *s)
{
    if (s->wait_row && !vault_server->ends) {
        vault_clients_give(vault_server->clients, s->wait_row, VAULT_CLIENT_WAITING, vault_server->slot, 1);
    }
    s->wait_row = 0;
}
