/* SPDX-License-Identifier: Apache-2.0 */
/* Counts the bytes of answers that clients have not read yet. */
#include "poll/unsent.h"

#include "http_log.h"

#include "base/now.h"
#include "base/text.h"
#include "poll/answer.h"
#include "poll/poll_conf.h"
#include "request/client.h"
#include "request/reply.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

/* Shorter answers are not counted. */
#define SHORT (16 * 1024)

static int is_over(request_rec *r)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);

    ap_log_rerror(APLOG_MARK, level, 0, r,
                  VLTNO(00290) "a client does not read its answers: it has VaultMaxUnsentPerClient %" APR_OFF_T_FMT
                               " bytes of them; if that is a proxy of many, mod_remoteip tells them apart",
                  vault_poll_conf_max_unsent());
    return 0;
}

/* A child of prefork ends within a signal handler, which may have interrupted an update of the table. So the child
 * leaves its counts, and its parent removes them (vault_clients_slot_gone()). */
static void give(vault_client_row_t row, apr_size_t amount)
{
    if (row && !vault_server->ends) {
        vault_tally(unsent, -amount);
        vault_clients_give(vault_server->clients, row, VAULT_CLIENT_UNSENT, vault_server->slot, amount);
    }
}

void vault_unsent_give(vault_unsent_t *u)
{
    give(u->row, u->amount);
    u->row = 0;
    u->amount = 0;
}

/* The last quarter is for the answers of methods that run already. */
int vault_unsent_allows(request_rec *r, vault_client_id_t client)
{
    apr_uint64_t most = (apr_uint64_t)vault_poll_conf_max_unsent();

    return vault_clients_has(vault_server->clients, client, VAULT_CLIENT_UNSENT) <= most - most / 4 || is_over(r);
}

int vault_unsent_take(vault_unsent_t *u, request_rec *r, apr_size_t length)
{
    apr_uint64_t most = (apr_uint64_t)vault_poll_conf_max_unsent();
    vault_client_claim_t claim = {.kind = VAULT_CLIENT_UNSENT,
                                  .slot = vault_server->slot,
                                  .amount = length,
                                  .most = most > length ? most : length};

    if (length == u->amount) {
        return 1;
    }
    vault_unsent_give(u);
    if (length < SHORT || !vault_server->slot) {
        return 1;
    }
    claim.id = vault_client_of(r);
    if (vault_clients_take(vault_server->clients, &u->row, &claim) != APR_SUCCESS) {
        return is_over(r);
    }
    u->amount = length;
    vault_tally(unsent, length);
    return 1;
}

int vault_unsent_count(request_rec *r, char *text)
{
    vault_unsent_t u = {.row = 0};

    if (!vault_unsent_take(&u, r, vault_text_capacity(text))) {
        return 0;
    }
    if (u.row) {
        vault_text_on_free(text, give, u.row, u.amount);
    }
    return 1;
}

int vault_unsent_reply(request_rec *r, char *text)
{
    if (text && !vault_unsent_count(r, text)) {
        vault_text_free(text);
        return vault_answer_refused(r, VAULT_UNSENT_REFUSED);
    }
    return vault_reply_text(r, HTTP_OK, text);
}
