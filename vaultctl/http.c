/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to URLs below --url, and parses the answers as JSON. */
#include "http.h"

#include <string.h>

#include "apr_strings.h"

#include "handle.h"

/* Larger than the list of a million pages. */
#define BODY_MAX ((apr_size_t)1 << 30)

struct vaultctl_http_t {
    CURL *curl;
    struct curl_slist *headers;
    const vaultctl_options_t *options;
    vaultctl_body_t body;
    char why[CURL_ERROR_SIZE];
};

/* ---------------------------------------------------------------------- open */

static apr_status_t close_http(void *data)
{
    vaultctl_http_t *http = data;

    vaultctl_handle_close(http->curl, &http->body);
    curl_slist_free_all(http->headers);
    return APR_SUCCESS;
}

vaultctl_http_t *vaultctl_http_open(const vaultctl_options_t *options, apr_pool_t *pool)
{
    vaultctl_http_t *http = apr_pcalloc(pool, sizeof(*http));
    const char *user;

    http->options = options;
    http->body.most = BODY_MAX;
    if (!vaultctl_handle_user(options, &user, pool) ||
        (http->curl = vaultctl_handle_open(options, &http->body)) == NULL) {
        return NULL;
    }
    apr_pool_cleanup_register(pool, http, close_http, apr_pool_cleanup_null);
    http->headers = curl_slist_append(NULL, "Accept: application/json");
    for (int i = 0; i < options->headers->nelts; i++) {
        http->headers = curl_slist_append(http->headers, APR_ARRAY_IDX(options->headers, i, const char *));
    }
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->why);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, http->headers);
    vaultctl_handle_login(http->curl, options, user);
    return http;
}

/* ----------------------------------------------------------------------- ask */

static void read_answer(vaultctl_http_t *http, vaultctl_answer_t *answer, const char *url, apr_pool_t *pool)
{
    curl_off_t wait = 0;

    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &answer->status);
    curl_easy_getinfo(http->curl, CURLINFO_RETRY_AFTER, &wait);
    answer->url = url;
    answer->retry_after = wait < VAULTCTL_RETRY_MAX ? (int)wait : VAULTCTL_RETRY_MAX;
    answer->body = apr_pstrmemdup(pool, http->body.length ? http->body.data : "", http->body.length);
    answer->length = http->body.length;
}

const char *vaultctl_http_ask(vaultctl_http_t *http, vaultctl_answer_t *answer, const char *path, const char *form,
                              int seconds, apr_pool_t *pool)
{
    const char *url = apr_pstrcat(pool, http->options->url, path, NULL);
    int timeout = http->options->timeout ? http->options->timeout : VAULTCTL_TIMEOUT;
    CURLcode code;

    http->body.length = 0;
    http->why[0] = '\0';
    memset(answer, 0, sizeof(*answer));
    curl_easy_setopt(http->curl, CURLOPT_URL, url);
    curl_easy_setopt(http->curl, CURLOPT_CONNECTTIMEOUT, (long)timeout);
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT, (long)(seconds ? seconds : timeout));
    if (form != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_COPYPOSTFIELDS, form);
    }
    else {
        curl_easy_setopt(http->curl, CURLOPT_HTTPGET, 1L);
    }
    code = curl_easy_perform(http->curl);
    if (code != CURLE_OK) {
        return apr_pstrcat(
            pool, url, ": ", http->why[0] ? http->why : curl_easy_strerror(code),
            http->options->unsaid ? "; if the server is elsewhere, --url or VAULTCTL_URL says where" : "", NULL);
    }
    read_answer(http, answer, url, pool);
    return NULL;
}

/* The URL that vault.conf has only as a comment. */
static int is_notify(const char *url)
{
    size_t length = strlen(url);

    return length > 7 && strcmp(url + length - 7, "/notify") == 0;
}

/* What the HTTP status means for the administrator. */
static const char *meaning(const vaultctl_answer_t *answer)
{
    switch (answer->status) {
    case 401:
        return "a user is needed; --user or --netrc say who";
    case 403:
        return "the server does not let this be asked from here; see Require in its configuration";
    case 404:
        if (is_notify(answer->url)) {
            return "there is no such URL; vault.conf has its <Location> at the end, closed until you open it";
        }
        return "something else than mod_vault answered; are the <Location>s of vault.conf below this --url, and does "
               "no "
               "rewrite rule, front controller or proxy take them over?";
    default:
        return "this is not what mod_vault answers; does --url name its VaultPath, and does no rewrite rule, front "
               "controller or proxy take it over?";
    }
}

int vaultctl_http_say(const vaultctl_answer_t *answer)
{
    json_t *body = vaultctl_http_object(answer);
    const char *error = json_string_value(json_object_get(body, "error"));

    vaultctl_say(VAULTCTL_TROUBLE, "%s: %ld: %s", answer->url, answer->status, error != NULL ? error : meaning(answer));
    json_decref(body);
    return VAULTCTL_TROUBLE;
}

json_t *vaultctl_http_object(const vaultctl_answer_t *answer)
{
    json_t *json = json_loadb(answer->body, answer->length, 0, NULL);

    if (!json_is_object(json)) {
        json_decref(json);
        return NULL;
    }
    return json;
}

const char *vaultctl_json_text(const json_t *string)
{
    return json_is_string(string) ? json_string_value(string) : "-";
}

int vaultctl_http_json(vaultctl_http_t *http, json_t **json, const char *path, const char *form, apr_pool_t *pool)
{
    vaultctl_answer_t answer;
    const char *why = vaultctl_http_ask(http, &answer, path, form, 0, pool);

    *json = NULL;
    if (why != NULL) {
        return vaultctl_say(VAULTCTL_TROUBLE, "%s", why);
    }
    if (answer.status == 200) {
        *json = vaultctl_http_object(&answer);
    }
    return *json != NULL ? VAULTCTL_DONE : vaultctl_http_say(&answer);
}

const char *vaultctl_http_escape(vaultctl_http_t *http, const char *text, apr_pool_t *pool)
{
    char *escaped = curl_easy_escape(http->curl, text, (int)strlen(text));
    const char *copy = apr_pstrdup(pool, escaped != NULL ? escaped : "");

    curl_free(escaped);
    return copy;
}
