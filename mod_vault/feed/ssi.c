/* SPDX-License-Identifier: Apache-2.0 */
/* The tags `vault` and `feed` of mod_include. */
#include "feed/ssi.h"

#include "apr_strings.h"
#include "httpd.h"
#include "http_config.h"
#include "http_log.h"
#include "util_filter.h"
#include "mod_include.h"

#include "base/now.h"
#include "bundle/bundle.h"
#include "cache/cache_part.h"
#include "feed/feedcall.h"
#include "feed/render.h"
#include "server/log.h"
#include "server/server.h"
#include "session/session_request.h"
#include "view/context.h"
#include "view/recorded.h"
#include "view/view.h"

APLOG_USE_MODULE(vault);

static APR_OPTIONAL_FN_TYPE(ap_ssi_get_tag_and_value) * get_tag_and_value;
static APR_OPTIONAL_FN_TYPE(ap_ssi_parse_string) * parse_string;

/* The attributes of a `feed` tag. */
typedef struct feed_tag_t {
    const char *name, *method, *template;
    const char *action, *target, *format; /* of the update */
    json_t *args;
} feed_tag_t;

/* A page shows mod_include's error text in place of the tag, and is not kept; a method fails as a whole. */
static apr_status_t fail(include_ctx_t *ctx, ap_filter_t *f, apr_bucket_brigade *bb, const char *why)
{
    static apr_time_t said;
    vault_context_t *x = vault_context_get(f->r);
    int level = vault_log_seldom(&said, vault_now(), APLOG_ERR);

    ap_log_rerror(APLOG_MARK, level, 0, f->r, VLTNO(00040) "%s in %s", why, f->r->filename);
    vault_recording_drop(vault_recorded(f->r), VAULT_PERSONAL_NOT, "it shows an error");
    if (x && x->in_method && x->txn) {
        vault_page_txn_fail(x->txn, why);
    }
    SSI_CREATE_ERROR_BUCKET(ctx, f, bb);
    return APR_SUCCESS;
}

static int next_attribute(include_ctx_t *ctx, char **tag, const char **value)
{
    char *raw = NULL;

    *tag = NULL;
    get_tag_and_value(ctx, tag, &raw, SSI_VALUE_DECODED);
    if (!*tag || !raw) {
        return 0;
    }
    *value = parse_string(ctx, raw, NULL, 0, SSI_EXPAND_DROP_NAME);
    return 1;
}

static void write_text(ap_filter_t *f, apr_bucket_brigade *bb, const char *text)
{
    apr_brigade_write(bb, NULL, NULL, text, strlen(text));
}

/* --------------------------------------------------------------------- vault */

static const char *why_no_poll(apr_status_t rv)
{
    switch (rv) {
    case APR_EACCES:
        return "VaultLongPoll is off here";
    case APR_EINVAL:
        return "a path of this server is needed, percent-encoded";
    case APR_EINIT:
        return "the header of the page has been sent: move the tag nearer to the top";
    case APR_ENOSPC:
        return "no more pages, or no more methods on this page, are allowed";
    default:
        return "this is no page view";
    }
}

/* @return NULL, or a sentence that says what is wrong with the attribute */
static const char *add_poll(include_ctx_t *ctx, ap_filter_t *f, const char *tag, const char *url)
{
    apr_status_t rv = vault_view_add_long_poll(f->r, url);

    if (rv != APR_SUCCESS) {
        return apr_psprintf(ctx->dpool, "vault %s=\"%s\": %s", tag, url, why_no_poll(rv));
    }
    if (!strcmp(tag, "stream")) {
        vault_context_get(f->r)->has_stream = 1;
    }
    return NULL;
}

static const char *write_bundle(include_ctx_t *ctx, ap_filter_t *f, apr_bucket_brigade *bb, const char *url)
{
    const char *present = vault_bundle_url(f->r, url);

    if (!present) {
        return apr_psprintf(ctx->dpool, "vault bundle=\"%s\": there is no VaultBundle of this URL", url);
    }
    write_text(f, bb, present);
    return NULL;
}

static const char *write_cached(include_ctx_t *ctx, ap_filter_t *f, apr_bucket_brigade *bb, const char *url)
{
    const char *wrong = vault_cache_part(f->r, url, (ctx->flags & SSI_FLAG_NO_EXEC) != 0, bb, f->next);

    return wrong ? apr_psprintf(ctx->dpool, "vault cached=\"%.100s\": %s", url, wrong) : NULL;
}

/* A `vault` tag that is being read. */
typedef struct vault_tag_t {
    include_ctx_t *ctx;
    ap_filter_t *f;
    apr_bucket_brigade *bb;
    const char *session; /* the key of the last session="KEY", which has neither been shown nor set yet; NULL: none */
} vault_tag_t;

/* session="KEY" shows a property of the session. */
static void show_session(vault_tag_t *t)
{
    const char *value = t->session ? vault_session_request_get(t->f->r, t->session) : NULL;

    if (value) {
        write_text(t->f, t->bb, ap_escape_html(t->ctx->dpool, value));
    }
    t->session = NULL;
}

/* session="KEY" value="VALUE" sets it; an empty value removes it. */
static const char *set_session(vault_tag_t *t, const char *value)
{
    const char *key = t->session;
    apr_status_t rv = key ? vault_session_request_set(t->f->r, key, *value ? value : NULL) : APR_EINVAL;

    t->session = NULL;
    if (!key) {
        return "vault: value=\"VALUE\" is accepted after session=\"KEY\"";
    }
    return rv == APR_SUCCESS
               ? NULL
               : apr_psprintf(t->ctx->dpool, "vault session=\"%s\": %s", key, vault_session_request_why(rv));
}

/* @return NULL, or a sentence that says what is wrong with the attribute */
static const char *read_vault_attribute(vault_tag_t *t, const char *tag, const char *value)
{
    if (!strcmp(tag, "value")) {
        return set_session(t, value);
    }
    show_session(t);
    if (!strcmp(tag, "session")) {
        t->session = value;
        return NULL;
    }
    if (!strcmp(tag, "poll") || !strcmp(tag, "stream")) {
        return add_poll(t->ctx, t->f, tag, value);
    }
    if (!strcmp(tag, "bundle")) {
        return write_bundle(t->ctx, t->f, t->bb, value);
    }
    if (!strcmp(tag, "cached")) {
        return write_cached(t->ctx, t->f, t->bb, value);
    }
    return apr_psprintf(t->ctx->dpool, "vault: unknown attribute \"%s\"", tag);
}

/* <!--#vault poll="URL" -->, with several URLs if needed; the first such tag of a page inserts the script. With
 * stream="URL" another client takes the page's stream, and the script is not inserted. bundle="URL" writes the URL of
 * the present content of a bundle. cached="URL" writes a part. session="KEY" writes a session property, or sets it with value="VALUE". */
static apr_status_t handle_vault(include_ctx_t *ctx, ap_filter_t *f, apr_bucket_brigade *bb)
{
    vault_context_t *x = vault_context_get(f->r);
    int had_poll = x && x->has_poll;
    vault_tag_t t = {.ctx = ctx, .f = f, .bb = bb};
    const char *value, *script, *error;
    char *tag;

    if (!(ctx->flags & SSI_FLAG_PRINTING)) {
        return APR_SUCCESS;
    }
    if (!ctx->argc) {
        return fail(
            ctx, f, bb,
            "vault: the attribute poll=\"URL\", stream=\"URL\", bundle=\"URL\", cached=\"URL\" or session=\"KEY\" "
            "is missing");
    }
    while (next_attribute(ctx, &tag, &value)) {
        if ((error = read_vault_attribute(&t, tag, value))) {
            return fail(ctx, f, bb, error);
        }
    }
    show_session(&t);
    x = vault_context_get(f->r);
    if (!had_poll && x && x->has_poll && !x->has_stream && (script = vault_view_script(f->r))) {
        write_text(f, bb, script);
    }
    return APR_SUCCESS;
}

/* ---------------------------------------------------------------------- feed */

/* @return where to store an attribute of the tag itself; NULL: the attribute is an argument of the method */
static const char **attribute_of(feed_tag_t *t, const char *tag)
{
    return !strcmp(tag, "name")       ? &t->name
           : !strcmp(tag, "method")   ? &t->method
           : !strcmp(tag, "template") ? &t->template
           : !strcmp(tag, "format")   ? &t->format
                                      : NULL;
}

/* @return NULL, or a sentence that says what is wrong with the tag */
static const char *read_feed_tag(include_ctx_t *ctx, feed_tag_t *t)
{
    const char *value;
    apr_status_t rv;
    char *tag;

    while (next_attribute(ctx, &tag, &value)) {
        const char **own = attribute_of(t, tag);
        if (own && *own) {
            return apr_psprintf(ctx->dpool, "feed: %s is given twice; an argument of that name cannot be in a tag",
                                tag);
        }
        if (own) {
            *own = value;
        }
        else if (vault_render_is_action(tag)) {
            if (t->action) {
                return apr_psprintf(ctx->dpool, "feed: both %s and %s are given", t->action, tag);
            }
            t->action = apr_pstrdup(ctx->dpool, tag);
            t->target = value;
        }
        else if ((rv = vault_feedcall_argument(t->args, tag, value)) != APR_SUCCESS) {
            return apr_psprintf(ctx->dpool, "feed: the argument %s=\"%.60s\" %s", tag, value,
                                rv == APR_EEXIST ? "is given twice" : "is not UTF-8, or has no proper name");
        }
    }
    if (t->action && !t->template) {
        return apr_psprintf(ctx->dpool, "feed: %s=\"%s\" needs a template", t->action, t->target);
    }
    return !t->name     ? "feed: the attribute name=\"FEED\" is missing"
           : !t->method ? "feed: the attribute method is missing"
                        : NULL;
}

static const char *run_feed_tag(include_ctx_t *ctx, ap_filter_t *f, apr_bucket_brigade *bb, feed_tag_t *t)
{
    const char *error = NULL;
    json_t *rows = NULL;

    if (vault_feedcall_run(f->r, t->name, t->method, t->args, &rows, &error, NULL) != APR_SUCCESS) {
        return apr_psprintf(ctx->dpool, "feed %s, method %s: %s", t->name, t->method, error);
    }
    if (t->template) {
        vault_render_t what = {
            .file = t->template, .data = rows, .action = t->action, .target = t->target, .format = t->format};

        vault_render_to(bb, f->r, &what, &error, ctx->dpool);
    }
    json_decref(rows);
    return error;
}

static apr_status_t handle_feed(include_ctx_t *ctx, ap_filter_t *f, apr_bucket_brigade *bb)
{
    feed_tag_t t = {.name = NULL};
    const char *error;

    if (!(ctx->flags & SSI_FLAG_PRINTING)) {
        return APR_SUCCESS;
    }
    t.args = json_object();
    error = read_feed_tag(ctx, &t);
    if (!error) {
        error = run_feed_tag(ctx, f, bb, &t);
    }
    json_decref(t.args);
    return error ? fail(ctx, f, bb, error) : APR_SUCCESS;
}

/* --------------------------------------------------------------------- hooks */

static int register_tags(apr_pool_t *pconf, apr_pool_t *plog, apr_pool_t *ptemp, server_rec *s)
{
    APR_OPTIONAL_FN_TYPE(ap_register_include_handler) *add = APR_RETRIEVE_OPTIONAL_FN(ap_register_include_handler);

    get_tag_and_value = APR_RETRIEVE_OPTIONAL_FN(ap_ssi_get_tag_and_value);
    parse_string = APR_RETRIEVE_OPTIONAL_FN(ap_ssi_parse_string);
    if (add && get_tag_and_value && parse_string) {
        static char vault_tag[] = "vault", feed_tag[] = "feed"; /* not const in its prototype */
        add(vault_tag, handle_vault);
        add(feed_tag, handle_feed);
    }
    return OK;
}

void vault_ssi_hooks(void)
{
    ap_hook_post_config(register_tags, NULL, NULL, APR_HOOK_MIDDLE);
}
