/* SPDX-License-Identifier: Apache-2.0 */
/* Finds or makes what the module keeps for a connection. */
#include "suspend/conn_ctx.h"

#include "server/server.h"

vault_conn_ctx_t *vault_conn_ctx_of(const conn_rec *c)
{
    return ap_get_module_config(c->conn_config, &vault_module);
}

vault_conn_ctx_t *vault_conn_ctx_make(conn_rec *c)
{
    vault_conn_ctx_t *v = vault_conn_ctx_of(c);

    if (!v) {
        v = apr_pcalloc(c->pool, sizeof(*v));
        v->fd = -1;
        ap_set_module_config(c->conn_config, &vault_module, v);
    }
    return v;
}
