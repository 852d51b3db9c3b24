/* SPDX-License-Identifier: Apache-2.0 */
/* The directive on methods that browsers may call by URL. */
#include "endpoint/endpoint_conf.h"

#include "apr_strings.h"
#include "http_core.h"

#include "endpoint/feedurl.h"
#include "feed/feeds.h"

static vault_endpoint_conf_t *part_of(void *dir)
{
    return vault_conf_part(dir, VAULT_CONF_ENDPOINT);
}

static void merge(void *part, const void *outer, const void *inner)
{
    const vault_endpoint_conf_t *o = outer, *i = inner;
    vault_endpoint_conf_t *l = part;

    VAULT_CONF_MERGE(l, o, i, exposed, NULL);
}

const vault_conf_t vault_endpoint_conf = {sizeof(vault_endpoint_conf_t), NULL, merge};

const vault_endpoint_conf_t *vault_endpoint_conf_of(const request_rec *r)
{
    return vault_conf_of(r, VAULT_CONF_ENDPOINT);
}

/* ----------------------------------------------------------------- directives */

static const char *add_exposed(cmd_parms *cmd, vault_endpoint_conf_t *l, const char *feed, const char *method)
{
    const char *error = vault_feeds_check_method(feed, method, cmd->pool);
    vault_exposed_t *e;

    if (!error && !(vault_feedurl_is_name(feed) && vault_feedurl_is_name(method))) {
        error = "only letters, digits, \"_\" and \"-\" are accepted in a name that is part of a URL";
    }
    if (error) {
        return apr_psprintf(cmd->pool, "%s %s %s: %s", cmd->cmd->name, feed, method, error);
    }
    e = apr_array_push(l->exposed);
    e->feed = feed;
    e->method = method;
    return NULL;
}

static const char *add_feed_expose(cmd_parms *cmd, void *dir, int argc, char *const argv[])
{
    vault_endpoint_conf_t *l = part_of(dir);
    const char *error = NULL;
    int i, off = argc == 1 && !ap_cstr_casecmp(argv[0], "off");

    if (argc < 2 && !off) {
        return "VaultFeedExpose: the name of a feed and one or more of its methods are needed; or Off";
    }
    if (off || !l->exposed) {
        l->exposed = apr_array_make(cmd->pool, 4, sizeof(vault_exposed_t));
    }
    for (i = 1; i < argc && !error; i++) {
        error = add_exposed(cmd, l, argv[0], argv[i]);
    }
    return error;
}

const command_rec vault_endpoint_directives[] = {
    AP_INIT_TAKE_ARGV("VaultFeedExpose", add_feed_expose, NULL, RSRC_CONF | ACCESS_CONF,
                      "a feed and those of its methods that browsers may call by URL; or Off"),
    {.name = NULL}};
