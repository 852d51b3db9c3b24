/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and starts feeds, and looks up their methods, which feedcall.c calls. */
#include "feed/feeds.h"

#include <signal.h>
#include <stddef.h>

#include "apr_dso.h"
#include "apr_hash.h"
#include "apr_strings.h"
#include "http_log.h"

#include "base/feed_figures.h"
#include "base/now.h"
#include "feed/feedcall.h"
#include "server/log.h"
#include "server/server.h"

APLOG_USE_MODULE(vault);

static apr_hash_t *feeds;

void vault_feeds_reset(apr_pool_t *pconf)
{
    feeds = apr_hash_make(pconf);
}

const vault_loaded_feed_t *vault_feeds_find(const char *name)
{
    return apr_hash_get(feeds, name, APR_HASH_KEY_STRING);
}

apr_array_header_t *vault_feeds_all(apr_pool_t *pool)
{
    apr_array_header_t *all = apr_array_make(pool, 4, sizeof(const vault_loaded_feed_t *));
    apr_hash_index_t *i;

    for (i = apr_hash_first(pool, feeds); i; i = apr_hash_next(i)) {
        APR_ARRAY_PUSH(all, const vault_loaded_feed_t *) = apr_hash_this_val(i);
    }
    return all;
}

/* ------------------------------------------------------------------- loading */

static const char *load_object(const vault_feed_t **vtable, const char *name, const char *path, apr_pool_t *pconf)
{
    apr_dso_handle_t *dso = NULL;
    apr_dso_handle_sym_t symbol;
    const char *wrong;
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
    wrong = vault_feed_figures_check(*vtable, pconf);
    return wrong ? apr_psprintf(pconf, "VaultFeed %s %s: %s", name, path, wrong) : NULL;
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

static const char *resolve_paths(apr_table_t *all, const vault_loaded_feed_t *f, apr_pool_t *pconf)
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

/* Fills in all declared parameters, given or default. */
static const char *complete_params(apr_table_t **all, const vault_loaded_feed_t *f, const apr_table_t *given,
                                   apr_pool_t *pconf)
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
    vault_loaded_feed_t *f = apr_pcalloc(pconf, sizeof(*f));
    apr_table_t *all = NULL;
    const char *error;

    if (vault_feeds_find(name)) {
        return apr_psprintf(pconf, "VaultFeed %s: there is a feed of that name already", name);
    }
    if (!path) {
        return apr_psprintf(pconf, "VaultFeed %s: the path of the feed is not valid", name);
    }
    f->name = apr_pstrdup(pconf, name);
    f->path = path;
    if ((error = load_object(&f->vtable, name, path, pconf)) || (error = complete_params(&all, f, params, pconf))) {
        return error;
    }
    if ((error = f->vtable->open(&f->self, &vault_feedcall_host, all, pconf))) {
        return apr_psprintf(pconf, "VaultFeed %s: %s", name, error);
    }
    apr_hash_set(feeds, f->name, APR_HASH_KEY_STRING, f);
    return NULL;
}

/* ------------------------------------------------------------------ starting */

static apr_status_t stop_feed(void *data)
{
    vault_loaded_feed_t *f = data;

    f->vtable->child_stop(f->self);
    return APR_SUCCESS;
}

/* The threads of a feed, and those of its libraries, inherit the signal mask, so that signals go to httpd's own
 * threads. */
static const char *start_feed(const vault_loaded_feed_t *f, apr_pool_t *pchild)
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
        vault_loaded_feed_t *f = apr_hash_this_val(i);
        f->broken = f->vtable->child_start ? start_feed(f, pchild) : NULL;
        if (f->broken) {
            ap_log_error(APLOG_MARK, APLOG_ERR, 0, s, VLTNO(00021) "feed %s cannot start: %s", f->name, f->broken);
        }
        else if (f->vtable->child_stop) {
            /* before the subpools that the feed has created are destroyed */
            apr_pool_pre_cleanup_register(pchild, f, stop_feed);
        }
    }
}

/* ------------------------------------------------------------------- methods */

const vault_feed_method_t *vault_feeds_find_method(const vault_loaded_feed_t *feed, const char *name)
{
    const vault_feed_method_t *m;

    for (m = feed->vtable->methods; m->name; m++) {
        if (!strcmp(m->name, name)) {
            return m;
        }
    }
    return NULL;
}

const char *vault_feeds_check_method(const char *feed, const char *method, apr_pool_t *p)
{
    const vault_loaded_feed_t *f = vault_feeds_find(feed);

    if (!f) {
        return apr_psprintf(p, "there is no feed \"%s\": a VaultFeed must declare it first", feed);
    }
    if (!vault_feeds_find_method(f, method)) {
        return apr_psprintf(p, "the feed \"%s\" has no method \"%s\"", feed, method);
    }
    return NULL;
}

int vault_feeds_writes(const char *feed, const char *method)
{
    const vault_loaded_feed_t *f = vault_feeds_find(feed);
    const vault_feed_method_t *m = f ? vault_feeds_find_method(f, method) : NULL;

    return m && (m->flags & VAULT_METHOD_WRITES);
}

/* A feed that was built before the slot was there has none. */
int vault_feeds_hears(const vault_loaded_feed_t *feed)
{
    const vault_feed_t *vtable = feed->vtable;

    return vtable->size >= offsetof(vault_feed_t, acked) + sizeof(vtable->acked) && vtable->acked;
}

void vault_feeds_acked(const char *feed, const char *data)
{
    const vault_loaded_feed_t *f = vault_feeds_find(feed);

    if (!f || !vault_feeds_hears(f) || f->broken) {
        static apr_time_t said;
        int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);
        ap_log_error(APLOG_MARK, level, 0, vault_server->s,
                     VLTNO(00060) "feed %s cannot be notified that a browser has acknowledged its data: %s", feed,
                     !f          ? "it is not loaded any more"
                     : f->broken ? f->broken
                                 : "it does not have that function any more");
        return;
    }
    f->vtable->acked(f->self, data);
}
