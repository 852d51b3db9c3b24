/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the headers of an application when they are complete. That is when the first bucket of the response
 * passes the filter VAULT_HEADERS, or, if httpd replaces the response by its own, in the hook
 * insert_error_filter. */
#include "view/headers.h"

#include "httpd.h"

#include "apr_strings.h"
#include "http_core.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"
#include "util_filter.h"

#include "base/header_text.h"
#include "base/now.h"
#include "server/log.h"
#include "server/server.h"
#include "session/session_request.h"
#include "view/context.h"
#include "view/declared.h"
#include "view/header_acts.h"
#include "view/page_request.h"
#include "view/script_filter.h"
#include "view/told.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* Of the names of all headers. */
#define PREFIX "Vault-"

static ap_filter_rec_t *headers_filter;

/* -------------------------------------------------------------------- taking */

/* A method fails if one of its headers is not valid: the header might have named the interest that the method
 * waits for. */
static void report(vault_header_take_t *t, const char *piece, const char *wrong)
{
    static apr_time_t said;
    int level;

    if (vault_header_in_method(t)) {
        vault_page_txn_fail(t->x->txn, apr_psprintf(t->r->pool, "%s: %.100s: %s", t->name, piece, wrong));
        return;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
    ap_log_rerror(APLOG_MARK, level, 0, t->r, VLTNO(00062) "%s: %.100s: %s", t->name, piece, wrong);
}

static void act_on(vault_header_take_t *t, vault_header_act_t *act, const char *list)
{
    const char *piece, *wrong;

    while ((piece = vault_header_piece(&list, t->r->pool))) {
        if ((wrong = act(t, piece))) {
            report(t, piece, wrong);
        }
    }
}

static void write_properties(vault_header_take_t *t)
{
    static apr_time_t said;
    vault_write_t write = {.properties = t->properties};
    apr_status_t rv = t->properties->nelts ? vault_page_request_write(t->r, &write) : APR_SUCCESS;

    if (rv != APR_SUCCESS && rv != APR_NOTFOUND) {
        int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, rv, t->r,
                      VLTNO(00063) "properties of the page that has sent the request cannot be set: %s",
                      rv == APR_EINVAL ? "a value is too long" : "its state does not fit in the shared memory");
    }
}

static void write_session(vault_header_take_t *t)
{
    static apr_time_t said;
    apr_status_t rv = t->renews ? vault_session_request_renew(t->r) : APR_SUCCESS;

    if (rv == APR_SUCCESS && t->session->nelts) {
        rv = vault_session_request_write(t->r, t->session);
    }
    if (rv != APR_SUCCESS) {
        int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, 0, t->r, VLTNO(00401) "the session of %s cannot be changed: %s", t->r->uri,
                      vault_session_request_why(rv));
    }
}

static int gather(void *baton, const char *name, const char *value)
{
    APR_ARRAY_PUSH((apr_array_header_t *)baton, const char *) = value;
    return 1;
}

/* Without this line an administrator would only see that pages are not live. VaultNotify is off only where the
 * administrator has configured that, so it causes no warning. */
static void say_off(const vault_header_take_t *t, const char *directive, int expected)
{
    /* Computed here, since the log macro evaluates its argument twice. */
    int level = expected || vault_told_before(t->r) ? APLOG_INFO : APLOG_WARNING;

    ap_log_rerror(APLOG_MARK, level, 0, t->r, VLTNO(00064) "%s of %s has no effect: %s is off there", t->name,
                  t->r->uri, directive);
}

static int is_accepted_of(const request_rec *r, const vault_header_row_t *row)
{
    return r->per_dir_config && row->is_accepted(r);
}

/* Is the header accepted in the answer to `r` or, with `before`, in an answer that was redirected internally to
 * `r`? */
static int is_accepted(const request_rec *r, int before, const vault_header_row_t *row)
{
    int accepted = is_accepted_of(r, row);

    while (before && !accepted && (r = r->prev)) {
        accepted = is_accepted_of(r, row);
    }
    return accepted;
}

/* Removes one header from a table, and applies it if it counts. */
static void take_one(vault_header_take_t *t, apr_table_t *table, const vault_header_row_t *row, int accepted)
{
    apr_array_header_t *lists;
    int k;

    t->name = row->name;
    if (!apr_table_get(table, t->name)) {
        return;
    }
    lists = apr_array_make(t->r->pool, 2, sizeof(const char *));
    apr_table_do(gather, lists, table, t->name, NULL);
    apr_table_unset(table, t->name);
    if (!accepted) {
        say_off(t, row->directive, row->is_quiet);
        return;
    }
    for (k = 0; k < lists->nelts; k++) {
        act_on(t, row->act, APR_ARRAY_IDX(lists, k, const char *));
    }
}

/* Most responses have none of these headers, and a search for each by its name takes much longer. */
static int has_any(const apr_table_t *table)
{
    const apr_array_header_t *list = apr_table_elts(table);
    int i;

    for (i = 0; i < list->nelts; i++) {
        const char *name = APR_ARRAY_IDX(list, i, apr_table_entry_t).key;
        if (name && !ap_cstr_casecmpn(name, PREFIX, sizeof(PREFIX) - 1)) {
            return 1;
        }
    }
    return 0;
}

int vault_headers_any(const request_rec *r)
{
    return has_any(r->headers_out) || has_any(r->err_headers_out);
}

static void take_table(request_rec *r, apr_table_t *table, int before)
{
    vault_header_take_t t = {.r = r, .x = vault_context_get(r)};
    unsigned count, i;
    const vault_header_row_t *rows = vault_header_rows(&count);

    if (!has_any(table)) {
        return;
    }
    t.properties = apr_array_make(r->pool, 1, sizeof(vault_property_t));
    t.session = apr_array_make(r->pool, 1, sizeof(vault_property_t));
    for (i = 0; i < count; i++) {
        take_one(&t, table, &rows[i], is_accepted(r, before, &rows[i]));
    }
    write_properties(&t);
    write_session(&t);
}

/* Applies VaultPoll and VaultInterest. A view polls the URLs of VaultPoll if its answer can have a page; images
 * and style sheets of the same location cannot. A method waits for the interests of VaultInterest. Where
 * VaultLongPoll is off, such a method would run once and never again, which is logged. */
static void take_declared(request_rec *r)
{
    const vault_view_conf_t *l = vault_view_conf_of(r);
    vault_header_take_t t = {.r = r, .x = vault_context_get(r), .name = "VaultInterest"};
    apr_array_header_t *values;
    int i, method = vault_header_in_method(&t);

    if (!method && (r->main || !l->polls || vault_page_request_page(r) || vault_script_refused(r) ||
                    vault_view_conf_of(r)->long_poll != 1)) {
        return;
    }
    if (!method) {
        t.name = "VaultPoll";
    }
    values = vault_declared(r, method ? l->interests : l->polls, t.name);
    if (vault_view_conf_of(r)->long_poll != 1) {
        if (values->nelts > 0 && vault_header_counts(&t)) {
            say_off(&t, "VaultLongPoll", 0);
        }
        return;
    }
    for (i = 0; i < values->nelts && vault_header_counts(&t); i++) {
        const char *value = APR_ARRAY_IDX(values, i, const char *);
        const char *wrong = NULL;
        if (method) {
            vault_header_wait_for(&t, value);
        }
        else {
            wrong = vault_header_act_poll(&t, value);
        }
        if (wrong) {
            report(&t, value, wrong);
        }
    }
}

/* After an internal redirect, the headers of the earlier requests count as well: each has its own headers_out,
 * and they share err_headers_out. */
static void take(request_rec *r)
{
    request_rec *before;

    for (before = r; before; before = before->prev) {
        take_table(before, before->headers_out, 0);
    }
    take_table(r, r->err_headers_out, 1);
    vault_session_request_set_private(r);
    if (r->per_dir_config) {
        take_declared(r);
    }
}

/* ------------------------------------------------------- what handlers have said */

static int is_plain(void *baton, const char *name, const char *value)
{
    return !*value || !strcasecmp(value, "identity");
}

int vault_headers_say_compressed(const request_rec *r)
{
    return r->content_encoding || !apr_table_do(is_plain, NULL, r->headers_out, "Content-Encoding", NULL) ||
           !apr_table_do(is_plain, NULL, r->err_headers_out, "Content-Encoding", NULL);
}

void vault_headers_unset(request_rec *r, const char *name)
{
    apr_table_unset(r->headers_out, name);
    apr_table_unset(r->err_headers_out, name);
}

/* --------------------------------------------------------------------- hooks */

static apr_status_t filter_headers(ap_filter_t *f, apr_bucket_brigade *bb)
{
    take(f->r);
    ap_remove_output_filter(f);
    return ap_pass_brigade(f->next, bb);
}

/* The poll handler sends none of these headers, and a filter would use memory for as long as the poll waits. */
static void insert_headers(request_rec *r)
{
    if (!r->main && r->handler && !strcmp(r->handler, "vault-poll")) {
        return;
    }
    ap_add_output_filter_handle(headers_filter, NULL, r, r->connection);
}

void vault_headers_hooks(void)
{
    headers_filter = ap_register_output_filter("VAULT_HEADERS", filter_headers, NULL, AP_FTYPE_CONTENT_SET - 4);
    vault_told_hooks();
    ap_hook_insert_filter(insert_headers, NULL, NULL, APR_HOOK_LAST);
    ap_hook_insert_error_filter(take, NULL, NULL, APR_HOOK_FIRST);
}
