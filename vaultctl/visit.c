/* SPDX-License-Identifier: Apache-2.0 */
/* Uses libcurl's multi interface with one transfer, so that the program can wait for an answer and give it up. */
#include "visit.h"

#include <string.h>
#include <strings.h>

#include "apr_strings.h"
#include "apr_time.h"

#include "handle.h"

/* The longest answer; the script element of a page is usually in its first kilobytes. */
#define BODY_MAX ((apr_size_t)4 << 20)
/* How long one wait in libcurl lasts at most, in milliseconds. */
#define STEP 100

struct vaultctl_visitor_t {
    const vaultctl_options_t *options;
    const char *url;  /* the first */
    const char *user; /* NULL: none */
    CURL *curl;
    CURLM *multi;
    struct curl_slist *headers; /* of the current request */
    vaultctl_body_t body;
    CURLcode result; /* set when it has ended */
    int ended;
    char why[CURL_ERROR_SIZE];
};

/* ---------------------------------------------------------------------- URLs */

static char *url_part(CURLU *url, CURLUPart part, apr_pool_t *pool)
{
    char *text = NULL, *copy;

    if (curl_url_get(url, part, &text, CURLU_DEFAULT_PORT) != CURLUE_OK) {
        return NULL;
    }
    copy = apr_pstrdup(pool, text);
    curl_free(text);
    return copy;
}

static const char *take_url(CURLU *url, apr_pool_t *pool)
{
    const char *scheme = url_part(url, CURLUPART_SCHEME, pool);
    char *text = NULL;
    const char *copy;

    if (scheme == NULL || (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)) {
        return NULL;
    }
    curl_url_set(url, CURLUPART_FRAGMENT, NULL, 0);
    if (curl_url_get(url, CURLUPART_URL, &text, 0) != CURLUE_OK) {
        return NULL;
    }
    copy = apr_pstrdup(pool, text);
    curl_free(text);
    return copy;
}

/* `link` relative to `base`; `base` itself if `link` is NULL. */
static const char *resolve(const char *base, const char *link, int *login, apr_pool_t *pool)
{
    CURLU *url = curl_url();
    const char *absolute = NULL;

    if (curl_url_set(url, CURLUPART_URL, base, CURLU_GUESS_SCHEME) == CURLUE_OK &&
        (link == NULL || curl_url_set(url, CURLUPART_URL, link, 0) == CURLUE_OK)) {
        *login = url_part(url, CURLUPART_USER, pool) != NULL;
        curl_url_set(url, CURLUPART_USER, NULL, 0);
        curl_url_set(url, CURLUPART_PASSWORD, NULL, 0);
        absolute = take_url(url, pool);
    }
    curl_url_cleanup(url);
    return absolute;
}

const char *vaultctl_url_resolve(const char *base, const char *link, apr_pool_t *pool)
{
    int login;

    return resolve(base, link, &login, pool);
}

/* SCHEME://HOST:PORT in lower case; NULL: not a URL */
static const char *origin_of(const char *text, int with_port, apr_pool_t *pool)
{
    CURLU *url = curl_url();
    const char *scheme = NULL, *host = NULL, *port = NULL;

    if (curl_url_set(url, CURLUPART_URL, text, CURLU_GUESS_SCHEME) == CURLUE_OK) {
        scheme = url_part(url, CURLUPART_SCHEME, pool);
        host = url_part(url, CURLUPART_HOST, pool);
        port = url_part(url, CURLUPART_PORT, pool);
    }
    curl_url_cleanup(url);
    if (scheme == NULL || host == NULL || port == NULL) {
        return NULL;
    }
    if (!with_port && strcmp(port, strcmp(scheme, "https") == 0 ? "443" : "80") == 0) {
        return apr_pstrcat(pool, scheme, "://", host, NULL);
    }
    return apr_pstrcat(pool, scheme, "://", host, ":", port, NULL);
}

int vaultctl_url_same_origin(const char *a, const char *b)
{
    apr_pool_t *pool;
    const char *one, *other;
    int same;

    apr_pool_create(&pool, NULL);
    one = origin_of(a, 1, pool);
    other = origin_of(b, 1, pool);
    same = one != NULL && other != NULL && strcasecmp(one, other) == 0;
    apr_pool_destroy(pool);
    return same;
}

/* ---------------------------------------------------------------------- open */

static apr_status_t close_visitor(void *data)
{
    vaultctl_visitor_t *v = data;

    curl_multi_remove_handle(v->multi, v->curl);
    curl_multi_cleanup(v->multi);
    vaultctl_handle_close(v->curl, &v->body);
    curl_slist_free_all(v->headers);
    return APR_SUCCESS;
}

vaultctl_visitor_t *vaultctl_visitor_open(const vaultctl_options_t *options, const char *url, apr_pool_t *pool)
{
    vaultctl_visitor_t *v = apr_pcalloc(pool, sizeof(*v));
    int login = 0;

    v->options = options;
    v->url = resolve(url, NULL, &login, pool);
    v->body.most = BODY_MAX;
    if (v->url == NULL) {
        vaultctl_say(VAULTCTL_USAGE, "%s: this is no URL of http or https", url);
        return NULL;
    }
    if (login) {
        vaultctl_say(VAULTCTL_USAGE, "%s: --user says who logs in, not the URL", v->url);
        return NULL;
    }
    if (!vaultctl_handle_user(options, &v->user, pool) || (v->curl = vaultctl_handle_open(options, &v->body)) == NULL) {
        return NULL;
    }
    v->multi = curl_multi_init();
    apr_pool_cleanup_register(pool, v, close_visitor, apr_pool_cleanup_null);
    curl_easy_setopt(v->curl, CURLOPT_ERRORBUFFER, v->why);
    curl_easy_setopt(v->curl, CURLOPT_COOKIEFILE, "");
    return v;
}

const char *vaultctl_visitor_url(const vaultctl_visitor_t *visitor)
{
    return visitor->url;
}

const char *vaultctl_visitor_user(const vaultctl_visitor_t *visitor)
{
    return visitor->user;
}

int vaultctl_visitor_knows(const vaultctl_visitor_t *visitor, const char *url)
{
    return vaultctl_url_same_origin(visitor->url, url);
}

/* ----------------------------------------------------------------------- ask */

static void add_header(vaultctl_visitor_t *v, const char *name, const char *value, apr_pool_t *pool)
{
    v->headers = curl_slist_append(v->headers, apr_pstrcat(pool, name, ": ", value, NULL));
}

/* The origin of the page: with the host of --header "Host: …" if that was given. */
static const char *origin_of_page(const vaultctl_visitor_t *v, const char *url, apr_pool_t *pool)
{
    for (int i = 0; vaultctl_visitor_knows(v, url) && i < v->options->headers->nelts; i++) {
        const char *header = APR_ARRAY_IDX(v->options->headers, i, const char *);

        if (strncasecmp(header, "Host:", 5) == 0) {
            const char *host = header + 5 + strspn(header + 5, " \t");
            return apr_pstrcat(pool, strncmp(url, "https:", 6) == 0 ? "https://" : "http://", host, NULL);
        }
    }
    return origin_of(url, 0, pool);
}

/* Browsers send Sec-Fetch-Site over TLS and to localhost. */
static void add_origin(vaultctl_visitor_t *v, const vaultctl_request_t *request, apr_pool_t *pool)
{
    if (request->body != NULL) {
        add_header(v, "Origin", origin_of_page(v, request->url, pool), pool);
    }
    if (strncmp(request->url, "https:", 6) == 0) {
        add_header(v, "Sec-Fetch-Site", "same-origin", pool);
    }
}

static void set_headers(vaultctl_visitor_t *v, const vaultctl_request_t *request, int known, apr_pool_t *pool)
{
    curl_slist_free_all(v->headers);
    v->headers = NULL;
    add_header(v, "Accept", request->accept != NULL ? request->accept : "*/*", pool);
    if (request->body != NULL) {
        v->headers = curl_slist_append(v->headers, request->type != NULL
                                                       ? apr_pstrcat(pool, "Content-Type: ", request->type, NULL)
                                                       : "Content-Type:");
    }
    if (request->by_page) {
        add_origin(v, request, pool);
    }
    for (int i = 0; known && i < v->options->headers->nelts; i++) {
        v->headers = curl_slist_append(v->headers, APR_ARRAY_IDX(v->options->headers, i, const char *));
    }
    curl_easy_setopt(v->curl, CURLOPT_HTTPHEADER, v->headers);
}

static int seconds_of(const vaultctl_visitor_t *v)
{
    return v->options->timeout ? v->options->timeout : VAULTCTL_TIMEOUT;
}

void vaultctl_visit_begin(vaultctl_visitor_t *v, const vaultctl_request_t *request)
{
    int known = vaultctl_visitor_knows(v, request->url);
    apr_pool_t *pool;

    apr_pool_create(&pool, NULL);
    v->body.length = 0;
    v->why[0] = '\0';
    v->ended = 0;
    set_headers(v, request, known, pool);
    vaultctl_handle_login(v->curl, known ? v->options : NULL, v->user);
    curl_easy_setopt(v->curl, CURLOPT_URL, request->url);
    curl_easy_setopt(v->curl, CURLOPT_CONNECTTIMEOUT, (long)seconds_of(v));
    curl_easy_setopt(v->curl, CURLOPT_ACCEPT_ENCODING, request->plain ? NULL : "");
    if (request->body != NULL) {
        curl_easy_setopt(v->curl, CURLOPT_POSTFIELDSIZE, -1L);
        curl_easy_setopt(v->curl, CURLOPT_COPYPOSTFIELDS, request->body);
    }
    else {
        curl_easy_setopt(v->curl, CURLOPT_HTTPGET, 1L);
    }
    curl_multi_add_handle(v->multi, v->curl);
    apr_pool_destroy(pool);
}

static void look_whether_ended(vaultctl_visitor_t *v)
{
    CURLMsg *message;
    int left;

    while ((message = curl_multi_info_read(v->multi, &left)) != NULL) {
        if (message->msg == CURLMSG_DONE) {
            v->ended = 1;
            v->result = message->data.result;
        }
    }
}

int vaultctl_visit_wait(vaultctl_visitor_t *v, double seconds, int some)
{
    apr_time_t end = apr_time_now() + (apr_time_t)(seconds * APR_USEC_PER_SEC);
    int running;

    while (!v->ended) {
        if (curl_multi_perform(v->multi, &running) != CURLM_OK) {
            v->ended = 1;
            v->result = CURLE_FAILED_INIT;
        }
        look_whether_ended(v);
        if (v->ended || (some && v->body.length) || apr_time_now() >= end) {
            break;
        }
        curl_multi_poll(v->multi, NULL, 0, STEP, NULL);
    }
    return v->ended;
}

/* -------------------------------------------------------------------- answer */

static const char *version_of(CURL *curl)
{
    long version = 0;

    curl_easy_getinfo(curl, CURLINFO_HTTP_VERSION, &version);
    switch (version) {
    case CURL_HTTP_VERSION_1_0:
        return "HTTP/1.0";
    case CURL_HTTP_VERSION_1_1:
        return "HTTP/1.1";
    case CURL_HTTP_VERSION_2_0:
        return "HTTP/2";
    case CURL_HTTP_VERSION_3:
        return "HTTP/3";
    default:
        return "";
    }
}

static void read_headers(CURL *curl, apr_table_t *headers)
{
    struct curl_header *header = NULL;

    while ((header = curl_easy_nextheader(curl, CURLH_HEADER, -1, header)) != NULL) {
        apr_table_set(headers, header->name, header->value);
    }
}

static void read_answer(vaultctl_visitor_t *v, vaultctl_visit_t *visit, apr_pool_t *pool)
{
    char *text = NULL;

    memset(visit, 0, sizeof(*visit));
    curl_easy_getinfo(v->curl, CURLINFO_RESPONSE_CODE, &visit->status);
    curl_easy_getinfo(v->curl, CURLINFO_EFFECTIVE_URL, &text);
    visit->url = apr_pstrdup(pool, text != NULL ? text : "");
    text = NULL;
    curl_easy_getinfo(v->curl, CURLINFO_REDIRECT_URL, &text);
    visit->location = text != NULL ? vaultctl_url_resolve(text, NULL, pool) : NULL;
    visit->version = version_of(v->curl);
    visit->headers = apr_table_make(pool, 16);
    read_headers(v->curl, visit->headers);
    visit->length = v->body.length;
    visit->body = apr_pstrmemdup(pool, v->body.length ? v->body.data : "", v->body.length);
    visit->ended = v->ended;
}

/* An answer that was cut at the limit counts, and so does one that broke off after its header. */
static int is_answer(const vaultctl_visitor_t *v, const vaultctl_visit_t *visit)
{
    return visit->status &&
           (v->result == CURLE_OK || v->result == CURLE_WRITE_ERROR || v->result == CURLE_PARTIAL_FILE);
}

const char *vaultctl_visit_end(vaultctl_visitor_t *v, vaultctl_visit_t *visit, apr_pool_t *pool)
{
    read_answer(v, visit, pool);
    curl_multi_remove_handle(v->multi, v->curl);
    if (!v->ended || is_answer(v, visit)) {
        return NULL;
    }
    return apr_pstrcat(pool, visit->url, ": ", v->why[0] ? v->why : curl_easy_strerror(v->result), NULL);
}

const char *vaultctl_visit(vaultctl_visitor_t *v, vaultctl_visit_t *visit, const vaultctl_request_t *request,
                           apr_pool_t *pool)
{
    const char *why;

    vaultctl_visit_begin(v, request);
    vaultctl_visit_wait(v, seconds_of(v), 0);
    why = vaultctl_visit_end(v, visit, pool);
    if (why == NULL && !visit->status) {
        return apr_psprintf(pool, "%s: no answer within %d s", visit->url, seconds_of(v));
    }
    return why;
}
