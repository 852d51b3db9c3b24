/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mod_vault_bids: the bid history of RUBiS, kept up to date in one of several ways; bench/README.md compares what they cost.
 *
 *   BidsWay none     not at all
 *   BidsWay reload   the browser asks for the whole page every 2 s
 *   BidsWay poll     the browser asks every 2 s for bids with a larger id than those it has
 *   BidsWay hand     who writes a bid notifies "item-ID"; the method creates that interest and selects larger ids than before
 *   BidsWay feed     the feed "bids" does it: get_collection_changes of a watched table
 *   BidsDatabase key=value …    where `poll` and `hand` select; as in the VaultFeed line
 *
 *   SetHandler vault-bids     /bids/page?item=7              the page, with all bids
 *                             /bids/news?item=7[&after=9]    what is new: the method, or what a browser polls
 *                             /bids/bid?item=7&amount=100    a bid, through the feed's `save` whatever the way (hold can only GET)
 *
 * All ways render the same template from the same names.
 */
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "http_protocol.h"

#include "apr_optional.h"
#include "apr_strings.h"

#include "bids_rows.h"
#include "mod_vault/vault.h"

#define FEED "bids"
#define TEMPLATE "bid.html"
#define TARGET "bids"
#define LAST "last"

extern module AP_MODULE_DECLARE_DATA vault_bids_module;

static APR_OPTIONAL_FN_TYPE(vault_add_long_poll) * add_long_poll;
static APR_OPTIONAL_FN_TYPE(vault_page_script) * page_script;
static APR_OPTIONAL_FN_TYPE(vault_page_get) * page_get;
static APR_OPTIONAL_FN_TYPE(vault_page_set) * page_set;
static APR_OPTIONAL_FN_TYPE(vault_create_interest) * create_interest;
static APR_OPTIONAL_FN_TYPE(vault_notify) * notify;
static APR_OPTIONAL_FN_TYPE(vault_feed_call) * feed_call;
static APR_OPTIONAL_FN_TYPE(vault_render) * render;

/* The parameters of the query string. */
typedef struct wish_t {
    apr_int64_t item;
    apr_int64_t after;
    apr_int64_t amount;
} wish_t;

/* One way: the new rows for this page, or all rows if `first`; *answer stays NULL if there are none. */
typedef struct way_t {
    const char *name;
    int is_live; /* the page polls /bids/news as a method */
    apr_status_t (*look)(request_rec *r, const wish_t *wish, int first, json_t **answer);
    void (*written)(request_rec *r, const wish_t *wish); /* after the commit */
} way_t;

/* ------------------------------------------------------------ the ways */

static apr_status_t look_newer(request_rec *r, const wish_t *wish, int first, json_t **answer)
{
    apr_int64_t last;

    return bids_rows_newer(r, wish->item, first ? 0 : wish->after, answer, &last);
}

static const char *item_interest(request_rec *r, const wish_t *wish)
{
    return apr_psprintf(r->pool, "item-%" APR_INT64_T_FMT, wish->item);
}

/* Interest, then data, then cursor: see vault.h. */
static apr_status_t look_by_hand(request_rec *r, const wish_t *wish, int first, json_t **answer)
{
    const char *place;
    apr_int64_t last;
    apr_status_t rv;

    if (!create_interest(r, item_interest(r, wish), "bids/newer")) {
        return APR_SUCCESS;
    }
    place = page_get(r, LAST);
    rv = bids_rows_newer(r, wish->item, place != NULL ? apr_atoi64(place) : 0, answer, &last);
    return rv != APR_SUCCESS ? rv : page_set(r, LAST, apr_psprintf(r->pool, "%" APR_INT64_T_FMT, last));
}

static void written_by_hand(request_rec *r, const wish_t *wish)
{
    notify(item_interest(r, wish));
}

static apr_status_t call(request_rec *r, const char *method, json_t *args, json_t **answer)
{
    const char *error = NULL;
    apr_status_t rv = feed_call(r, FEED, method, args, answer, &error);

    json_decref(args);
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r, "%s: %s", method, error != NULL ? error : "failed");
    }
    return rv;
}

static apr_status_t look_at_feed(request_rec *r, const wish_t *wish, int first, json_t **answer)
{
    return call(r, "get_collection_changes",
                json_pack("{s:s,s:I,s:s}", "entity", "Item", "id", (json_int_t)wish->item, "collection", "bids"),
                answer);
}

static const way_t ways[] = {
    {"none", 0, look_newer, NULL},   {"reload", 0, look_newer, NULL},
    {"poll", 0, look_newer, NULL},   {"hand", 1, look_by_hand, written_by_hand},
    {"feed", 1, look_at_feed, NULL},
};

/* ------------------------------------------------------------ page, news, bid */

static int show(request_rec *r, json_t *answer)
{
    vault_render_t what = {.file = TEMPLATE, .data = answer, .action = "append", .target = TARGET};
    const char *error = NULL;
    apr_status_t rv = render(r, &what, &error);

    json_decref(answer);
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r, TEMPLATE ": %s", error != NULL ? error : "cannot be rendered");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

static int show_page(request_rec *r, const way_t *way, const wish_t *wish)
{
    const char *url = apr_psprintf(r->pool, "/bids/news?item=%" APR_INT64_T_FMT, wish->item);
    apr_status_t rv = way->is_live ? add_long_poll(r, url) : APR_SUCCESS;
    const char *script = way->is_live && rv == APR_SUCCESS ? page_script(r) : "";
    json_t *answer = NULL;
    int status;

    if (rv == APR_SUCCESS) {
        rv = way->look(r, wish, 1, &answer);
    }
    if (rv != APR_SUCCESS) {
        ap_log_rerror(APLOG_MARK, APLOG_ERR, rv, r, "the page cannot be made");
        return HTTP_SERVICE_UNAVAILABLE;
    }
    ap_set_content_type(r, "text/html; charset=utf-8");
    ap_rvputs(r, "<!DOCTYPE html>\n<html lang=\"en\"><head><title>Bid history</title>", script,
              "</head><body><h1>Bid history</h1><table><tbody id=\"" TARGET "\">\n", NULL);
    status = show(r, answer);
    ap_rputs("</tbody></table></body></html>\n", r);
    return status;
}

static int show_news(request_rec *r, const way_t *way, const wish_t *wish)
{
    json_t *answer = NULL;
    apr_status_t rv = way->look(r, wish, 0, &answer);

    if (rv != APR_SUCCESS) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    if (answer == NULL) {
        return way->is_live ? OK : HTTP_NO_CONTENT;
    }
    ap_set_content_type(r, "text/html; charset=utf-8");
    return show(r, answer);
}

static int take_bid(request_rec *r, const way_t *way, const wish_t *wish)
{
    json_t *answer = NULL;
    json_t *values = json_pack("{s:I,s:s,s:I}", "item_id", (json_int_t)wish->item, "bidder", "somebody@example.org",
                               "amount", (json_int_t)wish->amount);
    apr_status_t rv = call(r, "save", json_pack("{s:s,s:o}", "table", "bids", "values", values), &answer);

    json_decref(answer);
    if (rv != APR_SUCCESS) {
        return HTTP_SERVICE_UNAVAILABLE;
    }
    if (way->written != NULL) {
        way->written(r, wish);
    }
    ap_set_content_type(r, "text/plain");
    ap_rputs("taken\n", r);
    return OK;
}

/* ------------------------------------------------------------ the module */

/* The number after `key` in the query string, or 0. */
static apr_int64_t number(const request_rec *r, const char *key)
{
    const char *at = r->args != NULL ? strstr(r->args, key) : NULL;

    return at != NULL && (at == r->args || at[-1] == '&') ? apr_atoi64(at + strlen(key)) : 0;
}

static int handler(request_rec *r)
{
    const way_t *const *way = ap_get_module_config(r->server->module_config, &vault_bids_module);
    const wish_t wish = {number(r, "item="), number(r, "after="), number(r, "amount=")};
    const char *name = strrchr(r->uri, '/');

    if (strcmp(r->handler, "vault-bids") != 0) {
        return DECLINED;
    }
    if (name == NULL || *way == NULL || wish.item <= 0) {
        return HTTP_BAD_REQUEST;
    }
    if (strcmp(name, "/bid") == 0) {
        return take_bid(r, *way, &wish);
    }
    if (r->method_number != M_GET) {
        return HTTP_METHOD_NOT_ALLOWED;
    }
    return strcmp(name, "/page") == 0 ? show_page(r, *way, &wish) : show_news(r, *way, &wish);
}

static const char *set_way(cmd_parms *cmd, void *dir, const char *name)
{
    const way_t **way = ap_get_module_config(cmd->server->module_config, &vault_bids_module);

    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        if (strcmp(ways[i].name, name) == 0) {
            *way = &ways[i];
            return NULL;
        }
    }
    return "BidsWay: none, reload, poll, hand or feed is accepted";
}

static const char *set_database(cmd_parms *cmd, void *dir, const char *words)
{
    return bids_rows_open(words, cmd->pool);
}

static const command_rec commands[] = {
    AP_INIT_TAKE1("BidsWay", set_way, NULL, RSRC_CONF, "none, reload, poll, hand or feed"),
    AP_INIT_RAW_ARGS("BidsDatabase", set_database, NULL, RSRC_CONF, "key=value … as in VaultFeed"),
    {NULL},
};

static void *create_config(apr_pool_t *p, server_rec *s)
{
    return apr_pcalloc(p, sizeof(const way_t *));
}

static int post_config(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    add_long_poll = APR_RETRIEVE_OPTIONAL_FN(vault_add_long_poll);
    page_script = APR_RETRIEVE_OPTIONAL_FN(vault_page_script);
    page_get = APR_RETRIEVE_OPTIONAL_FN(vault_page_get);
    page_set = APR_RETRIEVE_OPTIONAL_FN(vault_page_set);
    create_interest = APR_RETRIEVE_OPTIONAL_FN(vault_create_interest);
    notify = APR_RETRIEVE_OPTIONAL_FN(vault_notify);
    feed_call = APR_RETRIEVE_OPTIONAL_FN(vault_feed_call);
    render = APR_RETRIEVE_OPTIONAL_FN(vault_render);
    if (!add_long_poll || !page_script || !page_get || !page_set || !create_interest || !notify || !feed_call ||
        !render) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, s, "mod_vault_bids needs mod_vault: load it too");
        return HTTP_INTERNAL_SERVER_ERROR;
    }
    return OK;
}

static void child_init(apr_pool_t *pchild, server_rec *s)
{
    const char *wrong = bids_rows_start(pchild);

    if (wrong != NULL) {
        ap_log_error(APLOG_MARK, APLOG_CRIT, 0, s, "mod_vault_bids: %s", wrong);
    }
}

static void register_hooks(apr_pool_t *p)
{
    ap_hook_post_config(post_config, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_child_init(child_init, NULL, NULL, APR_HOOK_MIDDLE);
    ap_hook_handler(handler, NULL, NULL, APR_HOOK_MIDDLE);
}

AP_DECLARE_MODULE(vault_bids) = {STANDARD20_MODULE_STUFF, NULL, NULL, create_config, NULL, commands, register_hooks,
                                 AP_MODULE_FLAG_NONE};
