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

#include "announce/announce_conf.h"
#include "announce/notify_limit.h"
#include "base/header_text.h"
#include "base/now.h"
#include "recording/judge.h"
#include "server/log.h"
#include "server/server.h"
#include "session/session_conf.h"
#include "session/session_request.h"
#include "view/context.h"
#include "view/declared.h"
#include "view/page_request.h"
#include "view/recorded.h"
#include "view/script_filter.h"
#include "view/told.h"
#include "view/view.h"
#include "view/view_conf.h"

APLOG_USE_MODULE(vault);

/* The longest value of Vault-Update. */
#define FORMAT_MAX 32

/* The page's stamp of such an interest may be older than the one that the store would keep. */
#define LATE "it names an interest after it has read its data"

static ap_filter_rec_t *headers_filter;

typedef struct take_t take_t;

/* Applies one item of a header. @return NULL, or a sentence that says why it cannot be applied */
typedef const char *act_t(take_t *t, const char *piece);

struct take_t {
    request_rec *r;                 /* the request that is being answered */
    vault_context_t *x;             /* the context of its main request; may be NULL */
    apr_array_header_t *properties; /* of vault_property_t: to be written to the page that has sent the request */
    apr_array_header_t *session;    /* of vault_property_t: to be written to the session */
    const char *name;               /* the name of the header */
};

static int in_method(const take_t *t)
{
    return t->x && t->x->in_method;
}

/* Does the answer count for a page? Errors, answers to conditional requests and partial answers do not. */
static int counts(const take_t *t)
{
    int status = t->r->status;

    return status >= 200 && status < 300 && status != HTTP_PARTIAL_CONTENT && !t->r->header_only;
}

/* ---------------------------------------------------------------- the headers */

static const char *decode(take_t *t, const char *piece, const char **text)
{
    *text = vault_header_decode(piece, t->r->pool);
    return *text ? NULL
                 : "two hexadecimal digits must follow a percent sign, and they must not be 00; the sign itself is "
                   "written %25";
}

static const char *why_no_poll(const take_t *t, apr_status_t rv)
{
    switch (rv) {
    case APR_EINVAL:
        return "it is not a path of this server: a path begins with a slash, and a comma in it is written %2C";
    case APR_EINIT:
        return "it comes too late: the page is being sent";
    case APR_EACCES:
        return "VaultLongPoll is off for the page";
    case APR_NOTFOUND:
        return in_method(t) ? "the page's own answer adds methods, not a method's" : "this request renders no page";
    case APR_EAGAIN:
        return "the page is still being rendered";
    default:
        return "too many methods on the page, or too many pages";
    }
}

/* A method of the page may be named again by code that renders both the page and its updates. */
static int has_method(const take_t *t, const char *url)
{
    return in_method(t) && t->x->txn && vault_state_method(vault_page_txn_state(t->x->txn), url);
}

/* Is this the answer to a page's view? Only a view has a context here. */
static int is_view(const take_t *t)
{
    return t->x && !in_method(t) && !vault_page_request_page(t->r);
}

static const char *add_poll(take_t *t, const char *piece)
{
    apr_status_t rv = piece[0] == '/' ? vault_view_add_long_poll(t->r, piece) : APR_EINVAL;

    return rv == APR_SUCCESS ? NULL : why_no_poll(t, rv);
}

/* Can this answer add a method? */
static int may_add(const take_t *t, const char *piece)
{
    return counts(t) && !has_method(t, piece) && (t->r->status != HTTP_NO_CONTENT || !is_view(t));
}

static const char *act_poll(take_t *t, const char *piece)
{
    const char *refused = is_view(t) && !t->x->has_stream ? vault_script_refused(t->r) : NULL;

    if (!may_add(t, piece)) {
        return NULL;
    }
    if (refused || (refused = add_poll(t, piece))) {
        return refused;
    }
    if (is_view(t)) {
        vault_script_want(t->r);
    }
    return NULL;
}

/* Another client than vault.js takes the stream, so the script must not poll as well. */
static const char *act_stream(take_t *t, const char *piece)
{
    const char *refused = may_add(t, piece) ? add_poll(t, piece) : NULL;

    if (!refused && is_view(t)) {
        t->x->has_stream = 1;
    }
    return refused;
}

/* Of the view's page there is nothing to note: each method runs with its first poll. A view that is kept
 * depends on it. */
static const char *act_interest(take_t *t, const char *piece)
{
    const char *interest, *wrong = decode(t, piece, &interest);

    if (wrong || !counts(t)) {
        return wrong;
    }
    vault_recording_late_interest(vault_recorded(t->r), interest);
    if (in_method(t)) {
        vault_recording_personal(t->x->recording, VAULT_PERSONAL_INTEREST, LATE);
        vault_page_txn_learn_interest(t->x->txn, interest);
    }
    return NULL;
}

static const char *read_property(const take_t *t, const char *piece, const char **key, const char **value)
{
    return vault_header_property(piece, key, value, t->r->pool)
               ? NULL
               : "key=value is needed; the key of letters, digits and hyphens; in the value a comma is %2C and a "
                 "percent sign %25";
}

static void add_property(apr_array_header_t *list, const char *key, const char *value)
{
    vault_property_t *p = apr_array_push(list);

    p->key = key;
    p->value = value;
}

static const char *act_property(take_t *t, const char *piece)
{
    const char *key, *value, *wrong = read_property(t, piece, &key, &value);

    if (wrong || !counts(t)) {
        return wrong;
    }
    if (vault_page_request_page(t->r)) {
        add_property(t->properties, key, value);
        return NULL;
    }
    if (t->x && t->x->txn && vault_page_txn_set(t->x->txn, key, value) != APR_SUCCESS) {
        return "its key or its value is too long";
    }
    return NULL;
}

/* A form that has changed the session usually answers by a redirect, so redirects count. */
static const char *act_session(take_t *t, const char *piece)
{
    const char *key, *value, *wrong = read_property(t, piece, &key, &value);

    if (wrong || t->r->status >= HTTP_BAD_REQUEST || t->r->header_only) {
        return wrong;
    }
    if (in_method(t)) {
        return vault_session_request_why(APR_NOTFOUND);
    }
    add_property(t->session, key, value);
    return NULL;
}

static const char *act_update(take_t *t, const char *piece)
{
    const char *key, *value;

    if (!vault_header_property(apr_pstrcat(t->r->pool, piece, "=", NULL), &key, &value, t->r->pool) ||
        strlen(key) > FORMAT_MAX) {
        return "one word of at most 32 letters, digits and hyphens is needed";
    }
    if (in_method(t) && counts(t)) {
        t->x->format = apr_pstrdup(t->x->pool, key); /* the memory of the subrequest ends before that of the method */
    }
    return NULL;
}

static const char *act_shared(take_t *t, const char *piece)
{
    if (ap_cstr_casecmp(piece, "yes")) {
        return "the only value is yes";
    }
    vault_judge_share(vault_recorded(t->r), t->r);
    return NULL;
}

/* Applies whatever the status is, since the data has been written. A method must not notify its own interest,
 * since it would run for ever. */
static const char *act_notify(take_t *t, const char *piece)
{
    const char *interest, *wrong = decode(t, piece, &interest);
    apr_status_t rv;

    if (!wrong && in_method(t) && vault_page_txn_waits_for(t->x->txn, interest)) {
        return "it would notify itself again and again";
    }
    if (wrong) {
        return wrong;
    }
    rv = vault_notify_limit_send(t->r, interest);
    if (rv == APR_ENOSPC) { /* the application cannot be told to try again */
        rv = vault_server_notify(interest);
    }
    return rv == APR_EINVAL ? "the name of an interest has 1 to 200 bytes" : NULL;
}

static int has_live_pages(const request_rec *r)
{
    return vault_view_conf_of(r)->long_poll == 1;
}

/* A response may be kept without a live page. */
static int has_live_pages_or_is_kept(const request_rec *r)
{
    const vault_context_t *x = vault_context_get((request_rec *)r);

    return has_live_pages(r) || (x && x->may_be_kept);
}

static int has_sessions(const request_rec *r)
{
    return vault_session_conf_is_on(r);
}

/* Programs that write, for instance the administration of an application, often are outside of the locations
 * with live pages. */
static int may_notify(const request_rec *r)
{
    return vault_announce_conf_of(r)->header != 0;
}

/* The order matters: whether a stream is used is known before the script is asked for, a page is created before
 * its properties are set, and an interest is created before it can be notified. */
static const struct {
    const char *name;
    act_t *act;
    int (*is_accepted)(const request_rec *r);
    const char *directive; /* the directive that decides this */
} headers[] = {
    {"Vault-Stream", act_stream, has_live_pages, "VaultLongPoll"},
    {"Vault-Poll", act_poll, has_live_pages, "VaultLongPoll"},
    {"Vault-Property", act_property, has_live_pages, "VaultLongPoll"},
    {"Vault-Session", act_session, has_sessions, "VaultSession"},
    {"Vault-Interest", act_interest, has_live_pages_or_is_kept, "VaultLongPoll"},
    {"Vault-Update", act_update, has_live_pages, "VaultLongPoll"},
    {"Vault-Shared", act_shared, has_live_pages_or_is_kept, "VaultCache"},
    {"Vault-Notify", act_notify, may_notify, "VaultNotify"},
};
#define HEADERS (sizeof(headers) / sizeof(headers[0]))

/* -------------------------------------------------------------------- taking */

/* A method fails if one of its headers is not valid: the header might have named the interest that the method
 * waits for. */
static void report(take_t *t, const char *piece, const char *wrong)
{
    static apr_time_t said;
    int level;

    if (in_method(t)) {
        vault_page_txn_fail(t->x->txn, apr_psprintf(t->r->pool, "%s: %.100s: %s", t->name, piece, wrong));
        return;
    }
    level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
    ap_log_rerror(APLOG_MARK, level, 0, t->r, VLTNO(00062) "%s: %.100s: %s", t->name, piece, wrong);
}

static void act_on(take_t *t, act_t *act, const char *list)
{
    const char *piece, *wrong;

    while ((piece = vault_header_piece(&list, t->r->pool))) {
        if ((wrong = act(t, piece))) {
            report(t, piece, wrong);
        }
    }
}

static void write_properties(take_t *t)
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

static void write_session(take_t *t)
{
    static apr_time_t said;
    apr_status_t rv = t->session->nelts ? vault_session_request_write(t->r, t->session) : APR_SUCCESS;

    if (rv != APR_SUCCESS) {
        int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_rerror(APLOG_MARK, level, 0, t->r, VLTNO(00401) "session properties of %s cannot be set: %s", t->r->uri,
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
static void say_off(const take_t *t, const char *directive, int expected)
{
    /* Computed here, since the log macro evaluates its argument twice. */
    int level = expected || vault_told_before(t->r) ? APLOG_INFO : APLOG_WARNING;

    ap_log_rerror(APLOG_MARK, level, 0, t->r, VLTNO(00064) "%s of %s has no effect: %s is off there", t->name,
                  t->r->uri, directive);
}

static int is_accepted_of(const request_rec *r, unsigned i)
{
    return r->per_dir_config && headers[i].is_accepted(r);
}

/* Is the header accepted in the answer to `r` or, with `before`, in an answer that was redirected internally to
 * `r`? */
static int is_accepted(const request_rec *r, int before, unsigned i)
{
    int accepted = is_accepted_of(r, i);

    while (before && !accepted && (r = r->prev)) {
        accepted = is_accepted_of(r, i);
    }
    return accepted;
}

/* Removes one header from a table, and applies it if it counts. */
static void take_one(take_t *t, apr_table_t *table, unsigned i, int accepted)
{
    apr_array_header_t *lists;
    int k;

    t->name = headers[i].name;
    if (!apr_table_get(table, t->name)) {
        return;
    }
    lists = apr_array_make(t->r->pool, 2, sizeof(const char *));
    apr_table_do(gather, lists, table, t->name, NULL);
    apr_table_unset(table, t->name);
    if (!accepted) {
        say_off(t, headers[i].directive, headers[i].is_accepted == may_notify);
        return;
    }
    for (k = 0; k < lists->nelts; k++) {
        act_on(t, headers[i].act, APR_ARRAY_IDX(lists, k, const char *));
    }
}

static void take_table(request_rec *r, apr_table_t *table, int before)
{
    take_t t = {.r = r,
                .x = vault_context_get(r),
                .properties = apr_array_make(r->pool, 1, sizeof(vault_property_t)),
                .session = apr_array_make(r->pool, 1, sizeof(vault_property_t))};
    unsigned i;

    for (i = 0; i < HEADERS; i++) {
        take_one(&t, table, i, is_accepted(r, before, i));
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
    take_t t = {.r = r, .x = vault_context_get(r), .name = "VaultInterest"};
    apr_array_header_t *values;
    int i, method = in_method(&t);

    if (!method &&
        (r->main || !l->polls || vault_page_request_page(r) || vault_script_refused(r) || !has_live_pages(r))) {
        return;
    }
    if (!method) {
        t.name = "VaultPoll";
    }
    values = vault_declared(r, method ? l->interests : l->polls, t.name);
    if (!has_live_pages(r)) {
        if (values->nelts > 0 && counts(&t)) {
            say_off(&t, "VaultLongPoll", 0);
        }
        return;
    }
    for (i = 0; i < values->nelts && counts(&t); i++) {
        const char *value = APR_ARRAY_IDX(values, i, const char *);
        const char *wrong = NULL;
        if (method) {
            vault_recording_personal(t.x->recording, VAULT_PERSONAL_INTEREST, LATE);
            vault_page_txn_learn_interest(t.x->txn, value);
        }
        else {
            wrong = act_poll(&t, value);
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
    vault_session_request_mark(r);
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
