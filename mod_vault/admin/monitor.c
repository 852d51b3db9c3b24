/* SPDX-License-Identifier: Apache-2.0 */
/* Makes an ordinary page with an ordinary method. It waits and wakes like any other page: it misses no notify,
 * and holds no thread. */
#include "admin/monitor.h"

#include <jansson.h>

#include "apr_strings.h"

#include "admin/explain.h"
#include "mod_vault/vault.h"
#include "page/method_url.h"
#include "request/origin.h"
#include "request/reply.h"
#include "server/server.h"
#include "view/context.h"

#define RETRY_AFTER 5
/* Each interest is compared by itself, under this cursor. */
#define CURSOR "monitor"

/* @return of const char *; empty: one of them is not valid */
static apr_array_header_t *names_of(const apr_array_header_t *fields, apr_pool_t *pool)
{
    apr_array_header_t *names = apr_array_make(pool, 4, sizeof(const char *));
    int i;

    for (i = 0; i < fields->nelts; i++) {
        const vault_field_t *f = &APR_ARRAY_IDX(fields, i, vault_field_t);
        apr_size_t length = strlen(f->value);
        if (strcmp(f->name, "monitor") && strcmp(f->name, "tail")) {
            continue;
        }
        if (!length || length > VAULT_INTEREST_MAX) {
            apr_array_clear(names);
            break;
        }
        APR_ARRAY_PUSH(names, const char *) = f->value;
    }
    return names;
}

static json_t *create_all(vault_page_txn_t *txn, const apr_array_header_t *names)
{
    json_t *moved = json_array();
    int i;

    for (i = 0; i < names->nelts; i++) {
        const char *name = APR_ARRAY_IDX(names, i, const char *);
        if (vault_page_txn_create_interest(txn, CURSOR, name)) {
            json_array_append_new(moved, json_string(vault_explain_text(name, names->pool)));
        }
    }
    return moved;
}

static int run_method(request_rec *r, const apr_array_header_t *names)
{
    vault_context_t *x = vault_context_get(r);
    json_t *moved;

    if (!x || !x->in_method || !x->txn) {
        return HTTP_FORBIDDEN;
    }
    moved = create_all(x->txn, names);
    if (!json_array_size(moved)) {
        json_decref(moved);
        return vault_reply_nothing(r);
    }
    return vault_reply_json(r, HTTP_OK, json_pack("{s:o}", "interests", moved));
}

/* The page holds the interests from here on, so a notify before the first poll is reported by that poll. */
static int fill_page(request_rec *r, vault_page_txn_t *txn, const apr_array_header_t *names)
{
    const char *url = apr_pstrcat(r->pool, ap_escape_uri(r->pool, r->uri), "?", r->args, NULL);
    int done;

    if (!vault_method_is_url(url) || vault_page_txn_add_method(txn, url, 1) != APR_SUCCESS) {
        return 0;
    }
    vault_page_txn_begin(txn, url);
    json_decref(create_all(txn, names));
    done = vault_page_txn_end(txn, 1);
    vault_page_txn_begin(txn, "");
    return done;
}

static int make_page(request_rec *r, const apr_array_header_t *names)
{
    vault_context_t *x = vault_context_make(r);
    char id[VAULT_PAGE_ID_LEN + 1];

    x->in_view = 1;
    if (!vault_context_txn(r, NULL)) {
        return vault_reply_retry(r, RETRY_AFTER, "the server is full");
    }
    if (!fill_page(r, x->txn, names)) {
        return vault_reply_error(r, HTTP_BAD_REQUEST, "so many interests are too much for one page");
    }
    if (vault_context_publish(r) != APR_SUCCESS) {
        return vault_reply_retry(r, RETRY_AFTER, "the server is full");
    }
    vault_page_format(&x->page, id);
    return vault_reply_json(r, HTTP_OK, json_pack("{s:s, s:i}", "page", id, "seq", 0));
}

int vault_monitor(request_rec *r)
{
    apr_array_header_t *fields, *names;
    int status;

    if (!r->main &&
        ((status = vault_origin_admit(r, "POST", 0)) != DECLINED || (status = vault_reply_method(r, 0, 1)) != OK)) {
        return status;
    }
    if ((status = vault_reply_fields(r, &fields, VAULT_REPLY_FORM_MAX, r->pool)) != OK) {
        return vault_reply_no_fields(r, status);
    }
    names = names_of(fields, r->pool);
    if (!names->nelts) {
        return vault_reply_error(
            r, HTTP_BAD_REQUEST,
            apr_psprintf(r->pool, "monitor=NAME is needed, each of 1 to %d bytes", VAULT_INTEREST_MAX));
    }
    return r->main ? run_method(r, names) : make_page(r, names);
}
