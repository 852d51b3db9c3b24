/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the parts of a request's section. */
#include "server/conf.h"

#include "server/server.h"

const void *vault_conf_of(const request_rec *r, vault_conf_id_t id)
{
    return r->per_dir_config ? vault_conf_part(ap_get_module_config(r->per_dir_config, &vault_module), id) : NULL;
}
