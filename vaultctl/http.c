/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl, with what an administrator expects of curl: netrc, CA files, any way to log in. */
#include "http.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <curl/curl.h>

#include "apr_getopt.h"
#include "apr_lib.h"
#include "apr_strings.h"

#define TIMEOUT 10
/* Larger than the list of a million pages. */
#define BODY_MAX ((apr_size_t)1 << 30)

struct vaultctl_http_t {
    CURL *curl;
    struct curl_slist *headers;
    const vaultctl_options_t *options;
    char *body; /* of malloc(), while an answer comes in */
    apr_size_t length, room;
    char why[CURL_ERROR_SIZE];
};

/* ---------------------------------------------------------------------- open */

static apr_status_t close_http(void *data)
{
    vaultctl_http_t *http = data;

    curl_easy_cleanup(http->curl);
    curl_slist_free_all(http->headers);
    free(http->body);
    curl_global_cleanup();
    return APR_SUCCESS;
}

static size_t receive(char *data, size_t size, size_t count, void *baton)
{
    vaultctl_http_t *http = baton;
    apr_size_t bytes = size * count, room = http->room ? http->room : 4096;
    char *body;

    while (room < http->length + bytes + 1) {
        room *= 2;
    }
    if (room > BODY_MAX || (body = realloc(http->body, room)) == NULL) {
        return 0;
    }
    http->body = body;
    http->room = room;
    memcpy(http->body + http->length, data, bytes);
    http->length += bytes;
    http->body[http->length] = '\0';
    return bytes;
}

/* A name without a password: as curl does, ask the terminal. */
static const char *complete_user(const char *user, apr_pool_t *pool)
{
    char password[256];
    apr_size_t size = sizeof(password);

    if (strchr(user, ':') != NULL) {
        return user;
    }
    if (apr_password_get(apr_psprintf(pool, "Password of %s: ", user), password, &size) != APR_SUCCESS) {
        return NULL;
    }
    return apr_pstrcat(pool, user, ":", password, NULL);
}

static void set_tls(vaultctl_http_t *http)
{
    const vaultctl_options_t *o = http->options;

    if (o->cacert != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_CAINFO, o->cacert);
    }
    if (o->insecure) {
        curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(http->curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

static void set_login(vaultctl_http_t *http, const char *user)
{
    const vaultctl_options_t *o = http->options;

    if (user != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_USERPWD, user);
    }
    if (user != NULL || o->netrc || o->netrc_file != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_ANY);
    }
    if (o->netrc || o->netrc_file != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_NETRC, (long)CURL_NETRC_REQUIRED);
        curl_easy_setopt(http->curl, CURLOPT_NETRC_FILE, o->netrc_file);
    }
}

vaultctl_http_t *vaultctl_http_open(const vaultctl_options_t *options, apr_pool_t *pool)
{
    vaultctl_http_t *http = apr_pcalloc(pool, sizeof(*http));
    const char *user = options->user != NULL ? complete_user(options->user, pool) : NULL;

    if (options->user != NULL && user == NULL) {
        vaultctl_say(VAULTCTL_USAGE, "--user %s: no password was given", options->user);
        return NULL;
    }
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (http->curl = curl_easy_init()) == NULL) {
        vaultctl_say(VAULTCTL_TROUBLE, "libcurl cannot be used");
        return NULL;
    }
    apr_pool_cleanup_register(pool, http, close_http, apr_pool_cleanup_null);
    http->options = options;
    http->headers = curl_slist_append(NULL, "Accept: application/json");
    for (int i = 0; i < options->headers->nelts; i++) {
        http->headers = curl_slist_append(http->headers, APR_ARRAY_IDX(options->headers, i, const char *));
    }
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, http->why);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, http);
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, http->headers);
    curl_easy_setopt(http->curl, CURLOPT_USERAGENT, "vaultctl/" VAULT_VERSION);
    curl_easy_setopt(http->curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(http->curl, CURLOPT_TCP_KEEPALIVE, 1L);
    set_tls(http);
    set_login(http, user);
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
    answer->body = apr_pstrmemdup(pool, http->length ? http->body : "", http->length);
    answer->length = http->length;
}

const char *vaultctl_http_ask(vaultctl_http_t *http, vaultctl_answer_t *answer, const char *path, const char *form,
                              int seconds, apr_pool_t *pool)
{
    const char *url = apr_pstrcat(pool, http->options->url, path, NULL);
    int timeout = http->options->timeout ? http->options->timeout : TIMEOUT;
    CURLcode code;

    http->length = 0;
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

/* The one URL that vault.conf does not open by itself. */
static int is_notify(const char *url)
{
    size_t length = strlen(url);

    return length > 7 && strcmp(url + length - 7, "/notify") == 0;
}

/* What the status means to who has configured the server. */
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
        return "something else than mod_vault answered; are the <Location>s of vault.conf below this --url, and does no "
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
