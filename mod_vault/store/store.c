/* SPDX-License-Identifier: Apache-2.0 */
/* Finds pages in the store, takes them over, and saves them. */
#include "store/store.h"

#include <string.h>

#include "apr_general.h"
#include "apr_sha1.h"
#include "apr_strings.h"
#include "http_config.h"

#include "base/now.h"
#include "page/page_packet.h"
#include "request/client.h"
#include "request/main_request.h"
#include "request/realm.h"
#include "server/log.h"
#include "server/server.h"
#include "server/settings.h"
#include "store/store_conf.h"
#include "store/store_link.h"

APLOG_USE_MODULE(vault);

#define KEY_PREFIX "vault:page:"
/* If other servers claim a page first so often, a client asks several servers at once. */
#define TRIES 8

static int is_on(void)
{
    return vault_store_conf()->store != NULL;
}

/* Servers with different secrets have different keys. The id of a page cannot be read from its key. */
static const char *key_of(const vault_page_t *page, apr_pool_t *pool)
{
    const apr_uint64_t parts[] = {vault_store_conf()->seed, page->id[0], page->id[1], page->key};
    unsigned char digest[APR_SHA1_DIGESTSIZE];
    char *key = apr_palloc(pool, sizeof(KEY_PREFIX) + 2 * sizeof(digest));
    apr_sha1_ctx_t sha;
    unsigned i;

    apr_sha1_init(&sha);
    apr_sha1_update_binary(&sha, (const unsigned char *)parts, sizeof(parts));
    apr_sha1_final(digest, &sha);
    strcpy(key, KEY_PREFIX);
    for (i = 0; i < sizeof(digest); i++) {
        apr_snprintf(key + strlen(KEY_PREFIX) + 2 * i, 3, "%02x", digest[i]);
    }
    return key;
}

/* From 1 to 2^24. Without random numbers of the system two servers might choose the same step. */
static apr_uint64_t step(void)
{
    unsigned char random[3];

    if (apr_generate_random_bytes(random, sizeof(random)) != APR_SUCCESS) {
        return 1;
    }
    return 1 + ((apr_uint64_t)random[0] << 16 | (apr_uint64_t)random[1] << 8 | random[2]);
}

/* ----------------------------------------------------------------------- calls */

/* One call of the store. */
typedef struct asking_t {
    const char *key;
    apr_uint64_t fence; /* that is known; that is claimed */
    apr_interval_time_t lasts;
    vault_stored_t entry;
    apr_pool_t *pool;
} asking_t;

static apr_status_t read_entry(vault_store_link_t *link, void *data)
{
    asking_t *a = data;

    return vault_store_conf()->store->read(link, a->key, a->fence, a->lasts, &a->entry, a->pool);
}

static apr_status_t claim_entry(vault_store_link_t *link, void *data)
{
    asking_t *a = data;

    return vault_store_conf()->store->claim(link, a->key, &a->entry, a->fence);
}

static apr_status_t write_entry(vault_store_link_t *link, void *data)
{
    asking_t *a = data;

    return vault_store_conf()->store->write(link, a->key, &a->entry, a->lasts);
}

/* ------------------------------------------------------------------------ find */

/* A request that needs a page. */
typedef struct search_t {
    request_rec *r;
    vault_page_t *page;
    const vault_owner_t *owner;
    const vault_take_t *take;
    vault_page_copy_t copy; /* what this server has */
    int here;
    asking_t asking;
} search_t;

static void tell_refused(const request_rec *r, const char *why)
{
    static apr_time_t said;
    int level = vault_log_seldom(&said, vault_now(), APLOG_WARNING);

    ap_log_rerror(APLOG_MARK, level, 0, r, VLTNO(00456) "a page of VaultPageStore %s is not used: %s",
                  vault_store_conf()->value, why);
}

static apr_status_t admit(const search_t *s, const vault_page_packet_t *packet)
{
    const char *user = packet->snapshot.user;
    apr_uint64_t host, realm;

    vault_realm_shared(s->r, vault_store_conf()->seed, &host, &realm);
    if (packet->host != host) {
        return APR_NOTFOUND;
    }
    if (user && (!s->owner->user || packet->realm != realm || strcmp(user, s->owner->user))) {
        return APR_EACCES;
    }
    return s->take ? vault_page_snapshot_admits(&packet->snapshot, s->take) : APR_SUCCESS;
}

static apr_status_t restore(const search_t *s, const vault_page_packet_t *packet, apr_uint64_t fence)
{
    vault_owner_t owner = {.client = vault_client_of(vault_main_request(s->r)), .host = s->owner->host};
    vault_page_restore_t restore = {.snapshot = &packet->snapshot,
                                    .owner = &owner,
                                    .copy = {.fence = fence, .version = 0, .saved = packet->sum},
                                    .gap = step(),
                                    .now = vault_now(),
                                    .idle = vault_page_idle()};

    if (packet->snapshot.user) {
        owner.user = packet->snapshot.user;
        owner.realm = s->owner->realm;
    }
    vault_tally(taken_over, 1);
    return vault_page_snapshot_restore(vault_server->pages, s->page, &restore);
}

/* @return APR_EAGAIN: another server or thread has claimed the page first */
static apr_status_t take_over(search_t *s)
{
    vault_page_packet_t packet = {.page = *s->page};
    const char *wrong = vault_page_packet_decode(&packet, vault_store_conf()->seed, s->asking.entry.data,
                                                 s->asking.entry.size, s->asking.pool);
    apr_status_t rv;

    if (wrong) {
        tell_refused(s->r, wrong);
        return APR_NOTFOUND;
    }
    if ((rv = admit(s, &packet)) != APR_SUCCESS) {
        return rv;
    }
    /* A store that has lost the page may have got it again from a former owner, whose fence is lower. */
    s->asking.fence = (s->asking.entry.fence > s->copy.fence ? s->asking.entry.fence : s->copy.fence) + step();
    rv = vault_store_link_run(claim_entry, &s->asking);
    return rv == APR_SUCCESS ? restore(s, &packet, s->asking.fence) : rv == APR_ECONNABORTED ? APR_EAGAIN : APR_TIMEUP;
}

/* The store has lost the page: it is to be saved again. */
static void note_lost(search_t *s)
{
    s->copy.saved = 0;
    vault_page_snapshot_saved(vault_server->pages, s->page, &s->copy);
}

static apr_status_t look(search_t *s)
{
    apr_status_t rv;

    s->here = vault_page_copy_read(vault_server->pages, s->page, &s->copy) == APR_SUCCESS;
    s->asking.fence = s->copy.fence;
    rv = vault_store_link_run(read_entry, &s->asking);
    if (rv == APR_SUCCESS) {
        rv = take_over(s);
    }
    else if (rv == APR_NOTFOUND && s->here) {
        note_lost(s);
        rv = APR_SUCCESS;
    }
    else if (rv == APR_EEXIST) {
        rv = APR_SUCCESS;
    }
    else if (rv != APR_NOTFOUND) {
        rv = APR_TIMEUP;
    }
    return rv == APR_TIMEUP && s->here ? APR_SUCCESS : rv;
}

apr_status_t vault_store_find(request_rec *r, vault_page_t *page, const vault_owner_t *owner, const vault_take_t *take,
                              apr_interval_time_t waits)
{
    search_t s = {.r = r, .page = page, .owner = owner, .take = take};
    apr_status_t rv = APR_EAGAIN;
    int i;

    if (!is_on() || !(page->id[0] | page->id[1])) {
        return APR_SUCCESS;
    }
    if (apr_pool_create(&s.asking.pool, r->pool) != APR_SUCCESS) {
        return APR_ENOMEM;
    }
    s.asking.key = key_of(page, s.asking.pool);
    s.asking.lasts = vault_page_idle() + waits;
    for (i = 0; i < TRIES && rv == APR_EAGAIN; i++) {
        rv = look(&s);
    }
    apr_pool_destroy(s.asking.pool);
    return rv == APR_EAGAIN ? APR_TIMEUP : rv;
}

/* ------------------------------------------------------------------------ save */

static apr_status_t save(request_rec *r, const vault_page_t *page, apr_pool_t *pool)
{
    vault_page_packet_t packet = {.page = *page};
    asking_t a = {.key = key_of(page, pool), .lasts = vault_page_idle(), .pool = pool};
    vault_page_copy_t copy;
    apr_status_t rv;

    rv = vault_page_snapshot_take(vault_server->pages, page, step(), &copy, &packet.snapshot, pool);
    if (rv != APR_SUCCESS) {
        return APR_SUCCESS; /* there is nothing to save */
    }
    vault_realm_shared(r, vault_store_conf()->seed, &packet.host, &packet.realm);
    packet.realm = packet.snapshot.user ? packet.realm : 0;
    a.entry.data = vault_page_packet_encode(&packet, vault_store_conf()->seed, &a.entry.size, pool);
    if (packet.sum == copy.saved) {
        vault_page_snapshot_saved(vault_server->pages, page, &copy);
        return APR_SUCCESS;
    }
    a.entry.fence = copy.fence;
    a.entry.version = copy.version;
    rv = vault_store_link_run(write_entry, &a);
    copy.saved = rv == APR_SUCCESS ? packet.sum : 0;
    vault_page_snapshot_saved(vault_server->pages, page, &copy);
    return rv == APR_ECONNABORTED ? rv : APR_SUCCESS;
}

apr_status_t vault_store_save(request_rec *r, const vault_page_t *page)
{
    apr_status_t rv;
    apr_pool_t *pool;

    if (!is_on()) {
        return APR_SUCCESS;
    }
    if (apr_pool_create(&pool, r->pool) != APR_SUCCESS) {
        return APR_SUCCESS;
    }
    rv = save(r, page, pool);
    apr_pool_destroy(pool);
    return rv;
}

apr_status_t vault_store_save_again(request_rec *r, const vault_page_t *page)
{
    vault_page_copy_t copy;

    return is_on() && vault_page_copy_read(vault_server->pages, page, &copy) == APR_SUCCESS && copy.fence && !copy.saved
               ? vault_store_save(r, page)
               : APR_SUCCESS;
}

/* ----------------------------------------------------------------------- hooks */

/* With prefork this runs in a signal handler. */
static apr_status_t stop(void *data)
{
    if (!vault_server->ends) {
        vault_store_link_close_idle();
    }
    return APR_SUCCESS;
}

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    if (is_on()) {
        apr_pool_cleanup_register(pchild, NULL, stop, apr_pool_cleanup_null);
    }
}

void vault_store_hooks(void)
{
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
}
