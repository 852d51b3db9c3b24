/* SPDX-License-Identifier: Apache-2.0 */
/* Loads feeds, and is their host: what a feed's method does to the page goes from here into the round (run.h). */
#include "feeds.h"

#include <signal.h>
#include <stddef.h>

#include "apr_dso.h"
#include "apr_hash.h"
#include "apr_strings.h"
#include "http_log.h"

#include "call_name.h"
#include "context.h"
#include "log.h"
#include "mod_vault.h"

APLOG_USE_MODULE(vault);

/* Dots in the name of an argument: JSON is walked recursively. */
#define DEPTH_MAX 8

typedef struct feed_t {
    const char *name;
    const vault_feed_t *vtable;
    void *self;
    const char *broken; /* why it does not work in this child; NULL: it does */
    int started;
} feed_t;

struct vault_call_t {
    request_rec *r; /* NULL: outside of a request */
    const feed_t *feed;
    vault_run_t *run;   /* NULL: no page, or none so far (run_of) */
    const char *cursor; /* feed, method, arguments; NULL: not needed so far (cursor_of) */
    const char *method;
    const json_t *args;
    const char *error;
    int reset;
    apr_pool_t *pool;
};

static apr_hash_t *feeds;

/* ---------------------------------------------------------------------- host */

/* A view's page is made by what a call keeps for it: one that writes mostly keeps nothing. */
static vault_run_t *run_of(vault_call_t *call)
{
    if (!call->run && call->r) {
        call->run = vault_context_run(call->r, NULL);
    }
    return call->run;
}

static const char *cursor_of(vault_call_t *call)
{
    if (!call->cursor) {
        call->cursor = vault_call_name(call->feed->name, call->method, call->args, call->pool);
    }
    return call->cursor;
}

static int host_create_interest(vault_call_t *call, const char *interest)
{
    return run_of(call) ? vault_run_create_interest(call->run, cursor_of(call), interest) : 1;
}

static void host_remove_interest(vault_call_t *call, const char *interest)
{
    if (call->run) {
        vault_run_remove_interest(call->run, interest);
    }
}

static const char *host_cursor_get(vault_call_t *call)
{
    return call->run ? vault_run_cursor(call->run, cursor_of(call)) : NULL;
}

static apr_status_t host_cursor_set(vault_call_t *call, const char *value)
{
    return run_of(call) ? vault_run_set_cursor(call->run, cursor_of(call), value) : APR_SUCCESS;
}

static const char *host_page_get(vault_call_t *call, const char *key)
{
    return call->run ? vault_run_get(call->run, key) : NULL;
}

static apr_status_t host_page_set(vault_call_t *call, const char *key, const char *value)
{
    return run_of(call) ? vault_run_set(call->run, key, value) : APR_NOTFOUND;
}

static apr_status_t host_notify(const char *interest)
{
    return vault_notifier_notify(vault_server.notifier, interest, vault_server.slot);
}

static const char *host_user(vault_call_t *call)
{
    return call->r ? vault_main_request(call->r)->user : NULL;
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
    ap_log_error(APLOG_MARK, level & APLOG_LEVELMASK, 0, vault_server.s, VLTNO(00020) "feed: %s", line);
}

/* A feed that was built before the slot was there has none. */
static int has_acked(const vault_feed_t *vtable)
{
    return vtable->size >= offsetof(vault_feed_t, acked) + sizeof(vtable->acked) && vtable->acked;
}

static apr_status_t host_on_ack(vault_call_t *call, const char *data)
{
    if (!has_acked(call->feed->vtable)) {
        return APR_ENOTIMPL;
    }
    return run_of(call) ? vault_run_on_ack(call->run, call->feed->name, data) : APR_NOTFOUND;
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
    vault_notifier_all(vault_server.notifier, vault_server.slot);
}

static const vault_host_t host = {
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
};

/* ------------------------------------------------------------------- loading */

void vault_feeds_reset(apr_pool_t *pconf)
{
    feeds = apr_hash_make(pconf);
}

static const char *load_object(const vault_feed_t **vtable, const char *name, const char *path, apr_pool_t *pconf)
{
    apr_dso_handle_t *dso = NULL;
    apr_dso_handle_sym_t symbol;
    char reason[256];

    if (apr_dso_load(&dso, path, pconf) != APR_SUCCESS) {
        return apr_psprintf(pconf, "VaultFeed %s %s: it cannot be loaded: %s", name, path,
                            apr_dso_error(dso, reason, sizeof(reason)));
    }
    if (apr_dso_sym(&symbol, dso, VAULT_FEED_SYMBOL) != APR_SUCCESS) {
        return apr_psprintf(pconf, "VaultFeed %s %s: it is no feed: it exports no \"" VAULT_FEED_SYMBOL "\"", name,
                            path);
    }
    *vtable = symbol;
    if ((*vtable)->abi != VAULT_FEED_ABI) {
        return apr_psprintf(
            pconf,
            "VaultFeed %s %s: it was built for ABI %u, this server has ABI %u; build it against this server's vault.h",
            name, path, (*vtable)->abi, VAULT_FEED_ABI);
    }
    if ((*vtable)->size < offsetof(vault_feed_t, acked) || !(*vtable)->methods || !(*vtable)->open) {
        return apr_psprintf(pconf, "VaultFeed %s %s: its descriptor is not complete", name, path);
    }
    return NULL;
}

static const vault_feed_param_t *find_param(const vault_feed_t *vtable, const char *name)
{
    const vault_feed_param_t *p;

    for (p = vtable->params; p && p->name; p++) {
        if (!strcmp(p->name, name)) {
            return p;
        }
    }
    return NULL;
}

static const char *known_params(const vault_feed_t *vtable, apr_pool_t *pconf)
{
    const vault_feed_param_t *p;
    const char *list = "";

    for (p = vtable->params; p && p->name; p++) {
        list = apr_pstrcat(pconf, list, *list ? ", " : "", p->name, NULL);
    }
    return *list ? list : "none";
}

static const char *resolve_paths(apr_table_t *all, const feed_t *f, apr_pool_t *pconf)
{
    const vault_feed_param_t *p;

    for (p = f->vtable->params; p && p->name; p++) {
        const char *given = apr_table_get(all, p->name), *path;
        if (!(p->flags & VAULT_PARAM_PATH) || !*given) {
            continue;
        }
        if (!(path = ap_server_root_relative(pconf, given))) {
            return apr_psprintf(pconf, "VaultFeed %s: %s=%s is not a path", f->name, p->name, given);
        }
        apr_table_setn(all, p->name, path);
    }
    return NULL;
}

/* Every declared parameter, given or fallback. */
static const char *complete_params(apr_table_t **all, const feed_t *f, const apr_table_t *given, apr_pool_t *pconf)
{
    const apr_array_header_t *list = apr_table_elts(given);
    const apr_table_entry_t *e = (const apr_table_entry_t *)list->elts;
    const vault_feed_param_t *p;
    int i;

    for (i = 0; i < list->nelts; i++) {
        if (!find_param(f->vtable, e[i].key)) {
            return apr_psprintf(pconf, "VaultFeed %s: %s=%s: there is no such parameter; these are accepted: %s",
                                f->name, e[i].key, e[i].val, known_params(f->vtable, pconf));
        }
    }
    *all = apr_table_copy(pconf, given);
    for (p = f->vtable->params; p && p->name; p++) {
        if (apr_table_get(given, p->name)) {
            continue;
        }
        if (!p->fallback) {
            return apr_psprintf(pconf, "VaultFeed %s: the parameter \"%s\" is missing: %s", f->name, p->name,
                                p->help ? p->help : "");
        }
        apr_table_setn(*all, p->name, p->fallback);
    }
    return resolve_paths(*all, f, pconf);
}

const char *vault_feeds_load(const char *name, const char *path, const apr_table_t *params, apr_pool_t *pconf)
{
    feed_t *f = apr_pcalloc(pconf, sizeof(*f));
    apr_table_t *all = NULL;
    const char *error;

    if (apr_hash_get(feeds, name, APR_HASH_KEY_STRING)) {
        return apr_psprintf(pconf, "VaultFeed %s: there is a feed of that name already", name);
    }
    if (!path) {
        return apr_psprintf(pconf, "VaultFeed %s: the path of the feed is not valid", name);
    }
    f->name = apr_pstrdup(pconf, name);
    if ((error = load_object(&f->vtable, name, path, pconf)) || (error = complete_params(&all, f, params, pconf))) {
        return error;
    }
    if ((error = f->vtable->open(&f->self, &host, all, pconf))) {
        return apr_psprintf(pconf, "VaultFeed %s: %s", name, error);
    }
    apr_hash_set(feeds, f->name, APR_HASH_KEY_STRING, f);
    return NULL;
}

static apr_status_t stop_feed(void *data)
{
    feed_t *f = data;

    f->vtable->child_stop(f->self);
    return APR_SUCCESS;
}

/* The threads of a feed, and of the libraries that it uses, inherit that signals are for httpd's own. */
static const char *start_feed(const feed_t *f, apr_pool_t *pchild)
{
    sigset_t all, before;
    const char *error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = f->vtable->child_start(f->self, pchild);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

void vault_feeds_start(apr_pool_t *pchild, server_rec *s)
{
    apr_hash_index_t *i;

    for (i = apr_hash_first(pchild, feeds); i; i = apr_hash_next(i)) {
        feed_t *f = apr_hash_this_val(i);
        f->broken = f->vtable->child_start ? start_feed(f, pchild) : NULL;
        if (f->broken) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, VLTNO(00021) "feed %s cannot start: %s", f->name, f->broken);
        }
        else if (f->vtable->child_stop) {
            /* Before the pools that the feed made of this one go. */
            apr_pool_pre_cleanup_register(pchild, f, stop_feed);
        }
    }
}

/* --------------------------------------------------------------------- calls */

static const vault_feed_method_t *find_method(const vault_feed_t *vtable, const char *name)
{
    const vault_feed_method_t *m;

    for (m = vtable->methods; m->name; m++) {
        if (!strcmp(m->name, name)) {
            return m;
        }
    }
    return NULL;
}

const char *vault_feeds_check_method(const char *feed, const char *method, apr_pool_t *p)
{
    const feed_t *f = apr_hash_get(feeds, feed, APR_HASH_KEY_STRING);

    if (!f) {
        return apr_psprintf(p, "there is no feed \"%s\": a VaultFeed must declare it first", feed);
    }
    if (!find_method(f->vtable, method)) {
        return apr_psprintf(p, "the feed \"%s\" has no method \"%s\"", feed, method);
    }
    return NULL;
}

int vault_feeds_writes(const char *feed, const char *method)
{
    const feed_t *f = apr_hash_get(feeds, feed, APR_HASH_KEY_STRING);
    const vault_feed_method_t *m = f ? find_method(f->vtable, method) : NULL;

    return m && (m->flags & VAULT_METHOD_WRITES);
}

/* Rows of this very call that this method (or view) has had before. */
static json_t *recall(const vault_context_t *x, const char *cursor)
{
    return x && x->results ? apr_hash_get(x->results, cursor, APR_HASH_KEY_STRING) : NULL;
}

static apr_status_t drop_rows(void *rows)
{
    json_decref(rows);
    return APR_SUCCESS;
}

static void remember(vault_context_t *x, vault_call_t *call, json_t *rows)
{
    if (!x->results) {
        x->results = apr_hash_make(call->pool);
    }
    json_incref(rows);
    apr_pool_cleanup_register(call->pool, rows, drop_rows, apr_pool_cleanup_null);
    apr_hash_set(x->results, cursor_of(call), APR_HASH_KEY_STRING, rows);
    if (call->reset) {
        /* By the rows themselves, which stay as long as the results. */
        apr_hash_set(x->results, apr_pmemdup(call->pool, &rows, sizeof(rows)), sizeof(rows), rows);
    }
}

int vault_feeds_is_reset(request_rec *r, const json_t *rows)
{
    const vault_context_t *x = vault_context_get(r);

    return x && x->results && apr_hash_get(x->results, &rows, sizeof(rows)) != NULL;
}

static apr_status_t run_method(feed_t *f, const vault_feed_method_t *m, vault_call_t *call, const json_t *args,
                               json_t **rows)
{
    const char *failed = call->run ? vault_run_failed(call->run) : NULL;
    apr_status_t rv = m->call(f->self, call, args, rows);

    if (rv != APR_SUCCESS && *rows) {
        json_decref(*rows);
        *rows = NULL;
    }
    if (rv == APR_SUCCESS && call->run && !failed && vault_run_failed(call->run)) {
        call->error = vault_run_failed(call->run);
        rv = APR_EAGAIN;
    }
    return rv;
}

/* A page whose data could not be read is not kept live. Nothing that a page shows comes from a write that was refused. */
static void fail_run(const vault_context_t *x, const vault_call_t *call, int reads)
{
    if (call->run && (reads || x->in_method)) {
        vault_run_fail(call->run, call->error ? call->error : "a feed failed");
    }
}

apr_status_t vault_feeds_call(request_rec *r, const char *feed, const char *method, const json_t *args, json_t **rows,
                              const char **error, apr_pool_t *pool)
{
    feed_t *f = apr_hash_get(feeds, feed, APR_HASH_KEY_STRING);
    const vault_feed_method_t *m = f ? find_method(f->vtable, method) : NULL;
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
    call.run = !r ? NULL : reads ? vault_context_run(r, NULL) : x->run;
    if (call.run && reads && (*rows = recall(x, cursor_of(&call)))) {
        json_incref(*rows);
        return APR_SUCCESS;
    }
    rv = run_method(f, m, &call, args, rows);
    if (rv != APR_SUCCESS) {
        fail_run(x, &call, reads);
    }
    if (rv == APR_SUCCESS && *rows && call.run && reads) {
        remember(x, &call, *rows);
    }
    *error = call.error ? call.error : rv == APR_SUCCESS ? NULL : "it gave no reason";
    return rv;
}

void vault_feeds_acked(const char *feed, const char *data)
{
    feed_t *f = apr_hash_get(feeds, feed, APR_HASH_KEY_STRING);

    if (!f || !has_acked(f->vtable) || f->broken) {
        ap_log_error(APLOG_MARK, APLOG_ERR, 0, vault_server.s,
                     VLTNO(00060) "feed %s cannot hear that a browser has what it showed: %s", feed,
                     !f          ? "it is not loaded any more"
                     : f->broken ? f->broken
                                 : "it has no function for that any more");
        return;
    }
    f->vtable->acked(f->self, data);
}

/* ----------------------------------------------------------------- arguments */

apr_status_t vault_feeds_argument(json_t *args, const char *name, const char *value)
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
