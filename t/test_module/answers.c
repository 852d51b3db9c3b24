/* SPDX-License-Identifier: Apache-2.0 */
/* Actions of the handler `vault-test` that need no mod_vault: answers of all kinds, and children that die. */
#include "http_protocol.h"
#include "http_request.h"

#include "apr_strings.h"

#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "action.h"
#include "damage.h"

static int act_echo(act_t *act)
{
    ap_rputs(query_get(act, "text", ""), act->r);
    return OK;
}

static int act_status(act_t *act)
{
    return atoi(query_get(act, "code", "204"));
}

static int act_big(act_t *act)
{
    static const char block[] = "0123456789abcdefghijklmnopqrstuvwxyz ABCDEFGHIJKLMNOPQRSTUVWXYZ\n";
    apr_int64_t left = apr_atoi64(query_get(act, "bytes", "0"));

    while (left > 0) {
        int n = left < (apr_int64_t)sizeof block - 1 ? (int)left : (int)sizeof block - 1;

        if (ap_rwrite(block, n, act->r) < 0) {
            break;
        }
        left -= n;
    }
    return OK;
}

static int act_broken(act_t *act)
{
    conn_rec *c = act->r->connection;
    apr_bucket_brigade *bb = apr_brigade_create(act->r->pool, c->bucket_alloc);

    apr_brigade_puts(bb, NULL, NULL, query_get(act, "text", ""));
    APR_BRIGADE_INSERT_TAIL(bb, ap_bucket_error_create(HTTP_BAD_GATEWAY, NULL, act->r->pool, c->bucket_alloc));
    APR_BRIGADE_INSERT_TAIL(bb, apr_bucket_eos_create(c->bucket_alloc));
    ap_pass_brigade(act->r->output_filters, bb);
    return OK;
}

static int act_pid(act_t *act)
{
    ap_rprintf(act->r, "%" APR_PID_T_FMT, getpid());
    return OK;
}

static int write_header(void *baton, const char *name, const char *value)
{
    ap_rprintf((request_rec *)baton, "%s: %s\n", name, value);
    return 1;
}

/** A header with the id that the page will have. */
static int act_told(act_t *act)
{
    const char *id = apr_table_get(act->r->headers_in, "Vault-New-Page");

    apr_table_setn(act->r->headers_out, "X-Page", id ? id : "");
    ap_rputs("told", act->r);
    return OK;
}

static int act_said(act_t *act)
{
    const char *name = query_get(act, "name", NULL), *value = name ? apr_table_get(act->r->headers_in, name) : NULL;

    if (query_get(act, "body", NULL)) {
        ap_discard_request_body(act->r);
    }
    if (name) {
        ap_rputs(value ? value : "", act->r);
    }
    else {
        apr_table_do(write_header, act->r, act->r->headers_in, NULL);
    }
    return OK;
}

static int act_body(act_t *act)
{
    char buffer[8192];
    long n;
    int status = ap_setup_client_block(act->r, REQUEST_CHUNKED_DECHUNK);

    if (status != OK || !ap_should_client_block(act->r)) {
        return status;
    }
    while ((n = ap_get_client_block(act->r, buffer, sizeof(buffer))) > 0) {
        ap_rwrite(buffer, (int)n, act->r);
    }
    return n < 0 ? HTTP_BAD_REQUEST : OK;
}

static int act_wait(act_t *act)
{
    return OK;
}

static int act_redirect(act_t *act)
{
    ap_internal_redirect(query_get(act, "to", "/"), act->r);
    return OK;
}

static int act_include(act_t *act)
{
    const char *folder = query_get(act, "path", ap_make_dirstr_parent(act->r->pool, act->r->uri));
    int i, status = OK;

    for (i = 0; i < 2 && status == OK; i++) {
        const char *path = apr_pstrcat(act->r->pool, folder, "echo?text=%5Bin%5D", NULL);
        request_rec *rr = ap_sub_req_lookup_uri(path, act->r, act->r->output_filters);

        status = rr->status == HTTP_OK ? ap_run_sub_req(rr) : rr->status;
        ap_destroy_sub_req(rr);
    }
    return status;
}

/** A client that has disconnected is not a failure of this handler. */
static int act_flush(act_t *act)
{
    ap_rflush(act->r);
    return OK;
}

static int act_kill(act_t *act)
{
    kill(getpid(), SIGKILL);
    return HTTP_INTERNAL_SERVER_ERROR;
}

static int act_damage(act_t *act)
{
    int count = damage_turn(query_get(act, "text", ""), atol(query_get(act, "at", "0")),
                            (unsigned char)atoi(query_get(act, "bits", "0")), act->r->pool);

    ap_rprintf(act->r, "%d", count);
    return count < 0 ? HTTP_INTERNAL_SERVER_ERROR : OK;
}

const action_t answer_actions[] = {
    {"big", "text/plain", act_big},           {"body", "text/plain", act_body}, {"broken", "text/html", act_broken},
    {"damage", "text/plain", act_damage},     {"echo", "text/html", act_echo},  {"flush", "text/html", act_flush},
    {"include", "text/plain", act_include},   {"kill", "text/plain", act_kill}, {"pid", "text/plain", act_pid},
    {"redirect", "text/plain", act_redirect}, {"said", "text/plain", act_said}, {"status", "text/html", act_status},
    {"told", "text/html", act_told},          {"wait", "text/plain", act_wait}, {NULL, NULL, NULL},
};
