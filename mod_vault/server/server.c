/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the server in this process. child.c sets it. */
#include "server/server.h"

#include "gateway/exchange.h"

static vault_server_t server;
static unsigned in_handlers; /* atomic */

const vault_server_t *const vault_server = &server;

vault_server_t *vault_server_set(void)
{
    return &server;
}

apr_status_t vault_server_notify_local(const char *interest)
{
    return vault_notifier_notify(server.notifier, interest, server.slot);
}

apr_status_t vault_server_notify(const char *interest)
{
    apr_status_t rv = vault_server_notify_local(interest);

    if (server.exchange && rv != APR_EINVAL) {
        vault_exchange_notified(server.exchange, interest);
    }
    return rv;
}

void vault_server_enter_handlers(void)
{
    __atomic_add_fetch(&in_handlers, 1, __ATOMIC_SEQ_CST);
}

void vault_server_leave_handlers(void)
{
    __atomic_sub_fetch(&in_handlers, 1, __ATOMIC_SEQ_CST);
}

int vault_server_in_handlers(void)
{
    return __atomic_load_n(&in_handlers, __ATOMIC_SEQ_CST) != 0;
}
