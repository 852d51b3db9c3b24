/* SPDX-License-Identifier: Apache-2.0 */
/* Calls feeds when a request is logged. The expressions of the directive give the arguments of the method. */
#include "feed/feedlog.h"

#include "apr_strings.h"
#include "http_protocol.h"

#include "base/now.h"
#include "base/utf8.h"
#include "feed/feed_conf.h"
#include "feed/feedcall.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

/* Browsers can send any bytes, but stored values must be text. Bytes that are not UTF-8 become U+FFFD. */
static const char *evaluate(request_rec *r, const vault_argument_t *a, const char **error)
{
    const char *text = ap_expr_str_exec(r, a->value, error);
    apr_size_t length;

    return text ? vault_utf8_clean(text, strlen(text), &length, r->pool) : NULL;
}

static const char *call_feed(request_rec *r, const vault_feed_log_t *entry)
{
    json_t *args = json_object(), *rows = NULL;
    const char *error = NULL;
    int i;

    for (i = 0; i < entry->arguments->nelts && !error; i++) {
        const vault_argument_t *a = &APR_ARRAY_IDX(entry->arguments, i, vault_argument_t);
        const char *value = evaluate(r, a, &error);
        if (!error && vault_feedcall_argument(args, a->name, value ? value : "") != APR_SUCCESS) {
            error = apr_psprintf(r->pool, "the argument \"%s\" is given twice, or has no proper name", a->name);
        }
    }
    if (!error) {
        vault_feedcall_run(NULL, entry->feed, entry->method, args, &rows, &error, r->pool);
    }
    json_decref(args);
    json_decref(rows);
    return error;
}

static int log_transaction(request_rec *r)
{
    static apr_time_t said;
    const apr_array_header_t *entries;
    const vault_feed_conf_t *l;
    int i;

    while (r->next) {
        r = r->next;
    }
    l = vault_feed_conf_of(r);
    entries = l ? l->log : NULL;
    for (i = 0; entries && i < entries->nelts; i++) {
        const vault_feed_log_t *entry = APR_ARRAY_IDX(entries, i, const vault_feed_log_t *);
        const char *error = call_feed(r, entry);
        if (error) {
            int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
            ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00050) "VaultFeedLog %s %s (%s): %s", entry->feed,
                          entry->method, entry->where, error);
        }
    }
    return OK;
}

void vault_feedlog_hooks(void)
{
    ap_hook_log_transaction(log_transaction, NULL, NULL, APR_HOOK_MIDDLE);
}
