/* SPDX-License-Identifier: Apache-2.0 */
/* What each header of an application's answer does. */
#include "view/header_acts.h"

#include "apr_strings.h"

#include "announce/announce_conf.h"
#include "announce/notify_limit.h"
#include "base/header_text.h"
#include "server/server.h"
#include "session/session_conf.h"
#include "session/session_request.h"
#include "view/page_request.h"
#include "view/recorded.h"
#include "view/script_filter.h"
#include "view/view.h"
#include "view/view_conf.h"

/* The longest value of Vault-Update. */
#define FORMAT_MAX 32

/* The page's stamp of such an interest may be older than the one that the store would keep. */
#define LATE "it names an interest after it has read its data"

/* ---------------------------------------------------------------- the headers */

static const char *decode(vault_header_take_t *t, const char *piece, const char **text)
{
    *text = vault_header_decode(piece, t->r->pool);
    return *text ? NULL
                 : "two hexadecimal digits must follow a percent sign, and they must not be 00; the sign itself is "
                   "written %25";
}

static const char *why_no_poll(const vault_header_take_t *t, apr_status_t rv)
{
    switch (rv) {
    case APR_EINVAL:
        return "it is not a path of this server: a path begins with a slash, and a comma in it is written %2C";
    case APR_EINIT:
        return "it comes too late: the page is being sent";
    case APR_EACCES:
        return "VaultLongPoll is off for the page";
    case APR_NOTFOUND:
        return vault_header_in_method(t) ? "the page's own answer adds methods, not a method's"
                                         : "this request renders no page";
    case APR_EAGAIN:
        return "the page is still being rendered";
    default:
        return "too many methods on the page, or too many pages";
    }
}

/* A method of the page may be named again by code that renders both the page and its updates. */
static int has_method(const vault_header_take_t *t, const char *url)
{
    return vault_header_in_method(t) && t->x->txn && vault_state_method(vault_page_txn_state(t->x->txn), url);
}

/* Is this the answer to a page's view? Only a view has a context here. */
static int is_view(const vault_header_take_t *t)
{
    return t->x && !vault_header_in_method(t) && !vault_page_request_page(t->r);
}

static const char *add_poll(vault_header_take_t *t, const char *piece)
{
    apr_status_t rv = piece[0] == '/' ? vault_view_add_long_poll(t->r, piece) : APR_EINVAL;

    return rv == APR_SUCCESS ? NULL : why_no_poll(t, rv);
}

/* Can this answer add a method? */
static int may_add(const vault_header_take_t *t, const char *piece)
{
    return vault_header_counts(t) && !has_method(t, piece) && (t->r->status != HTTP_NO_CONTENT || !is_view(t));
}

const char *vault_header_act_poll(vault_header_take_t *t, const char *piece)
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
static const char *act_stream(vault_header_take_t *t, const char *piece)
{
    const char *refused = may_add(t, piece) ? add_poll(t, piece) : NULL;

    if (!refused && is_view(t)) {
        t->x->has_stream = 1;
    }
    return refused;
}

void vault_header_wait_for(const vault_header_take_t *t, const char *interest)
{
    vault_recording_late_interest(t->x->recording, interest);
    if (!vault_page_txn_learn_interest(t->x->txn, interest)) {
        vault_recording_drop(t->x->recording, VAULT_PERSONAL_INTEREST, LATE);
    }
}

/* Of the view's page there is nothing to note: each method runs with its first poll. A view that is kept
 * depends on it. */
static const char *act_interest(vault_header_take_t *t, const char *piece)
{
    const char *interest, *wrong = decode(t, piece, &interest);

    if (wrong || !vault_header_counts(t)) {
        return wrong;
    }
    if (vault_header_in_method(t)) {
        vault_header_wait_for(t, interest);
    }
    else {
        vault_recording_late_interest(vault_recorded(t->r), interest);
    }
    return NULL;
}

static const char *read_property(const vault_header_take_t *t, const char *piece, const char **key, const char **value)
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

static const char *act_property(vault_header_take_t *t, const char *piece)
{
    const char *key, *value, *wrong = read_property(t, piece, &key, &value);

    if (wrong || !vault_header_counts(t)) {
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
static const char *act_session(vault_header_take_t *t, const char *piece)
{
    const char *key, *value, *wrong = read_property(t, piece, &key, &value);

    if (wrong || t->r->status >= HTTP_BAD_REQUEST || t->r->header_only) {
        return wrong;
    }
    if (vault_header_in_method(t)) {
        return vault_session_request_why(APR_NOTFOUND);
    }
    add_property(t->session, key, value);
    return NULL;
}

static const char *is_yes(const char *piece)
{
    return ap_cstr_casecmp(piece, "yes") ? "the only value is yes" : NULL;
}

static const char *act_session_renew(vault_header_take_t *t, const char *piece)
{
    const char *wrong = is_yes(piece);

    if (wrong || t->r->status >= HTTP_BAD_REQUEST || t->r->header_only) {
        return wrong;
    }
    if (vault_header_in_method(t)) {
        return vault_session_request_why(APR_NOTFOUND);
    }
    t->renews = 1;
    return NULL;
}

static const char *act_update(vault_header_take_t *t, const char *piece)
{
    const char *key, *value;

    if (!vault_header_property(apr_pstrcat(t->r->pool, piece, "=", NULL), &key, &value, t->r->pool) ||
        strlen(key) > FORMAT_MAX) {
        return "one word of at most 32 letters, digits and hyphens is needed";
    }
    if (vault_header_in_method(t) && vault_header_counts(t)) {
        t->x->format = apr_pstrdup(t->x->pool, key); /* the memory of the subrequest ends before that of the method */
    }
    return NULL;
}

static const char *act_shared(vault_header_take_t *t, const char *piece)
{
    const char *wrong = is_yes(piece);

    if (!wrong) {
        vault_recorded_share(t->r);
    }
    return wrong;
}

/* Applies whatever the status is, since the data has been written. A method must not notify its own interest,
 * since it would run for ever. */
static const char *act_notify(vault_header_take_t *t, const char *piece)
{
    const char *interest, *wrong = decode(t, piece, &interest);
    apr_status_t rv;

    if (!wrong && vault_header_in_method(t) && vault_page_txn_waits_for(t->x->txn, interest)) {
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

/* A response may be kept without a live page, and a part without the page that contains it. */
static int has_live_pages_or_is_kept(const request_rec *r)
{
    const vault_context_t *x = vault_context_get((request_rec *)r);

    return has_live_pages(r) || (x && x->may_be_kept) || apr_table_get(r->notes, VAULT_RECORDED_PART);
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
static const vault_header_row_t headers[] = {
    {"Vault-Stream", act_stream, has_live_pages, "VaultLongPoll", 0},
    {"Vault-Poll", vault_header_act_poll, has_live_pages, "VaultLongPoll", 0},
    {"Vault-Property", act_property, has_live_pages, "VaultLongPoll", 0},
    {"Vault-Session", act_session, has_sessions, "VaultSession", 0},
    {"Vault-Session-Renew", act_session_renew, has_sessions, "VaultSession", 0},
    {"Vault-Interest", act_interest, has_live_pages_or_is_kept, "VaultLongPoll", 0},
    {"Vault-Update", act_update, has_live_pages, "VaultLongPoll", 0},
    {"Vault-Shared", act_shared, has_live_pages_or_is_kept, "VaultCache", 0},
    {"Vault-Notify", act_notify, may_notify, "VaultNotify", 1},
};

const vault_header_row_t *vault_header_rows(unsigned *count)
{
    *count = sizeof(headers) / sizeof(headers[0]);
    return headers;
}
