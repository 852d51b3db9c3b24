/* SPDX-License-Identifier: Apache-2.0 */
/* Collects the directives of all folders, and creates and merges the parts of their sections. */
#include "directives.h"

#include <stdlib.h>

#include "announce/announce_conf.h"
#include "bundle/bundle_conf.h"
#include "cache/cache_conf.h"
#include "cluster/cluster_conf.h"
#include "endpoint/endpoint_conf.h"
#include "feed/feed_conf.h"
#include "feed/feeds.h"
#include "poll/poll_conf.h"
#include "request/request_conf.h"
#include "server/conf.h"
#include "server/settings.h"
#include "session/session_conf.h"
#include "socache/socache.h"
#include "store/store_conf.h"
#include "throttle/throttle_conf.h"
#include "view/view_conf.h"

#define ROWS_MAX 80

static const command_rec *const rows[] = {
    vault_server_directives,   vault_request_directives, vault_announce_directives, vault_bundle_directives,
    vault_view_directives,     vault_feed_directives,    vault_poll_directives,     vault_endpoint_directives,
    vault_throttle_directives, vault_cache_directives,   vault_session_directives,  vault_socache_directives,
    vault_cluster_directives,  vault_store_directives,
};

static const vault_conf_t *const parts[VAULT_CONF_COUNT] = {
    [VAULT_CONF_REQUEST] = &vault_request_conf,   [VAULT_CONF_ANNOUNCE] = &vault_announce_conf,
    [VAULT_CONF_BUNDLE] = &vault_bundle_conf,     [VAULT_CONF_VIEW] = &vault_view_conf,
    [VAULT_CONF_FEED] = &vault_feed_conf,         [VAULT_CONF_POLL] = &vault_poll_conf,
    [VAULT_CONF_ENDPOINT] = &vault_endpoint_conf, [VAULT_CONF_THROTTLE] = &vault_throttle_conf,
    [VAULT_CONF_CACHE] = &vault_cache_conf,       [VAULT_CONF_SESSION] = &vault_session_conf,
};

command_rec vault_directives[ROWS_MAX + 1];

/* Where each part is in the memory of a section, and how much that is: httpd merges several sections for each request. */
static apr_size_t part_at[VAULT_CONF_COUNT], section_size;

static void lay_out_section(void)
{
    unsigned i;

    section_size = APR_ALIGN_DEFAULT(sizeof(vault_section_t));
    for (i = 0; i < VAULT_CONF_COUNT; i++) {
        part_at[i] = section_size;
        section_size += APR_ALIGN_DEFAULT(parts[i]->size);
    }
}

/* httpd reads the table of directives as soon as it has loaded the module, before it calls any function of it. */
__attribute__((constructor)) static void collect(void)
{
    unsigned i, count = 0;
    const command_rec *row;

    lay_out_section();
    for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (row = rows[i]; row->name; row++) {
            if (count == ROWS_MAX) {
                abort(); /* at the first load: ROWS_MAX is too small */
            }
            vault_directives[count++] = *row;
        }
    }
}

static vault_section_t *make_section(apr_pool_t *p)
{
    vault_section_t *s = apr_pcalloc(p, section_size);
    unsigned i;

    for (i = 0; i < VAULT_CONF_COUNT; i++) {
        s->parts[i] = (char *)s + part_at[i];
    }
    return s;
}

void *vault_directives_create(apr_pool_t *p, char *dir)
{
    vault_section_t *s = make_section(p);
    unsigned i;

    for (i = 0; i < VAULT_CONF_COUNT; i++) {
        if (parts[i]->init) {
            parts[i]->init(s->parts[i]);
        }
    }
    return s;
}

void *vault_directives_merge(apr_pool_t *p, void *outer, void *inner)
{
    vault_section_t *s = make_section(p);
    unsigned i;

    for (i = 0; i < VAULT_CONF_COUNT; i++) {
        parts[i]->merge(s->parts[i], ((vault_section_t *)outer)->parts[i], ((vault_section_t *)inner)->parts[i]);
    }
    return s;
}

void vault_directives_reset(apr_pool_t *pconf)
{
    vault_settings_reset();
    vault_socache_reset();
    vault_store_conf_reset();
    vault_announce_conf_reset();
    vault_poll_conf_reset();
    vault_bundle_conf_reset(pconf);
    vault_cluster_conf_reset();
    vault_feeds_reset(pconf);
    vault_throttle_conf_reset(pconf);
}
