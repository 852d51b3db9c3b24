/* SPDX-License-Identifier: Apache-2.0 */
/* Calls a method of a feed, and is the host of the feed during the call: it records what the method does for
 * the page in the page's transaction (page_txn.h). */
#include "feed/feedcall.h"

#include "apr_hash.h"
#include "apr_strings.h"
#include "http_log.h"

#include "base/call_name.h"
#include "feed/feeds.h"
#include "request/client.h"
#include "request/main_request.h"
#include "server/log.h"
#include "server/server.h"
#include "view/context.h"
#include "view/recorded.h"

APLOG_USE_MODULE(vault);

/* The deepest nesting that dots in an argument's name can make, since JSON is walked recursively. */
#define DEPTH_MAX 8

struct vault_call_t {
    request_rec *r; /* NULL: the call is not part of a request */
    const vault_loaded_feed_t *feed;
    vault_page_txn_t *txn; /* NULL: no page, or not determined yet (txn_of()) */
    const char *cursor;    /* feed, method, arguments; NULL: not needed yet (cursor_of()) */
    const char *method;
    const json_t *args;
    const char *error;
    int reset;
    int interests; /* how many it has created */
    apr_pool_t *pool;
};

/* ---------------------------------------------------------------------- host */

/* A view gets its page only when a call has something to record, since a call that writes mostly records
 * nothing. */
static vault_page_txn_t *txn_of(vault_call_t *call)
{
    if (!call->txn && call->r) {
        call->txn = vault_context_txn(call->r, NULL);
    }
    return call->txn;
}

static const char *cursor_of(vault_call_t *call)
{
    if (!call->cursor) {
        call->cursor = vault_call_name(call->feed->name, call->method, call->args, call->pool);
    }
    return call->cursor;
}

static vault_recording_t *recording_of(const vault_call_t *call)
{
    return call->r ? vault_recorded(call->r) : NULL;
}

static int host_create_interest(vault_call_t *call, const char *interest)
{
    call->interests++;
    return call->r ? vault_recorded_create_interest(call->r, txn_of(call), cursor_of(call), interest) : 1;
}

static void host_remove_interest(vault_call_t *call, const char *interest)
{
    if (call->txn) {
        vault_page_txn_remove_interest(call->txn, interest);
    }
}

static const char *host_cursor_get(vault_call_t *call)
{
    return call->txn ? vault_page_txn_cursor(call->txn, cursor_of(call)) : NULL;
}

static apr_status_t host_cursor_set(vault_call_t *call, const char *value)
{
    return txn_of(call) ? vault_page_txn_set_cursor(call->txn, cursor_of(call), value) : APR_SUCCESS;
}

static const char *host_page_get(vault_call_t *call, const char *key)
{
    return call->txn ? vault_recorded_get(call->r, call->txn, key) : NULL;
}

static apr_status_t host_page_set(vault_call_t *call, const char *key, const char *value)
{
    return txn_of(call) ? vault_page_txn_set(call->txn, key, value) : APR_NOTFOUND;
}

static apr_status_t host_notify(const char *interest)
{
    return vault_server_notify(interest);
}

/* An external call belongs to the page that it names. */
static const vault_calls_base_t *outside(const vault_call_t *call)
{
    return call->r ? vault_context_make(call->r)->outside : NULL;
}

static apr_status_t host_notify_local(const char *interest)
{
    return vault_server_notify_local(interest);
}

static const char *host_user(vault_call_t *call)
{
    vault_recording_personal(recording_of(call), VAULT_PERSONAL_VISITOR, "a feed asks who the visitor is");
    return outside(call) ? outside(call)->user : call->r ? vault_main_request(call->r)->user : NULL;
}

static apr_pool_t *host_pool(vault_call_t *call)
{
    return call->pool;
}

static apr_status_t host_fail(vault_call_t *call, apr_status_t status, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    call->error = apr_pvsprintf(call->pool, fmt, ap);
    va_end(ap);
    return status;
}

static void host_log(int level, const char *fmt, ...)
{
    char line[1024];
    va_list ap;

    va_start(ap, fmt);
    apr_vsnprintf(line, sizeof(line), fmt, ap);
    va_end(ap);
    ap_log_error(APLOG_MARK, level & APLOG_LEVELMASK, 0, vault_server->s, VLTNO(00020) "feed: %s", line);
}

static apr_status_t host_on_ack(vault_call_t *call, const char *data)
{
    if (!vault_feeds_hears(call->feed)) {
        return APR_ENOTIMPL;
    }
    return txn_of(call) ? vault_page_txn_on_ack(call->txn, call->feed->name, data) : APR_NOTFOUND;
}

static void host_reset(vault_call_t *call)
{
    call->reset = 1;
}

static const char *host_absolute(const char *path, apr_pool_t *pool)
{
    return ap_server_root_relative(pool, path);
}

static void host_notify_all(void)
{
    vault_notifier_all(vault_server->notifier, vault_server->slot);
}

static apr_size_t host_room(vault_call_t *call)
{
    const vault_context_t *x = call->r ? vault_context_get(call->r) : NULL;

    return x ? x->room : 0;
}

static apr_uint64_t host_client(vault_call_t *call)
{
    return outside(call) ? outside(call)->client : call->r ? vault_client_of(call->r) : 0;
}

const vault_host_t vault_feedcall_host = {
    .abi = VAULT_FEED_ABI,
    .size = sizeof(vault_host_t),
    .create_interest = host_create_interest,
    .remove_interest = host_remove_interest,
    .cursor_get = host_cursor_get,
    .cursor_set = host_cursor_set,
    .page_get = host_page_get,
    .page_set = host_page_set,
    .notify = host_notify,
    .user = host_user,
    .pool = host_pool,
    .fail = host_fail,
    .log = host_log,
    .on_ack = host_on_ack,
    .reset = host_reset,
    .absolute = host_absolute,
    .notify_all = host_notify_all,
    .room = host_room,
    .client = host_client,
    .notify_local = host_notify_local,
};

/* --------------------------------------------------------------------- calls */

/* A run makes each call once. A second read could see newer rows than the first and would advance the cursor
 * that both share. So a repeated call returns the rows of the first, even if those were none. @return 0: this
 * is the first call */
static int recall(const vault_context_t *x, const char *cursor, json_t **rows)
{
    json_t *had = x->results ? apr_hash_get(x->results, cursor, APR_HASH_KEY_STRING) : NULL;

    *rows = had && !json_is_null(had) ? json_incref(had) : NULL;
    return had != NULL;
}

static apr_status_t drop_rows(void *rows)
{
    json_decref(rows);
    return APR_SUCCESS;
}

/* @param rows  NULL: the call returned no rows */
static void remember(vault_context_t *x, vault_call_t *call, json_t *rows)
{
    if (!x->results) {
        x->results = apr_hash_make(call->pool);
    }
    rows = rows ? json_incref(rows) : json_null();
    apr_pool_cleanup_register(call->pool, rows, drop_rows, apr_pool_cleanup_null);
    apr_hash_set(x->results, cursor_of(call), APR_HASH_KEY_STRING, rows);
    if (call->reset) {
        /* found by the rows themselves, which live as long as the results */
        apr_hash_set(x->results, apr_pmemdup(call->pool, &rows, sizeof(rows)), sizeof(rows), rows);
    }
}

int vault_feedcall_is_reset(request_rec *r, const json_t *rows)
{
    const vault_context_t *x = vault_context_get(r);

    return x && x->results && apr_hash_get(x->results, &rows, sizeof(rows)) != NULL;
}

static apr_status_t run_method(const vault_feed_method_t *m, vault_call_t *call, json_t **rows)
{
    const char *failed = call->txn ? vault_page_txn_failed(call->txn) : NULL;
    apr_status_t rv = m->call(call->feed->self, call, call->args, rows);

    if (rv != APR_SUCCESS && *rows) {
        json_decref(*rows);
        *rows = NULL;
    }
    if (rv == APR_SUCCESS && call->txn && !failed && vault_page_txn_failed(call->txn)) {
        call->error = vault_page_txn_failed(call->txn);
        rv = APR_EAGAIN;
    }
    return rv;
}

/* A page whose data could not be read does not become live. A refused write does not affect what a page shows. */
static void fail_txn(const vault_context_t *x, const vault_call_t *call, int reads)
{
    if (call->txn && (reads || x->in_method)) {
        vault_page_txn_fail(call->txn, call->error ? call->error : "a feed failed");
    }
}

/* What a call reads of the page is its cursor. What it is told to write it must write each time; and without an
 * interest nothing would tell that its rows have changed. */
static void record(const vault_context_t *x, vault_call_t *call, int reads)
{
    if (!x || !x->recording) {
        return;
    }
    if (!reads) {
        vault_recording_personal(x->recording, VAULT_PERSONAL_CALL, "it writes through a feed");
    }
    else if (!call->interests) {
        vault_recording_personal(x->recording, VAULT_PERSONAL_CALL, "it asks a feed that names no interest");
    }
    else if (call->txn) {
        vault_recording_cursor(x->recording, cursor_of(call), vault_page_txn_committed(call->txn, cursor_of(call)));
    }
}

apr_status_t vault_feedcall_run(request_rec *r, const char *feed, const char *method, const json_t *args, json_t **rows,
                                const char **error, apr_pool_t *pool)
{
    const vault_loaded_feed_t *f = vault_feeds_find(feed);
    const vault_feed_method_t *m = f ? vault_feeds_find_method(f, method) : NULL;
    vault_context_t *x = r ? vault_context_make(r) : NULL;
    vault_call_t call = {.r = r, .pool = x ? x->pool : pool};
    apr_status_t rv;
    int reads;

    *rows = NULL;
    if (!m) {
        *error = vault_feeds_check_method(feed, method, call.pool);
        return APR_NOTFOUND;
    }
    if (f->broken) {
        *error = f->broken;
        return APR_EAGAIN;
    }
    reads = !(m->flags & VAULT_METHOD_WRITES);
    call.feed = f;
    call.method = method;
    call.args = args;
    call.txn = !r ? NULL : reads ? vault_context_txn(r, NULL) : x->txn;
    if (call.txn && reads && recall(x, cursor_of(&call), rows)) {
        vault_recording_recalled(x->recording, cursor_of(&call));
        return APR_SUCCESS;
    }
    rv = run_method(m, &call, rows);
    record(x, &call, reads);
    if (rv != APR_SUCCESS) {
        vault_recording_drop(x ? x->recording : NULL, VAULT_PERSONAL_NOT, "a feed failed");
        fail_txn(x, &call, reads);
    }
    if (rv == APR_SUCCESS && call.txn && reads) {
        vault_recorded_conflict(r, cursor_of(&call));
        remember(x, &call, *rows);
    }
    *error = call.error ? call.error : rv == APR_SUCCESS ? NULL : "it gave no reason";
    return rv;
}

/* ----------------------------------------------------------------- arguments */

apr_status_t vault_feedcall_argument(json_t *args, const char *name, const char *value)
{
    const char *dot;
    json_t *string;
    int depth = 0;

    while ((dot = strchr(name, '.'))) {
        char part[128];
        json_t *inner;
        if (++depth > DEPTH_MAX || dot == name || (apr_size_t)(dot - name) >= sizeof(part)) {
            return APR_EINVAL;
        }
        apr_cpystrn(part, name, (apr_size_t)(dot - name) + 1);
        if (!(inner = json_object_get(args, part))) {
            inner = json_object();
            if (json_object_set_new(args, part, inner)) {
                return APR_EINVAL;
            }
        }
        if (!json_is_object(inner)) {
            return APR_EINVAL;
        }
        args = inner;
        name = dot + 1;
    }
    string = json_string(value);
    if (!*name || !string || json_object_get(args, name)) {
        json_decref(string);
        return *name && string ? APR_EEXIST : APR_EINVAL;
    }
    return json_object_set_new(args, name, string) ? APR_EINVAL : APR_SUCCESS;
}
