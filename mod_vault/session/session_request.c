/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and creates the session of a request. */
#include "session/session_request.h"

#include "apr_strings.h"
#include "http_log.h"
#include "http_protocol.h"
#include "http_request.h"

#include "base/header_text.h"
#include "base/now.h"
#include "page/session.h"
#include "request/client.h"
#include "request/main_request.h"
#include "request/own_handlers.h"
#include "request/realm.h"
#include "server/log.h"
#include "server/server.h"
#include "server/settings.h"
#include "session/session_conf.h"
#include "session/session_cookie.h"

APLOG_USE_MODULE(vault);

/* The cursor of a method that has seen a session, or none: this, the name of the cookie, and as its value the name of
 * the session's interest, or nothing. The key also says whether the session is bound to the address, so that a later
 * comparison uses the same rule as the method. */
#define CURSOR_ANY_ADDRESS "session of "
#define CURSOR_BOUND_ADDRESS "session at the address of "

/* What is known of the session of a request. Kept for a visitor's request; looked up anew for each method of a poll. */
typedef struct current_t {
    const char *cookie;
    int bound;
    int exists;
    vault_page_t id;
    vault_session_t found;
    int cookie_sent; /* this request has set the cookie */
} current_t;

static int is_poll(request_rec *r)
{
    return vault_own_handler(vault_main_request(r)) != NULL;
}

static vault_visitor_t visitor_of(request_rec *r, int bound)
{
    const vault_session_conf_t *l = vault_session_conf_of(r);
    vault_visitor_t v = {.owner = vault_realm_owner(r), .bound = bound, .now = vault_now()};

    v.owner.client = vault_client_of(r);
    v.address = vault_client_address(r);
    v.timeout = apr_time_from_sec(vault_session_conf_timeout(l));
    v.keeps_alive = !is_poll(r);
    return v;
}

/* ------------------------------------------------------------------- finding */

static void look_up(request_rec *r, current_t *c)
{
    const char *rest = apr_table_get(vault_main_request(r)->headers_in, "Cookie");
    vault_visitor_t v;

    c->exists = 0;
    if (!rest) {
        return;
    }
    v = visitor_of(r, c->bound);
    while (!c->exists && vault_session_cookie_next(&rest, c->cookie, &c->id)) {
        c->exists = vault_session_find(vault_server->pages, &c->id, &v, &c->found) == APR_SUCCESS;
    }
}

static current_t *make_current(request_rec *r, const char *cookie, int bound, apr_pool_t *pool)
{
    current_t *c = apr_pcalloc(pool, sizeof(*c));

    c->cookie = cookie;
    c->bound = bound;
    look_up(r, c);
    return c;
}

/* NULL: there are no sessions here. A subrequest shares what is known with its main request, if both have the same
 * cookie. */
static current_t *current_of(request_rec *r)
{
    const vault_session_conf_t *l = vault_session_conf_of(r);
    apr_pool_t *pool = vault_main_request(r)->pool;
    const char *cookie, *key;
    void *known = NULL;

    if (!vault_session_conf_is_on(r) || !vault_server->pages) {
        return NULL;
    }
    cookie = vault_session_conf_cookie(l);
    if (is_poll(r)) {
        return make_current(r, cookie, l->bound == 1, r->pool);
    }
    key = apr_pstrcat(r->pool, l->bound == 1 ? CURSOR_BOUND_ADDRESS : CURSOR_ANY_ADDRESS, cookie, NULL);
    apr_pool_userdata_get(&known, key, pool);
    if (!known) {
        known = make_current(r, cookie, l->bound == 1, pool);
        apr_pool_userdata_set(known, key, apr_pool_cleanup_null, pool);
    }
    return known;
}

const apr_array_header_t *vault_session_request_properties(request_rec *r)
{
    current_t *c = current_of(r);
    apr_array_header_t *properties = NULL;
    vault_visitor_t v;

    if (c && c->exists) {
        v = visitor_of(r, c->bound);
        vault_session_read(vault_server->pages, &c->id, &v, &properties, r->pool);
    }
    return properties;
}

const char *vault_session_request_get(request_rec *r, const char *key)
{
    const apr_array_header_t *properties = vault_session_request_properties(r);
    int i;

    for (i = 0; properties && i < properties->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(properties, i, vault_property_t);
        if (!strcmp(p->key, key)) {
            return p->value;
        }
    }
    return NULL;
}

/* ------------------------------------------------------------- other pages' polls */

/* The interest of pages without a session. The number says nothing about the address: its key is random. */
static const char *interest_of_address(request_rec *r)
{
    return apr_psprintf(r->pool, "session:at:%" APR_UINT64_T_HEX_FMT, vault_client_address(r));
}

/* A child of prefork may end in a signal handler while it holds a lock of the shared memory. Then it does not set its
 * clean mark, and the parent notifies all. */
static apr_status_t notify_cb(void *interest)
{
    if (!vault_server->ends) {
        vault_server_notify(interest);
    }
    return APR_SUCCESS;
}

/* The polls of the browser's other pages are outdated: they came without this id. They end, and the next ones bring it.
 * So they must be notified when the browser has the cookie, not now: the cleanup of the request's pool runs after the
 * answer was written. If a poll arrives without the cookie nevertheless, the poll after it compares the sessions. */
static void send_cookie(request_rec *r, current_t *c)
{
    request_rec *top = vault_main_request(r);

    vault_session_cookie_set(r, c->cookie, &c->id);
    if (!c->cookie_sent) {
        c->cookie_sent = 1;
        apr_pool_cleanup_register(top->pool, apr_pstrdup(top->pool, c->found.interest), notify_cb,
                                  apr_pool_cleanup_null);
        apr_pool_cleanup_register(top->pool, apr_pstrdup(top->pool, interest_of_address(r)), notify_cb,
                                  apr_pool_cleanup_null);
    }
}

/* ------------------------------------------------------------------- writing */

static int sets_any(const apr_array_header_t *properties)
{
    int i;

    for (i = 0; i < properties->nelts; i++) {
        if (APR_ARRAY_IDX(properties, i, vault_property_t).value) {
            return 1;
        }
    }
    return 0;
}

static void log_full(request_rec *r)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);
    const char *limit = vault_client_limit(r, 0);

    ap_log_rerror(APLOG_MARK, level, 0, r,
                  VLTNO(00400) "no session can be made: %s%s%s, %u sessions and %u pages are there",
                  limit ? vault_client_name(vault_main_request(r), r->pool) : "", limit ? " has " : "",
                  limit ? limit : "VaultMaxSessions, VaultMaxPages or VaultSharedMemory is used up",
                  vault_sessions_count(vault_server->pages), vault_pages_count(vault_server->pages));
}

static apr_status_t make_session(request_rec *r, current_t *c, const vault_visitor_t *v,
                                 const apr_array_header_t *properties)
{
    apr_status_t rv;

    if (!sets_any(properties)) {
        return APR_SUCCESS;
    }
    if (vault_main_request(r)->sent_bodyct) {
        return APR_EINIT;
    }
    rv = vault_session_create(vault_server->pages, &c->id, v, properties, vault_page_idle(), r->pool);
    if (rv == APR_ENOSPC) {
        log_full(r);
    }
    if (rv != APR_SUCCESS) {
        return rv;
    }
    c->exists = vault_session_find(vault_server->pages, &c->id, v, &c->found) == APR_SUCCESS;
    send_cookie(r, c);
    return APR_SUCCESS;
}

apr_status_t vault_session_request_write(request_rec *r, const apr_array_header_t *properties)
{
    current_t *c = current_of(r);
    apr_status_t rv = APR_NOTFOUND;
    vault_visitor_t v;

    if (!c || is_poll(r)) {
        return c ? APR_NOTFOUND : APR_EACCES;
    }
    v = visitor_of(r, c->bound);
    if (c->exists) {
        rv = vault_session_write(vault_server->pages, &c->id, &v, properties, r->pool);
    }
    if (rv == APR_NOTFOUND || rv == APR_EACCES) { /* there is none, or it has expired or been evicted meanwhile */
        c->exists = 0;
        rv = make_session(r, c, &v, properties);
    }
    return rv;
}

apr_status_t vault_session_request_set(request_rec *r, const char *key, const char *value)
{
    apr_array_header_t *properties = apr_array_make(r->pool, 1, sizeof(vault_property_t));
    vault_property_t *p = apr_array_push(properties);

    p->key = key;
    p->value = value;
    return vault_session_request_write(r, properties);
}

/* An id that this request has created needs no renewal: no other client knows it. */
apr_status_t vault_session_request_renew(request_rec *r)
{
    current_t *c = current_of(r);
    apr_status_t rv;
    vault_visitor_t v;

    if (!c || is_poll(r)) {
        return c ? APR_NOTFOUND : APR_EACCES;
    }
    if (!c->exists || c->cookie_sent) {
        return APR_SUCCESS;
    }
    if (vault_main_request(r)->sent_bodyct) {
        return APR_EINIT;
    }
    v = visitor_of(r, c->bound);
    rv = vault_session_renew(vault_server->pages, &c->id, &v);
    if (rv == APR_SUCCESS) {
        send_cookie(r, c);
    }
    else if (rv != APR_ENOSPC) { /* another request has renewed or removed it meanwhile */
        c->exists = 0;
        rv = APR_SUCCESS;
    }
    return rv;
}

const char *vault_session_request_why(apr_status_t rv)
{
    switch (rv) {
    case APR_EACCES:
        return "VaultSession is off here";
    case APR_NOTFOUND:
        return "a method of a poll can read the session, but not change it";
    case APR_EINVAL:
        return "its key or its value is too long";
    case APR_EINIT:
        return "it is too late for a cookie: the page is on its way";
    default:
        return "there is no room for it in the shared memory";
    }
}

/* ------------------------------------------------------------------- headers */

void vault_session_request_set_headers(request_rec *r, apr_table_t *headers)
{
    const apr_array_header_t *properties = vault_session_request_properties(r);
    int i;

    for (i = 0; properties && i < properties->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(properties, i, vault_property_t);
        if (vault_header_is_key(p->key)) {
            apr_table_setn(headers, apr_pstrcat(r->pool, "Vault-Session-", p->key, NULL),
                           vault_header_encode(p->value, r->pool));
        }
    }
}

void vault_session_request_set_private(request_rec *r)
{
    const current_t *c = !r->main && !is_poll(r) ? current_of(r) : NULL;

    if (c && c->exists) {
        apr_table_mergen(r->headers_out, "Cache-Control", "private");
    }
}

/* The visitor has logged in since the session was made: an id that an attacker planted in the browser before
 * the login (session fixation) must be invalid after it. */
static void renew_at_login(request_rec *r, current_t *c)
{
    vault_visitor_t v = visitor_of(r, c->bound);
    apr_status_t rv = vault_session_login(vault_server->pages, &c->id, &v);

    if (rv == APR_SUCCESS) {
        c->found.has_user = 1;
        send_cookie(r, c);
        return;
    }
    c->exists = 0; /* an id from before the login is not used after it */
    if (rv == APR_ENOSPC) {
        log_full(r);
    }
}

/* The user and the location are known here. */
static int set_request_headers(request_rec *r)
{
    current_t *c = !r->main && !is_poll(r) ? current_of(r) : NULL;

    if (c && c->exists) {
        if (r->user && !c->found.has_user) {
            renew_at_login(r, c);
        }
        vault_session_request_set_headers(r, r->headers_in);
    }
    return DECLINED;
}

/* -------------------------------------------------------------------- polls */

static void add_dependency(request_rec *r, const current_t *c, vault_page_txn_t *txn)
{
    const char *cursor = apr_pstrcat(r->pool, c->bound ? CURSOR_BOUND_ADDRESS : CURSOR_ANY_ADDRESS, c->cookie, NULL);

    vault_page_txn_create_interest(txn, cursor, c->exists ? c->found.interest : interest_of_address(r));
    vault_page_txn_set_cursor(txn, cursor, c->exists ? c->found.interest : "");
}

/* The interest is held, and its stamp is read, before the properties are. */
void vault_session_request_enter_method(request_rec *sub, vault_page_txn_t *txn)
{
    const current_t *c = current_of(sub);

    if (c) {
        add_dependency(sub, c, txn);
        vault_session_request_set_headers(sub, sub->headers_in);
    }
}

/* A page with a session needs nothing: its first poll runs each method, with the session that the cookie names then. */
void vault_session_request_enter_view(request_rec *r, vault_page_txn_t *txn)
{
    const current_t *c = current_of(r);

    if (c && !c->exists) {
        add_dependency(r, c, txn);
    }
}

/* @return the name of the cookie, if this is the cursor of a session */
static const char *cookie_of(const vault_cursor_t *cursor, int *bound)
{
    *bound = !strncmp(cursor->key, CURSOR_BOUND_ADDRESS, strlen(CURSOR_BOUND_ADDRESS));
    if (*bound) {
        return cursor->key + strlen(CURSOR_BOUND_ADDRESS);
    }
    return strncmp(cursor->key, CURSOR_ANY_ADDRESS, strlen(CURSOR_ANY_ADDRESS))
               ? NULL
               : cursor->key + strlen(CURSOR_ANY_ADDRESS);
}

static vault_session_seen_t compare(const current_t *now, const vault_cursor_t *cursor)
{
    const char *before = cursor->value ? cursor->value : "";

    if (!now->exists) {
        return *before ? VAULT_SESSION_LOST : VAULT_SESSION_STILL_NONE;
    }
    return strcmp(before, now->found.interest) ? VAULT_SESSION_OTHER : VAULT_SESSION_SAME;
}

vault_session_seen_t vault_session_request_compare(request_rec *poll, const vault_state_t *base,
                                                   const vault_method_t *method, const apr_array_header_t **seen)
{
    int i, bound;

    for (i = 0; i < base->cursors->nelts; i++) {
        const vault_cursor_t *cursor = &APR_ARRAY_IDX(base->cursors, i, vault_cursor_t);
        const char *cookie = strcmp(cursor->scope, method->url) ? NULL : cookie_of(cursor, &bound);
        if (cookie) {
            *seen = cursor->deps;
            return compare(make_current(poll, cookie, bound, base->pool), cursor);
        }
    }
    return VAULT_SESSION_NOT_READ;
}

/* Does the cursor depend on a later stamp than before, or on an interest that it did not depend on? */
static int has_later(const vault_cursor_t *cursor, const vault_cursor_t *before)
{
    int i;

    for (i = 0; i < cursor->deps->nelts; i++) {
        const vault_dep_t *dep = &APR_ARRAY_IDX(cursor->deps, i, vault_dep_t);
        const vault_dep_t *seen = before ? vault_deps_find(before->deps, dep->interest) : NULL;
        if (!seen || dep->stamp > seen->stamp) {
            return 1;
        }
    }
    return 0;
}

int vault_session_request_missed_cookie(const vault_state_t *base, const vault_state_t *next)
{
    int i, bound;

    for (i = 0; i < next->cursors->nelts; i++) {
        const vault_cursor_t *cursor = &APR_ARRAY_IDX(next->cursors, i, vault_cursor_t);
        const vault_cursor_t *before;
        if (!*cursor->scope || !cookie_of(cursor, &bound) || (cursor->value && *cursor->value)) {
            continue;
        }
        before = vault_state_cursor(base, cursor->scope, cursor->key);
        if (has_later(cursor, before ? before : vault_state_cursor(base, "", cursor->key))) {
            return 1;
        }
    }
    return 0;
}

void vault_session_request_hooks(void)
{
    /* before page_request.c, which tells of the page, and after all that can log a user in */
    ap_hook_fixups(set_request_headers, NULL, NULL, APR_HOOK_LAST);
}
