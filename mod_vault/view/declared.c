/* SPDX-License-Identifier: Apache-2.0 */
/* Evaluates VaultPoll and VaultInterest, and checks that the configuration does not use mod_headers for the same. */
#include "view/declared.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"

#include "server/log.h"
#include "server/rules.h"
#include "server/server.h"
#include "view/header_acts.h"

APLOG_USE_MODULE(vault);

apr_array_header_t *vault_declared(request_rec *r, const apr_array_header_t *rules, const char *directive)
{
    apr_array_header_t *values = apr_array_make(r->pool, 2, sizeof(const char *));
    int i;

    for (i = 0; rules && i < rules->nelts; i++) {
        const char *error, *value = vault_rule_value(r, &APR_ARRAY_IDX(rules, i, vault_rule_t), &error);
        if (error) {
            ap_log_rerror(APLOG_MARK, APLOG_DEBUG, 0, r, VLTNO(00331) "%s: %s", directive, error);
        }
        else if (value && *value) {
            APR_ARRAY_PUSH(values, const char *) = value;
        }
    }
    return values;
}

/* ------------------------------------------------------------ mod_headers' lines */

/* The name of the header in `Header [always|onsuccess] ACTION NAME …` if the module reads such a header; NULL:
 * it does not, or the action removes the header. */
static const char *own_header(const char *args, apr_pool_t *pool)
{
    const char *word = ap_getword_conf(pool, &args);
    unsigned count, i;
    const vault_header_row_t *rows = vault_header_rows(&count);

    if (!ap_cstr_casecmp(word, "always") || !ap_cstr_casecmp(word, "onsuccess")) {
        word = ap_getword_conf(pool, &args);
    }
    if (!ap_cstr_casecmp(word, "unset")) {
        return NULL;
    }
    word = ap_getword_conf(pool, &args);
    for (i = 0; i < count; i++) {
        if (!ap_cstr_casecmp(word, rows[i].name)) {
            return rows[i].name;
        }
    }
    return NULL;
}

static const char *remedy(const char *header)
{
    return !strcmp(header, "Vault-Poll")       ? "VaultPoll"
           : !strcmp(header, "Vault-Interest") ? "VaultInterest"
           : !strcmp(header, "Vault-Notify")   ? "VaultNotifyAfter"
           : !strcmp(header, "Vault-Shared")   ? "VaultCacheKey"
                                               : "a header that the application sends";
}

/* @return the number of such lines */
static int find_in(const ap_directive_t *d, server_rec *s, apr_pool_t *ptemp)
{
    int found = 0;

    for (; d; d = d->next) {
        const char *header = ap_cstr_casecmp(d->directive, "Header") ? NULL : own_header(d->args, ptemp);
        if (header) {
            ap_log_error(APLOG_MARK, APLOG_EMERG, 0, s,
                         VLTNO(00332) "%s:%d: Header %s: what mod_headers adds comes too late to have an effect; %s is "
                                      "accepted in its place",
                         d->filename, d->line_num, d->args, remedy(header));
        }
        found += !!header;
        found += find_in(d->first_child, s, ptemp);
    }
    return found;
}

static int check_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    return find_in(ap_conftree, s, ptemp) ? HTTP_INTERNAL_SERVER_ERROR : OK;
}

void vault_declared_hooks(void)
{
    ap_hook_check_config(check_config, NULL, NULL, APR_HOOK_MIDDLE);
}
