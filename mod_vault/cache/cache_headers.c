/* SPDX-License-Identifier: Apache-2.0 */
/* HTTP caching: reads and writes the headers of cached responses. */
#include "cache/cache_headers.h"

#include "apr_date.h"
#include "apr_strings.h"
#include "http_protocol.h"

#include "base/now.h"
#include "server/server.h"
#include "view/headers.h"

/* ---------------------------------------------------------------- the request */

int vault_cache_headers_is_reload(const request_rec *r)
{
    const char *control = apr_table_get(r->headers_in, "Cache-Control");
    const char *pragma = apr_table_get(r->headers_in, "Pragma");

    return (control && (ap_find_token(r->pool, control, "no-cache") || ap_find_token(r->pool, control, "no-store"))) ||
           (!control && pragma && ap_find_token(r->pool, pragma, "no-cache"));
}

int vault_cache_headers_accept_stale(const request_rec *r)
{
    const char *control = apr_table_get(r->headers_in, "Cache-Control");

    return !vault_cache_headers_is_reload(r) &&
           !(control && (ap_strcasestr(control, "max-age") || ap_strcasestr(control, "min-fresh")));
}

/* --------------------------------------------------------------- the response */

/* httpd sends all lines of a header, from both tables. @return the lines as one list; NULL: there is none */
static const char *header_of(const request_rec *r, const char *name)
{
    const char *err = apr_table_getm(r->pool, r->err_headers_out, name);
    const char *value = apr_table_getm(r->pool, r->headers_out, name);

    return err && value ? apr_pstrcat(r->pool, err, ",", value, NULL) : err ? err : value;
}

/* The number of seconds of a directive of Cache-Control, or -1. */
static apr_int64_t seconds_of(const char *control, const char *name)
{
    apr_size_t length = strlen(name);
    const char *at = control;

    while ((at = ap_strcasestr(at, name))) {
        if ((at == control || strchr(", \t", at[-1])) && at[length] == '=') {
            return apr_atoi64(at + length + 1 + (at[length + 1] == '"'));
        }
        at += length;
    }
    return -1;
}

static void read_control(vault_recording_t *rec, const char *control)
{
    static const char *const personal[] = {"no-store", "private", "no-cache"};
    static const char *const strict[] = {"must-revalidate", "proxy-revalidate", "s-maxage"};
    apr_int64_t seconds = seconds_of(control, "s-maxage");
    unsigned i;

    for (i = 0; i < sizeof(personal) / sizeof(personal[0]); i++) {
        if (ap_strcasestr(control, personal[i])) {
            vault_recording_drop(rec, VAULT_PERSONAL_RESPONSE,
                                 apr_psprintf(rec->pool, "its answer says Cache-Control: %s", personal[i]));
        }
    }
    for (i = 0; i < sizeof(strict) / sizeof(strict[0]); i++) {
        if (ap_strcasestr(control, strict[i])) { /* RFC 9111, section 4.2.4 */
            vault_recording_never_stale(rec);
        }
    }
    if (seconds < 0) {
        seconds = seconds_of(control, "max-age");
    }
    if (seconds >= 0) {
        vault_recording_until(rec, vault_now() + apr_time_from_sec(seconds));
    }
}

/* What read_one_expires() looks at. */
typedef struct expires_t {
    vault_recording_t *rec;
    const request_rec *r;
} expires_t;

static int read_one_expires(void *baton, const char *name, const char *value)
{
    const expires_t *e = baton;
    apr_time_t until = apr_date_parse_http(value);

    vault_recording_until(e->rec, until == APR_DATE_BAD ? 1 : vault_now() + until - e->r->request_time);
    return 1;
}

/* A date has a comma, so several lines are no list: the earliest date counts. */
static void read_expires(vault_recording_t *rec, const request_rec *r)
{
    expires_t e = {rec, r};

    apr_table_do(read_one_expires, &e, r->err_headers_out, "Expires", NULL);
    apr_table_do(read_one_expires, &e, r->headers_out, "Expires", NULL);
}

static void read_vary(vault_recording_t *rec, const request_rec *r, const char *vary)
{
    const char *name;

    while ((name = ap_get_list_item(rec->pool, &vary))) {
        if (!strcmp(name, "*")) {
            vault_recording_drop(rec, VAULT_PERSONAL_RESPONSE, "its answer varies by everything");
        }
        else if (strcmp(name, "accept-encoding")) { /* the answer is kept as it is before compression */
            vault_recording_header(rec, name, apr_table_get(r->headers_in, name));
        }
    }
}

static int is_other(void *baton, const char *name, const char *value)
{
    return strcmp(value, baton) != 0;
}

/* Did the header have this value before the handler ran? Then another module sets it for each request. */
static int is_unchanged(const apr_table_t *before, const char *name, const char *value)
{
    return before && !apr_table_do(is_other, (void *)value, before, name, NULL);
}

/* What keep_one() and was_set_before() look at. */
typedef struct kept_t {
    vault_recording_t *rec;
    const apr_table_t *before;
} kept_t;

static int was_set_before(void *baton, const char *name, const char *value)
{
    return is_unchanged(((kept_t *)baton)->before, name, value);
}

static int handler_set(const apr_table_t *headers, const apr_table_t *before, const char *name)
{
    kept_t k = {NULL, before};

    return !apr_table_do(was_set_before, &k, headers, name, NULL);
}

static int keep_one(void *baton, const char *name, const char *value)
{
    static const char *const left[] = {"Date",       "Server",        "Content-Length", "Transfer-Encoding",
                                       "Connection", "Keep-Alive",    "Trailer",        "Upgrade",
                                       "Age",        "Accept-Ranges", "Set-Cookie",     NULL};
    const kept_t *k = baton;
    const char *const *other;
    vault_property_t *p;

    for (other = left; *other; other++) {
        if (!ap_cstr_casecmp(name, *other)) {
            return 1;
        }
    }
    if (!is_unchanged(k->before, name, value)) {
        p = apr_array_push(k->rec->metadata.headers);
        p->key = name;
        p->value = value;
    }
    return 1;
}

static void keep_all(vault_recording_t *rec, const apr_table_t *headers, const apr_table_t *before)
{
    kept_t k = {rec, before};

    apr_table_do(keep_one, &k, headers, NULL);
}

/* `public` and s-maxage allow shared caches to store the response (RFC 9111, section 5.2.2). */
static int says_public(const char *control)
{
    return control && (ap_strcasestr(control, "public") || seconds_of(control, "s-maxage") >= 0);
}

static int sets_cookie(const request_rec *r, const apr_table_t *before, const apr_table_t *err_before)
{
    return handler_set(r->headers_out, before, "Set-Cookie") ||
           handler_set(r->err_headers_out, err_before, "Set-Cookie") ||
           handler_set(r->headers_out, before, "Set-Cookie2") ||
           handler_set(r->err_headers_out, err_before, "Set-Cookie2");
}

void vault_cache_headers_judge(vault_recording_t *rec, const request_rec *r, const apr_table_t *before,
                               const apr_table_t *err_before)
{
    const char *control = header_of(r, "Cache-Control"), *vary = header_of(r, "Vary");

    if (apr_table_get(r->headers_in, "Authorization") && !says_public(control)) {
        vault_recording_drop(rec, VAULT_PERSONAL_REQUEST, "its request has credentials");
    }
    if (control) {
        read_control(rec, control);
    }
    if (!control || (seconds_of(control, "max-age") < 0 && seconds_of(control, "s-maxage") < 0)) {
        read_expires(rec, r);
    }
    if (vary) {
        read_vary(rec, r, vary);
    }
    if (sets_cookie(r, before, err_before)) {
        vault_recording_drop(rec, VAULT_PERSONAL_RESPONSE, "its answer sets a cookie");
    }
}

void vault_cache_headers_read(vault_recording_t *rec, request_rec *r, const apr_table_t *before,
                              const apr_table_t *err_before)
{
    vault_cache_headers_judge(rec, r, before, err_before);
    keep_all(rec, r->headers_out, before);
    keep_all(rec, r->err_headers_out, err_before);
}

int vault_cache_headers_match(const vault_output_metadata_t *metadata, const request_rec *r)
{
    int i;

    for (i = 0; i < metadata->request->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(metadata->request, i, vault_property_t);
        const char *value = apr_table_get(r->headers_in, p->key);
        if (!value || !p->value ? value != p->value : strcmp(value, p->value)) {
            return 0;
        }
    }
    return 1;
}

apr_uint64_t vault_cache_headers_vary_hash(const vault_output_entry_t *entry, const request_rec *r)
{
    vault_output_metadata_t metadata;
    int i;

    if (!vault_metadata_decode(&metadata, entry->metadata, entry->metadata_size, r->pool)) {
        return 0;
    }
    for (i = 0; i < metadata.request->nelts; i++) {
        vault_property_t *p = &APR_ARRAY_IDX(metadata.request, i, vault_property_t);
        p->value = apr_table_get(r->headers_in, p->key);
    }
    return vault_metadata_vary_hash(metadata.request, vault_segment_boot(vault_server->segment));
}

static void add_validators(request_rec *r, const vault_output_entry_t *entry)
{
    if (!apr_table_get(r->headers_out, "ETag")) {
        apr_table_setn(r->headers_out, "ETag", apr_psprintf(r->pool, "\"%" APR_UINT64_T_HEX_FMT "\"", entry->etag));
    }
    if (entry->until || !vault_output_is_current(vault_server->outputs, entry, vault_now())) {
        apr_time_t age = apr_time_sec(vault_now() - entry->made);
        apr_table_setn(r->headers_out, "Age", apr_psprintf(r->pool, "%" APR_TIME_T_FMT, age > 0 ? age : 0));
    }
}

void vault_cache_headers_write(request_rec *r, const vault_output_metadata_t *metadata,
                               const vault_output_entry_t *entry, int live)
{
    int i;

    for (i = 0; i < metadata->headers->nelts; i++) {
        vault_headers_unset(r, APR_ARRAY_IDX(metadata->headers, i, vault_property_t).key);
    }
    for (i = 0; i < metadata->headers->nelts; i++) {
        const vault_property_t *p = &APR_ARRAY_IDX(metadata->headers, i, vault_property_t);
        apr_table_addn(r->headers_out, p->key, p->value);
    }
    if (!live) {
        add_validators(r, entry);
    }
}
