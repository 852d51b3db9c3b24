/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mod_vault_bench: the smallest page and long-poll method, so that bench/run measures mod_vault and not a template.
 *
 *   SetHandler vault-bench-page      /bench/page?interest=NAME    a page that polls the method below
 *   SetHandler vault-bench-method    /bench/method?interest=NAME  writes nothing at a page's first run, and about
 *                                                                 200 bytes at a later one if NAME may have happened
 */
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "http_protocol.h"

#include "apr_lib.h"
#include "apr_optional.h"
#include "apr_strings.h"

#include "mod_vault/vault.h"

#define PAGE_HANDLER "vault-bench-page"
#define METHOD_HANDLER "vault-bench-method"
#define METHOD_URL "/bench/method?interest="

static APR_OPTIONAL_FN_TYPE(vault_add_long_poll) * add_long_poll;
static APR_OPTIONAL_FN_TYPE(vault_page_script) * page_script;
static APR_OPTIONAL_FN_TYPE(vault_page_get) * page_get;
static APR_OPTIONAL_FN_TYPE(vault_page_set) * page_set;
static APR_OPTIONAL_FN_TYPE(vault_create_interest) * create_interest;

/* The name in "interest=NAME"; NULL if it has other characters than letters, digits and "-". */
static const char *interest_of(const request_rec *r)
{
    static const char key[] = "interest=";
    const char *name, *p;

    if (r->args == NULL || strncmp(r->args, key, sizeof key - 1) != 0) {
        return NULL;
    }
    name = r->args + sizeof key - 1;
    for (p = name; apr_isalnum(*p) || *p == '-'; p++) {
        continue;
    }
    return *p == '\0' && p > name && p - name <= VAULT_INTEREST_MAX ? name : NULL;
}

static int show_page(request_rec *r, const char *interest)
{
    apr_status_t rv = add_long_poll(r, apr_pstrcat(r->pool, METHOD_URL, interest, NULL));
    const char *script = rv == APR_SUCCESS ? page_script(r) : NULL;

    if (script == NULL) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r, "no long poll for the bench page: is VaultLongPoll on here?");
        return HTTP_SERVICE_UNAVAILABLE;
    }
    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rvputs(r, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>bench</title>", script,
              "</head><body><div id=\"bench\"></div></body></html>\n", NULL);
    return OK;
}

/* Interest first, then the data: here, the data is that the page has polled before. */
static int run_method(request_rec *r, const char *interest)
{
    if (!create_interest(r, interest, apr_pstrcat(r->pool, "bench/", interest, NULL))) {
        return OK;
    }
    if (page_get(r, "primed") == NULL) {
        return page_set(r, "primed", "1") == APR_SUCCESS ? OK : HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_set_content_type(r, "text/html; charset=utf-8");
    apr_table_setn(r->headers_out, "Vault-Shared", "yes"); /* counts where VaultCache is On */
    ap_rvputs(r, "<turbo-stream action=\"append\" target=\"bench\"><template><p class=\"entry\">", interest,
              " has happened; this line has the length of an entry in a log, with a time and a path.</p></template>"
              "</turbo-stream>\n",
              NULL);
    return OK;
}

static int handler(request_rec *r)
{
    int is_page = strcmp(r->handler, PAGE_HANDLER) == 0;
    const char *interest;

    if (!is_page && strcmp(r->handler, METHOD_HANDLER) != 0) {
        return DECLINED;
    }
    if (r->method_number != M_GET) {
        return HTTP_METHOD_NOT_ALLOWED;
    }
    interest = interest_of(r);
    if (interest == NULL) {
        return HTTP_BAD_REQUEST;
    }
    return is_page ? show_page(r, interest) : run_method(r, interest);
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    add_long_poll = APR_RETRIEVE_OPTIONAL_FN(vault_add_long_poll);
    page_script = APR_RETRIEVE_OPTIONAL_FN(vault_page_script);
    page_get = APR_RETRIEVE_OPTIONAL_FN(vault_page_get);
    page_set = APR_RETRIEVE_OPTIONAL_FN(vault_page_set);
    create_interest = APR_RETRIEVE_OPTIONAL_FN(vault_create_interest);
    if (!add_long_poll || !page_script || !page_get || !page_set || !create_interest) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, s, "mod_vault_bench needs mod_vault: load it too");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(vault_bench) = {STANDARD20_MODULE_STUFF, NULL, NULL, NULL, NULL, NULL, register_hooks,
                                  AP_MODULE_FLAG_NONE};
