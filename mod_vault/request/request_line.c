/* SPDX-License-Identifier: Apache-2.0 */
/* httpd writes the request line into the scoreboard after post_read_request, and again right before log_transaction.
 * For the first write the module cuts the ids in the line. It restores the line in quick_handler, before other modules
 * use it. For the second write the module cuts the line again if one of its own handlers will answer, and restores it
 * for the access log. For other handlers it overwrites in log_transaction what httpd has written.
 */
#include "request/request_line.h"

#include "apr_strings.h"
#include "http_config.h"
#include "http_protocol.h"
#include "http_request.h"
#include "scoreboard.h"

#include "page/page_name.h"
#include "request/own_handlers.h"

/* The note that keeps the line as the client has sent it, if it contains an id. */
#define SENT "vault-request-line"
/* The note that keeps the line that was cut, for the next time. */
#define CUT "vault-request-line-cut"

static void shorten(request_rec *r)
{
    const char *sent = apr_table_get(r->notes, SENT);

    r->the_request = (char *)(sent && sent == r->the_request ? apr_table_get(r->notes, CUT)
                                                             : vault_page_shorten(r->the_request, r->pool));
}

/* @return 1: the line had been cut */
static int restore(request_rec *r)
{
    const char *sent = apr_table_get(r->notes, SENT);

    if (sent) {
        r->the_request = (char *)sent;
    }
    return sent != NULL;
}

void vault_request_line_show(request_rec *r, int status)
{
    char *line = r->the_request;

    shorten(r);
    ap_update_child_status(r->connection->sbh, status, r);
    r->the_request = line;
}

static int cut(request_rec *r)
{
    char *sent = r->the_request;

    if (r->main || r->prev) {
        return DECLINED;
    }
    shorten(r);
    if (r->the_request != sent) {
        apr_table_setn(r->notes, SENT, sent);
        apr_table_setn(r->notes, CUT, r->the_request);
    }
    return DECLINED;
}

static int make_whole(request_rec *r, int lookup)
{
    restore(r);
    return DECLINED;
}

static int cut_for_ours(request_rec *r)
{
    if (apr_table_get(r->notes, SENT) && vault_own_handler(r)) {
        shorten(r);
    }
    return DECLINED;
}

static int make_whole_for_log(request_rec *r)
{
    if (restore(r)) {
        vault_request_line_show(r, SERVER_BUSY_LOG);
    }
    return DECLINED;
}

void vault_request_line_hooks(void)
{
    ap_hook_post_read_request(cut, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_quick_handler(make_whole, NULL, NULL, APR_HOOK_REALLY_FIRST);
    ap_hook_fixups(cut_for_ours, NULL, NULL, APR_HOOK_REALLY_LAST);
    ap_hook_log_transaction(make_whole_for_log, NULL, NULL, APR_HOOK_REALLY_FIRST);
}
