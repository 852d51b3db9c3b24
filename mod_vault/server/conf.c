/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the configuration of a request, and parses values of directives. */
#include "server/conf.h"

#include "apr_strings.h"

#include "server/server.h"

const void *vault_conf_of(const request_rec *r, vault_conf_id_t id)
{
    return r->per_dir_config ? vault_conf_part(ap_get_module_config(r->per_dir_config, &vault_module), id) : NULL;
}

const char *vault_conf_number(cmd_parms *cmd, const char *value, int min, int max, const char *other, int *number)
{
    char *end;
    apr_int64_t n = apr_strtoi64(value, &end, 10);

    if (!*value || *end || n < min || n > max) {
        return apr_psprintf(cmd->pool, "%s %s: a whole number from %d to %d is accepted%s", cmd->cmd->name, value, min,
                            max, other);
    }
    *number = (int)n;
    return NULL;
}

const char *vault_conf_size(cmd_parms *cmd, const char *value, apr_off_t min, apr_off_t max, apr_off_t *size)
{
    char *end;
    apr_int64_t n = apr_strtoi64(value, &end, 10);
    int shift = *end == 'K' || *end == 'k' ? 10 : *end == 'M' || *end == 'm' ? 20 : *end == 'G' || *end == 'g' ? 30 : 0;

    if (shift) {
        end++;
    }
    if (!*value || *end || n < 0 || n > (max >> shift) || (n << shift) < min) {
        return apr_psprintf(cmd->pool,
                            "%s %s: a size from %" APR_OFF_T_FMT " to %" APR_OFF_T_FMT
                            " bytes is accepted, as a whole number with or without K, M or G",
                            cmd->cmd->name, value, min, max);
    }
    *size = n << shift;
    return NULL;
}

void vault_conf_add_word(apr_array_header_t **list, const char *word, apr_pool_t *pool)
{
    if (!word || !*list) {
        *list = apr_array_make(pool, 2, sizeof(const char *));
    }
    if (word) {
        APR_ARRAY_PUSH(*list, const char *) = word;
    }
}
