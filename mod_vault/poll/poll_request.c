/* SPDX-License-Identifier: Apache-2.0 */
/* Parses a poll: page=ID&seq=N with an optional tab=NONCE, or pages=ID.N.NONCE,…; ack=1; as=html; Accept and
 * Last-Event-ID. */
#include "poll/poll_request.h"

#include "apr_general.h"
#include "apr_lib.h"
#include "apr_strings.h"
#include "http_protocol.h"

#include "base/now.h"
#include "base/utf8.h"
#include "poll/poll_conf.h"
#include "request/realm.h"
#include "request/reply.h"
#include "server/log.h"
#include "server/server.h"
#include "store/store.h"
#include "suspend/suspend.h"

APLOG_USE_MODULE(vault);

static int parse_u64(const char *text, apr_uint64_t *value)
{
    char *end;

    if (!apr_isdigit(*text) || strlen(text) > 19) {
        return 0;
    }
    *value = (apr_uint64_t)apr_strtoi64(text, &end, 10);
    return *end == '\0';
}

static int parse_tab(const char *text, apr_uint64_t tab[2])
{
    char part[17];
    int i;

    if (strlen(text) != 32 || strspn(text, "0123456789abcdef") != 32) {
        return 0;
    }
    for (i = 0; i < 2; i++) {
        apr_cpystrn(part, text + 16 * i, sizeof(part));
        tab[i] = strtoull(part, NULL, 16);
    }
    return 1;
}

/* A poll must end before the connection's Timeout ends it. */
static void report_clamp(request_rec *r, apr_interval_time_t wanted, apr_interval_time_t most)
{
    static int said;

    if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED)) {
        ap_log_rerror(APLOG_MARK, APLOG_WARNING, 0, r,
                      VLTNO(00034) "VaultLongPollTimeout %d is longer than Timeout allows: polls wait %d s",
                      (int)apr_time_sec(wanted), (int)apr_time_sec(most));
    }
}

/* A number from 0 to 255. Successive values are spread evenly, by steps of the golden ratio. */
static int spread(void)
{
    static apr_uint32_t polls;

    return (int)(__atomic_add_fetch(&polls, 1, __ATOMIC_RELAXED) * 2654435769u >> 24);
}

/* The configured time, varied by a tenth so that pages do not poll in step, and limited by Timeout. */
apr_interval_time_t vault_poll_request_hold(request_rec *r)
{
    apr_interval_time_t wanted = apr_time_from_sec(vault_poll_conf_timeout(vault_poll_conf_of(r))), hold,
                        most = vault_suspension_longest(r);

    hold = wanted + wanted / 1280 * (spread() - 128);
    if (wanted > most) {
        report_clamp(r, wanted, most);
    }
    return hold < most ? hold : most;
}

/* ---------------------------------------------------------------- parameters */

/* The parameters of one page. */
static int take_page(vault_asked_t *asked, const char *id, const char *seq, const char *tab)
{
    if (!id || !seq || !parse_u64(seq, &asked->take.seq) || (tab && !parse_tab(tab, asked->take.tab))) {
        return HTTP_BAD_REQUEST;
    }
    asked->id = id;
    if (!vault_page_parse(&asked->page, id)) {
        memset(&asked->page, 0, sizeof(asked->page));
        return OK;
    }
    vault_page_locate(vault_server->pages, &asked->page);
    return OK;
}

/* A page must not be asked for twice, since the second would supersede the first. */
static int is_double(const vault_poll_request_t *q, const char *id)
{
    unsigned i;

    for (i = 0; i < q->count; i++) {
        if (!strcmp(q->asked[i].id, id)) {
            return 1;
        }
    }
    return 0;
}

/* ID.SEQ.TAB,ID.SEQ.TAB: the short form for several pages. Modifies `list`. */
static int take_pages(vault_poll_request_t *q, char *list)
{
    char *rest, *word;

    for (word = apr_strtok(list, ",", &rest); word; word = apr_strtok(NULL, ",", &rest)) {
        char *parts, *id = apr_strtok(word, ".", &parts), *seq = apr_strtok(NULL, ".", &parts);
        char *tab = seq ? apr_strtok(NULL, ".", &parts) : NULL;
        if (q->count == VAULT_POLL_PAGES_MAX) {
            return HTTP_REQUEST_ENTITY_TOO_LARGE;
        }
        if (!id || is_double(q, id) || take_page(&q->asked[q->count], id, seq, tab) != OK) {
            return HTTP_BAD_REQUEST;
        }
        q->count++;
    }
    return q->count ? OK : HTTP_BAD_REQUEST;
}

static int take_params(vault_poll_request_t *q, const apr_table_t *params, apr_pool_t *pool)
{
    const char *pages = apr_table_get(params, "pages"), *as = apr_table_get(params, "as");
    const char *seq = apr_table_get(params, "seq");
    apr_size_t length;
    int status;

    q->ack = apr_table_get(params, "ack") != NULL;
    q->several = pages != NULL;
    q->html = as != NULL;
    if (as && (strcmp(as, "html") || pages || q->ack)) {
        return HTTP_BAD_REQUEST;
    }
    if (pages) {
        /* The answer repeats the id, as text. */
        return take_pages(q, apr_pstrdup(pool, vault_utf8_clean(pages, strlen(pages), &length, pool)));
    }
    q->count = 1;
    status =
        take_page(&q->asked[0], apr_table_get(params, "page"), seq || !as ? seq : "0", apr_table_get(params, "tab"));
    if (as && !seq) {
        q->asked[0].take.seq = VAULT_PAGE_LATEST;
    }
    return status;
}

/* ------------------------------------------------------------------- streams */

/* Does the client accept the type of an event stream explicitly? A client that accepts any type gets JSON. */
static int accepts_stream(request_rec *r, apr_pool_t *pool)
{
    static const char stream[] = "text/event-stream";
    const char *accept = apr_table_get(r->headers_in, "Accept"), *item;

    while (accept && (item = ap_get_list_item(pool, &accept))) {
        if (!ap_cstr_casecmpn(item, stream, sizeof(stream) - 1) && strchr("; \t", item[sizeof(stream) - 1])) {
            return 1;
        }
    }
    return 0;
}

/* Last-Event-ID has one number for each page, in their order, from the last event that arrived. It overrides
 * the numbers of the URL, which an event source repeats at each reconnection. */
static int take_last_id(vault_poll_request_t *q, request_rec *r, apr_pool_t *pool)
{
    const char *last = apr_table_get(r->headers_in, "Last-Event-ID");
    const char *end;
    unsigned i;

    if (!last || !*last) {
        return OK;
    }
    for (i = 0; i < q->count && last; i++) {
        end = strchr(last, ',');
        if (!parse_u64(end ? apr_pstrmemdup(pool, last, (apr_size_t)(end - last)) : last, &q->asked[i].take.seq)) {
            return HTTP_BAD_REQUEST;
        }
        last = end ? end + 1 : NULL;
    }
    return i == q->count && !last ? OK : HTTP_BAD_REQUEST;
}

int vault_poll_request_read(vault_poll_request_t *q, request_rec *r, apr_pool_t *pool)
{
    const vault_poll_conf_t *l = vault_poll_conf_of(r);
    apr_table_t *params;
    int status, form = vault_reply_params(r, &params, (apr_size_t)vault_poll_conf_max_poll_body(l), pool);
    apr_interval_time_t waits;
    vault_owner_t owner;
    unsigned i;

    if (form != OK && form != HTTP_UNSUPPORTED_MEDIA_TYPE) {
        return form;
    }
    if ((status = take_params(q, params, pool)) != OK) { /* if the query is complete, the body is ignored */
        return form == OK ? status : form;
    }
    q->stream = !q->ack && vault_poll_conf_stream(l) && (q->html || accepts_stream(r, pool));
    if (q->html && !q->stream) {
        return HTTP_NOT_ACCEPTABLE;
    }
    if (q->stream && (status = take_last_id(q, r, pool)) != OK) {
        return status;
    }
    q->until = vault_now() + vault_poll_request_hold(r);
    waits = q->stream ? apr_time_from_sec(vault_poll_conf_stream(l)) : vault_poll_request_hold(r);
    owner = vault_realm_owner(r);
    for (i = 0; i < q->count; i++) {
        q->asked[i].take.owner = owner;
        q->asked[i].take.now = vault_now();
        q->asked[i].take.until = q->until;
        q->asked[i].found = vault_store_find(r, &q->asked[i].page, &owner, &q->asked[i].take, waits);
    }
    return OK;
}

int vault_poll_request_refuse(request_rec *r, int status)
{
    if (status == HTTP_BAD_REQUEST) {
        return vault_reply_error(
            r, status,
            "a poll needs page=ID and seq=N (a number), and may have tab=32 hexadecimal digits; or "
            "pages=ID.N.TAB,ID.N.TAB, each page once; as=html goes with page=ID alone");
    }
    if (status == HTTP_NOT_ACCEPTABLE) {
        return vault_reply_error(r, status, "VaultStreamTimeout is 0 here: there are no streams, so none as HTML");
    }
    if (status == HTTP_REQUEST_ENTITY_TOO_LARGE) {
        return vault_reply_error(
            r, status,
            apr_psprintf(
                r->pool,
                "the form of a poll may have %" APR_OFF_T_FMT
                " bytes here (VaultMaxPollBody, or less by LimitRequestBody) and %d fields, and ask for %d pages",
                vault_poll_conf_max_poll_body(vault_poll_conf_of(r)), VAULT_REPLY_FIELDS_MAX, VAULT_POLL_PAGES_MAX));
    }
    return vault_reply_no_fields(r, status);
}
