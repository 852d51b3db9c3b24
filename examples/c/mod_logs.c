/* SPDX-License-Identifier: Apache-2.0 */
/* A controller in C: the handler `logs-page` shows the rows of a table, `logs-latest` those that are new for
 * the page that asks.
 *
 *     <Location "/logs/">
 *         SetHandler logs-page
 *         VaultLongPoll On
 *     </Location>
 *     <Location "/logs/latest">
 *         SetHandler logs-latest
 *     </Location>
 *
 * The template, log-entries.html, is in the folder of the document root that /logs/ is mapped to.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "http_protocol.h"

#include "mod_vault/vault.h"

static APR_OPTIONAL_FN_TYPE(vault_add_long_poll) * add_long_poll;
static APR_OPTIONAL_FN_TYPE(vault_page_script) * page_script;
static APR_OPTIONAL_FN_TYPE(vault_feed_call) * feed_call;
static APR_OPTIONAL_FN_TYPE(vault_render) * render;

/* In the page: the newest rows, in place. In the method: the new rows as an element for the browser, or
 * nothing. */
static int write_rows(request_rec *r)
{
    json_t *args = json_pack("{s:s, s:i}", "table", "logs", "limit", 20), *rows = NULL;
    vault_render_t what = {.file = "log-entries.html", .action = "append", .target = "logs-div"};
    const char *error = NULL;
    apr_status_t rv = feed_call(r, "database", "get_new_instances", args, &rows, &error);

    if (rv == APR_SUCCESS) {
        what.data = rows;
        rv = render(r, &what, &error);
    }
    json_decref(args);
    json_decref(rows);
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "logs: %s", error);
    }
    return rv == APR_SUCCESS ? OK : rv == APR_EAGAIN ? HTTP_SERVICE_UNAVAILABLE : HTTP_INTERNAL_SERVER_ERROR;
}

static int write_page(request_rec *r)
{
    const char *script;
    int status;

    if (add_long_poll(r, "/logs/latest") != APR_SUCCESS || !(script = page_script(r))) {
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_rprintf(r, "<!doctype html>\n<title>Log</title>\n%s\n<table><tbody id=\"logs-div\">\n", script);
    if ((status = write_rows(r)) == OK) {
        ap_rputs("</tbody></table>\n", r);
    }
    return status;
}

static int handler(request_rec *r)
{
    int page = r->handler && !strcmp(r->handler, "logs-page");

    if (!page && !(r->handler && !strcmp(r->handler, "logs-latest"))) {
        return DECLINED;
    }
    if (!add_long_poll || !page_script || !feed_call || !render) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, 0, r, "logs: mod_vault is not loaded");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    ap_set_content_type(r, "text/html; charset=utf-8");
    return page ? write_page(r) : write_rows(r);
}

static void retrieve(void)
{
    add_long_poll = APR_RETRIEVE_OPTIONAL_FN(vault_add_long_poll);
    page_script = APR_RETRIEVE_OPTIONAL_FN(vault_page_script);
    feed_call = APR_RETRIEVE_OPTIONAL_FN(vault_feed_call);
    render = APR_RETRIEVE_OPTIONAL_FN(vault_render);
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_optional_fn_retrieve(retrieve, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(logs) = {STANDARD20_MODULE_STUFF, .register_hooks = register_hooks};
