/* SPDX-License-Identifier: Apache-2.0 */
/* The options that administrators know from curl: netrc, CA files, and all ways to log in. */
#include "handle.h"

#include <stdlib.h>
#include <string.h>

#include "apr_getopt.h"
#include "apr_lib.h"
#include "apr_strings.h"

#define FIRST_ROOM 4096

static size_t receive(char *data, size_t size, size_t count, void *baton)
{
    vaultctl_body_t *body = baton;
    apr_size_t bytes = size * count, room = body->room ? body->room : FIRST_ROOM;
    char *larger;

    if (body->length + bytes > body->most) {
        return 0;
    }
    while (room < body->length + bytes + 1) {
        room *= 2;
    }
    if (room > body->room) {
        if ((larger = realloc(body->data, room)) == NULL) {
            return 0;
        }
        body->data = larger;
        body->room = room;
    }
    memcpy(body->data + body->length, data, bytes);
    body->length += bytes;
    body->data[body->length] = '\0';
    return bytes;
}

static void set_tls(CURL *curl, const vaultctl_options_t *o)
{
    if (o->cacert != NULL) {
        curl_easy_setopt(curl, CURLOPT_CAINFO, o->cacert);
    }
    if (o->insecure) {
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 0L);
        curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 0L);
    }
}

CURL *vaultctl_handle_open(const vaultctl_options_t *options, vaultctl_body_t *body)
{
    CURL *curl = NULL;

    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK || (curl = curl_easy_init()) == NULL) {
        vaultctl_say(VAULTCTL_TROUBLE, "libcurl cannot be used");
        return NULL;
    }
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "vaultctl/" VAULT_VERSION);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TCP_KEEPALIVE, 1L);
    set_tls(curl, options);
    return curl;
}

void vaultctl_handle_close(CURL *curl, vaultctl_body_t *body)
{
    curl_easy_cleanup(curl);
    free(body->data);
    curl_global_cleanup();
}

int vaultctl_handle_user(const vaultctl_options_t *options, const char **user, apr_pool_t *pool)
{
    char password[256];
    apr_size_t size = sizeof(password);

    *user = options->user;
    if (*user == NULL || strchr(*user, ':') != NULL) {
        return 1;
    }
    if (apr_password_get(apr_psprintf(pool, "Password of %s: ", *user), password, &size) != APR_SUCCESS) {
        vaultctl_say(VAULTCTL_USAGE, "--user %s: no password was given", *user);
        return 0;
    }
    *user = apr_pstrcat(pool, *user, ":", password, NULL);
    return 1;
}

void vaultctl_handle_login(CURL *curl, const vaultctl_options_t *options, const char *user)
{
    int netrc = options != NULL && (options->netrc || options->netrc_file != NULL);

    curl_easy_setopt(curl, CURLOPT_USERPWD, options != NULL ? user : NULL);
    curl_easy_setopt(curl, CURLOPT_HTTPAUTH,
                     netrc || (options != NULL && user != NULL) ? (long)CURLAUTH_ANY : (long)CURLAUTH_BASIC);
    curl_easy_setopt(curl, CURLOPT_NETRC, netrc ? (long)CURL_NETRC_REQUIRED : (long)CURL_NETRC_IGNORED);
    curl_easy_setopt(curl, CURLOPT_NETRC_FILE, netrc ? options->netrc_file : NULL);
}
