/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the key file, and compares the keys of requests with it. */
#include "view/feed_key.h"

#include "apr_file_io.h"
#include "apr_lib.h"
#include "apr_strings.h"

#include "base/hash.h"
#include "server/server.h"
#include "view/context.h"
#include "view/view_conf.h"

#define KEY_MIN 32
#define KEY_MAX 512

#define SCHEME "Bearer "
#define RUN ";run="

/* ------------------------------------------------------------------ directive */

static const char *refuse(const cmd_parms *cmd, const char *path, const char *why)
{
    return apr_psprintf(cmd->pool, "%s %s: %s", cmd->cmd->name, path, why);
}

/* The length of the key in `text`, which only white space may follow; 0: `text` is not of that form. */
static apr_size_t key_length(const char *text)
{
    apr_size_t n = 0, rest;

    while (apr_isgraph(text[n])) {
        n++;
    }
    rest = n + strspn(text + n, " \t\r\n");
    return text[rest] ? 0 : n;
}

static const char *read_file(cmd_parms *cmd, const char *path, char text[KEY_MAX + 3])
{
    apr_file_t *file;
    apr_finfo_t info;
    apr_size_t length = 0;
    apr_status_t rv = apr_file_open(&file, path, APR_FOPEN_READ | APR_FOPEN_BINARY, APR_OS_DEFAULT, cmd->temp_pool);
    char why[120];

    if (rv != APR_SUCCESS) {
        return refuse(cmd, path, apr_strerror(rv, why, sizeof(why)));
    }
    if ((rv = apr_file_info_get(&info, APR_FINFO_PROT | APR_FINFO_TYPE, file)) != APR_SUCCESS ||
        info.filetype != APR_REG) {
        return refuse(cmd, path, "it is not a file");
    }
    if (info.protection & (APR_FPROT_WREAD | APR_FPROT_WWRITE)) {
        return refuse(cmd, path, "other users can read or write the file; chmod o= makes the key a secret");
    }
    rv = apr_file_read_full(file, text, KEY_MAX + 2, &length);
    apr_file_close(file);
    if (rv != APR_SUCCESS && !APR_STATUS_IS_EOF(rv)) {
        return refuse(cmd, path, apr_strerror(rv, why, sizeof(why)));
    }
    text[length] = '\0';
    return strlen(text) == length ? NULL : refuse(cmd, path, "a NUL is in the file");
}

const char *vault_feed_key_read(cmd_parms *cmd, const vault_feed_key_t **set, const char *path)
{
    vault_feed_key_t *key = apr_pcalloc(cmd->pool, sizeof(*key));
    const char *error = ap_check_cmd_context(cmd, NOT_IN_DIR_LOC_FILE);
    char text[KEY_MAX + 3];

    if (error) {
        return error;
    }
    *set = key;
    if (!ap_cstr_casecmp(path, "off")) {
        return NULL;
    }
    path = ap_server_root_relative(cmd->pool, path);
    if ((error = read_file(cmd, path, text))) {
        return error;
    }
    key->length = key_length(text);
    if (key->length < KEY_MIN || key->length > KEY_MAX) {
        return refuse(cmd, path,
                      "a key of 32 to 512 printable ASCII characters without a blank, alone in its file, is accepted; "
                      "openssl rand -hex 32 makes one");
    }
    key->text = apr_pstrmemdup(cmd->pool, text, key->length);
    key->id = vault_hash_id(0, key->text);
    return NULL;
}

const vault_feed_key_t *vault_feed_key_of(const request_rec *r)
{
    const vault_feed_key_t *key = vault_view_conf_of(r)->feed_key;

    return key && key->text ? key : NULL;
}

/* ------------------------------------------------------------------- requests */

/* The token of `Authorization: Bearer TOKEN`, or NULL. */
static const char *bearer(const request_rec *r)
{
    const char *said = apr_table_get(r->headers_in, "Authorization");

    return said && !ap_cstr_casecmpn(said, SCHEME, strlen(SCHEME)) ? said + strlen(SCHEME) : NULL;
}

/* Constant time: the duration depends only on the lengths, so it does not reveal how many characters match. */
static int is_same(const vault_feed_key_t *key, const char *said)
{
    apr_size_t i, length = strlen(said);
    volatile unsigned char differs = length != key->length;

    for (i = 0; i < key->length; i++) {
        differs |= (unsigned char)(key->text[i] ^ said[length ? i % length : 0]);
    }
    return !differs;
}

vault_feed_caller_t vault_feed_caller(request_rec *r)
{
    const vault_feed_key_t *key = vault_feed_key_of(r);
    const char *said = r->main ? NULL : bearer(r);

    if (!said) {
        return VAULT_FEED_CALLER_ANY;
    }
    if (key && is_same(key, said)) {
        return VAULT_FEED_CALLER_TRUSTED;
    }
    return !r->user && (key || vault_feed_caller_page(r)) ? VAULT_FEED_CALLER_WRONG : VAULT_FEED_CALLER_ANY;
}

void vault_feed_key_keep_page(request_rec *r)
{
    const char *page = bearer(r) ? apr_table_get(r->headers_in, "Vault-Page") : NULL;

    if (bearer(r) && !page) {
        page = apr_table_get(r->headers_in, "Vault-New-Page");
    }
    if (page) {
        vault_context_make(r)->said_page = page;
    }
}

const char *vault_feed_caller_page(request_rec *r)
{
    const vault_context_t *x = vault_context_get(r);

    return x ? x->said_page : NULL;
}

/* ------------------------------------------------------------------ Vault-Page */

static int parse_run(apr_uint64_t *run, const char *text)
{
    int digits;

    *run = 0;
    for (digits = 0; digits < 16 && apr_isxdigit(*text) && !apr_isupper(*text); digits++, text++) {
        *run = *run << 4 | (apr_uint64_t)(apr_isdigit(*text) ? *text - '0' : *text - 'a' + 10);
    }
    return *run && !*text;
}

int vault_feed_key_parse(vault_calls_t *calls, const char *text)
{
    char id[VAULT_PAGE_ID_LEN + 1];
    const char *rest = text + VAULT_PAGE_ID_LEN;

    if (strlen(text) < VAULT_PAGE_ID_LEN) {
        return 0;
    }
    apr_cpystrn(id, text, sizeof(id));
    calls->run = 0;
    if (!vault_page_parse(&calls->page, id)) {
        return 0;
    }
    return !*rest || (!strncmp(rest, RUN, strlen(RUN)) && parse_run(&calls->run, rest + strlen(RUN)));
}

const char *vault_feed_key_format(const vault_calls_t *calls, apr_pool_t *pool)
{
    char id[VAULT_PAGE_ID_LEN + 1];

    vault_page_format(&calls->page, id);
    return apr_psprintf(pool, "%s" RUN "%" APR_UINT64_T_HEX_FMT, id, calls->run);
}
